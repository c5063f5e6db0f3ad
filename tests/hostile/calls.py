"""Starts the program under limits and says how it ended."""

import dataclasses
import os
import re
import resource
import signal
import subprocess
import time


@dataclasses.dataclass
class Outcome:
    code: int  # negative: a signal
    hung: bool
    out: bytes
    errors: list
    seconds: float
    memory: int  # MiB at most

    @property
    def line(self):
        return self.errors[-1] if self.errors else ""

    @property
    def crashed(self):
        return self.code < 0

    def told(self):
        """Ended as a program should: done, or with one line that says why not."""
        if self.hung or self.crashed or self.code not in (0, 1, 2, 3, 130):
            return False
        return self.code == 0 or re.match(r"(error|libgomp): \S", self.line) is not None

    def __str__(self):
        how = "hang" if self.hung else f"signal {-self.code}" if self.crashed else f"exit {self.code}"
        return f"{how} after {self.seconds:.2f} s, {self.memory} MiB, {self.line[:300]!r}"


def limits(address_space, file_size):
    def apply():
        if file_size:
            resource.setrlimit(resource.RLIMIT_FSIZE, (file_size, file_size))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if address_space:
            resource.setrlimit(resource.RLIMIT_AS, (address_space << 20, address_space << 20))
    return apply


def start(command, address_space=0, stdout=subprocess.PIPE, env=None, file_size=0, **more):
    return subprocess.Popen([str(part) for part in command], stdin=subprocess.DEVNULL, stdout=stdout,
                            stderr=subprocess.PIPE, preexec_fn=limits(address_space, file_size),
                            env={**os.environ, **(env or {})}, **more)


def finish(process, began, seconds):
    """Waits; what does not end within so many seconds is killed and hangs."""
    hung = False
    try:
        out, errors = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        hung = True
        process.kill()
        out, errors = process.communicate()
    lines = [line for line in errors.decode(errors="replace").splitlines() if line.strip()]
    return Outcome(process.returncode, hung, out or b"", lines, time.monotonic() - began, 0)


def call(command, seconds=20, address_space=0, stdout="kept", env=None, file_size=0):
    """stdout: kept, full (/dev/full), closed, or broken (a pipe that nobody reads). file_size: bytes that a file may have."""
    command = [str(part) for part in command]
    if stdout == "closed":
        command = ["sh", "-c", 'exec "$@" >&-', "sh", *command]
    target = subprocess.PIPE
    if stdout == "full":
        target = os.open("/dev/full", os.O_WRONLY)
    elif stdout == "broken":
        reading, target = os.pipe()
        os.close(reading)
    elif stdout == "closed":
        target = subprocess.DEVNULL
    began = time.monotonic()
    process = start(command, address_space, target, env, file_size)
    if stdout in ("full", "broken"):
        os.close(target)
    return finish(process, began, seconds)


def measured(command, seconds, **more):
    """call() with the peak of memory, which GNU time is not needed for."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        outcome = call(command, seconds, **more)
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
        os.write(writing, f"{peak} {outcome.code} {int(outcome.hung)} {outcome.seconds} {outcome.line}".encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        peak, code, hung, took, line = pipe.read().decode(errors="replace").split(" ", 4)
    os.waitpid(pid, 0)
    return Outcome(int(code), hung == "1", b"", [line] if line else [], float(took), int(peak))


def interrupt(command, after, seconds, kind=signal.SIGINT, again=None):
    """Sends a signal after so many seconds, and a second one after `again` more. The outcome's time counts from the first."""
    process = start(command, stdout=subprocess.DEVNULL)
    time.sleep(after)
    sent = time.monotonic()
    process.send_signal(kind)
    if again is not None:
        time.sleep(again)
        process.send_signal(kind)
    return finish(process, sent, seconds)

"""MXNet in a child process that may crash or hang: it is started again, and the request counts as crashed."""
import json
import select
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
LIFETIME = 1000  # requests: what MXNet leaks does not add up


class Crashed(Exception):
    """The child died or did not answer; the text names the operator that it was at."""


class MXNet:
    def __init__(self, scratch):
        self.status = Path(scratch) / "mxnet-status"
        self.log = Path(scratch) / "mxnet-log"
        self.child, self.requests = None, 0

    def ask(self, timeout=60, **request):
        if self.child is None or self.requests >= LIFETIME:
            self.start()
        self.requests += 1
        self.child.stdin.write(json.dumps(request) + "\n")
        try:
            self.child.stdin.flush()
        except BrokenPipeError:
            self.crash("gone")
        ready, _, _ = select.select([self.child.stdout], [], [], timeout)
        line = self.child.stdout.readline() if ready else ""
        if not line:
            self.crash("no answer" if not ready else "")
        return json.loads(line)

    def start(self):
        self.stop()
        with open(self.log, "w") as log:
            self.child = subprocess.Popen([sys.executable, HERE / "mxnet_child.py", self.status], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                          stderr=log, text=True)
        self.requests = 0

    def crash(self, what):
        at = self.status.read_text().strip() if self.status.exists() else "start"
        self.child.kill()
        code = self.child.wait()
        log = self.log.read_text(errors="replace").strip().splitlines()[-1:]
        self.child = None
        if at == "start":
            sys.exit(f"MXNet does not start: {log}")
        raise Crashed(f"{at}: {what or f'ended with {code}'}")

    def stop(self):
        if self.child:
            self.child.stdin.close()
            self.child.wait()
            self.child = None

#!/usr/bin/env python3
"""Kills ranks of halftone-mpi at random moments; the same call then goes on with what its journal has, and its table is the serial one.
A rank that hangs is noticed and named.

    kill_ranks.py HALFTONE_CLI HALFTONE_MPI SAMPLE_FOLDER [KILLS]

KILLS: 5, as the test suite has it; 100 takes some minutes."""

import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
import zipfile

MPIRUN = ["mpirun", "--oversubscribe", "--allow-run-as-root", "-n", "4"]


def table(path):
    document = json.loads(pathlib.Path(path).read_text())
    for key in ("seconds", "peak_bytes"):
        document.pop(key, None)
    return document


def ranks_below(parent):
    """Processes that the mpirun of this test started and that are ranks."""
    children = {}
    names = {}
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            text = (entry / "stat").read_text()
        except OSError:
            continue
        names[int(entry.name)] = text[text.index("(") + 1:text.rindex(")")]
        children.setdefault(int(text[text.rindex(")") + 2:].split()[1]), []).append(int(entry.name))
    found, open_ = [], [parent]
    while open_:
        for child in children.get(open_.pop(), []):
            open_.append(child)
            if names[child] == "halftone-mpi":
                found.append(child)
    return found


def number_of(process):
    """Of a rank among all."""
    try:
        environment = pathlib.Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
    except OSError:
        return None
    return next((int(word.split(b"=")[1]) for word in environment if word.startswith(b"OMPI_COMM_WORLD_RANK=")), None)


def hang(mpi, call, folder):
    """A rank that stands still while it has a shard: after the time limit it is named, and nothing is left of the job."""
    journal = folder / "hung.json.journal"
    limited = [*MPIRUN, mpi, *call, "--out", str(folder / "hung.json"), "--tasks", "24", "--time-limit", "3"]
    for _ in range(20):
        run = subprocess.Popen(limited, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while run.poll() is None and not any(journal.glob("*-of-*")):
            time.sleep(0.005)
        ranks = ranks_below(run.pid)
        stopped = [rank for rank in ranks if number_of(rank) == 1]
        for rank in stopped:
            os.kill(rank, signal.SIGSTOP)
        try:
            _, told = run.communicate(timeout=10)
        except subprocess.TimeoutExpired: # it had no shard any more
            for rank in stopped:
                os.kill(rank, signal.SIGCONT)
            _, told = run.communicate(timeout=100)
        if run.returncode != 0: # else it was over before anybody could be stopped
            break
    assert run.returncode != 0 and re.search(r"rank 1 on \S+: .*may hang", told), told
    assert not still_there(lambda: [rank for rank in ranks if pathlib.Path(f"/proc/{rank}").exists()]), "a rank that hung is still there"
    assert not orphans(ranks), "a shard outlives its rank"
    kept = len(list(journal.glob("*-of-*")))
    last = subprocess.run(limited[:-1] + ["600"], capture_output=True, text=True, timeout=100)
    assert last.returncode == 0 and f"{kept} of them from the journal" in last.stdout, last.stdout + last.stderr
    assert table(folder / "hung.json") == table(folder / "serial.json"), "a table that differs"


def small(source, out, examples):
    """The first examples of an array of float32 or of whole numbers, as a file of its own."""
    with zipfile.ZipFile(source) as arrays, zipfile.ZipFile(out, "w") as written:
        for name in arrays.namelist():
            array = arrays.read(name)
            begin = 10 + int.from_bytes(array[8:10], "little")
            head = array[10:begin].decode()
            all_ = int(re.search(r"'shape': \((\d+)", head)[1])
            head = re.sub(r"('shape': \()\d+", rf"\g<1>{examples}", head).rstrip("\n").rstrip().ljust(len(head) - 1) + "\n"
            written.writestr(name, array[:10] + head.encode() + array[begin:begin + (len(array) - begin) // all_ * examples])


def few(cli, mpi, call, folder):
    """More ranks than examples, of which all are asked for."""
    small(call[3], folder / "few.npz", 2)
    call = [*call[:3], str(folder / "few.npz"), *call[4:]]
    subprocess.run([cli, *call, "--out", folder / "few-serial.json"], check=True, stdout=subprocess.DEVNULL)
    run = subprocess.run([*MPIRUN, mpi, *call, "--out", str(folder / "few.json")], capture_output=True, text=True, timeout=100)
    assert run.returncode == 0 and "2 shards" in run.stdout, run.stdout + run.stderr
    assert table(folder / "few.json") == table(folder / "few-serial.json"), "a table that differs"


def still_there(find):
    """What is found although its job has ended; it may take a moment to end."""
    for _ in range(100):
        if not find():
            return []
        time.sleep(0.05)
    return find()


def orphans(ranks):
    """Programs that go on although the ranks that started them were killed."""
    def find():
        found = []
        for entry in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                words = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            found += [entry.name for rank in ranks if f"halftone-mpi-{rank}/".encode() in words]
        return found
    return still_there(find)


def search(cli, mpi, sample, folder):
    """'tune' over ranks knows the errors that a serial search knows, and goes on where it was killed."""
    call = ["tune", f"{sample}/digits-symbol.json", "--inputs", f"{sample}/digits-calibration.npz", "--examples", "16",
            "--target", "bfloat16", "--threads", "1"]
    serial = subprocess.run([cli, *call, "--state", folder / "serial-state", "--out", folder / "serial-front.json"],
                            capture_output=True, text=True)
    parallel = [*MPIRUN, mpi, *call, "--out", str(folder / "front.json"), "--tasks", "3"]
    if "emulates" in serial.stderr:
        # Nothing can be searched for on this machine: ranks say so as one process does, before any of them computes.
        refused = subprocess.run(parallel, capture_output=True, text=True, timeout=100)
        assert refused.returncode != 0 and serial.stderr.strip() in refused.stderr, refused.stderr
        assert not list((folder / "front.json.journal").glob("*-of-*")), "shards of a search that cannot be"
        print("searches over ranks were refused: this machine computes in no type that could be searched for")
        return
    assert serial.returncode == 0, serial.stderr
    journal = folder / "front.json.journal"
    run = subprocess.Popen(parallel, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while run.poll() is None and not (journal / "1-of-3").exists():
        time.sleep(0.005)
    for rank in ranks_below(run.pid)[:1]:
        os.kill(rank, signal.SIGKILL)
    run.wait(timeout=60)
    last = subprocess.run(parallel, capture_output=True, text=True, timeout=100)
    assert last.returncode == 0 and "wrote" in last.stdout, last.stderr
    fronts = [json.loads((folder / name).read_text()) for name in ("serial-front.json", "front.json")]
    errors = [{group["name"]: {label: cost["sqnr_db"] for label, cost in group["labels"].items()}
               for group in front["groups"]} for front in fronts]
    assert errors[0] == errors[1], "errors of groups alone differ"


def main():
    cli, mpi, sample = sys.argv[1:4]
    kills = int(sys.argv[4]) if len(sys.argv) > 4 else 5
    seed = time.time_ns()
    random.seed(seed)
    print("seed", seed, flush=True)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        call = ["calibrate", f"{sample}/digits-symbol.json", "--inputs", f"{sample}/digits-calibration.npz",
                "--examples", "48", "--method", "percentile"]
        subprocess.run([cli, *call, "--out", folder / "serial.json"], check=True, stdout=subprocess.DEVNULL)
        parallel = [*MPIRUN, mpi, *call, "--out", str(folder / "table.json"), "--tasks", "24"]
        done = journalled = killed = 0
        while killed < kills:
            run = subprocess.Popen(parallel, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            try:
                told = ""
                _, told = run.communicate(timeout=random.uniform(0.3, 2.5))
                assert run.returncode == 0, told
            except subprocess.TimeoutExpired:
                ranks = ranks_below(run.pid)
                if ranks:
                    os.kill(random.choice(ranks), signal.SIGKILL)
                    killed += 1
                _, told = run.communicate(timeout=60)
                assert not orphans(ranks), "a shard outlives its rank"
            before = re.search(r"\b(\d+) of 24 shards, starting", told)
            # Whatever was done is not done again: only the shards that were in flight are.
            assert not before or int(before[1]) == journalled, told
            journal = folder / "table.json.journal"
            now = len(list(journal.glob("*-of-*"))) if journal.exists() else 0
            assert now >= journalled or not journal.exists(), "what was done is kept"
            journalled = now
            if run.returncode == 0:
                assert table(folder / "table.json") == table(folder / "serial.json"), "a table that differs"
                done += 1
                journalled = 0
        last = subprocess.run(parallel, capture_output=True, text=True, timeout=100)
        assert last.returncode == 0, last.stderr
        assert f"{journalled} of them from the journal" in last.stdout, last.stdout
        assert table(folder / "table.json") == table(folder / "serial.json"), "a table that differs"
        other = [*MPIRUN, mpi, *call[:-1], "mse", "--out", str(folder / "table.json")]
        (folder / "table.json.journal").mkdir()
        (folder / "table.json.journal/call").write_text("24\ncalibrate\n")
        refused = subprocess.run(other, capture_output=True, text=True, timeout=100)
        assert refused.returncode != 0 and "different run" in refused.stderr, refused.stderr
        hangs = [*MPIRUN, mpi, *call, "--out", str(folder / "slow.json"), "--tasks", "4", "--time-limit", "0.01"]
        slow = subprocess.run(hangs, capture_output=True, text=True, timeout=100)
        assert slow.returncode != 0 and "may hang" in slow.stderr, slow.stderr
        hang(mpi, call, folder)
        few(cli, mpi, call[:4] + call[6:], folder)
        search(cli, mpi, sample, folder)
        print(f"{killed} ranks killed, {done} runs ended before that, the table is the serial one")


if __name__ == "__main__":
    main()

"""Calls of halftone-cli."""
import re
import subprocess
from pathlib import Path

import numpy as np

TIMEOUT = 120


class Halftone:
    def __init__(self, program):
        self.program, self.calls = str(Path(program).resolve()), 0

    def call(self, *arguments):
        """What went wrong, in a line, or None. Warnings of the call are in `warnings`."""
        self.calls += 1
        self.warnings = []
        try:
            done = subprocess.run([self.program, *map(str, arguments)], capture_output=True, text=True, timeout=TIMEOUT, errors="replace")
        except subprocess.TimeoutExpired:
            return f"no end within {TIMEOUT} s"
        self.warnings = [line for line in done.stderr.splitlines() if line.startswith("warning: ")]
        errors = "; ".join(line for line in done.stderr.splitlines() if not line.startswith("warning: ")).strip()
        if done.returncode < 0:
            return f"ended by signal {-done.returncode}: {errors[-300:]}"
        return f"exit {done.returncode}: {errors[-400:]}" if done.returncode else None

    def run(self, model, feeds, backend, scratch):
        """({name: array}, None) or (None, what went wrong)."""
        inputs, out = scratch / "fed.npz", scratch / f"{backend}.npz"
        np.savez(inputs, **feeds)
        problem = self.call("run", model, "--inputs", inputs, "--backend", backend, "--threads", "1", "--out", out)
        if problem:
            return None, problem
        with np.load(out) as file:
            return {name: file[name] for name in file.files}, None


def kind_of(problem):
    """What went wrong, without numbers and names."""
    return re.sub(r"[0-9]+", "0", re.sub(r'"[^"]*"|\S*/\S*', "", problem or ""))[:80]

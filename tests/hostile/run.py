#!/usr/bin/env python3
"""Calls the command line as somebody would who wishes it ill: impossible sizes, full disks, no memory, signals, damaged and
changing files. It must end in time, by itself, with an exit code and a line that say what is wrong, and never with other
values.

    run.py --cli build/dev/halftone-cli --shim build/dev/tests/libfail_nth.so [--long] [--only TEXT]

Without --long what continuous integration runs: all of cases.json and a small share of the rest. Needs Python's standard
library alone. With HALFTONE_SHARED set, --long takes real models too.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile
import time

import calls
import models
import storms
import sweep


class Report:
    def __init__(self):
        self.failures = 0

    def tell(self, name, count, faults):
        """faults: a line for each of `count` calls that went wrong."""
        self.failures += len(faults)
        print(f"{'FAIL' if faults else 'ok  '} {name}: {count} calls, {len(faults)} wrong", flush=True)
        for fault in faults[:20]:
            print(f"     {fault}")


def check(case, outcome):
    """What is wrong with how a case of cases.json ended; nothing where all is well."""
    if outcome.hung or outcome.code != case["exit"]:
        return f"expected exit {case['exit']}"
    if "line" in case and not re.fullmatch(case["line"], outcome.line):
        return f"expected the line {case['line']!r}"
    if outcome.memory > case.get("memory", 1 << 30):
        return f"expected at most {case['memory']} MiB"
    return None


def run_case(case, cli, work):
    with tempfile.TemporaryDirectory(dir=work) as out:
        command = [cli, *(part.format(work=work, out=out) for part in case["call"].split())]
        outcome = calls.measured(command, case.get("seconds", 20), address_space=case.get("address_space", 0),
                                 stdout=case.get("stdout", "kept"), env=case.get("env"),
                                 file_size=case.get("file_size", 0))
        wrong = check(case, outcome)
        left = [name for name in os.listdir(out) if name.startswith(".halftone")]
    if left:
        wrong = f"{wrong or ''} left {left}"
    return wrong and f"{case['name']}: {wrong}: {outcome}\n       {' '.join(map(str, command))}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cli", required=True, type=pathlib.Path)
    parser.add_argument("--shim", type=pathlib.Path, help="libfail_nth.so; without it no allocation is made to fail")
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--only", default="", help="parts whose name holds this text")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    cli = options.cli.resolve()
    work = pathlib.Path(tempfile.mkdtemp(prefix="halftone-hostile-"))
    report = Report()
    try:
        models.make(work)
        cases = json.loads((pathlib.Path(__file__).parent / "cases.json").read_text())
        chosen = [case for case in cases if options.only in "cases " + case["name"]]
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            faults = pool.map(lambda case: run_case(case, cli, work), chosen)
            report.tell("cases", len(chosen), [fault for fault in faults if fault])
        setting = storms.Setting(cli, work, options.long, options.seed)
        for name, storm in storms.ALL.items():
            if options.only in name:
                began = time.monotonic()
                count, faults = storm(setting)
                report.tell(f"{name} ({time.monotonic() - began:.0f} s)", count, faults)
        if options.shim:
            for name, count, faults in sweep.all_commands(cli, options.shim.resolve(), work, options):
                report.tell(f"allocation {name}", count, faults)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    sys.exit(1 if report.failures else 0)


if __name__ == "__main__":
    main()

"""Answers on the GPU against recorded ones: python3 accept.py [onnx|mxnet|models|small|suite]… [--jobs N] [--under TOOL]

onnx    ONNX operator cases (onnx_ops/)      mxnet  MXNet's (ops.py of HALFTONE_SHARED)
models  trained models in float32, float16 and bfloat16 (models.py of HALFTONE_SHARED)      small  the smallest of them
suite   ONNX's own operator tests (onnx_ops.py of HALFTONE_SHARED over onnx_suite/)
--jobs  cases at a time      --seconds  what is not begun by then is left out, and counts as not passed
--under  a tool of compute-sanitizer that watches each run; of its reports the beginnings are printed
Exit 1 where any answer is wrong, but for 1 % of the ONNX operators; under a tool, where any is or the tool reports anything.
"""
import argparse
import os
import re
import stat
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from threading import Lock

import numpy as np

here = Path(__file__).resolve().parent
shared = here / "shared"
SMALL = ("mnist-8-onnx", "cifar-resnet20-v1", "mtcnn-det3")
FOUND = 9  # the exit code of a tool that found something
REPORTED = 40  # lines of a report
LEFT_OUT = "not run for lack of time"

parser = argparse.ArgumentParser()
parser.add_argument("kinds", nargs="*", default=[])
parser.add_argument("--backend", default="cuda")
parser.add_argument("--jobs", type=int, default=min(16, os.cpu_count() or 1))
parser.add_argument("--under", default="")
parser.add_argument("--seconds", type=float, default=float("inf"))
arguments = parser.parse_args()
deadline = time.monotonic() + arguments.seconds


class Cli:
    """The command line, behind the tool where there is one: a program of its own, since scripts know it by its path alone."""

    def __init__(self, folder):
        self.path, self.reports = os.environ["HALFTONE_CLI"], folder / "reports"
        self.found, self.lock = 0, Lock()
        if not arguments.under:
            return
        self.reports.mkdir()
        wrapper = folder / "halftone-cli"
        # Commands that start no kernel are run without: the tool takes a program that never calls the driver for a failure.
        wrapper.write_text(f"""#!/bin/sh
[ "$1" = run ] || exec "{self.path}" "$@"
exec compute-sanitizer --tool {arguments.under} --error-exitcode {FOUND} --log-file "{self.reports}/%p" "{self.path}" "$@"
""")
        wrapper.chmod(wrapper.stat().st_mode | stat.S_IXUSR)
        self.path = str(wrapper)

    def print_reports(self, all_ended=False):
        """Those that found something; one without a summary is of a run that goes on, or broke off where all have ended."""
        with self.lock:
            for report in sorted(self.reports.glob("*")):
                text = report.read_text(errors="replace")
                if not all_ended and "SUMMARY: " not in text:
                    continue
                report.unlink()
                if not re.search(r"SUMMARY: 0 (errors|hazards)", text):
                    self.found += 1
                    lines = text.splitlines()
                    print(*lines[:REPORTED], *lines[max(REPORTED, len(lines) - 2):], sep="\n", flush=True)


def run(cli, model, inputs, scratch):
    """The outputs in the order of the model's heads, or what went wrong."""
    np.savez(scratch / "in.npz", **inputs)
    done = subprocess.run([cli.path, "run", str(model), "--inputs", str(scratch / "in.npz"), "--backend", arguments.backend,
                           "--out", str(scratch / "out.npz")], capture_output=True, text=True, check=False)
    if arguments.under and done.returncode == FOUND:
        return f"reported by {arguments.under}"
    if done.returncode:
        return f"exit {done.returncode}: {(done.stderr or done.stdout).strip()}"
    with np.load(scratch / "out.npz") as out:
        return [low_bits(k, out[k]) for k in out.files]


def low_bits(key, values):
    """Codes of 4 and 2 bits, which have bytes of their own in a data file: what the bits beyond say differs from writer to writer."""
    bits = re.search(r":u?int([24])$", key)
    return values & ((1 << int(bits[1])) - 1) if bits else values


def wrong(got, want, relative):
    if got.shape != want.shape:
        return f"shape {got.shape}, expected {want.shape}"
    if want.dtype.kind not in "fc":
        return "" if np.array_equal(got, want) else "other values"
    scale = float(np.nanmax(np.abs(want[np.isfinite(want)]), initial=0))
    if np.allclose(got.astype(np.float64), want.astype(np.float64), relative, relative * max(scale, 1e-3), equal_nan=True):
        return ""
    return f"off by {float(np.nanmax(np.abs(got.astype(np.float64) - want))):.3g} of {scale:.3g}"


def onnx_case(cli, path):
    if time.monotonic() > deadline:
        return LEFT_OUT
    with np.load(path.with_suffix(".npz")) as z:
        arrays = {k: z[k] for k in z.files}
    want = [low_bits(k, v) for k, v in arrays.items() if not k.startswith("in.")]
    with tempfile.TemporaryDirectory() as scratch:
        got = run(cli, path, {k[3:]: v for k, v in arrays.items() if k.startswith("in.")}, Path(scratch))
    if isinstance(got, str):
        return got
    if len(got) != len(want):
        return f"{len(got)} outputs, expected {len(want)}"
    return "; ".join(filter(None, (wrong(g, w, 1e-4) for g, w in zip(got, want))))


def onnx(cli, _):
    """Operator cases of ONNX; as they end."""
    paths = sorted((here / "onnx_ops").glob("*.onnx"))
    bad, left = 0, 0
    with ThreadPoolExecutor(arguments.jobs) as pool:
        cases = {pool.submit(onnx_case, cli, path): path.stem for path in paths}
        for case in as_completed(cases):
            cli.print_reports()
            if case.result() == LEFT_OUT:
                left += 1
            elif case.result():
                bad += 1
                print(f"FAIL {cases[case]}: {case.result()}", flush=True)
    if left:
        print(f"{left} {LEFT_OUT}", flush=True)
    return len(paths) - bad - left, bad + left, 0 if arguments.under else 0.01 * len(paths)


def part_of(cli, script, options):
    """A script of HALFTONE_SHARED; its lines are printed as they come. Returns (passed, failed), or that it was left out."""
    if time.monotonic() > deadline:
        return LEFT_OUT
    environment = {**os.environ, "HALFTONE_CLI": cli.path, "HALFTONE_SHARED": str(shared), "PYTHONUNBUFFERED": "1"}
    score = (0, 1)  # of a script that breaks off
    with subprocess.Popen([sys.executable, "-B", shared / "accept" / script, *options], env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True) as process:
        for line in process.stdout:
            if end := re.fullmatch(r"(\d+) passed, (\d+) failed(, .*)?\n?", line):
                score = int(end[1]), int(end[2])
            else:
                print(line, end="", flush=True)
                cli.print_reports()
    cli.print_reports()
    return score


def in_parts(cli, scratch, script, cases, parts, *options):
    """Cases dealt out to folders, over each of which the script runs beside the others."""
    folders = []
    for k in range(min(parts, len(cases))):
        folders.append(scratch / f"{script}-{k}")
        folders[k].mkdir()
        for case in cases[k::parts]:
            (folders[k] / case.name).symlink_to(case)
    with ThreadPoolExecutor(arguments.jobs) as pool:
        scores = list(pool.map(lambda folder: part_of(cli, script, [folder, *options]), folders))
    if left := scores.count(LEFT_OUT):
        print(f"{left} of {len(folders)} parts {LEFT_OUT}", flush=True)
        scores = [(0, 1) if score == LEFT_OUT else score for score in scores]
    return sum(s[0] for s in scores), sum(s[1] for s in scores), 0


def mxnet(cli, scratch):
    cases = sorted(p.parent for p in (shared / "fixtures" / "ops").glob("*/case.json"))
    parts = arguments.jobs if arguments.seconds == float("inf") else len(cases)  # one by one where time may run out
    return in_parts(cli, scratch, "ops.py", cases, parts, arguments.backend)


def models(cli, scratch, names=None):
    folders = sorted(p.parent for p in (shared / "models").glob("*/preprocess.json") if names is None or p.parent.name in names)
    return in_parts(cli, scratch, "models.py", folders, len(folders), "--backend", arguments.backend)


def suite(cli, _):
    score = part_of(cli, "onnx_ops.py", [here / "onnx_suite", arguments.backend, "--min", "99", "--jobs", str(arguments.jobs)])
    return (0, 1, 0) if score == LEFT_OUT else (*score, 0.01 * sum(score))


def small(cli, scratch):
    return models(cli, scratch, SMALL)


def main():
    kinds = {"onnx": onnx, "mxnet": mxnet, "models": models, "small": small, "suite": suite}
    good = True
    for kind in arguments.kinds or ("onnx", "mxnet", "models"):
        with tempfile.TemporaryDirectory() as scratch:
            cli = Cli(Path(scratch))
            passed, failed, allowed = kinds[kind](cli, Path(scratch))
            cli.print_reports(all_ended=True)
        told = f", {cli.found} runs reported by {arguments.under}" if arguments.under else ""
        print(f"{kind}: {passed} passed, {failed} failed{told}", flush=True)
        good = good and passed > 0 and failed <= allowed and not cli.found
    raise SystemExit(0 if good else 1)


main()

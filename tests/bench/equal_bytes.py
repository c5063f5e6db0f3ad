#!/usr/bin/env python3
"""Do two programs write the same bytes? For moves and rewrites that must change nothing.

    python3 tests/bench/equal_bytes.py OLD_CLI NEW_CLI [--graphs]

Converts, rewrites, calibrates and quantizes the sample and the recorded fixtures (with HALFTONE_SHARED also its models) with both, and
compares every file that comes out, and the report but for its times. The last line counts; exit 1 when anything differs.
--graphs compares with a program of long ago: exit codes, graphs and arrays alone, without reports and the graphs' checksum of their arrays.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "resources/sample/digits-symbol.json"
PICTURES = ROOT / "resources/sample/digits-calibration.npz"
TIMES = {"seconds"}


def calls():
    """Name and arguments of every call; OUT stands for the folder to write to."""
    for case in sorted((ROOT / "tests/data/amp").iterdir()):
        symbol = case / "model-symbol.json"
        if not symbol.exists() or case.name.startswith("zoo_"):
            continue
        for mode in ("typed", "mxnet"):
            yield f"{case.name} {mode}", ["convert", symbol, "--mode", mode, "--target", "float16", "--out", "OUT/m"]
    yield "sample casts", ["convert", SAMPLE, "--target", "bfloat16", "--cast-params", "--out", "OUT/m"]
    for method in ("minmax", "entropy", "percentile", "mse"):
        yield f"table {method}", ["calibrate", SAMPLE, "--inputs", PICTURES, "--method", method, "--threads", "1", "--out", "OUT/t.json"]
    for form in ("onednn", "plain"):
        for calib in ("naive", "entropy"):
            yield f"int8 {form} {calib}", ["quantize", SAMPLE, "--inputs", PICTURES, "--form", form, "--calib", calib,
                                           "--threads", "1", "--out", "OUT/m"]
    yield "shared", ["rewrite", SAMPLE, "--pass", "share", "--pass", "dead-code", "--out", "OUT/m"]
    shared = os.environ.get("HALFTONE_SHARED")
    if not shared:
        print("skipped: the models of HALFTONE_SHARED, which is not set")
        return
    for symbol in sorted(pathlib.Path(shared, "models").glob("**/*-symbol.json")):
        yield f"{symbol.stem} float16", ["convert", symbol, "--target", "float16", "--cast-params", "--out", "OUT/m"]


def without_times(value):
    if isinstance(value, dict):
        return {key: without_times(inner) for key, inner in value.items() if key not in TIMES}
    if isinstance(value, list):
        return [without_times(inner) for inner in value]
    return value


def graph_alone(path):
    graph = json.loads(path.read_text())
    graph.get("attrs", {}).pop("halftone_params", None)
    return json.dumps(graph)


def content(path, graphs):
    """A file's bytes; of a table, all but its times."""
    if graphs and path.name.endswith("-symbol.json"):
        return graph_alone(path)
    if path.name == "t.json":
        return json.dumps(without_times(json.loads(path.read_text())))
    return path.read_bytes()


def outcome(cli, arguments, folder, graphs):
    """Exit code, standard error, report and all written files of one call."""
    line = [str(cli)] + [str(argument).replace("OUT", str(folder)) for argument in arguments] + ["--json"]
    done = subprocess.run(line, capture_output=True, text=True, timeout=600, check=False)
    try:
        report = without_times(json.loads(done.stdout))
    except ValueError:
        report = done.stdout
    files = {path.name: content(path, graphs) for path in sorted(folder.iterdir())}
    if graphs:
        return done.returncode, "", "", files
    text = json.dumps(report).replace(str(folder), "OUT")
    return done.returncode, done.stderr.replace(str(folder), "OUT"), text, files


def main():
    old, new = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    graphs = "--graphs" in sys.argv[3:]
    equal = different = 0
    for name, arguments in calls():
        with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
            before, after = (outcome(cli, arguments, pathlib.Path(folder), graphs) for cli, folder in ((old, one), (new, two)))
        parts = [part for part, a, b in zip(("exit", "errors", "report", "files"), before, after) if a != b]
        if parts:
            different += 1
            print(f"{name}: {', '.join(parts)} differ")
        else:
            equal += 1
    print(f"{equal} equal, {different} different")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())

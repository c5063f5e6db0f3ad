#!/usr/bin/env python3
"""Top-1 accuracy in int8, by method and granularity: int8_accuracy.py CLI PICTURES MODEL-symbol.json… [--calibrate 64]

PICTURES is a folder with labels.csv (columns file, class_index) and the pictures; some, evenly spread over the names,
calibrate, the others score. Granularities: "tensor" are MXNet's plain operators, one scale for all weights of a layer; "channel" the fused
ones, one scale for each output channel.
"""
import argparse
import csv
import itertools
import json
import subprocess
import tempfile
from pathlib import Path

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("cli", type=Path)
parser.add_argument("pictures", type=Path)
parser.add_argument("models", type=Path, nargs="+")
parser.add_argument("--calibrate", type=int, default=64)
parser.add_argument("--methods", default="naive,entropy,percentile,mse")
parser.add_argument("--granularities", default="tensor,channel")
parser.add_argument("--corrected", default="no,yes", help="with the layers' biases as they are, and corrected for mean errors")
parser.add_argument("--score", type=int, default=0, help="how many pictures score; default all others")
arguments = parser.parse_args()


def call(*parts):
    done = subprocess.run([str(arguments.cli), *map(str, parts)], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, parts))}: {done.stderr.strip()}")
    return json.loads(done.stdout)


with tempfile.TemporaryDirectory() as folder, open(arguments.pictures / "labels.csv", newline="") as labels:
    reader = csv.DictReader(labels)
    rows = sorted(reader, key=lambda row: row["file"])
    calibration = {k * len(rows) // arguments.calibrate for k in range(arguments.calibrate)}
    others = [row for k, row in enumerate(rows) if k not in calibration]
    parts = {"calibrate": [rows[k] for k in sorted(calibration)], "score": others[:arguments.score or len(others)]}
    for name, part in parts.items():
        with open(Path(folder) / f"{name}.csv", "w", newline="") as file:
            writer = csv.DictWriter(file, reader.fieldnames)
            writer.writeheader()
            writer.writerows(part)

    def top1(symbol, preprocess):
        report = call("run", symbol, "--inputs", arguments.pictures, "--labels", Path(folder) / "score.csv", "--preprocess", preprocess,
                      "--out", Path(folder) / "out.npz", "--batch", 4, "--json")
        return 100 * report["accuracy"]["top1"]

    for model in arguments.models:
        preprocess = model.parent / "preprocess.json"
        fp32 = top1(model, preprocess)
        print(f"{model.parent.name}: float32 {fp32:.2f} %", flush=True)
        for granularity, options in (("tensor", ["--form", "plain", "--mode", "full"]),
                                     ("channel", ["--form", "onednn", "--granularity", "channel"])):
            chosen = granularity in arguments.granularities.split(",")
            for method, corrected in itertools.product(arguments.methods.split(","), arguments.corrected.split(",")) if chosen else []:
                prefix = Path(folder) / "int8"
                call("quantize", model, "--inputs", arguments.pictures, "--preprocess", preprocess, "--labels",
                     Path(folder) / "calibrate.csv", "--batch", 8, "--calib", method, "--dtype", "auto", "--out", prefix, "--json", *options,
                     *(["--correct-biases"] if corrected == "yes" else []))
                got = top1(f"{prefix}-symbol.json", preprocess)
                biases = "biases corrected" if corrected == "yes" else ""
                print(f"  {granularity:8} {method:11} {biases:17} {got:6.2f} %  {got - fp32:+6.2f}", flush=True)

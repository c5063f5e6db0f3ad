#!/usr/bin/env python3
"""Top-1 accuracy in int8, by method and granularity: int8_accuracy.py CLI PICTURES MODEL-symbol.json|MODEL.onnx… [--calibrate 64]

PICTURES is a folder with labels.csv (columns file, class_index) and the pictures; some, evenly spread over the names,
calibrate, the others score. Forms and granularities: "plain" are MXNet's plain operators, one scale for all weights of a layer;
"onednn-tensor" the fused ones, whose convolutions have one scale for each output channel and whose fully connected layers have one for
all; "onednn-channel" the same with one for each output channel there, too. Of ONNX models there is one form, "qdq". The last table shows, by model, what each loses against
float32 in points, and which method is best.
"""
import argparse
import csv
import itertools
import json
import subprocess
import tempfile
from pathlib import Path

FORMS = {
    "plain": ["--form", "plain", "--mode", "full"],
    "onednn-tensor": ["--form", "onednn", "--granularity", "tensor"],
    "onednn-channel": ["--form", "onednn", "--granularity", "channel"],
    "qdq": ["--form", "qdq"],
}

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("cli", type=Path)
parser.add_argument("pictures", type=Path)
parser.add_argument("models", type=Path, nargs="+")
parser.add_argument("--calibrate", type=int, default=64)
parser.add_argument("--methods", default="naive,entropy,percentile,mse")
parser.add_argument("--forms", default="", help="default: all that the model has")
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

    losses = {}  # by model, form, biases and method
    for model in arguments.models:
        preprocess = model.parent / "preprocess.json"
        fp32 = top1(model, preprocess)
        print(f"{model.parent.name}: float32 {fp32:.2f} %", flush=True)
        is_onnx = model.suffix == ".onnx"
        own = [form for form in FORMS if (form == "qdq") == is_onnx]
        forms = [form for form in arguments.forms.split(",") if form in own] or own
        for form, corrected, method in itertools.product(forms, arguments.corrected.split(","),
                                                         arguments.methods.split(",")):
            prefix = Path(folder) / "int8"
            call("quantize", model, "--inputs", arguments.pictures, "--preprocess", preprocess, "--labels", Path(folder) / "calibrate.csv",
                 "--batch", 8, "--calib", method, "--dtype", "auto", "--out", prefix, "--json", *FORMS[form],
                 *(["--correct-biases"] if corrected == "yes" else []))
            got = top1(f"{prefix}.onnx" if is_onnx else f"{prefix}-symbol.json", preprocess)
            biases = "biases corrected" if corrected == "yes" else ""
            losses[model.parent.name, form, corrected, method] = got - fp32
            print(f"  {form:15} {method:11} {biases:17} {got:6.2f} %  {got - fp32:+6.2f}", flush=True)

    methods = arguments.methods.split(",")
    print(f"\n{'top-1 against float32, in points':60} " + " ".join(f"{method:>10}" for method in methods) + "  best")
    for model, form, corrected in dict.fromkeys(key[:3] for key in losses):
        row = [losses[model, form, corrected, method] for method in methods]
        name = f"{model}, {form}{', biases corrected' if corrected == 'yes' else ''}"
        print(f"{name:60} " + " ".join(f"{loss:+10.2f}" for loss in row) + f"  {max(row):+.2f}")

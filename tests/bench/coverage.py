#!/usr/bin/env python3
"""Every trained model, by every way of lowering it: coverage.py CLI [--models FOLDER …] [--only NAME,…] [--page]

Each model of each FOLDER ($HALFTONE_SHARED/models; folders as bench/export_zoo.py writes them are read, too) is imported, converted to float16 and bfloat16 by each mode
and for some hardwares, written and read again; its types are checked (`verify`), it runs on its recorded input, and its outputs are held against those
of float32. One line each: casts, share of the FLOPs in 16 bit, SQNR of the worst output; what cannot be done says so. --page writes resources/help/coverage.html.
Needs numpy.
"""
import argparse
import datetime
import html
import json
import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
SHARED = os.environ.get("HALFTONE_SHARED", "")
WAYS = {"typed": [], "mxnet": ["--mode", "mxnet"], "tvm": ["--mode", "tvm"], "all": ["--mode", "all"], "conv16": ["--hardware", "conv16"],
        "avx512-bf16-vnni": ["--hardware", "avx512-bf16-vnni"], "sm_80": ["--hardware", "sm_80"]}
TARGETS = ("float16", "bfloat16")
STYLE = "border=\"1\" cellspacing=\"0\" cellpadding=\"4\""

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("cli", type=Path)
parser.add_argument("--models", type=Path, nargs="+", default=[Path(SHARED) / "models"])
parser.add_argument("--only", default="", help="names of models")
parser.add_argument("--ways", default=",".join(WAYS))
parser.add_argument("--backend", default="cpu")
parser.add_argument("--page", action="store_true")
arguments = parser.parse_args()


def call(*parts):
    done = subprocess.run([str(arguments.cli), *map(str, parts)], capture_output=True, text=True)
    lines = done.stderr.strip().splitlines()
    return done.returncode, done.stdout, lines[-1] if lines else ""


def first_case(meta, record):
    """The arrays of the first recorded input; states that the record leaves out are zero."""
    inputs = {key.split(".", 1)[1]: record[key] for key in record.files if key.startswith("in0.")}
    if "small" in inputs:  # of a large picture only a small one is recorded
        one, small = meta["inputs"][0], inputs["small"]
        times = one["shape"][2] // small.shape[0]
        inputs = {one["name"]: small.repeat(times, 0).repeat(times, 1).transpose(2, 0, 1)[None].astype(one["dtype"])}
    batch = next(iter(inputs.values())).shape[1 if meta["name"].startswith("dtln-1-mxnet") else 0]
    for one in meta["inputs"]:
        if one["name"] not in inputs:
            inputs[one["name"]] = np.zeros([batch if isinstance(n, str) else n for n in one["shape"]], one["dtype"])
    return inputs


def outputs_of(path):
    with np.load(path) as arrays:
        def real(key):
            values = arrays[key]
            return (values.astype(np.uint32) << 16).view(np.float32) if key.endswith(":bf16") else values
        return [real(key) for key in arrays.files]


def worst_sqnr(reference, others):
    """Over the outputs of real numbers; None where one has NaN or infinities, or another shape."""
    worst = np.inf
    for wanted, got in zip(reference, others):
        if wanted.dtype.kind != "f":
            continue
        if wanted.shape != got.shape or not np.isfinite(got.astype(np.float64)).all():
            return None
        noise = float(np.sum((got.astype(np.float64) - wanted) ** 2))
        signal = float(np.sum(wanted.astype(np.float64) ** 2))
        worst = min(worst, np.inf if noise == 0 else 10 * np.log10(max(signal, 1e-300) / noise))
    return worst


def lowered_share(report, target):
    share = report["types"].get(target, {}).get("flops_share")
    return 0.0 if share is None else share


class Model:
    def __init__(self, folder, scratch):
        self.meta = json.loads((folder / "preprocess.json").read_text())
        self.path = next(iter(sorted(folder.glob("*-symbol.json")) or sorted(folder.glob("*.onnx"))))
        self.name, self.is_onnx, self.scratch = folder.name, self.path.suffix == ".onnx", scratch
        with np.load(folder / "reference.npz") as record:
            self.inputs = first_case(self.meta, record)
        self.feed = scratch / "in.npz"
        np.savez(self.feed, **self.inputs)
        self.shapes = [part for name, array in self.inputs.items() if array.ndim
                       for part in ("--shape", f"{name}={','.join(map(str, array.shape))}")]

    def run(self, path):
        out = self.scratch / "out.npz"
        code, _, error = call("run", path, "--inputs", self.feed, "--backend", arguments.backend, "--out", out)
        return (outputs_of(out), "") if code == 0 else (None, f"not in this build: {error.split(': ')[-1]}" if code == 3 else f"run: {error}")

    def lower(self, target, way, reference):
        """{casts, share, sqnr, failed}: what is missing was not come to."""
        prefix = self.scratch / "lowered"
        report_file = self.scratch / "report.json"
        code, _, error = call("convert", self.path, "--target", target, *WAYS[way], "--inputs", self.feed, "--report", report_file, "--out", prefix)
        if code:
            return {"failed": "not in this build" if code == 3 else f"convert: {error}"}
        written = prefix.with_name("lowered.onnx" if self.is_onnx else "lowered-symbol.json")
        row = {"casts": json.loads(report_file.read_text())["casts"]}
        code, text, error = call("verify", written, *self.shapes, "--json")
        if code:
            return row | {"failed": f"verify: {error}"}
        row["share"] = lowered_share(json.loads(text), target)
        got, error = self.run(written)
        if got is None:
            return row | {"failed": error}
        row["sqnr"] = worst_sqnr(reference, got)
        return row


def decibels(value):
    return "NaN or infinite" if value is None else "exact" if np.isinf(value) else f"{value:.1f} dB"


def cell(row):
    if "failed" in row:
        return row["failed"]
    return f"{decibels(row['sqnr'])}, {100 * row['share']:.0f} % lowered, {row['casts']} casts"


def rows_of(model, ways):
    reference, error = model.run(model.path)
    if reference is None:
        yield from ((target, ways[0], {"failed": error}) for target in TARGETS)
        return
    for target in TARGETS:
        for way in ways:
            if way == "mxnet" and model.is_onnx:
                continue
            yield target, way, model.lower(target, way, reference)


def page(table, ways):
    text = ["<h2>Models and ways of lowering them</h2>",
            f"<p>Written by tests/bench/coverage.py on {datetime.date.today().isoformat()}. Trained models of MXNet and ONNX, converted with the built-in lists, written, read again "
            "and run on their recorded input on a CPU (float16 emulated). Each field: SQNR of the worst output against float32, share of the floating operations in 16 "
            "bit, casts. Models that are stored in 16 bit or int8 already are converted as they are.</p>"]
    for target in TARGETS:
        text += [f"<h3>{target}</h3>", f"<table {STYLE}>", "<tr><td><b>model</b></td>" + "".join(f"<td><b>{html.escape(w)}</b></td>" for w in ways) + "</tr>"]
        for name, rows in table.items():
            fields = [html.escape(cell(rows[target, way])) if (target, way) in rows else "-" for way in ways]
            text.append(f"<tr><td>{html.escape(name)}</td>" + "".join(f"<td>{field}</td>" for field in fields) + "</tr>")
        text.append("</table>")
    return "\n".join(text) + "\n"


def main():
    folders = sorted(path.parent for models in arguments.models for path in models.glob("*/preprocess.json"))
    folders = [path for path in folders if not arguments.only or path.name in arguments.only.split(",")]
    if not folders:
        raise SystemExit(f"no models in {' '.join(map(str, arguments.models))}: name a folder by --models or HALFTONE_SHARED")
    ways = arguments.ways.split(",")
    table, bad = {}, 0
    for folder in folders:
        with tempfile.TemporaryDirectory() as scratch:
            model = Model(folder, Path(scratch))
            for target, way, row in rows_of(model, ways):
                table.setdefault(model.name, {})[target, way] = row
                bad += not row.get("failed", "not in this build").startswith("not in this build")
                print(f"{model.name:28} {target:9} {way:18} {cell(row)}", flush=True)
    if arguments.page:
        used = [way for way in ways if any(row.get("failed") != "not in this build" for rows in table.values() for (_, w), row in rows.items() if w == way)]
        (ROOT / "resources/help/coverage.html").write_text(page(table, used), encoding="utf-8")
    print(f"{len(table)} models, {bad} fields failed")
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())

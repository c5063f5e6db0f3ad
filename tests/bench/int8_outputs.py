#!/usr/bin/env python3
"""Error at the outputs in int8, by threshold method: int8_outputs.py CLI SETS.json [--methods naive,entropy,percentile,mse,output] [--calibrate 32] [--score 32]

SETS.json is a list of {"name", "model", "inputs", "preprocess"}: `inputs` is a folder of pictures (of which some, evenly spread, calibrate, and others
score) or two lists of .npz, [[calibrate…], [score…]]. Printed is the SQNR in dB of the int8 model's outputs against float32's over what scores, the
mean over the outputs; the last rows say by how much each method is below the best one.
"""
import argparse
import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("cli", type=Path)
parser.add_argument("sets", type=Path)
parser.add_argument("--methods", default="naive,entropy,percentile,mse,output")
parser.add_argument("--calibrate", type=int, default=32)
parser.add_argument("--score", type=int, default=32)
parser.add_argument("--more", default="", help="more options of quantize")
arguments = parser.parse_args()
methods = arguments.methods.split(",")


def call(*parts):
    done = subprocess.run([str(arguments.cli), *map(str, parts)], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, parts))}: {done.stderr.strip()}")
    return done.stdout


def joined(files, out):
    arrays = [np.load(file) for file in files]
    if len(arrays) > 1 and any(arrays[0][key].ndim == 0 for key in arrays[0].files):
        arrays = arrays[:1]
    np.savez(out, **{key: np.concatenate([a[key] for a in arrays]) for key in arrays[0].files if arrays[0][key].ndim})
    return out


def split(inputs, folder):
    """Folders or files that calibrate and that score."""
    if isinstance(inputs, list):
        return joined(inputs[0], folder / "calibrate.npz"), joined(inputs[1], folder / "score.npz")
    pictures = sorted(p for p in Path(inputs).iterdir() if p.suffix.lower() in (".jpg", ".jpeg", ".png"))
    count = min(arguments.calibrate, len(pictures) // 2 or 1)
    first = {k * len(pictures) // count for k in range(count)}
    others = [p for k, p in enumerate(pictures) if k not in first] or pictures
    others = [others[k * len(others) // min(arguments.score, len(others))] for k in range(min(arguments.score, len(others)))]
    for name, part in (("calibrate", [pictures[k] for k in sorted(first)]), ("score", others)):
        (folder / name).mkdir()
        for picture in part:
            (folder / name / picture.name).symlink_to(picture.resolve())
    return folder / "calibrate", folder / "score"


def sqnr(want, got):
    w, g = want.astype("f8"), got.astype("f8")
    noise = float(((g - w) ** 2).sum())
    return 200.0 if noise == 0 else 10 * np.log10(max(float((w ** 2).sum()), 1e-300) / noise)


table = {}
for one in json.loads(arguments.sets.read_text()):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        calibrate, score = split(one["inputs"], folder)
        rules = ["--preprocess", one["preprocess"]] if one.get("preprocess") else []
        batch = ["--batch", 1] if Path(score).is_dir() else []
        try:
            call("run", one["model"], "--inputs", score, *rules, *batch, "--out", folder / "want.npz")
        except RuntimeError as error:
            print(one["name"], error, flush=True)
            continue
        want = np.load(folder / "want.npz")
        for method in methods:
            out = folder / f"int8-{method}"
            try:
                told = json.loads(call("quantize", one["model"], "--inputs", calibrate, *rules, *batch, "--calib", method, "--out", out, "--json", *arguments.more.split()))
                written = f"{out}.onnx" if Path(f"{out}.onnx").exists() else f"{out}-symbol.json"
                call("run", written, "--inputs", score, *rules, *batch, "--out", folder / "got.npz")
            except RuntimeError as error:
                print(one["name"], method, error, flush=True)
                continue
            got = np.load(folder / "got.npz")
            each = [sqnr(w, g) for w, g in zip(want.values(), got.values()) if w.dtype.kind == "f" and w.shape == g.shape]
            table.setdefault(one["name"], {})[method] = float(np.mean(each))
        row = table.get(one["name"], {})
        print(f"{one['name']:32} " + " ".join(f"{row.get(m, float('nan')):10.2f}" for m in methods) + f"  {len(told['quantized'])} nodes", flush=True)

whole = {name: row for name, row in table.items() if len(row) == len(methods)}
print(f"\n{'over ' + str(len(whole)) + ' sets':32} " + " ".join(f"{m:>10}" for m in methods))
for title, of in (("mean dB", lambda m: np.mean([row[m] for row in whole.values()])),
                  ("mean below the best", lambda m: np.mean([max(row.values()) - row[m] for row in whole.values()])),
                  ("most below the best", lambda m: np.max([max(row.values()) - row[m] for row in whole.values()])),
                  ("best or within 0.1 dB", lambda m: sum(row[m] >= max(row.values()) - 0.1 for row in whole.values()))):
    print(f"{title:32} " + " ".join(f"{of(m):10.2f}" for m in methods))

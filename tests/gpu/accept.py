"""Operators of ONNX and trained models on the GPU against recorded outputs: python3 accept.py [--operators] [--backend cuda] [--under COMMAND]

--operators  the operators alone      --under  runs the command line behind it (compute-sanitizer)
Exit 1 where less than 99 % of the operators or any model is wrong.
"""
import argparse
import os
import shlex
import subprocess
import tempfile
from pathlib import Path

import numpy as np

parser = argparse.ArgumentParser()
parser.add_argument("--operators", action="store_true")
parser.add_argument("--backend", default="cuda")
parser.add_argument("--under", default="")
arguments = parser.parse_args()
here = Path(__file__).parent
cli = os.environ["HALFTONE_CLI"]
scratch = Path(tempfile.mkdtemp())


def run(model, inputs, *more):
    """The outputs in the order of the model's heads, or what went wrong."""
    np.savez(scratch / "in.npz", **inputs)
    command = [*shlex.split(arguments.under), cli, "run", str(model), "--inputs", str(scratch / "in.npz"), "--backend", arguments.backend,
               "--out", str(scratch / "out.npz"), *more]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return f"exit {done.returncode}: {(done.stderr or done.stdout).strip()[-300:]}"
    with np.load(scratch / "out.npz") as out:
        return [out[k] for k in out.files]


def wrong(got, want, relative):
    if got.shape != want.shape:
        return f"shape {got.shape}, expected {want.shape}"
    if want.dtype.kind not in "fc":
        return "" if np.array_equal(got, want) else "other values"
    scale = float(np.nanmax(np.abs(want[np.isfinite(want)]), initial=0))
    if np.allclose(got.astype(np.float64), want.astype(np.float64), relative, relative * max(scale, 1e-3), equal_nan=True):
        return ""
    return f"off by {float(np.nanmax(np.abs(got.astype(np.float64) - want))):.3g} of {scale:.3g}"


def judge(result, want, relative):
    if isinstance(result, str):
        return result
    if len(result) != len(want):
        return f"{len(result)} outputs, expected {len(want)}"
    return "; ".join(filter(None, (wrong(g, w, relative) for g, w in zip(result, want))))


def operators():
    paths = sorted((here / "onnx_ops").glob("*.onnx"))
    bad = 0
    for path in paths:
        with np.load(path.with_suffix(".npz")) as z:
            arrays = {k: z[k] for k in z.files}
        inputs = {k[3:]: v for k, v in arrays.items() if k.startswith("in.")}
        problem = judge(run(path, inputs), [v for k, v in arrays.items() if not k.startswith("in.")], 1e-4)
        if problem:
            bad += 1
            print(f"{path.stem}: {problem}")
    print(f"operators: {len(paths) - bad} of {len(paths)}")
    return bad <= 0.01 * len(paths)


def thinned(result, keys):
    """Of an output that was recorded as "out0.0.every2", every second place along height and width."""
    if isinstance(result, str):
        return result
    steps = [int(k.rpartition(".every")[2]) if ".every" in k else 1 for k in keys]
    return [g[..., ::n, ::n] if n > 1 else g for g, n in zip(result, steps)] + result[len(steps):]


def models():
    good = True
    for folder in sorted((here / "models").iterdir()):
        model = next(iter([*folder.glob("*-symbol.json"), *folder.glob("*.onnx")]))
        with np.load(folder / "reference.npz") as z:
            inputs = {k.split(".", 1)[1]: z[k] for k in z.files if k.startswith("in0.")}
            keys = [k for k in z.files if k.startswith("out0.")]
            want = [z[k] for k in keys]
        problem = judge(thinned(run(model, inputs), keys), want, 1e-3)
        print(f"{folder.name}: {problem or 'as recorded'}")
        good = good and not problem
    return good


results = [operators()] + ([] if arguments.operators else [models()])
raise SystemExit(0 if all(results) else 1)

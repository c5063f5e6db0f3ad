"""The runtimes that people deploy in, against their own Python packages: check_runtimes.py HALFTONE-CLI [--environment VENV --only PACKAGE]

With --environment only `profile` is checked, with the library of that environment. Needs onnxruntime, openvino, onnx and numpy.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

ROOT = Path(__file__).resolve().parents[2]
MODEL = ROOT / "resources/sample/digits.onnx"
SHAPE = ("--shape", "data=1,1,8,8")
VARIABLES = ("HALFTONE_ORT", "HALFTONE_OPENVINO", "VIRTUAL_ENV")
failed = []


class Halftone:
    def __init__(self, cli, environment):
        self.cli = cli
        self.environment = {k: v for k, v in os.environ.items() if k not in VARIABLES} | {"VIRTUAL_ENV": environment}

    def __call__(self, *args, environment=None):
        p = subprocess.run([self.cli, *map(str, args)], capture_output=True, text=True, timeout=300, env=environment or self.environment)
        return p.returncode, p.stdout, p.stderr

    def json(self, *args):
        code, out, err = self(*args, "--json")
        if code != 0:
            raise AssertionError(f"{' '.join(map(str, args))}: exit code {code}: {err.strip()}")
        return json.loads(out)

    def profile(self, model, backend, *options):
        return self.json("profile", model, "--backend", backend, "--threads", 1, "--repeats", 5, *SHAPE, *options)


def check(name, call):
    try:
        problem = call()
    except AssertionError as error:
        problem = str(error)
    print(f"{'FAILED' if problem else 'ok'}: {name}{': ' + problem if problem else ''}")
    if problem:
        failed.append(name)


def operators():
    return [n for n in onnx.load(MODEL).graph.node if n.op_type != "Constant"]


def names_all(told):
    named = {name for layer in told["layers"] for name in layer["names"]}
    missing = [n.name for n in operators() if n.name and n.name not in named]
    return f"no row names {missing}" if missing else None


def as_asked(told):
    share = told["as_asked"]["operators_share"]
    return names_all(told) or (None if share == 1 else f"{share:.2f} of the operators ran as asked")


def precision_of(backend):
    return ["--precision", "f32"] if backend == "openvino" else []


def example(folder):
    """One example, as an array of the model's input."""
    given = onnx.load(MODEL).graph.input[0]
    shape = [d.dim_value or 1 for d in given.type.tensor_type.shape.dim]
    x = np.random.default_rng(1).random(shape, np.float32)
    np.savez(folder / "feed.npz", **{given.name: x})
    return given.name, x


def check_old(halftone, package):
    backend = "ort" if package == "onnxruntime" else "openvino"
    check(f"profile in {halftone.environment['VIRTUAL_ENV']}", lambda: as_asked(halftone.profile(MODEL, backend, *precision_of(backend))))


def check_float16(halftone, folder):
    halftone("convert", MODEL, "--target", "float16", "--out", folder / "half.onnx")
    code, out, err = halftone("profile", folder / "half.onnx", "--backend", "ort", "--repeats", 3, *SHAPE)
    if code != 0 or "has no float16 kernel for" not in err:
        return f"exit code {code}, no warning before the run: {err.strip()}"
    if "ran in" not in out:
        return "the table has no column 'ran in'"
    code, out, err = halftone("verify", folder / "half.onnx", "--backend", "ort", "--json")
    different = {d["op"] for d in json.loads(out)["differences"]} if out else set()
    return None if code == 1 and "Conv" in different else f"verify: exit code {code}, {different}"


def added_casts(model, folder):
    """Casts that a session adds: of values that a run computes or is fed, without nodes that have no effect; of stored values."""
    import onnxruntime
    counts = []
    for level in (onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC, onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL):
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = level
        options.optimized_model_filepath = str(folder / "stored.onnx")
        onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        graph = onnx.load(folder / "stored.onnx").graph
        stored = {i.name for i in graph.initializer}
        added = [n for n in graph.node if "InsertedPrecisionFreeCast" in n.name]
        counts.append((sum(n.input[0] not in stored for n in added), sum(n.input[0] in stored for n in added)))
    return counts[0][0], counts[1][1]


def check_casts(halftone, folder, model):
    """What is told before the run is what the session then has."""
    code, _, err = halftone("profile", model, "--backend", "ort", "--repeats", 1, "--warmup", 0)
    if code != 0:
        return f"exit code {code}: {err.strip()}"
    told = tuple(int(found[1]) if (found := re.search(rf"([0-9]+) casts? {when}", err)) else 0 for when in ("in each run", "when the model is loaded"))
    wanted = added_casts(model, folder)
    return None if told == wanted else f"{told} casts are told, the session adds {wanted}"


def models_with_casts(halftone, folder):
    """The sample in float16, and networks that HALFTONE_SHARED has."""
    halftone("convert", MODEL, "--target", "float16", "--out", folder / "half.onnx")
    yield folder / "half.onnx"
    shared = Path(os.environ.get("HALFTONE_SHARED", "/nonexistent")) / "models"
    if not shared.is_dir():
        print("skipped: casts of larger networks, without HALFTONE_SHARED")
        return
    yield shared / "squeezenet11-fp16-onnx/SqueezeNet_fp16.onnx"
    halftone("convert", shared / "mobilenet-v1-075-onnx/mobilenet_v1_075_224.onnx", "--target", "float16", "--out", folder / "mobilenet.onnx")
    yield folder / "mobilenet.onnx"


def check_bfloat16(halftone, folder):
    halftone("convert", MODEL, "--target", "bfloat16", "--out", folder / "brain.onnx")
    code, _, err = halftone("profile", folder / "brain.onnx", "--backend", "ort", "--repeats", 3, *SHAPE)
    return None if code == 3 and "Conv" in err else f"exit code {code}: {err.strip()}"


def check_values(halftone, folder, given):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    wanted = onnxruntime.InferenceSession(str(MODEL), options, providers=["CPUExecutionProvider"]).run(None, {given[0]: given[1]})
    halftone.json("run", MODEL, "--inputs", folder / "feed.npz", "--backend", "ort", "--threads", 1, "--out", folder / "o.npz")
    got = list(np.load(folder / "o.npz").values())
    return None if all(np.array_equal(a, b) for a, b in zip(got, wanted, strict=True)) else "not the values of the same session in Python"


def check_layers(halftone, folder, backend):
    told = halftone.json("compare", MODEL, "--inputs", folder / "feed.npz", "--against-backend", backend, *precision_of(backend))
    figures = [layer["rel_l2"] for layer in told["layers"] if layer.get("rel_l2") is not None]
    if len(figures) < len(operators()):
        return f"{len(figures)} of {len(operators())} layers have figures"
    return None if max(figures) < 1e-4 else f"{max(figures):.3g} apart"


def check_for_ort(halftone, folder):
    import onnxruntime
    told = halftone.json("convert", MODEL, "--target", "float16", "--for", "ort", "--out", folder / "kept.onnx")
    if "Conv" not in {node["op"] for node in told["for"]["left"]}:
        return "Conv is not among the operators left in float32"
    options = onnxruntime.SessionOptions()
    options.optimized_model_filepath = str(folder / "stored.onnx")
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    onnxruntime.InferenceSession(str(folder / "kept.onnx"), options, providers=["CPUExecutionProvider"])
    added = [n.name for n in onnx.load(folder / "stored.onnx").graph.node if "InsertedPrecisionFreeCast" in n.name]
    return f"ONNX Runtime adds {added}" if added else None


def check_for_openvino(halftone, folder):
    import openvino
    halftone.json("quantize", MODEL, "--inputs", folder / "feed.npz", "--form", "qoperator", "--for", "openvino", "--out", folder / "codes.onnx")
    core = openvino.Core()
    core.compile_model(core.read_model(str(folder / "codes.onnx")), "CPU")
    return None


def check_for_tensorrt(halftone, folder):
    halftone.json("quantize", MODEL, "--inputs", folder / "feed.npz", "--for", "tensorrt", "--out", folder / "rt.onnx")
    graph = onnx.load(folder / "rt.onnx").graph
    values = {i.name: numpy_helper.to_array(i) for i in graph.initializer}
    for node in graph.node:
        if node.op_type in ("QuantizeLinear", "DequantizeLinear"):
            codes = values.get(node.input[0])
            if codes is not None and codes.dtype == np.int32:
                return f"{node.name} reads codes of 32 bits"
            if len(node.input) > 2 and np.any(values[node.input[2]]):
                return f"{node.name} has a zero point"
        if node.op_type.startswith("QLinear"):
            return f"{node.name} is an integer operator"
    return None


def check_absent(halftone, folder):
    environment = {**halftone.environment, "HALFTONE_ORT": str(folder)}
    code, _, err = halftone("profile", MODEL, "--backend", "ort", *SHAPE, environment=environment)
    one_line = len(err.strip().splitlines()) == 1
    return None if code == 3 and one_line and "pip install onnxruntime" in err else f"exit code {code}: {err.strip()}"


def check_all(halftone, folder):
    import onnxruntime
    import openvino
    rows = {row["name"]: row for row in halftone.json("backends")["backends"]}
    for backend, version in (("ort", onnxruntime.__version__), ("openvino", openvino.__version__)):
        check(f"{backend} found", lambda: None if rows[backend]["available"] and version.startswith(rows[backend]["version"]) else str(rows[backend]))
        check(f"{backend} float32", lambda: as_asked(halftone.profile(MODEL, backend, *precision_of(backend))))
        check(f"{backend} layer by layer", lambda: check_layers(halftone, folder, backend))
    given = example(folder)
    check("float16", lambda: check_float16(halftone, folder))
    for model in models_with_casts(halftone, folder):
        check(f"casts of {model.name}", lambda: check_casts(halftone, folder, model))
    check("bfloat16", lambda: check_bfloat16(halftone, folder))
    check("values", lambda: check_values(halftone, folder, given))
    check("for ort", lambda: check_for_ort(halftone, folder))
    check("for openvino", lambda: check_for_openvino(halftone, folder))
    check("for tensorrt", lambda: check_for_tensorrt(halftone, folder))
    check("absent", lambda: check_absent(halftone, folder))


def main():
    q = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    q.add_argument("cli")
    q.add_argument("--environment", default=sys.prefix)
    q.add_argument("--only", choices=("onnxruntime", "openvino"))
    a = q.parse_args()
    halftone = Halftone(a.cli, a.environment)
    with tempfile.TemporaryDirectory() as folder:
        if a.only:
            check_old(halftone, a.only)
        else:
            example(Path(folder))
            check_all(halftone, Path(folder))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()

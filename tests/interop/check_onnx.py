"""onnx.checker and ONNX Runtime judge the ONNX files that halftone-cli writes: check_onnx.py HALFTONE_CLI (needs requirements_onnx.txt; see onnx.sh)

  operators  MXNet's, of which tests/data/ops has goldens, as far as ONNX has a counterpart; ONNX's own of tests/data/onnx_ops
  networks   of MXNet: tests/data/amp, tests/data/int8 and the sample; of ONNX: tests/data/onnx and tests/data/qdq.
             In float32, float16, bfloat16, int8 in pairs (form qdq) and int8 as operators on codes (form qoperator); of ONNX in mode all as well
The checker accepts each file with full shape inference; ONNX Runtime loads and runs it; outputs have the names of the float32 model's, and
agree with what `halftone-cli run` computes from the source (float32) or from the written file (all others) as LIMITS says. ONNX Runtime has
next to no bfloat16 kernels on a CPU: there the checker alone judges, which is counted and told.
The sample's file of ONNX is what its script makes of that of MXNet, byte for byte. Prints a line per failure and, last, what passed.
"""
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

from processor import EXACT_INT8

ROOT = Path(__file__).resolve().parents[2]
DATA, SAMPLE = ROOT / "tests/data", ROOT / "resources/sample"
CLI = sys.argv[1]
UNSUPPORTED = 3  # exit code: no counterpart in ONNX
BATCH = 64  # of the sample's pictures

# The largest difference as a part of the largest output. float16 and int8 round after each operator, and ONNX Runtime adds up in another order and
# fuses other nodes, so that single values land on the neighbouring number: 11 bits, some layers deep; codes of 8 bits, likewise.
LIMITS = {"float32": 1e-5, "rewritten": 1e-5, "float16": 4e-3, "all": 2e-2, "bfloat16": 4e-2, "qdq": 3e-2, "qoperator": 3e-2}
LEAST_DECIBELS = 30  # of int8

# Goldens of values that ONNX does not define, so that its programs differ, with the reason.
UNDEFINED = {
    "argmin_last_nan": "the place of NaN",
    "bilinear_sampler_nan": "places that are NaN",
    "edge_bilinear_resize": "weights of zero times infinity",
    "edge_overflow_log_softmax": "infinite before the largest is taken out",
    "elementwise_nan": "relu and clip of NaN",
    "hardmax_nan": "rows that hold NaN",
    "order_nan": "the order of NaN",
    "quadratic_beyond_2_24": "reals beyond the range of an integer",
    "smooth_l1_beyond_2_24": "reals beyond the range of an integer",
    "softmax_nan": "rows that hold NaN",
}
# What ONNX Runtime or the checker gets wrong, or has not.
NOT_THERE = {
    "deconv_target_dilate": "ONNX Runtime: no ConvTranspose in float64",
    "deconv_target_group": "ONNX Runtime: no ConvTranspose in float64",
    **{case: "ONNX Runtime: hardly a kernel, and in Python no array, for types of 4 and 2 bits" for case in (
        "cast_float4_to_float16", "cast_float_to_int4", "cast_int32_to_uint4", "cast_int4_to_bfloat16", "cast_like_float4", "constant_of_shape_int2",
        "dequantize_float4", "dequantize_int4_blocked", "dequantize_uint4_axis", "pad_int4", "quantize_as_float4", "quantize_as_int2", "quantize_int4_axis",
        "quantize_uint4_blocked", "reshape_uint4", "transpose_int4")},
    "grid_sample_cubic_border": "ONNX Runtime: other than ONNX's own definition",
    "group_norm_groups": "the checker: refuses GroupNormalization of opset 18, which the next one took back",
    "int64_beyond_2_53": "ONNX Runtime: products and maxima of int64 go through reals",
    "leaky_relu_float64": "ONNX Runtime: no LeakyRelu in float64",
    "lrn_even": "ONNX Runtime: takes odd sizes only",
    "mean_variance_norm": "the checker: refuses its own expansion of the operator",
    "pool_nothing": "ONNX Runtime: refuses the mean of an empty plane",
    "resize_linear_align_corners": "ONNX Runtime: other than ONNX's own definition",
    "scatter_nd_max_nan": "ONNX Runtime: loses a NaN in the maximum, which ONNX's reference keeps",
}
CONTROL_FLOW = {"choice": "choice-true-inputs", "steps": "steps-all-inputs", "walk": "walk-inputs"}  # If, Loop, Scan: networks and their inputs
OVERFLOWS = {"digits_onnx"}  # networks that leave float16's range on purpose: ONNX Runtime keeps float32 where it has no kernel in 16 bit
UNSAID = {"told"}  # models that the checker itself refuses, since MeanVarianceNormalization does not write its default axes; what is converted does
NOT_WRITTEN = {"selfatt_interleaved", "ssd_head"}  # networks with operators that ONNX has no counterpart of


def halftone(*arguments):
    return subprocess.run([CLI, *arguments], capture_output=True, text=True, timeout=120)


def shapes_of(data):
    """The options that tell the shapes of inputs."""
    for name, values in data.items():
        yield from ("--shape", f"{name}={','.join(map(str, values.shape))}")


def facts_of(data):
    """The options that tell types and shapes of inputs."""
    yield from shapes_of(data)
    for name, values in data.items():
        yield from ("--input", f"{name}={values.dtype}")


def difference(got, want):
    """The largest difference as a part of the largest value wanted; None where one is finite and the other not, or another one not."""
    got, want = got.astype(np.float64), want.astype(np.float64)
    same = (got == want) | (np.isnan(got) & np.isnan(want))
    if same.all():
        return 0.0
    if not np.isfinite(got[~same]).all() or not np.isfinite(want[~same]).all():
        return None
    return float(np.abs(got - want)[~same].max() / max(np.abs(want[np.isfinite(want)]).max(), 1e-30))


def decibels(got, want):
    """Signal to noise."""
    noise = np.square(got.astype(np.float64) - want).sum()
    return np.inf if noise == 0 else 10 * np.log10(np.square(want.astype(np.float64)).sum() / noise)


def names_problem(names, wanted, inputs):
    """What is wrong with the names of outputs, or None. An output that hands an input on has another name than that."""
    same = len(names) == len(wanted) and all(n == w or w in inputs and n.startswith(w) for n, w in zip(names, wanted))
    return None if same else f"outputs {names}, expected {wanted}"


def values_problem(got, want, limit):
    """What is wrong with ONNX Runtime's outputs, or None. `want`: by name."""
    for name, values in zip(want, got):
        if values.shape != want[name].shape or values.dtype != want[name].dtype:
            return f"{name}: {values.dtype}{values.shape}, expected {want[name].dtype}{want[name].shape}"
        apart = difference(values, want[name])
        if limit == LIMITS["qdq"] and decibels(values, want[name]) < LEAST_DECIBELS:
            return f"{name}: {decibels(values, want[name]):.1f} dB, expected {LEAST_DECIBELS}"
        if apart is None or apart > limit:
            return f"{name}: off by {'infinity' if apart is None else format(apart, '.3g')} of the largest value, allowed {limit:.3g}"
    return None


def session_of(written):
    """ONNX Runtime adds two products of codes in 16 bits where the processor has no VNNI, and lets them saturate: there it is told to be exact."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    if not EXACT_INT8:
        options.add_session_config_entry("session.x64quantprecision", "1")
    try:
        return onnxruntime.InferenceSession(str(written), options, providers=["CPUExecutionProvider"])
    except onnxruntime.capi.onnxruntime_pybind11_state.Fail:
        if EXACT_INT8:
            raise
        # 1.32 stumbles over its own renaming where two nodes share a weight; without its fusions it computes pairs in float32.
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        return onnxruntime.InferenceSession(str(written), options, providers=["CPUExecutionProvider"])


class Checks:
    """Runs cases side by side; counts what passed by kind."""

    def __init__(self, scratch):
        self.scratch, self.counts, self.failures = scratch, Counter(), []
        self.outputs = {}  # of the float32 models, by name of the case

    def case(self, name, kind, source, data, command, source_runs):
        """One file. command: how it is written; source_runs: what the source computes is wanted, else what the written file does."""
        try:
            problem = self.problem(name, kind, source, data, command, source_runs)
        except Exception as error:  # a checker's or ONNX Runtime's own: the case fails, the others go on
            problem = f"{type(error).__name__}: {error}"
        if problem is not None:
            self.failures.append(f"FAIL {name} {kind}: {' '.join(problem.split())[:400]}")

    def problem(self, name, kind, source, data, command, source_runs):
        case = name + source.suffix  # both formats have operators of one name
        written = self.scratch / f"{case}-{kind}.onnx"
        done = halftone(command[0], str(source), *command[1:], "--out", str(written))
        if done.returncode == UNSUPPORTED and (source.parent.parent == DATA / "ops" or name in NOT_WRITTEN):
            self.counts["without a counterpart in ONNX"] += 1
            return None
        if done.returncode:
            return f"exit {done.returncode}: {done.stderr.strip()}"
        if kind != "float32" or name not in UNSAID:  # a copy
            onnx.checker.check_model(str(written), full_check=True)
        self.counts[f"{kind}: accepted by the checker"] += 1
        try:
            session = session_of(written)
        except onnxruntime.capi.onnxruntime_pybind11_state.NotImplemented:
            if kind != "bfloat16":
                raise
            return names_problem([o.name for o in onnx.load(written).graph.output], self.outputs[case], data)
        fed = {i.name: data[i.name] for i in session.get_inputs()}
        got = session.run(None, fed)
        example = written.with_suffix(".in.npz")
        np.savez(example, **(data if source_runs else fed))
        ran = halftone("run", str(source if source_runs else written), "--threads", "1", "--inputs", str(example), "--out", str(written.with_suffix(".out.npz")))
        if ran.returncode:
            return f"run: exit {ran.returncode}: {ran.stderr.strip()}"
        want = dict(np.load(written.with_suffix(".out.npz")))
        names = self.outputs.setdefault(case, list(want))
        problem = names_problem([o.name for o in session.get_outputs()], names, data) or values_problem(got, want, LIMITS[kind])
        self.counts[f"{kind}: ONNX Runtime agrees"] += problem is None
        return problem


def load(path):
    return {k: v for k, v in np.load(path).items() if k != "labels"}


def operators():
    """(name, kind, source, data, command, whether the source is run) of every operator."""
    for folder in sorted((DATA / "ops").iterdir()):
        data = load(folder / "inputs.npz")
        yield folder.name, "float32", folder / "model-symbol.json", data, ["convert", *facts_of(data)], True
    for path in sorted((DATA / "onnx_ops").glob("*.onnx")):
        data = {k[3:]: v for k, v in np.load(path.with_suffix(".npz")).items() if k.startswith("in.")}
        yield path.stem, "float32", path, data, ["convert"], True


def models():
    """(name, file, data) of every network."""
    for folder in sorted((DATA / "amp").iterdir()):
        if not folder.name.startswith("error") and (folder / "model-0000.params").exists() and (folder / "inputs.npz").exists():
            yield folder.name, folder / "model-symbol.json", load(folder / "inputs.npz")
    for folder in sorted((DATA / "int8").iterdir()):
        if (folder / "runs.npz").exists():
            yield folder.name, folder / "model-symbol.json", {"data": np.load(folder / "runs.npz")["data"]}
    yield "digits", SAMPLE / "digits-symbol.json", {"data": np.load(SAMPLE / "digits-test.npz")["data"][:BATCH]}
    yield "digits_onnx", SAMPLE / "digits.onnx", {"data": np.load(SAMPLE / "digits-test.npz")["data"][:BATCH]}
    for name, example in CONTROL_FLOW.items():
        yield name, DATA / f"onnx/{name}.onnx", load(DATA / f"onnx/{example}.npz")
    yield "told", DATA / "onnx/told.onnx", load(DATA / "onnx/told-inputs.npz")
    yield "net", DATA / "qdq/net.onnx", load(DATA / "qdq/in.npz")
    yield "pairs", DATA / "qdq/qdq.onnx", load(DATA / "qdq/in.npz")


def networks(*types):
    """As operators(), of every network."""
    for name, source, data in models():
        facts = list(facts_of(data)) if source.suffix == ".json" else []
        for kind in types:
            target = [] if kind == "float32" else ["--target", kind]
            yield name, kind, source, data, ["convert", *facts, *target], kind == "float32"


def everything():
    """As operators(), of networks of ONNX in mode all, with casts behind parameters."""
    for name, source, data in models():
        if source.suffix == ".onnx" and name not in ("pairs", *OVERFLOWS):
            yield name, "all", source, data, ["convert", "--target", "float16", "--mode", "all", "--no-cast-params"], False


def rewritten():
    """As operators(), of networks of ONNX that went through all passes that take them to another form."""
    passes = [word for name in ("raise-opset=21", "simplify-shapes", "fold-constants", "inline-functions", "dead-code") for word in ("--pass", name)]
    for name, source, data in models():
        if source.suffix == ".onnx":
            yield name, "rewritten", source, data, ["rewrite", *passes], True


def int8_networks(scratch):
    """As operators(), of networks in float32; those of MXNet become ONNX on the way."""
    for name, source, data in models():
        shapes = list(shapes_of(data)) if source.suffix == ".json" else []
        if source.parent.parent == DATA / "amp" or name in CONTROL_FLOW or name == "pairs":
            continue
        example = scratch / f"{name}.examples.npz"
        np.savez(example, **data)
        for form in ("qdq", "qoperator"):
            yield name, form, source, data, ["quantize", "--form", form, *shapes, "--inputs", str(example)], False


def sample_problem(scratch):
    """What is wrong with digits.onnx, or None."""
    again = scratch / "digits.onnx"
    subprocess.run([sys.executable, SAMPLE / "make_onnx.py", CLI, again], check=True)
    return None if again.read_bytes() == (SAMPLE / "digits.onnx").read_bytes() else "FAIL digits.onnx: resources/sample/make_onnx.py writes other bytes"


def main():
    onnxruntime.set_default_logger_severity(4)
    with tempfile.TemporaryDirectory(prefix="halftone-onnx-") as folder, ThreadPoolExecutor(2) as pool:
        scratch = Path(folder)
        checks = Checks(scratch)
        if problem := sample_problem(scratch):
            checks.failures.append(problem)
        known = UNDEFINED | NOT_THERE
        for cases in (operators(), networks("float32"), networks("float16", "bfloat16"), everything(), rewritten(), int8_networks(scratch)):
            for _ in pool.map(lambda case: checks.case(*case), [case for case in cases if case[0] not in known]):
                pass
    for line in checks.failures:
        print(line)
    for what, count in sorted(checks.counts.items()):
        print(f"{count:4} {what}")
    print(f"ONNX in ONNX Runtime {onnxruntime.__version__}: {len(checks.failures)} failed; not asked: {len(known)} operators, see UNDEFINED and NOT_THERE")
    sys.exit(bool(checks.failures))


if __name__ == "__main__":
    main()

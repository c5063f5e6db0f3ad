"""The real MXNet judges what halftone-cli exports: check_exports.py HALFTONE_CLI NETWORKS (needs requirements.txt; see interop.sh)

For the sample model and every case under tests/data/amp, converted in mode mxnet, and in mode typed to both types, with and without stored
parameters, and for the whole networks that make_networks.py wrote to the folder NETWORKS, in mode typed likewise:
  loads     mx.sym.load reads the symbol, type inference finds every type from those of the data, and the stored parameters have them
  computes  where the target is bfloat16, for which MXNet has kernels on a CPU: its outputs agree with those of the float32 source
  sample    held-out accuracy; what float16 does to the model by emulation in NumPy, as its description promises
Prints a line per failure and, last, 'N passed, M failed'.
"""
import itertools
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import mxnet as mx
import numpy as np

from processor import RUNS_BFLOAT16

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "resources/sample"
sys.path.insert(0, str(SAMPLE))
import emulate  # noqa: E402

REFUSED = {"error_bad_conditional", "error_bad_dtype", "error_conditional_and_fp32", "error_conditional_and_target",
           "error_op_in_two_lists", "error_unknown_op"}
NO_KERNEL = {"leakyrelu_prelu", "leakyrelu_prelu_castparams", "selfatt_interleaved"}  # MXNet says so when it is to run them
EPSILON = 2.0 ** -8  # bfloat16 keeps 8 bits: rounding moves a value by at most half of 2^-7 of it


class Score:
    def __init__(self):
        self.passed = self.failed = self.computed = 0

    def check(self, name, problem):
        """Counts a check; `problem` says what is wrong, None that nothing is."""
        if problem:
            self.failed += 1
            print(f"FAIL {name}: {problem[:500]}")
        else:
            self.passed += 1


def convert(cli, model, out, *options):
    """What went wrong in converting, or None."""
    done = subprocess.run([cli, "convert", str(model), "--out", str(out), *options], capture_output=True, text=True, timeout=120)
    return f"exit {done.returncode}: {done.stderr.strip()[-300:]}" if done.returncode else None


def type_name(dtype):
    return "bfloat16" if np.dtype(dtype).fields else np.dtype(dtype).name


def load_params(prefix):
    """(arguments, auxiliary states) of PREFIX-0000.params, both empty when there is none."""
    path = Path(f"{prefix}-0000.params")
    arrays = mx.nd.load(str(path)) if path.exists() else {}
    return tuple({k[4:]: v for k, v in arrays.items() if k.startswith(kind)} for kind in ("arg:", "aux:"))


def inferred_types(symbol, known):
    """{variable: type} as MXNet's inference gives it, None where it stays open."""
    arguments, _, auxiliary = symbol.infer_type_partial(**known)
    names = symbol.list_arguments() + symbol.list_auxiliary_states()
    return {n: None if t is None else type_name(t) for n, t in zip(names, (arguments or []) + (auxiliary or []))}


def loading_problem(prefix, data_types, all_are_data=False):
    """What MXNet dislikes about an export, or None. `all_are_data`: as convert_symbol sees it, an unmarked variable is float32 data."""
    arguments, auxiliary = load_params(prefix)
    stored = {k: type_name(v.dtype) for k, v in (arguments | auxiliary).items()}
    try:
        symbol = mx.sym.load(f"{prefix}-symbol.json")
        known = {k: t for k, t in data_types.items() if k in symbol.list_inputs()}
        inferred = inferred_types(symbol, known)
        if all_are_data:
            inferred = inferred_types(symbol, known | {k: "float32" for k, t in inferred.items() if t is None})
    except mx.MXNetError as error:
        return str(error).splitlines()[0]
    still_open = [k for k, t in inferred.items() if t is None]
    if still_open:
        return f"types stay open: {still_open[:5]}"
    wrong = {k: (t, inferred[k]) for k, t in stored.items() if k in inferred and t != inferred[k]}
    return f"parameters (stored, inferred): {wrong}" if wrong else None


def outputs_of(prefix, data):
    """The outputs for `data`; what neither data nor parameters hold (labels of training) is zero."""
    symbol = mx.sym.load(f"{prefix}-symbol.json")
    arguments, auxiliary = load_params(prefix)
    arguments |= {k: mx.nd.array(v, dtype=v.dtype) for k, v in data.items() if k in symbol.list_arguments()}
    shapes, _, _ = symbol.infer_shape(**{k: v.shape for k, v in arguments.items() if k in symbol.list_arguments()})
    arguments |= {k: mx.nd.zeros(s) for k, s in zip(symbol.list_arguments(), shapes) if k not in arguments}
    executor = symbol.bind(mx.cpu(), arguments, aux_states=auxiliary, grad_req="null")
    return [o.astype("float32").asnumpy() for o in executor.forward(is_train=False)]


def roundings(prefix, data_types):
    """How many operators with a bfloat16 result lie on the longest path: each rounds once."""
    graph = json.loads(Path(f"{prefix}-symbol.json").read_text())
    internals = mx.sym.load(f"{prefix}-symbol.json").get_internals()
    _, types, _ = internals.infer_type_partial(**{k: t for k, t in data_types.items() if k in internals.list_arguments()})
    is_bfloat16 = dict(zip(internals.list_outputs(), (t is not None and type_name(t) == "bfloat16" for t in types)))
    depth = []
    for node in graph["nodes"]:
        rounds = any(is_bfloat16.get(node["name"] + suffix, False) for suffix in ("", "_output", "_output0"))
        depth.append(max((depth[i[0]] for i in node["inputs"]), default=0) + rounds)
    return max(depth)


def computing_problem(source, prefix, data, data_types):
    """How bfloat16's outputs differ from float32's beyond what the type explains, or what MXNet dislikes, or None."""
    try:
        return value_problem(source, prefix, data, data_types)
    except mx.MXNetError as error:
        return str(error).splitlines()[-1]


def value_problem(source, prefix, data, data_types):
    """How bfloat16's outputs differ from float32's beyond what the type explains, or None.

    Each rounding moves a value by at most EPSILON of itself; these add up along the longest path, and no layer of these models makes errors
    grow in relation to its largest output.
    """
    limit = EPSILON * roundings(prefix, data_types)
    for index, (want, got) in enumerate(zip(outputs_of(source, data), outputs_of(prefix, data))):
        if got.shape != want.shape:
            return f"output {index}: shape {got.shape}, expected {want.shape}"
        error = float(np.abs(got - want).max() / np.abs(want).max())
        if not error <= limit:
            return f"output {index}: off by {error:.3g} of the largest value, allowed {limit:.3g}"
    return None


def check_case(cli, score, case, folder, prefix):
    """Converts with the case's own settings; the result must be what MXNet loads and, in bfloat16, runs."""
    policy = {k: v for k, v in case["settings"].items() if v is not None and k != "op_lists"} | {"mode": "mxnet", "api": case["api"]}
    options = [] if has_params(folder) else ["--no-params"]
    if options and case["api"] == "convert_model":
        policy["data_names"] = list(case["input_shapes"])
    if "D-int-inputs" in case["known_defects"]:
        options += typed_inputs(case)
    policy_file = prefix.with_suffix(".policy.json")
    policy_file.write_text(json.dumps(policy))
    problem = convert(cli, folder / "model-symbol.json", prefix, "--policy", policy_file, *options)
    if case["name"] in REFUSED:
        score.check(f"{case['name']} refused", None if problem else "converted, expected an error")
        return
    score.check(f"{case['name']} loads", problem or loading_problem(prefix, case["input_dtypes"], case["api"] == "convert_symbol"))
    if not problem and policy["target_dtype"] == "bfloat16":
        check_values(score, case, folder, prefix)


def check_as_bfloat16(cli, score, case, folder, prefix):
    """The models of the float16 cases once more, with the built-in bfloat16 lists: these MXNet can also run."""
    problem = convert(cli, folder / "model-symbol.json", prefix, "--target", "bfloat16", "--mode", "mxnet", *typed_inputs(case))
    score.check(f"{case['name']} as bfloat16 loads", problem or loading_problem(prefix, case["input_dtypes"]))
    if not problem:
        check_values(score, case, folder, prefix)


def check_values(score, case, folder, prefix):
    if not RUNS_BFLOAT16 or not has_params(folder) or not (folder / "inputs.npz").exists() or case["name"] in NO_KERNEL:
        return
    data = dict(np.load(folder / "inputs.npz"))
    score.computed += 1
    score.check(f"{case['name']} computes", computing_problem(folder / "model", prefix, data, case["input_dtypes"]))


def has_params(folder):
    return (folder / "model-0000.params").exists()


def typed_inputs(case):
    return [f"--input={k}={t}" for k, t in case["input_dtypes"].items()]


def check_cases(cli, score, scratch):
    for path in sorted((ROOT / "tests/data/amp").glob("*/case.json")):
        case, folder = json.loads(path.read_text()), path.parent
        check_case(cli, score, case, folder, scratch / case["name"])
        if case["settings"]["target_dtype"] == "float16" and has_params(folder):
            check_as_bfloat16(cli, score, case, folder, scratch / f"{case['name']}-bfloat16")
        check_typed(cli, score, case, folder, scratch)
    if RUNS_BFLOAT16:
        score.check("most models compute in bfloat16", None if score.computed >= 40 else f"only {score.computed}")
    else:
        print("skipped: values in bfloat16, for which MXNet needs a processor with AVX-512")


def typed_policies():
    """Name and policy of every way to convert in mode typed."""
    for target, stored in itertools.product(("float16", "bfloat16"), (False, True)):
        policy = {"mode": "typed", "target_dtype": target, "cast_optional_params": stored}
        yield f"typed {target}{' stored' if stored else ''}", policy


def check_typed(cli, score, case, folder, scratch):
    """Each model of the cases; with the case's own lists where they are those of the target type."""
    for name, policy in typed_policies():
        settings = case["settings"]
        if settings["target_dtype"] == policy["target_dtype"] and case["name"] not in REFUSED:
            policy = {k: v for k, v in settings.items() if v is not None and k != "op_lists"} | policy
        policy |= {"input_dtypes": case["input_dtypes"]}
        if not has_params(folder):
            policy |= {"data_names": list(case["input_shapes"])}
        prefix = scratch / f"{case['name']} {name}".replace(" ", "-")
        problem = convert_by(cli, folder / "model-symbol.json", prefix, policy, has_params(folder))
        problem = problem or loading_problem(prefix, case["input_dtypes"], not has_params(folder)) or heads_problem(folder / "model", prefix, case["input_dtypes"])
        score.check(f"{case['name']} {name} loads", problem)
        if not problem and policy["target_dtype"] == "bfloat16" and policy["cast_optional_params"]:
            check_values(score, case, folder, prefix)


def convert_by(cli, model, prefix, policy, with_params):
    policy_file = prefix.with_suffix(".policy.json")
    policy_file.write_text(json.dumps(policy))
    return convert(cli, model, prefix, "--policy", policy_file, *([] if with_params else ["--no-params"]))


def head_types(prefix, data_types):
    """The types of the outputs, what stays open being float32."""
    symbol = mx.sym.load(f"{prefix}-symbol.json")
    stored = {k: v.dtype for part in load_params(prefix) for k, v in part.items()}
    known = {k: t for k, t in data_types.items() if k in symbol.list_inputs()}
    inferred = inferred_types(symbol, known)
    known |= {k: "float32" for k, t in inferred.items() if t is None and k not in stored}
    return [None if t is None else type_name(t) for t in symbol.infer_type_partial(**known)[1]]


def heads_problem(source, prefix, data_types):
    """Mode typed keeps the types of the outputs."""
    was, now = head_types(source, data_types), head_types(prefix, data_types)
    return None if was == now else f"types of outputs {now}, expected {was}"


def check_networks(cli, score, networks, scratch):
    for name, told in json.loads((networks / "networks.json").read_text()).items():
        for how, policy in typed_policies():
            prefix = scratch / f"{name} {how}".replace(" ", "-")
            problem = convert_by(cli, networks / f"{name}-symbol.json", prefix, policy | {"data_names": list(told["data"])}, False)
            problem = problem or loading_problem(prefix, told["data"], True) or heads_problem(networks / name, prefix, told["data"])
            score.check(f"{name} {how} loads", problem)


def check_sample(cli, score, scratch):
    test = np.load(SAMPLE / "digits-test.npz")
    exact = outputs_of(SAMPLE / "digits", {"data": test["data"]})[0].argmax(axis=1)
    accuracy = np.mean(exact == test["labels"])
    score.check("sample: more than 97 % in float32", None if accuracy > 0.97 else f"{accuracy:.4f}")
    for target in ("float16", "bfloat16"):
        prefix = scratch / f"digits-{target}"
        problem = convert(cli, SAMPLE / "digits-symbol.json", prefix, "--target", target, "--mode", "mxnet")
        score.check(f"sample: {target} loads", problem or loading_problem(prefix, {"data": "float32"}))
    if not RUNS_BFLOAT16:
        return
    try:
        reduced = outputs_of(scratch / "digits-bfloat16", {"data": test["data"]})[0].argmax(axis=1)
    except mx.MXNetError as error:
        score.check("sample: bfloat16 computes", str(error).splitlines()[-1])
        return
    agreement, loss = np.mean(reduced == exact), accuracy - np.mean(reduced == test["labels"])
    score.check("sample: bfloat16 gives the same answers", None if agreement >= 0.98 else f"{agreement:.4f} agree, expected 0.98")
    score.check("sample: bfloat16 is as accurate", None if loss <= 0.01 else f"accuracy fell by {loss:.4f}, allowed 0.01")


def check_emulation(score):
    """The reason why the sample is a sample: float16 ruins it, one operator in float32 or bfloat16 saves it."""
    test, params = np.load(SAMPLE / "digits-test.npz"), emulate.read_params(SAMPLE / "digits-0000.params")
    symbol = json.loads((SAMPLE / "digits-symbol.json").read_text())
    exact, ruined, *saved = [a for _, a in emulate.accuracies(symbol, params, test["data"], test["labels"])]
    score.check("emulation: all of it in float16 fails", None if ruined < 0.6 else f"accuracy {ruined:.4f}, expected below 0.6")
    score.check("emulation: sum in float32, or bfloat16, saves it", None if min(saved) >= exact - 0.01 else f"{saved}, float32 {exact:.4f}")


def main():
    score = Score()
    with tempfile.TemporaryDirectory(prefix="halftone-interop-") as scratch:
        check_sample(sys.argv[1], score, Path(scratch))
        check_cases(sys.argv[1], score, Path(scratch))
        check_networks(sys.argv[1], score, Path(sys.argv[2]), Path(scratch))
    check_emulation(score)
    print(f"{score.passed} passed, {score.failed} failed")
    sys.exit(1 if score.failed else 0)


if __name__ == "__main__":
    main()

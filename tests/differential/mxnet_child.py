#!/usr/bin/env python3
"""The real MXNet 1.9.1 behind a pipe: a line of JSON asks, a line of JSON answers. It may crash; mxnet_process.py starts it again.

The last operator that it was about to try stands in the file that its argument names.
"""
import os

os.environ.update({"MXNET_SUBGRAPH_BACKEND": "NONE", "MXNET_ENGINE_TYPE": "NaiveEngine", "OMP_NUM_THREADS": "1", "DMLC_LOG_STACK_TRACE_DEPTH": "0",
                   "MXNET_SAFE_ACCUMULATION": "1"})

import json  # noqa: E402 (after the environment)
import logging  # noqa: E402
import sys  # noqa: E402
from pathlib import Path  # noqa: E402

answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # what MXNet prints is no answer

import mxnet as mx  # noqa: E402
import numpy as np  # noqa: E402

import graphs  # noqa: E402
import make_graph  # noqa: E402
from draw import Refused  # noqa: E402

logging.disable(logging.WARNING)


def type_name(array):
    return graphs.BFLOAT16 if np.dtype(array.dtype).fields else np.dtype(array.dtype).name


def values_of(array):
    """NumPy's values; bfloat16 widened."""
    return (array.astype("float32") if type_name(array) == graphs.BFLOAT16 else array).asnumpy()


def as_mxnet(array):
    return mx.nd.array(array, dtype=array.dtype)


def first_line(error):
    lines = [line for line in str(error).splitlines() if line.strip()]
    told = [line for line in lines if "Error" in line]
    return (told or lines or ["unknown"])[-1][:300]


def run(symbol, arrays):
    """[(values, type)] of the outputs; an array that is not needed is left out."""
    arguments = {n: arrays[n] for n in symbol.list_arguments() if n in arrays}
    missing = [n for n in symbol.list_arguments() if n not in arguments]
    if missing:  # labels
        shapes, _, _ = symbol.infer_shape(**{n: a.shape for n, a in arguments.items()})
        arguments |= {n: mx.nd.zeros(s) for n, s in zip(symbol.list_arguments(), shapes) if n in missing}
    states = {n: arrays[n] for n in symbol.list_auxiliary_states()}
    outputs = symbol.bind(mx.cpu(), arguments, aux_states=states, grad_req="null").forward(is_train=False)
    return [(values_of(o), type_name(o)) for o in outputs]


class Evaluator:
    """One operator at a time."""

    def __init__(self, status):
        self.status, self.may_be_empty = status, False

    def __call__(self, op, values, attrs, subgraphs):
        os.pwrite(self.status, op.ljust(80).encode(), 0)
        graph = graphs.Graph()
        graph.may_be_empty = self.may_be_empty
        inputs = [(graph.variable(f"in{i}", v), 0) for i, v in enumerate(values)]
        if op == "_scatter_set_nd":  # works in place, on what may be overwritten
            inputs[0] = (graph.operator("_copy", "copy", inputs[:1], None), 0)
        at = graph.operator(op, "node", inputs, attrs, subgraphs)
        graph.heads = [(at, 0)]
        try:
            symbol = mx.sym.load_json(graph.json())
            visible = symbol.get_children() is None or len(symbol.get_internals().list_outputs())
            visible -= at
            graph.heads = [(at, k) for k in range(visible)]
            with mx.util.np_shape(graph.may_be_empty):
                return run(mx.sym.load_json(graph.json()), {n: as_mxnet(a) for n, a in graph.arrays.items()})
        except (mx.MXNetError, ValueError, TypeError) as error:
            raise Refused(first_line(error)) from error


def write_outputs(path, outputs):
    graphs.write_arrays(path, {f"{k:04d}:{t}": v for k, (v, t) in enumerate(outputs)})


def make(request, evaluator):
    graph, told = make_graph.make(request["seed"], request["index"], evaluator)
    graph.save(request["folder"])
    os.pwrite(evaluator.status, b"the whole graph".ljust(80), 0)
    return told | evaluate(request)


def evaluate(request):
    """Runs the folder's graph; `internals`: every visible output of every operator, keyed by node and output."""
    folder = Path(request["folder"])
    graph = graphs.load(folder)
    if request.get("internals"):
        graph.heads = [(n, k) for n, k in request["internals"]]
    with mx.util.np_shape(graph.may_be_empty):
        arrays = {n: as_mxnet(a) for n, a in graph.arrays.items()}
        if graph.params:
            mx.nd.save(str(folder / "model-0000.params"), parameters(graph, arrays))
        write_outputs(folder / request.get("out", "expected.npz"), run(mx.sym.load_json(graph.json()), arrays))
    return {}


def parameters(graph, arrays):
    states = set(mx.sym.load_json(graph.json()).list_auxiliary_states())
    return {("aux:" if n in states else "arg:") + n: arrays[n] for n in sorted(graph.params)}


def run_exported(request):
    """Runs PREFIX-symbol.json with PREFIX-0000.params and the folder's inputs."""
    symbol = mx.sym.load(request["prefix"] + "-symbol.json")
    data = {n: as_mxnet(a) for n, a in graphs.read_arrays(Path(request["folder"]) / "inputs.npz").items()}
    write_outputs(Path(request["folder"]) / request["out"], run(symbol, data | stored_parameters(request["prefix"])))
    return {}


def convert(request):
    """MXNet's own conversion of the folder's graph, written with its casts; what it or its type inference says against it."""
    from mxnet.contrib import amp
    folder = Path(request["folder"])
    graph = graphs.load(folder)
    symbol = mx.sym.load_json(graph.json())
    arrays = {n: as_mxnet(a) for n, a in graph.arrays.items()}
    named = parameters(graph, arrays)
    split = [{k[4:]: v for k, v in named.items() if k.startswith(kind)} for kind in ("arg:", "aux:")]
    options = {"target_dtype": request["target"], "cast_optional_params": request.get("cast_params", False)} | lists_with(request)
    try:
        converted, args, aux = amp.convert_model(symbol, *split, **options)
    except (mx.MXNetError, ValueError, KeyError, AssertionError) as error:
        return {"error": first_line(error)}
    prefix = str(folder / request["out"])
    converted.save(prefix + "-symbol.json", remove_amp_cast=False)
    mx.nd.save(prefix + "-0000.params", {"arg:" + k: v for k, v in args.items()} | {"aux:" + k: v for k, v in aux.items()})
    return {"types": type_problem(converted, args | aux, {n: a for n, a in graph.arrays.items() if n not in graph.params})}


def lists_with(request):
    """The built-in lists with the operators that are `asked` for in the target type."""
    from mxnet.contrib.amp import lists
    if not request.get("asked"):
        return {}
    is_half = request["target"] == "float16"
    built_in = lists.symbol_fp16 if is_half else lists.symbol_bf16
    asked = request["asked"]
    return {"target_dtype_ops": (built_in.FP16_FUNCS if is_half else built_in.BF16_FUNCS) + asked,
            "fp32_ops": [op for op in built_in.FP32_FUNCS if op not in asked]}


def type_problem(symbol, stored, data):
    """What MXNet's inference of types says against a graph with its parameters and data, or None."""
    known = {n: type_name(a) for n, a in data.items() if n in symbol.list_inputs()}
    try:
        arguments, _, states = symbol.infer_type_partial(**known)
    except mx.MXNetError as error:
        return first_line(error)
    names = symbol.list_arguments() + symbol.list_auxiliary_states()
    inferred = {n: type_name(np.empty(0, t)) for n, t in zip(names, (arguments or []) + (states or [])) if t is not None}
    wrong = {n: (type_name(a), inferred[n]) for n, a in stored.items() if inferred.get(n, type_name(a)) != type_name(a)}
    return f"parameters (stored, inferred): {wrong}" if wrong else None


def loaded(request):
    """Whether MXNet loads PREFIX and infers its types without contradiction."""
    symbol = mx.sym.load(request["prefix"] + "-symbol.json")
    return {"types": type_problem(symbol, stored_parameters(request["prefix"]), graphs.read_arrays(Path(request["folder"]) / "inputs.npz"))}


def stored_parameters(prefix):
    path = Path(prefix + "-0000.params")
    return {k.split(":", 1)[1]: v for k, v in mx.nd.load(str(path)).items()} if path.exists() else {}


def answer(request, evaluator):
    if request["do"] == "make":
        return make(request, evaluator)
    return {"convert": convert, "exported": run_exported, "loaded": loaded, "evaluate": evaluate}[request["do"]](request)


def main():
    status = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
    evaluator = Evaluator(status)
    for line in sys.stdin:
        request = json.loads(line)
        os.pwrite(status, request["do"].ljust(80).encode(), 0)
        try:
            said = {"ok": True} | answer(request, evaluator)
        except Refused as error:
            said = {"ok": False, "refused": str(error)}
        except (mx.MXNetError, ValueError, TypeError) as error:
            said = {"ok": False, "refused": first_line(error)}
        print(json.dumps(said), file=answers, flush=True)


if __name__ == "__main__":
    main()

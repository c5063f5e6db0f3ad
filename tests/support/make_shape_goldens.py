#!/usr/bin/env python3
"""Makes the shape goldens of tests/data/shapes with the real MXNet 1.9.1.

  make_shape_goldens.py SHARED OUT

SHARED holds fixtures/ops, fixtures/amp and models. Written:
  OUT/graphs.json     per graph: the inputs' shapes and, per node, the shapes of its visible outputs (null: unknown rank, -1: unknown dim)
  OUT/operators.json  per single operator of the case files: the shapes of all inputs and outputs (hidden ones too) after inference, or that MXNet refuses
"""
import glob
import itertools
import json
import os
import sys

os.environ["MXNET_SUBGRAPH_BACKEND"] = "NONE"
import mxnet as mx  # noqa: E402

from shape_cases import CASES  # noqa: E402
from shape_cases_networks import CASES as NETWORK_CASES  # noqa: E402


def plain(shape):
    return None if shape is None or len(shape) == 0 else [d if d > 0 else -1 for d in shape]


def node_shapes(symbol, given):
    """[[node name, [shape of each visible output]], ...] in the order of the graph."""
    internals = symbol.get_internals()
    _, outs, _ = internals.infer_shape_partial(**given)
    names = [internals[i].name for i in range(len(internals))]
    rows = []
    for name, group in itertools.groupby(zip(names, outs), key=lambda item: item[0]):
        rows.append([name, [plain(shape) for _, shape in group]])
    return rows


def graph_row(kind, name, path, given):
    symbol = mx.sym.load(path)
    arguments = set(symbol.list_arguments())
    given = {k: tuple(v) for k, v in given.items() if k in arguments}
    row = {"kind": kind, "name": name, "inputs": {k: list(v) for k, v in given.items()},
           "nodes": node_shapes(symbol, given)}
    open_batch = {k: (0,) + v[1:] for k, v in given.items()}
    if kind == "amp" and not name.startswith("zoo_"):
        try:
            row["open_batch"] = node_shapes(symbol, open_batch)
        except mx.MXNetError:
            pass
    return row


def model_inputs(folder):
    with open(os.path.join(folder, "preprocess.json")) as file:
        info = json.load(file)
    if info["format"] != "mxnet":
        return None, None
    letters = {"N": 1, "T": 4, "H": 64, "W": 96}
    shapes = {}
    for entry in info["inputs"]:
        shapes[entry["name"]] = [d if isinstance(d, int) else 160 if ">=128" in d else letters[d[0]]
                                 for d in entry["shape"]]
    return info["symbol"], shapes


def graphs(shared):
    for path in sorted(glob.glob(shared + "/fixtures/ops/*/case.json")):
        case = json.load(open(path))
        yield graph_row("ops", case["name"], os.path.dirname(path) + "/model-symbol.json",
                        {k: v["shape"] for k, v in case["inputs"].items()})
    for path in sorted(glob.glob(shared + "/fixtures/amp/*/case.json")):
        case = json.load(open(path))
        if case["name"].startswith("zoo_") and case["name"].endswith(("_bf16", "_castparams")):
            continue  # the same graph as the case it is named after
        yield graph_row("amp", case["name"], os.path.dirname(path) + "/model-symbol.json", case["input_shapes"])
    for folder in sorted(glob.glob(shared + "/models/*")):
        if not os.path.exists(folder + "/preprocess.json"):
            continue
        symbol, shapes = model_inputs(folder)
        if symbol:
            row = graph_row("model", os.path.basename(folder), os.path.join(folder, symbol), shapes)
            row["symbol"] = symbol
            yield row


def all_outputs(symbol, inputs):
    """The variables in0, in1, … and then every output of the operator, hidden ones too, as heads."""
    graph = json.loads(symbol.tojson())
    at = {node["name"]: i for i, node in enumerate(graph["nodes"])}
    last = at["op"]
    outputs = graph["node_row_ptr"][last + 1] - graph["node_row_ptr"][last]
    graph["heads"] = [[at[f"in{i}"], 0, 0] for i in range(inputs)] + [[last, k, 0] for k in range(outputs)]
    return mx.sym.load_json(json.dumps(graph))


def operator_row(op, attributes, shapes):
    attributes = {k: str(v) for k, v in attributes.items()}
    nodes = [{"op": "null", "name": f"in{i}", "inputs": []} for i in range(len(shapes))]
    nodes.append({"op": op, "name": "op", "attrs": attributes, "inputs": [[i, 0, 0] for i in range(len(shapes))]})
    text = json.dumps({"nodes": nodes, "arg_nodes": list(range(len(shapes))), "heads": [[len(shapes), 0, 0]],
                       "attrs": {"mxnet_version": ["int", 10901]}})
    row = {"op": op, "attrs": attributes, "inputs": [None if s is None else [d or -1 for d in s] for s in shapes]}
    try:
        symbol = all_outputs(mx.sym.load_json(text), len(shapes))
        arguments = set(symbol.list_arguments())
        given = {f"in{i}": tuple(s) for i, s in enumerate(shapes) if s is not None and f"in{i}" in arguments}
        _, outs, _ = symbol.infer_shape_partial(**given)
    except mx.MXNetError:
        row["refused"] = True
        return row
    row["in"] = [plain(s) for s in outs[:len(shapes)]]
    row["out"] = [plain(s) for s in outs[len(shapes):]]
    return row


def write(path, rows):
    with open(path, "w") as file:
        file.write("[\n" + ",\n".join(json.dumps(r, separators=(",", ":")) for r in rows) + "\n]\n")


def main():
    shared, out = sys.argv[1:3]
    write(out + "/operators.json", [operator_row(*case) for case in CASES + NETWORK_CASES])
    write(out + "/graphs.json", list(graphs(shared)))


if __name__ == "__main__":
    main()

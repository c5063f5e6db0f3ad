#!/usr/bin/env python3
"""Records what the real MXNet 1.9.1 infers for whole models: record_inference.py FOLDER > inferred.json

FOLDER holds MODEL/preprocess.json with "inputs" (name, dtype, shape) and the symbol it names (else MODEL/MODEL-symbol.json).
Per model and node: the shape and the type of every output, hidden ones too (null: unknown rank or type, -1: unknown dim).
"""
import glob
import json
import os
import sys

os.environ["MXNET_SUBGRAPH_BACKEND"] = "NONE"
import mxnet as mx  # noqa: E402
import numpy as np  # noqa: E402

LETTERS = {"N": 1, "T": 4, "H": 64, "W": 96}


def dimension(value):
    return value if isinstance(value, int) else 160 if ">=128" in value else LETTERS[value[0]]


def all_outputs(path):
    """The symbol with every output of every node as a head, and the nodes' names and numbers of outputs."""
    graph = json.loads(mx.sym.load(path).tojson())
    first = graph["node_row_ptr"]
    counts = [(node["name"], first[i + 1] - first[i]) for i, node in enumerate(graph["nodes"])]
    graph["heads"] = [[i, k, 0] for i, (_, count) in enumerate(counts) for k in range(count)]
    return mx.sym.load_json(json.dumps(graph)), counts


def plain(shape):
    return None if shape is None or len(shape) == 0 else [d if d > 0 else -1 for d in shape]


def type_name(dtype):
    return None if dtype is None else np.dtype(dtype).name


def record(folder):
    with open(folder + "/preprocess.json") as file:
        info = json.load(file)
    if info["format"] != "mxnet":
        return None
    name = os.path.basename(folder)
    symbol_file = info.get("symbol", name + "-symbol.json")
    symbol, counts = all_outputs(f"{folder}/{symbol_file}")
    shapes = {i["name"]: [dimension(d) for d in i["shape"]] for i in info["inputs"]}
    types = {i["name"]: i["dtype"] for i in info["inputs"]}
    out_shapes = iter(symbol.infer_shape_partial(**{k: tuple(v) for k, v in shapes.items()})[1])
    out_types = iter(symbol.infer_type_partial(**types)[1])
    nodes = [[name, [plain(next(out_shapes)) for _ in range(count)], [type_name(next(out_types)) for _ in range(count)]]
             for name, count in counts]
    return {"name": name, "symbol": symbol_file, "shapes": shapes, "types": types, "nodes": nodes}


def main():
    rows = filter(None, map(record, (os.path.dirname(p) for p in sorted(glob.glob(sys.argv[1] + "/*/preprocess.json")))))
    print("[\n" + ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows) + "\n]")


if __name__ == "__main__":
    main()

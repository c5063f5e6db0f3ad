"""Graphs as MXNet's symbol JSON says them, with the arrays of their variables."""
import json
from pathlib import Path

import numpy as np

VERSION = {"mxnet_version": ["int", 10901]}
NUMPY_SHAPES = {"is_np_shape": ["int", 1]}  # 0 is an extent, where else it is one that is not known
BFLOAT16 = "bfloat16"
OTHER_NAMES = {name: told["aliases"] for name, told in json.loads(
    (Path(__file__).parents[2] / "resources/mxnet/operators.json").read_text()).items() if told.get("aliases")}
FIRST_NAMES = {other: name for name, others in OTHER_NAMES.items() for other in others}


def operator_of(node):
    """The operator's first name, whichever of its names the node has."""
    return FIRST_NAMES.get(node["op"], node["op"])


def text(value):
    """An attribute's value as MXNet's front end writes it."""
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, (tuple, list)):
        inner = ", ".join(text(v) for v in value)
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if isinstance(value, float):
        return repr(value)
    return str(value)


class Graph:
    """Nodes in topological order, heads as (node, output), arrays by the name of their variable."""

    def __init__(self):
        self.nodes, self.heads, self.arrays = [], [], {}
        self.params = set()  # variables that are weights: their arrays go to a .params file
        self.may_be_empty = False  # shapes are NumPy's

    def variable(self, name, array, attrs=None):
        self.nodes.append({"op": "null", "name": name, "inputs": []} | ({"attrs": attrs} if attrs else {}))
        self.arrays[name] = array
        return len(self.nodes) - 1

    def operator(self, op, name, inputs, attrs, subgraphs=None):
        node = {"op": op, "name": name, "inputs": [[n, k, 0] for n, k in inputs]}
        if attrs:
            node["attrs"] = attrs
        if subgraphs:
            node["subgraphs"] = subgraphs
        self.nodes.append(node)
        return len(self.nodes) - 1

    def document(self):
        return {"nodes": self.nodes, "arg_nodes": [i for i, n in enumerate(self.nodes) if n["op"] == "null"],
                "heads": [[n, k, 0] for n, k in self.heads], "attrs": VERSION | (NUMPY_SHAPES if self.may_be_empty else {})}

    def json(self):
        return json.dumps(self.document(), separators=(",", ":"))

    def operators(self):
        return [n for n in self.nodes if n["op"] != "null"]

    def inputs_of(self, node):
        return [(i[0], i[1]) for i in node["inputs"]]

    def pruned(self):
        """What the heads need, in the same order."""
        needed, todo = set(), [n for n, _ in self.heads]
        while todo:
            at = todo.pop()
            if at not in needed:
                needed.add(at)
                todo += [i[0] for i in self.nodes[at]["inputs"]]
        order = sorted(needed)
        place = {old: new for new, old in enumerate(order)}
        smaller = Graph()
        for old in order:
            node = dict(self.nodes[old])
            node["inputs"] = [[place[i[0]], *i[1:]] for i in node["inputs"]]
            smaller.nodes.append(node)
            if node["op"] == "null":
                smaller.arrays[node["name"]] = self.arrays[node["name"]]
        smaller.heads = [(place[n], k) for n, k in self.heads]
        smaller.params = self.params & smaller.arrays.keys()
        smaller.may_be_empty = self.may_be_empty
        return smaller

    def save(self, folder):
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "model-symbol.json").write_text(self.json())
        write_arrays(folder / "inputs.npz", {k: v for k, v in self.arrays.items() if k not in self.params})
        if self.params:
            write_arrays(folder / "params.npz", {k: v for k, v in self.arrays.items() if k in self.params})


def load(folder):
    folder = Path(folder)
    told = json.loads((folder / "model-symbol.json").read_text())
    graph = Graph()
    graph.nodes = told["nodes"]
    graph.heads = [(h[0], h[1]) for h in told["heads"]]
    graph.may_be_empty = "is_np_shape" in told["attrs"]
    graph.arrays = read_arrays(folder / "inputs.npz")
    if (folder / "params.npz").exists():
        weights = read_arrays(folder / "params.npz")
        graph.params = set(weights)
        graph.arrays |= weights
    return graph


def write_arrays(path, arrays):
    np.savez(path, **arrays)


def read_arrays(path):
    with np.load(path) as file:
        return {k: file[k] for k in file.files}

"""The list of differences that are defects of MXNet itself: known_differences.json.

Each names one operator, a condition on its attributes and inputs, the reason, the smallest graph that shows it, and a function of oracles.py
that tells from the definition what is right. A difference is excused where the condition holds and Halftone gives what the oracle gives.
"""
import json
from pathlib import Path

import numpy as np

import compare
import graphs
import oracles
from shrink import entries_of, single

LIST = Path(__file__).with_name("known_differences.json")


class Node:
    """What a condition may speak of: a (attributes as text), shapes, types and values of the inputs."""

    def __init__(self, graph):
        node = graph.operators()[0]
        self.operator, self.attrs = graphs.operator_of(node), node.get("attrs") or {}
        self.subgraphs = node.get("subgraphs", [])
        names = [graph.nodes[n]["name"] for n, _ in graph.inputs_of(node)]
        self.inputs = [graph.arrays[n] for n in names]
        self.outputs = [k for _, k in graph.heads]  # which of the visible outputs the graph shows

    def names(self):
        return {"a": self.attrs, "inputs": self.inputs, "outputs": self.outputs, "shapes": [i.shape for i in self.inputs], "types": [i.dtype.name for i in self.inputs],
                "np": np, "number": oracles.number, "flag": oracles.flag, "len": len, "sum": sum, "int": int, "min": min, "max": max, "any": any, "all": all, "zip": zip, "eval": eval}


class Known:
    def __init__(self, path=LIST):
        self.entries = json.loads(Path(path).read_text())

    def entry_of(self, graph):
        """The entry whose condition a graph of one operator meets, or None."""
        if len(graph.operators()) != 1:
            return None
        node = Node(graph)
        for entry in self.entries:
            if entry.get("operator") == node.operator and "check" not in entry and eval(entry["condition"], node.names()):  # our own file
                return entry
        return None

    @staticmethod
    def explains(entry, graph, ours, theirs):
        """Whether what Halftone gives is right by the definition, so that the difference is MXNet's."""
        return oracle_problem(entry, graph, ours, theirs) is None

    def unset_heads(self, graph, values):
        """{head: entry} of what hangs on memory that MXNet leaves unwritten. values: {(node, output): array} as MXNet gives them."""
        used, unset = entries_of(graph), {}
        for at, node in enumerate(graph.nodes):
            inputs = graph.inputs_of(node) if node["op"] != "null" else []
            mine = [k for n, k in used if n == at]
            read = [unset[i] for i in inputs if i in unset]
            alone = single(graph, at, values) if inputs and all(i in values for i in inputs) else None
            entry = alone and self.entry_of(alone)
            if read:
                unset.update({(at, k): read[0] for k in mine})
            elif entry and entry.get("unset"):
                unset.update({(at, k): entry for k in unset_outputs(entry, alone, mine)})
        return {k: unset[head] for k, head in enumerate(graph.heads) if tuple(head) in unset}

    def excuse_conversion(self, folder):
        """The entry that explains how Halftone's conversion in the folder differs from MXNet's, or None."""
        ours, theirs = Path(folder) / "ours-symbol.json", Path(folder) / "theirs-symbol.json"
        if not (ours.exists() and theirs.exists()):
            return None
        graphs_read = json.loads(ours.read_text()), json.loads(theirs.read_text())
        for entry in self.entries:
            if entry.get("check") == "as mxnet" and getattr(oracles, entry["condition"])(*graphs_read) \
                    and getattr(oracles, entry["oracle"])(*graphs_read):
                return entry
        return None


def unset_outputs(entry, alone, outputs):
    """Those of which the oracle says nothing; all of them where it says nothing of a part, or where nothing at all is written."""
    right = getattr(oracles, entry["oracle"])(Node(alone))
    return outputs if callable(right) else [k for k in outputs if right[k] is None] or outputs


def oracle_problem(entry, graph, ours, theirs):
    """How Halftone's outputs differ from the definition. Of an output that has none, the oracle says None."""
    node = Node(graph)
    right = getattr(oracles, entry["oracle"])(node)
    if callable(right):  # right but for a part, which it mends
        shown = dict(zip(node.outputs, (value for value, _ in theirs)))
        right = right([shown.get(k) for k in range(max(node.outputs) + 1)])
    for at, k in enumerate(node.outputs):
        if right[k] is None:
            continue
        want = np.asarray(right[k])
        (got, kind), told = ours[at], theirs[at][1]
        if kind != told:
            return f"output {k}: type {kind}, expected {told}"
        limits = compare.EXACT if entry.get("exact") else compare.limits_for([node.operator], compare.TIGHT)
        want = want if kind == graphs.BFLOAT16 else want.astype(kind)
        problem = compare.difference(got, kind, want, kind, limits)
        if problem:
            return f"output {k}: {problem}"
    return None


def example_graph(entry):
    """The smallest graph of an entry."""
    graph = graphs.Graph()
    told = entry["example"]
    if "nodes" in told:
        return network_of(told)
    inputs = [(graph.variable(f"in{i}", np.array(values, kind)), 0) for i, (kind, values) in enumerate(told["inputs"])]
    at = graph.operator(entry["operator"], "node", inputs, told.get("attrs"), told.get("subgraphs"))
    graph.heads = [(at, k) for k in told.get("outputs", [0])]
    return graph


def network_of(told):
    """The smallest graph of a conversion, of float32 arrays."""
    graph = graphs.Graph()
    arrays = told["inputs"] | told["parameters"]
    for op, name, inputs, *attrs in told["nodes"]:
        if op == "null":
            graph.variable(name, np.array(arrays[name], "float32"))
        else:
            graph.operator(op, name, [(n, 0) for n in inputs], attrs[0] if attrs else None)
    graph.heads = [(n, 0) for n in told["heads"]]
    graph.params = set(told["parameters"])
    return graph

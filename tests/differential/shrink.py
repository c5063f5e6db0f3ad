"""Failing graphs made small: one operator where it fails alone, else as few as fail together, with plain arrays."""
import copy

import numpy as np

import graphs
from mxnet_process import Crashed

ROUNDS = 40  # tries for arrays and attributes


def cut(graph, entries, values):
    """The graph with some nodes' outputs given as variables: {(node, output): array}."""
    smaller = copy.deepcopy(graph)
    replaced = {}
    extra = []
    for k, entry in enumerate(entries):
        replaced[entry] = k
        extra.append({"op": "null", "name": f"cut{len(graph.arrays)}_{k}", "inputs": []})
        smaller.arrays[extra[-1]["name"]] = values[entry]
    shift = len(extra)

    def moved(n, k):
        return (replaced[n, k], 0) if (n, k) in replaced else (n + shift, k)

    for node in smaller.nodes:
        node["inputs"] = [[*moved(i[0], i[1]), 0] for i in node["inputs"]]
    smaller.nodes = extra + smaller.nodes
    smaller.heads = [moved(*h) for h in smaller.heads]
    smaller.heads = [h for h in smaller.heads if h[0] >= shift and smaller.nodes[h[0]]["op"] != "null"]
    return smaller.pruned() if smaller.heads else None


def single(graph, at, values):
    """One node of the graph on its own, reading variables."""
    alone = graphs.Graph()
    alone.may_be_empty = graph.may_be_empty
    places = {}
    for n, k in graph.inputs_of(graph.nodes[at]):
        if (n, k) not in places:
            places[n, k] = alone.variable(f"in{len(places)}", values[n, k])
    node = graph.nodes[at]
    alone.operator(node["op"], node["name"], [(places[i], 0) for i in graph.inputs_of(node)], node.get("attrs"), node.get("subgraphs"))
    read = {(n, k) for m in graph.nodes if not takes_shape_alone(m) for n, k in graph.inputs_of(m)} | set(graph.heads)
    shown = sorted(k for n, k in read if n == at) or sorted(k for n, k in entries_of(graph) if n == at)
    alone.heads = [(len(alone.nodes) - 1, k) for k in shown]
    return alone if alone.heads else None


def takes_shape_alone(node):
    """MXNet does not compute what only such operators read."""
    op = graphs.operator_of(node)
    return op in ("zeros_like", "ones_like") or (op.startswith("_random_") and op.endswith("_like"))


def entries_of(graph):
    used = {(n, k) for m in graph.nodes for n, k in graph.inputs_of(m)} | set(graph.heads)
    return sorted(used)


class Shrinker:
    """`fails(graph)` gives what is wrong with it, or None."""

    def __init__(self, internals, fails):
        self.internals, self.fails_or_raises = internals, fails

    def fails(self, graph):
        try:
            return self.fails_or_raises(graph)
        except (Crashed, Untestable):
            return None

    def fewer_nodes(self, graph):
        values = self.internals(graph)
        for at, node in enumerate(graph.nodes):
            if node["op"] != "null" and all(i in values for i in graph.inputs_of(node)):
                alone = single(graph, at, values)
                if alone and self.fails(alone):
                    return alone
        return self.cut_off(graph, values)

    def cut_off(self, graph, values):
        """As long as something still fails: without a head, or with one entry given as an array."""
        changed = True
        while changed:
            changed = False
            for smaller in self.smaller_graphs(graph, values):
                if smaller and len(smaller.operators()) < len(graph.operators()) and self.fails(smaller):
                    graph, values, changed = smaller, self.internals(smaller), True
                    break
        return graph

    @staticmethod
    def smaller_graphs(graph, values):
        for head in graph.heads:
            if len(graph.heads) > 1:
                fewer = copy.deepcopy(graph)
                fewer.heads = [head]
                yield fewer.pruned()
        for entry in entries_of(graph):
            if graph.nodes[entry[0]]["op"] != "null" and entry in values:
                yield cut(graph, [entry], values)

    def plainer(self, graph):
        """Fewer attributes and simpler arrays, as long as it fails in the same way."""
        left, kind = ROUNDS, kind_of(self.fails(graph))
        for candidate in self.candidates(graph):
            left -= 1
            if left < 0:
                break
            changed = candidate(graph)
            if changed is not None and kind_of(self.fails(changed)) == kind:
                graph = changed
        return graph

    @staticmethod
    def candidates(graph):
        for at, node in enumerate(graph.nodes):
            for key in list(node.get("attrs") or {}):
                yield lambda g, at=at, key=key: without_attribute(g, at, key)
        for name in graph.arrays:
            for how in (np.zeros_like, np.ones_like, rounded, first_ones):
                yield lambda g, name=name, how=how: with_array(g, name, how)

    def shrink(self, graph):
        return self.plainer(self.fewer_nodes(graph))


def kind_of(problem):
    """What went wrong, without the numbers: an error, a type, a shape, values."""
    words = ("exit", "signal", "shape", "type", "NaN or infinite", "differ", "off by")
    return next((word for word in words if word in (problem or "")), problem)


class Untestable(Exception):
    """MXNet refuses the graph."""


def without_attribute(graph, at, key):
    if key not in (graph.nodes[at].get("attrs") or {}):
        return None
    changed = copy.deepcopy(graph)
    del changed.nodes[at]["attrs"][key]
    return changed


def with_array(graph, name, how):
    changed = copy.deepcopy(graph)
    changed.arrays[name] = how(changed.arrays[name])
    return None if np.array_equal(changed.arrays[name], graph.arrays[name]) else changed


def rounded(array):
    return np.round(array) if array.dtype.kind == "f" else array


def first_ones(array):
    """Ones but for the first quarter, which stays."""
    flat = array.copy().reshape(-1)
    flat[max(1, flat.size // 4):] = 1
    return flat.reshape(array.shape)

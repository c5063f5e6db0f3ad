"""Graphs of ONNX as groups of nodes, with the arrays that they read, and the files that are made of them."""
import copy
import pickle
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

IR_VERSIONS = {**{opset: 8 for opset in range(7, 19)}, 19: 9, 20: 9, 21: 10, 22: 10, 23: 11, 24: 12, 25: 13}
DOMAINS = {"com.microsoft": 1, "ai.onnx.ml": 3}


def code_of(array):
    return helper.np_dtype_to_tensor_dtype(array.dtype)


def attribute_graphs(node):
    for a in node.attribute:
        if a.type == onnx.AttributeProto.GRAPH:
            yield a.g
        yield from a.graphs


def captured(graph):
    """The names that a body reads of the graph around it, in order."""
    own = {i.name for i in graph.input} | {i.name for i in graph.initializer}
    found = []
    for node in graph.node:
        inner = [name for body in attribute_graphs(node) for name in captured(body)]
        found += [n for n in [*node.input, *inner] if n and n not in own]
        own.update(node.output)
    found += [o.name for o in graph.output if o.name not in own]
    return list(dict.fromkeys(found))


class Group:
    """Nodes that stand together: what goes between them is not looked at (a list, codes of 4 bits). `reads`, `gives`: names of arrays."""

    def __init__(self, nodes, gives, op, values_known=True):
        self.nodes, self.gives, self.op, self.values_known = nodes, gives, op, values_known
        made = {o for n in nodes for o in n.output}
        names = [name for n in nodes for name in [*n.input, *(c for body in attribute_graphs(n) for c in captured(body))]]
        self.reads = [n for n in dict.fromkeys(names) if n and n not in made]


class Graph:
    """Groups in order. `values`: every array by name; `constants`: those of initializers; `inputs`: those that are fed."""

    def __init__(self, opset, domains=()):
        self.opset, self.groups, self.values = opset, [], {}
        self.constants, self.inputs, self.functions = [], [], []
        self.index = 0

    def operators(self):
        return [g.op for g in self.groups]

    def given(self):
        """What groups give, in order."""
        return [name for g in self.groups for name in g.gives]

    def known(self):
        """What they give of known values."""
        return [name for g in self.groups if g.values_known for name in g.gives]

    def leaves(self):
        """What groups give and no group reads."""
        read = {name for g in self.groups for name in g.reads}
        return [name for name in self.given() if name not in read]

    def group_of(self, name):
        return next(g for g in self.groups if name in g.gives)

    def apart(self):
        """Every group reads arrays alone: no difference is handed on."""
        cut = Graph(self.opset)
        cut.index, cut.functions, cut.values = self.index, self.functions, dict(self.values)
        cut.constants = list(self.constants)
        for k, group in enumerate(self.groups):
            group = copy.deepcopy(group)
            renamed = {name: f"{name}_at{k}" for name in group.reads if name not in self.constants}
            for name, new in renamed.items():
                cut.values[new] = self.values[name]
                cut.inputs.append(new)
            for node in group.nodes:
                rename(node, renamed)
            group.reads = [renamed.get(n, n) for n in group.reads]
            cut.groups.append(group)
        return cut

    def only(self, groups):
        """These groups alone; what they read of others is fed."""
        part = Graph(self.opset)
        part.index, part.functions, part.values = self.index, self.functions, self.values
        part.groups = groups
        made = {name for g in groups for name in g.gives}
        read = [n for n in dict.fromkeys(name for g in groups for name in g.reads) if n not in made]
        part.constants = [n for n in read if n in self.constants]
        part.inputs = [n for n in read if n not in self.constants]
        return part

    def model(self, heads=None):
        return model_of([self], [heads])

    def feeds(self):
        """What the file of the graph has as inputs."""
        read = {name for g in self.groups for name in g.reads}
        return {name: self.values[name] for name in self.inputs if name in read}

    def save(self, folder):
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        onnx.save(self.model(), folder / "model.onnx")
        np.savez(folder / "inputs.npz", **self.feeds())
        np.savez(folder / "expected.npz", **{name: self.values[name] for name in self.given()})
        (folder / "graph.pickle").write_bytes(pickle.dumps(self))


def rename(node, names):
    """Names of values that a node reads or gives, in its bodies too."""
    for field in (node.input, node.output):
        for k, name in enumerate(field):
            if name in names:
                field[k] = names[name]
    for body in attribute_graphs(node):
        for inner in body.node:
            rename(inner, names)
        for output in body.output:
            output.name = names.get(output.name, output.name)


def prefixed(graph, prefix):
    """A copy whose names of nodes, values and functions begin so."""
    made = copy.deepcopy(graph)
    names = {name: prefix + name for name in graph.values}
    names |= {o: prefix + o for g in graph.groups for n in g.nodes for o in n.output if o}
    own = {f.name: prefix + f.name for f in graph.functions}
    for group in made.groups:
        for node in group.nodes:
            rename(node, names)
            node.name = prefix + node.name
            node.op_type = own.get(node.op_type, node.op_type) if node.domain == "local" else node.op_type
        group.reads, group.gives = [names[n] for n in group.reads], [names[n] for n in group.gives]
    for function in made.functions:
        function.name = own[function.name]
        for node in function.node:
            node.op_type = own.get(node.op_type, node.op_type) if node.domain == "local" else node.op_type
    made.values = {names[n]: v for n, v in graph.values.items()}
    made.constants, made.inputs = [names[n] for n in graph.constants], [names[n] for n in graph.inputs]
    return made


def info(name, array):
    return helper.make_tensor_value_info(name, code_of(array), array.shape)


def model_of(graphs, heads=None):
    """One file of several graphs of one opset, whose names differ. heads: of each graph; None: its leaves."""
    proto = onnx.GraphProto(name="graphs")
    domains, functions = set(), []
    for k, graph in enumerate(graphs):
        shown = (heads[k] if heads else None) or graph.leaves()
        used = {name for g in graph.groups for name in g.reads}
        proto.input.extend(info(n, graph.values[n]) for n in graph.inputs if n in used)
        proto.initializer.extend(numpy_helper.from_array(graph.values[n], n) for n in graph.constants if n in used)
        for group in graph.groups:
            proto.node.extend(group.nodes)
            domains |= domains_of(group.nodes)
        proto.output.extend(info(n, graph.values[n]) if n in graph.values else onnx.ValueInfoProto(name=n) for n in shown)
        functions += graph.functions
    imports = [helper.make_opsetid("", graphs[0].opset)]
    imports += [helper.make_opsetid(d, DOMAINS.get(d, 1)) for d in sorted(domains | {f.domain for f in functions} - {""})]
    return helper.make_model(proto, opset_imports=imports, functions=functions, ir_version=IR_VERSIONS[graphs[0].opset], producer_name="differential")


def domains_of(nodes):
    found = {n.domain for n in nodes}
    for node in nodes:
        for body in attribute_graphs(node):
            found |= domains_of(body.node)
    return found - {""}

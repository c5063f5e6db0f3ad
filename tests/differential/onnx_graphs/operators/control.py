"""Operators that run bodies, and functions of the model."""
import numpy as np
from onnx import AttributeProto, helper

from runtime import Refused

STEPS = ("Relu", "Neg", "Tanh", "Identity", "Abs", "Sigmoid")


def chain(d, source, count=2):
    """Nodes on each element that follow each other; they and the last name."""
    nodes = []
    for _ in range(d.integer(1, count)):
        nodes.append(d.proto(d.choice(STEPS), [source]))
        source = nodes[-1].output[0]
    return nodes, source


def if_(d):
    a = d.tensor(dtype="float32", low=1, high=3, kind="small")
    condition = d.given(np.array(d.chance(0.5)))
    bodies = []
    for name in ("then", "other"):
        nodes, last = chain(d, a)
        if d.chance(0.5):
            weight = d.weight(a.shape[-1:])
            nodes.append(d.proto(d.choice(("Mul", "Add", "Sub")), [last, weight]))
            last = nodes[-1].output[0]
        if d.chance(0.2):  # an If within
            inner = [d.body(f"{name}{k}", *part) for k, part in enumerate(branches(d, last))]
            nodes.append(d.proto("If", [condition], then_branch=inner[0], else_branch=inner[1]))
            last = nodes[-1].output[0]
        bodies.append(d.body(name, nodes, [], [(last, "float32", None)]))
    d.node("If", [condition], then_branch=bodies[0], else_branch=bodies[1])


def branches(d, source):
    for _ in range(2):
        nodes, last = chain(d, source, 1)
        yield nodes, [], [(last, "float32", None)]


def loop(d):
    a = d.tensor(dtype="float32", low=1, high=2, kind="small")
    trips = d.integer(0, 4)
    name = d.name("body")
    state, number, go = f"{name}_state", f"{name}_number", f"{name}_go"
    nodes, last = chain(d, state)
    if d.chance(0.6):
        nodes.append(d.proto("Add", [last, a]))
        last = nodes[-1].output[0]
    as_real = d.proto("Cast", [number], to=1)
    scaled = d.proto("Mul", [as_real.output[0], d.weight(())])
    grown = d.proto("Add", [last, scaled.output[0]])
    nodes += [as_real, scaled, grown]
    if d.chance(0.3):
        limit = d.constant(d.integer(0, 3), "int64")
        nodes.append(d.proto("Less", [number, limit]))
    else:
        nodes.append(d.proto("Identity", [go]))
    told = nodes[-1].output[0]
    outputs, count = [(told, "bool", ()), (grown.output[0], "float32", a.shape)], 1
    if d.chance(0.6) and (trips or not d.chance(0.9)):
        kept = d.proto("ReduceSum", [grown.output[0]], keepdims=0) if d.opset < 13 else d.proto("Relu", [grown.output[0]])
        nodes.append(kept)
        outputs.append((kept.output[0], "float32", () if d.opset < 13 else a.shape))
        count = 2
    body = d.body(name, nodes, [(number, "int64", ()), (go, "bool", ()), (state, "float32", a.shape)], outputs)
    start = d.tensor(shape=a.shape, dtype="float32", kind="small")
    d.node("Loop", [d.constant(trips, "int64"), d.constant(True) if d.chance(0.5) else None, start], count, body=body)


def scan(d):
    a = d.tensor(dtype="float32", rank=(2, 3), kind="small")
    name = d.name("body")
    axis = d.integer(0, a.rank - 1)
    row = tuple(n for k, n in enumerate(a.shape) if k != axis)
    state, slice_ = f"{name}_state", f"{name}_slice"
    nodes, last = chain(d, slice_)
    sum_ = d.proto(d.choice(("Add", "Max", "Sub")), [state, last])
    shown = d.proto(d.choice(("Identity", "Relu", "Neg")), [sum_.output[0]])
    body = d.body(name, [*nodes, sum_, shown], [(state, "float32", row), (slice_, "float32", row)],
                  [(sum_.output[0], "float32", row), (shown.output[0], "float32", row)])
    attrs = {"num_scan_inputs": 1}
    if axis or d.chance(0.3):
        attrs["scan_input_axes"] = [axis]
    if d.chance(0.3):
        attrs["scan_input_directions"] = [1]
    if d.chance(0.3):
        attrs["scan_output_directions"] = [1]
    if d.chance(0.3):
        attrs["scan_output_axes"] = [d.integer(0, len(row))]
    d.node("Scan", [d.tensor(shape=row, dtype="float32", kind="small"), a], 2, body=body, **attrs)


def function(d):
    """A function of the model, with an attribute or a call within."""
    name = f"Function{len(d.graph.functions)}"
    a = d.tensor(dtype="float32", low=1, high=3, kind="small")
    b = d.stretched(a, "small")
    nodes = [helper.make_node("Add", ["p", "q"], ["s"]), helper.make_node(d.choice(STEPS), ["s"], ["t"])]
    if d.chance(0.5):
        leaky = helper.make_node("LeakyRelu", ["t"], ["u"])
        leaky.attribute.append(AttributeProto(name="alpha", type=AttributeProto.FLOAT, ref_attr_name="slope"))
        nodes.append(leaky)
        attributes, given = ["slope"], {"slope": float(d.choice((0.1, 0.5)))}
    else:
        nodes.append(helper.make_node("Mul", ["t", "p"], ["u"]))
        attributes, given = [], {}
    imports = [helper.make_opsetid("", d.opset)]
    made = [helper.make_function("local", name, ["p", "q"], ["u"], nodes, imports, attributes)]
    outer = name
    if d.chance(0.3):
        outer = name + "Outer"
        calls = [helper.make_node(name, ["p", "q"], ["v"], domain="local", **given), helper.make_node("Neg", ["v"], ["u"])]
        made.append(helper.make_function("local", outer, ["p", "q"], ["u"], calls, [*imports, helper.make_opsetid("local", 1)]))
        given = {}
    before = len(d.graph.functions)
    d.graph.functions += made
    try:
        d.group([d.proto(outer, [a, b], domain="local", **given)], [f"{outer.lower()}{d.count}_0"], "function")
    except Refused:
        del d.graph.functions[before:]
        raise


def sequence_map(d):
    a, b = (d.tensor(dtype="float32", low=1, high=2, kind="small") for _ in range(2))
    name = d.name("body")
    nodes, last = chain(d, f"{name}_in")
    body = d.body(name, nodes, [(f"{name}_in", "float32", None)], [(last, "float32", None)])
    made = d.proto("SequenceConstruct", [a, b])
    mapped = d.proto("SequenceMap", [made.output[0]], body=body)
    at = d.proto("SequenceAt", [mapped.output[0], d.constant(d.integer(0, 1), "int64")])
    d.group([made, mapped, at], at.output, "SequenceMap")


OPERATORS = {"If": if_, "Loop": loop, "Scan": scan, "function": function, "SequenceMap": sequence_map}

"""Control flow: bodies of a few operators, made by MXNet's own front end."""
import json

import mxnet as mx

from draw import Refused


def step(d, symbol):
    """One more operator on a symbol of any shape."""
    form = d.integer(0, 7)
    if form == 0:
        return symbol * d.choice((0.5, -1.5))
    if form == 1:
        return mx.sym.relu(symbol) if d.chance(0.5) else mx.sym.tanh(symbol)
    if form == 2:
        return symbol + d.choice((1, 0.25))
    if form == 3:
        return mx.sym.sigmoid(symbol)
    if form == 4:
        return mx.sym.clip(symbol, -1, 1)
    if form == 5:
        return mx.sym.abs(symbol)
    if form == 6:
        return mx.sym.sin(symbol)
    return mx.sym.softsign(symbol)


def steps(d, symbol):
    for _ in range(d.integer(1, 3)):
        symbol = step(d, symbol)
    return symbol


def placed(d, symbols, given):
    """Puts the control-flow node of `symbols` into the graph; `given` are the tensors by the names of its variables."""
    told = json.loads(mx.sym.Group(symbols).tojson())
    at = [n for n in told["nodes"] if n["op"] in ("_foreach", "_while_loop", "_cond")]
    node = at[-1]
    inputs = []
    for i in node["inputs"]:
        source = told["nodes"][i[0]]
        if source["op"] != "null":
            raise Refused("an input is not a variable")
        inputs.append(given[source["name"]])
    return d.node(node["op"], inputs, node["attrs"], node["subgraphs"])


def as_list(value):
    return list(value) if isinstance(value, (list, tuple)) else [value]


def foreach(d):
    shape = d.dims(d.integer(1, 2))
    length = d.integer(1, 4)
    data = [d.tensor(shape=(length, *shape), dtype="float32") for _ in range(d.integer(1, 2))]
    states = [d.tensor(shape=shape, dtype="float32") for _ in range(d.integer(1, 2))]
    free = d.fresh(shape)

    def body(x, s):
        total = sum(x[1:], x[0]) + s[0]
        if d.chance(0.5):
            total = total * mx.sym.var("free")
        out = steps(d, total)
        return [out] + ([steps(d, s[-1])] if d.chance(0.4) else []), [steps(d, total)] + [s_ * 0.5 for s_ in s[1:]]

    names = {f"x{i}": r for i, r in enumerate(data)} | {f"s{i}": r for i, r in enumerate(states)} | {"free": free}
    outputs, finals = mx.sym.contrib.foreach(body, [mx.sym.var(f"x{i}") for i in range(len(data))], [mx.sym.var(f"s{i}") for i in range(len(states))],
                                             name=f"loop{d.count}")
    placed(d, as_list(outputs) + as_list(finals), names)


def while_loop(d):
    shape = d.dims(d.integer(1, 2))
    limit = d.integer(1, 4)
    # What a loop leaves of its rows is a known difference: seldom is enough.
    leaves_rows = d.chance(0.15)
    start = d.given(d.array((1,), "float32", 3 if leaves_rows else 1))
    data = d.tensor(shape=shape, dtype="float32")

    def turn(i, x):
        x = steps(d, x)
        return [x] + ([i * 2] if d.chance(0.3) else []), [i + 1, x]

    outputs, finals = mx.sym.contrib.while_loop(lambda i, x: i < limit, turn, [mx.sym.var("i"), mx.sym.var("x")],
                                                max_iterations=limit + (d.integer(0, 2) if leaves_rows else 0), name=f"loop{d.count}")
    placed(d, as_list(outputs) + as_list(finals), {"i": start, "x": data})


def cond(d):
    shape = d.dims(d.integer(1, 3))
    a, b = d.tensor(shape=shape, dtype="float32"), d.tensor(shape=shape, dtype="float32")
    x, y = mx.sym.var("x"), mx.sym.var("y")
    flag = d.given(d.array((1,), "float32", 2))
    chosen = mx.sym.contrib.cond(mx.sym.var("p"), lambda: steps(d, x + y), lambda: steps(d, x - y if d.chance(0.5) else y * 2), name=f"branch{d.count}")
    placed(d, as_list(chosen), {"x": a, "y": b, "p": flag})


OPERATORS = {"_foreach": foreach, "_while_loop": while_loop, "_cond": cond}

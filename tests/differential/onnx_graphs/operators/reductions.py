"""Sums, largest values, order."""
import numpy as np

REDUCE = "ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare".split()
AXES_INPUT = {"ReduceSum": 13}  # the opset from which axes are an input; all others: 18


def reduce(op):
    def draw(d):
        kind = "positive" if op in ("ReduceLogSum", "ReduceProd") else "real" if op in ("ReduceMax", "ReduceMin") else "sum"
        a = d.tensor(op, kind=kind)
        axes = None
        if d.chance(0.8):
            axes = sorted(d.rng.sample(range(a.rank), d.integer(1, a.rank)))
            axes = [x - a.rank if d.chance(0.3) and d.opset >= 11 else x for x in axes]
        more = d.some(keepdims=d.integer(0, 1))
        if d.opset < AXES_INPUT.get(op, 18):
            d.node(op, [a], axes=axes, **more)
            return
        if axes is None and d.chance(0.3):
            more["noop_with_empty_axes"] = 1
        d.node(op, [a, d.ints(axes) if axes is not None else None], **more)
    return draw


def arg(op):
    def draw(d):
        a = d.tensor(op, kind="exact")
        more = {"select_last_index": d.integer(0, 1)} if d.opset >= 12 else {}
        d.node(op, [a], **d.some(axis=d.axis(a.rank) if d.opset >= 11 else d.integer(0, a.rank - 1), keepdims=d.integer(0, 1), **more))
    return draw


def cumulated(op):
    def draw(d):
        a = d.tensor(op, kind="sum" if op == "CumSum" else "small")
        d.node(op, [a, d.constant(d.axis(a.rank), d.choice(("int32", "int64")))], **d.some(exclusive=d.integer(0, 1), reverse=d.integer(0, 1)))
    return draw


def top_k(d):
    a = d.tensor("TopK", kind="exact")
    axis = d.axis(a.rank)
    k = d.integer(1, max(a.shape[axis], 1))
    more = d.some(largest=d.integer(0, 1)) if d.opset >= 11 else {}
    if d.opset < 10:
        d.node("TopK", [a], 2, axis=axis % a.rank, k=k)
    else:
        d.node("TopK", [a, d.ints([k])], 2, axis=axis if d.opset >= 11 else axis % a.rank, **more)


def soft(op):
    def draw(d):
        a = d.tensor(op, kind="exact" if op == "Hardmax" else "real")
        d.node(op, [a], **d.some(axis=d.axis(a.rank) if d.opset >= 11 else d.integer(0, a.rank - 1)))
    return draw


def unique(d):
    a = d.tensor("Unique", kind="exact")
    attrs = d.some(sorted=d.integer(0, 1))
    if d.chance(0.5):
        attrs["axis"] = d.axis(a.rank)
    d.node("Unique", [a], 4, **attrs)


def non_zero(d):
    a = d.tensor("NonZero", kind="exact", dtype=d.choice(("float32", "int32", "int64", "bool", "uint8")))
    d.node("NonZero", [a])


def loss(op):
    def draw(d):
        n, c = d.integer(1, 4), d.integer(2, 5)
        rest = d.dims(d.integer(0, 2))
        a = d.fresh((n, c, *rest), "float32", "real" if not d.special else "sum")
        t = d.given(d.array((n, *rest), d.choice(("int32", "int64")), c))
        w = d.weight((c,), "float32", "positive") if d.chance(0.5) else None
        more = d.some(reduction=d.choice(("none", "sum", "mean")), ignore_index=d.integer(0, c))
        d.node(op, [a, t, w], 1 if op[0] == "N" else d.integer(1, 2), **more)
    return draw


OPERATORS = {**{op: reduce(op) for op in REDUCE}, "ArgMax": arg("ArgMax"), "ArgMin": arg("ArgMin"), "CumSum": cumulated("CumSum"), 
             "TopK": top_k, "Softmax": soft("Softmax"), "LogSoftmax": soft("LogSoftmax"), "Hardmax": soft("Hardmax"), "Unique": unique, "NonZero": non_zero,
             "NegativeLogLikelihoodLoss": loss("NegativeLogLikelihoodLoss"), "SoftmaxCrossEntropyLoss": loss("SoftmaxCrossEntropyLoss")}

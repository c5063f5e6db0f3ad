"""Lists of arrays and optional ones: what goes into one comes out again within a group."""
import numpy as np


def construct(d):
    a = d.tensor(dtype=d.choice(("float32", "int64")), low=1, high=3)
    b = d.tensor(dtype=a.dtype, low=1, high=3)
    made = d.proto("SequenceConstruct", [a, b])
    at = d.proto("SequenceAt", [made.output[0], d.constant(d.integer(-2, 1), "int64")])
    length = d.proto("SequenceLength", [made.output[0]])
    d.group([made, at, length], [at.output[0], length.output[0]], "SequenceConstruct")


def insert(d):
    a = d.tensor(dtype="float32", low=1, high=3)
    b = d.tensor(dtype="float32", low=1, high=3)
    empty = d.proto("SequenceEmpty", [], dtype=1)
    first = d.proto("SequenceInsert", [empty.output[0], a])
    second = d.proto("SequenceInsert", [first.output[0], b, d.constant(d.integer(-1, 1), "int64") if d.chance(0.6) else None])
    erased = d.proto("SequenceErase", [second.output[0], d.constant(d.integer(-2, 1), "int64") if d.chance(0.6) else None])
    at = d.proto("SequenceAt", [erased.output[0], d.constant(0, "int64")])
    d.group([empty, first, second, erased, at], at.output, "SequenceInsert")


def split(d):
    a = d.tensor(dtype="float32", low=1, high=3)
    axis = d.axis(a.rank)
    if a.shape[axis] < 1:
        a, axis = d.fresh((3, 2)), 0
    size = d.constant(d.integer(1, a.shape[axis]), "int64") if d.chance(0.6) else None
    made = d.proto("SplitToSequence", [a, size], axis=axis, **d.some(keepdims=1) if size is not None else {"keepdims": d.integer(0, 1)})
    at = d.proto("SequenceAt", [made.output[0], d.constant(0, "int64")])
    length = d.proto("SequenceLength", [made.output[0]])
    d.group([made, at, length], [at.output[0], length.output[0]], "SplitToSequence")


def concat(d):
    a = d.tensor(dtype="float32", low=1, high=3)
    b = d.tensor(dtype="float32", shape=a.shape)
    made = d.proto("SequenceConstruct", [a, b, a])
    axis = d.axis(a.rank)
    joined = d.proto("ConcatFromSequence", [made.output[0]], axis=axis, **d.some(new_axis=d.integer(0, 1)))
    d.group([made, joined], joined.output, "ConcatFromSequence")


def optional(d):
    a = d.tensor(dtype=d.choice(("float32", "int64")), low=1, high=3)
    made = d.proto("Optional", [a])
    there = d.proto("OptionalHasElement", [made.output[0]])
    got = d.proto("OptionalGetElement", [made.output[0]])
    d.group([made, there, got], [there.output[0], got.output[0]], "Optional")


OPERATORS = {"SequenceConstruct": construct, "SequenceInsert": insert, "SplitToSequence": split, "ConcatFromSequence": concat, "Optional": optional}

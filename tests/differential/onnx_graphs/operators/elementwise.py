"""Operators on each element."""
import numpy as np

from draw import FLOATS, INTEGERS
from runtime import Refused

UNARY = ("Abs Acosh Asinh Atan Ceil Cos Erf Exp Floor Identity Neg Reciprocal Round Sigmoid Sign Sin Softplus Softsign Sqrt Tan Tanh Relu HardSwish Mish "
         "IsNaN Cosh Sinh Log").split()
KINDS = {"Acosh": "positive", "Sqrt": "positive", "Log": "positive", "Cosh": "small", "Sinh": "small", "Tan": "small"}
UNIT = "Acos Asin Atanh".split()
PAIRS = "Add Sub Mul".split()
COMPARED = "Equal Greater Less GreaterOrEqual LessOrEqual".split()
LOGICAL = "And Or Xor".split()
BITS = "BitwiseAnd BitwiseOr BitwiseXor".split()
MANY = "Max Min Mean Sum".split()


def unary(op):
    def draw(d):
        kind = "real" if d.special and d.chance(0.5) else KINDS.get(op, "real")
        d.node(op, [d.tensor(op, kind=kind, low=0)])
    return draw


def unit(op):
    def draw(d):
        d.node(op, [d.tensor(op, kind="real" if d.special and d.chance(0.3) else "unit")])
    return draw


def with_attributes(op, **reals):
    """Each attribute is given or not, and one of some values."""
    def draw(d):
        chosen = {k: float(d.choice(v)) for k, v in reals.items()}
        d.node(op, [d.tensor(op)], **d.some(**chosen))
    return draw


def pair(op):
    def draw(d):
        a = d.tensor(op, low=0)
        d.node(op, [a, d.stretched(a)])
    return draw


def div(d):
    a = d.tensor("Div", low=0)
    kind = "positive" if a.dtype in INTEGERS or not d.special else "real"
    b = d.stretched(a, kind)
    if b.dtype in INTEGERS and (b.value == 0).any():
        b = d.fresh(a.shape, a.dtype, "positive")
    d.node("Div", [a, b])


def power(d):
    a = d.tensor("Pow", kind="positive" if d.chance(0.7) else "real", low=0)
    if a.dtype in INTEGERS:
        a = d.fresh(a.shape, a.dtype, "positive")
    b = d.stretched(a, dtype=d.choice((a.dtype, "float32", "int64")) if d.opset >= 12 else a.dtype, kind="small" if a.dtype in FLOATS else "positive")
    if a.dtype in INTEGERS and (b.value < 0).any():
        raise Refused("an integer to a negative power")
    d.node("Pow", [a, b])


def mod(d):
    a = d.tensor("Mod", kind="exact", low=0)
    b = d.stretched(a, "positive")
    if b.dtype in INTEGERS and (b.value == 0).any():
        b = d.fresh(a.shape, a.dtype, "positive")
    if a.dtype in FLOATS and (b.value == 0).any():
        raise Refused("a remainder of nothing")
    d.node("Mod", [a, b], fmod=1 if a.dtype in FLOATS or d.chance(0.4) else None)


def compared(op):
    def draw(d):
        a = d.tensor(op, kind="exact", low=0)
        d.node(op, [a, d.stretched(a, "exact")])
    return draw


def logical(op):
    def draw(d):
        a = d.tensor(dtype="bool", low=0)
        d.node(op, [a, d.stretched(a)])
    return draw


def bits(op):
    def draw(d):
        a = d.tensor(op)
        d.node(op, [a, d.stretched(a)])
    return draw


def shift(d):
    dtype = d.choice([t for t in INTEGERS if t[0] == "u"])
    a = d.tensor(dtype=dtype)
    b = d.given(d.np.randint(0, 8, a.shape).astype(dtype))
    d.node("BitShift", [a, b], direction=d.choice(("LEFT", "RIGHT")))


def many(op):
    def draw(d):
        a = d.tensor(op, kind="sum" if op in ("Mean", "Sum") else "real", low=0)
        others = [d.stretched(a, "sum" if op in ("Mean", "Sum") else "real") for _ in range(d.integer(0, 3))]
        d.node(op, [a, *others])
    return draw


def clip(d):
    a = d.tensor("Clip", low=0)
    low, high = sorted((d.choice((-2, -1, -0.5, 0, 1)), d.choice((0, 0.5, 1, 2, 6))))
    if a.dtype in INTEGERS:
        low, high = int(abs(low)), int(abs(high)) + 1
    if d.opset < 11:
        if a.dtype not in FLOATS:
            raise Refused("reals only")
        d.node("Clip", [a], **d.some(min=float(low), max=float(high)))
        return
    bound = lambda v: (d.constant if d.chance(0.6) else d.given)(np.array(v, a.dtype)) if d.chance(0.7) else None
    d.node("Clip", [a, bound(low), bound(high)])


def cast(d):
    a = d.tensor(low=0, dtype=d.dtype() if d.chance(0.9) else "bool")
    to = d.choice((*FLOATS, *INTEGERS, "bool"))
    value = a.value
    if a.dtype in FLOATS and to in INTEGERS:  # what is beyond the range is not defined
        limits = np.iinfo(to)
        if not np.isfinite(value).all() or ((value.astype(np.float64) <= limits.min - 1) | (value.astype(np.float64) >= limits.max)).any():
            raise Refused("reals beyond an integer")
    d.node("Cast", [a], to=d.code(to))


def cast_like(d):
    a = d.tensor(low=0, dtype=d.choice(("float32", "float16", "int32")), kind="exact" if d.chance(0.5) else "unit")
    like = d.tensor(dtype=d.choice((*FLOATS, "int32", "int64", "bool")))
    if a.dtype in FLOATS and like.dtype in INTEGERS and not np.isfinite(a.value).all():
        raise Refused("reals beyond an integer")
    d.node("CastLike", [a, like])


def through_narrow(d):
    """Types that NumPy has not: there and back."""
    a = d.tensor(dtype=d.choice(("float32", "float32", "float16")), low=0)
    kinds = ["BFLOAT16"] + (["FLOAT8E4M3FN", "FLOAT8E5M2"] if d.opset >= 19 else [])
    kind = d.choice(kinds)
    there = d.proto("Cast", [a], to=d.type_code(kind), saturate=d.choice((None, 1, 0)) if kind[:6] == "FLOAT8" else None)
    between = []
    if kind == "BFLOAT16" and d.chance(0.5):
        between = [d.proto("Reshape", [there.output[0], d.constant([-1], "int64")])]
    back = d.proto("Cast", [(between or [there])[-1].output[0]], to=d.code("float32"))
    d.group([there, *between, back], back.output, "Cast narrow")


def where(d):
    a = d.tensor("Where", slot=1, low=0)
    d.node("Where", [d.stretched(a, dtype="bool"), a, d.stretched(a)])


def prelu(d):
    a = d.tensor("PRelu", low=1)
    if d.chance(0.5) and a.rank > 1:
        slope = d.weight((a.shape[1], *[1] * (a.rank - 2)), a.dtype)
    else:
        slope = d.tensor(shape=tuple(1 if d.chance(0.5) else n for n in a.shape), dtype=a.dtype)
    d.node("PRelu", [a, slope])


def shrink(d):
    d.node("Shrink", [d.tensor("Shrink", kind="real")], **d.some(lambd=d.choice((0.25, 0.5, 1.0)), bias=d.choice((0.0, 0.5))))


def is_inf(d):
    d.node("IsInf", [d.tensor("IsInf")], **d.some(detect_negative=d.integer(0, 1), detect_positive=d.integer(0, 1)))


def gelu(d):
    d.node("Gelu", [d.tensor("Gelu")], **d.some(approximate=d.choice(("none", "tanh"))))


def bit_not(op, dtype=None):
    def draw(d):
        d.node(op, [d.tensor(op, dtype=dtype)])
    return draw


OPERATORS = {
    **{op: unary(op) for op in UNARY}, **{op: unit(op) for op in UNIT}, **{op: pair(op) for op in PAIRS}, **{op: compared(op) for op in COMPARED},
    **{op: logical(op) for op in LOGICAL}, **{op: bits(op) for op in BITS}, **{op: many(op) for op in MANY},
    "Elu": with_attributes("Elu", alpha=(0.5, 1, 2)), "Celu": with_attributes("Celu", alpha=(0.5, 1, 2)), "LeakyRelu": with_attributes("LeakyRelu", alpha=(0.1, 0.3, 2)),
    "Selu": with_attributes("Selu", alpha=(1, 1.5), gamma=(1, 0.5)), "ThresholdedRelu": with_attributes("ThresholdedRelu", alpha=(0.5, 1, 0.25)),
    "HardSigmoid": with_attributes("HardSigmoid", alpha=(0.25, 0.5), beta=(0.5, 0.25)), "Swish": with_attributes("Swish", alpha=(1, 1.5)),
    "Div": div, "Pow": power, "Mod": mod, "BitShift": shift, "Clip": clip, "Cast": cast, "CastLike": cast_like, "Cast narrow": through_narrow, "Where": where,
    "PRelu": prelu, "Shrink": shrink, "IsInf": is_inf, "Gelu": gelu, "Not": bit_not("Not", "bool"), "BitwiseNot": bit_not("BitwiseNot"),
}

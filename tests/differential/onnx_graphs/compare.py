"""Whether values agree within what their type and the operators explain."""
import numpy as np

# By type: relative to the value itself, and to the largest of the array. TIGHT is for one group of nodes that reads what ONNX Runtime read: sums of some dozens of
# products, each rounded (2^-24, 2^-53; 2^-11 where results are stored so), in another order. NEAR is for graphs of some such groups, whose errors add up.
TIGHT = {"float32": (2e-5, 2e-6), "float64": (1e-10, 1e-12), "float16": (2e-3, 1e-3)}
NEAR = {"float32": (2e-4, 2e-5), "float64": (1e-8, 1e-9), "float16": (2e-2, 1e-2)}
# The least step of a type, and of what a processor may take for 0.
STEPS = {"float16": 2.0**-23, "float32": 1e-37, "float64": 1e-300}
# What moves, picks, compares or counts gives the very values; so does arithmetic that IEEE 754 rounds, in each type.
EXACT = set("""Abs Ceil Floor Identity Neg Round Sign Relu IsNaN IsInf Add Sub Mul Div Equal Greater Less GreaterOrEqual LessOrEqual And Or Xor BitwiseAnd BitwiseOr BitwiseXor BitShift
    BitwiseNot Not Max Min Clip Cast CastLike Where ReduceMax ReduceMin ArgMax ArgMin TopK Hardmax Unique NonZero Reshape Flatten Squeeze Unsqueeze Transpose Concat Split Slice Pad
    Tile Expand DepthToSpace SpaceToDepth Shape Size Trilu EyeLike Range ConstantOfShape Constant ReverseSequence CenterCropPad Gather GatherElements GatherND Compress
    OneHot MaxPool GlobalMaxPool MaxUnpool NonMaxSuppression SequenceConstruct SequenceInsert SplitToSequence ConcatFromSequence Optional MaxRoiPool""".split()) | {"Cast narrow"}
# Codes that are made of reals: a value next to a tie may become either of two.
TIES = {"QuantizeLinear", "DynamicQuantizeLinear", "QLinearMatMul", "QLinearConv"} | {f"com.microsoft.{op}" for op in """QLinearAdd QLinearMul QLinearSigmoid QLinearLeakyRelu
    QLinearSoftmax QLinearAveragePool QLinearGlobalAveragePool QLinearConcat QGemm QuantizeLinear""".split()}

# What ONNX Runtime computes in float32 whatever the type: the scale of an inverse DFT, coefficients (the sixth of HardSwish).
SINGLE = {"DFT", "HammingWindow", "BlackmanWindow", "Shrink", "Gelu", "HardSwish"}
# Integers that are cut from reals: a result next to a whole number may become either of two.
CUT = {"ReduceLogSum", "ReduceLogSumExp", "ReduceL2", "ReduceMean"}
# What float32 results of oneDNN's functions may be off, however small they are.
APPROXIMATE = {"Log": 5e-6}


# Of a file in float16 or bfloat16, both of whose answers are rounded to that type (2^-11 and 2^-8 of a value): next to the end of a rounding
# one of them may be a whole step off. A group of some nodes has some such roundings.
ROUNDED = {"float16": (2e-3, 1e-3), "bfloat16": (1.6e-2, 8e-3)}
SEVERAL = {"float16": (2e-2, 1e-2), "bfloat16": (1.2e-1, 6e-2)}


def limits_in(precision, is_several):
    """Of values that a file computes in that type, whatever type they are written in."""
    pair = (SEVERAL if is_several else ROUNDED)[precision]
    return {"float16": pair, "float32": pair, "float64": pair}


def limits_of(op, limits):
    """{type: (relative to the value, relative to the largest)} and how far codes may be off."""
    if op in EXACT:
        return {}, 0
    if op in SINGLE:
        limits = limits | {"float64": limits["float32"]}
    if op in APPROXIMATE:
        limits = limits | {"float32": (limits["float32"][0], APPROXIMATE[op])}
    return limits, 1 if op in TIES | CUT else 0


def difference(got, want, limits, codes=0):
    """What differs between two arrays, in a line, or None."""
    if got.shape != want.shape:
        return f"shape {got.shape}, expected {want.shape}"
    if got.dtype != want.dtype:
        return f"type {got.dtype}, expected {want.dtype}"
    kind = want.dtype.name
    if kind not in STEPS:
        bad = np.abs(got.astype(np.int64) - want.astype(np.int64)) > codes if codes else got != want
        return told(got, want, bad)
    g, w = got.astype(np.float64), want.astype(np.float64)
    alike = (np.isnan(g) & np.isnan(w)) | (g == w)
    special = ~np.isfinite(w) | ~np.isfinite(g)
    own, peak = limits.get(kind, (0, 0))
    finite = w[np.isfinite(w)]
    largest = min(max(np.abs(finite).max(), 1), 1e6) if finite.size else 0
    with np.errstate(invalid="ignore", over="ignore"):
        off = np.where(special, 0, np.abs(g - w))
        bad = (off > own * np.abs(np.where(special, 0, w)) + peak * largest + (STEPS[kind] if own else 0)) | (special & ~alike)
    if own:
        bad &= ~near_the_end(g, w, kind)
    return told(got, want, bad)


def near_the_end(g, w, kind):
    """One has just passed the largest number of the type, the other not."""
    end = {"float16": 6.5e4, "float32": 3.3e38, "float64": 1.7e308}[kind]
    with np.errstate(invalid="ignore"):
        return (np.isinf(g) != np.isinf(w)) & (np.minimum(np.abs(g), np.abs(w)) > end * 0.98) & (np.sign(g) == np.sign(w))


def told(got, want, bad):
    if not bad.any():
        return None
    at = np.unravel_index(np.flatnonzero(bad)[0], bad.shape) if bad.ndim else ()
    return f"{bad.sum()} of {want.size} values differ, first at {tuple(int(i) for i in at)}: {got[at]!r}, expected {want[at]!r}"

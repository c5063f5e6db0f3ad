"""Whether values agree within what their type and the operators explain."""
import numpy as np

# By type: relative to the value itself, and relative to the largest of the array. TIGHT is for one operator that reads what MXNet read: sums of
# some dozens of products, each rounded (2^-24, 2^-53; 2^-11, 2^-8 where results are stored so), in another order. NEAR is for graphs of up to
# ten such operators, whose errors add up and grow with slopes (exp, division) of up to ten.
NEAR = {"float32": (2e-4, 1e-5), "float64": (1e-6, 1e-9), "float16": (2e-2, 1e-2), "bfloat16": (4e-2, 2e-2)}
TIGHT = {"float32": (3e-5, 3e-6), "float64": (1e-9, 1e-11), "float16": (8e-3, 4e-3), "bfloat16": (2e-2, 1e-2)}


EXACT = {kind: (0, 0) for kind in TIGHT}
# Below the least normal number float16 has steps of 2^-24, and each of a few roundings may take one.
STEPS = {"float16": 4 * 2.0**-24}
# Integers that are made of single precision on the way: (relative, absolute, share of the
# values that may be off, though one always may). A value next to a tie (codes) or to a whole number (what is cut)
# becomes the one or the other by its last bit; sums of 32 bits and angles beyond 2^24 are known to 24 bits, of which each step loses half a one.
TIES = {op: (0, 1, 1 / 8) for op in ("_contrib_quantized_batch_norm", "_contrib_quantized_pooling", "_contrib_requantize", "_contrib_quantize_v2",
                              "_contrib_quantize", "smooth_l1")}
ROUNDED = TIES | {op: (2.0**-21, 1, 1) for op in ("_contrib_quantized_elemwise_add", "_contrib_quantized_elemwise_mul", "degrees", "radians")}
ROUNDED |= {"_image_resize": (0, 1, 1)}  # OpenCV weights 8-bit pixels with shares of 2^-11
# Whose float32 results oneDNN approximates: relative to 1. It gives the logarithm of the softmax of a single number, which is 0, as 1.4e-6 (ten may be added up), and
# gelu's error function right to 1e-7, which what is nearly cancelled keeps. Its softrelu is right to 2e-6, so that it may be below 0, and 0 is an exponential
# below the least normal number.
APPROXIMATE = {"log_softmax": 1.5e-5, "LeakyReLU": 1e-6, "Activation": 2e-6, "exp": 1.2e-38}


def limits_for(operators, limits):
    """The limits for a graph of these operators."""
    if set(operators) <= {"Cast", "amp_cast"}:
        return EXACT
    integers = [ROUNDED[op] for op in operators if op in ROUNDED]
    more = {"integers": tuple(max(pair) for pair in zip(*integers))} if integers else {}
    absolute = approximation(operators)
    return limits | more | ({"absolute": absolute} if absolute else {})


def approximation(operators):
    """What float32 results may be off, however small they are."""
    return max((APPROXIMATE.get(op, 0) for op in operators), default=0)


def difference(got, got_type, want, want_type, limits=NEAR):
    """What differs between two arrays, in a line, or None."""
    if got.shape != want.shape:
        return f"shape {got.shape}, expected {want.shape}"
    if got_type != want_type:
        return f"type {got_type}, expected {want_type}"
    if want_type not in limits:
        return integer_difference(got, want, *limits.get("integers", (0, 0, 0)))
    g, w = got.astype(np.float64), want.astype(np.float64)
    special = ~np.isfinite(w) | ~np.isfinite(g)
    alike = (np.isnan(g) & np.isnan(w)) | (g == w)
    if (special & ~alike).any() and not near_the_end(g, w, want_type):
        return f"{np.sum(special & ~alike)} of {w.size} are NaN or infinite in one alone{first(g, w, special & ~alike)}"
    finite = ~special
    own, peak = limits[want_type]
    largest = np.abs(w[finite]).max() if finite.any() else 0
    with np.errstate(invalid="ignore"):
        off = np.where(finite, np.abs(g - w), 0)
    bad = off > own * np.abs(np.where(finite, w, 0)) + peak * min(largest, 1e6) + limits.get("absolute", 0)
    bad &= off > (STEPS.get(want_type, 0) if own else 0)
    return f"{bad.sum()} of {w.size} values differ{first(g, w, bad)}" if bad.any() else None


def integer_difference(got, want, own, absolute, share):
    if np.array_equal(got, want):
        return None
    bad = other = got != want
    if own or absolute:
        g, w = got.astype(np.float64), want.astype(np.float64)
        bad = np.abs(g - w) > own * np.abs(w) + absolute
        if other.sum() > max(1, share * want.size):
            bad = other
    return f"{np.sum(bad)} of {want.size} values differ{first(got, want, bad)}" if bad.any() else None


def near_the_end(g, w, kind):
    """One has just passed the largest number of the type, the other not."""
    end = {"float16": 6.5e4, "float32": 3.3e38, "bfloat16": 3.3e38}.get(kind, np.inf)
    odd = (np.isnan(g) != np.isnan(w)) | ((np.abs(g) != np.abs(w)) & (np.isinf(g) != np.isinf(w)))
    return not (odd & ((np.minimum(np.abs(g), np.abs(w)) < end * 0.99) | np.isnan(g) | np.isnan(w))).any()


def first(got, want, bad):
    at = np.unravel_index(np.flatnonzero(bad)[0], bad.shape) if bad.ndim else ()
    return f", first at {tuple(int(i) for i in at)}: {got[at]}, expected {want[at]}"


def differences(got, want, limits=NEAR, skip=()):
    """The first that differs of two lists of (values, type)."""
    if len(got) != len(want):
        return f"{len(got)} outputs, expected {len(want)}"
    for k, ((g, gt), (w, wt)) in enumerate(zip(got, want)):
        if k in skip:
            problem = None if g.shape == w.shape and gt == wt else f"{gt} {g.shape}, expected {wt} {w.shape}"
        else:
            problem = difference(g, gt, w, wt, limits)
        if problem:
            return f"output {k}: {problem}"
    return None

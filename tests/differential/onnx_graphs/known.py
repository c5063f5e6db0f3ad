"""The differences that are ONNX Runtime's (1.32), that ONNX leaves open, or that are limits of ours ("ours: …"), each with its reason. A difference of one group of nodes is excused where the condition
holds and, where the definition says what is right, Halftone gives that; nothing else is. `op`: of the group."""
import re
import warnings
from dataclasses import dataclass
from typing import Callable, Optional

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator

import compare


class Case:
    """What a condition may speak of: the attributes of the group's first node, what it reads and gives, what Halftone gives or says."""

    def __init__(self, graph, group, got, problem, backend, precision="float32"):
        node = group.nodes[0]
        self.graph, self.group = graph, group
        self.opset, self.problem, self.op = graph.opset, problem, group.op
        self.attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute if not a.ref_attr_name}
        self.inputs = [graph.values.get(n) for n in node.input]
        self.want = [graph.values[n] for n in group.gives]
        self.got, self.backend, self.precision = got, backend, precision

    def reals(self):
        return [v for v in self.inputs if v is not None and v.dtype.kind == "f"]

    def has_nan(self):
        return any(np.isnan(v).any() for v in self.reals())

    def has_special(self):
        """NaN, infinities, or what a product or a sum takes beyond the type."""
        return any((~np.isfinite(v)).any() or (v.size and np.abs(v).max() > np.sqrt(np.finfo(v.dtype).max)) for v in self.reals())

    def has_tiny(self):
        """Numbers whose squares vanish."""
        return any(((v != 0) & (np.abs(v) < np.sqrt(np.finfo(v.dtype).tiny))).any() for v in self.reals())

    def has_denormals(self):
        return any(((v != 0) & (np.abs(v) < np.finfo(v.dtype).tiny)).any() for v in self.reals())

    def has_huge_integers(self):
        return any(v is not None and v.dtype.kind in "iu" and (np.abs(v.astype(np.float64)) >= 2.0**24).any() for v in self.inputs)

    def has_beyond_double(self):
        return any(v is not None and v.dtype.kind in "iu" and (np.abs(v.astype(np.float64)) > 2.0**53).any() for v in self.inputs)

    def overflows(self):
        return any(v.dtype.kind in "iu" and (np.abs(v.astype(np.float64)) >= np.iinfo(v.dtype).max * 0.999).any() for v in self.want)

    def text(self, name, otherwise=""):
        value = self.attributes.get(name, otherwise)
        return value.decode() if isinstance(value, bytes) else value


@dataclass
class Entry:
    ops: str
    when: Callable[[Case], bool]
    reason: str
    right: Optional[Callable[[Case], list]] = None  # by the definition; outputs of None are not asked

    def excuses(self, case):
        if case.op not in self.ops.split() or not self.when(case):
            return False
        if self.right is None:
            return True
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                wanted = self.right(case)
        except Exception:
            return False
        if case.got is None:
            return False
        limits = compare.TIGHT if case.precision == "float32" else compare.limits_in(case.precision, True)
        return all(w is None or compare.difference(g, np.asarray(w).astype(g.dtype), limits) is None for g, w in zip(case.got, wanted))


def axes_of(case):
    """Of a reduction, by attribute or input."""
    axes = case.attributes.get("axes")
    if axes is None and len(case.inputs) > 1 and case.inputs[1] is not None:
        axes = [int(a) for a in case.inputs[1]]
    if axes is None and case.attributes.get("noop_with_empty_axes"):
        return ()
    return tuple(axes) if axes else None


def reduced(function):
    return lambda c: [function(c.inputs[0], axis=axes_of(c), keepdims=bool(c.attributes.get("keepdims", 1)))]


def placed(function):
    """ArgMax and ArgMin, the first of equal ones; NumPy takes NaN for the largest and the least."""
    def right(c):
        x, axis = c.inputs[0], c.attributes.get("axis", 0)
        if c.attributes.get("select_last_index", 0):
            found = x.shape[axis] - 1 - function(np.flip(x, axis), axis=axis)
        else:
            found = function(x, axis=axis)
        return [np.expand_dims(found, axis) if c.attributes.get("keepdims", 1) else found]
    return right


def log_softmax(c):
    """Rows as opset 13 has them."""
    x = c.inputs[0].astype(np.float64)
    axis = c.attributes.get("axis", -1 if c.opset >= 13 else 1)
    shape = x.shape
    if c.opset < 13:
        x = x.reshape(int(np.prod(shape[:axis])), -1) if axis else x.reshape(1, -1)
        axis = 1
    rest = x - x.max(axis=axis, keepdims=True)
    return [(rest - np.log(np.exp(rest).sum(axis=axis, keepdims=True))).reshape(shape)]


def instance_norm(c):
    x, scale, bias = (v.astype(np.float64) for v in c.inputs[:3])
    over = tuple(range(2, x.ndim))
    spread = lambda v: v.reshape(-1, *[1] * (x.ndim - 2))
    mean, variance = x.mean(over, keepdims=True), x.var(over, keepdims=True)
    return [spread(scale) * (x - mean) / np.sqrt(variance + c.attributes.get("epsilon", 1e-5)) + spread(bias)]


def mean_variance(c):
    x, axes = c.inputs[0].astype(np.float64), tuple(c.attributes.get("axes", (0, 2, 3)))
    return [(x - x.mean(axes, keepdims=True)) / (x.std(axes, keepdims=True) + 1e-9)]


def by_reference(c):
    """As ONNX's own evaluator computes the group."""
    alone = c.graph.only([c.group])  # which may fail, and then excuses nothing
    model = alone.model(c.group.gives)
    if c.op == "GridSample" and c.opset < 20:  # the evaluator knows the names that opset 20 gave the modes
        model.opset_import[0].version = 20
        for attribute in model.graph.node[0].attribute:
            if attribute.name == "mode":
                attribute.s = attribute.s.removeprefix(b"bi")
    return ReferenceEvaluator(model).run(None, alone.feeds())


def scatter_nd(c):
    """With reduction max or min; ONNX's evaluator does not take data of one axis."""
    result, join = c.inputs[0].copy(), np.maximum if c.text("reduction") == "max" else np.minimum
    indices, updates = c.inputs[1], c.inputs[2]
    for at in np.ndindex(indices.shape[:-1]):
        place = tuple(int(i) for i in indices[at])
        result[place] = join(result[place], updates[at])
    return [result]


def scatter_elements(c):
    """With reduction max or min; what ONNX's evaluator joins by Python's own functions hangs on the order of NaN."""
    result, join = c.inputs[0].copy(), np.maximum if c.text("reduction") == "max" else np.minimum
    axis = c.attributes.get("axis", 0)
    for at in np.ndindex(c.inputs[1].shape):
        place = list(at)
        place[axis] = int(c.inputs[1][at])
        result[tuple(place)] = join(result[tuple(place)], c.inputs[2][at])
    return [result]


def one_hot_of_largest(c):
    x, axis = c.inputs[0], c.attributes.get("axis", -1 if c.opset >= 13 else 1)
    rows = x if c.opset >= 13 else x.reshape(int(np.prod(x.shape[:axis])) if axis else 1, -1)
    axis = axis if c.opset >= 13 else 1
    at = np.expand_dims(np.argmax(rows, axis), axis)  # NumPy takes NaN for the largest
    return [(np.arange(rows.shape[axis]).reshape([-1 if k == axis % rows.ndim else 1 for k in range(rows.ndim)]) == at).astype(x.dtype).reshape(x.shape)]


def lowest_for_infinity(c):
    """What is asked where ONNX Runtime gives -inf: that or the lowest number of a type."""
    want, got = c.want[0], c.got[0]
    lowest = np.isin(got, [*(np.finfo(t).min for t in (np.float16, np.float32, np.float64)), -(2.0**128 - 2.0**120)])
    return [np.where(np.isneginf(want) & lowest, got, want)]


def or_no_number(c):
    """What is asked, or NaN."""
    return [np.where(np.isnan(c.got[0]), c.got[0], c.want[0])]


def log_of_least_normal(c):
    """Of a denormal, what lies between the logarithms of the least normal number and of half of it is taken."""
    x, got = c.inputs[0].astype(np.float64), c.got[0]
    low, high = np.log(2.0**-127) - 1e-4, np.log(2.0**-126) + 1e-4
    return [np.where((x > 0) & (x < 2.0**-126) & (got > low) & (got < high), got, np.log(x))]


ENTRIES = [
    Entry("ReduceMax", Case.has_nan, "the largest of NaN: ONNX Runtime skips it or not with the processor's vectors; NumPy gives NaN", reduced(np.max)),
    Entry("ReduceMin", Case.has_nan, "the least of NaN: as the largest", reduced(np.min)),
    Entry("ArgMax", Case.has_nan, "the place of NaN: ONNX Runtime's comparisons with NaN are false; NumPy takes it for the largest", placed(np.argmax)),
    Entry("ArgMin", Case.has_nan, "the place of NaN: as of the largest", placed(np.argmin)),
    Entry("TopK Unique", Case.has_nan, "the order of NaN is not defined"),
    Entry("MaxPool GlobalMaxPool MaxRoiPool", Case.has_nan, "the largest of a window with NaN is not defined; ONNX Runtime skips NaN"),
    Entry("LogSoftmax", Case.has_special, "ONNX Runtime takes rows with infinities apart in float64", log_softmax),
    Entry("QuantizeLinear QDQ DynamicQuantizeLinear com.microsoft.QuantizeLinear", Case.has_nan, "the code of NaN is not defined"),
    Entry("DynamicQuantizeLinear", Case.has_special, "a scale from infinity is not defined"),
    Entry("LRN", Case.has_special, "ONNX Runtime's sliding sums add squares and take them away again: infinity less infinity"),
    Entry("DFT STFT GridSample Resize Upsample RoiAlign DeformConv", Case.has_special, "weights of zero times infinity: terms that another order of sums leaves out"),
    Entry("LayerNormalization InstanceNormalization GroupNormalization RMSNormalization MeanVarianceNormalization BatchNormalization LpNormalization", Case.has_special,
          "infinity less infinity, in one order of the formula alone"),
    Entry("RNN GRU LSTM", Case.has_special, "ONNX Runtime's activations clamp what they read, NaN too"),
    Entry("LpNormalization ai.onnx.ml.Normalizer", Case.has_tiny, "a norm below the least number: ONNX Runtime gives 0 for it, the definition 0 divided by 0 or the quotient"),
    Entry("InstanceNormalization", lambda c: True, "ONNX Runtime folds the mean into the bias, which cancels", instance_norm),
    Entry("MeanVarianceNormalization", lambda c: True, "ONNX Runtime's variance is a difference of squares, which may be below zero", mean_variance),
    Entry("ReduceLogSumExp", Case.has_nan, "ONNX Runtime's largest exponent skips NaN", reduced(lambda x, **more: np.log(np.exp(x.astype(np.float64)).sum(**more)))),
    Entry("Sign", Case.has_nan, "the sign of NaN in float16: ONNX Runtime gives 0, in other types NaN", lambda c: [np.sign(c.inputs[0])]),
    Entry("ScatterND", lambda c: c.has_nan() and c.text("reduction") in ("max", "min"), "the largest of NaN: ONNX Runtime's comparisons with NaN are false", scatter_nd),
    Entry("ScatterElements", lambda c: c.has_nan() and c.text("reduction") in ("max", "min"), "the largest of NaN: ONNX Runtime's comparisons with NaN are false", scatter_elements),
    Entry("Attention", lambda c: c.attributes.get("is_causal", 0) == 1, "is_causal with a past: ONNX Runtime lets queries see all of it, ONNX's evaluator counts from the beginning", by_reference),
    Entry("DynamicQuantizeLinear", lambda c: c.inputs[0].size > 0 and not c.inputs[0].any(), "the scale of zeros alone: ONNX's formula gives 0, by which nothing can be divided; ONNX Runtime takes 1, ours "
          "1 / 255; the codes are the same", lambda c: [c.want[0], None, c.want[2]]),
    Entry("Mod", lambda c: c.has_beyond_double(), "ours: remainders of 64 bits go through doubles, as MXNet's do, and are exact up to 2^53"),
    Entry("DynamicQuantizeLinear", lambda c: not c.inputs[0].size, "the scale of nothing is not defined"),
    Entry("ReduceProd", Case.overflows, "a product beyond the integers: ONNX Runtime saturates where it goes through reals, ONNX says nothing"),
    Entry("com.microsoft.DynamicQuantizeMatMul ai.onnx.ml.Normalizer", Case.has_special, "a scale from infinity is not defined"),
    Entry("Resize", lambda c: c.text("coordinate_transformation_mode") == "align_corners", "ONNX Runtime aligns the corners of the output's whole extent, ONNX's evaluator those of the scaled one",
          by_reference),
    Entry("Resize", lambda c: c.attributes.get("antialias", 0) == 1, "with antialias, ONNX Runtime leaves an axis alone whose extent stays the same, though its scale is not 1 (3 places by 1.25)", by_reference),
    Entry("ReduceMean", lambda c: not c.inputs[0].size, "the mean of nothing is undefined by ONNX's text: ONNX Runtime gives 0 in its older opsets, NumPy NaN"),
    Entry("Einsum", Case.has_special, "products of three in another order: infinity times zero"),
    Entry("GridSample", lambda c: c.text("mode") in ("cubic", "bicubic") and c.text("padding_mode") in ("border", "reflection"),
          "ONNX Runtime's cubic weights beyond the border are others than in ONNX's evaluator", by_reference),
    Entry("Hardmax", Case.has_nan, "the place of NaN: ONNX Runtime's comparisons with NaN are false, and it chooses none; NumPy takes NaN for the largest", one_hot_of_largest),
    Entry("Log", lambda c: c.backend == "cpu" and c.has_denormals(), "ours: oneDNN takes a denormal's bits for those of a number with the exponent -127 (-88.0 to -87.3 for down to -103.3). It is the "
          "arithmetic of its vector code, also within fused products, where no value of its own can be put right; the reference backend gives the very values", log_of_least_normal),
    Entry("Conv ConvTranspose", lambda c: c.backend == "cpu" and c.precision == "bfloat16" and c.has_special(),
          "ours: oneDNN's products of pairs in bfloat16 multiply a neighbour by a weight of zero, which makes NaN of an infinity", or_no_number),
    Entry("MaxPool GlobalMaxPool MaxRoiPool", lambda c: any(np.isneginf(v).any() for v in c.want),
          "the largest of -inf alone: oneDNN, MXNet and ONNX Runtime's own float32 begin with the lowest number of the type, ONNX Runtime's float16 and float64 with -inf", lowest_for_infinity),
    Entry("Clip", lambda c: any(np.isinf(v).any() for v in c.reals()), "a bound that is not given is the last number of the type by ONNX's text, none by its reference"),
    Entry("PRelu", lambda c: c.overflows() or c.has_huge_integers(), "a product beyond the integers: ONNX Runtime wraps around, ours goes through reals and saturates; ONNX says nothing"),
    Entry("Shrink", Case.has_huge_integers, "integers less a real, beyond what either holds"),
    Entry("Slice", lambda c: any(v is not None and v.dtype == np.int64 and (v == 2**31 - 1).any() for v in c.inputs[2:3]) and len(c.inputs) > 4 and (c.inputs[4] < 0).any(),
          "ONNX Runtime takes the largest integer for the beginning where the step is negative; ONNX's text clamps it to the end"),
]


@dataclass
class FileEntry:
    """Of what is wrong with a written file. `problem`: what the problem says."""
    ops: str
    what: str
    problem: str
    reason: str


FILE_ENTRIES = [
    FileEntry("SequenceMap", "", "_inlfunc_SequenceMap", "ONNX Runtime puts functions into functions under names that it then does not find: an operator that it has in float32, but in float16 as a "
              "function alone (Relu, Softplus), in a body of SequenceMap. It refuses such a model of float16 that nobody converted too"),
    FileEntry("STFT", "", "Inferred shape and existing shape differ", "onnx's inference takes onesided for 0 where it is not given (ONNX's text: 1), and refuses the right shape; behind a node of a domain that it does not know it does not look"),
    FileEntry("Dropout", "bfloat16 all", "converting twice: something beside the nodes", "ours: with data of float64, the ratio that the newer opset has as an input is written in float32, and the second "
              "conversion stores it in bfloat16. No value hangs on it: Dropout passes its data on"),
]


def lacks_kernel(error):
    """The node for which ONNX Runtime says that it has no kernel: of the newest opset's RoiAlign, say. Empty where it says something else."""
    found = re.search(r"NOT_IMPLEMENTED : Could not find an implementation for .* node with name '([^']+)'", str(error))
    return found[1] if found else ""


def excuse_file(groups, what, problem):
    """The entry that explains what is wrong with a file, or None."""
    ops = {g.op for g in groups}
    return next((e for e in FILE_ENTRIES if ops & set(e.ops.split()) and e.what in what and e.problem in problem), None)


def excuse(case):
    """The entry that explains a difference, or None."""
    return next((entry for entry in ENTRIES if entry.excuses(case)), None)

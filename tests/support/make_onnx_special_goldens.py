#!/usr/bin/env python3
"""Makes tests/data/onnx_special: operators of ONNX at the ends of their definitions (NaN, infinities, nothing, rows without a key, types whose
range ends), which every backend has to give alike; and tests/data/onnx_refused: models that are shown and not run:
make_onnx_special_goldens.py tests/data

Written: NAME.onnx and NAME.npz, whose arrays are called in.INPUT and out.OUTPUT. Values are those of ONNX's own reference evaluator, of NumPy where
its text says that the definition is NumPy's, and of ONNX Runtime for whole models. Needs onnx 1.23, onnxruntime, ml_dtypes and numpy.
"""
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
import onnx.parser
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

RANDOM = np.random.RandomState(7)
I64 = np.int64
NAN, INF = np.nan, np.inf
SUFFIXES = {"bfloat16": "bf16", "float8_e4m3fn": "float8_e4m3fn", "float8_e5m2": "float8_e5m2"}


def real(*shape):
    return RANDOM.uniform(-1, 1, shape).astype("float32")


def ints(*values):
    return np.array(values, I64)


def attention():
    """(name, inputs by slot, attributes, opset, outputs)."""
    q, k, v = real(2, 2, 3, 4), real(2, 2, 5, 4), real(2, 2, 5, 3)
    none = None
    yield "causal_lengths", [q, k, v, none, none, none, ints(3, 5)], {"is_causal": 1}, 24, 1
    yield "causal_lengths_decode", [real(2, 2, 1, 4), k, v, none, none, none, ints(2, 4)], {"is_causal": 1}, 24, 1
    yield "causal_more_queries", [q, k, v, none, none, none, ints(1, 2)], {"is_causal": 1}, 24, 1
    yield "causal_lengths_mask", [q, k, v, real(3, 5), none, none, ints(4, 5)], {"is_causal": 1}, 24, 1
    yield "lengths_short_mask", [q, k, v, real(3, 4), none, none, ints(3, 4)], {}, 24, 1
    yield "hidden_rows_bool", [q, k, v, np.array([[0] * 5, [1] * 5, [0, 0, 1, 0, 1]], bool)], {}, 23, 1
    yield "hidden_rows_added", [q, k, v, np.array([[-INF] * 5, [0] * 5, [-INF, 1, 0, -INF, 2]], "float32")], {}, 23, 1
    yield "hidden_rows_weights", [q, k, v, np.array([[0] * 5, [1] * 5, [0, 0, 1, 0, 1]], bool)], {"qk_matmul_output_mode": 3}, 24, 4
    poisoned = q.copy()
    poisoned[0, 0, 0, 0] = INF
    yield "hidden_rows_infinite", [poisoned, k, v, np.array([[0] * 5, [1] * 5, [1] * 5], bool)], {}, 23, 1
    square = [real(1, 2, 6, 4), real(1, 2, 6, 4), real(1, 2, 6, 4)]
    yield "window_left", square, {"left_window_size": 2}, 25, 1
    yield "window_both", square, {"left_window_size": 1, "right_window_size": 2}, 25, 1
    yield "window_causal", square, {"left_window_size": 2, "is_causal": 1}, 25, 1
    yield "window_own_place", square, {"left_window_size": 0, "right_window_size": 0}, 25, 1
    yield "window_past", [real(1, 2, 2, 4), real(1, 2, 2, 4), real(1, 2, 2, 4), none, real(1, 2, 3, 4), real(1, 2, 3, 4)], {"left_window_size": 1, "is_causal": 1}, 25, 3
    yield "window_lengths_heads_mask", [q, k, v, real(2, 3, 5), none, none, ints(4, 5)], {"left_window_size": 1, "right_window_size": 0}, 25, 1


def kinds():
    for dtype in ("float32", "float16", "bfloat16", "float64"):
        yield dtype, lambda *values, t=dtype: np.array(values).astype(ml_dtypes.bfloat16 if t == "bfloat16" else t)


def special():
    """(name, operator, inputs, attributes, opset, values or None for the evaluator's)."""
    for dtype, of in kinds():
        x = of(NAN, 1, -1, 0, INF, -INF, 3.5)
        yield f"sign_{dtype}", "Sign", [x], {}, 13, np.sign(x)
        rows = np.stack([of(INF, 1, 2, 3), of(NAN, 1, 2, 3), of(0, -INF, 1, -INF), of(-INF, -INF, -INF, -INF), of(1, 2, 3, 4)])
        for op in ("Softmax", "LogSoftmax"):
            wide = rows.astype("float64")
            with np.errstate(all="ignore"):
                shifted = wide - wide.max(axis=-1, keepdims=True)
                power = np.exp(shifted)
                want = power / power.sum(axis=-1, keepdims=True) if op == "Softmax" else shifted - np.log(power.sum(axis=-1, keepdims=True))
            yield f"{op.lower()}_{dtype}", op, [rows], {}, 13, want.astype(rows.dtype)
            yield f"{op.lower()}_{dtype}_first_axis", op, [np.ascontiguousarray(rows.T)], {"axis": 0}, 13, np.ascontiguousarray(want.T).astype(rows.dtype)
    q, k, v = 4 * real(1, 2, 3, 4), 4 * real(1, 2, 5, 4), real(1, 2, 5, 3)
    scores = (q.astype("float64") @ np.swapaxes(k, 2, 3) / 2).astype("float16").astype("float64")
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights = (weights / weights.sum(-1, keepdims=True)).astype("float16").astype("float64")
    yield "attention_softmax_half", "Attention", [q, k, v], {"softmax_precision": TensorProto.FLOAT16}, 23, (weights @ v).astype("float32")
    x = np.array([NAN, 1, -1, INF, -INF], "float32")
    yield "celu", "Celu", [x], {}, 12, np.maximum(x, 0) + np.minimum(0, np.expm1(x))
    yield "det_matrix", "Det", [np.array([[1, 2], [3, 4]], "float32")], {}, 22, np.float32(-2)
    yield "reduce_max_nothing_bool", "ReduceMax", [np.zeros((2, 0), bool), ints(1)], {"keepdims": 0}, 20, np.zeros(2, bool)
    yield "reduce_min_nothing_bool", "ReduceMin", [np.zeros((2, 0), bool), ints(1)], {"keepdims": 0}, 20, np.ones(2, bool)
    yield "reduce_max_nothing_int8", "ReduceMax", [np.zeros((2, 0), "int8"), ints(1)], {"keepdims": 0}, 20, np.full(2, -128, "int8")
    yield "reduce_min_nothing_uint32", "ReduceMin", [np.zeros((0,), "uint32"), ints(0)], {"keepdims": 1}, 20, np.array([2**32 - 1], "uint32")
    for length in (97, 1009, 2 * 127, 64 * 3, 1024):
        signal = RANDOM.uniform(-1, 1, (1, length, 2)).astype("float32")
        spectrum = np.fft.fft(signal[..., 0] + 1j * signal[..., 1].astype("float64"), axis=1)
        yield f"dft_{length}", "DFT", [signal, None, np.array(1, I64)], {}, 20, np.stack([spectrum.real, spectrum.imag], -1).astype("float32")
        yield f"dft_{length}_inverse", "DFT", [np.stack([spectrum.real, spectrum.imag], -1).astype("float32"), None, np.array(1, I64)], {"inverse": 1}, 20, signal
    row = (1e4 + RANDOM.standard_normal((3, 300))).astype("float32")
    wide = row.astype("float64")
    gamma, beta = real(300), real(300)
    normal = (wide - wide.mean(-1, keepdims=True)) / np.sqrt(wide.var(-1, keepdims=True) + 1e-5)
    yield "layer_norm_offset", "LayerNormalization", [row, gamma, beta], {}, 17, (normal * gamma + beta).astype("float32")
    plane = real(1, 2, 5, 6)
    regions = np.array([[0, 0, 4, 3], [-2.5, 1, 5, 9.5], [1, 2, 40, 3]], "float32")
    for mode in ("avg", "max"):
        yield f"roi_align_{mode}", "RoiAlign", [plane, regions, ints(0, 0, 0)], {"output_height": 2, "output_width": 3, "mode": mode}, 22, None


FLOAT8 = {"float8_e4m3fn": TensorProto.FLOAT8E4M3FN, "float8_e5m2": TensorProto.FLOAT8E5M2}
VALUES = [0.0, -0.0, 1, -1, 0.3, 2**-9, 2**-10, 3 * 2**-11, 447, 448, 449, 463.9, 464, 465, 500, -500, 57344, 61439, 61441, 65504, -70000, 1e30, INF, -INF, NAN]


def narrowed(values, kind, saturate):
    """ONNX's table of conversions to float8 (onnx.ai, "Float stored in 8 bits"): with saturation what is beyond the range and infinite
    becomes the largest number; without NaN, or in float8_e5m2 infinite. ml_dtypes rounds."""
    wide = values.astype("float64")
    target = np.dtype(getattr(ml_dtypes, kind))
    most = float(ml_dtypes.finfo(target).max)
    if saturate:
        return np.where(np.isnan(wide), NAN, np.clip(wide, -most, most)).astype("float32").astype(target)
    return wide.astype("float32").astype(target)


def casts():
    """(name, operator, input, like, attributes, values)."""
    for kind, code in FLOAT8.items():
        for dtype, of in kinds():
            with np.errstate(all="ignore"):
                x = of(*VALUES)
            for saturate in (None, 0, 1):
                said = {} if saturate is None else {"saturate": saturate}
                name = f"{dtype}_{kind}_{'default' if saturate is None else saturate}"
                want = narrowed(x, kind, saturate in (None, 1))
                yield f"cast_{name}", "Cast", x, None, {"to": code, **said}, want
                if dtype == "float32":
                    yield f"castlike_{name}", "CastLike", x, np.zeros(1, getattr(ml_dtypes, kind)), said, want
        x = np.arange(256, dtype="uint8").view(getattr(ml_dtypes, kind))
        yield f"cast_{kind}_float32", "Cast", x, None, {"to": TensorProto.FLOAT}, x.astype("float32")
    yield "castlike_float16", "CastLike", np.array([1e30, 2], "float32"), np.zeros(1, "float16"), {}, np.array([INF, 2], "float16")


def kept(key, array):
    """What NumPy has no type for, under a key that says its type (app/README.md, "Data")."""
    suffix = SUFFIXES.get(array.dtype.name)
    return (f"{key}:{suffix}", array.view(np.uint16 if suffix == "bf16" else np.uint8)) if suffix else (key, array)


def value_info(name, array):
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)


def write(out, name, op, inputs, attributes, opset, values=None, outputs=1):
    arrays = {f"x{i}": np.asarray(a) for i, a in enumerate(inputs) if a is not None}
    results = [f"y{i}" for i in range(outputs)]
    node = helper.make_node(op, ["" if a is None else f"x{i}" for i, a in enumerate(inputs)], results, **attributes)
    graph = helper.make_graph([node], name, [value_info(k, a) for k, a in arrays.items()], [helper.make_tensor_value_info(r, TensorProto.UNDEFINED, None) for r in results])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    values = ReferenceEvaluator(model).run(None, arrays) if values is None else [np.asarray(values)]
    del model.graph.output[:]
    model.graph.output.extend(value_info(r, np.asarray(v)) for r, v in zip(results, values))
    onnx.save(model, out / f"{name}.onnx")
    np.savez(out / f"{name}.npz", **dict(kept(f"in.{k}", a) for k, a in arrays.items()), **dict(kept(f"out.{r}", np.asarray(v)) for r, v in zip(results, values)))


def models():
    """Whole models: (name, model, inputs, outputs as the definition has them)."""
    places = np.array([1, 7, 22], I64)
    weights = np.zeros(24, "float32")
    weights[places] = [0.5, -2, 4]
    bias = np.array([0, 0, 3, 0], "float32")
    sparse = lambda name, values, where, dims: helper.make_sparse_tensor(helper.make_tensor(name, TensorProto.FLOAT, [len(values)], values), helper.make_tensor(name + "_places", TensorProto.INT64, list(where.shape), where.ravel()), dims)
    x = real(2, 6)
    graph = helper.make_graph(
        [helper.make_node("Constant", [], ["b"], sparse_value=sparse("held", [3.0], np.array([2], I64), [4])), helper.make_node("MatMul", ["x", "w"], ["h"]), helper.make_node("Add", ["h", "b"], ["y"])],
        "sparse", [value_info("x", x)], [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 4])],
        sparse_initializer=[sparse("w", [0.5, -2.0, 4.0], np.stack([places // 4, places % 4], 1), [6, 4])])
    yield "sparse_constants", helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), {"x": x}, {"y": x @ weights.reshape(6, 4) + bias}
    text = """<ir_version: 8, opset_import: ["" : 17]>
    agraph (float[n,3] x, int64 steps, bool cond) => (float[n,3] last, float[s,2,3] seen, float[s,k] open) {
      last, seen, open = Loop (steps, cond, x) <body = step (int64 i, bool c, float[n,3] v) => (bool d, float[n,3] w, float[2,3] a, float[k] o) {
        d = Identity(c)
        w = Neg(v)
        z = Constant<value = int64[2] {2, 3}>()
        a = Reshape(v, z)
        m = NonZero(v)
        r = Cast<to = 1>(m)
        l = Constant<value = int64[1] {-1}>()
        o = Reshape(r, l)
      }>
    }"""
    x = real(2, 3)
    yield "loop_without_steps", onnx.parser.parse_model(text), {"x": x, "steps": np.array(0, I64), "cond": np.array(True)}, {"last": x, "seen": np.zeros((0, 2, 3), "float32"), "open": np.zeros((0, 0), "float32")}
    yield "loop_without_condition", onnx.parser.parse_model(text), {"x": x, "steps": np.array(5, I64), "cond": np.array(False)}, {"last": x, "seen": np.zeros((0, 2, 3), "float32"), "open": np.zeros((0, 0), "float32")}


def node_model(op, inputs, opset, **attributes):
    """One node over float32 inputs of these shapes, and initializers."""
    infos, held = [], []
    for k, value in enumerate(inputs):
        if isinstance(value, tuple):
            infos.append(helper.make_tensor_value_info(f"x{k}", TensorProto.FLOAT, value))
        elif value is not None:
            held.append(onnx.numpy_helper.from_array(value, f"x{k}"))
    node = helper.make_node(op, ["" if v is None else f"x{k}" for k, v in enumerate(inputs)], ["y"], name="n", **attributes)
    graph = helper.make_graph([node], op, infos, [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], held)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def refused():
    """(name, model)."""
    yield "softmax_axi", node_model("Softmax", [(2, 3)], 17, axi=0)
    yield "average_pool_dilations", node_model("AveragePool", [(1, 1, 5, 5)], 9, kernel_shape=[2, 2], dilations=[2, 2])
    yield "resize_antialias", node_model("Resize", [(1, 1, 4, 4), None, np.array([1, 1, 0.5, 0.5], "float32")], 13, antialias=1, mode="linear")
    yield "depth_to_space_crd", node_model("DepthToSpace", [(1, 4, 2, 2)], 13, blocksize=2, mode="crd")
    weights = [np.zeros((1, 8, 3), "float32"), np.zeros((1, 8, 2), "float32")]
    yield "lstm_layout", node_model("LSTM", [(4, 1, 3), *weights], 14, hidden_size=2, layout=7)
    yield "reduce_keepdims", node_model("ReduceMean", [(2, 3)], 13, axes=[1], keepdims=2)
    yield "attention_window_23", node_model("Attention", [(1, 1, 2, 2)] * 3, 23, left_window_size=1)
    yield "attention_one_past", node_model("Attention", [(1, 1, 2, 2)] * 3 + [None, (1, 1, 1, 2)], 23)
    regions = [np.array([[0, 0, 4, 4]], "float32"), np.array([0], I64)]
    yield "roi_align_samples", node_model("RoiAlign", [(1, 1, 5, 5), *regions], 16, sampling_ratio=2**40, output_height=2, output_width=2)
    yield "einsum_endless", node_model("Einsum", [(100000,)] * 4, 13, equation="i,j,k,l->")
    head = '<ir_version: 8, opset_import: ["" : 17]>'
    yield "loop_scan", onnx.parser.parse_model(head + """
    agraph (float[2,3] x) => (float[2,3] y, float[n,2,3] z) <int64 m = {1099511627776}, bool k = {1}> {
      y, z = Loop (m, k, x) <body = b (int64 i, bool c, float[2,3] v) => (bool co, float[2,3] vo, float[2,3] so) { co = Identity(c) vo = Relu(v) so = Identity(v) }>
    }""")
    yield "loop_doubling", onnx.parser.parse_model(head + """
    agraph (float[2,3] x) => (float[n,3] y) <int64 m = {60}, bool k = {1}> {
      y = Loop (m, k, x) <body = b (int64 i, bool c, float[r,3] v) => (bool co, float[s,3] vo) { co = Identity(c) vo = Concat<axis = 0>(v, v) }>
    }""")
    yield "loop_largest", onnx.parser.parse_model(head + """
    agraph (float[2,3] x) => (float[2,3] y) <int64 m = {9223372036854775807}, bool k = {1}> {
      y = Loop (m, k, x) <body = b (int64 i, bool c, float[2,3] v) => (bool co, float[2,3] vo) { co = Constant<value = bool {1}>() vo = Neg(v) }>
    }""")
    # Stops by its condition, as exporters write loops that run while something holds: no bound is passed.
    yield "loop_while", onnx.parser.parse_model(head + """
    agraph (float[2,3] x) => (float[2,3] y, float[n,2,3] z) <int64 m = {9223372036854775807}, bool k = {1}> {
      y, z = Loop (m, k, x) <body = b (int64 i, bool c, float[2,3] v) => (bool co, float[2,3] vo, float[2,3] so) {
        last = Constant<value = int64 {4}>() co = Less(i, last) vo = Neg(v) so = Identity(v)
      }>
    }""")


def main():
    refusals = Path(sys.argv[1]) / "onnx_refused"
    refusals.mkdir(parents=True, exist_ok=True)
    for name, model in refused():
        onnx.save(model, refusals / f"{name}.onnx")
    out = Path(sys.argv[1]) / "onnx_special"
    out.mkdir(parents=True, exist_ok=True)
    with np.errstate(all="ignore"):
        for name, inputs, attributes, opset, outputs in attention():
            write(out, f"attention_{name}", "Attention", inputs, attributes, opset, None, outputs)
        for name, op, inputs, attributes, opset, values in special():
            write(out, name, op, inputs, attributes, opset, values)
        for name, op, x, like, attributes, values in casts():
            write(out, name, op, [x] if like is None else [x, like], attributes, 19, values)
    for name, model, inputs, outputs in models():
        onnx.save(model, out / f"{name}.onnx")
        np.savez(out / f"{name}.npz", **{f"in.{k}": a for k, a in inputs.items()}, **{f"out.{k}": a for k, a in outputs.items()})


if __name__ == "__main__":
    main()

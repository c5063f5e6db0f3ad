#!/usr/bin/env python3
"""Makes tests/data/onnx_calls with ONNX Runtime: make_onnx_call_goldens.py tests/data/onnx_calls

function_*  models that call functions of their own
others      one node of an operator of another domain a case (docs/ContribOperators.md of ONNX Runtime)

Written: OUT/NAME.onnx and OUT/NAME.npz, whose arrays are called in.INPUT and out.OUTPUT. Needs onnx 1.22, onnxruntime and numpy.
"""
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto as T, helper as h, numpy_helper as nh, parser

RANDOM = np.random.RandomState(7)
HEADER = '<ir_version: 9, opset_import: ["" : 18, "fn" : 1]>'


def real(*shape, low=-1.0, high=1.0):
    return RANDOM.uniform(low, high, shape).astype("float32")


def codes(*shape, kind="uint8"):
    info = np.iinfo(kind)
    return RANDOM.randint(info.min, info.max + 1, shape).astype(kind)


def function_models():
    """(name, text in ONNX's own language, inputs)."""
    yield "function_attributes", HEADER + """
agraph (float[2,3] x) => (float[2,3] y, float[2,3] z) {
  y = fn.Scaled<alpha = 0.5>(x)
  z = fn.Scaled(x)
}
<domain: "fn", opset_import: ["" : 18]> Scaled<alpha: float = 0.25>(a) => (b) { b = LeakyRelu<alpha: float = @alpha>(a) }""", {"x": real(2, 3)}
    yield "function_left_out", HEADER + """
agraph (float[5] x, float most) => (float[5] y, float[5] z) {
  y = fn.Bounded(x, , most)
  z = fn.Bounded(x)
}
<domain: "fn", opset_import: ["" : 18]> Bounded(a, low, high) => (b) { b = Clip(a, low, high) }""", {"x": real(5), "most": np.array(0.2, "float32")}
    yield "function_nested", HEADER + """
agraph (float[2,3] x) => (float[2,3] y, float[2,3] same) {
  y, same = fn.Outer<alpha = 0.75>(x)
}
<domain: "fn", opset_import: ["" : 18, "fn" : 1]> Outer<alpha>(a) => (b, c) { t = fn.Inner<beta: float = @alpha>(a)  u = fn.Inner<beta = 2.0>(t)  b = Add(t, u)  c = fn.Through(a) }
<domain: "fn", opset_import: ["" : 18]> Inner<beta>(a) => (b) { t = Elu<alpha: float = @beta>(a)  b = Add(a, t) }
<domain: "fn", opset_import: ["" : 18]> Through(a) => (a2) { a2 = Identity(a) }""", {"x": real(2, 3)}
    yield "function_between", HEADER + """
agraph (float[2,3] x, float[3,3] w) => (float[2,3] y) {
  a = MatMul(x, w)
  b = fn.Twice(a)
  y = MatMul(b, w)
}
<domain: "fn", opset_import: ["" : 18]> Twice(a) => (b) { b = Add(a, a) }""", {"x": real(2, 3), "w": real(3, 3)}
    branch = """
agraph (float[2,3] x, bool flag) => (float[2,3] y) {
  y = If (flag) <
    then_branch = taken () => (float[2,3] t) { t = fn.Twice(x) },
    else_branch = other () => (float[2,3] e) { e = fn.Chosen(flag, x) }
  >
}
<domain: "fn", opset_import: ["" : 18]> Twice(a) => (b) { b = Add(a, a) }
<domain: "fn", opset_import: ["" : 18]> Chosen(c, a) => (b) {
  n = Neg(a)
  b = If (c) < then_branch = p () => (t) { t = Identity(n) }, else_branch = q () => (e) { e = Mul(n, a) } >
}"""
    x = real(2, 3)
    yield "function_in_branch", HEADER + branch, {"x": x, "flag": np.array(True)}
    yield "function_with_branch", HEADER + branch, {"x": x, "flag": np.array(False)}
    # The bodies' names are also those of the graph, and of both calls.
    yield "function_with_loops", HEADER + """
agraph (float[3] x) => (float[3] y, float[3] z, float[4,3] all, float[3,3] first) {
  y, first = fn.Grown<steps = 3>(x)
  z, all = fn.Grown<steps = 4>(y)
}
<domain: "fn", opset_import: ["" : 18, "fn" : 1]> Grown<steps: int = 1>(a) => (b, rows) {
  n = Constant<value_int: int = @steps>()
  go = Constant<value = bool {1}>()
  b, rows = Loop(n, go, a) < body = step (int64 i, bool g, float[3] x) => (bool on, float[3] y, float[3] z) {
    on = Identity(g)
    t = Mul(x, a)
    y = fn.Summed(t)
    z = Neg(y)
  } >
}
<domain: "fn", opset_import: ["" : 18]> Summed(a) => (b) {
  zero = Constant<value = float {0}>()
  last, b = Scan(zero, a) < num_scan_inputs = 1, body = step (float x, float y) => (float all, float z) { all = Add(x, y)  z = Identity(all) } >
}""", {"x": np.array([0.5, -0.25, 0.75], "float32")}
    # What newer opsets say otherwise: axes that are inputs, a Softmax over an axis and all behind it, parts of a Split.
    yield "function_older", '<ir_version: 8, opset_import: ["" : 11, "fn" : 1]>' + """
agraph (float[2,3,4] x, bool flag) => (float[2,3,4] y, float[2,4] z, float[2,1,4] m) {
  s, p = fn.Centred<over = [1]>(x)
  y = If (flag) <
    then_branch = taken () => (float[2,3,4] t) { t, u = fn.Centred<over = [2]>(s) },
    else_branch = other () => (float[2,3,4] e) { e = Neg(s) }
  >
  z = Squeeze<axes = [1]>(p)
  m = Identity(p)
}
<domain: "fn", opset_import: ["" : 11, "fn" : 1]> Centred<over>(a) => (b, sums) {
  two = Constant<value = float {2}>()
  m = ReduceMean<axes = [1, 2]>(a)
  c = Sub(a, m)
  sums = ReduceSum<axes: ints = @over>(c)
  d = fn.Shared(c)
  b = Mul(d, two)
}
<domain: "fn", opset_import: ["" : 11]> Shared(a) => (b) {
  p = Softmax(a)
  q, r = Split<axis = 2>(p)
  b = Concat<axis = 2>(r, q)
}""", {"x": np.linspace(-1, 1, 24, dtype="float32").reshape(2, 3, 4), "flag": np.array(True)}


def operators():
    """(name, operator, inputs by name in order, attributes, number of outputs)."""
    x = real(2, 3, 8)
    yield "gelu", "Gelu", {"X": x}, {}, 1
    yield "bias_gelu", "BiasGelu", {"A": x, "B": real(8)}, {}, 1
    yield "fast_gelu", "FastGelu", {"X": x}, {}, 1
    yield "fast_gelu_bias", "FastGelu", {"X": x, "bias": real(8)}, {}, 1
    yield "quick_gelu", "QuickGelu", {"X": x}, {"alpha": 1.5}, 1
    yield "fused_matmul", "FusedMatMul", {"A": real(2, 4, 3), "B": real(2, 5, 4)}, {"transA": 1, "transB": 1, "alpha": 0.5}, 1
    yield "fused_matmul_batches", "FusedMatMul", {"A": real(3, 2, 2, 4), "B": real(4, 2, 2, 5)}, {"transBatchA": 1, "transBatchB": 1}, 1
    yield "fused_matmul_all", "FusedMatMul", {"A": real(4, 2, 2, 3), "B": real(2, 2, 5, 4)}, {"transBatchA": 1, "transA": 1, "transB": 1}, 1
    yield "fused_matmul_plain", "FusedMatMul", {"A": real(3, 4), "B": real(4, 5)}, {}, 1
    yield "layer_normalization_old", "ai.LayerNormalization", {"X": x, "Scale": real(8), "B": real(8)}, {"axis": -1, "epsilon": 1e-3}, 1
    yield "simplified_layer_normalization", "ai.SimplifiedLayerNormalization", {"X": x, "scale": real(8)}, {"axis": -1, "epsilon": 1e-6}, 1
    weights = {"gamma": real(8), "beta": real(8), "bias": real(8)}
    yield "skip_layer_norm", "SkipLayerNormalization", {"input": x, "skip": real(2, 3, 8), **weights}, {"epsilon": 1e-5}, [True, False, False, True]
    yield "skip_layer_norm_no_bias", "SkipLayerNormalization", {"input": x, "skip": real(2, 3, 8), "gamma": real(8), "beta": real(8)}, {"epsilon": 1e-5}, 1
    yield "skip_simplified", "SkipSimplifiedLayerNormalization", {"input": x, "skip": real(2, 3, 8), "gamma": real(8)}, {"epsilon": 1e-5}, [True, False, False, True]
    ids, segments = RANDOM.randint(0, 6, (2, 3)).astype("int32"), RANDOM.randint(0, 2, (2, 3)).astype("int32")
    tables = {"word": real(6, 8), "position": real(4, 8), "segment": real(2, 8), "gamma": real(8), "beta": real(8)}
    yield "embed_layer_norm", "EmbedLayerNormalization", {"ids": ids, "segments": segments, **tables, "mask": np.array([[1, 1, 1], [1, 0, 0]], "int32")}, {"epsilon": 1e-5}, 2
    yield ("embed_layer_norm_positions", "EmbedLayerNormalization",
           {"ids": ids, "none": None, "word": tables["word"], "position": tables["position"], "none2": None, "gamma": real(8), "beta": real(8), "none3": None,
            "positions": np.array([[2, 0, 1], [1, 1, 3]], "int32")}, {"epsilon": 1e-5}, [True, False])
    packed = {"input": x, "weights": real(8, 24), "bias": real(24)}
    yield "attention", "Attention", packed, {"num_heads": 2}, 1
    yield "attention_mask", "Attention", {**packed, "mask": np.array([[1, 1, 0], [1, 1, 1]], "int32")}, {"num_heads": 2}, 1
    yield "attention_lengths", "Attention", {**packed, "mask": np.array([2, 3], "int32")}, {"num_heads": 2}, 1
    yield "attention_causal_past", "Attention", {**packed, "none": None, "past": real(2, 2, 2, 5, 4)}, {"num_heads": 2, "unidirectional": 1}, 2
    yield ("attention_sizes", "Attention", {"input": x, "weights": real(8, 20), "bias": real(20), "none": None, "none2": None, "scores": real(2, 2, 3, 3)},
           {"num_heads": 2, "qkv_hidden_sizes": [8, 8, 4], "scale": 0.3}, 1)
    yield "multi_head_attention", "MultiHeadAttention", {"query": x, "key": real(2, 5, 8), "value": real(2, 5, 8), "bias": real(24)}, {"num_heads": 2}, 1
    yield ("multi_head_attention_mask", "MultiHeadAttention",
           {"query": x, "key": real(2, 5, 8), "value": real(2, 5, 8), "none": None, "mask": np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], "int32"), "scores": real(1, 2, 3, 5)},
           {"num_heads": 2, "scale": 0.4}, 1)
    yield ("multi_head_attention_past", "MultiHeadAttention",
           {"query": x, "key": real(2, 3, 8), "value": real(2, 3, 8), "none": None, "none2": None, "none3": None, "past_key": real(2, 2, 4, 4), "past_value": real(2, 2, 4, 4)},
           {"num_heads": 2, "unidirectional": 1}, 3)
    turned = {"cos": real(6, 2), "sin": real(6, 2)}
    yield "rotary_offset", "RotaryEmbedding", {"input": x, "ids": np.array([2], "int64"), **turned}, {}, 1
    yield "rotary_ids", "RotaryEmbedding", {"input": x, "ids": np.array([[0, 1, 2], [3, 4, 5]], "int64"), **turned}, {"interleaved": 1}, 1
    grouped = {"query": real(2, 3, 16), "key": real(2, 3, 8), "value": real(2, 3, 8), "none": None, "none2": None,
               "seen": np.array([2, 2], "int32"), "total": np.array(3, "int32")}
    yield "group_query_attention", "GroupQueryAttention", grouped, {"num_heads": 2, "kv_num_heads": 1}, 3
    wheel = {"cos": real(12, 8), "sin": real(12, 8)}
    step = {"query": real(1, 1, 64), "none": None, "none2": None, "past_key": real(1, 1, 4, 16), "past_value": real(1, 1, 4, 16),
            "seen": np.array([4], "int32"), "total": np.array(5, "int32"), **wheel}
    yield "group_query_attention_rotary", "GroupQueryAttention", step, {"num_heads": 2, "kv_num_heads": 1, "do_rotary": 1, "scale": 0.3}, 3
    scale = lambda value: np.array(value, "float32")
    zero = lambda value, kind="uint8": np.array(value, kind)
    both = {"A": codes(2, 4), "a_scale": scale(0.02), "a_zero": zero(120), "B": codes(4), "b_scale": scale(0.03), "b_zero": zero(100), "c_scale": scale(0.05), "c_zero": zero(128)}
    yield "qlinear_add", "QLinearAdd", both, {}, 1
    yield "qlinear_mul", "QLinearMul", both, {}, 1
    one = lambda array, y_scale, y_zero: {"X": array, "x_scale": scale(0.05), "x_zero": zero(110), "y_scale": scale(y_scale), "y_zero": zero(y_zero)}
    yield "qlinear_sigmoid", "QLinearSigmoid", one(codes(2, 6), 1 / 256, 0), {}, 1
    yield "qlinear_leaky_relu", "QLinearLeakyRelu", one(codes(2, 6), 0.04, 100), {"alpha": 0.1}, 1
    yield "qlinear_softmax", "QLinearSoftmax", one(codes(2, 6), 1 / 256, 0), {"axis": 1, "opset": 13}, 1
    # Of another scale, since means of four codes are often as near to one code as to the next.
    yield "qlinear_average_pool", "QLinearAveragePool", one(codes(1, 2, 4, 4), 0.047, 110), {"kernel_shape": [2, 2], "strides": [2, 2]}, 1
    yield "qlinear_global_average_pool", "QLinearGlobalAveragePool", one(codes(1, 2, 4, 4), 0.05, 110), {}, 1
    yield ("qlinear_concat", "QLinearConcat", {"y_scale": scale(0.05), "y_zero": zero(120), "X": codes(2, 3), "x_scale": scale(0.05), "x_zero": zero(120), "Z": codes(2, 2),
                                                 "z_scale": scale(0.02), "z_zero": zero(128)}, {"axis": 1}, 1)
    gemm = {"A": codes(3, 4), "a_scale": scale(0.02), "a_zero": zero(120), "B": codes(5, 4, kind="int8"), "b_scale": real(5, low=0.01, high=0.02), "b_zero": zero(0, "int8").repeat(5),
            "C": RANDOM.randint(-500, 500, 5).astype("int32")}
    yield "qgemm", "QGemm", {**gemm, "y_scale": scale(0.05), "y_zero": zero(128)}, {"transB": 1}, 1
    yield "qgemm_real", "QGemm", gemm, {"transB": 1}, 1
    yield "dynamic_quantize_matmul", "DynamicQuantizeMatMul", {"A": real(3, 4), "B": codes(4, 5), "b_scale": scale(0.02), "b_zero": zero(128), "bias": real(5)}, {}, 1
    yield "dynamic_quantize_matmul_columns", "DynamicQuantizeMatMul", {"A": real(3, 4), "B": codes(4, 5, kind="int8"), "b_scale": real(5, low=0.01, high=0.02)}, {}, 1
    yield "matmul_integer_to_float", "MatMulIntegerToFloat", {"A": codes(3, 4), "B": codes(4, 5), "a_scale": scale(0.02), "b_scale": scale(0.03), "a_zero": zero(128), "b_zero": zero(120)}, {}, 1
    yield ("qattention", "QAttention", {"input": codes(2, 3, 8), "weight": codes(8, 24, kind="int8"), "bias": real(24), "input_scale": scale(0.01), "weight_scale": scale(0.005),
                                        "mask": np.array([[1, 1, 0], [1, 1, 1]], "int32"), "input_zero": zero(128), "weight_zero": zero(0, "int8")}, {"num_heads": 2}, 1)
    yield "quantize_16", "QuantizeLinear", {"x": x, "scale": scale(0.001), "zero": zero(100, "uint16")}, {}, 1
    yield ("matmul_4_bits", "MatMulNBits", {"A": real(3, 40), "B": codes(5, 3, 8), "scales": real(15, low=0.01, high=0.02)},
           {"K": 40, "N": 5, "bits": 4, "block_size": 16}, 1)
    yield ("matmul_4_bits_zeros", "MatMulNBits", {"A": real(3, 40), "B": codes(5, 3, 8), "scales": real(15, low=0.01, high=0.02), "zeros": codes(10)},
           {"K": 40, "N": 5, "bits": 4, "block_size": 16}, 1)
    yield ("matmul_8_bits", "MatMulNBits", {"A": real(3, 40), "B": codes(5, 3, 16), "scales": real(15, low=0.01, high=0.02)},
           {"K": 40, "N": 5, "bits": 8, "block_size": 16}, 1)
    picture = {"X": real(1, 2, 5, 5), "W": real(3, 2, 3, 3), "B": real(3)}
    yield "fused_conv_relu", "FusedConv", picture, {"activation": "Relu", "pads": [1, 1, 1, 1], "kernel_shape": [3, 3]}, 1
    yield "fused_conv_sum", "FusedConv", {**picture, "Z": real(1, 3, 3, 3)}, {"activation": "Relu"}, 1
    yield "fused_conv_leaky", "FusedConv", picture, {"activation": "LeakyRelu", "activation_params": [0.2]}, 1
    yield "fused_conv_clip", "FusedConv", picture, {"activation": "Clip", "activation_params": [-0.2, 0.4]}, 1
    yield "fused_conv_hard_sigmoid", "FusedConv", picture, {"activation": "HardSigmoid", "activation_params": [0.3, 0.4]}, 1
    yield "fused_gemm", "FusedGemm", {"A": real(2, 4), "B": real(5, 4), "C": real(5)}, {"activation": "LeakyRelu", "activation_alpha": 0.3, "transB": 1, "alpha": 0.5}, 1
    yield "group_query_attention_softcap", "GroupQueryAttention", grouped, {"num_heads": 2, "kv_num_heads": 1, "softcap": 0.5}, 3
    longer = {"query": real(1, 6, 16), "key": real(1, 6, 8), "value": real(1, 6, 8), "none": None, "none2": None,
              "seen": np.array([5], "int32"), "total": np.array(6, "int32")}
    yield "group_query_attention_window", "GroupQueryAttention", longer, {"num_heads": 2, "kv_num_heads": 1, "local_window_size": 2}, 3
    yield "group_query_attention_smooth", "GroupQueryAttention", longer, {"num_heads": 2, "kv_num_heads": 1, "smooth_softmax": 1}, 3
    biased = {**longer, "none3": None, "none4": None, "none5": None, "bias": real(1, 2, 6, 6)}
    yield "group_query_attention_bias", "GroupQueryAttention", biased, {"num_heads": 2, "kv_num_heads": 1, "softcap": 0.7}, 3
    placed = {"query": real(1, 3, 32), "key": real(1, 3, 16), "value": real(1, 3, 16), "none": None, "none2": None,
              "seen": np.array([2], "int32"), "total": np.array(3, "int32"), "cos": real(12, 8), "sin": real(12, 8), "ids": np.array([[4, 5, 6]], "int64")}
    yield "group_query_attention_positions", "GroupQueryAttention", placed, {"num_heads": 2, "kv_num_heads": 1, "do_rotary": 1}, 3
    partial = {"input": real(2, 3, 16), "ids": np.array([1], "int64"), "cos": real(8, 2), "sin": real(8, 2)}
    yield "rotary_partial", "RotaryEmbedding", partial, {"num_heads": 2, "rotary_embedding_dim": 4}, 1
    yield ("matmul_4_bits_groups", "MatMulNBits", {"A": real(3, 40), "B": codes(5, 3, 8), "scales": real(15, low=0.01, high=0.02), "none": None,
                                                    "groups": RANDOM.randint(0, 3, 40).astype("int32")}, {"K": 40, "N": 5, "bits": 4, "block_size": 16}, 1)
    yield ("matmul_2_bits", "MatMulNBits", {"A": real(3, 40), "B": codes(5, 3, 4), "scales": real(15, low=0.1, high=0.2)},
           {"K": 40, "N": 5, "bits": 2, "block_size": 16}, 1)
    yield ("matmul_2_bits_zeros", "MatMulNBits", {"A": real(3, 96), "B": codes(5, 6, 4), "scales": real(30, low=0.1, high=0.2), "zeros": codes(10)},
           {"K": 96, "N": 5, "bits": 2, "block_size": 16}, 1)
    yield ("qlinear_average_pool_last", "QLinearAveragePool", one(codes(1, 4, 4, 2), 0.047, 110), {"kernel_shape": [2, 2], "strides": [2, 2], "channels_last": 1}, 1)
    yield "qlinear_global_average_pool_last", "QLinearGlobalAveragePool", one(codes(1, 4, 4, 2), 0.05, 110), {"channels_last": 1}, 1
    rows = {"X": real(3, 4)}
    floats = lambda count: real(count).tolist()
    yield "ml_scaler", "ml.Scaler", rows, {"offset": floats(4), "scale": floats(4)}, 1
    for norm in ("MAX", "L1", "L2"):
        yield f"ml_normalizer_{norm.lower()}", "ml.Normalizer", {"X": real(3, 4, low=0.1)}, {"norm": norm}, 1
    yield "ml_linear_regressor", "ml.LinearRegressor", rows, {"coefficients": floats(8), "intercepts": floats(2), "targets": 2}, 1
    for transform in ("NONE", "LOGISTIC", "SOFTMAX"):
        yield (f"ml_linear_classifier_{transform.lower()}", "ml.LinearClassifier", rows,
               {"coefficients": floats(12), "intercepts": floats(3), "classlabels_ints": [5, 2, 7], "post_transform": transform}, 2)
    yield "ml_array_feature_extractor", "ml.ArrayFeatureExtractor", {"X": real(3, 4), "Y": np.array([2, 0], "int64")}, {}, 1
    yield "ml_array_feature_extractor_vector", "ml.ArrayFeatureExtractor", {"X": real(4), "Y": np.array([[2, 0, 1]], "int64")}, {}, 1
    for kernel in ("LINEAR", "RBF", "POLY", "SIGMOID"):
        yield (f"ml_svm_regressor_{kernel.lower()}", "ml.SVMRegressor", rows,
               {"coefficients": floats(5), "kernel_params": [0.4, 0.2, 3.0], "kernel_type": kernel, "n_supports": 5, "rho": [0.3], "support_vectors": floats(20)}, 1)
    # ONNX Runtime's CPU takes them apart only: what is recorded of (q, k, v) is kept as of one packed input.
    yield "multi_head_attention_packed", "MultiHeadAttention", {"query": x, "key": real(2, 3, 8), "value": real(2, 3, 8)}, {"num_heads": 2, "packed": 3}, 1
    yield "multi_head_attention_packed_pair", "MultiHeadAttention", {"query": x, "key": real(2, 5, 8), "value": real(2, 5, 8)}, {"num_heads": 2, "packed": 2}, 1
    nothing = {"none3": None, "none4": None, "none5": None, "none6": None}
    yield "group_query_attention_sink", "GroupQueryAttention", {**grouped, **nothing, "sink": real(2)}, {"num_heads": 2, "kv_num_heads": 1}, 3
    four = {"input": real(2, 3, 5, 8), "ids": np.array([2], "int64"), "cos": real(12, 4), "sin": real(12, 4)}
    places = RANDOM.randint(0, 12, (2, 5)).astype("int64")
    yield "rotary_four_axes", "RotaryEmbedding", four, {}, 1
    yield "rotary_four_axes_ids", "RotaryEmbedding", {**four, "ids": places}, {"interleaved": 1}, 1
    yield ("rotary_four_axes_partial", "RotaryEmbedding", {**four, "ids": places, "cos": real(12, 2), "sin": real(12, 2)},
           {"num_heads": 3, "rotary_embedding_dim": 4}, 1)
    # ONNX Runtime's CPU does nothing with the scale, and packed batches are longer than the tables at most.
    yield ("rotary_packed", "RotaryEmbedding", {**four, "input": real(1, 14, 24), "ids": RANDOM.randint(0, 12, (1, 14)).astype("int64")},
           {"is_packed_batching": 1, "scale": 0.5}, 1)
    # Zero points of A's type lie one a block.
    yield ("matmul_4_bits_real_zeros", "MatMulNBits",
           {"A": real(3, 40), "B": codes(5, 3, 8), "scales": real(15, low=0.01, high=0.02), "zeros": real(15, low=5.0, high=9.0)},
           {"K": 40, "N": 5, "bits": 4, "block_size": 16}, 1)


def node_model(op, inputs, attributes, outputs):
    given = {name: array for name, array in inputs.items() if array is not None}
    domain = "com.microsoft"
    if op.startswith("ml."):
        op, domain = op[3:], "ai.onnx.ml"
    elif op.startswith("ai."):
        op, domain = op[3:], ""
    node = h.make_node(op, [name if array is not None else "" for name, array in inputs.items()],
                       [f"out{k}" if wanted else "" for k, wanted in enumerate(outputs)], domain=domain, **attributes)
    graph = h.make_graph([node], op, [h.make_tensor_value_info(name, h.np_dtype_to_tensor_dtype(array.dtype), array.shape) for name, array in given.items()],
                         [onnx.ValueInfoProto(name=f"out{k}") for k, wanted in enumerate(outputs) if wanted])
    return h.make_model(graph, opset_imports=[h.make_opsetid("", 16), h.make_opsetid("com.microsoft", 1)]
                        + [h.make_opsetid(domain, 3)] * domain.startswith("ai."), ir_version=8), given


def packed(inputs, heads, parts):
    """Query, key and value, or key and value, as one tensor (batch, length, heads, parts, size)."""
    split = {name: array.reshape(*array.shape[:2], heads, -1) for name, array in inputs.items()}
    together = np.stack(list(split.values())[-parts:], axis=3)
    return {"query": together} if parts == 3 else {"query": inputs["query"], "key": together}


def run(model, inputs):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"]).run(None, inputs)


def main(folder):
    def write(name, model, inputs, results=None):
        results = results or run(model, inputs)
        for output, value in zip(model.graph.output, results):
            output.CopyFrom(h.make_tensor_value_info(output.name, h.np_dtype_to_tensor_dtype(value.dtype), value.shape))
        if "normalization" not in name:  # ONNX Runtime knows two of them in ONNX's own domain, ONNX does not
            onnx.checker.check_model(model)
        (folder / f"{name}.onnx").write_bytes(model.SerializeToString())
        np.savez(folder / f"{name}.npz", **{f"in.{key}": value for key, value in inputs.items()},
                 **{f"out.{output.name}": value for output, value in zip(model.graph.output, results)})

    for name, text, inputs in function_models():
        write(name, parser.parse_model(text), inputs)
    for name, op, inputs, attributes, outputs in operators():
        parts = attributes.pop("packed", 0)
        wanted = [True] * outputs if isinstance(outputs, int) else outputs
        model, given = node_model(op, inputs, attributes, wanted)
        results = run(model, given) if parts else None
        if parts:
            model, given = node_model(op, packed(inputs, attributes["num_heads"], parts), attributes, wanted)
        write(name, model, given, results)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

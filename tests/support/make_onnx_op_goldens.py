#!/usr/bin/env python3
"""Makes tests/data/onnx_ops, a model of one node a case, with ONNX's own reference evaluator, and models of
lists with ONNX Runtime: make_onnx_op_goldens.py tests/data/onnx_ops

Written: OUT/NAME.onnx and OUT/NAME.npz, whose arrays are called in.INPUT and out.OUTPUT. Needs onnx 1.22, onnxruntime, ml_dtypes and numpy.
"""
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
import onnx.parser
import onnxruntime
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

RANDOM = np.random.RandomState(3)
I64 = np.int64


def real(*shape, low=-1.0, high=1.0):
    return RANDOM.uniform(low, high, shape).astype("float32")


def ints(*values):
    return np.array(values, I64)


def cases():
    """(name, operator, inputs, attributes[, opset[, outputs]]); an input that is None is absent."""
    x = real(2, 3, 4)
    yield "mod_negative", "Mod", [np.array([-7, 7, -8], "int32"), np.array([3, -3, 3], "int32")], {}
    yield "mod_fmod", "Mod", [real(6, low=-5, high=5), real(6, low=1, high=2)], {"fmod": 1}
    yield "pow_mixed", "Pow", [np.array([1, 2, 3], "int32"), np.array([4, 5, 19], I64)], {}
    yield "bit_shift", "BitShift", [np.array([16, 4, 255], "uint8"), np.array([1, 2, 3], "uint8")], {"direction": "LEFT"}
    yield "bitwise_xor", "BitwiseXor", [np.array([5, -3], "int16"), np.array([[3], [9]], "int16")], {}
    yield "divide_uint64", "Div", [np.array([2**63 + 8, 9], "uint64"), np.array([2, 4], "uint64")], {}
    yield "max_three", "Max", [real(2, 1), real(1, 3), real(1)], {}
    yield "mean_stretched", "Mean", [real(2, 3), real(3)], {}
    yield "where_stretched", "Where", [np.array([[True], [False]]), real(2, 3), real(3)], {}
    yield "clip_crossed", "Clip", [real(5), np.float32(0.5), np.float32(-0.5)], {}
    yield "clip_low_only", "Clip", [np.array([-3, 0, 4], "int8"), np.int8(-1)], {}
    yield "prelu_stretched", "PRelu", [x, real(3, 1)], {}
    yield "leaky_relu_float64", "LeakyRelu", [np.array([-1e4, -3.0, 2.0])], {"alpha": 0.1}  # which is that of float32
    yield "scatter_nd_max_nan", "ScatterND", [np.array([[1, 2], [np.nan, 4]], "float32"), np.array([[0], [1]], I64), np.array([[np.nan, 3], [1, 2]], "float32")], {"reduction": "max"}
    ends = np.array([0, 1, 2**63, 2**64 - 1], "uint64")
    yield "bitwise_not_uint64", "BitwiseNot", [ends], {}
    yield "abs_uint64", "Abs", [ends], {}
    yield "sign_uint64", "Sign", [ends], {}
    square = np.arange(48, dtype="float32").reshape(1, 2, 4, 3, 2)
    yield "max_pool_columns_3d", "MaxPool", [square], {"kernel_shape": [2, 2, 1], "strides": [2, 2, 1], "storage_order": 1}, 21, 2
    yield "selu_own", "Selu", [x], {"alpha": 2.0, "gamma": 3.0}
    yield "celu", "Celu", [x], {"alpha": 0.7}
    yield "shrink", "Shrink", [x], {"lambd": 0.3, "bias": 0.2}
    yield "thresholded_relu", "ThresholdedRelu", [x], {"alpha": 0.2}
    yield "gelu_tanh", "Gelu", [x], {"approximate": "tanh"}
    yield "mish", "Mish", [x], {}
    yield "hard_swish", "HardSwish", [real(8, low=-5, high=5)], {}
    yield "round_even", "Round", [np.array([0.5, 1.5, 2.5, -0.5, -1.5], "float32")], {}
    yield "is_inf_positive", "IsInf", [np.array([np.inf, -np.inf, 1], "float32")], {"detect_negative": 0}
    yield "reduce_log_sum_exp", "ReduceLogSumExp", [x + 80, ints(1)], {}
    yield "reduce_sum_square_int", "ReduceSumSquare", [np.arange(6, dtype="int64").reshape(2, 3), ints(-1)], {"keepdims": 0}
    yield "arg_max_last", "ArgMax", [np.array([[2, 2, 1], [0, 3, 3]], "float32")], {"axis": 1, "select_last_index": 1, "keepdims": 0}
    yield "hardmax", "Hardmax", [np.array([[3, 0, 3, 1]], "float32")], {}
    yield "top_k_smallest", "TopK", [real(3, 5), ints(2)], {"largest": 0, "axis": 1}, 21, 2
    yield "cum_sum_exclusive", "CumSum", [x, np.array(1, I64)], {"exclusive": 1, "reverse": 1}
    yield "gather_negative", "Gather", [x, ints(0, -1)], {"axis": 2}
    yield "gather_elements", "GatherElements", [real(3, 3), np.array([[1, 2, 0], [2, 0, 0]], I64)], {"axis": 0}
    yield "gather_nd_batch", "GatherND", [real(2, 2, 2), np.array([[1], [0]], I64)], {"batch_dims": 1}
    yield "scatter_elements_add", "ScatterElements", [real(1, 5), np.array([[1, 1, -2]], I64), real(1, 3)], {"axis": 1, "reduction": "add"}
    yield "scatter_nd_max", "ScatterND", [real(4, 3), np.array([[0], [2], [0]], I64), real(3, 3)], {"reduction": "max"}
    yield "compress_axis", "Compress", [real(3, 2), np.array([False, True, True])], {"axis": 0}
    yield "compress_flat", "Compress", [real(3, 2), np.array([False, True, False, True])], {}
    yield "non_zero", "NonZero", [np.array([[1, 0, 3], [0, 0, -2]], "float32")], {}
    yield "one_hot_axis", "OneHot", [np.array([1, -1, 3], I64), np.array(4, I64), real(2)], {"axis": 0}
    yield "trilu_lower", "Trilu", [real(2, 3, 4), np.array(-1, I64)], {"upper": 0}
    yield "eye_like", "EyeLike", [np.zeros((3, 4), "int32")], {"k": 1}
    yield "unsqueeze_two", "Unsqueeze", [x, ints(0, -1)], {}
    yield "slice_backwards", "Slice", [x, ints(3, 2**62), ints(-(2**62), -(2**62)), ints(2, 1), ints(-2, -1)], {}
    yield "expand_both", "Expand", [real(3, 1), ints(2, 1, 4)], {}
    yield "split_uneven", "Split", [real(5, 2)], {"axis": 0, "num_outputs": 3}, 21, 3
    yield "pad_wrap", "Pad", [real(2, 3), ints(0, 2, 1, 4)], {"mode": "wrap"}
    yield "pad_axes", "Pad", [real(2, 5), ints(1, 2), np.float32(9), ints(-1)], {}
    yield "depth_to_space_crd", "DepthToSpace", [real(1, 8, 2, 3)], {"blocksize": 2, "mode": "CRD"}
    yield "reshape_zero", "Reshape", [np.zeros((0, 3), "float32"), ints(3, 0)], {"allowzero": 1}
    yield "center_crop_pad", "CenterCropPad", [real(3, 6), ints(6, 3)], {}
    yield "matmul_stretched", "MatMul", [real(2, 1, 3, 4), real(3, 4, 2)], {}
    yield "matmul_vector", "MatMul", [real(4), real(2, 4, 3)], {}
    yield "gemm_stretched", "Gemm", [real(3, 2), real(4, 2), real(4)], {"transB": 1, "alpha": 0.5, "beta": 2.0}
    yield "einsum_batch", "Einsum", [real(2, 3, 4), real(2, 4, 5)], {"equation": "bij, bjk -> bki"}
    yield "einsum_diagonal", "Einsum", [real(2, 3, 3)], {"equation": "...ii ->...i"}
    yield "conv_same", "Conv", [real(1, 2, 5, 6), real(4, 2, 3, 2)], {"auto_pad": "SAME_LOWER", "strides": [2, 2]}
    yield "conv_transpose_shape", "ConvTranspose", [real(1, 1, 3, 3), real(1, 2, 3, 3)], {"strides": [3, 2], "output_shape": [10, 8]}
    yield "average_pool_ceil", "AveragePool", [real(1, 1, 5, 5)], {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1, "pads": [1, 1, 1, 1], "count_include_pad": 1}
    yield "max_pool_places", "MaxPool", [real(1, 2, 5, 5)], {"kernel_shape": [2, 2], "strides": [2, 2], "dilations": [2, 2]}, 21, 2
    yield "lp_pool", "LpPool", [real(1, 1, 4, 4)], {"kernel_shape": [2, 2], "p": 3}
    yield "layer_norm_axes", "LayerNormalization", [x, real(3, 4), real(3, 4)], {"axis": 1}, 21, 3
    yield "rms_norm", "RMSNormalization", [x, real(4)], {}, 23
    yield "group_norm_channels", "GroupNormalization", [real(2, 4, 3), real(4), real(4)], {"num_groups": 2}
    yield "batch_norm_training", "BatchNormalization", [real(2, 3, 4), real(3), real(3), real(3), real(3, low=0.5)], {"training_mode": 1}, 21, 3
    yield "lp_norm", "LpNormalization", [x], {"p": 2, "axis": 1}
    yield "mean_variance_norm", "MeanVarianceNormalization", [real(2, 3, 4, 2)], {}
    yield "lrn_even", "LRN", [real(1, 5, 2, 2)], {"size": 4}
    for mode in ("half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel", "half_pixel_symmetric"):
        scales = np.array([1, 1, 0.6, 2.3], "float32")
        yield f"resize_linear_{mode}", "Resize", [real(1, 1, 4, 5), None, scales], {"mode": "linear", "coordinate_transformation_mode": mode}
    for mode in ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"):
        yield f"resize_{mode}", "Resize", [real(1, 1, 4, 4), None, None, ints(1, 1, 7, 8)], {"mode": "nearest", "nearest_mode": mode}
    yield "resize_cubic_antialias", "Resize", [real(1, 1, 4, 4), None, np.array([1, 1, 0.6, 0.6], "float32")], {"mode": "cubic", "antialias": 1}
    yield "resize_cubic_excluding", "Resize", [real(1, 1, 4, 4), None, np.array([1, 1, 2, 2], "float32")], {"mode": "cubic", "exclude_outside": 1}
    for mode in ("linear", "nearest", "cubic"):
        for edge in ("zeros", "border", "reflection"):
            yield f"grid_sample_{mode}_{edge}", "GridSample", [real(1, 2, 3, 4), real(1, 3, 2, 2, low=-1.4, high=1.4)], {"mode": mode, "padding_mode": edge}
    yield "affine_grid", "AffineGrid", [real(2, 2, 3), ints(2, 1, 3, 4)], {"align_corners": 0}, 20
    boxes = np.array([[[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, 10, 1, 11], [0, 10.1, 1, 11.1]]], "float32")
    yield "non_max_suppression", "NonMaxSuppression", [boxes, real(1, 2, 4, low=0), ints(3), np.array([0.5], "float32"), np.array([0.1], "float32")], {}
    yield "roi_align", "RoiAlign", [real(2, 2, 5, 6), np.array([[0, 0, 4, 3], [1.5, 1, 5, 4.5]], "float32"), ints(0, 1)], {"output_height": 2, "output_width": 3, "sampling_ratio": 2}
    yield "col2im", "Col2Im", [real(1, 8, 6), ints(3, 4), ints(2, 2)], {}
    yield "dft", "DFT", [real(1, 6, 2), None, np.array(1, I64)], {}, 20
    yield "dft_onesided", "DFT", [real(1, 8, 1), None, np.array(1, I64)], {"onesided": 1}, 20
    yield "stft", "STFT", [real(1, 16, 1), np.array(4, I64), real(8, low=0), np.array(8, I64)], {}
    hidden, features, steps, batch = 3, 2, 4, 2
    weights = lambda gates, directions=1: [real(directions, gates * hidden, features), real(directions, gates * hidden, hidden)]
    data = real(steps, batch, features)
    yield "rnn", "RNN", [data, *weights(1), real(1, 2 * hidden)], {"hidden_size": hidden}, 21, 2
    yield "gru_reset", "GRU", [data, *weights(3), real(1, 6 * hidden)], {"hidden_size": hidden, "linear_before_reset": 1}, 21, 2
    yield "lstm_peepholes", "LSTM", [data, *weights(4), real(1, 8 * hidden), None, real(1, batch, hidden), real(1, batch, hidden), real(1, 3 * hidden)], {"hidden_size": hidden}, 21, 2
    yield "attention_causal", "Attention", [real(1, 2, 3, 4), real(1, 2, 5, 4), real(1, 2, 5, 3)], {"is_causal": 1}, 23
    yield "attention_grouped", "Attention", [real(1, 3, 8), real(1, 4, 4), real(1, 4, 4), real(3, 4)], {"q_num_heads": 4, "kv_num_heads": 2, "scale": 0.7}, 23
    yield "rotary_embedding", "RotaryEmbedding", [real(1, 2, 3, 4), real(5, 2), real(5, 2), np.array([[0, 4, 2]], I64)], {"interleaved": 1}, 23
    zero = np.uint8(120)
    yield "quantize_axis", "QuantizeLinear", [real(2, 3), real(3, low=0.01, high=0.02), np.array([3, 120, 255], "uint8")], {"axis": 1}
    yield "dequantize_blocked", "DequantizeLinear", [np.arange(-6, 6, dtype="int8").reshape(2, 6), real(2, 3, low=0.1)], {"axis": 1, "block_size": 2}
    yield "dynamic_quantize", "DynamicQuantizeLinear", [real(7)], {}, 21, 3
    codes = lambda *shape: RANDOM.randint(0, 255, shape).astype("uint8")
    yield "matmul_integer", "MatMulInteger", [codes(2, 3), codes(3, 4), zero, np.uint8(7)], {}
    yield "conv_integer", "ConvInteger", [codes(1, 1, 4, 4), codes(1, 1, 2, 2), zero], {}
    scale = np.float32(0.02)
    yield "qlinear_matmul", "QLinearMatMul", [codes(2, 3), scale, zero, codes(3, 2), scale, np.uint8(100), np.float32(0.3), np.uint8(9)], {}
    yield "qlinear_conv", "QLinearConv", [codes(1, 2, 4, 4), scale, zero, codes(2, 2, 2, 2), scale, np.uint8(100), np.float32(0.3), np.uint8(9)], {}
    twice = np.array([[2, 1, 1], [0, 5, 5], [2, 1, 1], [0, 4, 5]], "float32")
    yield "unique", "Unique", [np.array([2, 1, 1, 3, 4, 3], "float32")], {}, 21, 4
    yield "unique_as_met", "Unique", [np.array([2, 1, 1, 3, 4, 3], "int64")], {"sorted": 0}, 21, 4
    yield "unique_rows", "Unique", [twice], {"axis": 0}, 21, 4
    yield "unique_columns", "Unique", [twice], {"axis": -1}, 21, 1
    for window in ("HannWindow", "HammingWindow", "BlackmanWindow"):
        yield f"{window.lower()}", window, [np.array(7, "int64")], {}, 21
    yield "hannwindow_whole", "HannWindow", [np.array(8, "int32")], {"periodic": 0, "output_datatype": TensorProto.DOUBLE}, 21
    yield "mel_weights", "MelWeightMatrix", [np.array(n, I64) for n in (8, 64, 8192)] + [np.float32(0), np.float32(4096)], {}, 21
    yield "determinant", "Det", [real(2, 3, 3)], {}
    int4, uint4, int2, float4 = (np.dtype(getattr(ml_dtypes, n)) for n in ("int4", "uint4", "int2", "float4_e2m1fn"))
    of = lambda values, kind, *shape: np.array(values).astype(kind).reshape(shape or (-1,))
    yield "cast_float_to_int4", "Cast", [np.array([-8, -7.9, -1, 0, 1.9, 7], "float32")], {"to": TensorProto.INT4}, 21
    yield "cast_int32_to_uint4", "Cast", [np.array([0, 15, 16, -1, 200], "int32")], {"to": TensorProto.UINT4}, 21
    yield "cast_int4_to_bfloat16", "Cast", [of(range(-8, 8), int4)], {"to": TensorProto.BFLOAT16}, 21
    yield "cast_like_float4", "CastLike", [np.array([0.25, 0.75, 5, 7, -0.3, -100, np.inf], "float32"), of([1], float4)], {}, 23
    yield "cast_like_larger", "CastLike", [np.array(2.75, "float32"), np.zeros((2, 3, 1), "float16")], {}
    yield "cast_float4_to_float16", "Cast", [of([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.5, -6], float4)], {"to": TensorProto.FLOAT16}, 23
    yield "quantize_int4_axis", "QuantizeLinear", [real(2, 3, low=-9, high=9), real(3, low=0.9, high=1.1), of([1, -2, 0], int4)], {"axis": 1}
    yield "quantize_uint4_blocked", "QuantizeLinear", [real(2, 5, low=-9, high=9), real(2, 3, low=0.5), of([3, 8, 0, 15, 7, 1], uint4, 2, 3)], {"axis": 1, "block_size": 2}
    yield "quantize_as_int2", "QuantizeLinear", [real(5, low=-3, high=3), np.float32(0.9)], {"output_dtype": TensorProto.INT2}, 25
    yield "quantize_as_float4", "QuantizeLinear", [real(2, 4, low=-9, high=9), np.array([0.5, 2], "float32")], {"axis": 0, "output_dtype": TensorProto.FLOAT4E2M1}, 23
    yield "dequantize_int4_blocked", "DequantizeLinear", [of(range(-8, 7), int4, 5, 3), real(3, 3, low=0.1), of(range(-4, 5), int4, 3, 3)], {"axis": 0, "block_size": 2}
    yield "dequantize_uint4_axis", "DequantizeLinear", [of(range(15), uint4, 5, 3), real(3, low=0.1).astype("float16"), of([8, 0, 15], uint4)], {"axis": -1}
    yield "dequantize_float4", "DequantizeLinear", [of([0.5, -6, 3, 1.5], float4), np.float32(0.7)], {}, 23
    yield "transpose_int4", "Transpose", [of(range(-8, 7), int4, 5, 3)], {}
    yield "reshape_uint4", "Reshape", [of(range(15), uint4, 5, 3), ints(3, -1)], {}
    yield "pad_int4", "Pad", [of([1, -2, 3], int4), ints(1, 2), of(-8, int4, 1).reshape(())], {}
    yield "constant_of_shape_int2", "ConstantOfShape", [ints(2, 3)], {"value": helper.make_tensor("v", TensorProto.INT2, [1], [-2])}, 25
    grams = {"ngram_counts": [0, 4], "ngram_indexes": [0, 1, 2, 3, 4, 5, 6], "pool_int64s": [2, 3, 5, 4, 5, 6, 7, 8, 6, 7]}
    numbers = np.array([[1, 1, 3, 3, 3, 7], [8, 6, 7, 5, 6, 8]], "int32")
    yield "grams", "TfIdfVectorizer", [numbers], {**grams, "min_gram_length": 2, "max_gram_length": 2, "max_skip_count": 0, "mode": "TF"}, 9
    weighted = {**grams, "min_gram_length": 1, "max_gram_length": 2, "weights": [0.5, 1.5, 2.0, 0.25, 3.0, 1.25, 0.75]}
    yield "grams_gaps", "TfIdfVectorizer", [numbers[1].astype("int64")], {**weighted, "max_skip_count": 3, "mode": "IDF"}, 9
    yield "grams_weighted", "TfIdfVectorizer", [numbers], {**weighted, "max_skip_count": 1, "mode": "TFIDF"}, 9


def list_models():
    """Values that are no tensors: (name, text in ONNX's own language, inputs)."""
    head = '<ir_version: 9, opset_import: ["" : 18]>'
    x, y, w = (np.arange(6, dtype="float32").reshape(2, 3) / 4, np.full((4, 3), 0.5, "float32"), np.array([1, -2, 3], "float32"))
    # Two lists, a tensor that all have in common and a value of the graph around; two outputs; tensors of different shapes.
    yield "sequence_map", head + """
    agraph (float[2,3] x, float[4,3] y, float[3] w) => (float[6,3] sums, int64[4] extents) {
      first = SequenceConstruct(x, y)
      second = SequenceConstruct(y, x)
      made, shapes = SequenceMap(first, second, w) <body = each (float[a,3] p, float[b,3] q, float[3] s) => (float[a,3] t, int64[2] u) {
        l = ReduceSum<keepdims = 0>(q)
        m = Mul(p, s)
        n = Add(m, w)
        t = Add(n, l)
        u = Shape(q)
      }>
      sums = ConcatFromSequence<axis = 0>(made)
      extents = ConcatFromSequence<axis = 0>(shapes)
    }""", {"x": x, "y": y, "w": w}
    # A list that holds nothing gives one, and a body within a body.
    yield "sequence_map_nothing", head + """
    agraph (float[2,3] x, bool flag) => (int64 none, float[2,3] rows) {
      empty = SequenceEmpty()
      mapped = SequenceMap(empty) <body = each (float[a] p) => (float[a] q) { q = Neg(p) }>
      none = SequenceLength(mapped)
      parts = SplitToSequence<axis = 0, keepdims = 0>(x)
      turned = SequenceMap(parts) <body = row (float[3] p) => (float[3] q) {
        q = If (flag) < then_branch = yes () => (float[3] t) { t = Neg(p) }, else_branch = no () => (float[3] e) { e = Identity(p) } >
      }>
      rows = ConcatFromSequence<axis = 0, new_axis = 1>(turned)
    }""", {"x": x, "flag": np.array(True)}
    yield "optional_values", head + """
    agraph (float[2,3] x, bool flag) => (bool there, bool gone, bool plain, float[2,3] z, float[3] row) {
      some = Optional(x)
      none = Optional<type = float[2,3]>()
      there = OptionalHasElement(some)
      gone = OptionalHasElement(none)
      plain = OptionalHasElement(x)
      y = OptionalGetElement(some)
      z = Neg(y)
      parts = SplitToSequence<axis = 0, keepdims = 0>(x)
      listed = Optional(parts)
      same = OptionalGetElement(listed)
      one = Constant<value = int64 {1}>()
      row = SequenceAt(same, one)
    }""", {"x": x, "flag": np.array(True)}


def padded_models():
    """Padding that ONNX's evaluator takes from the text, and its inference of shapes, as ONNX Runtime, does not."""
    yield "conv_transpose_same_short", """<ir_version: 8, opset_import: ["" : 17]>
    agraph (float[1,2,4,3] x, float[2,1,1,3] w) => (float[1,1,n,m] y) {
      y = ConvTranspose<auto_pad = "SAME_UPPER", kernel_shape = [1, 3], strides = [2, 3]>(x, w)
    }""", {"x": np.arange(24, dtype="float32").reshape(1, 2, 4, 3) / 8, "w": np.arange(6, dtype="float32").reshape(2, 1, 1, 3) / 4}


def old_models():
    """Operators that newer opsets have otherwise, by ONNX Runtime."""
    yield "group_norm_groups", """<ir_version: 8, opset_import: ["" : 18]>
    agraph (float[2,6,3,5] x, float[2] scale, float[2] bias) => (float[2,6,3,5] y) {
      n = Neg(x)
      y = GroupNormalization<num_groups = 2, epsilon = 0.001>(n, scale, bias)
    }""", {"x": real(2, 6, 3, 5), "scale": real(2), "bias": real(2)}
    yield "scan_batches", """<ir_version: 3, opset_import: ["" : 8]>
    agraph (float[3,2] first, float[3,4,2] a, float[3,4,2] b, float[2] k) => (float[3,2] last, float[3,4,2] all) {
      last, all = Scan("", first, a, b) <num_scan_inputs = 2, directions = [0, 1], body = step (float[2] s, float[2] p, float[2] q) => (float[2] t, float[2] r) {
        t = Add(s, p)
        m = Mul(t, k)
        r = Sub(m, q)
      }>
    }""", {"first": real(3, 2), "a": real(3, 4, 2), "b": real(3, 4, 2), "k": real(2)}


def later_cases():
    """As cases(), by the evaluator, with numbers of their own."""
    random = np.random.RandomState(28)
    rows = random.randint(0, 2, (3, 5, 2)).astype("float32")
    yield "unique_last_axis", "Unique", [rows], {"axis": 2}, 21, 4
    yield "unique_middle_axis", "Unique", [rows.astype(I64)], {"axis": -2}, 21, 4
    yield "argmin_last_nan", "ArgMin", [np.array([[1, np.nan, -2, np.nan, 3], [-2, 1, -2, 5, 4]], "float32")], {"axis": 1, "select_last_index": 1}, 21
    yield "hardmax_nan", "Hardmax", [np.array([[0.5, np.nan, 2, np.nan], [np.nan, 1, 3, 3], [1, 3, 3, 2]], "float32")], {}, 21
    scores, weight = random.uniform(-2, 2, (3, 4, 2)).astype("float32"), random.uniform(0.2, 2, 4).astype("float32")
    labels = np.array([[0, 3], [1, 1], [2, 0]], I64)
    for op, name in (("NegativeLogLikelihoodLoss", "nll"), ("SoftmaxCrossEntropyLoss", "sce")):
        yield f"{name}_mean", op, [scores, labels], {}, 21
        yield f"{name}_weights", op, [scores, labels, weight], {"ignore_index": 0}, 21, 1 if name == "nll" else 2
        yield f"{name}_each", op, [scores, labels.astype("int32"), weight], {"reduction": "none", "ignore_index": 1}, 21
        yield f"{name}_sum", op, [scores[:, :, 0].astype("float64"), labels[:, 0]], {"reduction": "sum"}, 21


def later_models():
    """By ONNX Runtime, which the text of ONNX bears out and the evaluator does not."""
    random = np.random.RandomState(29)
    # Backwards, a begin before the first element is the first; NumPy takes nothing then.
    yield "slice_from_before", """<ir_version: 8, opset_import: ["" : 18]>
    agraph (float[2,3] x, int64[1] begin, int64[1] end, int64[1] here, int64[1] axis, int64[1] step) => (float[2,1] y, float[2,0] z) {
      y = Slice(x, begin, end, axis, step)
      z = Slice(x, begin, here, axis, step)
    }""", {"x": random.uniform(-1, 1, (2, 3)).astype("float32"), "begin": ints(-100), "end": ints(-200), "here": ints(0), "axis": ints(1), "step": ints(-2)}
    # Where the output has an extent of 1, place 0; the evaluator takes -1/2, or the place that the extent before its rounding gives.
    yield "resize_pytorch_one", """<ir_version: 8, opset_import: ["" : 18]>
    agraph (float[1,1,3,4] x, int64[4] sizes, float[4] scales) => (float[1,1,1,6] y, float[1,1,1,8] z) {
      y = Resize<coordinate_transformation_mode = "pytorch_half_pixel", mode = "cubic">(x, , , sizes)
      z = Resize<coordinate_transformation_mode = "pytorch_half_pixel", mode = "linear">(x, , scales)
    }""", {"x": random.uniform(-1, 1, (1, 1, 3, 4)).astype("float32"), "sizes": ints(1, 1, 1, 6), "scales": np.array([1, 1, 0.5, 2], "float32")}
    yield "quantize_nothing", """<ir_version: 10, opset_import: ["" : 21]>
    agraph (float[2,0] x, float[0] scale, uint8[0] zero) => (uint8[2,0] q, float[2,0] y) {
      q = QuantizeLinear<axis = -1>(x, scale, zero)
      y = DequantizeLinear<axis = -1>(q, scale, zero)
    }""", {"x": np.zeros((2, 0), "float32"), "scale": np.ones(0, "float32"), "zero": np.zeros(0, "uint8")}
    yield "unique_of_nothing", """<ir_version: 8, opset_import: ["" : 18]>
    agraph (float[0,3] x) => (float[n] y, int64[n] a, int64[m] b, int64[n] c, float[k,3] z) {
      y, a, b, c = Unique(x)
      z = Unique<axis = 0, sorted = 0>(x)
    }""", {"x": np.zeros((0, 3), "float32")}


def defined_models():
    """What neither computes; the values are the definition's: the norm of nothing is 0, its mean no number."""
    nothing = np.zeros((2, 3, 0, 2), "float32")
    yield "pool_nothing", """<ir_version: 8, opset_import: ["" : 18]>
    agraph (float[2,3,0,2] x) => (float[2,3,1,1] y, float[2,3,1,1] z) {
      y = GlobalLpPool<p = 1>(x)
      z = GlobalAveragePool(x)
    }""", {"x": nothing}, {"y": np.zeros((2, 3, 1, 1), "float32"), "z": np.full((2, 3, 1, 1), np.nan, "float32")}


def value_info(name, array):
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)


SUFFIXES = {"bfloat16": "bf16", "float4_e2m1fn": "float4e2m1", "int4": "int4", "uint4": "uint4", "int2": "int2", "uint2": "uint2"}


def kept(key, array):
    """What NumPy has no type for, under a key that says its type (app/README.md, "Data")."""
    suffix = SUFFIXES.get(array.dtype.name)
    return (f"{key}:{suffix}", array.view(np.uint16 if suffix == "bf16" else np.uint8)) if suffix else (key, array)


def write(out, name, op, inputs, attributes, opset=21, outputs=1):
    arrays = {f"x{i}": np.asarray(a) for i, a in enumerate(inputs) if a is not None}
    names = ["" if a is None else f"x{i}" for i, a in enumerate(inputs)]
    results = [f"y{i}" for i in range(outputs)]
    node = helper.make_node(op, names, results, **attributes)
    graph = helper.make_graph([node], name, [value_info(k, a) for k, a in arrays.items()],
                              [helper.make_tensor_value_info(r, TensorProto.UNDEFINED, None) for r in results])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    values = ReferenceEvaluator(model).run(None, arrays)
    del model.graph.output[:]
    model.graph.output.extend(value_info(r, np.asarray(v)) for r, v in zip(results, values))
    onnx.save(model, out / f"{name}.onnx")
    np.savez(out / f"{name}.npz", **dict(kept(f"in.{k}", a) for k, a in arrays.items()), **dict(kept(f"out.{r}", np.asarray(v)) for r, v in zip(results, values)))


def write_text(out, name, text, inputs, outputs=None):
    """By ONNX Runtime where no outputs are given: the evaluator takes one list alone."""
    model = onnx.parser.parse_model(text)
    inputs = {i.name: inputs[i.name] for i in model.graph.input}
    values = list(outputs.values()) if outputs else onnxruntime.InferenceSession(model.SerializeToString()).run(None, inputs)
    onnx.save(model, out / f"{name}.onnx")
    np.savez(out / f"{name}.npz", **{f"in.{k}": a for k, a in inputs.items()}, **{f"out.{o.name}": np.asarray(v) for o, v in zip(model.graph.output, values)})


def main():
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    for case in [*cases(), *later_cases()]:
        try:
            write(out, *case)
        except Exception as e:
            sys.exit(f"{case[0]}: {e}")
    for case in [*list_models(), *padded_models(), *old_models(), *later_models(), *defined_models()]:
        write_text(out, *case)


if __name__ == "__main__":
    main()

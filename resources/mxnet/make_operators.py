#!/usr/bin/env python3
"""Writes operators.json from facts probed from MXNet 1.9.1: make_operators.py RAW.json > operators.json

RAW holds, per operator: aliases, attributes, one probed instance (inputs, aux states, outputs) and the suffixes of cast names.
What depends on attributes cannot be seen in one instance and stands in the tables below. The forms of the texts are described in
core/dialect/mxnet/op_slots.h and core/ops/type_rule.h.
"""

import json
import sys

NUMBERS = {"int": "int", "int (non-negative)": "int", "long": "int", "long (non-negative)": "int", "float": "real",
           "double": "real", "real_t": "real", "boolean": "bool", "Shape(tuple)": "tuple", "tuple of <long>": "tuple",
           "Shape": "tuple", "tuple of <float>": "reals", "tuple of <double>": "reals", "string": "text", "ptr": "text"}

# Tuples whose elements may be None.
SPARSE_TUPLES = {(op, key) for op in ("slice", "_slice_assign", "_slice_assign_scalar") for key in ("begin", "end", "step")}

# Inputs that come and go with attributes. "name?condition" exists under the condition; "*attribute:a#,b#" repeats with a counter.
INPUTS = {
    "data, weight, bias?no_bias=False": "Convolution Convolution_v1 Deconvolution FullyConnected",
    "data, offset, weight, bias?no_bias=False": "_contrib_DeformableConvolution",
    "data, offset, mask, weight, bias?no_bias=False": "_contrib_ModulatedDeformableConvolution",
    "data, rois, trans?no_trans=False": "_contrib_DeformablePSROIPooling",
    "data, gamma?act_type=prelu": "LeakyReLU",
    "data, length?use_length=True": "softmax",
    "data, sequence_length?use_sequence_length=True": "SequenceLast SequenceMask SequenceReverse",
    "data, parameters, state, state_cell?mode=lstm, sequence_length?use_sequence_length=True": "RNN",
    "data, label, data_lengths?use_data_lengths=True, label_lengths?use_label_lengths=True": "CTCLoss",
    "data?sample_type=bilinear, weight?sample_type=bilinear, *num_args:arg#?sample_type=nearest": "UpSampling",
    "data, like?mode=like": "_contrib_BilinearResize2D",
    "data, bins?bin_cnt=None": "_histogram",
    "*num_args:arg#": "Concat Crop _rnn_param_concat add_n khatri_rao stack _contrib_dgl_csr_neighbor_uniform_sample "
                      "_contrib_dgl_csr_neighbor_non_uniform_sample",
    "*num_args-1:data#": "_foreach",
    "*num_args-2:data#": "_while_loop",
    "*num_args-3:data#": "_cond",
    "*num_outputs:data_#": "amp_multicast",
    "*num_arrays:array_#": "multi_all_finite",
    "*num_weights:weight_#,grad_#": "multi_sgd_update",
    "*num_weights:weight_#,grad_#,mom_#": "multi_sgd_mom_update",
    "*num_weights:weight_#,grad_#,weight32_#": "multi_mp_sgd_update",
    "*num_weights:weight_#,grad_#,mom_#,weight32_#": "multi_mp_sgd_mom_update",
    "*num_args:arg#, *num_args:arg#_min,arg#_max": "_contrib_quantized_concat",
    "data, weight, bias?no_bias=False, min_data, max_data, min_weight, max_weight, min_bias?no_bias=False, "
    "max_bias?no_bias=False": "_contrib_quantized_conv _contrib_quantized_fully_connected",
    "graph, *num_args-1:varray#": "_contrib_dgl_subgraph",
    "*num_args/2:graph#, *num_args/2:varray#": "_contrib_dgl_graph_compact",
    "...": "Custom _CachedOp _CustomFunction _NDArray _Native _broadcast_backward _imdecode _split_v2_backward "
           "_sg_mkldnn_conv _sg_mkldnn_fully_connected _sg_onednn_conv _sg_onednn_fully_connected _sg_onednn_selfatt_qk "
           "_sg_onednn_selfatt_qk_split _sg_onednn_selfatt_valatt",
    "queries_keys_values, min_qkv?quantized=True, max_qkv?quantized=True": "_sg_mkldnn_selfatt_qk",
    "queries_keys_values, attention, min_qkv?quantized=True, max_qkv?quantized=True, min_attention?quantized=True, "
    "max_attention?quantized=True": "_sg_mkldnn_selfatt_valatt",
}

MUTABLE = {
    "_contrib_quantized_batch_norm": ["moving_mean", "moving_var"], "adam_update": ["mean", "var"], "sgd_mom_update": ["mom"],
    "_adamw_update": ["mean", "var"], "_mp_adamw_update": ["mean", "var", "weight32"], "ftml_update": ["d", "v", "z"],
    "ftrl_update": ["z", "n"], "mp_sgd_update": ["weight32"], "mp_sgd_mom_update": ["mom", "weight32"], "rmsprop_update": ["n"],
    "rmspropalex_update": ["n", "g", "delta"], "signum_update": ["mom"], "_sparse_adagrad_update": ["history"],
    "_contrib_group_adagrad_update": ["history"], "multi_sgd_mom_update": ["mom_#"], "multi_mp_sgd_update": ["weight32_#"],
    "multi_mp_sgd_mom_update": ["mom_#", "weight32_#"],
}

# Outputs. "#" is an output without a declared name; "~" hides it, "~condition" hides it unless the condition holds.
THREE = "output, min_output, max_output"
OUTPUTS = {
    "output, mean~output_mean_var=True, var~output_mean_var=True": "BatchNorm BatchNorm_v1 _contrib_SyncBatchNorm",
    "output, mean~output_mean_var=True, std~output_mean_var=True": "GroupNorm LayerNorm",
    "output, workspace~?pool_type=max&kernel!=()&layout=None|NCW|NCHW|NCDHW": "Pooling",
    "output, mask?act_type=rrelu": "LeakyReLU",
    "output, state_output?state_outputs=True, statecell_output?state_outputs=True&mode=lstm": "RNN",
    "output, score~output_score=True": "_contrib_Proposal _contrib_MultiProposal",
    "output, maxidx~": "ROIPooling",
    "output, top_count~": "_contrib_DeformablePSROIPooling",
    "output": "_contrib_PSROIPooling _contrib_ROIAlign _sg_onednn_selfatt_qk _sg_onednn_selfatt_qk_split _sg_onednn_selfatt_valatt",
    "*num_outputs:output#": "SliceChannel",
    "*sections|indices:#": "_split_v2",
    "*num_outputs:#": "amp_multicast _foreach _while_loop _cond",
    "*num_weights:#": "multi_sgd_update multi_sgd_mom_update multi_mp_sgd_update multi_mp_sgd_mom_update",
    "#, #~ret_typ=both?ret_typ=both|value": "topk",
    "#, #?get_prob=True": "_sample_multinomial",
    "#": "_sparse_retain _contrib_dequantize _contrib_dgl_adjacency pick take _NDArray _Native _split_v2_backward Custom _CachedOp "
         "_CustomFunction",
    "#, #~": "sort",
    "*num_args-1:#, *num_args-1:#?return_mapping=True": "_contrib_dgl_subgraph",
    "*num_args/2:#, *num_args/2:#?return_mapping=True": "_contrib_dgl_graph_compact",
    "*num_args-1:#, *num_args-1:#, *num_args-1:#": "_contrib_dgl_csr_neighbor_uniform_sample",
    "*num_args-2:#, *num_args-2:#, *num_args-2:#, *num_args-2:#": "_contrib_dgl_csr_neighbor_non_uniform_sample",
    THREE: "_contrib_quantized_batch_norm _contrib_quantized_fully_connected _contrib_quantized_pooling",
    "output, min_output?quantized=True&enable_float_output=False, max_output?quantized=True&enable_float_output=False":
        "_sg_mkldnn_conv _sg_mkldnn_fully_connected _sg_mkldnn_selfatt_qk _sg_mkldnn_selfatt_valatt",
    "output, min_output?quantized=True&enabled_float_output=None, max_output?quantized=True&enabled_float_output=None":
        "_sg_onednn_conv _sg_onednn_fully_connected",
}

# Type rules that are not "all inputs and outputs have one type".
TYPES = {
    "T -> <T": "_CrossDeviceCopy im2col col2im",
    "T! -> <T": "MakeLoss Pooling_v1 SwapAxis",
    "T!, L=T -> <T": "SequenceLast SequenceMask SequenceReverse",
    "T!, <T... -> <T": "UpSampling Convolution_v1 _contrib_count_sketch SVMOutput _contrib_DeformableConvolution "
                       "_contrib_ModulatedDeformableConvolution _contrib_fft _contrib_ifft",
    "use_sequence_length=False: T!, <T... -> <T...; mode=lstm: T!, <T, <T, <T, L=T -> <T...; T!, <T, <T, L=T -> <T...": "RNN",
    "T! -> <T, <T": "Dropout GridGenerator LRN",
    "T! -> <T...": "_split_v2",
    "T, T -> <T, <T": "BilinearSampler",
    "T, T -> <T, <T, <T": "SpatialTransformer",
    "T!, ?... -> <T, <T": "CTCLoss",
    "T, <T, <T -> T": "Convolution Deconvolution",
    "T, <T -> T": "SoftmaxOutput",
    "dtype=None: T -> <T; I=D -> D": "log_softmax softmin",
    "dtype=None: T, ? -> <T; I=D, ? -> D": "softmax",
    "out_dtype=None: T -> T; T! -> D": "norm",
    "? -> D": "Cast argsort",
    "T -> cast(T)": "amp_cast",
    "_! -> D": "one_hot",
    "ret_typ=both|value: T -> T, D; ret_typ=indices: ? -> D; T -> T": "topk",
    "_!, E=D -> E": "Embedding _contrib_SparseEmbedding",
    "-> D": "_arange _eye _full _linspace _ones _zeros",
    "dtype=None: -> float32; -> D": "_random_exponential _random_gamma _random_generalized_negative_binomial "
                                    "_random_negative_binomial _random_normal _random_poisson _random_uniform",
    "dtype=None: -> int32; -> D": "_random_randint",
    "-> int64, int64": "_sample_unique_zipfian",
    "-> _": "_NoGradient _cvimread _set_value _zeros_without_dtype",
    "dtype=None: T, T... -> O=float32; T, T... -> O=D": "_sample_exponential _sample_gamma _sample_generalized_negative_binomial "
                                                          "_sample_negative_binomial _sample_normal _sample_poisson _sample_uniform",
    "T~ -> O=D, <T": "_sample_multinomial",
    "dtype=None: T -> scalar(T); ? -> D": "_np_cumsum",
    "?, ? -> uint8": "_contrib_allclose",
    "enable_float_output=True: ?, ?, float32... -> float32; min_calib_range=None: ?, ?, float32... -> int32, float32, float32; "
    "?, ?, float32... -> int8, float32, float32": "_contrib_quantized_elemwise_mul",
    "T... -> T...": "_contrib_round_ste _contrib_sign_ste",
    "? -> float32": "_image_to_tensor",
    "?... -> float32": "all_finite multi_all_finite",
    "? -> int64": "_contrib_getnnz _contrib_index_array shape_array size_array",
    "?... -> _...": "Custom _CachedOp _CustomFunction _NDArray _Native _split_v2_backward "
                    "_foreach _while_loop _cond _contrib_dgl_csr_neighbor_uniform_sample "
                    "_contrib_dgl_csr_neighbor_non_uniform_sample",
    "T, ?... -> T": "gather_nd _contrib_edge_id _contrib_index_copy",
    "T, _ -> T": "scatter_nd _contrib_boolean_mask",
    "T~, _~ -> T": "broadcast_like reshape_like slice_like",
    "T, _! -> T": "_sparse_retain pick take",
    "T, T, _ -> T": "_scatter_set_nd",
    "_, T, T -> T": "where",
    "T, int32 -> T": "batch_take",
    "_ -> _": "_copyto",
    "T, ? -> int64, <T": "_histogram",
    "T!, T! -> <T": "_contrib_PSROIPooling _contrib_ROIAlign _contrib_RROIAlign",
    "T!, T! -> <T, int32": "ROIPooling",
    "T!, T!, _! -> <T, <T": "_contrib_DeformablePSROIPooling",
    "T{float}, wide(T)... -> T, wide(T), wide(T)": "BatchNorm",
    "T{float}, wide(T)... -> T, wide(T)...": "_contrib_BatchNormWithReLU",
    "T!, wide16(T)... -> <T, wide16(T), wide16(T)": "BatchNorm_v1 _contrib_SyncBatchNorm",
    "T -> T, int32": "sort",
    "T -> <T, int32": "Pooling",
    "T{float32|float64}~ -> <T, <T, int32": "_linalg_det",
    "T{float32|float64}~ -> <T, <T, <T, int32": "_linalg_slogdet",
    "float32... -> float32...": "Crop InstanceNorm _contrib_MultiBoxDetection _contrib_MultiBoxPrior _contrib_MultiBoxTarget "
                                "_contrib_MultiProposal _contrib_Proposal",
    "float32, _=float32 -> float32": "IdentityAttachKLSparseReg",
    "fallback": "_broadcast_backward _imdecode _cvimdecode _onehot_encode fill_element_0index _contrib_AdaptiveAvgPooling2D "
                "_contrib_BilinearResize2D",
    "T, <T, <T, <T, <T, int32, <T, <T -> T, <T": "_contrib_hawkesll",
    "cast_narrow=True: multicast narrow; multicast": "amp_multicast",
    "promote": "_npi_add",
    "int64! -> float32": "_contrib_dgl_adjacency",
    "int64!... -> int64...": "_contrib_dgl_graph_compact",
    "T, int64!... -> T...": "_contrib_dgl_subgraph",
    "float32, float32, float32 -> D, float32, float32": "_contrib_quantize",
    "out_type=auto&min_calib_range>=0: _{float32|uint8|int8}! -> uint8, float32, float32; "
    "out_type=auto: _{float32|uint8|int8}! -> int8, float32, float32; _{float32|uint8|int8}! -> D, float32, float32":
        "_contrib_quantize_v2",
    "out_type=auto&min_calib_range>=0: int32, float32, float32 -> uint8, float32, float32; "
    "out_type=auto: int32, float32, float32 -> int8, float32, float32; int32, float32, float32 -> D, float32, float32":
        "_contrib_requantize",
    "_{int8|uint8}!, float32, float32 -> D": "_contrib_dequantize",
    "_, float32, float32 -> int8, float32, float32": "_contrib_quantized_act",
    "T, float32, float32 -> <T, float32, float32": "_contrib_quantized_flatten _contrib_quantized_pooling",
    "_{int8|uint8}!, float32... -> int8, float32, float32": "_contrib_quantized_batch_norm",
    "".join("num_args=%d: %s?... -> signed, float32, float32; " % (n, "_=uint8{int8|uint8}, " * n) for n in range(2, 9))
    + "_=uint8{int8|uint8}, ?... -> signed, float32, float32": "_contrib_quantized_concat",
    "min_calib_range=None: _=uint8{int8|uint8}, _=uint8{int8|uint8}, ?... -> int32, float32, float32; "
    "_=uint8{int8|uint8}, _=uint8{int8|uint8}, ?... -> signed, float32, float32": "_contrib_quantized_elemwise_add",
    "no_bias=True: ?, int8, float32... -> int32, float32, float32; ?, int8, int8, float32... -> int32, float32, float32":
        "_contrib_quantized_conv",
    "no_bias=True: _{int8|uint8}!, int8, float32... -> int32, float32, float32; "
    "_{int8|uint8}!, int8, int8, float32... -> int32, float32, float32": "_contrib_quantized_fully_connected",
    "_, int8, float32, float32 -> int8, float32, float32": "_contrib_quantized_embedding",
    "(T, T, float32)... -> ?...": "multi_mp_sgd_update",
    "(T, T, float32, float32)... -> ?...": "multi_mp_sgd_mom_update",
    "T, T, float32... -> T": "mp_sgd_update mp_sgd_mom_update",
    "T, T, T, T, float32 -> T": "_adamw_update",
    "T, T, float32, float32, float32, float32 -> T": "_mp_adamw_update",
    "quantized=False: T, ?... -> T; enable_float_output=True: ?... -> float32; ?... -> _, float32, float32":
        "_sg_mkldnn_conv _sg_mkldnn_fully_connected _sg_mkldnn_selfatt_qk _sg_mkldnn_selfatt_valatt",
    "enabled_float_output=float32: ?... -> float32; quantized=False: T, ?... -> T; ?... -> _, float32, float32":
        "_sg_onednn_conv _sg_onednn_fully_connected",
    "enabled_float_output=float32: ?... -> float32; quantized=False: T, ?... -> T; ?... -> _":
        "_sg_onednn_selfatt_qk _sg_onednn_selfatt_qk_split _sg_onednn_selfatt_valatt",
}

FUSED = {"quantized": "bool = False", "with_bn": "bool = False", "with_act": "bool = False", "with_sum": "bool = False",
         "with_postsum_act": "bool = False", "with_eltwise": "bool = False", "with_relu": "bool = False",
         "min_calib_range": "real? = None", "max_calib_range": "real? = None"}
FUSED_1 = dict(FUSED, enable_float_output="bool = False")
FUSED_2 = dict(FUSED, enabled_float_output="text? = None")

# Operators that the raw facts lack, or whose attributes they lack. "open": attributes beyond the table are the operator's own business.
EXTRA = {
    "_sg_mkldnn_conv": {"attributes": FUSED_1, "open": True},
    "_sg_mkldnn_fully_connected": {"attributes": FUSED_1, "open": True},
    "_sg_onednn_conv": {"attributes": FUSED_2, "open": True},
    "_sg_onednn_fully_connected": {"attributes": FUSED_2, "open": True},
    "_sg_onednn_selfatt_qk": {"attributes": FUSED_2, "open": True},
    "_sg_onednn_selfatt_qk_split": {"attributes": FUSED_2, "open": True},
    "_sg_onednn_selfatt_valatt": {"attributes": FUSED_2, "open": True},
    "add_n": {"attributes": {"num_args": "int"}}, "khatri_rao": {"attributes": {"num_args": "int"}},
    "_linspace": {"attributes": {"num": "int", "endpoint": "bool = 1"}}, "Custom": {"open": True}, "_CachedOp": {"open": True}, "_CustomFunction": {"open": True}, "_NDArray": {"open": True},
    "_Native": {"open": True}, "_split_v2_backward": {"open": True}, "_broadcast_backward": {"open": True},
    "_sg_mkldnn_selfatt_qk": {"attributes": dict(FUSED_1, heads="int"), "open": True},
    "_sg_mkldnn_selfatt_valatt": {"attributes": dict(FUSED_1, heads="int"), "open": True},
    "_contrib_BatchNormWithReLU": {
        "attributes": {"eps": "real = 0.0010000000474974513", "momentum": "real = 0.899999976", "fix_gamma": "bool = 1",
                       "use_global_stats": "bool = 0", "output_mean_var": "bool = 0", "axis": "int = 1", "cudnn_off": "bool = 0",
                       "min_calib_range": "real? = None", "max_calib_range": "real? = None"},
        "inputs": "data, gamma, beta, moving_mean, moving_var", "mutable": ["moving_mean", "moving_var"],
        "outputs": "output, mean~output_mean_var=True, var~output_mean_var=True, workspace~"},
    "_contrib_RROIAlign": {
        "attributes": {"pooled_size": "tuple", "spatial_scale": "real", "sampling_ratio": "int = -1"},
        "inputs": "data, rois", "outputs": "output"},
    "_contrib_allclose": {
        "attributes": {"rtol": "real = 9.99999975e-06", "atol": "real = 9.99999994e-09", "equal_nan": "bool = 1"},
        "inputs": "a, b", "outputs": "#"},
    "_contrib_round_ste": {"aliases": ["_sparse__contrib_round_ste"], "inputs": "data", "outputs": "#"},
    "_contrib_sign_ste": {"aliases": ["_sparse__contrib_sign_ste"], "inputs": "data", "outputs": "#"},
    "_np_cumsum": {
        "aliases": ["cumsum"],
        "attributes": {"axis": "int? = None", "dtype": "enum None|float16|float32|float64|int32|int64|int8 = None"},
        "inputs": "a", "outputs": "#"},
    "im2col": {
        "attributes": {"kernel": "tuple", "stride": "tuple = []", "dilate": "tuple = []", "pad": "tuple = []"},
        "inputs": "data", "outputs": "output"},
    "col2im": {
        "attributes": {"output_size": "tuple", "kernel": "tuple", "stride": "tuple = []", "dilate": "tuple = []", "pad": "tuple = []"},
        "inputs": "data", "outputs": "output"},
    "_contrib_quantized_elemwise_mul": {
        "attributes": {"min_calib_range": "real? = None", "max_calib_range": "real? = None", "enable_float_output": "bool = 0"},
        "inputs": "lhs, rhs, lhs_min, lhs_max, rhs_min, rhs_max",
        "outputs": "output, min_output?enable_float_output=False, max_output?enable_float_output=False"},
    "_contrib_quantized_embedding": {
        "attributes": {"input_dim": "int", "output_dim": "int", "sparse_grad": "bool = 0",
                       "dtype": "enum bfloat16|float16|float32|float64|int32|int64|int8|uint8 = float32"},
        "inputs": "data, weight, min_weight, max_weight", "outputs": THREE},
}


def by_operator(table):
    return {op: text for text, ops in table.items() for op in ops.split()}


def attribute(op, key, facts):
    kind, nullable = facts["type"], ""
    if kind == "enum":
        text = "enum " + "|".join(facts["values"])
    else:
        if kind.endswith(" or None"):
            kind, nullable = kind[:-len(" or None")], "?"
        text = "sparse" if (op, key) in SPARSE_TUPLES else NUMBERS.get(kind, "text") + nullable
    return text if facts["required"] else text + " = " + (facts["default"] if facts["default"] is not None else "")


def scalar_types(op, facts):
    """Arithmetic with a scalar that may be an integer."""
    return "is_int=True: T -> scalar(T); T -> real(T)" if op.endswith("_scalar") and "is_int" in facts["attrs"] else None


def outputs(facts):
    """From the probed instance: names come from the suffixes, what is not visible is hidden."""
    instance = facts.get("instance")
    if not instance:
        return "#"
    suffixes = facts.get("cast_name_suffixes") or ["_%d" % i for i in range(instance["num_outputs"])]
    names = ["#" if suffix == "_%d" % i else suffix[1:] for i, suffix in enumerate(suffixes)]
    visible = len(instance["visible_outputs"])
    return ", ".join(name if i < visible else name + "~" for i, name in enumerate(names))


def operator(op, facts):
    out = {}
    if facts["aliases"]:
        out["aliases"] = facts["aliases"]
    out["attributes"] = {key: attribute(op, key, value) for key, value in sorted(facts["attrs"].items())}
    instance = facts.get("instance") or {}
    declared = [name for name, kind in facts["declared_inputs"] if kind != "Symbol"]
    out["inputs"] = by_operator(INPUTS).get(op, ", ".join(instance.get("inputs", declared)))
    mutable = MUTABLE.get(op) or instance.get("aux_states")
    if mutable:
        out["mutable"] = mutable
    out["outputs"] = by_operator(OUTPUTS).get(op) or outputs(facts)
    out["types"] = by_operator(TYPES).get(op) or scalar_types(op, facts) or "T... -> T..."
    return out


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        raw = json.load(file)["ops"]
    table = {op: operator(op, facts) for op, facts in raw.items()}
    for op, more in EXTRA.items():
        if op not in table:
            table[op] = {"attributes": {}, "inputs": by_operator(INPUTS).get(op, ""),
                         "outputs": by_operator(OUTPUTS).get(op, ""), "types": by_operator(TYPES)[op]}
        table[op]["attributes"].update(more.get("attributes", {}))
        table[op].update({key: value for key, value in more.items() if key != "attributes"})
    lines = [json.dumps(op) + ": " + json.dumps(table[op], separators=(",", ":")) for op in sorted(table)]
    print("{\n" + ",\n".join(lines) + "\n}")


if __name__ == "__main__":
    main()

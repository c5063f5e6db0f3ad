#!/usr/bin/env python3
"""Makes folders of tests/data/ops with the real MXNet 1.9.1, one an operator: make_op_goldens.py tests/data/ops

Written: OUT/NAME/model-symbol.json, inputs.npz and expected-fp32.npz, whose arrays stand in the order of the heads.
"""
import json
import os
import sys

os.environ["MXNET_SUBGRAPH_BACKEND"] = "NONE"
import mxnet as mx  # noqa: E402
import numpy as np  # noqa: E402

S, C, L = mx.sym, mx.sym.contrib, mx.sym.linalg
RANDOM = np.random.RandomState(5)


def uniform(*shape, low=-1.0, high=1.0):
    return RANDOM.uniform(low, high, shape).astype("float32")


def positive(count, side):
    a = uniform(count, side, side)
    return (a @ a.transpose(0, 2, 1) + 2 * np.eye(side)).astype("float32")


def boxes(*shape):
    corner = RANDOM.uniform(0, 5, shape + (2,))
    return np.concatenate([corner, corner + RANDOM.uniform(1, 5, shape + (2,))], -1).astype("float32")


def cases():
    v = S.var
    data = v("data")
    affine = np.array([[0.9, 0.2, 0.1, -0.3, 1.1, -0.2], [1.2, 0, 0, 0, 0.5, 0.4]], "float32")
    yield "grid_affine", S.GridGenerator(data, transform_type="affine", target_shape=(4, 5)), {"data": affine}
    yield "grid_warp", S.GridGenerator(data, transform_type="warp"), {"data": uniform(2, 2, 4, 5)}
    yield "bilinear_sampler", S.BilinearSampler(data, v("grid")), {"data": uniform(2, 3, 5, 6), "grid": uniform(2, 2, 4, 3, low=-1.2, high=1.2)}
    yield ("spatial_transformer", S.SpatialTransformer(data, v("loc"), target_shape=(4, 3), transform_type="affine", sampler_type="bilinear"),
           {"data": uniform(2, 3, 5, 6), "loc": affine})
    maps = {"data": uniform(2, 3, 7, 8), "other": uniform(2, 3, 7, 8)}
    yield "correlation", S.Correlation(data, v("other"), kernel_size=1, max_displacement=2, stride1=1, stride2=1, pad_size=2), maps
    yield ("correlation_difference", S.Correlation(data, v("other"), kernel_size=3, max_displacement=2, stride1=2, stride2=2, pad_size=3,
                                                   is_multiply=False), maps)
    conv = dict(kernel=(3, 3), num_filter=4, pad=(1, 1))
    weight, bias = uniform(4, 4, 3, 3), uniform(4)
    yield ("deformable_conv", C.DeformableConvolution(data, v("offset"), v("weight"), v("bias"), num_deformable_group=2, **conv),
           {"data": uniform(2, 4, 6, 5), "offset": uniform(2, 36, 6, 5, low=-2, high=2), "weight": weight, "bias": bias})
    yield ("deformable_conv_stride", C.DeformableConvolution(data, v("offset"), v("weight"), no_bias=True, kernel=(3, 3), num_filter=4,
                                                             stride=(2, 2), dilate=(2, 2), pad=(2, 2), num_group=2),
           {"data": uniform(1, 4, 7, 6), "offset": uniform(1, 18, 4, 3, low=-2, high=2), "weight": uniform(4, 2, 3, 3)})
    yield ("deformable_conv_modulated", C.ModulatedDeformableConvolution(data, v("offset"), v("mask"), v("weight"), v("bias"), **conv),
           {"data": uniform(2, 4, 6, 5), "offset": uniform(2, 18, 6, 5, low=-2, high=2), "mask": uniform(2, 9, 6, 5, low=0), "weight": weight,
            "bias": bias})
    yield ("proposal_multi", S.Group(list(C.MultiProposal(v("prob"), v("offset"), v("info"), scales=(1, 2), ratios=(0.5, 1, 2), feature_stride=16,
                                                          rpn_pre_nms_top_n=60, rpn_post_nms_top_n=12, threshold=0.6, rpn_min_size=8,
                                                          output_score=True))),
           {"prob": uniform(2, 12, 5, 6, low=0), "offset": uniform(2, 24, 5, 6, low=-0.3, high=0.3),
            "info": np.array([[80, 96, 1], [70, 80, 1.5]], "float32")})
    yield ("proposal", C.Proposal(v("prob"), v("offset"), v("info"), scales=(2,), ratios=(1, 2), feature_stride=8, rpn_pre_nms_top_n=40,
                                  rpn_post_nms_top_n=30, threshold=0.3, rpn_min_size=4),
           {"prob": uniform(1, 4, 4, 5, low=0), "offset": uniform(1, 8, 4, 5, low=-0.3, high=0.3), "info": np.array([[32, 40, 1]], "float32")})
    yield ("box_encode", S.Group(list(C.box_encode(*(v(n) for n in ("samples", "matches", "anchors", "refs", "means", "stds"))))),
           {"samples": np.array([[1, -1, 1], [0, 1, 1]], "float32"), "matches": np.array([[0, 1, 1], [1, 0, 1]], "float32"),
            "anchors": boxes(2, 3), "refs": boxes(2, 2), "means": np.zeros(4, "float32"), "stds": np.array([0.1, 0.1, 0.2, 0.2], "float32")})
    activations = uniform(6, 3, 5, low=-2, high=2)
    yield "ctc_first", S.CTCLoss(data, v("label")), {"data": activations, "label": np.array([[1, 2, 2], [3, 0, 0], [4, 1, 0]], "float32")}
    yield ("ctc_last_lengths", S.CTCLoss(data, v("label"), v("steps"), v("lengths"), use_data_lengths=True, use_label_lengths=True, blank_label="last"),
           {"data": activations, "label": np.array([[1, 2, 2], [3, 0, 0], [0, 1, 0]], "float32"), "steps": np.array([6, 4, 5], "float32"),
            "lengths": np.array([3, 1, 2], "float32")})
    yield "linalg_potrf", L.potrf(data), {"data": positive(2, 4)}
    yield "linalg_potri", L.potri(data), {"data": np.tril(uniform(2, 3, 3, low=0.5))}
    yield "linalg_inverse", L.inverse(data), {"data": positive(2, 4)}
    yield "linalg_slogdet", S.Group(list(L.slogdet(data))), {"data": uniform(3, 4, 4)}
    yield "linalg_det", L.det(data), {"data": uniform(3, 3, 3)}
    yield "linalg_sumlogdiag", L.sumlogdiag(data), {"data": positive(2, 4)}
    yield "linalg_syrk", L.syrk(data, transpose=True, alpha=0.5), {"data": uniform(2, 3, 4)}
    triangle = np.tril(uniform(2, 3, 3, low=0.5)) + np.triu(uniform(2, 3, 3), 1)  # what is above must not count
    yield "linalg_trmm", L.trmm(v("a"), v("b"), rightside=True, transpose=True, alpha=2), {"a": triangle, "b": uniform(2, 4, 3)}
    yield "linalg_trsm", L.trsm(v("a"), v("b"), alpha=0.5), {"a": triangle, "b": uniform(2, 3, 4)}
    yield "linalg_trsm_right", L.trsm(v("a"), v("b"), rightside=True, transpose=True), {"a": triangle, "b": uniform(2, 4, 3)}
    yield "linalg_extractdiag", L.extractdiag(data, offset=-1), {"data": uniform(2, 4, 4)}
    yield "linalg_makediag", L.makediag(data, offset=1), {"data": uniform(2, 3)}
    yield "linalg_extracttrian", L.extracttrian(data, offset=1), {"data": uniform(2, 4, 4)}
    yield "linalg_maketrian_upper", L.maketrian(data, lower=False), {"data": uniform(2, 6)}
    yield "linalg_maketrian", L.maketrian(data, offset=-1), {"data": uniform(2, 6)}
    yield "index_copy", C.index_copy(data, v("index"), v("rows")), {"data": uniform(5, 3), "index": np.array([3, 0], "int32"), "rows": uniform(2, 3)}
    values = uniform(3, 4, low=-2, high=2)
    yield "quantize_v2", S.Group(list(C.quantize_v2(data))), {"data": values}
    yield "quantize_v2_range", S.Group(list(C.quantize_v2(data, out_type="uint8", min_calib_range=0.0, max_calib_range=1.5))), {"data": values}
    limits = {"low": np.array([-1.5], "float32"), "high": np.array([1.25], "float32")}
    yield "quantize", S.Group(list(C.quantize(data, v("low"), v("high"), out_type="int8"))), {"data": values, **limits}
    sums = RANDOM.randint(-2**24, 2**24, (3, 4)).astype("int32")
    wide = {"low": np.array([-1000], "float32"), "high": np.array([900], "float32")}
    yield "requantize", S.Group(list(C.requantize(v("data", dtype="int32"), v("low"), v("high")))), {"data": sums, **wide}
    yield ("requantize_range", S.Group(list(C.requantize(v("data", dtype="int32"), v("low"), v("high"), min_calib_range=-4.0, max_calib_range=3.0))),
           {"data": sums, **wide})
    yield "dequantize", C.dequantize(v("data", dtype="int8"), v("low"), v("high")), {"data": RANDOM.randint(-128, 128, (3, 4)).astype("int8"), **limits}
    yield "div_sqrt_dim", C.div_sqrt_dim(data), {"data": values}
    yield "arange_like", C.arange_like(data, axis=1, start=2, step=0.5), {"data": values}
    yield "linalg_syevd", S.Group(list(L.syevd(data))), {"data": positive(2, 4) - 2 * np.eye(4, dtype="float32") + uniform(1, 1, 1)}
    yield "linalg_gelqf", S.Group(list(L.gelqf(data))), {"data": uniform(2, 3, 5)}
    cube = uniform(2, 3, 4)
    yield "eye", S.broadcast_add(S.eye(3, 5, 1), data), {"data": uniform(3, 5)}
    yield "index_array", C.index_array(data), {"data": uniform(2, 3)}
    yield "index_array_axes", C.index_array(data, axes=(2, 0)), {"data": cube}
    yield "ravel_multi_index", S.ravel_multi_index(data, shape=(4, 5, 6)), {"data": np.array([[0, 3, 2], [4, 0, 1], [5, 2, 3]], "float32")}
    yield "unravel_index", S.unravel_index(data, shape=(4, 5, 6)), {"data": np.array([0, 29, 61, 119, 7, 100], "float32")}
    yield "diag_vector", S.diag(data, k=-1), {"data": uniform(3)}
    yield "diag", S.diag(data, k=1), {"data": uniform(4, 5)}
    yield "diag_axes", S.diag(data, k=-1, axis1=2, axis2=1), {"data": cube}
    yield ("slice_assign", getattr(S, "_internal")._slice_assign(data, v("part"), begin=(0, 2), end=(2, None), step=(1, -2)),
           {"data": uniform(3, 4), "part": uniform(2, 2)})
    yield "slice_assign_scalar", getattr(S, "_internal")._slice_assign_scalar(data, scalar=2.5, begin=(1, -3), end=(3, -1)), {"data": uniform(3, 4)}
    spread = np.array([[-1.5, -1, -0.25, 0, 0.3], [0.5, 0.99, 1, 1.01, 0.5]], "float32")
    yield "histogram_range", S.Group(list(getattr(S, "_internal")._histogram(data, bin_cnt=4, range=(-1, 1)))), {"data": spread}
    yield ("histogram_bounds", S.Group(list(getattr(S, "_internal")._histogram(data, v("bounds")))),
           {"data": spread, "bounds": np.array([-1, 0, 0.5, 1], "float32")})
    yield "cumsum", S.np.cumsum(data.as_np_ndarray(), axis=1).as_nd_ndarray(), {"data": cube}
    yield "cumsum_all", S.np.cumsum(data.as_np_ndarray()).as_nd_ndarray(), {"data": uniform(2, 3)}
    yield "quadratic", C.quadratic(data, a=2, b=-1, c=0.5), {"data": uniform(2, 3)}
    yield "all_finite", S.Group([S.all_finite(data), S.multi_all_finite(data, v("other"), num_arrays=2)]), {
        "data": uniform(2, 3), "other": np.array([1, np.inf], "float32")}
    yield "khatri_rao", S.khatri_rao(data, v("other"), num_args=2), {"data": uniform(2, 3), "other": uniform(4, 3)}
    yield "svm_output", S.SVMOutput(data, v("label")), {"data": uniform(3, 4), "label": np.zeros(3, "float32")}
    corners = boxes(1, 8) / 10
    classes = np.array([[[1], [0], [-1]], [[2], [-1], [-1]]], "float32")
    labels = np.concatenate([classes, np.where(classes < 0, -1, boxes(2, 3) / 10)], -1).astype("float32")
    detector = {"anchors": corners, "labels": labels, "scores": uniform(2, 4, 8)}
    for name, options in ("box_target", {}), ("box_target_mining", {"negative_mining_ratio": 2, "negative_mining_thresh": 0.4, "overlap_threshold": 0.6}):
        yield name, S.Group(list(C.MultiBoxTarget(v("anchors"), v("labels"), v("scores"), **options))), detector
    scores = uniform(2, 3, 4)
    yield "bipartite_matching", S.Group(list(C.bipartite_matching(data, threshold=-0.5))), {"data": scores}
    yield "bipartite_matching_ascending", S.Group(list(C.bipartite_matching(data, threshold=0.4, is_ascend=True, topk=1))), {"data": scores}
    rois = np.array([[0, 1, 0.4, 5, 6.6], [1, -3, 2, 2, 9]], "float32")
    features = {"data": uniform(2, 8, 7, 6), "rois": rois}
    yield "psroi_pooling", C.PSROIPooling(data, v("rois"), spatial_scale=0.75, output_dim=2, pooled_size=3, group_size=2), features
    sensitive = dict(spatial_scale=0.75, output_dim=2, pooled_size=3, group_size=2, sample_per_part=2)
    yield "deformable_psroi_pooling", C.DeformablePSROIPooling(data, v("rois"), v("offsets"), part_size=2, trans_std=0.2, **sensitive), {
        **features, "offsets": uniform(2, 4, 2, 2)}
    turned = np.array([[0, 3, 3, 4, 2, 30], [1, 0.5, 5, 7, 0.2, -110]], "float32")
    yield "rroi_align", C.RROIAlign(data, v("rois"), pooled_size=(2, 3), spatial_scale=0.9), {"data": uniform(2, 3, 6, 7), "rois": turned}
    yield "im2col", S.im2col(data, kernel=(3, 2), stride=(2, 1), dilate=(1, 2), pad=(1, 1)), {"data": uniform(2, 2, 5, 4)}
    yield "col2im", S.col2im(data, output_size=(5, 4), kernel=(3, 2), stride=(2, 1), dilate=(1, 2), pad=(1, 1)), {"data": uniform(2, 12, 12)}
    picture = RANDOM.randint(0, 256, (5, 6, 3)).astype("uint8")
    byte, image = v("data", dtype="uint8"), S.image
    yield "image_to_tensor", image.to_tensor(byte), {"data": picture}
    yield "image_normalize", image.normalize(data, mean=(0.1, 0.2, 0.3), std=(0.5, 0.25, 2)), {"data": uniform(2, 3, 2, 3)}
    yield "image_resize_nearest", image.resize(byte, size=(4, 7), interp=0), {"data": picture}
    pixels = uniform(2, 5, 6, 1)
    for name, interp, size in ("linear", 1, (4, 8)), ("cubic", 2, (4, 8)), ("area", 3, (4, 2)), ("area_grows", 3, (9, 7)), ("lanczos", 4, (9, 4)):
        yield "image_resize_" + name, image.resize(data, size=size, interp=interp), {"data": pixels}
    yield "image_resize_ratio", image.resize(data, size=3, keep_ratio=True), {"data": pixels}
    yield "image_crop", image.crop(byte, x=2, y=1, width=3, height=4), {"data": picture}
    # Of an odd number of rows MXNet 1.9.1 leaves the middle one unwritten.
    yield "image_flips", S.Group([image.flip_left_right(byte), image.flip_top_bottom(byte)]), {"data": picture[:4]}
    yield "boolean_mask", C.boolean_mask(data, v("mask"), axis=0) * 2, {"data": uniform(4, 3), "mask": np.array([0, 1, 0.5, 0], "float32")}
    yield "linspace", S.broadcast_add(getattr(S, "_internal")._linspace(start=1, stop=2, num=5, endpoint=False), data), {"data": uniform(2, 5)}
    counts, spans = np.array([[0, 1, 5], [3, 0, 2]], "float32"), uniform(2, 3, low=0.1, high=4)
    pairs = {"a": np.array([0.5, 2], "float32"), "b": np.array([1.5, 3], "float32")}
    chances = {"a": np.array([2, 3], "float32"), "b": np.array([0.3, 0.6], "float32")}
    for name, samples, parameters in (("uniform", spans, pairs), ("normal", spans, pairs), ("gamma", spans, pairs), ("exponential", spans, pairs),
                                      ("poisson", counts, pairs), ("negative_binomial", counts, chances),
                                      ("generalized_negative_binomial", counts, pairs)):
        names = ["a"] if name in ("exponential", "poisson") else ["a", "b"]
        density = getattr(getattr(S, "_internal"), "_random_pdf_" + name)
        yield "pdf_" + name, S.Group([density(data, *(v(n) for n in names), is_log=log) for log in (False, True)]), {
            "data": samples, **{n: parameters[n] for n in names}}
    shares = uniform(2, 3, 4, low=0.1, high=1)
    yield "pdf_dirichlet", getattr(S, "_internal")._random_pdf_dirichlet(data, v("a")), {
        "data": shares / shares.sum(-1, keepdims=True), "a": uniform(2, 4, low=0.5, high=3)}
    def codes(*shape, kind="int8"):
        return RANDOM.randint(-127 if kind == "int8" else 0, 128 if kind == "int8" else 256, shape).astype(kind)

    def ends(**ranges):
        return {side + "_" + n: np.array([value], "float32") for n, pair in ranges.items() for side, value in zip(("min", "max"), pair)}

    def coded(kind, name):
        return v(name, dtype=kind)

    def limits_of(*names):
        return [v(side + "_" + n) for n in names for side in ("min", "max")]

    two = {"a": (-1.5, 1.5), "b": (-0.75, 0.75)}
    plane = codes(2, 4, 5, 6, kind="uint8")
    # quantized_conv is not here: MXNet 1.9.1's takes uint8 alone, reports half the range and adds the bias unscaled.
    full = {"data": codes(3, 8), "weight": codes(4, 8), "bias": codes(4)}
    yield ("quantized_fully_connected", S.Group(list(C.quantized_fully_connected(*(coded("int8", n) for n in full), *limits_of(*full), num_hidden=4))),
           {**full, **ends(data=(-2, 2), weight=(-0.5, 0.5), bias=(-1, 1))})
    for pool, options in ("max", {}), ("avg", {"pad": (1, 1)}):
        yield ("quantized_pooling_" + pool, S.Group(list(C.quantized_pooling(coded("uint8", "data"), *limits_of("data"), kernel=(3, 3), stride=(2, 2),
                                                                             pool_type=pool, **options))), {"data": plane, **ends(data=(0, 2))})
    yield ("quantized_pooling_beyond", S.Group(list(C.quantized_pooling(coded("uint8", "data"), *limits_of("data"), kernel=(2, 2), stride=(2, 1), pool_type="avg",
                                                                        pooling_convention="full"))),
           {"data": np.arange(30, dtype="uint8").reshape(1, 1, 5, 6) * 8, **ends(data=(0, 2))})
    signed = {"data": codes(2, 4, 3, 3)}
    yield "quantized_act", S.Group(list(C.quantized_act(coded("int8", "data"), *limits_of("data"), act_type="relu"))), {**signed, **ends(data=(-2, 2))}
    yield "quantized_flatten", S.Group(list(C.quantized_flatten(coded("int8", "data"), *limits_of("data")))), {**signed, **ends(data=(-2, 2))}
    joined = {"a": codes(2, 3, 2, 2), "b": codes(2, 4, 2, 2)}
    yield ("quantized_concat", S.Group(list(C.quantized_concat(coded("int8", "a"), coded("int8", "b"), *limits_of("a", "b"), num_args=2, dim=1))),
           {**joined, **ends(**two)})
    pair = {"a": codes(2, 3, 4), "b": codes(2, 3, 4)}
    both = coded("int8", "a"), coded("int8", "b"), *limits_of("a", "b")
    yield "quantized_add", S.Group(list(C.quantized_elemwise_add(*both))), {**pair, **ends(**two)}
    yield ("quantized_add_calibrated", S.Group(list(C.quantized_elemwise_add(*both, min_calib_range=-2.0, max_calib_range=2.0))),
           {**pair, **ends(**two)})
    yield "quantized_mul", S.Group(list(C.quantized_elemwise_mul(*both))), {**pair, **ends(**two)}
    yield ("quantized_mul_calibrated", S.Group(list(C.quantized_elemwise_mul(*both, min_calib_range=-1.0, max_calib_range=1.0))),
           {**pair, **ends(**two)})
    yield ("quantized_mul_real", C.quantized_elemwise_mul(*both, enable_float_output=True)[0], {**pair, **ends(**two)})
    yield ("quantized_embedding", S.Group(list(C.quantized_embedding(data, coded("int8", "weight"), *limits_of("weight"), input_dim=5, output_dim=3))),
           {"data": np.array([[4, 0], [2, 1]], "float32"), "weight": codes(5, 3), **ends(weight=(-1, 1))})
    # MXNet adds epsilon twice, which a small one does not show.
    norm = {"gamma": uniform(4, low=0.5, high=1.5), "beta": uniform(4), "mean": uniform(4), "var": uniform(4, low=0.5, high=2)}
    yield ("quantized_batch_norm", S.Group(list(C.quantized_batch_norm(coded("int8", "data"), *(v(n) for n in norm), *limits_of("data"), eps=1e-5,
                                                                       fix_gamma=False, min_calib_range=-3.0, max_calib_range=3.0))),
           {**signed, **norm, **ends(data=(-2, 2))})

    yield from numbers_at_the_edge(v)
    yield from windows_at_the_edge(v)


def numbers_at_the_edge(v):
    """NaN, infinities, ties, and integers where doubles no longer hold them."""
    internal, nan, inf = getattr(S, "_internal"), np.nan, np.inf
    odd = {"data": np.array([[nan, -1, 2, inf], [0.5, nan, -inf, 3]], "float32"), "other": np.array([[1, nan, nan, 1], [2, 0, 1, nan]], "float32")}
    data, other = v("data"), v("other")
    yield ("elementwise_nan", S.Group([S.clip(data, -0.5, 1), S.broadcast_maximum(data, other), S.broadcast_minimum(data, other), S.relu(data), S.exp(data),
                                       internal._maximum_scalar(data, scalar=1), internal._minimum_scalar(data, scalar=1), S.sign(data),
                                       S.Activation(data, act_type="relu"), C.sign_ste(data)]), odd)
    yield ("order_nan", S.Group([S.argmax(data, axis=1), S.argmin(data, axis=1), S.argmax_channel(data)]), {"data": odd["data"]})
    line = np.array([[inf, 1, 2], [-inf, -inf, -inf], [nan, 1, 2], [1, nan, 0]], "float32")
    yield ("softmax_nan", S.Group([S.softmax(data), S.softmax(data, temperature=2), S.SoftmaxActivation(data)]), {"data": line})
    yield "softmax_first_axis_nan", S.Group([S.softmax(data, axis=0), S.log_softmax(data, axis=0)]), {"data": line.T[:, :3]}
    yield "rint_ties", S.rint(data), {"data": np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5, 0.75], "float32")}
    yield "cross_entropy_floor", S.softmax_cross_entropy(data, v("label")), {"data": np.array([[0, -100], [0, -10]], "float32"), "label": np.ones(2, "float32")}
    grid = np.array([[[[nan, 0, inf]], [[0.5, -0.25, 0]]]], "float32")
    yield "bilinear_sampler_nan", S.BilinearSampler(data, v("grid")), {"data": uniform(1, 2, 3, 4), "grid": grid}
    small = v("data", dtype="int32")
    scalars = [getattr(internal, f"_{op}_scalar") for op in ("plus", "rminus", "mul", "equal", "lesser", "maximum", "hypot", "rpower")]
    yield ("int32_fractional_scalars", S.Group([f(small, scalar=number) for f in scalars for number in (0.5, 2.75)]),
           {"data": np.array([-3, 0, 1, 2, 3], "int32")})
    byte = v("data", dtype="uint8")
    yield ("uint8_negative_scalars", S.Group([internal._maximum_scalar(byte, scalar=-2.5), internal._plus_scalar(byte, scalar=-1.5), S.prod(byte, axis=0),
                                              S.mean(byte, axis=0)]), {"data": np.array([[10, 181], [86, 183], [1, 254]], "uint8")})
    wide, near = v("data", dtype="int64"), v("near", dtype="int64")
    above, at = np.array([2**53 + 1, -(2**53) - 1, 2**62, 7], "int64"), np.array([2**53, -(2**53), 2**62 - 1, 5], "int64")
    # Differences, so that the last bit shows.
    yield ("int64_beyond_2_53", S.Group([wide - near, internal._plus_scalar(wide, scalar=1) - near, S.add_n(wide, near) - 2 * near, S.relu(wide) - near,
                                         -wide + near, S.BlockGrad(wide) - near, S.max(wide) - S.max(near), S.sum(wide, axis=0), S.prod(wide, axis=0),
                                         S.argmax(wide, axis=0)]), {"data": above, "near": at})
    beyond = {"data": np.array([3e9, -3e9, 1e20, 300.75, -1.5, nan, inf], "float32")}
    yield "cast_int_beyond", S.Group([S.Cast(data, dtype=t) for t in ("int32", "int8", "uint8", "int64")]), beyond
    yield ("int32_by_reals", S.Group([S.square(small), S.rcbrt(small), S.gammaln(small), S.broadcast_power(small, v("other", dtype="int32")),
                                      S.contrib.div_sqrt_dim(small)]),
           {"data": np.array([[2147483647, 0, 27, 2147483646, -4]], "int32"), "other": np.array([[1, 0, 2, 1, 31]], "int32")})


    half, integer = v("data", dtype="float16"), v("data", dtype="int32")
    yield ("scalars_in_half_nan", S.Group([half * 1e10, half * 0.1, half - 70000]), {"data": np.array([0, 1, 3, -2], "float16")})
    yield "quadratic_nan", C.quadratic(data, a=0.5), {"data": np.array([inf, -inf, nan, 2], "float32")}
    yield "quadratic_beyond_2_24", C.quadratic(integer, b=1), {"data": np.array([2147483647, 16777217, -16777219, 3], "int32")}
    yield "smooth_l1_beyond_2_24", S.smooth_l1(integer, scalar=1), {"data": np.array([2147483647, 16777217, -16777219, 3], "int32")}


def windows_at_the_edge(v):
    data = v("data")
    plane = {"data": uniform(1, 2, 5, 5, low=-2, high=2)}
    yield "pool_lp_signed", S.Group([S.Pooling(data, kernel=(2, 3), pool_type="lp", p_value=p) for p in (1, 2, 3)]), plane
    outside = dict(kernel=(1, 1), stride=(3, 3), pooling_convention="full")
    yield ("pool_outside", S.Group([S.Pooling(data, pool_type="avg", count_include_pad=c, **outside) for c in (True, False)]
                                   + [S.Pooling(data, pool_type=kind, **outside) for kind in ("max", "sum")]
                                   + [S.Pooling(data, pool_type="lp", p_value=3, **outside)]), plane)
    yield "pool_v1_padded", S.Group([S.Pooling_v1(data, kernel=(2, 2), pad=(1, 0), pool_type=kind) for kind in ("max", "avg")]), {
        "data": uniform(1, 2, 5, 5, low=-2, high=-1)}
    yield ("pool_outside_v1", S.Group([S.Pooling_v1(data, kernel=(2, 1), stride=(3, 3), pad=(1, 0), pooling_convention="full", pool_type=kind)
                                       for kind in ("max", "avg", "sum")]
                                      + [S.Pooling_v1(data, kernel=(4, 2), stride=(2, 3), pooling_convention="full", pool_type="avg")]), plane)
    yield ("resize_to_itself_nan", S.Group([C.BilinearResize2D(data, height=2, width=2), C.BilinearResize2D(data, mode="to_even_up")]),
           {"data": np.array([[[[np.inf, 1], [np.nan, -np.inf]]]], "float32")})
    yield "resize_to_one", S.Group([C.BilinearResize2D(data, height=h, width=w, align_corners=a) for h, w in ((1, 3), (4, 1)) for a in (True, False)]), plane
    yield "softmax_activation_rank4", S.SoftmaxActivation(data), {"data": uniform(2, 3, 2, 4)}
    yield "prelu_rank1", S.LeakyReLU(data, v("slope"), act_type="prelu"), {"data": uniform(4), "slope": uniform(4, low=0)}
    # In float32 MXNet has kernels only for what needs no padding to come to the target.
    wide, weight = v("data", dtype="float64"), v("weight", dtype="float64")
    target = {"data": uniform(1, 4, 3, 2).astype("float64"), "weight": uniform(4, 2, 3, 2).astype("float64")}
    yield "deconv_target_group", S.Deconvolution(wide, weight, kernel=(3, 2), stride=(2, 2), num_filter=4, num_group=2, target_shape=(6, 4)), target
    yield "deconv_target_dilate", S.Deconvolution(wide, weight, kernel=(3, 2), stride=(2, 1), dilate=(1, 2), num_filter=2, target_shape=(6, 4)), target
    yield ("deconv_target_3d", S.Deconvolution(data, v("weight"), kernel=(2, 2, 3), stride=(1, 2, 2), num_filter=2, target_shape=(4, 6, 7)),
           {"data": uniform(1, 2, 3, 3, 3), "weight": uniform(2, 2, 2, 2, 3)})
    yield ("reshape_splits", S.Group([S.Reshape(data, shape=(-4, -1, 2, -4, 3, -1, -2)), S.Reshape(data, shape=(-4, 2, -1, -4, -1, 2, 0))]),
           {"data": uniform(4, 6, 3)})
    yield "multibox_prior_one_step", C.MultiBoxPrior(data, sizes=(0.4, 0.7), ratios=(1, 2), steps=(0.0, 0.2)), {"data": uniform(1, 1, 3, 4)}
    order = uniform(1, 3, 6, low=0, high=1)
    yield ("multibox_detection_topk", C.MultiBoxDetection(data, v("offsets"), v("anchors"), nms_topk=2, threshold=0.01),
           {"data": order, "offsets": uniform(1, 24, low=-0.1, high=0.1), "anchors": boxes(1, 6) / 10})
    yield "edge_gelu", S.LeakyReLU(data, act_type="gelu"), {"data": np.array([np.inf, -np.inf, np.nan, 1], "float32")}
    yield "edge_softmax_first_axis", S.softmax(data, axis=0), {"data": np.array([[np.nan, 1], [1, 2]], "float32")}
    yield ("edge_roi_align", C.ROIAlign(data, v("rois"), pooled_size=(2, 1), spatial_scale=1.0),
           {"data": np.array([[[[np.nan, 1, 2, 3], [1, 2, 3, 4], [2, 3, 4, 5], [3, 4, 5, 6]]]], "float32"), "rois": np.array([[0, 2, 2, 7, 5]], "float32")})
    yield "edge_bilinear_resize", C.BilinearResize2D(data, height=3, width=5), {"data": np.array([[[[1, -np.inf]]]], "float32")}
    yield "edge_sigmoid_int8", S.sigmoid(v("data", dtype="int8")), {"data": np.array([16, 17, 24, 36, 37, 127, -1, -128], "int8")}
    yield "edge_rrelu_float64", S.LeakyReLU(wide, act_type="rrelu")[0], {"data": np.array([-1e12, 1.0])}
    yield "edge_cumsum_int32", S.np.cumsum(v("data").as_np_ndarray(), dtype="int32").as_nd_ndarray(), {"data": np.array([-0.5, 1.5, 1, -1.5], "float32")}
    yield ("edge_roi_pool", S.ROIPooling(data, v("rois"), pooled_size=(1, 1), spatial_scale=1.0),
           {"data": np.array([[[[-np.inf, 1]]]], "float32"), "rois": np.array([[0, 0, 0, 0, 0], [0, 0, 0, 1, 0]], "float32")})
    # Beyond the end of float32 on the way
    large = np.array([[3e38, 2], [2, -3e38], [0, 1]], "float32")
    yield "edge_overflow_prod", S.Group([S.prod(data, axis=0), S.nanprod(data, axis=0)]), {"data": large}
    # Below the least of float32 on the way, from where some come back
    small = np.array([[1e-40, 1e-20, 1e-40], [1e-2, 1e-30, 1e-10], [1e38, -np.inf, 3e38]], "float32")
    yield "edge_underflow_prod", S.Group([S.prod(data, axis=0), S.nanprod(data, axis=0)]), {"data": small}
    # More elements than their type counts to
    yield "edge_mean_int8", S.mean(data, axis=1), {"data": np.ones((2, 400), "int8")}
    # Codes far beyond their type
    one = np.ones(1, "float32")
    far = {"data": np.ones((1, 1, 1, 2), "int8"), "gamma": one, "beta": np.array([np.inf], "float32"), "much": np.array([1e12], "float32"), "low": -one, "high": one}
    coded = {name: v(name, dtype="int8" if name == "data" else "float32") for name in far}
    yield ("edge_int8_batch_norm", S.Group([C.quantized_batch_norm(coded["data"], coded["gamma"], coded[beta], coded["gamma"], coded["gamma"], coded["low"], coded["high"],
                                                                   min_calib_range=-3.0, max_calib_range=3.0)[0] for beta in ("beta", "much")]), far)
    yield "edge_int8_bias", fused_codes(), {
        "data": np.array([[0.2], [0.9]], "float32") * np.float32(1e-6), "weight": np.full((2, 1), 127, "int8"), "bias": np.array([127, -100], "int8"),
        **{f"{name}_{end}": np.array([value], "float32") for name in ("weight", "bias") for end, value in (("min", -1), ("max", 1))}}
    # Sums of nothing
    nothing = np.zeros((2, 3, 0), "float32")
    yield "edge_empty_batch_dot", S.batch_dot(data, v("b"), transpose_b=True), {"data": nothing, "b": nothing}
    yield "edge_overflow_khatri_rao", S.khatri_rao(data, v("b"), v("c")), {"data": large, "b": large, "c": np.array([[0, 1], [1, 1]], "float32")}
    yield "edge_overflow_log_softmax", S.Group([S.log_softmax(data, temperature=0.5), S.softmax(data, temperature=0.5)]), {"data": large}
    yield "edge_overflow_adaptive_pool", C.AdaptiveAvgPooling2D(data, output_size=1), {"data": np.array([[[[3e38, 3e38], [1, -3e38]]]], "float32")}


def fused_codes():
    """A fully connected layer of codes as MXNet fuses it, whose bias is far larger than the data: in the sums' scale it passes 32 bits."""
    fused = json.loads(S.FullyConnected(S.var("data"), S.var("weight"), S.var("bias"), num_hidden=2).get_backend_symbol("MKLDNN_QUANTIZE").tojson())
    layer = next(n for n in fused["nodes"] if n["op"] == "_sg_mkldnn_fully_connected")
    inputs = ["data", "weight", "bias", *(f"{name}_{end}" for name in ("weight", "bias") for end in ("min", "max"))]
    quantize = {"op": "_contrib_quantize_v2", "name": "codes", "inputs": [[0, 0, 0]],
                "attrs": {"min_calib_range": "0.0", "max_calib_range": "9e-07", "out_type": "auto"}}
    layer["attrs"] = {"quantized": "True", "enable_float_output": "True"}
    at = len(inputs)
    layer["inputs"] = [[at, 0, 0], [1, 0, 0], [2, 0, 0], [at, 1, 0], [at, 2, 0], *([k, 0, 0] for k in range(3, at))]
    nodes = [*({"op": "null", "name": name, "inputs": []} for name in inputs), quantize, layer]
    return mx.sym.load_json(json.dumps({"nodes": nodes, "arg_nodes": list(range(at)), "heads": [[at + 1, 0, 0]], "attrs": fused["attrs"]}))


def main():
    only = sys.argv[2:]
    for name, symbol, inputs in cases():
        if only and name not in only:
            continue
        folder = f"{sys.argv[1]}/{name}"
        os.makedirs(folder, exist_ok=True)
        with open(folder + "/model-symbol.json", "w") as file:
            json.dump(json.loads(symbol.tojson()), file, separators=(",", ":"))
        arrays = {n: mx.nd.array(a, dtype=a.dtype) for n, a in inputs.items()}
        outputs = symbol.bind(mx.cpu(), {n: arrays[n] for n in symbol.list_arguments()}, grad_req="null",
                              aux_states={n: arrays[n] for n in symbol.list_auxiliary_states()}).forward(is_train=False)
        np.savez(folder + "/inputs.npz", **inputs)
        np.savez(folder + "/expected-fp32.npz", **{n: o.asnumpy() for n, o in zip(symbol.list_outputs(), outputs)})


if __name__ == "__main__":
    main()

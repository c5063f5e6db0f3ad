"""More cases in the form of shape_cases.py: operators of detection, tracking, speech, probabilistic and quantized networks."""

N = None
X4 = (2, 3, 8, 9)

CASES = []


def add(op, attributes, *shape_rows):
    for shapes in shape_rows:
        CASES.append((op, attributes, shapes))


# --- boxes -------------------------------------------------------------------------------------------------------------------------
add("_contrib_box_decode", {}, [(2, 5, 4), (1, 5, 4)], [N, (1, 5, 4)], [(2, 0, 4), (1, 5, 4)], [(2, 5, 0), (1, 5, 0)], [(2, 5), (1, 5, 4)],
    [(2, 5, 3), (1, 5, 4)], [(2, 5, 4), N], [(2, 5, 4), (1, 6, 4)])
add("_contrib_box_decode", {"format": "corner", "clip": 4.1, "std0": 0.1}, [(0, 5, 4), (1, 5, 4)])
add("_contrib_box_encode", {}, [(2, 5), (2, 5), (2, 5, 4), (2, 3, 4), (4,), (4,)], [(2, 5), N, N, N, N, N], [(2, 5), (2, 6), N, N, N, N],
    [(2, 5), (2, 5), (2, 5, 3), (2, 3, 4), N, N], [(0, 5), (2, 5), (2, 5, 4), (2, 3, 4), (4,), (4,)], [N, N, N, N, N, N])
add("_contrib_bipartite_matching", {"threshold": 0.1}, [(2, 5, 7)], [(5, 7)], [(5,)], [(0, 5, 7)], [N])
add("_contrib_Proposal", {}, [(1, 24, 6, 7), (1, 48, 6, 7), (1, 3)], [(1, 24, 6, 7), N, N], [(1, 24, 6), N, N], [N, N, N])
add("_contrib_Proposal", {"output_score": True, "rpn_post_nms_top_n": 40}, [(1, 24, 6, 7), (1, 48, 6, 7), (1, 3)])
add("_contrib_MultiProposal", {"rpn_post_nms_top_n": 40}, [(2, 24, 6, 7), (2, 48, 6, 7), (2, 3)], [(2, 24, 6, 7), N, N])
add("_contrib_MultiProposal", {"output_score": True}, [(2, 24, 6, 7), N, N])
add("_contrib_PSROIPooling", {"spatial_scale": 0.0625, "output_dim": 3, "pooled_size": 7, "group_size": 7},
    [(2, 147, 8, 9), (6, 5)], [(2, 147, 8, 9), (6, 4)], [(2, 147, 8), (6, 5)], [N, (6, 5)], [(2, 147, 8, 9), N])
add("_contrib_DeformablePSROIPooling",
    {"spatial_scale": 0.0625, "output_dim": 3, "group_size": 7, "pooled_size": 7, "no_trans": True}, [(2, 147, 8, 9), (6, 5)])
add("_contrib_DeformablePSROIPooling", {"spatial_scale": 0.0625, "output_dim": 3, "group_size": 7, "pooled_size": 7},
    [(2, 147, 8, 9), (6, 5), (6, 2, 7, 7)], [(2, 147, 8, 9), (6, 4), N])
add("_contrib_RROIAlign", {"pooled_size": "(3, 4)", "spatial_scale": 0.5}, [X4, (6, 6)], [X4, (6, 5)], [X4, N], [(2, 3, 8), (6, 6)])
add("_contrib_index_copy", {}, [(5, 3), (2,), (2, 3)], [(5, 3), (2,), (3, 3)], [N, (2,), (2, 3)], [(5, 3), N, N], [(5, 3), (2, 1), (2, 3)])
add("_contrib_boolean_mask", {}, [(5, 3), (5,)], [(5, 3), (4,)], [N, (5,)])
add("_contrib_boolean_mask", {"axis": 1}, [(5, 3), (3,)])
# --- deformable convolution --------------------------------------------------------------------------------------------------------
for row in ([X4, N, N, N], [X4, (2, 18, 6, 7), (8, 3, 3, 3), (8,)], [X4, (2, 17, 6, 7), N, N], [(0, 3, 8, 9), N, N, N], [N, N, N, N],
            [(2, 3, 8), N, N, N], [(2, 3, 2, 9), N, N, N]):
    add("_contrib_DeformableConvolution", {"kernel": "(3, 3)", "num_filter": 8}, row)
add("_contrib_DeformableConvolution", {"kernel": "(3, 3)", "num_filter": 6, "num_group": 3, "num_deformable_group": 3, "pad": "(1, 1)",
                                       "stride": "(2, 1)", "dilate": "(2, 2)", "no_bias": True}, [X4, N, N])
add("_contrib_DeformableConvolution", {"kernel": "(3, 3)", "num_filter": 6, "num_deformable_group": 2}, [X4, N, N, N])
add("_contrib_ModulatedDeformableConvolution", {"kernel": "(3, 3)", "num_filter": 8, "pad": "(1, 1)"}, [X4, N, N, N, N],
    [X4, (2, 18, 8, 9), (2, 9, 8, 9), N, N], [X4, (2, 18, 8, 9), (2, 8, 8, 9), N, N], [(0, 3, 8, 9), N, N, N, N])
add("_contrib_ModulatedDeformableConvolution", {"kernel": "(3, 3)", "num_filter": 8, "num_deformable_group": 3, "no_bias": True},
    [X4, N, N, N])
add("im2col", {"kernel": "(3, 3)", "pad": "(1, 1)", "stride": "(2, 2)"}, [X4], [(0, 3, 8, 9)], [(2, 3, 8)])
add("im2col", {"kernel": "(3,)"}, [(2, 3, 8)])
add("col2im", {"kernel": "(3, 3)", "output_size": "(8, 9)"}, [(2, 27, 42)], [(2, 27, 41)], [(2, 26, 42)])
# --- matching and warping ----------------------------------------------------------------------------------------------------------
add("Correlation", {"kernel_size": 1, "max_displacement": 4, "stride1": 1, "stride2": 1, "pad_size": 4}, [(2, 3, 16, 18), (2, 3, 16, 18)],
    [(2, 3, 16, 18), N], [(0, 3, 16, 18), (0, 3, 16, 18)])
add("Correlation", {"kernel_size": 3, "max_displacement": 2, "stride1": 2, "stride2": 2, "pad_size": 1},
    [(2, 3, 17, 18), (2, 3, 17, 18)], [(2, 3, 17, 18), (2, 3, 17, 19)], [(2, 3, 4, 4), (2, 3, 4, 4)])
add("Correlation", {"kernel_size": 2}, [(2, 3, 16, 18), (2, 3, 16, 18)])
add("GridGenerator", {"transform_type": "affine", "target_shape": "(5, 6)"}, [(2, 6)], [(2, 5)], [(0, 6)], [(2, 2, 3)])
add("GridGenerator", {"transform_type": "affine"}, [(2, 6)])
add("GridGenerator", {"transform_type": "warp"}, [(2, 2, 5, 6)], [(2, 3, 5, 6)], [(2, 6)], [(2, 2, 0, 0)])
add("BilinearSampler", {}, [X4, (2, 2, 5, 6)], [X4, (2, 3, 5, 6)], [X4, (3, 2, 5, 6)], [X4, N], [(2, 3, 8), (2, 2, 5, 6)], [N, (2, 2, 5, 6)])
add("SpatialTransformer", {"transform_type": "affine", "sampler_type": "bilinear", "target_shape": "(5, 6)"},
    [X4, (2, 6)], [X4, N], [X4, (2, 5)], [(2, 3, 8), (2, 6)], [(0, 3, 8, 9), N])
add("SpatialTransformer", {"transform_type": "affine", "sampler_type": "bilinear"}, [X4, (2, 6)])
# --- losses ------------------------------------------------------------------------------------------------------------------------
add("CTCLoss", {}, [(10, 2, 7), (2, 4)], [(10, 2, 7), (3, 4)], [(10, 2, 7), (2, 12)], [(10, 2), (2, 4)], [N, (2, 4)], [(10, 0, 7), (2, 4)],
    [(10, 2, 7), N])
add("CTCLoss", {"use_data_lengths": True, "use_label_lengths": True}, [(10, 2, 7), (2, 4), (2,), (2,)], [(10, 2, 7), (2, 4), (3,), N],
    [(10, 2, 7), (2, 4), N, N])
add("CTCLoss", {"use_label_lengths": True, "blank_label": "last"}, [(10, 2, 7), (2, 4), N])
add("SVMOutput", {}, [(4, 7), (4,)], [(4, 7), N], [(4, 7), (5,)], [(2, 3, 5), N], [N, (4,)])
add("IdentityAttachKLSparseReg", {}, [(4, 7), N], [(2, 3, 5), N], [(4, 7), (6,)])
# --- linear algebra ----------------------------------------------------------------------------------------------------------------
for op in ("_linalg_potrf", "_linalg_potri", "_linalg_inverse", "_linalg_det", "_linalg_slogdet", "_linalg_syevd", "_linalg_sumlogdiag"):
    add(op, {}, [(3, 3)], [(5, 2, 3, 3)], [(3, 4)], [(3,)], [(0, 3, 3)], [(2, 0, 3)], [N])
add("_linalg_gelqf", {}, [(3, 4)], [(5, 3, 4)], [(4, 3)], [(3, 3)], [N], [(0, 3, 4)])
add("_linalg_syrk", {}, [(3, 4)], [(5, 3, 4)], [(3,)], [N])
add("_linalg_syrk", {"transpose": True}, [(5, 3, 4)])
for op in ("_linalg_trmm", "_linalg_trsm"):
    add(op, {}, [(3, 3), (3, 4)], [(5, 3, 3), (5, 3, 4)], [(3, 4), (4, 3)], [(3, 3), (4, 3)], [(5, 3, 3), (6, 3, 4)], [(3, 3), N], [N, (3, 4)])
    add(op, {"rightside": True, "transpose": True}, [(3, 3), (4, 3)], [(3, 3), (3, 4)])
for op in ("_linalg_extractdiag", "_linalg_makediag", "_linalg_extracttrian"):
    add(op, {}, [(4, 4)], [(5, 2, 4, 4)], [(4, 5)], [(4,)], [(0, 4, 4)], [N])
    add(op, {"offset": 1}, [(4, 4)], [(3,)])
    add(op, {"offset": -2}, [(5, 4, 4)], [(5, 3)])
    add(op, {"offset": 4}, [(4, 4)])
add("_linalg_extracttrian", {"offset": 1, "lower": False}, [(4, 4)])
add("_linalg_maketrian", {}, [(6,)], [(5, 10)], [(7,)], [N], [(2, 0)])
add("_linalg_maketrian", {"offset": 1}, [(6,)], [(5, 3)])
add("_linalg_maketrian", {"offset": -1, "lower": False}, [(6,)])
add("khatri_rao", {"num_args": 2}, [(3, 4), (5, 4)], [(3, 4), (5, 3)], [(3, 4), N])
add("khatri_rao", {"num_args": 3}, [(3, 4), (5, 4), (2, 4)])
add("_contrib_fft", {}, [(4, 6)], [(2, 3, 4, 6)], [(2, 3, 4)], [N])
add("_contrib_ifft", {}, [(4, 6)], [(2, 3, 4, 6)], [(4, 7)])
# --- indices -----------------------------------------------------------------------------------------------------------------------
add("_contrib_index_array", {}, [(3, 4, 5)], [(3,)], [N], [(0, 4)])
add("_contrib_index_array", {"axes": "(1, 0)"}, [(3, 4, 5)])
add("_contrib_index_array", {"axes": "(1, -1)"}, [(3, 4, 5)])
add("diag", {}, [(4,)], [(4, 5)], [(3, 4, 5)], [N], [(0, 5)])
add("diag", {"k": 1}, [(4,)], [(4, 5)], [(4, 1)])
add("diag", {"k": -2}, [(4, 5)], [(4,)])
add("diag", {"axis1": -1, "axis2": 0}, [(3, 4, 5)])
add("diag", {"axis1": 1, "axis2": 1}, [(3, 4, 5)])
add("_ravel_multi_index", {"shape": "(4, 5)"}, [(2, 7)], [(2,)], [(2, 3, 7)], [(3, 7)], [N])
add("_unravel_index", {"shape": "(4, 5)"}, [(7,)], [N], [(0,)])
add("_histogram", {"bin_cnt": 10, "range": "(0, 5)"}, [(3, 4)], [N])
add("_histogram", {}, [(3, 4), (6,)], [N, (6,)], [(3, 4), N])
add("_linspace", {"start": 0, "stop": 1, "num": 7}, [])
add("_eye", {"N": 3}, [])
add("_eye", {"N": 3, "M": 5, "k": 1}, [])
add("_np_cumsum", {}, [(3, 4)], [N])
add("_np_cumsum", {"axis": 1}, [(3, 4)])
add("_np_cumsum", {"axis": 2}, [(3, 4)])
add("_shuffle", {}, [(3, 4)], [N])
add("_slice_assign", {"begin": "(0, 1)", "end": "(2, 3)"}, [(3, 4), (2, 2)], [(3, 4), N], [(3, 4), (2, 3)], [N, (2, 2)])
add("_slice_assign_scalar", {"begin": "(0, 1)", "end": "(2, None)"}, [(3, 4)], [N])
add("_scatter_set_nd", {"shape": "(3, 4)"}, [(3, 4), (2,), (2, 2)], [(3, 4), (3,), (2, 2)], [(3, 5), (2,), (2, 2)], [N, (2,), (2, 2)])
add("cast_storage", {"stype": "default"}, [(3, 4)], [N])
add("all_finite", {}, [(3, 4)], [N])
add("multi_all_finite", {"num_arrays": 2}, [(3, 4), (5,)])
for op in ("_contrib_quadratic", "_contrib_gradientmultiplier", "_contrib_round_ste", "_contrib_sign_ste", "_scatter_plus_scalar"):
    add(op, {}, [(3, 4)], [(0, 4)], [N])
add("_scatter_elemwise_div", {}, [(3, 4), (3, 4)], [(3, 4), N], [(3, 4), (4, 4)])
# --- random numbers ----------------------------------------------------------------------------------------------------------------
for op, attributes in (("_random_uniform", {"low": 0, "high": 1}), ("_random_normal", {}), ("_random_gamma", {}), ("_random_exponential", {}),
                       ("_random_poisson", {}), ("_random_negative_binomial", {}), ("_random_generalized_negative_binomial", {}),
                       ("_random_randint", {"low": 0, "high": 5})):
    add(op, {"shape": "(3, 4)", **attributes}, [])
    add(op, attributes, [])
add("_random_uniform", {"shape": "(0, 4)"}, [])
for op in ("_random_uniform_like", "_random_normal_like", "_random_gamma_like", "_random_exponential_like", "_random_poisson_like",
           "_random_negative_binomial_like", "_random_generalized_negative_binomial_like"):
    add(op, {}, [(3, 4)], [N])
for op in ("_sample_uniform", "_sample_normal", "_sample_gamma", "_sample_negative_binomial", "_sample_generalized_negative_binomial"):
    add(op, {}, [(3,), (3,)], [(3,), N])
    add(op, {"shape": "(2, 5)"}, [(3,), (3,)], [(3, 4), (3, 4)], [N, (3,)])
for op in ("_sample_exponential", "_sample_poisson"):
    add(op, {"shape": "(2,)"}, [(3,)], [(3, 4)], [N], [(0, 4)])
add("_sample_multinomial", {}, [(7,)], [(3, 7)], [N], [(0, 7)])
add("_sample_multinomial", {"shape": "(2, 5)", "get_prob": True}, [(7,)], [(3, 7)], [(2, 3, 7)])
for op in ("_random_pdf_uniform", "_random_pdf_normal"):
    add(op, {}, [(3, 5), (3,), (3,)], [(3,), (3,), (3,)], [(3, 5), (4,), (4,)], [N, (3,), (3,)], [(3, 5), N, N])
for op in ("_random_pdf_exponential", "_random_pdf_poisson"):
    add(op, {}, [(3, 5), (3,)], [(3, 4, 5), (3, 4)])
add("_random_pdf_dirichlet", {}, [(3, 5, 7), (3, 7)], [(7,), (7,)], [(3, 5, 7), (3, 6)])
# --- pictures ----------------------------------------------------------------------------------------------------------------------
add("_image_to_tensor", {}, [(8, 9, 3)], [(2, 8, 9, 3)], [(8, 9)], [N])
add("_image_normalize", {"mean": "(0.5,)", "std": "(0.2,)"}, [(3, 8, 9)], [(2, 3, 8, 9)], [(2, 8, 9)], [N])
add("_image_resize", {"size": "(5, 6)"}, [(8, 9, 3)], [(2, 8, 9, 3)], [(8, 9)])
add("_image_resize", {"size": "(5,)"}, [(8, 9, 3)])
add("_image_resize", {"size": "5", "keep_ratio": True}, [(8, 16, 3)], [(16, 8, 3)])
add("_image_crop", {"x": 1, "y": 2, "width": 4, "height": 3}, [(8, 9, 3)], [(2, 8, 9, 3)], [(4, 9, 3)])
for op in ("_image_flip_left_right", "_image_flip_top_bottom"):
    add(op, {}, [(8, 9, 3)], [N])
# --- fused and quantized -----------------------------------------------------------------------------------------------------------
add("_contrib_BatchNormWithReLU", {}, [X4, N, N, N, N], [(0, 3, 8, 9), N, N, N, N])
add("_contrib_quantize", {}, [X4, (1,), (1,)], [X4, N, N], [N, N, N])
add("_contrib_quantize_v2", {}, [X4], [(0, 3)], [N])
add("_contrib_quantize_v2", {"min_calib_range": -1, "max_calib_range": 2, "out_type": "auto"}, [X4])
add("_contrib_requantize", {}, [X4, (1,), (1,)], [X4, N, N])
add("_contrib_dequantize", {}, [X4, (1,), (1,)], [X4, N, N], [X4, (2,), N])
add("_contrib_quantized_act", {"act_type": "relu"}, [X4, (1,), (1,)], [X4, N, N])
add("_contrib_quantized_flatten", {}, [X4, (1,), (1,)], [X4, N, N], [(0, 3, 4), N, N])
add("_contrib_quantized_batch_norm", {}, [X4, (3,), (3,), (3,), (3,), (1,), (1,)], [X4, N, N, N, N, N, N])
add("_contrib_quantized_conv", {"kernel": "(3, 3)", "num_filter": 8, "no_bias": True}, [X4, (8, 3, 3, 3), (1,), (1,), (1,), (1,)],
    [X4, N, N, N, N, N])
add("_contrib_quantized_conv", {"kernel": "(3, 3)", "num_filter": 8, "pad": "(1, 1)", "stride": "(2, 2)"}, [X4] + [N] * 8)
add("_contrib_quantized_conv", {"kernel": "(1, 1)", "num_filter": 6, "num_group": 3, "no_bias": True}, [X4] + [N] * 5)
add("_contrib_quantized_fully_connected", {"num_hidden": 5}, [(4, 7)] + [N] * 8, [X4] + [N] * 8)
add("_contrib_quantized_fully_connected", {"num_hidden": 5, "no_bias": True, "flatten": False}, [(2, 3, 7)] + [N] * 5)
add("_contrib_quantized_pooling", {"kernel": "(2, 2)", "stride": "(2, 2)"}, [X4, N, N], [X4, (1,), (1,)])
add("_contrib_quantized_pooling", {"pool_type": "avg", "global_pool": True}, [X4, N, N])
add("_contrib_quantized_concat", {"num_args": 2, "dim": 1}, [X4, (2, 5, 8, 9), N, N, N, N], [X4, (2, 5, 8, 7), N, N, N, N])
add("_contrib_quantized_concat", {"num_args": 3, "dim": 1}, [X4, X4, X4] + [N] * 6)
add("_contrib_quantized_elemwise_add", {}, [X4, X4, N, N, N, N], [X4, N, N, N, N, N], [X4, (2, 3, 8, 8), N, N, N, N])
add("_contrib_quantized_elemwise_mul", {}, [X4, X4, N, N, N, N])
add("_contrib_quantized_elemwise_mul", {"enable_float_output": True}, [X4, X4, N, N, N, N])
add("_contrib_quantized_embedding", {"input_dim": 20, "output_dim": 4}, [(2, 5), N, N, N], [(2, 5), (20, 4), (1,), (1,)])

"""Convolutions, products, recurrent layers, normalisations, pooling and resizing."""


def window(d, rank, kernel=(1, 3), dilated=True):
    kernel = tuple(d.integer(*kernel) for _ in range(rank))
    attrs = {"kernel": kernel}
    if d.chance(0.5):
        attrs["stride"] = tuple(d.integer(1, 3) for _ in range(rank))
    if d.chance(0.5):
        attrs["pad"] = tuple(d.integer(0, k // 2 if d.chance(0.8) else k - 1) for k in kernel)
    if dilated and d.chance(0.25):
        attrs["dilate"] = tuple(d.integer(1, 2) for _ in range(rank))
    return attrs


def spaces(d, rank):
    return tuple(d.integer(4, 7) for _ in range(rank))


def layer_dtype(d):
    return d.fixed_dtype or ("float32" if d.chance(0.85) else "float64")


def conv(op):
    def draw(d):
        rank = d.choice((1, 2, 2, 2, 3)) if op == "Convolution" else 2
        groups = d.choice((1, 1, 1, 2, 3))
        channels, filters = groups * d.integer(1, 3), groups * d.integer(1, 3)
        dtype = layer_dtype(d)
        data = d.tensor(shape=(d.integer(1, 2), channels, *spaces(d, rank)), dtype=dtype)
        attrs = window(d, rank) | {"num_filter": filters} | ({"num_group": groups} if groups > 1 else {})
        if op == "Convolution_v1" and reaches_beyond(attrs, data.shape[2:]):
            del attrs["dilate"]
        inputs = [data, d.fresh((filters, channels // groups, *attrs["kernel"]), dtype, weight=True)]
        if d.chance(0.4):
            attrs["no_bias"] = True
        else:
            inputs.append(d.fresh((filters,), dtype, weight=True))
        d.node(op, inputs, attrs)
    return draw


def reaches_beyond(attrs, extents):
    """Whether a stretched kernel is longer than the padded data."""
    ones = (1,) * len(extents)
    reach = [(k - 1) * e + 1 for k, e in zip(attrs["kernel"], attrs.get("dilate", ones))]
    return any(r > n + 2 * p for r, n, p in zip(reach, extents, attrs.get("pad", (0,) * len(extents))))


def deconv(d):
    rank = d.choice((1, 2, 2, 2, 3))
    groups = d.choice((1, 1, 2))
    channels, filters = groups * d.integer(1, 2), groups * d.integer(1, 2)
    data = d.tensor(shape=(d.integer(1, 2), channels, *(d.integer(2, 4) for _ in range(rank))), dtype=layer_dtype(d))
    attrs = window(d, rank) | {"num_filter": filters} | ({"num_group": groups} if groups > 1 else {})
    stride, dilate = attrs.get("stride", (1,) * rank), attrs.get("dilate", (1,) * rank)
    if d.chance(0.3):
        attrs["target_shape"] = tuple(s * (n - 1) + (k - 1) * e + 1 - d.integer(0, 1) for s, n, k, e in
                                      zip(stride, data.shape[2:], attrs["kernel"], dilate))
    elif d.chance(0.4):
        attrs["adj"] = tuple(d.integer(0, s - 1) for s in stride)
    inputs = [data, d.fresh((channels, filters // groups, *attrs["kernel"]), data.dtype, weight=True)]
    if d.chance(0.4):
        attrs["no_bias"] = False
        inputs.append(d.fresh((filters,), data.dtype, weight=True))
    d.node("Deconvolution", inputs, attrs)


def fully_connected(d):
    data = d.tensor(dtype=layer_dtype(d), low=2)
    flatten = d.chance(0.6)
    units = d.integer(1, 4)
    width = data.value[0].size if flatten else data.shape[-1]
    inputs = [data, d.fresh((units, width), data.dtype, weight=True)]
    attrs = {"num_hidden": units} | ({} if flatten else {"flatten": False})
    if d.chance(0.3):
        attrs["no_bias"] = True
    else:
        inputs.append(d.fresh((units,), data.dtype, weight=True))
    d.node("FullyConnected", inputs, attrs)


def dot(d):
    a = d.tensor(rank=(1, 2, 3), dtype=layer_dtype(d))
    turned_a, turned_b = a.value.ndim > 1 and d.chance(0.3), d.chance(0.3)
    inner = a.shape[0] if turned_a else a.shape[-1]
    rest = d.dims(1) if a.value.ndim > 1 or d.chance(0.5) else ()
    shape = (*rest, inner) if turned_b and rest else (inner, *rest)
    d.node("dot", [a, d.fresh(shape, a.dtype)], ({"transpose_a": True} if turned_a else {}) | ({"transpose_b": True} if turned_b and rest else {}))


def batch_dot(d):
    n, m, k, p = d.dims(4)
    ta, tb = d.chance(0.4), d.chance(0.4)
    a = d.tensor(shape=(n, k, m) if ta else (n, m, k), dtype=layer_dtype(d))
    d.node("batch_dot", [a, d.fresh((n, p, k) if tb else (n, k, p), a.dtype)], {"transpose_a": ta, "transpose_b": tb})


def gemm(op):
    def draw(d):
        m, k, p = d.dims(3)
        lead = d.dims(d.integer(0, 2))
        ta, tb = d.chance(0.4), d.chance(0.4)
        a = d.tensor(shape=(*lead, *((k, m) if ta else (m, k))), dtype=layer_dtype(d))
        inputs = [a, d.fresh((*lead, *((p, k) if tb else (k, p))), a.dtype)]
        attrs = {"transpose_a": ta, "transpose_b": tb} | d.some(alpha=d.choice((0.5, -2.0)))
        if op == "_linalg_gemm":
            inputs.append(d.fresh((*lead, m, p), a.dtype))
            attrs |= d.some(beta=d.choice((0.5, -1.0)))
        d.node(op, inputs, attrs)
    return draw


def attention(op):
    def draw(d):
        length, other, batch, heads, size = d.integer(1, 4), d.integer(1, 4), d.integer(1, 2), d.integer(1, 3), d.integer(1, 3)
        if "selfatt" in op:
            inputs = [d.tensor(shape=(length, batch, heads * 3 * size), dtype="float32")]
            weights = (batch * heads, length, length)
        elif op.endswith("_qk"):
            inputs = [d.tensor(shape=(length, batch, heads * size), dtype="float32"), d.fresh((other, batch, heads * 2 * size))]
        else:
            inputs = [d.tensor(shape=(other, batch, heads * 2 * size), dtype="float32")]
            weights = (batch * heads, length, other)
        if op.endswith("valatt"):
            inputs.append(d.fresh(weights, kind="unit"))
        d.node(op, inputs, {"heads": heads})
    return draw


GATES = {"lstm": 4, "gru": 3, "rnn_relu": 1, "rnn_tanh": 1}


def rnn(d):
    mode = d.choice(GATES)
    steps, batch, width, size, layers = d.integer(1, 4), d.integer(1, 3), d.integer(1, 4), d.integer(1, 3), d.integer(1, 2)
    both = d.chance(0.4)
    directions = 2 if both else 1
    projection = d.integer(1, size) if mode == "lstm" and d.chance(0.2) else None
    out = projection or size
    count = 0
    for layer in range(layers):
        inner = width if layer == 0 else out * directions
        count += directions * GATES[mode] * size * (inner + out + 2) + (directions * size * projection if projection else 0)
    data = d.tensor(shape=(steps, batch, width), dtype=layer_dtype(d) if not projection else "float32")
    inputs = [data, d.given(d.array((count,), data.dtype, "small"), weight=True), d.fresh((layers * directions, batch, out), data.dtype, "small")]
    attrs = {"mode": mode, "state_size": size, "num_layers": layers} | ({"bidirectional": True} if both else {}) | d.some(state_outputs=True)
    if mode == "lstm":
        inputs.append(d.fresh((layers * directions, batch, size), data.dtype, "small"))
        if d.chance(0.12):
            attrs |= {"lstm_state_clip_min": -0.125, "lstm_state_clip_max": 0.125} | d.some(lstm_state_clip_nan=True)
    if projection:
        attrs["projection_size"] = projection
    if d.chance(0.1):
        attrs["use_sequence_length"] = True
        inputs.append(d.given((d.array((batch,), "int32", steps) + 1).astype(data.dtype)))
    d.node("RNN", inputs, attrs)


def batch_norm(op):
    def draw(d):
        data = d.tensor(low=2, rank=(4,) if op in ("BatchNorm_v1", "_contrib_BatchNormWithReLU") else None, dtype=layer_dtype(d))
        attrs = d.some(eps=d.choice((1e-3, 1e-5)), fix_gamma=d.chance(0.5), use_global_stats=d.chance(0.5))
        axis = 1
        if op == "BatchNorm" and d.chance(0.25):
            axis = d.choice((-1, 0, data.value.ndim - 1))
            attrs["axis"] = axis
        if op == "_contrib_SyncBatchNorm":
            attrs["key"] = "bn"
        if op == "BatchNorm" and d.chance(0.15):
            attrs["output_mean_var"] = True
        c = (data.shape[axis],)
        dtype = data.dtype if data.dtype == "float64" else "float32"
        d.node(op, [data, d.fresh(c, dtype, "positive", True), d.fresh(c, dtype, weight=True), d.fresh(c, dtype, "small", True),
                    d.fresh(c, dtype, "positive", True)], attrs)
    return draw


def layer_norm(d):
    data = d.tensor(dtype=layer_dtype(d), low=2)
    axis = d.integer(-data.value.ndim, data.value.ndim - 1)
    c = (data.shape[axis],)
    d.node("LayerNorm", [data, d.fresh(c, data.dtype, weight=True), d.fresh(c, data.dtype, weight=True)],
           {"axis": axis} | d.some(eps=1e-3) | ({"output_mean_var": True} if d.chance(0.2) else {}))


def group_norm(d):
    groups = d.integer(1, 3)
    c = groups * d.integer(1, 2)
    data = d.tensor(shape=(d.integer(1, 3), c, *d.dims(d.integer(1, 2))), dtype="float32")
    d.node("GroupNorm", [data, d.fresh((groups,) if d.chance(0.3) else (c,), weight=True), d.fresh((c,), weight=True)],
           {"num_groups": groups} | d.some(eps=1e-3))


def instance_norm(d):
    data = d.tensor(low=3, dtype="float32")
    c = data.shape[1:2]
    d.node("InstanceNorm", [data, d.fresh(c, weight=True), d.fresh(c, weight=True)], d.some(eps=1e-2))


def l2_norm(d):
    mode = d.choice(("channel", "instance", "spatial"))
    d.node("L2Normalization", [d.tensor(low=3 if mode != "instance" else 2, dtype="float32")], {"mode": mode} | d.some(eps=1e-3))


def lrn(d):
    d.node("LRN", [d.tensor(rank=4, dtype="float32")], {"nsize": d.choice((1, 3, 5))} | d.some(alpha=0.1, beta=d.choice((0.5, 1.0)), knorm=1.0))


def kl_penalty(d):
    data = d.tensor(rank=2, dtype="float32", kind="unit")
    d.node("IdentityAttachKLSparseReg", [data, d.fresh(data.shape[1:], "float32", "unit", True)])


def pooling(op):
    def draw(d):
        rank = d.choice((1, 2, 2, 2, 3)) if op == "Pooling" else 2
        kind = d.choice(("max", "avg", "sum", "lp") if op == "Pooling" else ("max", "avg", "sum"))
        data = d.tensor(shape=(d.integer(1, 2), d.integer(1, 3), *spaces(d, rank)), dtype=layer_dtype(d))
        attrs = window(d, rank, (1, 4), dilated=False) | {"pool_type": kind}
        if d.chance(0.15):
            attrs["global_pool"] = True
        attrs |= d.some(pooling_convention=d.choice(("valid", "full", "full") + (("same",) if op == "Pooling" and rank == 1 else ())))
        if kind == "lp":
            attrs["p_value"] = d.integer(1, 3)
        if kind == "avg" and op == "Pooling":
            attrs |= d.some(count_include_pad=d.chance(0.5))
        d.node(op, [data], attrs)
    return draw


def adaptive_pool(d):
    size = d.choice(((), (2,), (3, 2), (1,), (4, 4)))
    d.node("_contrib_AdaptiveAvgPooling2D", [d.tensor(rank=4, dtype="float32")], {"output_size": size} if size else {})


def upsampling(d):
    if d.chance(0.7):
        parts = d.integer(1, 2)
        first = d.tensor(rank=4, dtype="float32")
        scale = d.integer(1, 3)
        d.node("UpSampling", [first] + [d.fresh((first.shape[0], d.integer(1, 2), *first.shape[2:])) for _ in range(parts - 1)],
               {"scale": scale, "sample_type": "nearest", "num_args": parts})
        return
    scale = d.integer(2, 3)
    data = d.tensor(rank=4, dtype="float32")
    kernel = 2 * scale - scale % 2
    d.node("UpSampling", [data, d.fresh((data.shape[1], 1, kernel, kernel), weight=True)],
           {"scale": scale, "sample_type": "bilinear", "num_filter": data.shape[1], "num_args": 2})


def bilinear_resize(d):
    data = d.tensor(rank=4, dtype="float32")
    mode = d.choice(("size", "size", "like", "scale", "odd_scale", "to_even_down", "to_even_up", "to_odd_down", "to_odd_up"))
    attrs = d.some(align_corners=d.chance(0.5))
    if mode == "size":
        d.node("_contrib_BilinearResize2D", [data], attrs | {"height": d.integer(1, 7), "width": d.integer(1, 7)})
    elif mode == "like":
        d.node("_contrib_BilinearResize2D", [data, d.fresh(d.dims(4))], attrs | {"mode": "like"})
    elif mode == "scale":
        d.node("_contrib_BilinearResize2D", [data], attrs | {"scale_height": d.choice((0.5, 1.5, 2.0)), "scale_width": d.choice((1.0, 2.0))})
    elif mode == "odd_scale":
        d.node("_contrib_BilinearResize2D", [data], attrs | {"mode": mode, "scale_height": d.choice((2.0, 1.0)), "scale_width": 2.0})
    else:
        d.node("_contrib_BilinearResize2D", [data], attrs | {"mode": mode})


def crop(d):
    data = d.tensor(rank=4, dtype="float32")
    h, w = d.integer(1, data.shape[2]), d.integer(1, data.shape[3])
    place = {"center_crop": True} if d.chance(0.4) else d.some(offset=(d.integer(0, data.shape[2] - h), d.integer(0, data.shape[3] - w)))
    if d.chance(0.5):
        d.node("Crop", [data], {"h_w": (h, w), "num_args": 1} | place)
    else:
        d.node("Crop", [data, d.fresh((1, 1, h, w))], {"num_args": 2} | place)


OPERATORS = {"Convolution": conv("Convolution"), "Convolution_v1": conv("Convolution_v1"), "Deconvolution": deconv,
             "FullyConnected": fully_connected, "dot": dot, "batch_dot": batch_dot, "_linalg_gemm": gemm("_linalg_gemm"),
             "_linalg_gemm2": gemm("_linalg_gemm2"), "RNN": rnn, "LayerNorm": layer_norm, "GroupNorm": group_norm, "InstanceNorm": instance_norm,
             "L2Normalization": l2_norm, "LRN": lrn, "IdentityAttachKLSparseReg": kl_penalty, "Pooling": pooling("Pooling"),
             "Pooling_v1": pooling("Pooling_v1"), "_contrib_AdaptiveAvgPooling2D": adaptive_pool, "UpSampling": upsampling,
             "_contrib_BilinearResize2D": bilinear_resize, "Crop": crop}
OPERATORS |= {op: batch_norm(op) for op in ("BatchNorm", "BatchNorm_v1", "_contrib_SyncBatchNorm", "_contrib_BatchNormWithReLU")}
OPERATORS |= {f"_contrib_interleaved_matmul_{op}": attention(f"_contrib_interleaved_matmul_{op}")
              for op in ("selfatt_qk", "selfatt_valatt", "encdec_qk", "encdec_valatt")}

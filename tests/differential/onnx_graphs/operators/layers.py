"""Layers of networks: products, convolutions, pooling, normalization, recurrence, attention."""
import numpy as np

from runtime import Refused


def data(d, op, rank, kind="sum", **more):
    return d.tensor(op, rank=rank, kind=kind, **more)


def dense_dtype(d, op):
    return d.dtype(op, floats=not d.chance(0.15))


def mat_mul(d):
    dtype = dense_dtype(d, "MatMul")
    n, k, m = d.extent(), d.integer(1, 6), d.extent()
    case = d.integer(0, 4)
    left = {0: (n, k), 1: (k,), 2: (2, n, k), 3: (n, k), 4: (1, 3, n, k)}[case]
    right = {0: (k, m), 1: (k, m), 2: (k, m), 3: (k,), 4: (2, 1, k, m)}[case]
    a = d.tensor(shape=left, dtype=dtype, kind="sum")
    b = d.weight(right, dtype) if d.chance(0.6) else d.tensor(shape=right, dtype=dtype, kind="sum")
    d.node("MatMul", [a, b])


def gemm(d):
    dtype = dense_dtype(d, "Gemm")
    n, k, m = d.integer(1, 4), d.integer(1, 6), d.integer(1, 5)
    ta, tb = d.integer(0, 1), d.integer(0, 1)
    a = d.tensor(shape=(k, n) if ta else (n, k), dtype=dtype, kind="sum")
    b = d.weight((m, k) if tb else (k, m), dtype)
    c = d.weight(d.choice(((m,), (1, m), (n, m), (n, 1), ())), dtype) if d.chance(0.7) or d.opset < 11 else None
    reals = d.some(alpha=0.5, beta=2.0) if dtype[:5] == "float" else {}
    d.node("Gemm", [a, b, c], **d.some(transA=ta, transB=tb) if not ta and not tb else {"transA": ta, "transB": tb}, **reals)


def einsum(d):
    a, b, c = d.integer(1, 4), d.integer(1, 4), d.integer(1, 4)
    equation, shapes = d.choice((("ij,jk->ik", ((a, b), (b, c))), ("ij->ji", ((a, b),)), ("bij,bjk->bik", ((2, a, b), (2, b, c))), ("ij,ij->", ((a, b), (a, b))),
                                 ("ij->i", ((a, b),)), ("i,j->ij", ((a,), (b,))), ("...ij,...jk->...ik", ((2, a, b), (2, b, c))), ("ii->i", ((a, a),)),
                                 ("ij,jk,kl->il", ((a, b), (b, c), (c, 2))), ("bhwc,hkc->bhwk", ((1, a, 2, b), (a, c, b))), ("ij,jk", ((a, b), (b, c)))))
    dtype = d.choice(("float32", "float32", "float64", "int64"))
    d.node("Einsum", [d.tensor(shape=s, dtype=dtype, kind="sum") for s in shapes], equation=equation)


def windows(d, spatial, least=1):
    """Kernel, strides, dilations and pads or auto_pad for that many axes."""
    kernel = [d.integer(1, 3) for _ in range(spatial)]
    attrs = {"kernel_shape": kernel}
    if d.chance(0.6):
        attrs["strides"] = [d.integer(1, 2) for _ in range(spatial)]
    dilations = [d.integer(1, 2) for _ in range(spatial)] if d.chance(0.3) else [1] * spatial
    if d.chance(0.25):
        attrs["auto_pad"] = d.choice(("SAME_UPPER", "SAME_LOWER", "VALID"))
    elif d.chance(0.6):
        attrs["pads"] = [d.integer(0, k - 1) for _ in range(2) for k in kernel]
    reach = [(k - 1) * dil + 1 for k, dil in zip(kernel, dilations)]
    return attrs, dilations, reach


def image(d, op, spatial, channels, reach, dtype=None, kind="sum"):
    shape = (d.integer(1, 2), channels, *(r + d.integer(0, 4) for r in reach))
    fits = [r for r in d.refs if r.rank == spatial + 2 and r.dtype == "float32" and r.shape[1] == channels and d.suits(r, kind)
            and all(n >= w for n, w in zip(r.shape[2:], reach))]
    return d.choice(fits) if fits and dtype in (None, "float32") and d.chance(d.reuse) else d.fresh(shape, dtype or "float32", kind)


def conv(d):
    spatial = d.choice((1, 2, 2, 2, 3))
    attrs, dilations, reach = windows(d, spatial)
    group = d.choice((1, 1, 2, 4))
    channels, out = group * d.integer(1, 3), group * d.integer(1, 3)
    dtype = d.choice(("float32", "float32", "float32", "float64", "float16")) if not d.floats_only else "float32"
    x = image(d, "Conv", spatial, channels, reach, dtype)
    w = d.weight((out, channels // group, *attrs["kernel_shape"]), dtype)
    b = d.weight((out,), dtype) if d.chance(0.5) else None
    if dilations != [1] * spatial and attrs.get("auto_pad", "VALID") == "VALID":
        attrs["dilations"] = dilations
    d.node("Conv", [x, w, b], group=group, **attrs)


def conv_transpose(d):
    spatial = d.choice((1, 2, 2))
    attrs, dilations, _ = windows(d, spatial)
    group = d.choice((1, 1, 2))
    channels, out = group * d.integer(1, 2), d.integer(1, 3)
    x = image(d, "ConvTranspose", spatial, channels, [2] * spatial)
    w = d.weight((channels, out, *attrs["kernel_shape"]))
    b = d.weight((out * group,)) if d.chance(0.5) else None
    strides = attrs.get("strides", [1] * spatial)
    if d.chance(0.3) and "auto_pad" not in attrs:
        attrs["output_padding"] = [d.integer(0, max(s, e) - 1) for s, e in zip(strides, dilations)]
    if dilations != [1] * spatial and "auto_pad" not in attrs:
        attrs["dilations"] = dilations
    d.node("ConvTranspose", [x, w, b], group=group, **attrs)


def pool(op):
    def draw(d):
        spatial = d.choice((1, 2, 2, 3))
        attrs, dilations, reach = windows(d, spatial)
        dtype = "float32"
        if op == "MaxPool" and d.opset >= 12 and d.chance(0.15):
            dtype = d.choice(("int8", "uint8"))
        elif d.chance(0.15):
            dtype = "float64"
        x = image(d, op, spatial, d.integer(1, 3), reach, dtype, "real" if op == "MaxPool" else "sum")
        if op == "MaxPool" and d.opset >= 10 and dilations != [1] * spatial and "auto_pad" not in attrs:
            attrs["dilations"] = dilations
        if op in ("MaxPool", "AveragePool") and d.opset >= 10 and d.chance(0.4) and "auto_pad" not in attrs:
            attrs["ceil_mode"] = 1
        if op == "AveragePool":
            attrs |= d.some(count_include_pad=d.integer(0, 1))
        if op == "LpPool":
            attrs |= d.some(p=d.integer(1, 3))
        two = op == "MaxPool" and d.opset >= 8 and d.chance(0.3)
        if op == "MaxPool" and two:
            attrs |= d.some(storage_order=d.integer(0, 1))
        d.node(op, [x], 2 if two else 1, **attrs)
    return draw


def global_pool(op):
    def draw(d):
        x = data(d, op, (3, 4), "real" if "Max" in op else "sum")
        d.node(op, [x], **(d.some(p=d.integer(1, 3)) if "Lp" in op else {}))
    return draw


def max_unpool(d):
    x = d.fresh((1, d.integer(1, 2), 4, 4))
    pooled = d.node("MaxPool", [x], 2, kernel_shape=[2, 2], strides=[2, 2])
    d.node("MaxUnpool", pooled, kernel_shape=[2, 2], strides=[2, 2])


def batch_norm(d):
    x = data(d, None, (2, 3, 4), dtype="float32")
    c = x.shape[1]
    parts = [d.weight((c,), kind="small"), d.weight((c,), kind="small"), d.weight((c,), kind="small"), d.weight((c,), kind="positive")]
    d.node("BatchNormalization", [x, *parts], **d.some(epsilon=1e-3))


def instance_norm(d):
    x = data(d, None, (3, 4), dtype="float32")
    c = x.shape[1]
    d.node("InstanceNormalization", [x, d.weight((c,)), d.weight((c,))], **d.some(epsilon=1e-3))


def layer_norm(d):
    dtype = d.choice(("float32", "float32", "float32", "float64", "float16"))
    x = data(d, None, (2, 3, 4), dtype=dtype)
    axis = d.axis(x.rank)
    shape = x.shape[axis:] if axis < 0 else x.shape[axis:]
    scale, bias = d.weight(shape, dtype, "positive"), d.weight(shape, dtype) if d.chance(0.6) else None
    d.node("LayerNormalization", [x, scale, bias], d.choice((1, 1, 3)), **d.some(axis=axis, epsilon=1e-3) if axis == -1 else {"axis": axis})


def rms_norm(d):
    dtype = d.choice(("float32", "float32", "float16", "float64"))
    x = data(d, None, (2, 3), dtype=dtype)
    axis = d.axis(x.rank)
    d.node("RMSNormalization", [x, d.weight(x.shape[axis:], dtype, "positive")], axis=axis, **d.some(epsilon=1e-3))


def group_norm(d):
    groups, each = d.integer(1, 3), d.integer(1, 2)
    x = d.fresh((d.integer(1, 2), groups * each, d.integer(1, 3), d.integer(1, 3)), "float32", "sum")
    size = groups if d.opset < 21 else groups * each
    d.node("GroupNormalization", [x, d.weight((size,)), d.weight((size,))], num_groups=groups, **d.some(epsilon=1e-3))


def mean_variance(d):
    x = data(d, None, 4, dtype="float32")
    d.node("MeanVarianceNormalization", [x], axes=d.choice(([0, 2, 3], [2, 3], [1], [0, 1, 2, 3])))


def lp_norm(d):
    x = data(d, "LpNormalization", (2, 3))
    d.node("LpNormalization", [x], **d.some(axis=d.axis(x.rank), p=d.integer(1, 2)))


def lrn(d):
    x = data(d, None, 4, dtype="float32")
    d.node("LRN", [x], size=d.choice((1, 3, 5)), **d.some(alpha=0.01, beta=0.5, bias=2.0))


def dropout(d):
    x = d.tensor("Dropout")
    if d.opset < 12:
        d.node("Dropout", [x], **d.some(ratio=0.3))
    else:
        ratio = d.constant(0.3, "float32") if d.chance(0.6) else None
        training = d.constant(False) if d.chance(0.4) else None
        d.node("Dropout", [x, ratio, training], 2 if d.chance(0.4) else 1)


def recurrent(op, gates):
    def draw(d):
        steps, batch, size, hidden = d.integer(1, 4), d.integer(1, 3), d.integer(1, 4), d.integer(1, 4)
        direction = d.choice(("forward", "reverse", "bidirectional"))
        n = 2 if direction == "bidirectional" else 1
        x = d.fresh((steps, batch, size), "float32", "sum")
        w, r = d.weight((n, gates * hidden, size)), d.weight((n, gates * hidden, hidden))
        b = d.weight((n, 2 * gates * hidden)) if d.chance(0.6) else None
        lengths = d.given(d.np.randint(1, steps + 1, batch).astype(np.int32)) if d.chance(0.3) else None
        state = d.fresh((n, batch, hidden), "float32", "small") if d.chance(0.4) else None
        inputs = [x, w, r, b, lengths, state]
        attrs = {"hidden_size": hidden, "direction": direction} | (d.some(clip=0.5) if d.chance(0.2) else {})
        if op == "LSTM":
            inputs += [d.fresh((n, batch, hidden), "float32", "small") if d.chance(0.4) else None, d.weight((n, 3 * hidden)) if d.chance(0.3) else None]
            attrs |= {"input_forget": 1} if d.chance(0.1) else {}
        if op == "GRU":
            attrs |= d.some(linear_before_reset=d.integer(0, 1))
        if d.chance(0.2):
            each = {"LSTM": ["HardSigmoid", "Tanh", "Softsign"], "GRU": ["HardSigmoid", "Softsign"], "RNN": [d.choice(("Relu", "Sigmoid", "Affine", "Elu"))]}[op]
            attrs["activations"] = each * n
            if each == ["Affine"]:  # whose numbers have no defaults
                attrs |= {"activation_alpha": [0.5] * n, "activation_beta": [0.25] * n}
        d.node(op, inputs, 3 if op == "LSTM" else 2, **attrs)
    return draw


def attention(d):
    b, heads, kv, q, k, w, v = d.integer(1, 2), 2, d.choice((1, 2)), d.integer(1, 4), d.integer(1, 4), d.choice((2, 4)), d.choice((2, 4))
    flat = d.chance(0.4)
    shape = lambda n, length, width: (b, length, n * width) if flat else (b, n, length, width)
    inputs = [d.fresh(shape(heads, q, w), "float32", "small"), d.fresh(shape(kv, k, w), "float32", "small"), d.fresh(shape(kv, k, v), "float32", "small")]
    attrs = {"q_num_heads": heads, "kv_num_heads": kv} if flat else {}
    past = d.integer(1, 2) if d.chance(0.25) else 0
    mask = None
    if d.chance(0.4):
        mask = d.fresh((q, k + past), d.choice(("float32", "bool")), "small")
        if mask.dtype == "bool":
            mask.value[..., 0] = True
    inputs.append(mask)
    outputs = 1
    if past:
        inputs += [d.fresh((b, kv, past, w), "float32", "small"), d.fresh((b, kv, past, v), "float32", "small")]
        outputs = 3
    attrs |= d.some(scale=0.5) | ({"is_causal": 1} if d.chance(0.3) else {}) | ({"softcap": 2.0} if d.chance(0.2) else {})
    if d.chance(0.15):
        outputs = 4
        attrs["qk_matmul_output_mode"] = d.integer(0, 3)
    names = [f"attention{d.count + 1}_{j}" if j in (0, *range(1, outputs)) else "" for j in range(outputs)]
    if outputs == 4 and not past:
        names[1] = names[2] = ""
    d.node("Attention", inputs, names, **attrs)


def rotary(d):
    b, n, s, w = d.integer(1, 2), d.integer(1, 2), d.integer(1, 4), d.choice((4, 8))
    x = d.fresh((b, n, s, w), "float32", "small")
    if d.chance(0.5):
        caches = [d.fresh((6, w // 2), "float32", "small") for _ in range(2)]
        where = d.given(d.np.randint(0, 6, (b, s)).astype(np.int64))
    else:
        caches = [d.fresh((b, s, w // 2), "float32", "small") for _ in range(2)]
        where = None
    d.node("RotaryEmbedding", [x, *caches, where], **d.some(interleaved=d.integer(0, 1)))


def det(d):
    n = d.integer(1, 4)
    d.node("Det", [d.fresh((*d.dims(d.integer(0, 2)), n, n), d.choice(("float32", "float64")), "calm")])


OPERATORS = {
    "MatMul": mat_mul, "Gemm": gemm, "Einsum": einsum, "Conv": conv, "ConvTranspose": conv_transpose, "MaxPool": pool("MaxPool"), "AveragePool": pool("AveragePool"),
    "LpPool": pool("LpPool"), "GlobalAveragePool": global_pool("GlobalAveragePool"), "GlobalMaxPool": global_pool("GlobalMaxPool"),
    "GlobalLpPool": global_pool("GlobalLpPool"), "MaxUnpool": max_unpool, "BatchNormalization": batch_norm, "InstanceNormalization": instance_norm,
    "LayerNormalization": layer_norm, "RMSNormalization": rms_norm, "GroupNormalization": group_norm, "MeanVarianceNormalization": mean_variance,
    "LpNormalization": lp_norm, "LRN": lrn, "Dropout": dropout, "LSTM": recurrent("LSTM", 4), "GRU": recurrent("GRU", 3), "RNN": recurrent("RNN", 1),
    "Attention": attention, "RotaryEmbedding": rotary, "Det": det,
}

"""Reductions, softmax and order."""


def some_axes(d, rank):
    """None, one axis or several, also from the end."""
    if d.chance(0.25):
        return None
    axes = d.rng.sample(range(rank), d.integer(1, rank))
    axes = [a - rank if d.chance(0.3) else a for a in axes]
    return axes[0] if len(axes) == 1 and d.chance(0.5) else tuple(axes)


def reduction(op, kind):
    def draw(d):
        data = d.tensor(kind=kind)
        axes = some_axes(d, data.value.ndim)
        attrs = {} if axes is None else {"axis": axes}
        d.node(op, [data], attrs | d.some(keepdims=d.chance(0.5)) | (d.some(exclude=True) if axes is not None and d.chance(0.3) else {}))
    return draw


def norm(d):
    data = d.tensor(dtype=d.dtype(True))
    axes = some_axes(d, data.value.ndim)
    if isinstance(axes, tuple) and len(axes) > 2:
        axes = axes[:2]
    attrs = {} if axes is None else {"axis": axes}
    d.node("norm", [data], attrs | d.some(ord=d.choice((1, 2)), keepdims=d.chance(0.5)))


def moments(d):
    data = d.tensor(dtype=d.dtype(True))
    axes = some_axes(d, data.value.ndim)
    axes = (axes,) if isinstance(axes, int) else axes
    d.node("moments", [data], ({} if axes is None else {"axes": axes}) | d.some(keepdims=d.chance(0.5)))


def extreme_place(op):
    def draw(d):
        data = d.tensor(kind="exact")
        d.node(op, [data], d.some(axis=d.integer(-data.value.ndim, data.value.ndim - 1), keepdims=d.chance(0.5)))
    return draw


def softmax(op):
    def draw(d):
        data = d.tensor(dtype=d.dtype(True))
        axis = d.integer(-data.value.ndim, data.value.ndim - 1)
        attrs, inputs = d.some(axis=axis, temperature=d.choice((0.5, 2.0))), [data]
        if d.chance(0.15):
            attrs["dtype"] = d.choice(("float32", "float64") if data.dtype != "float16" else ("float16", "float32"))
        if op == "softmax" and d.chance(0.25) and data.value.ndim > 1:
            attrs |= {"axis": axis, "use_length": True}
            shape = tuple(n for i, n in enumerate(data.shape) if i != axis % data.value.ndim)
            inputs.append(d.given(d.array(shape, "int32", data.shape[axis]) + d.array(shape, "int32", 2)))
        d.node(op, inputs, attrs)
    return draw


def softmax_activation(d):
    mode = d.choice(("instance", "channel", None))
    data = d.tensor(dtype=d.dtype(True), low=3 if mode == "channel" else 2)
    d.node("SoftmaxActivation", [data], {"mode": mode} if mode else {})


def softmax_output(d):
    data = d.tensor(dtype=d.dtype(True), low=2)
    form = d.choice(("plain", "multi_output", "preserve_shape"))
    if form == "plain" and data.value.ndim == 4 and d.chance(0.8):  # a known difference
        form = "preserve_shape"
    shape = data.shape[:-1] if form == "plain" else data.shape[:1] + data.shape[2:] if form == "multi_output" else data.shape[:-1]
    attrs = {} if form == "plain" else {form: True}
    d.node("SoftmaxOutput", [data, d.fresh(shape, data.dtype, 2)], attrs | d.some(use_ignore=True, normalization=d.choice(("batch", "valid"))))


def cross_entropy(d):
    data = d.tensor(rank=2, dtype="float32")
    d.node("softmax_cross_entropy", [data, d.fresh(data.shape[:1], "float32", data.shape[1])])


def svm(d):
    data = d.tensor(rank=2, dtype=d.dtype(True))
    d.node("SVMOutput", [data, d.fresh(data.shape[:1], data.dtype, data.shape[1])], d.some(margin=0.5, use_linear=True))


def distinct(d):
    """Values of which no two along an axis are equal: their order is certain."""
    shape = d.shape(1, 3)
    count = 1
    for n in shape:
        count *= n
    values = d.np.permutation(count) / 8.0 - 1
    return d.given(values.astype(d.dtype()).reshape(shape))


def ordered(op):
    def draw(d):
        data = distinct(d) if d.chance(0.7) else d.tensor(kind="exact", high=3)
        rank = data.value.ndim
        axis = d.integer(-rank, rank - 1)
        attrs = d.some(axis=None if d.chance(0.2) else axis, is_ascend=d.chance(0.5))
        if op == "topk":
            along = data.value.size if "axis" in attrs and attrs["axis"] is None else data.shape[attrs.get("axis", -1)]
            attrs |= {"k": d.integer(0, along)} | d.some(ret_typ=d.choice(("both", "indices", "mask", "value")))
        if op != "sort":
            attrs |= d.some(dtype=d.choice(("float32", "int32", "int64", "float64", "uint8")))
        d.node(op, [data], attrs)
    return draw


def cumulative(d):
    data = d.tensor()
    attrs = d.some(axis=d.integer(-data.value.ndim, data.value.ndim - 1))
    if d.chance(0.25):
        attrs["dtype"] = d.choice(("float32", "float64", "int32", "int64")) if data.exact else "float64"
    d.node("_np_cumsum", [data], attrs)


def finite(op):
    def draw(d):
        arrays = [d.tensor(dtype="float32") for _ in range(1 if op == "all_finite" else d.integer(1, 3))]
        attrs = {} if op == "all_finite" else {"num_arrays": len(arrays)}
        d.node(op, arrays, attrs)
    return draw


def histogram(d):
    data = d.tensor(kind="exact", dtype=d.choice(("float32", "float64")))
    if d.chance(0.5):
        d.node("_histogram", [data], {"bin_cnt": d.integer(1, 6), "range": (d.choice((-4.0, -1.0)), d.choice((1.0, 3.5)))})
    else:
        edges = d.np.choice(range(-32, 33), d.integer(2, 6), replace=False)
        edges.sort()
        d.node("_histogram", [data, d.given((edges / 8.0).astype(data.dtype))])


OPERATORS = {op: reduction(op, "real") for op in ("sum", "mean", "prod", "nansum", "nanprod", "max", "min")}
OPERATORS |= {op: extreme_place(op) for op in ("argmax", "argmin")}
OPERATORS |= {"argmax_channel": lambda d: d.node("argmax_channel", [d.tensor(kind="exact", low=2)])}
OPERATORS |= {op: softmax(op) for op in ("softmax", "log_softmax", "softmin")}
OPERATORS |= {op: ordered(op) for op in ("topk", "sort", "argsort")}
OPERATORS |= {"norm": norm, "moments": moments, "SoftmaxActivation": softmax_activation, "SoftmaxOutput": softmax_output,
              "softmax_cross_entropy": cross_entropy, "SVMOutput": svm, "_np_cumsum": cumulative, "_histogram": histogram}
OPERATORS |= {op: finite(op) for op in ("all_finite", "multi_all_finite")}

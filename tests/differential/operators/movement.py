"""Operators that move elements: shapes, slices, places."""
import numpy as np

from draw import FLOATS, INTEGERS, Refused


def any_axis(d, ref, extra=0):
    rank = ref.value.ndim + extra
    return d.integer(-rank, rank - 1)


def joined(op):
    def draw(d):
        first = d.tensor(low=2)
        axis = d.integer(0, first.value.ndim - 1)
        parts = [first]
        for _ in range(d.integer(0, 3)):
            shape = list(first.shape)
            if op == "Concat":
                shape[axis] = d.integer(1, 4)
            parts.append(d.tensor(shape=shape, dtype=first.dtype))
        attrs = {"num_args": len(parts)}
        if op == "Concat":
            attrs |= {"dim": axis - first.value.ndim if d.chance(0.3) else axis}
        elif d.chance(0.7):
            attrs["axis"] = any_axis(d, first, 1)
        d.node(op, parts, attrs)
    return draw


def param_concat(d):
    parts = [d.fresh((d.integer(1, 5),), "float32") for _ in range(d.integer(1, 3))]
    d.node("_rnn_param_concat", parts, {"dim": 0, "num_args": len(parts)})


def split_channel(d):
    outputs = d.integer(1, 3)
    shape = list(d.dims(d.integer(2, 4)))
    axis = d.integer(0, len(shape) - 1)
    squeeze = d.chance(0.3)
    shape[axis] = outputs if squeeze else outputs * d.integer(1, 3)
    d.node("SliceChannel", [d.tensor(shape=shape)], {"num_outputs": outputs, "axis": axis - len(shape) if d.chance(0.3) else axis}
           | ({"squeeze_axis": True} if squeeze else {}))


def split_v2(d):
    shape = list(d.dims(d.integer(1, 3)))
    axis = d.integer(0, len(shape) - 1)
    if d.chance(0.5):
        sections = d.integer(1, 3)
        shape[axis] = sections * d.integer(1, 2)
        d.node("_split_v2", [d.tensor(shape=shape)], {"axis": axis, "indices": (), "sections": sections})
    else:
        shape[axis] = d.integer(3, 6)
        inner = sorted(d.rng.sample(range(1, shape[axis]), d.integer(1, 2)))
        d.node("_split_v2", [d.tensor(shape=shape)], {"axis": axis, "indices": (0, *inner), "sections": 0})


def codes(d, shape):
    """A shape attribute of Reshape with its codes; what does not fit is refused by MXNet."""
    size = 1
    for n in shape:
        size *= n
    form = d.integer(0, 5)
    if form == 0:
        return (-1,)
    if form == 1:
        return tuple(0 if d.chance(0.6) else n for n in shape)
    if form == 2:
        return (0, -1) if len(shape) > 1 else (-1,)
    if form == 3 and len(shape) > 1:
        return (-3, *(0 for _ in shape[2:]))
    if form == 4 and d.chance(0.5):  # every axis split, what is left open in places that vary
        splits = []
        for n in shape:
            first = d.choice([m for m in range(1, n + 1) if n % m == 0])
            splits += [-4, *d.choice(((first, -1), (-1, n // first), (first, n // first)))]
        return tuple(splits)
    if form == 4:
        divisors = [n for n in range(1, shape[0] + 1) if shape[0] % n == 0]
        first = d.choice(divisors)
        pair = d.choice(((first, -1), (-1, first), (first, shape[0] // first)))
        return (-4, *pair, -2)
    target = [d.choice([n for n in range(1, size + 1) if size % n == 0]), -1]
    return tuple(target) if d.chance(0.7) else (-2,)


def reshape(d):
    data = d.tensor()
    shape = codes(d, data.shape)
    # A Reshape whose codes do not fit can corrupt MXNet's memory: counted out here, but for those of a reversed one.
    reverse = d.chance(0.2) and all(c >= -1 for c in shape) and shape.count(0) <= len(data.shape)
    d.node("Reshape", [data], {"shape": shape} | ({"reverse": True} if reverse else {}))


def expand(d):
    data = d.tensor(high=3)
    d.node("expand_dims", [data], {"axis": any_axis(d, data, 1)})


def squeeze(d):
    shape = tuple(d.choice((1, 2, 1, 3)) for _ in range(d.integer(2, 4)))
    ones = [i for i, n in enumerate(shape) if n == 1]
    data = d.tensor(shape=shape)
    if ones and d.chance(0.6):
        axes = d.rng.sample(ones, d.integer(1, len(ones)))
        d.node("squeeze", [data], {"axis": tuple(axes)})
    else:
        d.node("squeeze", [data])


def transpose(d):
    data = d.tensor()
    axes = list(range(data.value.ndim))
    d.rng.shuffle(axes)
    d.node("transpose", [data], d.some(axes=tuple(axes)))


def swap(d):
    data = d.tensor(low=2)
    rank = data.value.ndim
    d.node("SwapAxis", [data], {"dim1": d.integer(0, rank - 1), "dim2": d.integer(0, rank - 1)})


def bounds(d, n):
    step = d.choice((None, 1, 1, 2, -1, -2))
    begin, end = d.integer(0, n - 1), d.integer(1, n)
    if step is not None and step < 0:
        begin, end = max(begin, end - 1), min(begin, end - 1) - 1
        return begin, (None if end < 0 else end), step
    begin, end = min(begin, end - 1), max(begin + 1, end)
    if d.chance(0.2):
        begin -= n
    if d.chance(0.2):
        return (begin if d.chance(0.5) else None), None, step
    return begin, end, step


def slices(d, shape):
    told = [bounds(d, n) for n in shape[:d.integer(1, len(shape))]]
    begin, end, step = (tuple(t[i] for t in told) for i in range(3))
    return {"begin": begin, "end": end} | ({} if all(s is None for s in step) else {"step": step})


def slice_(d):
    data = d.tensor()
    d.node("slice", [data], slices(d, data.shape))


def slice_axis(d):
    data = d.tensor()
    axis = any_axis(d, data)
    n = data.shape[axis]
    begin = d.integer(0, n - 1)
    end = d.choice((None, d.integer(begin + 1, n)))
    d.node("slice_axis", [data], {"axis": axis, "begin": begin - n if d.chance(0.3) else begin, "end": end})


def slice_like(d):
    data = d.tensor()
    like = d.fresh(tuple(d.integer(1, n) for n in data.shape), "float32")
    axes = d.rng.sample(range(data.value.ndim), d.integer(1, data.value.ndim))
    d.node("slice_like", [data, like], d.some(axes=tuple(axes)))


def slice_assign(scalar):
    return lambda d: assigned(d, scalar)


def assigned(d, scalar):
    data = d.tensor()
    attrs = slices(d, data.shape)
    if scalar:
        d.node("_slice_assign_scalar", [data], attrs | {"scalar": d.choice((0, 1.5, -2))})
        return
    part = tuple(slice(*(None if t is None else t for t in told)) for told in zip(attrs["begin"], attrs["end"],
                                                                                   attrs.get("step", (None,) * len(attrs["begin"]))))
    d.node("_slice_assign", [data, d.fresh(data.value[part].shape, data.dtype)], attrs)


def pad(d):
    data = d.tensor(rank=(4, 5), dtype=d.dtype(True))
    mode = d.choice(("constant", "edge", "reflect"))
    widths = [0, 0, 0, 0]
    for n in data.shape[2:]:
        limit = n - 1 if mode == "reflect" else 3
        widths += [d.integer(0, min(limit, 3)), d.integer(0, min(limit, 3))]
    d.node("Pad", [data], {"mode": mode, "pad_width": tuple(widths)} | d.some(constant_value=d.choice((1.5, -2, 0))))


def tile(d):
    data = d.tensor(high=3)
    d.node("tile", [data], {"reps": tuple(d.integer(1, 3) for _ in range(d.integer(1, 4)))})


def repeat(d):
    data = d.tensor(high=3)
    d.node("repeat", [data], {"repeats": d.integer(1, 3)} | d.some(axis=any_axis(d, data)))


def reverse(d):
    data = d.tensor()
    d.node("reverse", [data], {"axis": tuple(d.rng.sample(range(data.value.ndim), d.integer(1, data.value.ndim)))})


def one_sized(d):
    return d.tensor(shape=tuple(d.choice((1, 1, 2, 3)) for _ in range(d.integer(1, 4))))


def broadcast_to(d):
    data = one_sized(d)
    d.node("broadcast_to", [data], {"shape": tuple(d.choice((0, d.integer(1, 4))) if n == 1 else d.choice((0, n)) for n in data.shape)})


def broadcast_axis(d):
    data = one_sized(d)
    ones = [i for i, n in enumerate(data.shape) if n == 1]
    if not ones:
        raise Refused("no axis of size 1")
    axes = d.rng.sample(ones, d.integer(1, len(ones)))
    d.node("broadcast_axis", [data], {"axis": tuple(axes), "size": tuple(d.integer(1, 4) for _ in axes)})


def broadcast_like(d):
    data = one_sized(d)
    if d.chance(0.7):
        like = d.fresh(tuple(d.integer(1, 3) if n == 1 else n for n in data.shape))
        d.node("broadcast_like", [data, like])
    else:
        ones = [i for i, n in enumerate(data.shape) if n == 1]
        if not ones:
            raise Refused("no axis of size 1")
        like = d.fresh(d.dims(3))
        d.node("broadcast_like", [data, like], {"lhs_axes": (d.choice(ones),), "rhs_axes": (d.integer(0, 2),)})


def reshape_like(d):
    data = d.tensor()
    shape = list(data.shape)
    d.rng.shuffle(shape)
    d.node("reshape_like", [data, d.fresh(shape)])


def reshape_like_part(d):
    data = d.tensor(low=2)
    like = d.fresh((data.shape[0], d.integer(1, 3)))
    d.node("reshape_like", [data, like], {"lhs_begin": 0, "lhs_end": 1, "rhs_begin": 0, "rhs_end": 1})


def blocks(op):
    def draw(d):
        block, (n, c, h, w) = d.integer(1, 3), d.dims(4)
        shape = (n, c * block * block, h, w) if op == "depth_to_space" else (n, c, h * block, w * block)
        d.node(op, [d.tensor(shape=shape)], {"block_size": block})
    return draw


def take(d):
    data = d.tensor(high=3)
    axis = any_axis(d, data)
    n = data.shape[axis]
    mode = d.choice(("clip", "wrap", None))
    indices = d.array(d.shape(1, 2), "int64", n if mode is None and d.chance(0.5) else 3 * n) - (n if mode or d.chance(0.5) else 0)
    d.node("take", [data, d.given(indices.astype(d.choice(("float32", "int32", "int64"))))], {"axis": axis} | ({"mode": mode} if mode else {}))


def gather_nd(d):
    data = d.tensor(low=2)
    depth = d.integer(1, min(3, data.value.ndim))
    places = d.dims(d.integer(1, 2))
    rows = [d.array(places, "int64", n) for n in data.shape[:depth]]
    d.node("gather_nd", [data, d.given(stacked(rows, d.choice(("int32", "int64", "float32"))))])


def stacked(rows, dtype):
    return np.stack(rows).astype(dtype)


def scattered(op):
    def draw(d):
        values, rows, shape = scatter(d)
        if op == "scatter_nd":
            d.node(op, [values, rows], {"shape": shape})
        else:
            d.node(op, [d.to_overwrite(d.fresh(shape, values.dtype)), values, rows], {"shape": shape})
    return draw


def scatter(d):
    """Values, their places and the shape that they go to."""
    shape = d.dims(d.integer(1, 3))
    depth = d.integer(1, len(shape))
    count = 1
    for n in shape[:depth]:
        count *= n
    places = d.np.choice(count, d.integer(1, count), replace=False)  # of equal places MXNet leaves open which wins
    rows = np.stack(np.unravel_index(places, shape[:depth])).astype(d.choice(("int32", "int64", "float32")))
    return d.tensor(shape=(len(places), *shape[depth:])), d.given(rows), shape


def pick(d):
    data = d.tensor()
    axis = any_axis(d, data)
    shape = list(data.shape)
    mode = d.choice(("clip", "wrap", None))
    n = shape[axis]
    keep = d.chance(0.4)
    index_shape = [m for i, m in enumerate(shape) if i != axis % len(shape)] if d.chance(0.5) and len(shape) > 1 else [
        1 if i == axis % len(shape) else m for i, m in enumerate(shape)]
    index = d.array(tuple(index_shape), "int64", 3 * n if mode else n) - (n if mode else 0)
    d.node("pick", [data, d.given(index.astype(d.choice(("float32", "int32"))))], {"axis": axis, "keepdims": keep} | ({"mode": mode} if mode else {}))


def batch_take(d):
    data = d.tensor(rank=2)
    d.node("batch_take", [data, d.fresh(data.shape[:1], "int32", data.shape[1])])


def one_hot(d):
    depth = d.integer(1, 5)
    d.node("one_hot", [d.fresh(d.shape(1, 3), d.choice(("float32", "int32", "int64")), depth + 2)],
           {"depth": depth} | d.some(on_value=d.choice((2.5, 3)), off_value=-1.0, dtype=d.choice(FLOATS + INTEGERS)))


def sequence(op):
    def draw(d):
        data = d.tensor(low=2, dtype=d.dtype())
        axis = 0 if op == "SequenceReverse" else d.integer(0, 1)
        inputs, attrs = [data], ({"axis": axis} if axis or d.chance(0.5) else {})
        if d.chance(0.7):
            attrs["use_sequence_length"] = True
            lengths = d.array((data.shape[1 - axis],), "int64", data.shape[axis]) + 1
            inputs.append(d.given(lengths.astype(data.dtype if d.chance(0.6) else "int32")))
        if op == "SequenceMask":
            attrs |= d.some(value=d.choice((-1.0, 2.5)))
        d.node(op, inputs, attrs)
    return draw


def shape_of(op):
    return lambda d: d.node(op, [d.tensor()])


def filled(op):
    def draw(d):
        shape = d.shape()
        attrs = {"shape": shape} | d.some(dtype=d.choice(FLOATS + INTEGERS))
        d.node(op, [], attrs | ({"value": d.choice((1.5, -2, 0))} if op == "_full" else {}))
    return draw


def arange(d):
    start, step = d.choice((0, 1, -2, 0.5)), d.choice((1, 2, 0.5, 0.25, 3))
    attrs = {"start": start} | d.some(step=step, repeat=d.integer(1, 2), dtype=d.choice(FLOATS + ("int32", "int64")))
    d.node("_arange", [], attrs | ({"stop": start + d.integer(1, 6)} if start > 0 or d.chance(0.9) else {"stop": 7}))


def arange_like(d):
    data = d.tensor(dtype=d.dtype(True))
    d.node("_contrib_arange_like", [data], d.some(axis=any_axis(d, data), start=d.choice((0.5, 2)), step=d.choice((0.5, 2, -1))))


def linspace(d):
    d.node("_linspace", [], {"start": d.choice((0, -1.5)), "stop": d.choice((2, 3.25)), "num": d.integer(1, 6)} | d.some(endpoint=d.chance(0.5)))


def eye(d):
    d.node("_eye", [], {"N": d.integer(1, 4)} | d.some(M=d.integer(1, 5), k=d.integer(-2, 2), dtype=d.choice(FLOATS + INTEGERS)))


def diag(d):
    data = d.tensor(high=3)
    rank = data.value.ndim
    attrs = d.some(k=d.integer(-1, 1))
    if rank == 3:
        a, b = d.rng.sample(range(3), 2)
        attrs |= {"axis1": a, "axis2": b - 3 if d.chance(0.3) else b}
    d.node("diag", [data], attrs)


def flat_index(op):
    def draw(d):
        shape = d.dims(d.integer(1, 3))
        dtype = d.choice(("float32", "int32", "int64"))
        count = 1
        for n in shape:
            count *= n
        if op == "_unravel_index":
            d.node(op, [d.fresh((d.integer(1, 5),), dtype, count)], {"shape": shape})
        else:
            length = d.integer(1, 4)
            rows = [d.array((length,), "int64", n) for n in shape]
            d.node(op, [d.given(stacked(rows, dtype))], {"shape": shape})
    return draw


def index_array(d):
    data = d.tensor()
    axes = d.rng.sample(range(data.value.ndim), d.integer(1, data.value.ndim))
    d.node("_contrib_index_array", [data], d.some(axes=tuple(axes)))


def index_copy(d):
    data = d.tensor(dtype="float32")
    rows = d.np.choice(data.shape[0], d.integer(1, data.shape[0]), replace=False).astype("int32")
    d.node("_contrib_index_copy", [data, d.given(rows), d.fresh((len(rows), *data.shape[1:]), "float32")])


def boolean_mask(d):
    data = d.tensor(high=3)
    mask = d.array(data.shape[:1], "float32", 2)
    mask[d.integer(0, len(mask) - 1)] = 1
    d.node("_contrib_boolean_mask", [data, d.given(mask.astype(d.choice(("float32", "int32"))))], d.some(axis=0))


def embedding(op):
    def draw(d):
        rows, width = d.integer(2, 6), d.integer(1, 4)
        ids = d.array(d.shape(1, 2), "int64", rows + 2) - d.integer(0, 1)
        weight = d.fresh((rows, width), "float32", weight=d.chance(0.5))
        d.node(op, [d.given(ids.astype(d.choice(("float32", "int32", "int64")))), weight], {"input_dim": rows, "output_dim": width})
    return draw


OPERATORS = {"Concat": joined("Concat"), "stack": joined("stack"), "_rnn_param_concat": param_concat, "SliceChannel": split_channel,
             "_split_v2": split_v2, "Reshape": reshape, "Flatten": lambda d: d.node("Flatten", [d.tensor()]), "expand_dims": expand,
             "squeeze": squeeze, "transpose": transpose, "SwapAxis": swap, "slice": slice_, "slice_axis": slice_axis, "slice_like": slice_like,
             "_slice_assign": slice_assign(False), "_slice_assign_scalar": slice_assign(True), "Pad": pad, "tile": tile, "repeat": repeat, "reverse": reverse,
             "broadcast_to": broadcast_to, "broadcast_axis": broadcast_axis, "broadcast_like": broadcast_like,
             "reshape_like": lambda d: d.choice((reshape_like, reshape_like_part))(d), "take": take, "gather_nd": gather_nd,
             "scatter_nd": scattered("scatter_nd"), "_scatter_set_nd": scattered("_scatter_set_nd"), "pick": pick, "batch_take": batch_take, "one_hot": one_hot,
             "_arange": arange, "_contrib_arange_like": arange_like, "_linspace": linspace, "_eye": eye, "diag": diag,
             "_contrib_index_array": index_array, "_contrib_index_copy": index_copy, "_contrib_boolean_mask": boolean_mask}
OPERATORS |= {op: blocks(op) for op in ("depth_to_space", "space_to_depth")}
OPERATORS |= {op: sequence(op) for op in ("SequenceMask", "SequenceLast", "SequenceReverse")}
OPERATORS |= {op: shape_of(op) for op in ("shape_array", "size_array")}
OPERATORS |= {op: filled(op) for op in ("_zeros", "_ones", "_full")}
OPERATORS |= {op: flat_index(op) for op in ("_ravel_multi_index", "_unravel_index")}
OPERATORS |= {op: embedding(op) for op in ("Embedding", "_contrib_SparseEmbedding")}

"""Operators that move elements as a whole."""
import numpy as np

from draw import FLOATS
from runtime import Refused


def split_extent(d, n):
    """Two factors of n."""
    first = d.choice([k for k in range(1, n + 1) if n % k == 0]) if n else 1
    return first, n // first


def reshape(d):
    a = d.tensor("Reshape", low=0)
    dims = list(a.shape)
    for _ in range(d.integer(0, 3)):
        k = d.integer(0, len(dims)) if dims else 0
        if dims and k < len(dims) and d.chance(0.5):
            dims[k:k + 1] = split_extent(d, dims[k])
        elif len(dims) > 1:
            k = d.integer(0, len(dims) - 2)
            dims[k:k + 2] = [dims[k] * dims[k + 1]]
        else:
            dims.insert(0, 1)
    told = list(dims)
    if told and 0 not in dims and d.chance(0.4):
        told[d.integer(0, len(told) - 1)] = -1
    for k in range(min(len(told), a.rank)):
        if told[k] == a.shape[k] and told[k] != 0 and d.chance(0.3):
            told[k] = 0
    if 0 in dims and d.opset >= 14:
        d.node("Reshape", [a, d.ints(dims)], allowzero=1)
    else:
        d.node("Reshape", [a, d.ints(told)])


def flatten(d):
    a = d.tensor("Flatten", low=1)
    d.node("Flatten", [a], **d.some(axis=d.integer(-a.rank if d.opset >= 11 else 0, a.rank)))


def squeeze(d):
    shape = [1 if d.chance(0.5) else n for n in d.dims(d.integer(1, 4))]
    a = d.tensor("Squeeze", shape=shape)
    ones = [k for k, n in enumerate(shape) if n == 1]
    axes = d.rng.sample(ones, d.integer(1, len(ones))) if ones and d.chance(0.7) else None
    if not ones and axes is None and d.chance(0.5):
        raise Refused("nothing to squeeze")
    if d.opset >= 13:
        d.node("Squeeze", [a, d.ints(axes) if axes is not None else None])
    else:
        d.node("Squeeze", [a], axes=sorted(axes) if axes is not None else None)


def unsqueeze(d):
    a = d.tensor("Unsqueeze", low=0, high=3)
    count = d.integer(1, 2)
    axes = d.rng.sample(range(a.rank + count), count)
    if d.opset >= 13:
        d.node("Unsqueeze", [a, d.ints([x - a.rank - count if d.chance(0.3) else x for x in axes])])
    else:
        d.node("Unsqueeze", [a], axes=sorted(axes))


def transpose(d):
    a = d.tensor("Transpose", low=1)
    perm = list(range(a.rank))
    d.rng.shuffle(perm)
    d.node("Transpose", [a], **d.some(perm=perm))


def concat(d):
    a = d.tensor("Concat", low=1)
    axis = d.axis(a.rank)
    parts = [a]
    for _ in range(d.integer(0, 3)):
        shape = list(a.shape)
        shape[axis] = d.extent()
        parts.append(d.tensor(shape=shape, dtype=a.dtype))
    d.node("Concat", parts, axis=axis if d.opset >= 11 else axis % a.rank)


def split(d):
    a = d.tensor("Split", low=1)
    axis = d.axis(a.rank) if d.opset >= 11 else d.integer(0, a.rank - 1)
    n = a.shape[axis]
    if n < 1:
        raise Refused("nothing to split")
    count = d.integer(1, min(n, 3))
    cuts = sorted(d.rng.sample(range(1, n), count - 1)) if n > 1 else []
    sizes = list(np.diff([0, *cuts, n]))
    if d.chance(0.4) and d.opset >= 18:
        d.node("Split", [a], count, axis=axis, num_outputs=count)
    elif n % count == 0 and d.chance(0.4) and d.opset < 18:
        d.node("Split", [a], count, axis=axis)
    elif d.opset >= 13:
        d.node("Split", [a, d.ints(sizes)], len(sizes), axis=axis)
    else:
        d.node("Split", [a], len(sizes), axis=axis, split=[int(s) for s in sizes])


def slice_(d):
    a = d.tensor("Slice", low=1)
    axes = d.rng.sample(range(a.rank), d.integer(1, a.rank))
    starts = [d.choice((0, 1, -1, -2, 2, 100, -100)) for _ in axes]
    ends = [d.choice((0, 1, 2, 3, -1, 100, 2**31 - 1, -100)) for _ in axes]
    if d.opset < 10:
        d.node("Slice", [a], starts=starts, ends=ends, axes=axes)
        return
    steps = [d.choice((1, 1, 2, -1, -2, 3)) for _ in axes] if d.chance(0.6) else None
    if len(axes) == a.rank and axes == sorted(axes) and steps is None and d.chance(0.5):
        d.node("Slice", [a, d.ints(starts), d.ints(ends)])
    else:
        told = [x - a.rank if d.chance(0.3) else x for x in axes]
        d.node("Slice", [a, d.ints(starts), d.ints(ends), d.ints(told), d.ints(steps) if steps else None])


def pad(d):
    a = d.tensor("Pad", low=1, dtype=d.dtype("Pad", floats=d.opset < 13))
    modes = ["constant", "reflect", "edge"] + (["wrap"] if d.opset >= 19 else [])
    mode = d.choice(modes)
    most = [max(n - 1, 0) if mode in ("reflect", "wrap") else 2 for n in a.shape]
    before, after = [d.integer(0, min(m, 2)) for m in most], [d.integer(0, min(m, 2)) for m in most]
    if mode == "constant" and d.chance(0.2):
        before[0] = -1
    if d.opset < 11:
        d.node("Pad", [a], pads=before + after, mode=mode, value=float(d.choice((0, 1.5))))
        return
    value = d.constant(d.choice((0, 1, 3)), a.dtype) if d.chance(0.6) else None
    if d.opset >= 18 and a.rank > 1 and d.chance(0.4):
        axes = d.rng.sample(range(a.rank), d.integer(1, a.rank))
        d.node("Pad", [a, d.ints([before[x] for x in axes] + [after[x] for x in axes]), value, d.ints(axes)], mode=mode)
    else:
        d.node("Pad", [a, d.ints(before + after), value], mode=mode)


def tile(d):
    a = d.tensor("Tile", low=1)
    d.node("Tile", [a, d.ints([d.choice((1, 1, 2, 3)) for _ in a.shape])])


def expand(d):
    a = d.tensor("Expand", shape=[1 if d.chance(0.5) else n for n in d.dims(d.integer(1, 3))])
    shape = [d.extent() if n == 1 else n for n in a.shape]
    if d.chance(0.3):
        shape = [2, *shape]
    if d.chance(0.2):
        shape = [1 if d.chance(0.3) else n for n in shape]
    d.node("Expand", [a, d.ints(shape)])


def depth_to_space(d):
    b, c = d.integer(1, 2), d.integer(1, 3)
    a = d.fresh((d.integer(1, 2), c * b * b, d.integer(1, 3), d.integer(1, 3)), d.dtype("DepthToSpace"))
    d.node("DepthToSpace", [a], blocksize=b, **(d.some(mode=d.choice(("DCR", "CRD"))) if d.opset >= 11 else {}))


def space_to_depth(d):
    b = d.integer(1, 2)
    d.node("SpaceToDepth", [d.fresh((d.integer(1, 2), d.integer(1, 3), b * d.integer(1, 3), b * d.integer(1, 2)), d.dtype("SpaceToDepth"))], blocksize=b)


def shape(d):
    a = d.tensor("Shape", low=0)
    more = d.some(start=d.integer(-a.rank - 1, a.rank + 1), end=d.integer(-a.rank - 1, a.rank + 1)) if d.opset >= 15 else {}
    d.node("Shape", [a], **more)


def size(d):
    d.node("Size", [d.tensor("Size", low=0)])


def trilu(d):
    a = d.tensor("Trilu", rank=(2, 3))
    d.node("Trilu", [a, d.constant(d.integer(-3, 3), "int64") if d.chance(0.6) else None], **d.some(upper=d.integer(0, 1)))


def eye_like(d):
    a = d.tensor("EyeLike", rank=2)
    d.node("EyeLike", [a], **d.some(k=d.integer(-2, 3), dtype=d.code(d.choice(("float32", "int64", "float64")))))


def range_(d):
    dtype = d.choice(("float32", "int32", "int64", "float64", "int16"))
    start, step, count = d.integer(-4, 4), d.choice((1, 2, -1, -3)), d.integer(0, 6)
    if dtype in FLOATS:
        step = step * 0.5
    d.node("Range", [d.constant(v, dtype) if d.chance(0.6) else d.given(np.array(v, dtype)) for v in (start, start + step * count, step)])


def constant_of_shape(d):
    value = d.choice((None, np.array([2], np.int64), np.array([0.5], np.float32), np.array([1], np.bool_), np.array([3], np.uint8), np.array([1.5], np.float16)))
    d.node("ConstantOfShape", [d.ints(d.dims(d.integer(0, 3)))], value=None if value is None else d.tensor_of(value))


def constant(d):
    kinds = [{"value": d.tensor_of(d.array(d.dims(d.integer(0, 3)), d.dtype()))}]
    if d.opset >= 12:
        kinds += [{"value_float": 1.5}, {"value_int": 7}, {"value_floats": [0.5, -1.0]}, {"value_ints": [1, 2, 3]}]
    d.node("Constant", [], **d.choice(kinds))


def reverse_sequence(d):
    batch, time = d.rng.sample((0, 1), 2)
    a = d.tensor("ReverseSequence", rank=(2, 3, 4))
    if 0 in a.shape:
        raise Refused("nothing to turn")
    lengths = [d.integer(1, a.shape[time]) for _ in range(a.shape[batch])]
    d.node("ReverseSequence", [a, d.ints(lengths)], batch_axis=batch, time_axis=time)


def center_crop_pad(d):
    a = d.tensor("CenterCropPad", low=1)
    axes = d.rng.sample(range(a.rank), d.integer(1, a.rank)) if d.chance(0.5) else None
    d.node("CenterCropPad", [a, d.ints([d.integer(1, 6) for _ in (axes or range(a.rank))])], axes=axes)


def col2im(d):
    block = [d.integer(1, 2), d.integer(1, 3)]
    image = [d.integer(2, 4), d.integer(3, 5)]
    stride, pads, dil = [d.integer(1, 2) for _ in block], [d.integer(0, 1) for _ in range(4)], [1, 1]
    spots = [(i + pads[k] + pads[k + 2] - (dil[k] * (b - 1) + 1)) // stride[k] + 1 for k, (i, b) in enumerate(zip(image, block))]
    a = d.fresh((d.integer(1, 2), d.integer(1, 2) * block[0] * block[1], spots[0] * spots[1]), d.dtype("Col2Im", floats=True), "sum")
    d.node("Col2Im", [a, d.ints(image), d.ints(block)], strides=stride, pads=pads, dilations=dil)


OPERATORS = {"Reshape": reshape, "Flatten": flatten, "Squeeze": squeeze, "Unsqueeze": unsqueeze, "Transpose": transpose, "Concat": concat, "Split": split,
             "Slice": slice_, "Pad": pad, "Tile": tile, "Expand": expand, "DepthToSpace": depth_to_space, "SpaceToDepth": space_to_depth, "Shape": shape, "Size": size,
             "Trilu": trilu, "EyeLike": eye_like, "Range": range_, "ConstantOfShape": constant_of_shape, "Constant": constant, "ReverseSequence": reverse_sequence,
             "CenterCropPad": center_crop_pad, "Col2Im": col2im}

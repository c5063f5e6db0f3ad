"""Operators that take indices."""
import numpy as np

from draw import FLOATS
from runtime import Refused


def index(d, shape, bound, negative=True, dtype=None):
    """Indices below `bound`, some of them from the end."""
    if bound < 1:
        raise Refused("no place")
    low = -bound if negative and d.opset >= 11 and d.chance(0.4) else 0
    array = d.np.randint(low, bound, shape).astype(dtype or d.choice(("int32", "int64")))
    return d.constant(array) if d.chance(0.5) else d.given(array)


def gather(d):
    a = d.tensor("Gather", low=1)
    axis = d.axis(a.rank)
    d.node("Gather", [a, index(d, d.dims(d.integer(0, 2)), a.shape[axis])], **d.some(axis=axis) if axis % a.rank else {"axis": axis})


def gather_elements(d):
    a = d.tensor("GatherElements", low=1, high=3)
    axis = d.axis(a.rank)
    shape = [d.integer(1, max(n, 1)) for n in a.shape]
    shape[axis] = d.extent()
    d.node("GatherElements", [a, index(d, shape, a.shape[axis])], axis=axis)


def nd_index(d, shape, depth, lead, distinct=False):
    """Indices of GatherND and ScatterND into the first `depth` axes of `shape`."""
    if 0 in shape[:depth]:
        raise Refused("no place")
    count = int(np.prod(lead))
    if distinct:
        flat = d.np.permutation(int(np.prod(shape[:depth])))[:count]
        if len(flat) < count:
            raise Refused("not so many places")
        array = np.stack(np.unravel_index(flat, shape[:depth]), -1).reshape(*lead, depth)
    else:
        array = np.stack([d.np.randint(0, n, lead) for n in shape[:depth]], -1)
    return (d.constant if d.chance(0.5) else d.given)(array.astype(np.int64))


def gather_nd(d):
    a = d.tensor("GatherND", low=1)
    batch = d.integer(0, a.rank - 1) if d.opset >= 12 and d.chance(0.3) else 0
    depth = d.integer(1, a.rank - batch)
    lead = (*a.shape[:batch], d.integer(1, 3))
    if 0 in a.shape:
        raise Refused("no place")
    array = np.stack([d.np.randint(0, n, lead) for n in a.shape[batch:batch + depth]], -1).astype(np.int64)
    d.node("GatherND", [a, d.given(array)], **({"batch_dims": batch} if batch else {}))


REDUCTIONS = {"ScatterElements": (16, 18), "ScatterND": (16, 18)}


def reduction(d, op):
    first, second = REDUCTIONS[op]
    choices = ["none"] + (["add", "mul"] if d.opset >= first else []) + (["max", "min"] if d.opset >= second else [])
    return d.choice(choices)


def scatter_elements(op):
    def draw(d):
        a = d.tensor(op, low=1, high=3, kind="sum", dtype=d.choice(("float32", "float32", "int64", "float64")))
        axis = d.axis(a.rank)
        if 0 in a.shape:
            raise Refused("no place")
        shape = [d.integer(1, n) for n in a.shape]
        how = reduction(d, op) if op in REDUCTIONS else "none"
        if how == "none":  # whose places are written twice gives either value
            order = d.np.permutation(a.shape[axis])[:shape[axis]]
            array = np.zeros(shape, np.int64) + order.reshape([-1 if k == axis % a.rank else 1 for k in range(a.rank)])
            indices = d.given(array)
        else:
            indices = index(d, shape, a.shape[axis])
        updates = d.tensor(shape=shape, dtype=a.dtype, kind="sum")
        d.node(op, [a, indices, updates], axis=axis, **({"reduction": how} if how != "none" else {}))
    return draw


def scatter_nd(d):
    a = d.tensor("ScatterND", low=1, kind="sum", dtype=d.choice(("float32", "float32", "int64", "float64")))
    depth = d.integer(1, a.rank)
    how = reduction(d, "ScatterND")
    lead = (d.integer(1, 3),)
    indices = nd_index(d, a.shape, depth, lead, how == "none")
    d.node("ScatterND", [a, indices, d.tensor(shape=(*lead, *a.shape[depth:]), dtype=a.dtype, kind="sum")], **({"reduction": how} if how != "none" else {}))


def compress(d):
    a = d.tensor("Compress", low=1)
    axis = d.axis(a.rank) if d.chance(0.7) else None
    n = a.value.size if axis is None else a.shape[axis]
    if not n:
        raise Refused("no place")
    d.node("Compress", [a, d.given(d.np.randint(0, 2, d.integer(1, max(n, 1))).astype(bool))], axis=axis if d.opset >= 11 or axis is None else axis % a.rank)


def one_hot(d):
    depth, dtype = d.integer(1, 5), d.choice(("int64", "int32", "float32"))
    array = d.np.randint(-depth if d.opset >= 11 else 0, depth, d.dims(d.integer(1, 3))).astype(dtype)
    values = d.constant([d.choice((0, -1)), d.choice((1, 3))], d.choice(("float32", "int64", "int32")))
    d.node("OneHot", [d.given(array), d.constant(depth, "int64"), values], **d.some(axis=d.integer(-1, array.ndim)))


def tensor_scatter(d):
    b, past, new = d.integer(1, 3), d.integer(3, 5), d.integer(1, 2)
    heads, width = d.integer(1, 2), d.integer(1, 3)
    a = d.fresh((b, heads, past, width), d.choice(("float32", "float16")))
    u = d.fresh((b, heads, new, width), a.dtype)
    mode = d.choice(("linear", "circular"))
    starts = d.np.randint(0, past - new + 1 if mode == "linear" else past, b).astype(np.int64)
    d.node("TensorScatter", [a, u, d.given(starts)], **d.some(axis=-2, mode=mode) if mode == "linear" else {"mode": mode})


OPERATORS = {"Gather": gather, "GatherElements": gather_elements, "GatherND": gather_nd, "ScatterElements": scatter_elements("ScatterElements"),
             "Scatter": scatter_elements("Scatter"), "ScatterND": scatter_nd, "Compress": compress, "OneHot": one_hot, "TensorScatter": tensor_scatter}

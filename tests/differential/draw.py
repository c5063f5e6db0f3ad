"""What a drawer of operators asks for: tensors of a kind, from the graph so far or fresh, and new nodes."""
import random

import numpy as np

from graphs import OTHER_NAMES, Graph, text

FLOATS = ("float32", "float64", "float16")
INTEGERS = ("int32", "int64", "int8", "uint8")
# Their results are exact wherever the inputs are multiples of 1/8 and not large.
EXACT = {"_copy", "BlockGrad", "make_loss", "zeros_like", "ones_like", "abs", "negative", "sign", "relu", "ceil", "floor", "fix", "rint", "round",
         "trunc", "logical_not", "square", "elemwise_add", "elemwise_sub", "elemwise_mul", "_grad_add", "_maximum", "_minimum", "broadcast_add",
         "broadcast_sub", "broadcast_mul", "broadcast_maximum", "broadcast_minimum", "clip", "add_n", "where", "Dropout", "Cast", "amp_cast", "sum",
         "max", "min", "nansum", "argmax", "argmin", "argmax_channel", "topk", "sort", "argsort", "Concat", "stack", "SliceChannel", "_split_v2",
         "Reshape", "Flatten", "expand_dims", "squeeze", "transpose", "SwapAxis", "slice", "slice_axis", "slice_like", "Pad", "tile", "repeat",
         "reverse", "broadcast_to", "broadcast_axis", "broadcast_like", "reshape_like", "depth_to_space", "space_to_depth", "take", "gather_nd",
         "scatter_nd", "pick", "batch_take", "one_hot", "SequenceMask", "SequenceLast", "SequenceReverse", "shape_array", "size_array", "_zeros",
         "_ones", "_arange", "diag", "_np_cumsum", "_slice_assign", "_contrib_index_copy", "Embedding", "cast_storage", "amp_multicast",
         "_plus_scalar", "_minus_scalar", "_rminus_scalar", "_mul_scalar", "_maximum_scalar", "_minimum_scalar", "Crop", "_image_crop"}


class Refused(Exception):
    """MXNet does not take the operator with these inputs and attributes."""


class Ref:
    """An output of a node with the value that MXNet gives it."""

    def __init__(self, node, output, value, dtype, exact, calm):
        self.node, self.output, self.value, self.dtype, self.exact = node, output, value, dtype, exact
        self.calm = calm  # finite and of moderate size: may be fed to anything

    @property
    def shape(self):
        return self.value.shape


def is_exact(value):
    if value.dtype.kind not in "f":
        return True
    wide = value.astype(np.float64) * 256
    return bool(np.isfinite(wide).all() and (np.abs(wide) < 2**23).all() and (wide == np.floor(wide)).all())


def is_calm(value):
    if value.dtype.kind == "f":
        return bool(np.isfinite(value).all() and (np.abs(value) < 1e3).all())
    return value.dtype.kind in "iub" and bool((np.abs(value.astype(np.float64)) < 2**20).all())


class Draw:
    """`evaluate(op, inputs, attrs, subgraphs)` gives [(value, dtype)] of the visible outputs of one operator, or raises Refused."""

    def __init__(self, seed, evaluate):
        self.rng = random.Random(seed)
        self.np = np.random.RandomState(seed % 2**32)
        self.evaluate = evaluate
        self.graph, self.refs = Graph(), []
        self.may_be_empty = False  # whether extents may be 0
        self.is_huge = False  # whether special values are of all magnitudes that float32 has
        self.special = False  # whether fresh arrays hold NaN, infinities, ties and extremes
        self.fixed_dtype = None
        self.reuse = 0.6
        self.outputs = []
        self.count = 0

    # --- choices
    def choice(self, items):
        return self.rng.choice(list(items))

    def chance(self, p):
        return self.rng.random() < p

    def integer(self, low, high):
        """low to high, both included."""
        return self.rng.randint(low, high)

    def some(self, **choices):
        """Attributes of which each is given or left out."""
        return {k: v for k, v in choices.items() if self.chance(0.6)}

    def dims(self, rank):
        return tuple(0 if self.may_be_empty and self.chance(0.15) else self.choice((1, 2, 2, 3, 3, 4, 5)) for _ in range(rank))

    def shape(self, low=1, high=4):
        return self.dims(self.integer(low, high))

    def dtype(self, floats_only=False):
        if self.fixed_dtype:
            return self.fixed_dtype
        if self.chance(0.6):
            return "float32"
        return self.choice(FLOATS if floats_only else FLOATS + INTEGERS)

    # --- arrays
    def array(self, shape, dtype="float32", kind="real"):
        """kind: real, exact (multiples of 1/8), positive, unit (0, 1), small, index-like kinds by their bound as an int."""
        size = int(np.prod(shape, dtype=np.int64))
        if isinstance(kind, int):
            values = self.np.randint(0, kind, size)
        elif dtype in INTEGERS or dtype == "bool":
            values = self.integers(size, dtype, kind)
        elif kind == "exact":
            values = self.np.randint(-32, 33, size) / 8.0
        elif kind == "positive":
            values = self.np.uniform(0.1, 3, size)
        elif kind == "unit":
            values = self.np.uniform(0.02, 0.98, size)
        elif kind == "small":
            values = self.np.uniform(-0.3, 0.3, size)
        else:
            values = self.np.uniform(-2, 2, size)
        values = np.asarray(values)
        if self.special and kind in ("real", "exact"):
            values = self.sprinkled(values.astype(np.float64) if dtype in FLOATS else values, dtype)
        with np.errstate(over="ignore"):
            return values.astype(dtype).reshape(shape)

    def integers(self, size, dtype, kind):
        if kind in ("positive", "unit"):
            return self.np.randint(1, 6, size)
        return self.np.randint(0, 7, size) if dtype in ("uint8", "bool") else self.np.randint(-6, 7, size)

    def sprinkled(self, values, dtype):
        if dtype in FLOATS:
            extremes = [np.nan, np.inf, -np.inf, -0.0, 0.0, 0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 1.0, -1.0, 1e12, -1e12, 1e-12, 100.0, -100.0]
            extremes += [1e30, -1e30, 3e38, -3e38, 1e-30, 1e-40, -1e-40] if self.is_huge else []
        elif dtype == "bool":
            return values
        else:
            limits = np.iinfo(dtype)
            extremes = [limits.max, limits.min, limits.max - 1, 0, 1] + ([2**53 + 1, -(2**53) - 1] if dtype == "int64" else [])
            values = values.astype(dtype)
        places = self.np.randint(0, 3, values.size) == 0
        for i in np.flatnonzero(places):
            values[i] = self.choice(extremes)
        if values.size > 3 and self.chance(0.3):
            values[1:3] = values[0]  # ties
        return values

    # --- tensors
    def fresh(self, shape, dtype="float32", kind="real", weight=False):
        special, self.special = self.special, self.special and not weight  # no network has infinite weights
        array = self.array(tuple(shape), dtype, kind)
        self.special = special
        return self.given(array, weight)

    def given(self, array, weight=False):
        name = f"{'weight' if weight else 'data'}{len(self.graph.arrays)}"
        node = self.graph.variable(name, array)
        if weight:
            self.graph.params.add(name)
        ref = Ref(node, 0, array, array.dtype.name, is_exact(array), is_calm(array))
        if not weight:
            self.refs.append(ref)
        return ref

    def tensor(self, rank=None, shape=None, dtype=None, kind="real", low=1, high=4):
        """A tensor of the graph that fits, or a fresh one."""
        ranks = (rank,) if isinstance(rank, int) else rank or range(low, high + 1)
        fits = [r for r in self.refs if r.value.ndim in ranks and (shape is None or r.shape == tuple(shape)) and (dtype is None or r.dtype == dtype)
                and r.dtype in FLOATS + INTEGERS and self.suits(r, kind)]
        if fits and self.chance(self.reuse):
            return self.choice(fits)
        dims = tuple(shape) if shape is not None else self.dims(self.choice(ranks))
        return self.fresh(dims, dtype or self.dtype(), kind)

    def suits(self, ref, kind):
        if isinstance(kind, int):
            return False
        if kind == "exact":
            return ref.exact or (self.special and ref.node < len(self.graph.nodes) and self.graph.nodes[ref.node]["op"] == "null")
        if not (ref.calm or self.special):
            return False
        if kind == "positive":
            return bool((ref.value > 0.05).all())
        if kind == "unit":
            return bool(((ref.value > 0.01) & (ref.value < 0.99)).all())
        return True

    def to_overwrite(self, ref):
        """A copy that nothing else reads: what works in place may have it."""
        copy = self.node("_copy", [ref])[0]
        self.refs.remove(copy)
        return copy

    # --- nodes
    def node(self, op, inputs, attrs=None, subgraphs=None, values_known=True):
        """Appends an operator; its visible outputs. `values_known` False: random, compared by type and shape only, and never read."""
        attrs = {k: text(v) for k, v in (attrs or {}).items()}
        results = self.evaluate(op, [r.value for r in inputs], attrs, subgraphs)
        self.count += 1
        named = self.choice(OTHER_NAMES[op]) if op in OTHER_NAMES and self.chance(0.15) else op
        at = self.graph.operator(named, f"{op.strip('_').lower()}{self.count}", [(r.node, r.output) for r in inputs], attrs, subgraphs)
        outputs = []
        for k, (value, dtype) in enumerate(results):
            exact = op in EXACT and all(r.exact for r in inputs) and is_exact(value)
            outputs.append(Ref(at, k, value, dtype, exact or value.dtype.kind in "iub", is_calm(value)))
        self.outputs += outputs
        if values_known:
            self.refs += outputs
        return outputs

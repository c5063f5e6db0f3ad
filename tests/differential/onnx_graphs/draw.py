"""What a drawer of operators asks for: arrays of a kind, from the graph so far or fresh, and new nodes, which ONNX Runtime computes at once."""
import random

import numpy as np
import onnx
from onnx import defs, helper

import runtime
from model import Graph, Group

FLOATS = ("float32", "float64", "float16")
INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
TYPES = {f"tensor({t})": t for t in (*INTEGERS, "float16", "bool")} | {"tensor(float)": "float32", "tensor(double)": "float64"}
MOST = 4096  # elements of an array
LARGE, SMALL = 1e3, 2**20  # what is moderate, of reals and integers


class Ref:
    """An array of the graph."""

    def __init__(self, name, value, is_constant=False):
        self.name, self.value, self.is_constant = name, value, is_constant
        self.dtype, self.shape, self.rank = value.dtype.name, value.shape, value.ndim
        if value.dtype.kind == "f":
            self.calm = bool(np.isfinite(value).all() and (np.abs(value.astype(np.float64)) < LARGE).all())
        else:
            self.calm = value.dtype.kind in "iub" and bool((np.abs(value.astype(np.float64)) < SMALL).all())


class Draw:
    def __init__(self, seed, opset):
        self.rng, self.np = random.Random(seed), np.random.RandomState(seed % 2**32)
        self.graph, self.refs = Graph(opset), []
        self.opset, self.count = opset, 0
        self.special = False  # whether fresh arrays hold NaN, infinities, the least and the largest numbers
        self.may_be_empty = False
        self.reuse = 0.55
        self.floats_only = False

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

    def extent(self):
        return 0 if self.may_be_empty and self.chance(0.12) else self.choice((1, 2, 2, 3, 3, 4, 5))

    def dims(self, rank):
        return tuple(self.extent() for _ in range(rank))

    def axis(self, rank):
        return self.integer(-rank, rank - 1)

    def allowed(self, op, slot=0, domain=""):
        """The types of an input by the schema, as NumPy names them."""
        schema = defs.get_schema(op, self.opset, domain)
        text = schema.inputs[min(slot, len(schema.inputs) - 1)].type_str
        listed = next((c.allowed_type_strs for c in schema.type_constraints if c.type_param_str == text), [text])
        return [TYPES[t] for t in listed if t in TYPES]

    def dtype(self, op=None, slot=0, floats=False, domain=""):
        types = self.allowed(op, slot, domain) if op else list(FLOATS + INTEGERS)
        if floats or self.floats_only:
            types = [t for t in types if t in FLOATS] or types
        if "float32" in types and (self.floats_only or self.chance(0.6)):
            return "float32"
        return self.choice(types)

    # --- arrays
    def array(self, shape, dtype="float32", kind="real"):
        """kind: real, exact (multiples of 1/8), positive, unit (0 to 1), small, sum (special values, but none that adds up beyond the type);
        a number: an index below it."""
        size = int(np.prod(shape, dtype=np.int64))
        if isinstance(kind, int):
            values = self.np.randint(0, max(kind, 1), size)
        elif dtype == "bool":
            values = self.np.randint(0, 2, size)
        elif dtype in INTEGERS:
            low = 0 if dtype[0] == "u" else -6
            values = self.np.randint(1, 6, size) if kind in ("positive", "unit") else self.np.randint(low, 7, size)
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
        with np.errstate(over="ignore", invalid="ignore"):
            values = values.astype(dtype)
            if self.special and kind in ("real", "exact", "sum") and dtype != "bool":
                self.sprinkle(values, kind)
        return values.reshape(shape)

    def sprinkle(self, values, kind):
        dtype = values.dtype
        if dtype.kind == "f":
            limits = np.finfo(dtype)
            extremes = [np.nan, np.inf, -np.inf, -0.0, 0.0, limits.smallest_subnormal, -limits.smallest_subnormal, limits.tiny, 0.5, 1.5, 2.5, -0.5, -2.5]
            extremes += [] if kind == "sum" else [limits.max, limits.min, 1e4, -1e4, 88.5, -88.5, 1e-5, limits.max / 2, 100.0, -100.0]
        else:
            limits = np.iinfo(dtype)
            extremes = [0, 1] if kind == "sum" else [limits.max, limits.min, limits.max - 1, 0, 1]
        for k in np.flatnonzero(self.np.randint(0, 3, values.size) == 0):
            values[k] = self.choice(extremes)
        if values.size > 3 and self.chance(0.3):
            values[1:3] = values[0]

    def fresh(self, shape, dtype="float32", kind="real"):
        return self.given(self.array(tuple(shape), dtype, kind))

    def weight(self, shape, dtype="float32", kind="small"):
        special, self.special = self.special, False  # no network has infinite weights
        array = self.array(tuple(shape), dtype, kind)
        self.special = special
        return self.constant(array)

    def given(self, array):
        array = np.asarray(array)
        name = f"in{len(self.graph.values)}"
        self.graph.values[name] = array
        self.graph.inputs.append(name)
        ref = Ref(name, array)
        self.refs.append(ref)
        return ref

    def constant(self, values, dtype=None):
        array = np.asarray(values, dtype) if dtype else np.asarray(values)
        name = f"const{len(self.graph.values)}"
        self.graph.values[name] = array
        self.graph.constants.append(name)
        return Ref(name, array, True)

    def ints(self, values):
        """A constant of int64, or now and then one that is fed."""
        array = np.asarray(values, np.int64)
        return self.constant(array) if self.chance(0.75) else self.given(array)

    def tensor(self, op=None, rank=None, shape=None, dtype=None, kind="real", low=1, high=4, slot=0, domain=""):
        """An array of the graph that fits, or a fresh one."""
        dtype = dtype or self.dtype(op, slot, domain=domain)
        ranks = (rank,) if isinstance(rank, int) else rank or range(low, high + 1)
        fits = [r for r in self.refs if r.rank in ranks and (shape is None or r.shape == tuple(shape)) and r.dtype == dtype and self.suits(r, kind)]
        if fits and self.chance(self.reuse):
            return self.choice(fits)
        return self.fresh(shape if shape is not None else self.dims(self.choice(ranks)), dtype, kind)

    def suits(self, ref, kind):
        if isinstance(kind, int) or not ref.value.size and not self.may_be_empty:
            return False
        if kind == "sum":
            return ref.calm or (self.special and not (np.abs(np.nan_to_num(ref.value.astype(np.float64), posinf=0, neginf=0)) > LARGE).any())
        if not (ref.calm or (self.special and kind == "real")):
            return False
        value = ref.value
        if kind == "exact":
            return value.dtype.kind != "f" or bool((value.astype(np.float64) * 8 % 1 == 0).all())
        if kind == "positive":
            return value.dtype.kind != "b" and bool((value > 0.05).all())
        if kind == "unit":
            return value.dtype.kind == "f" and bool(((value > 0.01) & (value < 0.99)).all())
        if kind == "small":
            return bool((np.abs(value.astype(np.float64)) <= 4).all())
        return True

    def stretched(self, a, kind="real", dtype=None):
        """An array that broadcasts with `a`."""
        shape = [1 if self.chance(0.3) else n for n in a.shape]
        while shape and self.chance(0.25):
            shape.pop(0)
        if self.chance(0.1):
            shape = [2, *a.shape]
        return self.tensor(shape=shape, dtype=dtype or a.dtype, kind=kind)

    @staticmethod
    def code(dtype):
        """The number of a type that NumPy has."""
        return helper.np_dtype_to_tensor_dtype(np.dtype(dtype))

    @staticmethod
    def type_code(name):
        return onnx.TensorProto.DataType.Value(name)

    @staticmethod
    def tensor_of(array):
        return onnx.numpy_helper.from_array(np.asarray(array))

    # --- nodes
    def name(self, op):
        self.count += 1
        return f"{op.lower()}{self.count}"

    def proto(self, op, inputs, outputs=1, domain="", **attrs):
        """A node that is not placed yet; `inputs`: arrays, names or None. `outputs`: how many, or names."""
        name = self.name(op)
        outputs = [f"{name}_{k}" for k in range(outputs)] if isinstance(outputs, int) else outputs
        names = ["" if i is None else i if isinstance(i, str) else i.name for i in inputs]
        while names and not names[-1]:
            names.pop()
        node = helper.make_node(op, names, outputs, name=name, domain=domain, **{k: v for k, v in attrs.items() if v is not None})
        return node

    def node(self, op, inputs, outputs=1, domain="", known=True, keep=None, **attrs):
        """Places an operator; its outputs. `known` False: random, compared by type and shape only. `keep`: which outputs are shown."""
        node = self.proto(op, inputs, outputs, domain, **attrs)
        return self.group([node], [o for o in node.output if o], f"{domain}.{op}" if domain else op, known)

    def group(self, nodes, gives, op, known=True):
        group = Group(nodes, list(gives), op, known)
        alone = self.graph.only([group])
        for name in group.reads:
            if name not in self.graph.values:
                raise KeyError(name)
        results = runtime.run(alone.model(gives), alone.feeds())
        if any(not isinstance(r, np.ndarray) or r.dtype.kind not in "fiub" or r.size > MOST for r in results):
            raise runtime.Refused("a value that is not compared")
        refs = []
        for name, value in zip(gives, results):
            self.graph.values[name] = value
            refs.append(Ref(name, value))
        self.graph.groups.append(group)
        if known:
            self.refs += refs
        return refs

    def body(self, name, nodes, inputs, outputs, initializers=()):
        """A graph for an attribute. inputs, outputs: (name, type, shape or None)."""
        told = lambda n, t, s: helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(np.dtype(t)), s)
        return helper.make_graph(nodes, name, [told(*i) for i in inputs], [told(*o) for o in outputs], list(initializers))


"""Writes tests/data/tflite: python3 tests/support/make_tflite_models.py   (needs numpy and ai-edge-litert)

Small models of our own, NAME.tflite, and NAME.npz: what is fed to them (inK) and what LiteRT's reference kernels give (outK).
"""
from pathlib import Path

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as s
from ai_edge_litert.interpreter import Interpreter, OpResolverType

OUT = Path(__file__).parents[1] / "data/tflite"
KIND = {"float32": s.TensorType.FLOAT32, "float16": s.TensorType.FLOAT16, "int32": s.TensorType.INT32, "int8": s.TensorType.INT8,
        "uint8": s.TensorType.UINT8, "int64": s.TensorType.INT64, "bool": s.TensorType.BOOL, "resource": s.TensorType.RESOURCE}
rng = np.random.default_rng(50)


def draw(*shape):
    return rng.normal(0, 0.5, shape).astype("f4")


class Graph:
    def __init__(self, model, name="main"):
        self.model, self.g = model, s.SubGraphT()
        self.g.tensors, self.g.operators, self.g.name = [], [], name.encode()
        model.m.subgraphs.append(self.g)

    def tensor(self, name, shape, kind="float32", values=None, scale=None, zero=0, axis=0, state=False):
        t = s.TensorT()
        t.name, t.shape, t.type, t.isVariable, t.buffer = name.encode(), list(shape), KIND[kind], state, 0
        if values is not None:
            b = s.BufferT()
            b.data = list(np.ascontiguousarray(values).tobytes())
            self.model.m.buffers.append(b)
            t.buffer = len(self.model.m.buffers) - 1
        if scale is not None:
            t.quantization = s.QuantizationParametersT()
            t.quantization.scale = list(np.atleast_1d(scale).astype(float))
            t.quantization.zeroPoint = [zero] * len(t.quantization.scale)
            t.quantization.quantizedDimension = axis
        self.g.tensors.append(t)
        return len(self.g.tensors) - 1

    def const(self, name, values, **more):
        values = np.asarray(values)
        return self.tensor(name, values.shape, values.dtype.name, values, **more)

    def op(self, name, inputs, outputs, options=None, **fields):
        o = s.OperatorT()
        o.opcodeIndex, o.inputs, o.outputs = self.model.code(name), list(inputs), list(outputs)
        if options:
            o.builtinOptionsType = getattr(s.BuiltinOptions, options)
            o.builtinOptions = getattr(s, options + "T")()
            for key, value in fields.items():
                setattr(o.builtinOptions, key, value)
        self.g.operators.append(o)


class Model:
    def __init__(self):
        self.m = s.ModelT()
        self.m.version, self.m.subgraphs, self.m.operatorCodes, self.m.buffers = 3, [], [], [s.BufferT()]
        self.m.description = b"made by make_tflite_models.py"
        self.codes = {}

    def code(self, name):
        if name not in self.codes:
            c = s.OperatorCodeT()
            c.builtinCode = getattr(s.BuiltinOperator, name)
            c.deprecatedBuiltinCode, c.version = min(c.builtinCode, 127), 1
            self.codes[name] = len(self.m.operatorCodes)
            self.m.operatorCodes.append(c)
        return self.codes[name]

    def version(self, name, version):
        self.m.operatorCodes[self.code(name)].version = version

    def write(self, name, feeds):
        b = flatbuffers.Builder(1024)
        b.Finish(self.m.Pack(b), b"TFL3")
        path = OUT / f"{name}.tflite"
        path.write_bytes(bytes(b.Output()))
        run = Interpreter(model_path=str(path), experimental_op_resolver_type=OpResolverType.BUILTIN_REF)
        run.allocate_tensors()
        for x, d in zip(feeds, run.get_input_details()):
            run.set_tensor(d["index"], x)
        run.invoke()
        outs = [run.get_tensor(d["index"]) for d in run.get_output_details()]
        np.savez(OUT / f"{name}.npz", **{f"in{k}": x for k, x in enumerate(feeds)}, **{f"out{k}": x for k, x in enumerate(outs)})


def layers():
    m = Model()
    g = Graph(m)
    x = g.tensor("x", (1, 7, 6, 3))
    a, b, c, d, e, y = (g.tensor(n, shape) for n, shape in (("a", (1, 4, 3, 4)), ("b", (1, 2, 1, 8)), ("c", (1, 1, 1, 8)), ("d", (1, 8)), ("e", (1, 5)), ("y", (1, 5))))
    g.op("CONV_2D", [x, g.const("w1", draw(4, 3, 3, 3)), g.const("b1", draw(4))], [a], "Conv2DOptions", strideH=2, strideW=2, padding=0, fusedActivationFunction=3)
    g.op("DEPTHWISE_CONV_2D", [a, g.const("w2", draw(1, 3, 3, 8)), g.const("b2", draw(8))], [b], "DepthwiseConv2DOptions", strideH=1, strideW=1, padding=1, depthMultiplier=2)
    g.op("AVERAGE_POOL_2D", [b], [c], "Pool2DOptions", padding=1, strideH=1, strideW=1, filterHeight=2, filterWidth=1)
    g.op("RESHAPE", [c, g.const("shape", np.int32([-1, 8]))], [d], "ReshapeOptions", newShape=[-1, 8])
    g.op("FULLY_CONNECTED", [d, g.const("w3", draw(5, 8)), -1], [e], "FullyConnectedOptions")
    g.op("SOFTMAX", [e], [y], "SoftmaxOptions", beta=1.0)
    g.g.inputs, g.g.outputs = [x], [y]
    m.write("layers", [draw(1, 7, 6, 3)])


def codes():
    m = Model()
    g = Graph(m)
    m.version("CONV_2D", 3), m.version("ADD", 2), m.version("PAD", 2), m.version("FULLY_CONNECTED", 4), m.version("SOFTMAX", 2)
    m.version("LOGISTIC", 2), m.version("QUANTIZE", 1), m.version("DEQUANTIZE", 2)
    scales = np.float32([0.01, 0.02, 0.015, 0.005])
    x = g.tensor("x", (1, 5, 5, 3))
    q = g.tensor("q", (1, 5, 5, 3), "int8", scale=0.02, zero=3)
    p = g.tensor("p", (1, 7, 7, 3), "int8", scale=0.02, zero=3)
    a = g.tensor("a", (1, 5, 5, 4), "int8", scale=0.03, zero=-5)
    b = g.tensor("b", (1, 5, 5, 4), "int8", scale=0.05, zero=1)
    f = g.tensor("f", (1, 6), "int8", scale=0.1, zero=0)
    t = g.tensor("t", (1, 6), "int8", scale=1 / 256, zero=-128)
    y = g.tensor("y", (1, 6))
    g.op("QUANTIZE", [x], [q], "QuantizeOptions")
    g.op("PAD", [q, g.const("paddings", np.int32([[0, 0], [1, 1], [1, 1], [0, 0]]))], [p], "PadOptions")
    w = rng.integers(-127, 128, (4, 3, 3, 3), dtype="i1")
    g.op("CONV_2D", [p, g.const("w", w, scale=scales, axis=0), g.const("bias", rng.integers(-99, 99, 4, dtype="i4"), scale=scales * np.float32(0.02), axis=0)], [a],
         "Conv2DOptions", strideH=1, strideW=1, padding=1, fusedActivationFunction=1)
    other = g.const("other", rng.integers(-127, 128, (1, 1, 1, 4), dtype="i1"), scale=0.02, zero=7)
    g.op("ADD", [a, other], [b], "AddOptions")
    g.op("FULLY_CONNECTED", [b, g.const("v", rng.integers(-127, 128, (6, 100), dtype="i1"), scale=0.002), -1], [f], "FullyConnectedOptions")
    g.op("LOGISTIC", [f], [t])
    g.op("DEQUANTIZE", [t], [y], "DequantizeOptions")
    g.g.inputs, g.g.outputs = [x], [y, b]
    m.write("codes", [draw(1, 5, 5, 3)])


def movement():
    m = Model()
    g = Graph(m)
    x = g.tensor("x", (2, 4, 6))
    one, rest, turned, mirrored, stack, grown = (g.tensor(n, shape) for n, shape in (
        ("one", (4, 3)), ("rest", (2, 2, 6)), ("turned", (6, 2, 4)), ("mirrored", (2, 6, 6)), ("stack", (2, 4, 3)), ("grown", (1, 6, 8, 2))))
    parts = [g.tensor(f"part{k}", (2, 4, 2)) for k in range(3)]
    square = g.tensor("square", (1, 4, 4, 2))
    shrunk = [g.tensor(n, (1, 3, 3, 2)) for n in ("near", "corners", "half")]
    g.op("STRIDED_SLICE", [x, *(g.const(n, np.int32(v)) for n, v in (("begin", [1, 0, 5]), ("end", [2, 0, -7]), ("strides", [1, 1, -2])))], [one],
         "StridedSliceOptions", shrinkAxisMask=1, endMask=2)
    g.op("SLICE", [x, g.const("from", np.int32([0, 1, 0])), g.const("size", np.int32([-1, 2, 6]))], [rest])
    g.op("TRANSPOSE", [x, g.const("permutation", np.int32([2, 0, 1]))], [turned], "TransposeOptions")
    g.op("MIRROR_PAD", [x, g.const("margins", np.int32([[0, 0], [1, 1], [0, 0]]))], [mirrored], "MirrorPadOptions", mode=0)
    g.op("SPLIT", [g.const("axis", np.int32(2)), x], parts, "SplitOptions", numSplits=3)
    g.op("PACK", [one, one], [stack], "PackOptions", axis=0, valuesCount=2)
    g.op("RESHAPE", [turned, g.const("square shape", np.int32([1, 6, 4, 2]))], [square := g.tensor("wide", (1, 6, 4, 2))], "ReshapeOptions", newShape=[1, 6, 4, 2])
    g.op("RESIZE_BILINEAR", [square, g.const("size2", np.int32([6, 8]))], [grown], "ResizeBilinearOptions")
    size3 = g.const("size3", np.int32([3, 3]))
    g.op("RESIZE_NEAREST_NEIGHBOR", [square, size3], [shrunk[0]], "ResizeNearestNeighborOptions", halfPixelCenters=True)
    g.op("RESIZE_BILINEAR", [square, size3], [shrunk[1]], "ResizeBilinearOptions", alignCorners=True)
    g.op("RESIZE_BILINEAR", [square, size3], [shrunk[2]], "ResizeBilinearOptions", halfPixelCenters=True)
    m.version("RESIZE_BILINEAR", 3), m.version("RESIZE_NEAREST_NEIGHBOR", 3)
    g.g.inputs, g.g.outputs = [x], [one, rest, mirrored, *parts, stack, grown, *shrunk]
    m.write("movement", [draw(2, 4, 6)])


def half():
    m = Model()
    g = Graph(m)
    x, w, b, y = g.tensor("x", (2, 5)), g.tensor("w", (3, 5)), g.tensor("b", (3,)), g.tensor("", (2, 3))
    g.op("DEQUANTIZE", [g.const("w16", draw(3, 5).astype("f2"))], [w], "DequantizeOptions")
    g.op("DEQUANTIZE", [g.const("b16", draw(3).astype("f2"))], [b], "DequantizeOptions")
    g.op("FULLY_CONNECTED", [x, w, b], [y], "FullyConnectedOptions", fusedActivationFunction=1)
    g.g.inputs, g.g.outputs = [x], [y]
    m.write("half", [draw(2, 5)])


def recurrent():
    m = Model()
    g = Graph(m)
    m.version("UNIDIRECTIONAL_SEQUENCE_LSTM", 1)
    x, y, z = g.tensor("x", (1, 4, 3)), g.tensor("y", (1, 4, 2)), g.tensor("z", (1, 2))
    weights = [g.const(f"w{k}", draw(2, 3)) for k in range(4)] + [g.const(f"r{k}", draw(2, 2)) for k in range(4)]
    biases = [g.const(f"b{k}", draw(2)) for k in range(4)]
    states = [g.tensor(n, (1, 2), state=True) for n in ("output state", "cell state")]
    g.op("UNIDIRECTIONAL_SEQUENCE_LSTM", [x, *weights, -1, -1, -1, *biases, -1, -1, *states, -1, -1, -1, -1], [y], "UnidirectionalSequenceLSTMOptions", fusedActivationFunction=4)
    flat = g.tensor("flat", (1, 8))
    g.op("RESHAPE", [y, g.const("shape", np.int32([1, 8]))], [flat], "ReshapeOptions", newShape=[1, 8])
    g.op("SVDF", [flat, g.const("features", draw(4, 8)), g.const("times", draw(4, 3)), g.const("bias", draw(2)), g.tensor("svdf state", (1, 12), state=True)], [z],
         "SVDFOptions", rank=2, fusedActivationFunction=0)
    g.g.inputs, g.g.outputs = [x], [y, z]
    m.write("recurrent", [draw(1, 4, 3)])


def variables():
    m = Model()
    g = Graph(m)
    x, handle, held, y = g.tensor("x", (1, 3)), g.tensor("handle", (), "resource"), g.tensor("held", (1, 3)), g.tensor("y", (1, 3))
    again, z = g.tensor("again", (1, 3)), g.tensor("z", (1, 3))
    g.op("CALL_ONCE", [], [], "CallOnceOptions", initSubgraphIndex=1)
    g.op("VAR_HANDLE", [], [handle], "VarHandleOptions", container=b"", sharedName=b"state")
    g.op("READ_VARIABLE", [handle], [held], "ReadVariableOptions")
    g.op("ADD", [x, held], [y], "AddOptions")
    g.op("ASSIGN_VARIABLE", [handle, y], [], "AssignVariableOptions")
    g.op("READ_VARIABLE", [handle], [again], "ReadVariableOptions")
    g.op("MUL", [x, again], [z], "MulOptions")
    g.g.inputs, g.g.outputs = [x], [y, z]
    i = Graph(m, "initial")
    own = i.tensor("handle", (), "resource")
    i.op("VAR_HANDLE", [], [own], "VarHandleOptions", container=b"", sharedName=b"state")
    i.op("ASSIGN_VARIABLE", [own, i.const("first", np.float32([[1, 2, 3]]))], [], "AssignVariableOptions")
    i.g.inputs, i.g.outputs = [], []
    m.write("variables", [draw(1, 3)])


OUT.mkdir(exist_ok=True)
for make in (layers, codes, movement, half, recurrent, variables):
    make()

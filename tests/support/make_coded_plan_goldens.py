#!/usr/bin/env python3
"""Makes tests/data/coded_plans: make_coded_plan_goldens.py tests/data/coded_plans

Networks whose values pass through codes of 8 bits, or meet weights of 4, NAME.onnx, and NAME.npz: the inputs as in.NAME, what ONNX Runtime gives without any
optimisation of its own as out.NAME, and the step of the output's codes (0: the output is real).

Needs onnx 1.22, onnxruntime, ml_dtypes and numpy.
"""
import sys
from pathlib import Path

import ml_dtypes  # noqa: F401  (numpy learns the names int4 and uint4)
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

RANDOM = np.random.RandomState(5)


class Net:
    def __init__(self, name, shape, unsigned, opset=13):
        self.name, self.shape, self.unsigned, self.opset = name, shape, unsigned, opset
        self.nodes, self.constants, self.count = [], {}, 0

    def fresh(self, word):
        self.count += 1
        return f"{word}{self.count}"

    def constant(self, values, word="c"):
        name = self.fresh(word)
        self.constants[name] = values
        return name

    def op(self, op, inputs, outputs=1, **attributes):
        out = self.fresh(op.lower())
        self.nodes.append(helper.make_node(op, inputs, [out], name=out, **attributes))
        return out

    def scale(self, low, high):
        """Of codes for a range with 0 in it, and their zero point; the type decides whether it is symmetric."""
        if self.unsigned:
            step = np.float32((high - low) / 255)
            zero = np.uint8(np.clip(np.rint(-low / step), 0, 255))
        else:
            step, zero = np.float32(max(-low, high) / 127), np.int8(0)
        return [self.constant(step, "step"), self.constant(zero, "zero")], step

    def codes(self, value, low, high):
        scale, self.step = self.scale(low, high)
        code = self.op("QuantizeLinear", [value, *scale])
        return self.op("DequantizeLinear", [code, *scale])

    def weight(self, values, axis, unsigned=False):
        most = np.abs(values).max(axis=tuple(i for i in range(values.ndim) if i != axis), keepdims=True)
        step = (most / 127).astype(np.float32)
        codes = np.clip(np.rint(values / step), -127, 127)
        step = step.reshape(-1)
        zeros = np.full(step.shape, 128 if unsigned else 0, np.uint8 if unsigned else np.int8)
        codes = (codes + (128 if unsigned else 0)).astype(zeros.dtype)
        self.weight_step = step
        return self.op("DequantizeLinear", [self.constant(codes, "w"), self.constant(step, "ws"), self.constant(zeros, "wz")], axis=axis)

    def bias(self, count, data_step):
        step = (self.weight_step * data_step).astype(np.float32)
        values = np.rint(RANDOM.uniform(-0.5, 0.5, count) / step).astype(np.int32)
        return self.op("DequantizeLinear", [self.constant(values, "b"), self.constant(step, "bs")], axis=0)

    def real(self, *shape):
        return RANDOM.uniform(-1, 1, shape).astype(np.float32)

    def conv(self, data, shape, unsigned_weight=False, bias=True, **attributes):
        step = self.step
        inputs = [data, self.weight(self.real(*shape), 0, unsigned_weight)]
        if bias:
            inputs.append(self.bias(shape[0], step))
        return self.op("Conv", inputs, **attributes)

    def save(self, folder, output, step):
        graph = helper.make_graph(self.nodes, self.name, [helper.make_tensor_value_info("x", TensorProto.FLOAT, self.shape)],
                                  [helper.make_tensor_value_info(output, TensorProto.FLOAT, None)],
                                  [numpy_helper.from_array(np.asarray(v), k) for k, v in self.constants.items()])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=10 if self.opset > 20 else 8, producer_name="fixtures")
        model = onnx.shape_inference.infer_shapes(model)
        onnx.checker.check_model(model, full_check=True)
        onnx.save(model, folder / f"{self.name}.onnx")
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        x = RANDOM.uniform(-0.1 if self.name.startswith("sums") else -1, 1, self.shape).astype(np.float32)
        result = session.run(None, {"x": x})[0]
        np.savez_compressed(folder / f"{self.name}.npz", **{"in.x": x, "out.y": result, "step": np.float32(step)})


def network(folder, name, unsigned):
    """Convolutions with padding, one by depth, a residual sum, pooling, parts of two scales, a product at the end."""
    net = Net(name, [2, 3, 12, 12], unsigned)
    x = net.codes("x", -1, 1)
    a = net.conv(x, (16, 3, 3, 3), pads=[1, 1, 1, 1], strides=[1, 1])
    a = net.codes(net.op("Relu", [a]), 0, 3)
    d = net.conv(a, (16, 1, 3, 3), group=16, pads=[0, 1, 2, 1])
    d = net.codes(net.op("Relu", [d]), 0, 4)
    e = net.conv(d, (16, 16, 1, 1), unsigned_weight=unsigned, bias=False)
    e = net.codes(e, -4, 5)
    s = net.codes(net.op("Relu", [net.op("Add", [e, a])]), 0, 6)
    step = net.step
    p = net.op("MaxPool", [s], kernel_shape=[2, 2], strides=[2, 2])
    p = net.codes_as(p, s)
    net.step = step
    f = net.codes(net.conv(p, (8, 16, 3, 3), pads=[1, 1, 1, 1]), -8, 8)
    whole = net.codes(net.op("Concat", [f, p], axis=1), -8, 9)
    step = net.step
    flat = net.op("Flatten", [whole])
    flat = net.codes_as(flat, whole)
    net.step = step
    weight = net.weight(net.real(5, 24 * 36) / 8, 0)
    y = net.op("Gemm", [flat, weight, net.bias(5, step)], transB=1)
    net.save(folder, y, 0)


def codes_as(self, value, like):
    """Through codes of the scale that another value came through."""
    node = next(n for n in self.nodes if n.output[0] == like)
    code = self.op("QuantizeLinear", [value, *node.input[1:]])
    return self.op("DequantizeLinear", [code, *node.input[1:]])


Net.codes_as = codes_as


def products(folder):
    """Products of stacks of rows with biases added behind, functions between."""
    net = Net("products", [2, 6, 16], True)
    x = net.codes("x", -1, 1.2)
    a = net.op("Add", [net.op("MatMul", [x, net.weight(net.real(16, 24), 1)]), net.constant(net.real(24))])
    a = net.codes(net.op("Sigmoid", [a]), 0, 1)
    b = net.op("MatMul", [a, net.weight(net.real(24, 16), 1)])
    b = net.codes(net.op("Add", [b, net.constant(net.real(16))]), -6, 6)
    s = net.codes(net.op("Add", [x, b]), -7, 7)
    net.save(folder, s, net.step)


def operators(folder):
    """The same as operators on codes."""
    net = Net("operators", [1, 4, 9, 9], True)
    scale, step = net.scale(-1, 1)
    code = net.op("QuantizeLinear", ["x", *scale])
    weights = [net.constant(RANDOM.randint(-127, 128, (8, 4, 3, 3)).astype(np.int8)), net.constant(RANDOM.uniform(0.003, 0.01, 8).astype(np.float32)),
               net.constant(np.zeros(8, np.int8))]
    result, out_step = net.scale(-4, 5)
    bias = net.constant(RANDOM.randint(-3000, 3000, 8).astype(np.int32))
    conv = net.op("QLinearConv", [code, *scale, *weights, *result, bias], pads=[1, 1, 1, 1], strides=[2, 2])
    real = net.op("DequantizeLinear", [conv, *result])
    net.save(folder, net.codes(net.op("Relu", [real]), 0, 4.1), net.step)


def dynamic(folder, name, unsigned_weight):
    """Products of codes whose scales the data give, as dynamic quantization writes them."""
    net = Net(name, [2, 6, 11, 11], True)

    def coded(x):
        codes, step, zero = (net.fresh(word) for word in ("codes", "step", "zero"))
        net.nodes.append(helper.make_node("DynamicQuantizeLinear", [x], [codes, step, zero], name=codes))
        return codes, step, zero

    def product(op, x, shape, bias_shape=None, **attributes):
        codes, step, zero = coded(x)
        drawn = RANDOM.randint(-127, 128, shape)
        weight = (drawn + 128).astype(np.uint8) if unsigned_weight else drawn.astype(np.int8)
        inputs = [codes, net.constant(weight), zero, net.constant(weight.dtype.type(128 if unsigned_weight else 0))]
        sums = net.op("Cast", [net.op(op, inputs, **attributes)], to=TensorProto.FLOAT)
        real = net.op("Mul", [sums, net.op("Mul", [step, net.constant(np.float32(0.01))])])
        if bias_shape is None:
            return real
        bias = net.op("Reshape", [net.constant(net.real(int(np.prod(bias_shape)))), net.constant(np.array(bias_shape, np.int64))])
        return net.op("Add", [real, bias])

    low, high = net.constant(np.float32(0)), net.constant(np.float32(6))
    a = net.op("Clip", [product("ConvInteger", "x", (16, 6, 3, 3), (1, 16, 1, 1), pads=[1, 1, 1, 1], strides=[2, 2]), low, high])
    d = net.op("Clip", [product("ConvInteger", a, (16, 1, 3, 3), (1, 16, 1, 1), pads=[1, 1, 1, 1], group=16), low, high])
    e = net.op("Add", [product("ConvInteger", d, (16, 16, 1, 1), (1, 16, 1, 1)), a])
    pooled = net.op("Flatten", [net.op("GlobalAveragePool", [e])])
    net.save(folder, net.op("Relu", [product("MatMulInteger", pooled, (16, 7), (7,))]), 0)


def averages(folder, name, unsigned):
    """Averages and products of codes: padding that counts and that does not, a gate by channel, a square."""
    net = Net(name, [2, 60, 7, 6], unsigned)
    x = net.codes("x", -1, 1.3)
    a = net.op("AveragePool", [x], kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 1, 1], count_include_pad=1)
    a = net.codes(a, -0.9, 1.0319)
    b = net.op("AveragePool", [x], kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 1, 1])
    b = net.codes(b, -1.1, 1.2173)
    c = net.codes(net.op("Mul", [a, b]), -1.2, 1.2)
    gate = net.codes(net.op("GlobalAveragePool", [x]), -0.2, 0.25)
    gate = net.codes(net.op("HardSigmoid", [gate], alpha=2.0), 0, 1)
    d = net.codes(net.op("Mul", [gate, c]), -1, 1)
    mean = net.op("ReduceMean", [d], axes=[-1, 2], keepdims=0)
    net.save(folder, net.codes(mean, -0.2317, 0.21), net.step)


def ties(folder):
    """Averages of four codes in the scale that they have: each fourth lies between two. ONNX Runtime's sums in float32 take either; what
    is recorded is the average rounded to float32 once, coded as QuantizeLinear says."""
    net = Net("ties", [1, 16, 12, 12], True)
    x = net.codes("x", -1, 1.3)
    scale, zero = (net.constants[name] for name in net.nodes[-1].input[1:])
    net.save(folder, net.codes_as(net.op("AveragePool", [x], kernel_shape=[2, 2], strides=[2, 2]), x), -1)
    given = dict(np.load(folder / "ties.npz"))
    real = ((np.clip(np.rint(given["in.x"] / scale) + zero, 0, 255) - zero).astype(np.float32) * scale).astype(np.float64)
    mean = real.reshape(1, 16, 6, 2, 6, 2).mean(axis=(3, 5)).astype(np.float32)
    given["out.y"] = (np.clip(np.rint(mean / scale) + zero, 0, 255) - zero).astype(np.float32) * scale
    np.savez_compressed(folder / "ties.npz", **given)


def sums(folder, name, conv):
    """Sums beyond 2^24, as real numbers; "step" is -1: they are to be equal."""
    net = Net(name, [1, 200, 5, 5] if conv else [3, 1800], True)
    codes, step, zero = "codes", "step", "zero"
    net.nodes.append(helper.make_node("DynamicQuantizeLinear", ["x"], [codes, step, zero], name=codes))
    weight = RANDOM.randint(118, 128, (4, 200, 3, 3) if conv else (1800, 4)).astype(np.int8)
    inputs = [codes, net.constant(weight), zero, net.constant(np.int8(0))]
    found = net.op("ConvInteger", inputs, pads=[1, 0, 1, 1]) if conv else net.op("MatMulInteger", inputs)
    net.save(folder, net.op("Cast", [found], to=TensorProto.FLOAT), -1)


def four_bits(folder):
    """Products with weights of 4 bits: in blocks of rows, in blocks with zero points, of which the last is shorter, and by column."""
    net = Net("four_bits", [3, 32], True, opset=21)

    def weight(kind, rows, columns, block, zeros):
        drawn = RANDOM.randint(*((-8, 8) if kind == "int4" else (0, 16)), (rows, columns)).astype(kind)
        shape = (-(-rows // block), columns) if block else (columns,)
        inputs = [net.constant(drawn, "w"), net.constant(RANDOM.uniform(0.02, 0.1, shape).astype(np.float32), "ws")]
        if zeros:
            inputs.append(net.constant(RANDOM.randint(0, 8, shape).astype(kind), "wz"))
        return net.op("DequantizeLinear", inputs, **({"axis": 0, "block_size": block} if block else {"axis": 1}))

    a = net.op("Relu", [net.op("MatMul", ["x", weight("int4", 32, 40, 16, False)])])
    b = net.op("Relu", [net.op("MatMul", [a, weight("uint4", 40, 24, 16, True)])])
    net.save(folder, net.op("MatMul", [b, weight("int4", 24, 7, 0, True)]), 0)


folder = Path(sys.argv[1])
folder.mkdir(exist_ok=True)
network(folder, "uint8", True)
network(folder, "int8", False)
products(folder)
operators(folder)
dynamic(folder, "dynamic_uint8", True)
dynamic(folder, "dynamic_int8", False)
sums(folder, "sums_conv", True)
sums(folder, "sums_product", False)
averages(folder, "averages_uint8", True)
averages(folder, "averages_int8", False)
ties(folder)
four_bits(folder)

#!/usr/bin/env python3
"""Makes tests/data/qdq: make_qdq_goldens.py tests/data/qdq

net.onnx   a network with a BatchNorm, a residual sum and two products that share their weights, of opset 12
qdq.onnx   the same in pairs of codes, written here from the definition (core/quantize/RULES.md, Q-pairs), of opset 13
table.json the ranges that the codes stand for, as a calibration table
in.npz, out.npz  examples, and what ONNX Runtime gives for qdq.onnx without any optimisation of its own
real.npz   what it gives for the same network without codes of data, its weights being those that the codes stand for

Needs onnx 1.22, onnxruntime and numpy.
"""
import json
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

RANDOM = np.random.RandomState(11)
RANGES = {"x": (-1.0, 1.5), "a": (0.0, 2.25), "c2": (-2.0, 1.75), "r": (0.0, 3.0), "f": (0.0, 1.5), "g": (-0.875, 1.0)}


def real(*shape):
    return RANDOM.uniform(-1, 1, shape).astype("float32")


def make(name, nodes, constants, opset):
    graph = helper.make_graph(
        nodes, "net", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 3, 8, 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 5]), helper.make_tensor_value_info("z", TensorProto.FLOAT, ["N", 5])],
        [numpy_helper.from_array(value, key) for key, value in constants.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8, producer_name="fixtures")
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, folder / name)


class Pairs:
    """A network in which values go through codes."""

    def __init__(self):
        self.nodes, self.constants = [], {}

    def add(self, op, inputs, output, **attributes):
        self.nodes.append(helper.make_node(op, inputs, [output], name=output, **attributes))

    def code(self, value, of=None):
        """Values by a scale for the 255 steps of a range with 0 in it."""
        low, high = np.float32(RANGES[of or value])
        scale = np.float32((high - low) / np.float32(255))
        zero = np.uint8(np.clip(np.rint(-low / scale), 0, 255))
        self.constants |= {f"{value}_scale": scale.reshape(()), f"{value}_zero_point": zero.reshape(())}
        self.add("QuantizeLinear", [value, f"{value}_scale", f"{value}_zero_point"], f"{value}_QuantizeLinear_Output")
        self.add("DequantizeLinear", [f"{value}_QuantizeLinear_Output", f"{value}_scale", f"{value}_zero_point"], f"{value}_DequantizeLinear_Output")
        self.scale = scale
        return f"{value}_DequantizeLinear_Output"

    def weights(self, name, values, axis):
        """Codes of -127 to 127, a scale a channel."""
        others = tuple(k for k in range(values.ndim) if k != axis)
        scales = (np.abs(values).max(axis=others) / np.float32(127)).astype("float32")
        wide = scales.reshape([-1 if k == axis else 1 for k in range(values.ndim)])
        codes = np.clip(np.rint(values / wide), -127, 127).astype("int8")
        self.constants |= {f"{name}_quantized": codes, f"{name}_scale": scales, f"{name}_zero_point": np.zeros(scales.shape, "int8")}
        self.add("DequantizeLinear", [f"{name}_quantized", f"{name}_scale", f"{name}_zero_point"], f"{name}_DequantizeLinear_Output", axis=axis)
        return f"{name}_DequantizeLinear_Output", scales

    def bias(self, name, values, data, weights):
        """Codes of 32 bits in the scale of the sums."""
        scales = (data * weights).astype("float32")
        self.constants |= {f"{name}_quantized": np.rint(values / scales.astype("float64")).astype("int32"), f"{name}_scale": scales}
        self.add("DequantizeLinear", [f"{name}_quantized", f"{name}_scale"], f"{name}_DequantizeLinear_Output", axis=0)
        return f"{name}_DequantizeLinear_Output"


folder = Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
w1, w2, w3, b2, b3 = real(4, 3, 3, 3), real(4, 4, 3, 3) / 4, real(5, 4), real(4), real(5)
gamma, beta, mean, variance = 1 + real(4) / 2, real(4), real(4), 2 + real(4)
step = helper.make_node
make("net.onnx", [
    step("Conv", ["x", "w1"], ["c1"], "conv1", pads=[1, 1, 1, 1]),
    step("BatchNormalization", ["c1", "gamma", "beta", "mean", "variance"], ["n1"], "norm1", epsilon=1e-3),
    step("Relu", ["n1"], ["a"], "relu1"),
    step("MaxPool", ["a"], ["p"], "pool", kernel_shape=[2, 2], strides=[2, 2]),
    step("Conv", ["p", "w2", "b2"], ["c2"], "conv2", pads=[1, 1, 1, 1]),
    step("Add", ["p", "c2"], ["s"], "sum"),
    step("Relu", ["s"], ["r"], "relu2"),
    step("GlobalAveragePool", ["r"], ["v"], "mean"),
    step("Flatten", ["v"], ["f"], "flat"),
    step("Gemm", ["f", "w3", "b3"], ["y"], "full", transB=1),
    step("Sub", ["f", "half"], ["g"], "shift"),
    step("Gemm", ["g", "w3"], ["z"], "again", transB=1),
], {"w1": w1, "w2": w2, "b2": b2, "w3": w3, "b3": b3, "gamma": gamma, "beta": beta, "mean": mean, "variance": variance,
    "half": np.float32(0.5).reshape(1)}, 12)

pairs = Pairs()
factor = gamma.astype("float64") / np.sqrt(variance.astype("float64") + np.float32(1e-3))
folded = (w1 * factor[:, None, None, None]).astype("float32")
x = pairs.code("x")
w, scales = pairs.weights("w1", folded, 0)
pairs.add("Conv", [x, w, pairs.bias("conv1_bias", (beta + factor * -mean.astype("float64")).astype("float32"), pairs.scale, scales)], "n1", pads=[1, 1, 1, 1])
pairs.add("Relu", ["n1"], "a")
pairs.add("MaxPool", [pairs.code("a")], "p", kernel_shape=[2, 2], strides=[2, 2])
p = pairs.code("p", "a")  # moved from there
w, scales = pairs.weights("w2", w2, 0)
pairs.add("Conv", [p, w, pairs.bias("b2", b2, pairs.scale, scales)], "c2", pads=[1, 1, 1, 1])
pairs.add("Add", [p, pairs.code("c2")], "s")
pairs.add("Relu", ["s"], "r")
pairs.add("GlobalAveragePool", [pairs.code("r")], "v")
RANGES["v"] = RANGES["f"]
pairs.add("Flatten", [pairs.code("v")], "f")
f = pairs.code("f")
w, scales = pairs.weights("w3", w3, 0)
pairs.add("Gemm", [f, w, pairs.bias("b3", b3, pairs.scale, scales)], "y", transB=1)
pairs.constants["half"] = np.float32(0.5).reshape(1)
pairs.add("Sub", [f, "half"], "g")
pairs.add("Gemm", [pairs.code("g"), w], "z", transB=1)
make("qdq.onnx", pairs.nodes, pairs.constants, 13)

(folder / "table.json").write_text(json.dumps({"tensors": [{"name": name, "calib_range": ends} for name, ends in RANGES.items() if name != "f"]}) + "\n")
examples = real(2, 3, 8, 8)
np.savez(folder / "in.npz", x=examples)
options = onnxruntime.SessionOptions()
options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL


def run(model):
    y, z = onnxruntime.InferenceSession(model, options).run(None, {"x": examples})
    return {"y": y, "z": z}


np.savez(folder / "out.npz", **run(folder / "qdq.onnx"))
real_model = onnx.load(folder / "qdq.onnx")
gone = [node for node in real_model.graph.node if node.op_type == "QuantizeLinear"]
values = {f"{node.input[0]}_DequantizeLinear_Output": node.input[0] for node in gone}
for node in [*gone, *(n for n in real_model.graph.node if n.output[0] in values)]:
    real_model.graph.node.remove(node)
for node in real_model.graph.node:
    node.input[:] = [values.get(name, name) for name in node.input]
np.savez(folder / "real.npz", **run(real_model.SerializeToString()))

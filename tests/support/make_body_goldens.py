#!/usr/bin/env python3
"""Makes tests/data/bodies with the real MXNet 1.9.1: graphs whose nodes hold bodies, fused by its oneDNN backend or control flow.

  make_body_goldens.py OUT

Written: OUT/NAME-symbol.json, and OUT/expected.json, a list of
  {"graph": NAME, "given": {variable: type}, "types": [[node, [type of each visible output, null: open]], ...]}  or  {…, "refused": true}
  {"graph": NAME, "given": {variable: shape}, "shapes": [[node, [shape, …]], …]}                             (null, -1: unknown)
and OUT/NAME-inputs.npz, OUT/NAME-values.npz: arrays by variable, and what the heads of the graphs of control flow give for them, in order.
"""
import itertools
import json
import os
import sys

os.environ.pop("MXNET_SUBGRAPH_BACKEND", None)
import mxnet as mx  # noqa: E402
import numpy as np  # noqa: E402
from mxnet.contrib.quantization import quantize_model  # noqa: E402

S = mx.sym


def conv_bn(data, i, relu):
    out = S.BatchNorm(S.Convolution(data, kernel=(3, 3), pad=(1, 1), num_filter=4, no_bias=i % 2 == 1, name=f"conv{i}"),
                      fix_gamma=False, name=f"bn{i}")
    return S.Activation(out, act_type="relu", name=f"relu{i}") if relu else out


def residual(data):
    first = conv_bn(data, 0, True)
    return S.Activation(conv_bn(first, 1, False) + first, act_type="relu", name="out")


def dense(data):
    hidden = S.Activation(S.FullyConnected(data, num_hidden=5, name="fc0"), act_type="relu", name="relu0")
    hidden = S.LeakyReLU(S.FullyConnected(hidden, num_hidden=6, no_bias=True, name="fc1"), act_type="gelu", name="gelu1")
    return S.FullyConnected(hidden, num_hidden=3, flatten=False, name="fc2")


def clipped(data):
    return S.clip(S.Convolution(S.exp(data, name="exp"), kernel=(1, 1), num_filter=4, name="conv"), a_min=0, a_max=6, name="relu6")


def attention():
    qkv = S.var("data")
    scores = S.contrib.interleaved_matmul_selfatt_qk(qkv, heads=2, name="qk")
    return S.contrib.interleaved_matmul_selfatt_valatt(qkv, S.softmax(scores, name="softmax"), heads=2, name="va")


def foreach(data, state):
    def step(x, s):
        out = S.FullyConnected(x, S.var("w"), num_hidden=4, no_bias=True, name="fc") + s
        return out, S.tanh(out, name="tanh")
    return S.contrib.foreach(step, data, state)


def foreach_mixed(data, state):
    def step(x, s):
        counted = S.cast(S.argmax(x[0], axis=1, name="argmax"), "int32", name="count") + s[1]
        return S.cast(x[0] * 1.5, dtype="float16", name="cast"), [s[0] + x[1], counted]
    return S.contrib.foreach(step, [data, S.var("second")], [state, S.var("counts")])


def nested(data, state):
    def outer(x, s):
        return S.contrib.foreach(lambda y, t: (S.broadcast_mul(y, S.var("w")) + t, t + 1), x, s)
    return S.contrib.foreach(outer, data, state)


def loop(i, state):
    return S.contrib.while_loop(lambda i, s: i < 5, lambda i, s: ([s * 2], [i + 1, s + i]), [i, state], max_iterations=7)


def loop_cast(i, state):
    return S.contrib.while_loop(lambda i, s: i < 5, lambda i, s: ([S.cast(s, "float16")], [i + 1, S.broadcast_mul(s, S.var("w"))]),
                                [i, state], max_iterations=7)


def quantized(data, calibrate):
    """A network as MXNet's quantization leaves it, calibrated or not."""
    net = S.Pooling(residual(data), kernel=(2, 2), stride=(2, 2), name="pool")
    net = S.Flatten(S.concat(net, net, dim=1, name="concat"), name="flatten")
    net = S.Activation(S.FullyConnected(net, num_hidden=5, name="fc0"), act_type="relu", name="relu2")
    net = S.softmax(S.FullyConnected(net, num_hidden=3, name="fc1"), name="softmax")
    mx.random.seed(1)
    shapes, _, states = net.infer_shape(data=(2, 4, 8, 8))
    args = {n: mx.nd.random.uniform(-1, 1, shape=s) for n, s in zip(net.list_arguments(), shapes) if n != "data"}
    aux = {n: mx.nd.ones(s) for n, s in zip(net.list_auxiliary_states(), states)}
    batches = mx.io.NDArrayIter(data=mx.nd.random.uniform(-1, 1, shape=(4, 4, 8, 8)), batch_size=2, label=None)
    made, _, _ = quantize_model(net.get_backend_symbol("MKLDNN_QUANTIZE"), args, aux, data_names=("data",), label_names=None, ctx=mx.cpu(),
                                calib_mode="naive" if calibrate else "none", calib_data=batches if calibrate else None,
                                num_calib_examples=4 if calibrate else None, quantized_dtype="auto", quantize_mode="full")
    return made.get_backend_symbol("MKLDNN_QUANTIZE")


def graphs():
    data, state = S.var("data"), S.var("state")
    for name, symbol in {"fused_residual": residual(data), "fused_dense": dense(data), "fused_clip": clipped(data),
                         "fused_attention": attention()}.items():
        yield name, symbol.get_backend_symbol("MKLDNN")
    for name, calibrate in (("quantized", False), ("quantized_calibrated", True)):
        yield name, quantized(data, calibrate)
    for name, (outputs, states) in {"foreach": foreach(data, state), "foreach_mixed": foreach_mixed(data, state),
                                    "foreach_nested": nested(data, state), "while": loop(S.var("data"), state),
                                    "while_cast": loop_cast(S.var("data"), state)}.items():
        listed = [part if isinstance(part, list) else [part] for part in (outputs, states)]
        yield name, S.Group(listed[0] + listed[1])
    p, w = S.var("p"), S.var("w")
    yield "cond", S.contrib.cond(p < 3, lambda: data * w, lambda: data + 1)
    yield "cond_cast", S.contrib.cond(p < 3, lambda: S.cast(data, "float16"), lambda: S.cast(data + 2, "float16"))


SHAPES = {
    "fused_residual": {"data": (2, 4, 7, 9)}, "fused_dense": {"data": (2, 3, 4)}, "fused_clip": {"data": (2, 3, 5, 6)},
    "fused_attention": {"data": (5, 3, 24)}, "quantized": {"data": (2, 4, 8, 8)}, "quantized_calibrated": {"data": (2, 4, 8, 8)}, "foreach": {"data": (6, 2, 3), "state": (2, 4)},
    "foreach_mixed": {"data": (6, 2, 3), "second": (6, 4), "state": (4,), "counts": (2,)},
    "foreach_nested": {"data": (6, 2, 3), "state": (3,), "w": (3,)}, "while": {"data": (1,), "state": (1,)},
    "while_cast": {"data": (1,), "state": (2, 3), "w": (3,)}, "cond": {"p": (1,), "data": (2, 3), "w": (2, 3)}, "cond_cast": {"p": (1,), "data": (2, 3)},
}


def type_name(dtype):
    return None if dtype is None else np.dtype(dtype).name


def plain(shape):
    return None if shape is None or len(shape) == 0 else [d if d > 0 else -1 for d in shape]


def by_node(internals, values):
    names = [internals[i].name for i in range(len(internals))]
    return [[name, [value for _, value in group]] for name, group in itertools.groupby(zip(names, values), key=lambda item: item[0])]


def type_rows(name, symbol):
    variables = symbol.list_arguments()
    if name.startswith("quantized"):  # of which MXNet wants to know the data's type
        variables = variables[:1]
    givens = [] if name.startswith("quantized") else [{}]
    givens += [{v: t} for v in variables for t in ("float32", "float16")]
    givens += [{v: t for v in variables} for t in ("float32", "float16", "int32")]
    givens += [{variables[0]: "float16", v: "float32"} for v in variables[1:]]
    for given in givens:
        row = {"graph": name, "given": given}
        try:
            internals = symbol.get_internals()
            _, types, _ = internals.infer_type_partial(**given)
            row["types"] = by_node(internals, map(type_name, types))
        except mx.MXNetError:
            row["refused"] = True
        yield row


def shape_row(name, symbol):
    internals = symbol.get_internals()
    _, shapes, _ = internals.infer_shape_partial(**SHAPES[name])
    return {"graph": name, "given": {k: list(v) for k, v in SHAPES[name].items()}, "shapes": by_node(internals, map(plain, shapes))}


RUNS = {  # of the loop's condition and the branch's, both ways
    "foreach": {}, "foreach_nested": {}, "while": {"data": np.array([2.0])}, "while_cast": {"data": np.array([1.0])},
    "cond": {"p": np.array([1.0])}, "cond_cast": {"p": np.array([4.0])},
}


def record_values(name, symbol, out):
    random = np.random.RandomState(3)
    shapes = dict(zip(symbol.list_arguments(), symbol.infer_shape_partial(**SHAPES[name])[0]))
    inputs = {n: RUNS[name].get(n, random.uniform(-1, 1, shape)).astype("float32") for n, shape in shapes.items()}
    outputs = symbol.bind(mx.cpu(), {n: mx.nd.array(a) for n, a in inputs.items()}, grad_req="null").forward(is_train=False)
    np.savez(f"{out}/{name}-inputs.npz", **inputs)
    outputs = [o.asnumpy() for o in outputs]
    if name.startswith("while"):  # MXNet leaves memory as it is for the steps that a loop does not take; Halftone promises zeros
        outputs[0][int(outputs[1][0] - inputs["data"][0]):] = 0
    np.savez(f"{out}/{name}-values.npz", **{f"{i}": o for i, o in enumerate(outputs)})


def main():
    out = sys.argv[1]
    rows = []
    for name, symbol in graphs():
        with open(f"{out}/{name}-symbol.json", "w") as file:
            json.dump(json.loads(symbol.tojson()), file, separators=(",", ":"))
        if name in RUNS:
            record_values(name, symbol, out)
        rows += list(type_rows(name, symbol)) + [shape_row(name, symbol)]
    with open(out + "/expected.json", "w") as file:
        file.write("[\n" + ",\n".join(json.dumps(r, separators=(",", ":")) for r in rows) + "\n]\n")


if __name__ == "__main__":
    main()

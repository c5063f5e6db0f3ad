#!/usr/bin/env python3
"""Records where MXNet 1.9.1 on a CPU computes otherwise than its operators say: make_delivery_goldens.py FOLDER (needs mxnet==1.9.1)

Writes NAME-symbol.json, NAME-0000.params, NAME.npz (the inputs) and NAME-delivered.npz (what MXNet makes of them) for int8 models that MXNet's own quantization made (a
sum of an int8 addend with a ReLU behind it, one of a uint8 addend without), and for operators on bfloat16 that are no oneDNN ones.
"""
import json
import os
import sys
from pathlib import Path

os.environ["MXNET_SUBGRAPH_BACKEND"] = "NONE"

import mxnet as mx  # noqa: E402 (after the environment)
import numpy as np  # noqa: E402
from mxnet.contrib import quantization  # noqa: E402

SHAPE = (2, 4, 6, 6)


def conv(x, name):
    return mx.sym.Convolution(x, kernel=(3, 3), pad=(1, 1), num_filter=4, name=name)


def relu(x, name):
    return mx.sym.Activation(x, act_type="relu", name=name)


def int8_addend():
    x = mx.sym.var("data")
    return conv(relu(mx.sym.elemwise_add(conv(x, "left"), conv(x, "right"), name="sum"), "positive"), "last")


def uint8_addend():
    x = relu(conv(mx.sym.var("data"), "first"), "positive")
    return conv(mx.sym.elemwise_add(conv(x, "left"), x, name="sum"), "last")


def deliver(prefix, arrays):
    symbol, args, aux = mx.model.load_checkpoint(str(prefix), 0)
    fed = {k: mx.nd.array(v) for k, v in arrays.items()}
    return symbol.bind(mx.cpu(), {**args, **fed}, aux_states=aux, grad_req="null").forward(is_train=False)[0].asnumpy()


def save(folder, name, arrays, delivered):
    np.savez(folder / f"{name}.npz", **arrays)
    np.savez(folder / f"{name}-delivered.npz", delivered=delivered)


def record_int8(folder, name, symbol):
    draw = np.random.default_rng(1)
    shapes, _, _ = symbol.infer_shape(data=SHAPE)
    args = {k: mx.nd.array(draw.normal(0, 0.3, s)) for k, s in zip(symbol.list_arguments(), shapes) if k != "data"}
    data = draw.normal(0, 1, SHAPE).astype("float32")
    # Somewhat beyond the data, since what reaches code 128 in MXNet wraps around to -128.
    batches = mx.io.NDArrayIter(1.1 * data, batch_size=SHAPE[0], label=None)
    made = quantization.quantize_model_mkldnn(symbol, args, {}, ctx=mx.cpu(), calib_mode="naive", calib_data=batches, label_names=None,
                                              num_calib_examples=SHAPE[0], quantized_dtype="auto", quantize_mode="full")
    mx.model.save_checkpoint(str(folder / name), 0, *made)
    path = folder / f"{name}-symbol.json"
    path.write_text(json.dumps(json.loads(path.read_text()), separators=(",", ":")))
    save(folder, name, {"data": data}, deliver(folder / name, {"data": data}))


def record_bfloat16(folder, name):
    """bfloat16 is no type of NumPy, so the casts are written into the JSON."""
    a, b = (mx.sym.amp_cast(mx.sym.var(k), dtype="float16") for k in ("a", "b"))
    y = mx.sym.elemwise_mul(mx.sym.tanh(mx.sym.broadcast_add(a, b)), mx.sym.square(a)) + 1.37
    symbol = mx.sym.amp_cast(y, dtype="float32", name="out")
    text = symbol.tojson(remove_amp_cast=False).replace('"float16"', '"bfloat16"')
    (folder / f"{name}-symbol.json").write_text(json.dumps(json.loads(text), separators=(",", ":")))
    draw = np.random.default_rng(2)
    arrays = {"a": draw.normal(0, 1, (4, 50)).astype("float32"), "b": draw.normal(0, 1, (1, 50)).astype("float32")}
    fed = {k: mx.nd.array(v) for k, v in arrays.items()}
    delivered = mx.sym.load_json(text).bind(mx.cpu(), fed, grad_req="null").forward(is_train=False)[0].asnumpy()
    save(folder, name, arrays, delivered)


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    record_int8(folder, "int8-addend", int8_addend())
    record_int8(folder, "uint8-addend", uint8_addend())
    record_bfloat16(folder, "bfloat16")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

"""Codes of 8 bits and fewer."""
import numpy as np


def scale_of(d, shape=()):
    return d.constant(np.asarray(d.np.choice((0.0625, 0.125, 0.25, 0.1), shape), np.float32))


def zero_of(d, dtype, shape=()):
    low, high = (0, 200) if dtype == "uint8" else (-40, 40)
    return d.constant(np.asarray(d.np.randint(low, high, shape), dtype))


def quantize(d):
    a = d.tensor(dtype="float32", rank=(1, 2, 3, 4), kind="real")
    dtype = d.choice(("int8", "uint8"))
    if d.opset >= 13 and d.chance(0.4):
        axis = d.axis(a.rank)
        d.node("QuantizeLinear", [a, scale_of(d, a.shape[axis]), zero_of(d, dtype, a.shape[axis])], axis=axis)
    else:
        d.node("QuantizeLinear", [a, scale_of(d), zero_of(d, dtype) if d.chance(0.8) else None])


def dequantize(d):
    dtype = d.choice(("int8", "uint8", "int32"))
    a = d.tensor(dtype=dtype, rank=(1, 2, 3, 4))
    axis = d.axis(a.rank)
    per_axis = d.opset >= 13 and d.chance(0.4)
    shape = (a.shape[axis],) if per_axis else ()
    zero = d.constant(np.zeros(shape, dtype)) if dtype == "int32" else zero_of(d, dtype, shape)
    d.node("DequantizeLinear", [a, scale_of(d, shape), zero if d.chance(0.8) else None], **({"axis": axis} if per_axis else {}))


def pair(d):
    """What quantizers write: a real that takes the steps of codes."""
    a = d.tensor(dtype="float32", rank=(2, 3, 4), kind="sum")
    dtype = d.choice(("int8", "uint8") + (("int16", "uint16") if d.opset >= 21 else ()))
    scale = scale_of(d)
    zero = d.constant(np.array(d.integer(0, 9), dtype))
    codes = d.proto("QuantizeLinear", [a, scale, zero])
    back = d.proto("DequantizeLinear", [codes.output[0], scale, zero])
    d.group([codes, back], back.output, "QDQ")


def coded_layer(d):
    """A product between pairs, as quantized files have it."""
    n, k, m = d.integer(1, 4), d.integer(1, 6), d.integer(1, 4)
    a = d.tensor(shape=(n, k), dtype="float32", kind="sum")
    scale, zero = d.constant(0.03125, "float32"), d.constant(d.integer(0, 128), "uint8")
    weights = d.constant(d.np.randint(-127, 128, (k, m)).astype(np.int8))
    w_scale, w_zero = d.constant(d.np.uniform(0.001, 0.01, m).astype(np.float32)), d.constant(np.zeros(m, np.int8))
    codes = d.proto("QuantizeLinear", [a, scale, zero])
    left = d.proto("DequantizeLinear", [codes.output[0], scale, zero])
    right = d.proto("DequantizeLinear", [weights, w_scale, w_zero], axis=1)
    product = d.proto("MatMul", [left.output[0], right.output[0]])
    out_scale, out_zero = d.constant(0.0625, "float32"), d.constant(100, "uint8")
    out = d.proto("QuantizeLinear", [product.output[0], out_scale, out_zero])
    back = d.proto("DequantizeLinear", [out.output[0], out_scale, out_zero])
    d.group([codes, left, right, product, out, back], back.output, "QDQ MatMul")


def blocked(d):
    """Weights of 4 or 8 bits with a scale a block."""
    k, m, block = 4, d.integer(1, 3), 2
    kind = d.choice(("INT4", "UINT4", "INT8"))
    low, high = {"INT4": (-8, 8), "UINT4": (0, 16), "INT8": (-128, 128)}[kind]
    values = d.np.randint(low, high, (k, m))
    scale = d.constant(d.np.uniform(0.01, 0.1, (k // block, m)).astype(np.float32))
    import onnx
    tensor = onnx.helper.make_tensor("codes", d.type_code(kind), values.shape, values.flatten().tolist())
    held = d.proto("Constant", [], value=tensor)
    back = d.proto("DequantizeLinear", [held.output[0], scale], axis=0, block_size=block)
    a = d.tensor(shape=(d.integer(1, 3), k), dtype="float32", kind="sum")
    product = d.proto("MatMul", [a, back.output[0]])
    d.group([held, back, product], product.output, "DequantizeLinear blocked")


def dynamic(d):
    d.node("DynamicQuantizeLinear", [d.tensor(dtype="float32", kind="sum")], 3)


def q_linear_mat_mul(d):
    n, k, m = d.integer(1, 4), d.integer(1, 6), d.integer(1, 4)
    dtype = d.choice(("int8", "uint8"))
    a = d.fresh((n, k), dtype)
    b_type = "int8" if dtype == "int8" or d.chance(0.5) else "uint8"
    b = d.constant(d.array((k, m), b_type))
    d.node("QLinearMatMul", [a, scale_of(d), zero_of(d, dtype), b, scale_of(d), d.constant(0, b_type), scale_of(d), zero_of(d, dtype)])


def q_linear_conv(d):
    channels, out = d.integer(1, 3), d.integer(1, 3)
    dtype = d.choice(("int8", "uint8"))
    a = d.fresh((1, channels, 4, 4), dtype)
    w_type = "int8"
    w = d.constant(d.array((out, channels, 2, 2), w_type))
    per = (out,) if d.chance(0.5) else ()
    bias = d.constant(d.np.randint(-50, 50, out).astype(np.int32)) if d.chance(0.5) else None
    d.node("QLinearConv", [a, scale_of(d), zero_of(d, dtype), w, scale_of(d, per), d.constant(np.zeros(per, w_type)), scale_of(d), zero_of(d, dtype), bias],
           **d.some(pads=[1, 0, 1, 0], strides=[2, 1]))


def mat_mul_integer(d):
    n, k, m = d.integer(1, 4), d.integer(1, 6), d.integer(1, 4)
    dtype = d.choice(("int8", "uint8"))
    a, b_type = d.fresh((n, k), dtype), "int8"
    zero = zero_of(d, dtype) if d.chance(0.6) else None
    d.node("MatMulInteger", [a, d.constant(d.array((k, m), b_type)), zero, d.constant(d.integer(-3, 3), b_type) if zero and d.chance(0.5) else None])


def conv_integer(d):
    channels, out = d.integer(1, 2), d.integer(1, 2)
    a = d.fresh((1, channels, 4, 4), "uint8")
    w = d.constant(d.array((out, channels, 2, 2), "uint8"))
    zero = zero_of(d, "uint8") if d.chance(0.6) else None
    d.node("ConvInteger", [a, w, zero], **d.some(pads=[1, 0, 1, 0], strides=[2, 1]))


OPERATORS = {"QuantizeLinear": quantize, "DequantizeLinear": dequantize, "QDQ": pair, "QDQ MatMul": coded_layer, "DequantizeLinear blocked": blocked,
             "DynamicQuantizeLinear": dynamic, "QLinearMatMul": q_linear_mat_mul, "QLinearConv": q_linear_conv, "MatMulInteger": mat_mul_integer,
             "ConvInteger": conv_integer}

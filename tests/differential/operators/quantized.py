"""Operators on int8 codes with their ranges."""
import numpy as np


def codes(d, shape, dtype="int8"):
    low = 0 if dtype == "uint8" else -127
    return d.given(d.np.randint(low, 256 if dtype == "uint8" else 128, shape).astype(dtype))


def limits(d, signed=True):
    high = round(d.rng.uniform(0.5, 3), 3)
    return [d.given(np.array([-high if signed else 0], "float32")), d.given(np.array([high], "float32"))]


def quantize_v2(d):
    attrs = d.some(out_type=d.choice(("int8", "uint8", "auto")))
    data = d.tensor(dtype="float32")
    if d.chance(0.5):
        attrs |= {"min_calib_range": d.choice((-1.5, 0.0)), "max_calib_range": d.choice((1.0, 2.5))}
    d.node("_contrib_quantize_v2", [data], attrs)


def quantize(d):
    out = d.choice(("int8", "uint8"))
    d.node("_contrib_quantize", [d.tensor(dtype="float32"), *limits(d, out == "int8" or d.chance(0.5))], {"out_type": out})


def requantize(d):
    sums = d.given(d.np.randint(-2**24, 2**24, d.shape(1, 3)).astype("int32"))
    attrs = {"min_calib_range": -2.0, "max_calib_range": 3.0} if d.chance(0.5) else {}
    bound = d.choice((300.0, 1000.0))
    ends = [d.given(np.array([-bound], "float32")), d.given(np.array([bound], "float32"))]
    d.node("_contrib_requantize", [sums, *ends], attrs | d.some(out_type="int8"))


def dequantize(d):
    dtype = d.choice(("int8", "uint8"))
    d.node("_contrib_dequantize", [codes(d, d.shape(1, 3), dtype), *limits(d, dtype == "int8")])


def conv(d):
    channels, filters = d.integer(1, 4), d.integer(1, 4)
    kernel = (d.integer(1, 3), d.integer(1, 3))
    inputs = [codes(d, (1, channels, 5, 5), "uint8"), codes(d, (filters, channels, *kernel)), codes(d, (filters,))]
    attrs = {"kernel": kernel, "num_filter": filters} | d.some(stride=(d.integer(1, 2), 1), pad=(d.integer(0, 1), 0))
    if d.chance(0.5):
        attrs["no_bias"] = True
        inputs.pop()
    ends = limits(d, False) + limits(d) + ([] if "no_bias" in attrs else limits(d))
    d.node("_contrib_quantized_conv", inputs + ends, attrs)


def fully_connected(d):
    dtype = d.choice(("int8", "uint8"))
    rows, width, units = d.integer(1, 3), d.integer(1, 6), d.integer(1, 4)
    inputs = [codes(d, (rows, width), dtype), codes(d, (units, width)), codes(d, (units,))]
    attrs = {"num_hidden": units}
    if d.chance(0.5):
        attrs["no_bias"] = True
        inputs.pop()
    ends = limits(d, dtype == "int8") + limits(d) + ([] if "no_bias" in attrs else limits(d))
    d.node("_contrib_quantized_fully_connected", inputs + ends, attrs)


def pooling(d):
    dtype = d.choice(("int8", "uint8"))
    attrs = {"kernel": (d.integer(1, 3), d.integer(1, 3)), "pool_type": d.choice(("max", "avg"))}
    attrs |= d.some(stride=(2, 1), pooling_convention=d.choice(("valid", "full"))) | ({"global_pool": True} if d.chance(0.2) else {})
    d.node("_contrib_quantized_pooling", [codes(d, (1, d.integer(1, 3), 5, 6), dtype), *limits(d, dtype == "int8")], attrs)


def activation(d):
    d.node("_contrib_quantized_act", [codes(d, (1, d.integer(1, 3), 3, 4)), *limits(d)], {"act_type": "relu"})


def flatten(d):
    dtype = d.choice(("int8", "uint8"))
    d.node("_contrib_quantized_flatten", [codes(d, d.shape(2, 4), dtype), *limits(d, dtype == "int8")])


def concat(d):
    shape = list(d.dims(d.integer(2, 4)))
    axis = d.integer(0, len(shape) - 1)
    dtype = d.choice(("int8", "uint8"))
    parts, ends = [], []
    for _ in range(d.integer(2, 3)):
        shape[axis] = d.integer(1, 3)
        parts.append(codes(d, tuple(shape), dtype))
        ends += limits(d, dtype == "int8")
    d.node("_contrib_quantized_concat", parts + ends, {"num_args": len(parts), "dim": axis})


def elementwise(op):
    def draw(d):
        shape = d.shape(2, 4)
        a, b = limits(d), limits(d)
        attrs = {"min_calib_range": -2.0, "max_calib_range": 2.5} if d.chance(0.5) else {}
        if op.endswith("mul") and d.chance(0.3):
            attrs = {"enable_float_output": True}
        d.node(op, [codes(d, shape), codes(d, shape), *a, *b], attrs)
    return draw


def embedding(d):
    rows, width = d.integer(2, 5), d.integer(1, 3)
    d.node("_contrib_quantized_embedding", [d.fresh(d.shape(1, 2), "float32", rows), codes(d, (rows, width)), *limits(d)],
           {"input_dim": rows, "output_dim": width})


def batch_norm(d):
    channels = d.integer(1, 4)
    c = (channels,)
    inputs = [codes(d, (1, channels, 3, 4)), d.fresh(c, kind="positive"), d.fresh(c), d.fresh(c, kind="small"), d.fresh(c, kind="positive")]
    d.node("_contrib_quantized_batch_norm", inputs + limits(d), {"fix_gamma": False, "eps": 1e-5, "min_calib_range": -3.0, "max_calib_range": 3.0})


OPERATORS = {"_contrib_quantize_v2": quantize_v2, "_contrib_quantize": quantize, "_contrib_requantize": requantize,
             "_contrib_dequantize": dequantize, "_contrib_quantized_conv": conv, "_contrib_quantized_fully_connected": fully_connected,
             "_contrib_quantized_pooling": pooling, "_contrib_quantized_act": activation, "_contrib_quantized_flatten": flatten,
             "_contrib_quantized_concat": concat, "_contrib_quantized_embedding": embedding, "_contrib_quantized_batch_norm": batch_norm}
OPERATORS |= {op: elementwise(op) for op in ("_contrib_quantized_elemwise_add", "_contrib_quantized_elemwise_mul")}

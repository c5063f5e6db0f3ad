"""Operators of ONNX Runtime (com.microsoft)."""
import numpy as np

MS = "com.microsoft"


def plain(op):
    def draw(d):
        d.node(op, [d.tensor(dtype="float32", kind="sum")], domain=MS, **(d.some(alpha=1.5) if op == "QuickGelu" else {}))
    return draw


def biased(op):
    def draw(d):
        a = d.tensor(dtype="float32", rank=(2, 3), kind="sum")
        d.node(op, [a, d.weight((a.shape[-1],))], domain=MS)
    return draw


def fused_mat_mul(d):
    n, k, m = d.integer(1, 4), d.integer(1, 5), d.integer(1, 4)
    ta, tb = d.integer(0, 1), d.integer(0, 1)
    lead = d.choice(((), (2,)))
    a = d.tensor(shape=(*lead, *((k, n) if ta else (n, k))), dtype="float32", kind="sum")
    b = d.tensor(shape=(*lead, *((m, k) if tb else (k, m))), dtype="float32", kind="sum")
    d.node("FusedMatMul", [a, b], domain=MS, transA=ta, transB=tb, **d.some(alpha=0.5))


def skip_layer_norm(op):
    def draw(d):
        w = d.choice((2, 4, 8))
        shape = (d.integer(1, 2), d.integer(1, 3), w)
        a, b = d.tensor(shape=shape, dtype="float32", kind="sum"), d.tensor(shape=shape, dtype="float32", kind="sum")
        gamma = d.weight((w,), kind="positive")
        beta = [d.weight((w,)) if d.chance(0.6) else None] if op == "SkipLayerNormalization" else []
        bias = d.weight((w,)) if d.chance(0.5) else None
        name = f"{op.lower()}{d.count + 1}"
        outputs = [f"{name}_0", "", "", f"{name}_3"] if d.chance(0.4) else 1
        d.node(op, [a, b, gamma, *beta, bias], outputs, domain=MS, epsilon=1e-5)
    return draw


def embed(d):
    n, s, w = d.integer(1, 2), d.integer(1, 4), 4
    ids, kinds = (d.given(d.np.randint(0, bound, (n, s)).astype(np.int32)) for bound in (6, 2))
    mask = d.given(np.ones((n, s), np.int32)) if d.chance(0.5) else None
    inputs = [ids, kinds, d.weight((6, w)), d.weight((5, w)), d.weight((2, w)), d.weight((w,), kind="positive"), d.weight((w,)), mask]
    d.node("EmbedLayerNormalization", inputs, 2, domain=MS, epsilon=1e-5)


def attention(d):
    n, s, heads, w = d.integer(1, 2), d.integer(1, 4), 2, 4
    a = d.tensor(shape=(n, s, w), dtype="float32", kind="sum")
    mask = d.given(d.np.randint(1, s + 1, n).astype(np.int32)) if d.chance(0.4) else None
    d.node("Attention", [a, d.weight((w, 3 * w)), d.weight((3 * w,)), mask], domain=MS, num_heads=heads, **({"unidirectional": 1} if d.chance(0.3) else {}))


def multi_head(d):
    n, q, k, heads, w = d.integer(1, 2), d.integer(1, 4), d.integer(1, 4), 2, 4
    query = d.fresh((n, q, w), "float32", "small")
    key, value = (d.fresh((n, k, w), "float32", "small") for _ in range(2))
    bias = d.weight((3 * w,)) if d.chance(0.5) else None
    extra = d.fresh((1, heads, q, k), "float32", "small") if d.chance(0.3) else None
    d.node("MultiHeadAttention", [query, key, value, bias, None, extra], domain=MS, num_heads=heads, **d.some(scale=0.5))


def group_query(d):
    n, s, heads, kv, w = d.integer(1, 2), d.integer(1, 4), 2, d.choice((1, 2)), 8
    query = d.fresh((n, s, heads * w), "float32", "small")
    key, value = (d.fresh((n, s, kv * w), "float32", "small") for _ in range(2))
    past = [d.given(np.zeros((n, kv, 0, w), np.float32)) for _ in range(2)]
    inputs = [query, key, value, *past, d.given(np.full(n, s - 1, np.int32)), d.given(np.array(s, np.int32))]
    attrs = {}
    if d.chance(0.4):
        inputs += [d.fresh((8, w // 2), "float32", "small") for _ in range(2)]
        attrs["do_rotary"] = 1
    d.node("GroupQueryAttention", inputs, 3, domain=MS, num_heads=heads, kv_num_heads=kv, **attrs)


def rotary(d):
    n, s, heads, w = d.integer(1, 2), d.integer(1, 4), d.integer(1, 2), 4
    a = d.fresh((n, heads, s, w), "float32", "small")
    caches = [d.fresh((8, w // 2), "float32", "small") for _ in range(2)]
    where = d.given(d.np.randint(0, 8, (n, s)).astype(np.int64))
    d.node("RotaryEmbedding", [a, where, *caches], domain=MS, **d.some(interleaved=d.integer(0, 1)))


def scale_of(d):
    return d.constant(d.choice((0.0625, 0.125, 0.25, 0.1)), "float32")


def zero_of(d, dtype):
    return d.constant(d.integer(0, 200) if dtype == "uint8" else d.integer(-40, 40), dtype)


def q_pair(op):
    def draw(d):
        dtype = d.choice(("int8", "uint8"))
        a = d.tensor(dtype=dtype, low=1, high=3, kind="sum")
        b = d.stretched(a, "sum")
        d.node(op, [a, scale_of(d), zero_of(d, dtype), b, scale_of(d), zero_of(d, dtype), scale_of(d), zero_of(d, dtype)], domain=MS)
    return draw


def q_unary(op):
    def draw(d):
        dtype = d.choice(("int8", "uint8"))
        a = d.fresh(d.dims(d.integer(2, 3)), dtype)
        more = {"alpha": 0.25} if "Leaky" in op else {"opset": 13, "axis": -1} if "Softmax" in op else {}
        out = (d.constant(1 / 256, "float32"), d.constant(0 if dtype == "uint8" else -128, dtype)) if "Softmax" in op or "Sigmoid" in op else (scale_of(d), zero_of(d, dtype))
        d.node(op, [a, scale_of(d), zero_of(d, dtype), *out], domain=MS, **more)
    return draw


def q_pool(d):
    dtype = d.choice(("int8", "uint8"))
    a = d.fresh((1, d.integer(1, 3), 4, 4), dtype)
    d.node("QLinearAveragePool", [a, scale_of(d), zero_of(d, dtype), scale_of(d), zero_of(d, dtype)], domain=MS, kernel_shape=[2, 2], **d.some(strides=[2, 1], pads=[1, 0, 1, 0]))


def q_global_pool(d):
    dtype = d.choice(("int8", "uint8"))
    a = d.fresh((1, d.integer(1, 3), 4, 3), dtype)
    d.node("QLinearGlobalAveragePool", [a, scale_of(d), zero_of(d, dtype), scale_of(d), zero_of(d, dtype)], domain=MS, channels_last=0)


def q_concat(d):
    dtype = d.choice(("int8", "uint8"))
    shape = list(d.dims(2))
    parts = []
    for _ in range(d.integer(1, 3)):
        parts += [d.fresh((d.integer(1, 3), *shape[1:]), dtype), scale_of(d), zero_of(d, dtype)]
    d.node("QLinearConcat", [scale_of(d), zero_of(d, dtype), *parts], domain=MS, axis=0)


def q_gemm(d):
    n, k, m = d.integer(1, 4), d.integer(1, 5), d.integer(1, 4)
    dtype = d.choice(("int8", "uint8"))
    a, b = d.fresh((n, k), dtype), d.constant(d.array((k, m), "int8" if dtype == "int8" else "uint8"))
    c = d.constant(d.np.randint(-30, 30, m).astype(np.int32)) if d.chance(0.6) else None
    d.node("QGemm", [a, scale_of(d), zero_of(d, dtype), b, scale_of(d), d.constant(0, b.dtype), c, scale_of(d), zero_of(d, dtype)], domain=MS)


def dynamic_mat_mul(d):
    n, k, m = d.integer(1, 4), d.integer(1, 5), d.integer(1, 4)
    a = d.tensor(shape=(n, k), dtype="float32", kind="sum")
    b = d.constant(d.array((k, m), d.choice(("int8", "uint8"))))
    d.node("DynamicQuantizeMatMul", [a, b, scale_of(d), zero_of(d, b.dtype) if d.chance(0.5) else None, d.weight((m,)) if d.chance(0.5) else None], domain=MS)


def integer_mat_mul(d):
    n, k, m = d.integer(1, 4), d.integer(1, 5), d.integer(1, 4)
    a = d.fresh((n, k), d.choice(("int8", "uint8")))
    b = d.constant(d.array((k, m), "int8"))
    d.node("MatMulIntegerToFloat", [a, b, scale_of(d), scale_of(d), zero_of(d, a.dtype) if d.chance(0.5) else None, None, d.weight((m,)) if d.chance(0.5) else None], domain=MS)


def n_bits(d):
    n, k, m, bits, block = d.integer(1, 3), d.choice((16, 32)), d.integer(1, 4), d.choice((4, 8)), 16
    a = d.tensor(shape=(n, k), dtype="float32", kind="sum")
    codes = d.constant(d.np.randint(0, 256, (m, k // block, block * bits // 8)).astype(np.uint8))
    scales = d.constant(d.np.uniform(0.01, 0.05, (m, k // block)).astype(np.float32))
    zeros = d.constant(d.np.randint(0, 256, (m, (k // block * bits + 7) // 8)).astype(np.uint8)) if d.chance(0.5) else None
    d.node("MatMulNBits", [a, codes, scales, zeros], domain=MS, K=k, N=m, bits=bits, block_size=block)


def quantize(op):
    def draw(d):
        dtype = d.choice(("int8", "uint8"))
        a = d.tensor(dtype="float32" if op[0] == "Q" else dtype, rank=(2, 3), kind="sum")
        d.node(op, [a, scale_of(d), zero_of(d, dtype)], domain=MS)
    return draw


def fused_conv(d):
    channels, out = d.integer(1, 3), d.integer(1, 3)
    a = d.fresh((1, channels, 4, 4), "float32", "sum")
    activation = d.choice((("Relu", None), ("Tanh", None), ("Sigmoid", None), ("LeakyRelu", [0.25]), ("Clip", [-0.5, 0.5])))
    d.node("FusedConv", [a, d.weight((out, channels, 2, 2)), d.weight((out,)) if d.chance(0.5) else None], domain=MS, kernel_shape=[2, 2],
           activation=activation[0], activation_params=activation[1])


def fused_gemm(d):
    n, k, m = d.integer(1, 4), d.integer(1, 5), d.integer(1, 4)
    a = d.tensor(shape=(n, k), dtype="float32", kind="sum")
    d.node("FusedGemm", [a, d.weight((k, m)), d.weight((m,))], domain=MS, activation=d.choice(("Relu", "Tanh", "Sigmoid")), **d.some(alpha=0.5))


OPERATORS = {
    **{f"{MS}.{op}": plain(op) for op in ("Gelu", "QuickGelu")}, **{f"{MS}.{op}": biased(op) for op in ("BiasGelu", "FastGelu")},
    f"{MS}.FusedMatMul": fused_mat_mul, **{f"{MS}.{op}": skip_layer_norm(op) for op in ("SkipLayerNormalization", "SkipSimplifiedLayerNormalization")},
    f"{MS}.EmbedLayerNormalization": embed, f"{MS}.Attention": attention, f"{MS}.MultiHeadAttention": multi_head, f"{MS}.GroupQueryAttention": group_query,
    f"{MS}.RotaryEmbedding": rotary, **{f"{MS}.{op}": q_pair(op) for op in ("QLinearAdd", "QLinearMul")},
    **{f"{MS}.{op}": q_unary(op) for op in ("QLinearSigmoid", "QLinearLeakyRelu", "QLinearSoftmax")}, f"{MS}.QLinearAveragePool": q_pool,
    f"{MS}.QLinearGlobalAveragePool": q_global_pool, f"{MS}.QLinearConcat": q_concat, f"{MS}.QGemm": q_gemm, f"{MS}.DynamicQuantizeMatMul": dynamic_mat_mul,
    f"{MS}.MatMulIntegerToFloat": integer_mat_mul, f"{MS}.MatMulNBits": n_bits, **{f"{MS}.{op}": quantize(op) for op in ("QuantizeLinear", "DequantizeLinear")},
    f"{MS}.FusedConv": fused_conv, f"{MS}.FusedGemm": fused_gemm,
}

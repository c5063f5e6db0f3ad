"""Operators on each element, of one or two tensors, or of a tensor and a number."""
from draw import FLOATS, INTEGERS

PLAIN = ("_copy BlockGrad make_loss zeros_like ones_like abs negative relu sigmoid softsign tanh erf exp expm1 square cbrt rcbrt sin cos tan arctan "
         "sinh cosh arcsinh degrees radians reciprocal gamma gammaln _contrib_div_sqrt_dim cast_storage").split()
JUMPING = "sign ceil floor fix rint round trunc logical_not _contrib_round_ste _contrib_sign_ste".split()
POSITIVE = "log log10 log1p log2 sqrt rsqrt".split()
UNIT = "erfinv arcsin arccos arctanh".split()
SAME_SHAPE = ("elemwise_add elemwise_sub elemwise_mul elemwise_div _grad_add _scatter_elemwise_div _mod _power _maximum _minimum _hypot _equal "
              "_not_equal _greater _greater_equal _lesser _lesser_equal _logical_and _logical_or _logical_xor").split()
STRETCHED = ("add sub mul div mod power maximum minimum hypot equal not_equal greater greater_equal lesser lesser_equal logical_and logical_or "
             "logical_xor").split()
SCALAR = ("_plus _minus _scatter_plus _scatter_minus _rminus _mul _div _rdiv _mod _rmod _power _rpower _maximum _minimum _hypot _equal _not_equal "
          "_greater _greater_equal _lesser _lesser_equal _logical_and _logical_or _logical_xor").split()
JUMPING_PAIRS = ("mod", "equal", "greater", "lesser", "logical")


def unary(op, kind):
    def draw(d):
        attrs = {"stype": "default"} if op == "cast_storage" else {}
        d.node(op, [d.tensor(dtype=d.dtype(floats_only=kind == "unit"), kind=kind)], attrs)
    return draw


def kind_of_pair(op):
    return "exact" if any(word in op for word in JUMPING_PAIRS) else "real"


def same_shape(op):
    def draw(d):
        a = d.tensor(kind=kind_of_pair(op))
        d.node(op, [a, second(d, op, a, a.shape)])
    return draw


def second(d, op, a, shape):
    if "power" in op and a.dtype in INTEGERS:
        return d.fresh(shape, a.dtype, "positive")
    if "div" in op or "mod" in op:
        # An integer divided by zero ends the process in MXNet.
        return d.fresh(shape, a.dtype, "positive" if a.dtype in INTEGERS or not d.special else "exact")
    return d.tensor(shape=shape, dtype=a.dtype, kind=kind_of_pair(op))


def stretched(op):
    def draw(d):
        a = d.tensor(kind=kind_of_pair(op))
        shape = tuple(1 if d.chance(0.3) else n for n in a.shape)
        if d.chance(0.2):
            widened = tuple(d.integer(1, 4) if n == 1 else n for n in shape)
            shape = widened
        d.node(op, [a, second(d, op, a, shape)])
    return draw


def scalar(op):
    def draw(d):
        data = d.tensor(kind=kind_of_pair(op))
        integral = data.dtype in INTEGERS
        numbers = [1, 2, 3, -1, 0.5, 1.5, -2.5, 0.25, 7]
        if d.special:
            numbers += [0, "nan", "inf", "-inf", 1e10, 16777217]
        if integral and ("div" in op or "mod" in op):
            numbers = [n for n in numbers if isinstance(n, (int, float)) and abs(n) >= 1]
            if op in ("_rdiv", "_rmod"):
                data = d.fresh(data.shape, data.dtype, "positive")
        if integral and "power" in op:
            numbers = [1, 2, 3]
            data = d.fresh(data.shape, data.dtype, "positive")
        if op in ("_mod", "_rmod") and 0 in numbers:
            numbers.remove(0)
        number = d.choice(numbers)
        attrs = {"scalar": number}
        if d.chance(0.3):
            attrs["is_int"] = isinstance(number, int)
        d.node(op + "_scalar", [data], attrs)
    return draw


def activation(d):
    d.node("Activation", [d.tensor(dtype=d.dtype(True))], {"act_type": d.choice(("relu", "sigmoid", "softrelu", "softsign", "tanh"))})


def leaky(d):
    kind = d.choice(("elu", "elu", "gelu", "gelu", "leaky", "prelu", "prelu", "selu", "selu", "rrelu", None, None))
    data = d.tensor(dtype=d.dtype(True), low=1)
    attrs = ({"act_type": kind} if kind else {}) | d.some(slope=d.choice((0.1, 0.25, 0.5, 1.0)))
    inputs = [data]
    if kind == "prelu":
        channels = data.shape[1] if data.value.ndim > 1 else data.shape[0]
        inputs.append(d.fresh((d.choice((1, channels)),), data.dtype, "unit", weight=d.chance(0.5)))
    d.node("LeakyReLU", inputs, attrs)


def clip(d):
    low = d.choice((-2, -1.0, 0, 0.5, -0.25))
    d.node("clip", [d.tensor()], {"a_min": low, "a_max": low + d.choice((0.5, 1, 2.0, 4))})


def hard_sigmoid(d):
    d.node("hard_sigmoid", [d.tensor(dtype=d.dtype(True))], d.some(alpha=d.choice((0.1, 0.5, 1.0)), beta=d.choice((0.0, 0.25, 0.6))))


def smooth_l1(d):
    d.node("smooth_l1", [d.tensor()], {"scalar": d.choice((0.5, 1.0, 2.0, 3))})


def quadratic(d):
    d.node("_contrib_quadratic", [d.tensor()], d.some(a=d.choice((0.5, -1, 2)), b=d.choice((1, 0.25)), c=d.choice((-3, 1.5))))


def add_n(d):
    first = d.tensor()
    rest = [d.tensor(shape=first.shape, dtype=first.dtype) for _ in range(d.integer(0, 3))]
    d.node("add_n", [first, *rest], {"num_args": 1 + len(rest)})


def where(d):
    x = d.tensor()
    y = d.tensor(shape=x.shape, dtype=x.dtype)
    shape = x.shape if d.chance(0.7) else x.shape[:1]
    d.node("where", [d.tensor(shape=shape, kind="exact"), x, y])


def dropout(d):
    d.node("Dropout", [d.tensor(dtype=d.dtype(True))], d.some(p=d.choice((0.1, 0.5, 0.9)), axes=(0,)))


def cast(d):
    to = d.choice(FLOATS + INTEGERS + ("bool", "bfloat16"))
    jumps = to not in FLOATS + ("bfloat16",)
    data = d.tensor(kind="exact" if jumps else "real", dtype="float32" if to == "bfloat16" else None)
    out = d.node("Cast", [data], {"dtype": to})[0]
    if to in ("bool", "bfloat16"):  # what few operators take is turned into what all take
        d.node("Cast", [out], {"dtype": d.choice(("float32", "int32") if to == "bool" else ("float32",))})


def amp_cast(d):
    d.node("amp_cast", [d.tensor()], {"dtype": d.choice(FLOATS)})


def amp_multicast(d):
    """MXNet's only kernel of it on a CPU takes float32 and bfloat16."""
    inputs = [d.tensor(dtype="float32") for _ in range(d.integer(1, 3))]
    inputs = [d.node("amp_cast", [i], {"dtype": "bfloat16"})[0] if d.chance(0.4) else i for i in inputs]
    for out in d.node("amp_multicast", inputs, {"num_outputs": len(inputs)} | d.some(cast_narrow=d.chance(0.5))):
        d.node("amp_cast", [out], {"dtype": "float32"})  # which all operators take


def regression(op):
    def draw(d):
        data = d.tensor(dtype=d.dtype(True))
        d.node(op, [data, d.fresh(data.shape, data.dtype)], d.some(grad_scale=2.0))
    return draw


def make_loss(d):
    d.node("MakeLoss", [d.tensor(dtype=d.dtype(True))], d.some(grad_scale=0.5, normalization=d.choice(("batch", "null", "valid"))))


def gradient_multiplier(d):
    d.node("_contrib_gradientmultiplier", [d.tensor()], {"scalar": d.choice((0.5, -1, 2))})


OPERATORS = {op: unary(op, "real") for op in PLAIN}
OPERATORS |= {op: unary(op, "exact") for op in JUMPING}
OPERATORS |= {op: unary(op, "positive") for op in POSITIVE}
OPERATORS |= {op: unary(op, "unit") for op in UNIT}
OPERATORS |= {"arccosh": lambda d: d.node("arccosh", [d.given(d.array(d.shape(), "float32", "positive") + 1)])}
OPERATORS |= {op: same_shape(op) for op in SAME_SHAPE}
OPERATORS |= {f"broadcast_{op}": stretched(f"broadcast_{op}") for op in STRETCHED}
OPERATORS |= {f"{op}_scalar": scalar(op) for op in SCALAR}
OPERATORS |= {"Activation": activation, "LeakyReLU": leaky, "clip": clip, "hard_sigmoid": hard_sigmoid, "smooth_l1": smooth_l1,
              "_contrib_quadratic": quadratic, "add_n": add_n, "where": where, "Dropout": dropout, "Cast": cast, "amp_cast": amp_cast,
              "amp_multicast": amp_multicast, "MakeLoss": make_loss, "_contrib_gradientmultiplier": gradient_multiplier}
OPERATORS |= {op: regression(op) for op in ("LinearRegressionOutput", "LogisticRegressionOutput", "MAERegressionOutput")}

"""Linear algebra, Fourier transforms, and random numbers with their densities."""
import numpy as np


def dtype_of(d):
    return "float32" if d.chance(0.7) else "float64"


def matrices(d, lead=None):
    return (d.dims(d.integer(0, 1)) if lead is None else lead) + (d.integer(1, 4),)


def positive_definite(d):
    shape = matrices(d)
    a = d.np.uniform(-1, 1, shape + shape[-1:])
    return d.given((a @ np.swapaxes(a, -1, -2) + 2 * np.eye(shape[-1])).astype(dtype_of(d)))


def triangle(d):
    shape = matrices(d)
    a = d.np.uniform(0.5, 1.5, shape + shape[-1:])
    return np.tril(a) + np.triu(a, 1) / 4, dtype_of(d)


def of_positive(op):
    return lambda d: d.node(op, [positive_definite(d)])


def potri(d):
    values, dtype = triangle(d)
    d.node("_linalg_potri", [d.given(np.tril(values).astype(dtype))])


def determinant(op):
    def draw(d):
        shape = matrices(d)
        d.node(op, [d.given((d.np.uniform(-1, 1, shape + shape[-1:]) + np.eye(shape[-1])).astype(dtype_of(d)))])
    return draw


def gelqf(d):
    rows = d.integer(1, 3)
    d.node("_linalg_gelqf", [d.given(d.np.uniform(-1, 1, d.dims(d.integer(0, 1)) + (rows, rows + d.integer(0, 2))).astype(dtype_of(d)))])


def syevd(d):
    n = d.integer(1, 4)
    a = d.np.uniform(-0.1, 0.1, d.dims(d.integer(0, 1)) + (n, n))
    d.node("_linalg_syevd", [d.given((a + np.swapaxes(a, -1, -2) + np.diag(np.arange(n) - 1.3)).astype(dtype_of(d)))])


def syrk(d):
    d.node("_linalg_syrk", [d.tensor(rank=(2, 3), dtype=dtype_of(d))], d.some(transpose=d.chance(0.5), alpha=d.choice((0.5, -2.0))))


def triangular(op):
    def draw(d):
        values, dtype = triangle(d)
        right = d.chance(0.5)
        n, m = values.shape[-1], d.integer(1, 4)
        b = d.np.uniform(-1, 1, values.shape[:-2] + ((m, n) if right else (n, m))).astype(dtype)
        d.node(op, [d.given(values.astype(dtype)), d.given(b)],
               {"rightside": right} | d.some(transpose=d.chance(0.5), lower=d.chance(0.5), alpha=d.choice((0.5, 2.0))))
    return draw


def diagonal(op):
    def draw(d):
        n = d.integer(2, 4)
        lead = d.dims(d.integer(0, 1))
        if op == "_linalg_makediag":
            return d.node(op, [d.given(d.array(lead + (n,), "float32"))], d.some(offset=d.integer(-2, 2)))
        if op == "_linalg_maketrian":
            return d.node(op, [d.given(d.array(lead + (n * (n + 1) // 2,), "float32"))], d.some(offset=d.integer(-1, 1), lower=d.chance(0.5)))
        attrs = d.some(offset=d.integer(-1, 1)) | (d.some(lower=d.chance(0.5)) if "trian" in op else {})
        return d.node(op, [d.given(d.array(lead + (n, n), "float32"))], attrs)
    return draw


def khatri_rao(d):
    columns = d.integer(1, 3)
    parts = [d.tensor(shape=(d.integer(1, 3), columns), dtype="float32") for _ in range(d.integer(1, 3))]
    d.node("khatri_rao", parts, {"num_args": len(parts)})


def uniform(d, low, high, shape, dtype="float32"):
    return d.given(d.np.uniform(low, high, shape).astype(dtype))


PARAMETERS = {"uniform": ((-2, 0), (0.5, 2)), "normal": ((-1, 1), (0.3, 2)), "gamma": ((0.5, 3), (0.5, 2)), "exponential": ((0.5, 3),),
              "poisson": ((0.5, 4),), "negative_binomial": ((1, 4), (0.2, 0.8)), "generalized_negative_binomial": ((0.5, 3), (0.3, 1))}
NAMES = {"uniform": ("low", "high"), "normal": ("loc", "scale"), "gamma": ("alpha", "beta"), "exponential": ("lam",), "poisson": ("lam",),
         "negative_binomial": ("k", "p"), "generalized_negative_binomial": ("mu", "alpha")}


def rounded(name, kind, value):
    return int(value) if name == "k" else round(value, 3)


def drawn(kind, like):
    def draw(d):
        attrs = {n: rounded(n, kind, d.rng.uniform(*span)) for n, span in zip(NAMES[kind], PARAMETERS[kind])}
        if like:
            d.node(f"_random_{kind}_like", [d.tensor(dtype=d.dtype(True))], attrs, values_known=False)
        else:
            d.node(f"_random_{kind}", [], attrs | {"shape": d.shape()} | d.some(dtype=d.choice(("float32", "float64", "float16"))), values_known=False)
    return draw


def randint(d):
    d.node("_random_randint", [], {"low": d.integer(-5, 0), "high": d.integer(1, 9), "shape": d.shape()}
           | d.some(dtype=d.choice(("int32", "int64"))), values_known=False)


def parameters(d, kind, shape):
    values = [d.np.uniform(*span, shape) for span in PARAMETERS[kind]]
    if kind == "negative_binomial":
        values[0] = np.floor(values[0])
    return [d.given(v.astype("float32")) for v in values]


def sampled(kind):
    def draw(d):
        inputs = parameters(d, kind, d.shape(1, 2))
        d.node(f"_sample_{kind}", inputs, d.some(shape=d.dims(d.integer(1, 2)), dtype=d.choice(("float32", "float64"))), values_known=False)
    return draw


def density(kind):
    def draw(d):
        count = d.integer(1, 3)
        inputs = parameters(d, kind, (count,))
        integral = kind in ("poisson", "negative_binomial", "generalized_negative_binomial")
        shape = (count, *d.dims(d.integer(0, 2)))
        samples = d.np.randint(0, 5, shape) if integral else d.np.uniform(0.1, 0.45, shape)
        d.node(f"_random_pdf_{kind}", [d.given(samples.astype("float32")), *inputs], d.some(is_log=d.chance(0.5)))
    return draw


def dirichlet(d):
    count, width = d.integer(1, 3), d.integer(2, 4)
    shares = d.np.uniform(0.1, 1, (count, *d.dims(d.integer(0, 1)), width))
    d.node("_random_pdf_dirichlet", [d.given((shares / shares.sum(-1, keepdims=True)).astype("float32")), uniform(d, 0.5, 3, (count, width))],
           d.some(is_log=d.chance(0.5)))


def multinomial(d):
    shares = d.np.uniform(0.1, 1, d.dims(d.integer(0, 1)) + (d.integer(1, 4),))
    d.node("_sample_multinomial", [d.given((shares / shares.sum(-1, keepdims=True)).astype("float32"))],
           d.some(shape=d.dims(1), get_prob=d.chance(0.4), dtype=d.choice(("int32", "float32"))), values_known=False)


OPERATORS = {op: of_positive(op) for op in ("_linalg_potrf", "_linalg_inverse", "_linalg_sumlogdiag")}
OPERATORS |= {op: determinant(op) for op in ("_linalg_det", "_linalg_slogdet")}
OPERATORS |= {op: triangular(op) for op in ("_linalg_trmm", "_linalg_trsm")}
OPERATORS |= {op: diagonal(op) for op in ("_linalg_extractdiag", "_linalg_makediag", "_linalg_extracttrian", "_linalg_maketrian")}
OPERATORS |= {"_linalg_potri": potri, "_linalg_gelqf": gelqf, "_linalg_syevd": syevd, "_linalg_syrk": syrk, "khatri_rao": khatri_rao}
OPERATORS |= {f"_random_{k}": drawn(k, False) for k in NAMES} | {f"_random_{k}_like": drawn(k, True) for k in NAMES}
OPERATORS |= {f"_sample_{k}": sampled(k) for k in NAMES} | {f"_random_pdf_{k}": density(k) for k in NAMES}
OPERATORS |= {"_random_pdf_dirichlet": dirichlet, "_random_randint": randint, "_sample_multinomial": multinomial,
              "_shuffle": lambda d: d.node("_shuffle", [d.tensor()], values_known=False)}

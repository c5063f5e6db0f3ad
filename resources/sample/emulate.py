"""What reduced precision does to the sample model, by plain NumPy: python3 emulate.py

Runs digits-symbol.json on the held-out pictures with every value rounded to a chosen 16-bit type after its operator (inside an operator
sums are kept in float32, as hardware does) and prints the accuracy for each choice. Needs numpy only and knows nothing of Halftone.
"""
import json
import struct
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
WIDEST = {"elemwise_add", "broadcast_mul"}  # several inputs of equal rank: their widest type
CHOICES = [  # title, 16-bit type, operators kept in float32
    ("float32", "float32", set()),
    ("everything in float16", "float16", set()),
    ("float16, but sum in float32", "float16", {"sum"}),
    ("everything in bfloat16", "bfloat16", set()),
]


def round_to(values, dtype):
    """The nearest values of `dtype`, ties to even, held as float32."""
    if dtype == "float16":
        return values.astype(np.float16).astype(np.float32)
    if dtype == "bfloat16":
        bits = values.view(np.uint32).astype(np.uint64)
        bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
        return np.where(np.isnan(values), values, bits.astype(np.uint32).view(np.float32))
    return values


def read_params(path):
    """The arrays of an MXNet .params file (dense float32, version 2), by name without arg: and aux:."""
    data, at = path.read_bytes(), 16

    def take(form):
        nonlocal at
        values = struct.unpack_from("<" + form, data, at)
        at += struct.calcsize("<" + form)
        return values

    arrays, names = [], []
    for _ in range(take("Q")[0]):
        assert take("Ii") == (0xF993FAC9, 0), "a dense array of version 2"
        shape = take(f"{take('i')[0]}q")
        assert take("iii")[2] == 0, "float32"
        arrays.append(np.frombuffer(data, "<f4", int(np.prod(shape)), at).reshape(shape))
        at += arrays[-1].nbytes
    for _ in range(take("Q")[0]):
        names.append(take(f"{take('Q')[0]}s")[0].decode().split(":", 1)[1])
    return dict(zip(names, arrays))


def pair(attrs, key, default):
    return tuple(int(v) for v in attrs[key].strip("()[]").split(",") if v.strip()) if key in attrs else default


def convolution(attrs, x, weight):
    kernel, stride, pad = (pair(attrs, k, d) for k, d in (("kernel", None), ("stride", (1, 1)), ("pad", (0, 0))))
    x = np.pad(x, ((0, 0), (0, 0), (pad[0],) * 2, (pad[1],) * 2))
    windows = np.lib.stride_tricks.sliding_window_view(x, kernel, axis=(2, 3))[:, :, ::stride[0], ::stride[1]]
    return np.einsum("nchwij,ocij->nohw", windows, weight, optimize=True)


def batch_norm(attrs, x, gamma, beta, mean, variance):
    assert attrs.get("fix_gamma") == "False"
    factor = gamma / np.sqrt(variance + np.float32(attrs["eps"]))
    return x * factor[:, None, None] + (beta - mean * factor)[:, None, None]


def softmax(_, x):
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


OPERATORS = {
    "Convolution": convolution,
    "BatchNorm": batch_norm,
    "Activation": lambda _, x: np.maximum(x, 0),
    "Pooling": lambda _, x: x.mean(axis=(2, 3), keepdims=True),
    "Flatten": lambda _, x: x.reshape(len(x), -1),
    "FullyConnected": lambda _, x, weight, bias: x @ weight.T + bias,
    "softmax": softmax,
    "square": lambda _, x: x * x,
    "sum": lambda attrs, x: x.sum(axis=pair(attrs, "axis", None), keepdims=True),
    "rsqrt": lambda _, x: 1 / np.sqrt(x),
    "_mul_scalar": lambda attrs, x: x * np.float32(attrs["scalar"]),
    "_plus_scalar": lambda attrs, x: x + np.float32(attrs["scalar"]),
    "broadcast_mul": lambda _, x, y: x * y,
    "elemwise_add": lambda _, x, y: x + y,
}
NEUTRAL = {"_mul_scalar", "_plus_scalar", "Activation", "Pooling", "Flatten", "BatchNorm"}  # compute in the type of their first input


def run(symbol, params, data, dtype, kept):
    """The probabilities for `data`. An operator in `kept` computes in float32; its neutral followers stay there, the next other one rounds."""
    values = []  # (array, type) of each node's first output
    for node in symbol["nodes"]:
        if node["op"] == "null":
            values.append((data if node["name"] == "data" else params[node["name"]], None))
            continue
        inputs = [values[i[0]] for i in node["inputs"]]
        types = [t for _, t in inputs]
        follows = (node["op"] in NEUTRAL and types[0] == "float32") or (node["op"] in WIDEST and "float32" in types)
        compute = "float32" if follows or node["op"] in kept else dtype
        rounded = [round_to(v, compute) for v, _ in inputs]
        if node["op"] == "BatchNorm":
            rounded[1:] = [v for v, _ in inputs[1:]]  # statistics stay float32 in every framework
        result = OPERATORS[node["op"]](node.get("attrs", {}), *rounded)
        values.append((round_to(np.asarray(result, np.float32), compute), compute))
    return values[symbol["heads"][0][0]][0]


def accuracies(symbol, params, data, labels):
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        for title, dtype, kept in CHOICES:
            output = run(symbol, params, data, dtype, kept)
            yield title, float(np.mean(output.argmax(axis=1) == labels))


def main():
    symbol = json.loads((HERE / "digits-symbol.json").read_text())
    test = np.load(HERE / "digits-test.npz")
    for title, accuracy in accuracies(symbol, read_params(HERE / "digits-0000.params"), test["data"], test["labels"]):
        print(f"{title:<28} {100 * accuracy:6.2f} %")


if __name__ == "__main__":
    main()

"""Writes the benchmark networks as MXNet symbols: python3 networks.py FOLDER [--weights NETWORK]

ResNet-50 v1 (He et al. 2015, with the stride in the 3 x 3 convolution as torchvision has it), MobileNet v2 (Sandler et al. 2018),
BERT-base's encoder (Devlin et al. 2018: 12 layers of 768, 12 heads). Weights come from --random-params, or are drawn here, for commands that want them in a file (needs numpy).
"""
import json
import math
import struct
import sys
from pathlib import Path


class Symbol:
    def __init__(self):
        self.nodes = []
        self.count = 0
        self.widths = []  # by node: its channels, or the extent of its last axis
        self.shapes = {}  # of parameters

    def variable(self, name, shape=(), width=0):
        self.nodes.append({"op": "null", "name": name, "inputs": []})
        self.widths.append(width)
        if shape:
            self.shapes[name] = shape
        return [len(self.nodes) - 1, 0, 0]

    def width(self, x):
        return self.widths[x[0]]

    def op(self, op, inputs, name=None, **attrs):
        self.count += 1
        node = {"op": op, "name": name or f"{op.lower()}{self.count}", "inputs": inputs}
        if attrs:
            node["attrs"] = {k: str(v) for k, v in attrs.items()}
        self.nodes.append(node)
        self.widths.append(attrs.get("num_filter") or attrs.get("num_hidden") or self.width(inputs[0]))
        return [len(self.nodes) - 1, 0, 0]

    def conv(self, x, filters, kernel, stride=1, groups=1, act="relu"):
        n = f"conv{self.count}"
        pad = kernel // 2
        weight = self.variable(n + "_weight", (filters, self.width(x) // groups, kernel, kernel))
        x = self.op("Convolution", [x, weight], n, kernel=(kernel, kernel), stride=(stride, stride), pad=(pad, pad),
                    num_filter=filters, num_group=groups, no_bias=True)
        b = n + "_bn"
        x = self.op("BatchNorm", [x] + [self.variable(f"{b}_{p}", (filters,)) for p in ("gamma", "beta", "moving_mean", "moving_var")], b, fix_gamma=False)
        if act == "relu":
            return self.op("Activation", [x], act_type="relu")
        return self.op("clip", [x], a_min=0, a_max=6) if act == "relu6" else x

    def dense(self, x, units, name, flatten=True):
        weight = self.variable(name + "_weight", (units, self.width(x)))
        return self.op("FullyConnected", [x, weight, self.variable(name + "_bias", (units,))], name, num_hidden=units, flatten=flatten)

    def norm(self, x, name):
        gamma, beta = (self.variable(f"{name}_{p}", (self.width(x),)) for p in ("gamma", "beta"))
        return self.op("LayerNorm", [x, gamma, beta], name, axis=-1)

    def save(self, head, path):
        arguments = [i for i, n in enumerate(self.nodes) if n["op"] == "null"]
        path.write_text(json.dumps({"nodes": self.nodes, "arg_nodes": arguments, "heads": [head], "attrs": {"mxnet_version": ["int", 10901]}}))
        if sys.argv[2:] == ["--weights", path.name.removesuffix("-symbol.json")]:
            path.with_name(path.name.replace("-symbol.json", "-0000.params")).write_bytes(self.parameters())

    def parameters(self):
        """Values that keep the size of what passes through, as an array file of MXNet 1: dense arrays of float32, then their names."""
        import numpy as np

        random = np.random.default_rng(1)
        data, names = [struct.pack("<QQQ", 0x112, 0, len(self.shapes))], [struct.pack("<Q", len(self.shapes))]
        for name, shape in self.shapes.items():
            if name.endswith("_weight"):
                values = random.standard_normal(shape, np.float32) * np.float32(math.sqrt(2 / math.prod(shape[1:])))
            else:
                values = np.full(shape, name.endswith(("_gamma", "_var")), np.float32)
            data += [struct.pack(f"<Iii{len(shape)}qiii", 0xF993FAC9, 0, len(shape), *shape, 1, 0, 0), values.tobytes()]
            key = (("aux:" if "_moving_" in name else "arg:") + name).encode()
            names += [struct.pack("<Q", len(key)), key]
        return b"".join(data + names)


def resnet50(path):
    s = Symbol()
    x = s.conv(s.variable("data", width=3), 64, 7, 2)
    x = s.op("Pooling", [x], kernel=(3, 3), stride=(2, 2), pad=(1, 1), pool_type="max")
    for stage, (blocks, width) in enumerate(((3, 64), (4, 128), (6, 256), (3, 512))):
        for block in range(blocks):
            stride = 2 if stage > 0 and block == 0 else 1
            y = s.conv(s.conv(s.conv(x, width, 1), width, 3, stride), 4 * width, 1, act="")
            if block == 0:
                x = s.conv(x, 4 * width, 1, stride, act="")
            x = s.op("Activation", [s.op("elemwise_add", [y, x])], act_type="relu")
    x = s.op("Pooling", [x], kernel=(7, 7), global_pool=True, pool_type="avg")
    s.save(s.dense(x, 1000, "fc"), path)


def mobilenet_v2(path):
    s = Symbol()
    x = s.conv(s.variable("data", width=3), 32, 3, 2, act="relu6")
    inputs = 32
    for expand, filters, repeats, stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)):
        for k in range(repeats):
            step = stride if k == 0 else 1
            y = s.conv(x, expand * inputs, 1, act="relu6") if expand > 1 else x
            y = s.conv(s.conv(y, expand * inputs, 3, step, expand * inputs, "relu6"), filters, 1, act="")
            x = s.op("elemwise_add", [x, y]) if step == 1 and inputs == filters else y
            inputs = filters
    x = s.op("Pooling", [s.conv(x, 1280, 1, act="relu6")], kernel=(7, 7), global_pool=True, pool_type="avg")
    s.save(s.dense(x, 1000, "fc"), path)


def bert(path, width=768, heads=12):
    """The input is the sum of the embeddings (batch, tokens, width): looking them up is a thousandth of the work."""
    s = Symbol()
    x = s.norm(s.variable("data", width=width), "ln0")
    for layer in range(12):
        def split(name):
            y = s.op("reshape", [s.dense(x, width, f"{name}{layer}", False)], shape=(0, 0, heads, width // heads))
            return s.op("reshape", [s.op("transpose", [y], axes=(0, 2, 1, 3))], shape=(-3, 0, 0))
        q, k, v = (split(name) for name in "qkv")
        scores = s.op("_mul_scalar", [s.op("batch_dot", [q, k], transpose_b=True)], scalar=(width // heads) ** -0.5)
        y = s.op("batch_dot", [s.op("softmax", [scores], axis=-1), v])
        y = s.op("transpose", [s.op("reshape", [y], shape=(-4, -1, heads, 0, 0))], axes=(0, 2, 1, 3))
        y = s.dense(s.op("reshape", [y], shape=(0, 0, -3)), width, f"o{layer}", False)
        x = s.norm(s.op("elemwise_add", [x, y]), f"lna{layer}")
        y = s.op("LeakyReLU", [s.dense(x, 4 * width, f"up{layer}", False)], act_type="gelu")
        x = s.norm(s.op("elemwise_add", [x, s.dense(y, width, f"down{layer}", False)]), f"lnb{layer}")
    s.save(x, path)


folder = Path(sys.argv[1])
folder.mkdir(parents=True)
resnet50(folder / "resnet50-symbol.json")
mobilenet_v2(folder / "mobilenetv2-symbol.json")
bert(folder / "bert-symbol.json")

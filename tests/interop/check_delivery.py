#!/usr/bin/env python3
"""The real MXNet 1.9.1 delivers what halftone-cli shows of what it writes: check_delivery.py CLI [FIRST LAST]

Random small networks (seeds FIRST to LAST, 0 to 7 when not given) are quantized in both forms and all types of codes. Whatever is written
without a warning must load and run in MXNet and be no worse than `halftone-cli run` says, by more than one decibel; with a warning MXNet may
refuse it. A processor without VNNI adds two products of codes in 16 bits, where MXNet lets them saturate: what it delivers there is run, not judged.
Networks in bfloat16 must be in MXNet as `compare --as mxnet` says, within half a decibel. MXNet runs in a child that may crash.
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

os.environ["MXNET_SUBGRAPH_BACKEND"] = "NONE"

import mxnet as mx  # noqa: E402 (after the environment)
import numpy as np  # noqa: E402

from processor import EXACT_INT8, RUNS_BFLOAT16  # noqa: E402

VARIANTS = [(form, codes, calib) for form in ("onednn", "plain") for codes in ("auto", "int8", "uint8") for calib in ("naive", "none")]
VARIANTS.append(("onednn", "auto", "entropy"))
ALLOWED_DECIBELS, ALLOWED_DIFFERENCE = 1.0, 0.03  # of the peak: single codes differ where a value lies half between two


class Builder:
    """Draws networks of the operators that have int8 forms, and of those between them."""

    def __init__(self, rng):
        self.rng, self.count, self.channels = rng, 0, int(rng.choice([3, 4, 8]))

    def name(self, kind):
        self.count += 1
        return f"{kind}{self.count}"

    def coin(self):
        return bool(self.rng.integers(2))

    def conv(self, x, filters, kernel=None, groups=1):
        k = kernel or int(self.rng.choice([1, 3]))
        return mx.sym.Convolution(x, num_filter=filters, kernel=(k, k), pad=(k // 2, k // 2), num_group=groups, no_bias=self.coin(),
                                  name=self.name("conv"))

    def norm(self, x):
        return mx.sym.BatchNorm(x, fix_gamma=self.coin(), name=self.name("bn")) if self.coin() else x

    def act(self, x):
        kind = int(self.rng.integers(10))
        if kind < 5:
            return mx.sym.Activation(x, act_type="relu", name=self.name("relu"))
        if kind < 7:
            return mx.sym.LeakyReLU(x, act_type=["leaky", "gelu"][kind - 5], name=self.name("leaky"))
        if kind == 7:
            return mx.sym.clip(x, a_min=0, a_max=6, name=self.name("clip"))
        return x if kind == 8 else mx.sym.Activation(x, act_type=str(self.rng.choice(["sigmoid", "tanh"])), name=self.name("act"))

    def branch(self, x, filters):
        y = self.norm(self.conv(x, filters))
        return self.act(y) if self.coin() else y

    def step(self, x):
        kind, filters = int(self.rng.integers(8)), int(self.rng.choice([4, 8]))
        if kind == 0:
            x = self.act(self.norm(self.conv(x, self.channels, 3, self.channels)))
        elif kind == 1:
            x = self.act(mx.sym.elemwise_add(self.branch(x, self.channels), x, name=self.name("add")))
        elif kind == 2:
            x, self.channels = self.act(mx.sym.elemwise_add(self.branch(x, filters), self.branch(x, filters), name=self.name("add"))), filters
        elif kind == 3:
            x = mx.sym.Pooling(x, kernel=(2, 2), pool_type=str(self.rng.choice(["max", "avg"])), name=self.name("pool"))
        elif kind == 4:
            x, self.channels = mx.sym.concat(self.branch(x, 4), self.branch(x, 4), dim=1, name=self.name("cat")), 8
        elif kind == 5:
            x = self.act(mx.sym.BatchNorm(x, fix_gamma=self.coin(), name=self.name("bn")))
        elif kind == 6:
            x = mx.sym.elemwise_mul(x, self.conv(x, self.channels), name=self.name("mul"))
        else:
            x, self.channels = self.act(self.norm(self.conv(x, filters))), filters
        return x

    def network(self):
        shape = (4, self.channels, *[int(self.rng.integers(6, 13))] * 2)
        x = mx.sym.var("data")
        for _ in range(int(self.rng.integers(2, 6))):
            x = self.step(x)
        if self.coin():
            x = mx.sym.Pooling(x, global_pool=True, pool_type="avg", kernel=(1, 1), name=self.name("pool"))
        if self.coin():
            x = self.act(mx.sym.FullyConnected(x, num_hidden=10, name=self.name("fc")))
            x = mx.sym.FullyConnected(x, num_hidden=5, no_bias=self.coin(), name=self.name("fc"))
        return x, shape


def parameters(symbol, shape, rng):
    shapes, _, states = symbol.infer_shape(data=shape)
    drawn = {}
    for name, s in zip(symbol.list_arguments(), shapes):
        if name.endswith("gamma"):
            drawn["arg:" + name] = rng.uniform(0.5, 1.5, s)
        elif name != "data":
            drawn["arg:" + name] = rng.normal(0, 0.3 if len(s) < 2 else 1 / np.sqrt(np.prod(s[1:])), s)
    for name, s in zip(symbol.list_auxiliary_states(), states):
        drawn["aux:" + name] = rng.uniform(0.5, 1.5, s) if name.endswith("var") else rng.normal(0, 0.3, s)
    return {k: mx.nd.array(v) for k, v in drawn.items()}


def forward(prefix, data):
    symbol, args, aux = mx.model.load_checkpoint(str(prefix), 0)
    executor = symbol.bind(mx.cpu(), {**args, "data": mx.nd.array(data)}, aux_states=aux, grad_req="null")
    return executor.forward(is_train=False)[0].asnumpy()


def delivered(prefix, data):
    """What MXNet gives, or the text of its refusal."""
    result = Path(f"{prefix}-mxnet.npy")
    result.unlink(missing_ok=True)
    child = os.fork()
    if child == 0:
        try:
            np.save(result, forward(prefix, data))
            os._exit(0)
        except mx.MXNetError as error:
            Path(f"{prefix}-mxnet.txt").write_text(next((x for x in str(error).splitlines() if "Check failed" in x), str(error)[-200:]))
            os._exit(1)
        finally:
            os._exit(2)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status == 0:
        return np.load(result)
    return Path(f"{prefix}-mxnet.txt").read_text() if status == 1 else f"MXNet ended with {status}"


def decibels(exact, values):
    error = np.sum((values.astype("f8") - exact) ** 2)
    return np.inf if error == 0 else 10 * np.log10(max(np.sum(exact.astype("f8") ** 2), 1e-30) / error)


def problem_of(exact, shown, got, is_warned):
    if isinstance(got, str):
        return None if is_warned else f"refused: {got[:200]}"
    told, real = decibels(exact, shown), decibels(exact, got)
    differs = np.abs(shown - got).max() / max(np.abs(got).max(), 1e-12)
    if is_warned or not EXACT_INT8 or told - real <= ALLOWED_DECIBELS or differs <= ALLOWED_DIFFERENCE:
        return None
    return f"{told:.1f} dB told, {real:.1f} delivered"


def call(*args):
    return subprocess.run([str(a) for a in args], capture_output=True, text=True)


def check_int8(cli, model, data, exact, scratch):
    for form, codes, calib in VARIANTS:
        prefix, inputs = scratch / "int8", [] if calib == "none" else ["--inputs", f"{model}.npz"]
        made = call(cli, "quantize", f"{model}-symbol.json", *inputs, "--out", prefix, "--mode", "full", "--form", form, "--dtype", codes,
                    "--calib", calib)
        ran = call(cli, "run", f"{prefix}-symbol.json", "--inputs", f"{model}.npz", "--out", f"{prefix}.npz")
        if made.returncode or ran.returncode:
            yield f"{form} {codes} {calib}", (made.stderr + ran.stderr)[-200:], False
            continue
        shown, is_warned = next(iter(np.load(f"{prefix}.npz").values())), "warning: node" in made.stderr
        yield f"{form} {codes} {calib}", problem_of(exact, shown, delivered(prefix, data), is_warned), is_warned


def check_bfloat16(cli, model, data, exact, scratch):
    prefix = scratch / "bfloat16"
    made = call(cli, "convert", f"{model}-symbol.json", "--target", "bfloat16", "--cast-params", "--inputs", f"{model}.npz", "--out", prefix)
    shown = call(cli, "compare", f"{model}-symbol.json", "--target", "bfloat16", "--cast-params", "--inputs", f"{model}.npz", "--as", "mxnet",
                 "--json")
    if made.returncode or shown.returncode:
        return (made.stderr + shown.stderr)[-200:]
    got = delivered(prefix, data)
    if isinstance(got, str):
        return None if "warning: node" in made.stderr else f"refused: {got[:200]}"
    told, real = json.loads(shown.stdout)["outputs"][0]["sqnr_db"], decibels(exact, got)
    return None if told == "inf" or abs(told - real) <= 0.5 else f"{told:.1f} dB told, {real:.1f} delivered"


def main():
    cli, first, last = Path(sys.argv[1]).resolve(), *([int(a) for a in sys.argv[2:4]] or [0, 7])
    failures = checked = warned = 0
    with tempfile.TemporaryDirectory(prefix="halftone-delivery-") as folder:
        for seed in range(first, last + 1):
            rng = np.random.default_rng(seed)
            symbol, shape = Builder(rng).network()
            model = Path(folder) / "model"
            symbol.save(f"{model}-symbol.json")
            mx.nd.save(f"{model}-0000.params", parameters(symbol, shape, rng))
            data = rng.normal(0, 1, shape).astype("float32")
            data = np.abs(data) if seed % 2 else data
            np.savez(f"{model}.npz", data=data)
            exact = delivered(model, data)
            results = [*check_int8(cli, model, data, exact, Path(folder))]
            if RUNS_BFLOAT16:
                results.append(("bfloat16", check_bfloat16(cli, model, data, exact, Path(folder)), False))
            for name, problem, is_warned in results:
                checked, warned, failures = checked + 1, warned + is_warned, failures + (problem is not None)
                if problem:
                    print(f"FAIL seed {seed} {name}: {problem}", flush=True)
    print(f"delivery by MXNet, seeds {first} to {last}: {checked - failures} of {checked} as shown, {warned} of them warned of" + ("" if EXACT_INT8 else "; int8 ran only, MXNet saturates on this processor"))
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()

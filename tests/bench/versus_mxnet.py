"""Conversion speed beside the real MXNet's, in one run: python versus_mxnet.py BENCH_CONVERT [P-symbol.json …]

Run with a Python that has MXNet 1.9.1 (tests/interop/requirements.txt). BENCH_CONVERT is the benchmark program of a release build. Without
models a random graph of about 10,000 nodes is made. Both convert the same symbol with the built-in float16 lists, symbol to symbol; the two take
turns and each one's best round counts. Prints a line a model: nodes, both times, the ratio.
"""
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import mxnet as mx
from mxnet.contrib import amp

ROUNDS = 3


def random_symbol(size):
    rng = random.Random(7)
    tensors = [mx.sym.var("data")]
    for k in range(size):
        newest, older = tensors[-1], tensors[-1 - rng.randrange(min(len(tensors), 20))]
        kind = rng.randrange(6)
        if kind == 0:
            tensors.append(mx.sym.FullyConnected(newest, num_hidden=16, no_bias=True, name=f"n{k}"))
        elif kind in (1, 2):
            tensors.append(mx.sym.Activation(newest, act_type="relu", name=f"n{k}"))
        elif kind == 3:
            tensors.append(mx.sym.softmax(newest, name=f"n{k}"))
        else:
            tensors.append(mx.sym.elemwise_add(newest, older, name=f"n{k}"))
    return tensors[-1]


def theirs(symbol):
    times = []
    for _ in range(5):
        start = time.perf_counter()
        amp.convert_symbol(symbol, target_dtype="float16")
        times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times)


def ours(program, path):
    out = subprocess.run([program, f"--benchmark_filter=convert/{path.name}", "--benchmark_format=json", "--benchmark_repetitions=5",
                          "--benchmark_report_aggregates_only=true"], capture_output=True, text=True, check=True,
                         env={**os.environ, "HALFTONE_BENCH_MODELS": str(path)}).stdout
    row = next(b for b in json.loads(out)["benchmarks"] if b["name"].endswith("_median"))
    return row["real_time"] / 1e3


def main(program, *paths):
    with tempfile.TemporaryDirectory() as tmp:
        if not paths:
            made = Path(tmp) / "random-symbol.json"
            random_symbol(8500).save(str(made))
            paths = [made]
        for path in map(Path, paths):
            symbol = mx.sym.load(str(path))
            nodes = len(json.loads(path.read_text())["nodes"])
            pairs = [(theirs(symbol), ours(program, path)) for _ in range(ROUNDS)]
            mxnet_ms, our_ms = min(p[0] for p in pairs), min(p[1] for p in pairs)
            print(f"{path.name}: {nodes} nodes, MXNet {mxnet_ms:.2f} ms, Halftone {our_ms:.3f} ms, {mxnet_ms / our_ms:.1f} times faster", flush=True)


main(*sys.argv[1:])

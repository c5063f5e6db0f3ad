#!/usr/bin/env python3
"""Times entropy calibration of ResNet-50 on 32 images: MXNet's quantize_model against `halftone-cli quantize` and `calibrate`.

    MXNET_PYTHON tests/bench/calibrate_resnet50.py build/release/halftone-cli [IMAGES] [THREADS] [ROUNDS]

Each runs ROUNDS times in a row, and its best round counts; all are printed, since the first one also pays for memory that
the system has yet to provide. Run with a Python that has MXNet 1.9.1. Weights are drawn at random (the time does not depend on them); both sides get the
same file and the same images, in batches of 8, and as many threads.
"""
import json
import logging
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

cli = Path(sys.argv[1]).resolve()
images = int(sys.argv[2]) if len(sys.argv) > 2 else 32
threads = int(sys.argv[3]) if len(sys.argv) > 3 else os.cpu_count()
rounds = int(sys.argv[4]) if len(sys.argv) > 4 else 3
os.environ["OMP_NUM_THREADS"] = str(threads)
os.environ["MXNET_SUBGRAPH_BACKEND"] = "NONE"  # or tensors inside fused nodes are not observed

import mxnet as mx  # noqa: E402 (after the environment)
import numpy as np  # noqa: E402
from mxnet.contrib import quantization  # noqa: E402

if quantization.stats is None:
    quantization.stats = True  # SciPy: asked for and never used

logging.disable(logging.CRITICAL)
np.random.seed(0)
mx.random.seed(0)
with tempfile.TemporaryDirectory() as folder:
    net = mx.gluon.model_zoo.vision.resnet50_v1(pretrained=False)
    net.initialize(mx.init.Xavier(magnitude=2))
    net.hybridize()
    data = np.random.randn(images, 3, 224, 224).astype(np.float32)
    net(mx.nd.array(data[:1]))
    prefix = str(Path(folder) / "resnet50")
    net.export(prefix)
    np.savez(prefix + ".npz", data=data)
    sym, args, aux = mx.model.load_checkpoint(prefix, 0)
    common = ["--inputs", prefix + ".npz", "--batch", "8", "--threads", str(threads), "--json"]
    calls = {"quantize, plain": ["quantize", prefix + "-symbol.json", "--out", prefix + "-q", "--form", "plain",
                                 "--calib", "entropy", "--mode", "full", *common],
             "calibrate, all tensors": ["calibrate", prefix + "-symbol.json", "--method", "entropy", *common]}
    theirs = []
    ours = {name: [] for name in calls}
    tensors = {}
    for _ in range(rounds):
        batches = mx.io.NDArrayIter(data=data, batch_size=8)
        begin = time.perf_counter()
        quantization.quantize_model(sym, args, aux, calib_mode="entropy", calib_data=batches, num_calib_examples=images,
                                    quantized_dtype="auto", quantize_mode="full")
        theirs.append(time.perf_counter() - begin)
    for name, call in calls.items():
        for _ in range(rounds):
            begin = time.perf_counter()
            done = subprocess.run([cli, *call], capture_output=True, check=True)
            ours[name].append(time.perf_counter() - begin)
            report = json.loads(done.stdout)
            tensors[name] = len(report.get("thresholds", report.get("tensors")))
    best = min(theirs)
    rows = [("MXNet quantize_model, entropy", theirs, "")] + [
        ("halftone-cli " + name, times, f"{best / min(times):6.1f} times as fast, {tensors[name]} tensors") for name, times in ours.items()]
    print(f"{images} images, {threads} threads, best of {rounds} rounds")
    for name, times, rest in rows:
        print(f"{name:36} {min(times):8.2f} s  {rest}   (all: {', '.join(f'{t:.2f}' for t in times)})")

#!/usr/bin/env python3
"""Times entropy calibration of ResNet-50 on 32 images: MXNet's quantize_model against `halftone-cli quantize` and `calibrate`.

    MXNET_PYTHON tests/bench/calibrate_resnet50.py build/release/halftone-cli [IMAGES] [THREADS]

Run with a Python that has MXNet 1.9.1. Weights are drawn at random (the time does not depend on them); both sides get the
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
    batches = mx.io.NDArrayIter(data=data, batch_size=8)
    begin = time.perf_counter()
    quantization.quantize_model(sym, args, aux, calib_mode="entropy", calib_data=batches, num_calib_examples=images,
                   quantized_dtype="auto", quantize_mode="full")
    theirs = time.perf_counter() - begin
    print(f"MXNet quantize_model, entropy, {images} images   {theirs:8.2f} s", flush=True)
    common = ["--inputs", prefix + ".npz", "--batch", "8", "--threads", str(threads), "--json"]
    for name, call in {"quantize, plain": ["quantize", prefix + "-symbol.json", "--out", prefix + "-q", "--form", "plain",
                                           "--calib", "entropy", "--mode", "full", *common],
                       "calibrate, all tensors": ["calibrate", prefix + "-symbol.json", "--method", "entropy", *common]}.items():
        begin = time.perf_counter()
        done = subprocess.run([cli, *call], capture_output=True, check=True)
        ours = time.perf_counter() - begin
        report = json.loads(done.stdout)
        tensors = len(report.get("thresholds", report.get("tensors")))
        print(f"halftone-cli {name:24} {ours:17.2f} s   {theirs / ours:6.1f} times as fast, {tensors} tensors", flush=True)

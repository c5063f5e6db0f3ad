#!/usr/bin/env python3
"""Latency of ONNX models beside ONNX Runtime and OpenVINO, in turns.

    versus_onnx.py HALFTONE-CLI FP32.onnx [--int8 QDQ.onnx] [--rounds 5] [--repeats 10] [--threads 2] [--only fp32 bf16 int8]

Each round measures all contenders one after the other; told are the medians over the rounds of each one's median, in milliseconds, and
Halftone's ratio to the best of the others. bf16: Halftone converts with its default lists, OpenVINO by its inference precision (ONNX
Runtime has no such kernels). int8: all run the same QDQ model. Needs PyPI's onnxruntime, openvino and numpy.
"""
import argparse
import json
import statistics
import subprocess
import time

import numpy as np
import onnxruntime
import openvino


def drawn(session):
    draw = np.random.default_rng(1)
    feed = {}
    for port in session.get_inputs():
        shape = [dim if isinstance(dim, int) else 1 for dim in port.shape]
        whole = "int" in port.type
        feed[port.name] = draw.integers(0, 2, shape) if whole else draw.standard_normal(shape).astype(np.float32)
    return feed


def timed(run, repeats):
    times = []
    for k in range(repeats + 2):
        begin = time.perf_counter()
        run()
        if k >= 2:
            times.append(1000 * (time.perf_counter() - begin))
    return statistics.median(times)


def halftone(options, model, *more):
    def measure():
        done = subprocess.run([options.cli, "profile", model, "--json", "--repeats", str(options.repeats), "--warmup", "2",
                               "--threads", str(options.threads), *more], capture_output=True, text=True, check=True)
        return json.loads(done.stdout)["median_ms"]
    return measure


def runtime(options, model):
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = options.threads
    session = onnxruntime.InferenceSession(model, settings, providers=["CPUExecutionProvider"])
    feed = drawn(session)
    return lambda: timed(lambda: session.run(None, feed), options.repeats)


def vino(options, model, precision):
    core = openvino.Core()
    compiled = core.compile_model(model, "CPU", {"INFERENCE_NUM_THREADS": options.threads, "PERFORMANCE_HINT": "LATENCY",
                                                 "INFERENCE_PRECISION_HINT": precision})
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    feed = drawn(session)
    del session
    request = compiled.create_infer_request()
    return lambda: timed(lambda: request.infer(feed), options.repeats)


def contenders(options, kind):
    model = options.int8 if kind == "int8" else options.model
    more = ["--target", "bfloat16"] if kind == "bf16" else []
    rows = {"Halftone": halftone(options, model, *more)}
    if kind != "bf16":
        rows["ONNX Runtime"] = runtime(options, model)
    rows["OpenVINO"] = vino(options, model, "bf16" if kind == "bf16" else "f32")
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cli")
    parser.add_argument("model")
    parser.add_argument("--int8")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", nargs="*", default=["fp32", "bf16", "int8"])
    options = parser.parse_args()
    for kind in options.only:
        if kind == "int8" and not options.int8:
            continue
        rows = contenders(options, kind)
        times = {name: [] for name in rows}
        for _ in range(options.rounds):
            for name, measure in rows.items():
                times[name].append(measure())
        medians = {name: statistics.median(values) for name, values in times.items()}
        best = min(value for name, value in medians.items() if name != "Halftone")
        told = ", ".join(f"{name} {value:.2f} ms (best {min(times[name]):.2f})" for name, value in medians.items())
        print(f"{kind}: {told}; ratio {medians['Halftone'] / best:.3f}", flush=True)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Does this program's own engine rank conversions as a runtime does, and does `profile` say what a loop in Python says?

    runtime_ranking.py HALFTONE-CLI MODEL.onnx FEED.npz [MODEL FEED …] [--backend ort] [--points 8] [--repeats 30] [--threads 1]

Each model is tuned on the runtime, and the points that it measured are profiled on `cpu` and in the runtime: told is Spearman's coefficient of
the two orders of their medians. The float32 model is also run in a loop of ONNX Runtime's own session, in turns with `profile`: told is the
quotient of the medians. Needs numpy and the runtime's package; the machine at rest.
"""
import argparse
import json
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np


class Halftone:
    def __init__(self, cli, threads, repeats):
        self.cli, self.threads, self.repeats = cli, threads, repeats

    def json(self, *args):
        call = [self.cli, *map(str, args), "--threads", str(self.threads), "--json"]
        return json.loads(subprocess.run(call, check=True, capture_output=True, text=True).stdout)

    def median(self, model, feed, backend, policy=None):
        wanted = ["--policy", policy] if policy else []
        return self.json("profile", model, "--inputs", feed, "--backend", backend, "--repeats", self.repeats, *wanted)["median_ms"]


def ranks(values):
    """Equal values share the mean of their places."""
    order = np.argsort(values, kind="stable")
    places = np.empty(len(values))
    places[order] = np.arange(len(values))
    return np.array([places[np.asarray(values) == v].mean() for v in values])


def spearman(a, b):
    x, y = ranks(a), ranks(b)
    return float(np.corrcoef(x, y)[0, 1]) if np.ptp(x) > 0 and np.ptp(y) > 0 else float("nan")


def ranking(halftone, model, feed, backend, points):
    with tempfile.TemporaryDirectory() as folder:
        front = halftone.json("tune", model, "--inputs", feed, "--backend", backend, "--points", points, "--out", Path(folder) / "front.json")
        policies = [p["policy"] for p in front["points"] + front["measured"] if p.get("policy")]
        there = [halftone.median(model, feed, backend, p) for p in policies]
        here = [halftone.median(model, feed, "cpu", p) for p in policies]
    return len(policies), spearman(here, there)


def loop_ms(session, feed, repeats):
    times = []
    for k in range(repeats + 5):
        begin = time.perf_counter()
        session.run(None, feed)
        if k >= 5:
            times.append(1000 * (time.perf_counter() - begin))
    return statistics.median(times)


def versus_python(halftone, model, feed, rounds=5):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = halftone.threads
    session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    arrays = dict(np.load(feed))
    ours, theirs = [], []
    for _ in range(rounds):
        ours.append(halftone.median(model, feed, "ort"))
        theirs.append(loop_ms(session, arrays, halftone.repeats))
    return statistics.median(ours) / statistics.median(theirs)


def main():
    q = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    q.add_argument("cli")
    q.add_argument("files", nargs="+", metavar="MODEL FEED")
    q.add_argument("--backend", default="ort")
    q.add_argument("--points", type=int, default=8)
    q.add_argument("--repeats", type=int, default=30)
    q.add_argument("--threads", type=int, default=1)
    a = q.parse_args()
    halftone = Halftone(a.cli, a.threads, a.repeats)
    print(f"{'model':32} {'points':>6} {'Spearman':>8} {'median / Python':>15}")
    for model, feed in zip(a.files[::2], a.files[1::2], strict=True):
        count, order = ranking(halftone, model, feed, a.backend, a.points)
        quotient = f"{versus_python(halftone, model, feed):15.3f}" if a.backend == "ort" else ""
        print(f"{Path(model).stem:32} {count:6} {order:8.2f} {quotient}", flush=True)


if __name__ == "__main__":
    main()

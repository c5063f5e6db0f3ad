#!/usr/bin/env python3
"""How near to float32 int8 is, beside ONNX Runtime's static quantization.

    int8_versus_onnxruntime.py HALFTONE-CLI FOLDER…

A FOLDER holds one .onnx file, reference.npz with recorded inputs in0.NAME, in1.NAME and preprocess.json with the shapes of inputs that are
not recorded. The first case calibrates, all score. Ours: each method, and the best; theirs: quantize_static in QDQ form, per channel where
the opset has that, MinMax, activations uint8. Both are measured by the definitions of the operators (ours on the reference kernels, theirs without
optimizations: its int8 kernels saturate on processors without VNNI). Told is the worst SQNR of a model's cases in dB; the last line says of
how many models ours is more than 3 dB below. Needs PyPI's onnx, onnxruntime and numpy.
"""
import argparse
import json
import pathlib
import subprocess
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

METHODS = ("naive", "mse", "entropy", "percentile")
SLACK_DB = 3
onnxruntime.set_default_logger_severity(3)


class OneCase(CalibrationDataReader):
    def __init__(self, feed):
        self.feeds = [feed]

    def get_next(self):
        return self.feeds.pop() if self.feeds else None


def recorded(folder):
    arrays, meta = np.load(folder / "reference.npz"), json.loads((folder / "preprocess.json").read_text())
    for case in range(2):
        feed = {key.split(".", 1)[1]: arrays[key] for key in arrays.files if key.startswith(f"in{case}.")}
        if not feed or "small" in feed:
            continue
        rows = next(iter(feed.values())).shape[0]
        for port in meta["inputs"]:
            shape = [rows if isinstance(dim, str) else dim for dim in port["shape"]]
            feed.setdefault(port["name"], np.zeros(shape, port["dtype"]))
        yield feed


def values(model, feed):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    return dict(zip([port.name for port in session.get_outputs()], session.run(None, feed)))


def sqnr(wanted, got):
    worst = 300.0
    for name, want in wanted.items():
        if np.issubdtype(want.dtype, np.floating):
            noise = float(((want.astype("f8") - got[name]) ** 2).sum())
            power = float((want.astype("f8") ** 2).sum())
            worst = min(worst, 10 * np.log10(power / noise) if noise > 0 and power > 0 else 300.0)
    return worst


def ours(cli, model, feeds, wanted, folder):
    np.savez(folder / "first.npz", **feeds[0])
    found = {}
    for method in METHODS:
        out = folder / f"{method}.onnx"
        done = subprocess.run([cli, "quantize", model, "--form", "qdq", "--inputs", folder / "first.npz", "--calib", method, "--out", out],
                              capture_output=True, text=True)
        if done.returncode:
            return done.stderr.strip()
        found[method] = 300.0
        for feed, want in zip(feeds, wanted):
            np.savez(folder / "feed.npz", **feed)
            subprocess.run([cli, "run", out, "--inputs", folder / "feed.npz", "--backend", "reference", "--out", folder / "got.npz"],
                           capture_output=True, check=True)
            found[method] = min(found[method], sqnr(want, np.load(folder / "got.npz")))
    return found


def theirs(model, feeds, wanted, folder):
    """Per channel, or, where the model's opset knows no scales by channel (below 13), one scale for a layer."""
    for per_channel in (True, False):
        try:
            quant_pre_process(str(model), str(folder / "prepared.onnx"), skip_symbolic_shape=True)
            quantize_static(str(folder / "prepared.onnx"), str(folder / "static.onnx"), OneCase(dict(feeds[0])),
                            quant_format=QuantFormat.QDQ, per_channel=per_channel, activation_type=QuantType.QUInt8,
                            weight_type=QuantType.QInt8)
            return min(sqnr(want, values(folder / "static.onnx", feed)) for feed, want in zip(feeds, wanted))
        except Exception as error:  # noqa: BLE001: whatever it cannot do, it does not do
            reason = str(error).splitlines()[0][:160]
    return reason


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cli")
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    below = 0
    for folder in options.folders:
        model = next(folder.glob("*.onnx"), None)
        if model is None or not (folder / "reference.npz").exists():
            continue
        feeds = list(recorded(folder))
        if not feeds:
            continue
        with tempfile.TemporaryDirectory() as name:
            wanted = [values(model, feed) for feed in feeds]
            mine, peer = ours(options.cli, model, feeds, wanted, pathlib.Path(name)), theirs(model, feeds, wanted, pathlib.Path(name))
        if isinstance(mine, str):
            print(f"{folder.name:28}{mine}", flush=True)
            continue
        best = max(mine.values())
        told = f"{peer:6.1f}" if isinstance(peer, float) else f"none ({peer})"
        is_below = isinstance(peer, float) and best < peer - SLACK_DB
        below += is_below
        print(f"{folder.name:28}" + " ".join(f"{method} {value:5.1f}" for method, value in mine.items())
              + f"  best {best:5.1f}, ONNX Runtime {told}{'  below' if is_below else ''}", flush=True)
    print(f"{below} models more than {SLACK_DB} dB below")
    raise SystemExit(1 if below else 0)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Memory and time with a large ONNX model whose values lie in a file beside it.

    large_onnx.py HALFTONE-CLI [--window BENCH-WINDOW] [--gigabytes 1] [--folder DIR]

Draws a chain of products with that many bytes of float32 weights, converts it to float16 by the command line into one file and with
--external-data, and, where bench_window is given, opens it in the window. Told are seconds and the most memory of the process's own
(anonymous pages, sampled every 5 ms; pages of mapped files are the system's). Needs PyPI's onnx and numpy.
"""
import argparse
import pathlib
import subprocess
import tempfile
import time

import numpy as np
import onnx
from onnx import TensorProto, helper

WIDTH = 2048
LIMIT_MB = 300


def tensor(name, shape, offset):
    proto = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=shape, data_location=TensorProto.EXTERNAL)
    size = 4 * int(np.prod(shape))
    for key, value in (("location", "large.onnx.data"), ("offset", str(offset)), ("length", str(size))):
        entry = proto.external_data.add()
        entry.key, entry.value = key, value
    return proto, size


def draw(folder, gigabytes):
    layers = max(1, round(gigabytes * 1e9 / (4 * WIDTH * WIDTH)))
    draw = np.random.default_rng(1)
    values = draw.standard_normal((WIDTH, WIDTH), dtype=np.float32) / np.float32(WIDTH) ** 0.5
    nodes, weights, offset, x = [], [], 0, "x"
    with open(folder / "large.onnx.data", "wb") as data:
        for layer in range(layers):
            proto, size = tensor(f"w{layer}", (WIDTH, WIDTH), offset)
            weights.append(proto)
            offset += size
            (values * np.float32(1 + layer / layers)).tofile(data)
            nodes.append(helper.make_node("MatMul", [x, proto.name], [f"m{layer}"], f"product{layer}"))
            nodes.append(helper.make_node("Relu", [f"m{layer}"], [f"r{layer}"], f"relu{layer}"))
            x = f"r{layer}"
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, WIDTH]) for name in ("x", x)]
    graph = helper.make_graph(nodes, "large", ports[:1], ports[1:], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), folder / "large.onnx")
    print(f"{layers} products, {offset / 1e9:.2f} GB of weights")
    return folder / "large.onnx"


def own_memory(pid):
    try:
        for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("RssAnon"):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    return 0


def measured(what, call):
    begin, most = time.perf_counter(), 0.0
    process = subprocess.Popen(call, stdout=subprocess.DEVNULL)
    while process.poll() is None:
        most = max(most, own_memory(process.pid))
        time.sleep(0.005)
    if process.returncode:
        raise SystemExit(f"{what}: exit {process.returncode}")
    print(f"{what:<40}{time.perf_counter() - begin:8.2f} s{most:9.0f} MiB of its own{'' if most <= LIMIT_MB else '  (limit 300)'}")
    return most <= LIMIT_MB


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cli")
    parser.add_argument("--window")
    parser.add_argument("--gigabytes", type=float, default=1)
    parser.add_argument("--folder", type=pathlib.Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        model = draw(pathlib.Path(folder), options.gigabytes)
        out = f"{folder}/half"
        fits = [measured("info", [options.cli, "info", model])]
        fits.append(measured("convert, one file", [options.cli, "convert", model, "--target", "float16", "--out", out]))
        fits.append(measured("convert --external-data", [options.cli, "convert", model, "--target", "float16", "--external-data",
                                                         "--out", f"{out}-apart"]))
        if options.window:
            print(subprocess.run([options.window, "--open", model], capture_output=True, text=True, check=True).stdout, end="")
    raise SystemExit(0 if all(fits) else 1)


if __name__ == "__main__":
    main()

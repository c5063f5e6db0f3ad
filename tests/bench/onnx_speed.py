#!/usr/bin/env python3
"""How fast ONNX graphs are converted and read, beside onnxconverter-common.

    onnx_speed.py HALFTONE-CLI [--nodes 10000] [--rounds 5] [--megabytes 100]

Draws a graph of that many nodes (products, sums, activations, normalizations by hand, shape arithmetic), converts it to float16, and
tells the conversion beside reading (limit 50 ms), what the whole call takes, and what onnxconverter_common.float16 takes on the model in
memory, in the same run (it has to be at least 50 times slower). Then a model of that many megabytes of weights is read (`info`) beside the
same graph without its weights, and beside going through the pages of the mapped file. Needs PyPI's onnx, onnxconverter-common and numpy.
"""
import argparse
import json
import mmap
import pathlib
import statistics
import subprocess
import tempfile
import time

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnxconverter_common import float16

WIDTH = 128


class Writer:
    def __init__(self):
        self.nodes, self.weights, self.draw = [], [], np.random.default_rng(1)

    def node(self, op, inputs, **attributes):
        output = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [output], f"{op}_{len(self.nodes)}", **attributes))
        return output

    def weight(self, *shape):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(self.draw.standard_normal(shape, dtype=np.float32) / 8, name))
        return name

    def block(self, x):
        """19 nodes: a product with bias and activation, a normalization by hand, a reshape by the value's own shape."""
        y = self.node("Relu", [self.node("Add", [self.node("MatMul", [x, self.weight(WIDTH, WIDTH)]), self.weight(WIDTH)])])
        y = self.node("Add", [x, y])
        difference = self.node("Sub", [y, self.node("ReduceMean", [y], axes=[-1])])
        variance = self.node("ReduceMean", [self.node("Mul", [difference, difference])], axes=[-1])
        deviation = self.node("Sqrt", [self.node("Add", [variance, "epsilon"])])
        y = self.node("Mul", [self.node("Div", [difference, deviation]), self.weight(WIDTH)])
        y = self.node("Softmax", [y], axis=-1)
        y = self.node("Transpose", [self.node("Transpose", [y], perm=[1, 0])], perm=[1, 0])
        rows = self.node("Gather", [self.node("Shape", [y]), "first"], axis=0)
        shape = self.node("Concat", [rows, "width"], axis=0)
        return self.node("Sigmoid", [self.node("Reshape", [y, shape])])


def drawn(nodes):
    writer = Writer()
    for name, value in (("epsilon", np.float32(1e-5)), ("first", np.array([0], np.int64)), ("width", np.array([WIDTH], np.int64))):
        writer.weights.append(numpy_helper.from_array(np.asarray(value), name))
    x = "x"
    while len(writer.nodes) < nodes:
        x = writer.block(x)
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [8, WIDTH]) for name in ("x", x)]
    graph = helper.make_graph(writer.nodes, "drawn", ports[:1], ports[1:], writer.weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def heavy(megabytes):
    side = 1024
    count = max(1, round(megabytes * 1e6 / (4 * side * side)))
    values = np.random.default_rng(1).standard_normal((side, side), dtype=np.float32)
    weights = [numpy_helper.from_array(values, f"w{k}") for k in range(count)]
    nodes = [helper.make_node("MatMul", [f"x{k}", f"w{k}"], [f"x{k + 1}"]) for k in range(count)]
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, side]) for name in ("x0", f"x{count}")]
    return helper.make_model(helper.make_graph(nodes, "heavy", ports[:1], ports[1:], weights),
                             opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def seconds(work, rounds):
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def through_pages(path):
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as pages:
        return int(np.frombuffer(pages, np.uint8)[::mmap.PAGESIZE].sum())


def conversion(cli, folder, options):
    path = folder / "drawn.onnx"
    model = drawn(options.nodes)
    onnx.save(model, path)
    own, whole = [], []
    for _ in range(options.rounds):
        begin = time.perf_counter()
        done = subprocess.run([cli, "convert", path, "--target", "float16", "--out", folder / "half.onnx", "--json"],
                              capture_output=True, text=True, check=True)
        whole.append(time.perf_counter() - begin)
        own.append(json.loads(done.stdout)["seconds"])
    fresh = onnx.load(path)
    begin = time.perf_counter()
    float16.convert_float_to_float16(fresh, keep_io_types=True)
    peer = time.perf_counter() - begin
    ours = statistics.median(own)
    print(f"{len(model.graph.node)} nodes: conversion {1000 * ours:.1f} ms (limit 50), the whole call {1000 * statistics.median(whole):.0f} ms, "
          f"onnxconverter-common {peer:.2f} s: {peer / ours:.0f} times slower (at least 50)")
    return ours <= 0.05 and peer >= 50 * ours


def reading(cli, folder, options):
    full, empty = folder / "heavy.onnx", folder / "light.onnx"
    onnx.save(heavy(options.megabytes), full)
    onnx.save(drawn(20), empty)
    def info(path):
        return seconds(lambda: subprocess.run([cli, "info", path], capture_output=True, check=True), options.rounds)
    alone, read = info(empty), info(full)
    pages = seconds(lambda: through_pages(full), options.rounds)
    print(f"info of {full.stat().st_size / 1e6:.0f} MB {1000 * read:.0f} ms, of a small model {1000 * alone:.0f} ms: "
          f"{1000 * (read - alone):.1f} ms for reading; a walk through the mapped pages {1000 * pages:.1f} ms")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cli")
    parser.add_argument("--nodes", type=int, default=10000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--megabytes", type=float, default=100)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        fits = conversion(options.cli, folder, options)
        reading(options.cli, folder, options)
    raise SystemExit(0 if fits else 1)


if __name__ == "__main__":
    main()

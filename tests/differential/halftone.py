"""Calls of halftone-cli."""
import json
import subprocess
from pathlib import Path

import numpy as np

import graphs

TIMEOUT = 60


class Halftone:
    def __init__(self, program, scratch):
        self.program, self.scratch, self.warnings = str(Path(program).resolve()), Path(scratch), []

    def call(self, *arguments):
        """The error line, or None; a signal or a hang is told as such. Warnings of the call are in `warnings`."""
        self.warnings = []
        try:
            done = subprocess.run([self.program, *map(str, arguments)], capture_output=True, text=True, timeout=TIMEOUT, errors="replace")
        except subprocess.TimeoutExpired:
            return f"no end within {TIMEOUT} s"
        self.warnings = [line for line in done.stderr.splitlines() if line.startswith("warning: ")]
        if done.returncode < 0:
            return f"ended by signal {-done.returncode}: {done.stderr.strip()[-200:]}"
        return f"exit {done.returncode}: {done.stderr.strip()[-300:]}" if done.returncode else None

    def run(self, symbol, inputs, params, backend, out):
        """(outputs, None) or (None, what went wrong)."""
        problem = self.call("run", symbol, *(["--params", params] if params else ["--no-params"]), "--inputs", inputs, "--backend", backend,
                            "--threads", "1", "--out", out)
        return (None, problem) if problem else (outputs(out), None)

    def run_folder(self, folder, backend):
        params = Path(folder) / "model-0000.params"
        return self.run(Path(folder) / "model-symbol.json", Path(folder) / "inputs.npz", params if params.exists() else None, backend,
                        Path(folder) / f"{backend}.npz")

    def run_together(self, folders, backend):
        """{folder: outputs} of several graphs in one call; None where they have to be run one by one. Weights are fed like data."""
        merged, counts = graphs.Graph(), []
        for k, folder in enumerate(folders):
            counts.append(append(merged, graphs.load(folder), f"g{k}_"))
        merged.params, merged.may_be_empty = set(), graphs.load(folders[0]).may_be_empty
        merged.save(self.scratch / "together")
        all_outputs, problem = self.run_folder(self.scratch / "together", backend)
        if problem:
            return None
        results, at = {}, 0
        for folder, count in zip(folders, counts):
            results[folder] = all_outputs[at:at + count]
            at += count
        return results


def append(merged, graph, prefix):
    """Adds a graph's nodes under a prefix to their names; how many heads it has."""
    base = len(merged.nodes)
    for node in graph.nodes:
        merged.nodes.append(node | {"name": prefix + node["name"], "inputs": [[i[0] + base, *i[1:]] for i in node["inputs"]]})
    merged.arrays |= {prefix + n: a for n, a in graph.arrays.items()}
    merged.heads += [(n + base, k) for n, k in graph.heads]
    return len(graph.heads)


def outputs(path):
    """[(values, type)] in the order of the heads; bfloat16 widened."""
    found = []
    for name, array in graphs.read_arrays(path).items():
        if name.endswith(":bf16"):
            found.append(((array.astype(np.uint32) << 16).view(np.float32), graphs.BFLOAT16))
        else:
            found.append((array, array.dtype.name))
    return found


def expected(path):
    """What MXNet's child wrote."""
    return [(array, name.split(":")[1]) for name, array in graphs.read_arrays(path).items()]


def graph_of(path):
    """Symbol JSON as {name: (operator, attributes, inputs, number of bodies)} and heads."""
    told = json.loads(Path(path).read_text())
    names = [n["name"] for n in told["nodes"]]
    nodes = {n["name"]: (graphs.operator_of(n), n.get("attrs") or {}, [(names[i[0]], i[1]) for i in n["inputs"]], len(n.get("subgraphs", [])))
             for n in told["nodes"]}
    return nodes, [(names[h[0]], h[1]) for h in told["heads"]]

#!/usr/bin/env python3
"""Random graphs of ONNX through ONNX Runtime and through Halftone: values, types, conversions, int8. See ../README.md."""
import argparse
import collections
import json
import multiprocessing
import pickle
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from onnx import defs

import known
import runtime
from checks import Checks
from draw import Draw
from operators import ALL

TOGETHER = 10  # graphs of one opset that one call of halftone-cli takes
OPSETS = (23, 13, 24, 17, 23, 11, 21, 18, 24, 9, 22, 20, 13, 19)  # of batches, in turns
TRIES = 6
LONG, LEAST = 10000, 20  # in so many graphs each operator is drawn at least so often
FIRST_OPSETS = {"QDQ": 10, "function": 13, "com.microsoft": 11}


def options():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cli", required=True, help="halftone-cli")
    parser.add_argument("--graphs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1, help="graph number i of seed S has the seed S * 1000000 + i")
    parser.add_argument("--first", type=int, default=0, help="number of the first graph, a multiple of 10")
    parser.add_argument("--jobs", type=int, default=2, help="batches at a time")
    parser.add_argument("--only", help="operators by this text alone")
    parser.add_argument("--keep", type=Path, help="folder for the smallest graphs of new differences")
    parser.add_argument("--report", type=Path, help="JSON with how often each operator was drawn, and what differs")
    return parser.parse_args()


def is_there(name, opset):
    """Whether the opset has what is drawn by that name."""
    base = name.split()[0]
    if "." in base:
        return opset >= FIRST_OPSETS["com.microsoft"]
    if base in FIRST_OPSETS:
        return opset >= FIRST_OPSETS[base]
    try:
        return not defs.get_schema(base, opset).deprecated
    except defs.SchemaError:
        return False


THERE = {opset: [name for name in ALL if is_there(name, opset)] for opset in set(OPSETS)}


def graph_of(seed, index, opset, only):
    """A graph: its first operator comes in turns, what stands around it is drawn."""
    d = Draw(seed * 1000000 + index, opset)
    there = [n for n in THERE[opset] if not only or only in n]
    d.special = d.chance(0.25)
    d.may_be_empty = not d.special and d.chance(0.04)
    d.floats_only = index % 4 == 0
    count = d.integer(2, 7)
    first = d.integer(0, count - 1)
    turn = there[(index // (TOGETHER * len(OPSETS)) * TOGETHER + index % TOGETHER + seed * 37) % len(there)]
    refused = collections.Counter()
    for k in range(count):
        name = turn if k == first else d.choice(there)
        for _ in range(TRIES):
            before = snapshot(d)
            try:
                with warnings.catch_warnings(), np.errstate(all="ignore"):
                    warnings.simplefilter("ignore")
                    ALL[name](d)
                break
            except runtime.Refused:
                restore(d, before)
                refused[name] += 1
    d.graph.index = index
    return d.graph, refused


def snapshot(d):
    return len(d.graph.groups), list(d.graph.values), list(d.graph.inputs), list(d.graph.constants), len(d.refs), len(d.graph.functions)


def restore(d, before):
    groups, values, inputs, constants, refs, functions = before
    del d.graph.groups[groups:], d.refs[refs:], d.graph.functions[functions:]
    d.graph.values = {n: d.graph.values[n] for n in values}
    d.graph.inputs, d.graph.constants = inputs, constants


def batch_in_child(asked, indices, path):
    """Draws graphs and checks them; what came of it goes into a file."""
    batch = indices[0] // TOGETHER
    opset = OPSETS[batch % len(OPSETS)]
    drawn, refused, graphs = collections.Counter(), collections.Counter(), []
    for index in indices:
        graph, said = graph_of(asked.seed, index, opset, asked.only)
        refused += said
        if graph.groups:
            graphs.append(graph)
            drawn.update(graph.operators())
    with tempfile.TemporaryDirectory(prefix="halftone-differential-") as folder:
        checks = Checks(asked.cli, Path(folder))
        if graphs:
            checks.all(graphs, batch)
    path.write_bytes(pickle.dumps({"drawn": drawn, "refused": refused, "graphs": len(graphs), "told": checks.told, "excused": checks.excused, "new": checks.new}))


class Run:
    def __init__(self, asked, scratch):
        self.asked, self.scratch = asked, scratch
        self.drawn, self.refused, self.told, self.excused = (collections.Counter() for _ in range(4))
        self.new, self.kinds, self.crashes = [], collections.Counter(), []

    def all(self):
        todo = [list(range(k, min(k + TOGETHER, self.asked.first + self.asked.graphs)))
                for k in range(self.asked.first, self.asked.first + self.asked.graphs, TOGETHER)]
        running = []
        while todo or running:
            while todo and len(running) < self.asked.jobs:
                running.append(self.start(todo.pop(0)))
            time.sleep(0.02)
            for item in [r for r in running if not r[0].is_alive()]:
                running.remove(item)
                todo[:0] = self.collect(*item)

    def start(self, indices):
        path = self.scratch / f"{indices[0]}-{len(indices)}.pickle"
        child = multiprocessing.Process(target=batch_in_child, args=(self.asked, indices, path))
        child.start()
        return child, indices, path

    def collect(self, child, indices, path):
        """Takes in what a batch has found; what is to be run again, after a crash, graph by graph."""
        child.join()
        if not path.exists():
            if len(indices) > 1:
                return [[k] for k in indices]
            self.crashes.append(indices[0])
            print(f"graph {indices[0]}: its process ended with {child.exitcode}", flush=True)
            return []
        found = pickle.loads(path.read_bytes())
        path.unlink()
        for name in ("drawn", "refused", "told", "excused"):
            getattr(self, name).update(found[name])
        self.told["graphs"] += found["graphs"]
        if indices[0] % 1000 == 990:
            print(f"{self.told['graphs']} graphs, {len(self.new)} new differences, {sum(self.excused.values())} excused", file=sys.stderr, flush=True)
        for new in found["new"]:
            self.tell(new)
        return []

    def tell(self, new):
        self.new.append(new)
        self.kinds[new["kind"]] += 1
        if self.kinds[new["kind"]] > 3:
            return
        print(f"NEW graph {new['index']} (seed {self.asked.seed}, opset {new['opset']}), {new['what']}: {new['problem']}\n    " + "\n    ".join(new["nodes"]), flush=True)
        if self.asked.keep:
            new["graph"].save(self.asked.keep / f"seed{self.asked.seed}-graph{new['index']}-{len(self.new)}")

    def summary(self):
        print(", ".join(f"{n} {what}" for what, n in sorted(self.told.items())))
        for reason, n in self.excused.most_common():
            print(f"excused {n}: {reason}")
        rare = sorted((self.drawn[op], op) for op in ALL)
        print(f"operators: {sum(n > 0 for n, _ in rare)} of {len(ALL)} drawn, least: {', '.join(f'{op} {n}' for n, op in rare[:5])}")
        if self.asked.graphs >= LONG and rare[0][0] < LEAST and not self.asked.only:
            self.kinds["rare"] += 1
            print(f"NEW drawn less than {LEAST} times: {', '.join(op for n, op in rare if n < LEAST)}")
        if self.asked.report:
            told = [{k: v for k, v in n.items() if k != "graph"} for n in self.new]
            self.asked.report.write_text(json.dumps({"told": self.told, "excused": self.excused, "drawn": self.drawn, "refused": self.refused, "new": told}, indent=1))
        for kind, n in self.kinds.most_common():
            print(f"{n:5} {kind}")
        print(f"{len(self.new)} new differences of {len(self.kinds)} kinds, {len(self.crashes)} crashes")


def main():
    asked = options()
    multiprocessing.set_start_method("fork")
    with tempfile.TemporaryDirectory(prefix="halftone-differential-") as folder:
        run = Run(asked, Path(folder))
        run.all()
    run.summary()
    sys.exit(bool(run.kinds or run.crashes))


if __name__ == "__main__":
    main()

"""What is checked of a network beyond its values: both modes of conversion and int8, against the real MXNet."""
import json
import shutil
from pathlib import Path

import numpy as np

import compare
import graphs
import halftone
from mxnet_process import Crashed
from processor import EXACT_INT8, RUNS_BFLOAT16
from shrink import Untestable

# Steps: where a rounding may change the result by any amount.
JUMPS = {"argmax", "topk", "argsort", "sort", "Cast", "one_hot", "argmin", "sign", "floor", "ceil", "round", "rint", "Embedding", "take", "where"}
CONTROL_FLOW = {"_foreach", "_while_loop", "_cond"}
PEAK = {"bfloat16": 0.03, "int8": 0.03}


class Conversions:
    """`form` chooses one of the ways to convert, so that a run covers them in turn."""

    def __init__(self, checks, known):
        self.checks, self.mxnet, self.program, self.known = checks, checks.mxnet, checks.halftone, known

    def forms(self, index):
        turn = index // 4
        target, stored = ("float16", "bfloat16")[turn % 2], turn // 2 % 2 == 1
        others = (("typed", target, stored), ("int8", "onednn", False), ("int8", "plain", stored), ("int8", "onednn", True))
        return [("as mxnet", target, stored), others[turn // 4 % 4], ("asked", target)]

    def problem(self, graph, form):
        folder = self.checks.evaluated(graph, "conversion")
        kind, *options = form
        if kind == "asked":
            return self.asked(graph, folder, *options)
        if kind == "as mxnet":
            return self.as_mxnet(graph, folder, *options)
        return (self.typed if kind == "typed" else self.int8)(graph, folder, *options)

    def convert(self, folder, out, *options):
        params = folder / "model-0000.params"
        return self.program.call("convert", folder / "model-symbol.json", *(["--params", params] if params.exists() else ["--no-params"]),
                                 "--inputs", folder / "inputs.npz", "--out", folder / out, *options)

    # --- mode mxnet
    def as_mxnet(self, graph, folder, target, stored):
        theirs = self.mxnet.ask(do="convert", folder=str(folder), target=target, cast_params=stored, out="theirs")
        problem = self.convert(folder, "ours", "--mode", "mxnet", "--target", target, *(["--cast-params"] if stored else []))
        if (not theirs["ok"] or theirs.get("error") or theirs.get("types")) and not (problem and "exit -" in problem):
            raise MXNetCannot(theirs.get("error") or theirs.get("types") or theirs.get("refused"))
        if problem:
            return problem
        return graph_problem(folder / "ours-symbol.json", folder / "theirs-symbol.json") or self.types(folder, "ours")

    def asked(self, graph, folder, target):
        """Control flow that is asked for in the target type: mode mxnet takes it where MXNet does, mode typed always."""
        flow = sorted({graphs.operator_of(n) for n in graph.operators()} & CONTROL_FLOW)
        if not flow:
            raise NotAsked("no control flow")
        asked = [word for op in flow for word in ("--target-op", op)]
        problem = self.convert(folder, "typed", "--mode", "typed", "--target", target, *asked) or self.types(folder, "typed")
        if problem:
            return f"mode typed: {problem}"
        problem = self.convert(folder, "ours", "--mode", "mxnet", "--target", target, *asked)
        theirs = self.mxnet.ask(do="convert", folder=str(folder), target=target, asked=flow, out="theirs")
        cannot = theirs.get("error") or theirs.get("types") or theirs.get("refused")
        if cannot:
            raise MXNetCannot(cannot)
        return problem or graph_problem(folder / "ours-symbol.json", folder / "theirs-symbol.json") or self.types(folder, "ours")

    def types(self, folder, out):
        said = self.mxnet.ask(do="loaded", folder=str(folder), prefix=str(folder / out))
        return said.get("types") or (None if said["ok"] else said["refused"])

    # --- mode typed
    def typed(self, graph, folder, target, stored):
        problem = self.convert(folder, "typed", "--mode", "typed", "--target", target, *(["--cast-params"] if stored else []))
        problem = problem or self.types(folder, "typed")
        if problem or target != "bfloat16" or not RUNS_BFLOAT16:
            return problem
        return self.unless_warned_of(self.program.warnings, lambda: self.delivered(graph, folder, "typed", PEAK["bfloat16"], 2.0**-8))

    # --- int8
    def int8(self, graph, folder, form, correct):
        if not graph.params or not {graphs.operator_of(n) for n in graph.nodes} & {"Convolution", "FullyConnected"}:
            return None
        params = folder / "model-0000.params"
        stored = ["--params", params] if params.exists() else ["--no-params"]
        problem = self.program.call("quantize", folder / "model-symbol.json", *stored, "--inputs", folder / "inputs.npz", "--out",
                                    folder / "int8", "--form", form, *(["--correct-biases"] if correct else []))
        if problem:
            return None if "nothing" in problem else problem
        return self.unless_warned_of(self.program.warnings, lambda: self.delivered(graph, folder, "int8", PEAK["int8"], 2.0**-7))

    @staticmethod
    def unless_warned_of(warnings, problem_of):
        """What an export's user is told is no difference: a warning names the node that MXNet refuses or computes otherwise."""
        try:
            problem = problem_of()
        except Crashed as crash:
            problem = f"MXNet crashed at {crash}"
        if problem and any('node "' in line for line in warnings):
            raise WarnedOf(problem)
        return problem

    def delivered(self, graph, folder, out, peak, step):
        """Whether MXNet gives with an export what Halftone shows, but for roundings."""
        said = self.mxnet.ask(do="exported", folder=str(folder), prefix=str(folder / out), out="theirs.npz")
        if not said["ok"]:
            return f"MXNet: {said['refused']}"
        theirs = halftone.expected(folder / "theirs.npz")
        stored = folder / f"{out}-0000.params"
        ours, problem = self.program.run(folder / f"{out}-symbol.json", folder / "inputs.npz", stored if stored.exists() else None, "cpu",
                                         folder / "ours.npz")
        if problem:
            return problem
        if {graphs.operator_of(n) for n in graph.nodes} & JUMPS or (out == "int8" and not EXACT_INT8):
            return types_problem(ours, theirs)
        return types_problem(ours, theirs) or self.far(graph, folder, ours, theirs, peak, step)

    def far(self, graph, folder, ours, theirs, peak, step):
        allowed = self.movement(folder, step)
        least = compare.approximation([graphs.operator_of(n) for n in graph.operators()])
        for k, ((g, _), (w, _)) in enumerate(zip(ours, theirs)):
            if not w.size or w.dtype.kind != "f" or not np.isfinite(w).all():
                continue
            off, largest = np.abs(g.astype(np.float64) - w).max(), np.abs(w).max()
            if not off <= peak * largest + 8 * allowed[k] + least and k not in self.known.unset_heads(graph, self.checks.internals(graph)):
                return f"output {k}: off by {off:.3g}, largest value {largest:.3g}, allowed {peak * largest + 8 * allowed[k]:.3g}"
        return None

    def movement(self, folder, step):
        """How far MXNet's float32 outputs move when everything it reads moves by a rounding of the type."""
        want = self.checks.expected(folder)
        moved = [0.0] * len(want)
        random = np.random.RandomState(1)
        for _ in range(3):
            nudged = graphs.load(folder)
            for name, array in nudged.arrays.items():
                if array.dtype.kind == "f":
                    nudged.arrays[name] = (array * (1 + random.uniform(-step, step, array.shape))).astype(array.dtype)
            for k, (value, _) in enumerate(self.checks.expected(self.checks.evaluated(nudged, "nudged"))):
                if value.size and value.dtype.kind == "f" and value.shape == want[k][0].shape:
                    moved[k] = max(moved[k], float(np.nan_to_num(np.abs(value.astype(np.float64) - want[k][0])).max()))
        return moved


class NotAsked(Untestable):
    """The form does not concern the graph."""


class WarnedOf(Untestable):
    """MXNet does not deliver an export, and Halftone has said so."""


class MXNetCannot(Untestable):
    """MXNet's own conversion fails, or its result does not pass its own inference of types."""


def types_problem(ours, theirs):
    if [(g.shape, t) for g, t in ours] != [(w.shape, t) for w, t in theirs]:
        return f"shapes and types {[(g.shape, t) for g, t in ours]}, expected {[(w.shape, t) for w, t in theirs]}"
    return None


def graph_problem(got, want):
    """How two symbol files differ as graphs; names of casts may differ where MXNet gives one name to several."""
    ours, our_heads = halftone.graph_of(got)
    theirs, their_heads = halftone.graph_of(want)
    names = [n["name"] for n in json.loads(Path(want).read_text())["nodes"]]
    if len(set(names)) < len(names):
        return None if len(json.loads(Path(got).read_text())["nodes"]) == len(names) else "another number of nodes"
    if ours.keys() != theirs.keys():
        return f"nodes missing {sorted(theirs.keys() - ours.keys())[:4]}, extra {sorted(ours.keys() - theirs.keys())[:4]}"
    for name, node in theirs.items():
        if ours[name] != node:
            return f"node {name}: {ours[name]}, expected {node}"
    return None if our_heads == their_heads else f"heads {our_heads}, expected {their_heads}"

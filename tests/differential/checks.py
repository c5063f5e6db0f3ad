"""What is checked of a graph: values and types on both backends, conversions, int8. Each check tells what is wrong, or None."""
import shutil
from pathlib import Path

import numpy as np

import compare
import graphs
import halftone
from mxnet_process import Crashed
from shrink import Untestable, cut, entries_of, single

BACKENDS = ("reference", "cpu")


def is_random(node):
    """Whether no value can be expected: drawn anew by every program."""
    op = graphs.operator_of(node)
    return op == "_shuffle" or (op.startswith(("_random_", "_sample_")) and "_pdf_" not in op)


def random_heads(graph):
    return {k for k, (n, _) in enumerate(graph.heads) if is_random(graph.nodes[n])}


def reduced(limits, graph):
    """Behind a rounding to 16 bit nothing is nearer than that."""
    for kind in ("bfloat16", "float16"):
        stored = any(a.dtype.name == kind for a in graph.arrays.values())
        cast = any((n.get("attrs") or {}).get("dtype") == kind for n in graph.operators())
        if stored or cast:
            limits = limits | {k: max(v, limits[kind]) for k, v in limits.items() if k.startswith("float")}
    return limits


class Checks:
    def __init__(self, mxnet, program, scratch):
        self.mxnet, self.halftone, self.scratch = mxnet, halftone.Halftone(program, scratch), Path(scratch)

    # --- values
    def expected(self, folder):
        return halftone.expected(Path(folder) / "expected.npz")

    def values_of_many(self, folders):
        """{folder: problem} of those whose values or types differ, for several graphs at once."""
        problems = {}
        empty = [f for f in folders if graphs.load(f).may_be_empty]
        for part in (empty, [f for f in folders if f not in empty]):
            self.add_problems(part, problems)
        return problems

    def add_problems(self, folders, problems):
        for backend in BACKENDS if folders else ():
            together = self.halftone.run_together(folders, backend)
            for folder in folders:
                got, problem = (together[folder], None) if together else self.halftone.run_folder(folder, backend)
                problem = problem or self.compared(folder, got)
                if problem and folder not in problems:
                    problems[folder] = f"{backend}: {problem}"

    def compared(self, folder, got, limits=compare.NEAR, left_out=frozenset()):
        graph = graphs.load(folder)
        limits = compare.limits_for([graphs.operator_of(n) for n in graph.operators()], reduced(limits, graph))
        return compare.differences(got, self.expected(folder), limits, random_heads(graph) | left_out)

    def evaluated(self, graph, folder="again"):
        """Saves a graph and lets MXNet run it; the folder."""
        folder = self.scratch / folder
        shutil.rmtree(folder, ignore_errors=True)
        graph.save(folder)
        said = self.mxnet.ask(do="evaluate", folder=str(folder))
        if not said["ok"]:
            raise Untestable(said["refused"])
        return folder

    def value_problem(self, graph, limits=compare.NEAR):
        folder = self.evaluated(graph)
        for backend in BACKENDS:
            got, problem = self.halftone.run_folder(folder, backend)
            problem = problem or self.compared(folder, got, limits)
            if problem:
                return f"{backend}: {problem}"
        return None

    def wrong_by_itself(self, graph):
        """Every operator of the graph that differs on its own, reading what MXNet gives it: [(graph of it, problem)]."""
        values, found = self.internals(graph), []
        for at, node in enumerate(graph.nodes):
            if node["op"] == "null" or not all(i in values for i in graph.inputs_of(node)):
                continue
            alone = single(graph, at, values)
            try:
                problem = alone and self.value_problem(alone, compare.TIGHT)
            except (Crashed, Untestable):
                continue
            if problem:
                found.append((alone, problem))
        return found

    def excuse(self, known, graph):
        """The entry of the list that explains a difference of one operator on both backends, or None."""
        folder, entry = self.evaluated(graph, "excused"), known.entry_of(graph)
        for backend in BACKENDS if entry else ():
            got, problem = self.halftone.run_folder(folder, backend)
            if problem or not known.explains(entry, graph, got, self.expected(folder)):
                return None
        return entry

    def unset(self, known, graph):
        """The entries of the list on whose unwritten memory all heads hang that differ; none where another differs as well."""
        unset = known.unset_heads(graph, self.internals(graph))
        folder = self.evaluated(graph, "excused")
        for backend in BACKENDS if unset else ():
            got, problem = self.halftone.run_folder(folder, backend)
            if problem or self.compared(folder, got, left_out=frozenset(unset)):
                return []
        return list(unset.values())

    def magnifies_approximation(self, graph):
        """Whether all agrees once the operators that are known to be approximate give MXNet's own values: what reads these magnifies what they
        may be off, which wrong_by_itself() has held to its limits."""
        values = self.internals(graph)
        given = [e for e in entries_of(graph) if e in values and graphs.operator_of(graph.nodes[e[0]]) in compare.ROUNDED.keys() | compare.APPROXIMATE.keys()]
        rest = given and cut(graph, given, values)
        return bool(rest) and self.value_problem(rest) is None

    def internals(self, graph):
        """{(node, output): array} of everything that is read or a head; what is stored in bfloat16 is left out."""
        folder = self.scratch / "internals"
        shutil.rmtree(folder, ignore_errors=True)
        graph.save(folder)
        entries = [e for e in entries_of(graph) if graph.nodes[e[0]]["op"] != "null"]
        said = self.mxnet.ask(do="evaluate", folder=str(folder), internals=entries)
        if not said["ok"]:
            raise Untestable(said["refused"])
        values = {(n, 0): graph.arrays[node["name"]] for n, node in enumerate(graph.nodes) if node["op"] == "null"}
        for entry, (value, kind) in zip(entries, self.expected(folder)):
            if kind != graphs.BFLOAT16:
                values[entry] = value
        return values

    def is_ill_conditioned(self, graph):
        """Whether MXNet's own outputs move about as much as the difference when its inputs move by a rounding."""
        folder = self.evaluated(graph, "conditioned")
        want = self.expected(folder)
        moved = [0.0] * len(want)
        random = np.random.RandomState(1)
        for _ in range(4):
            nudged = graphs.load(folder)
            for name, array in nudged.arrays.items():
                if array.dtype.kind == "f":
                    nudged.arrays[name] = (array * (1 + random.uniform(-4e-7, 4e-7, array.shape))).astype(array.dtype)
            for k, (value, _) in enumerate(self.expected(self.evaluated(nudged, "nudged"))):
                if value.shape == want[k][0].shape:
                    moved[k] = np.maximum(moved[k], np.abs(finite(value) - finite(want[k][0])))
        for backend in BACKENDS:
            got, problem = self.halftone.run_folder(folder, backend)
            if problem:
                return False
            for k, ((g, _), (w, _)) in enumerate(zip(got, want)):
                if k in random_heads(graph) or g.shape != w.shape or not g.size:
                    continue
                off = np.abs(finite(g) - finite(w))
                near = compare.difference(g, "", w, "", {"": compare.NEAR["float32"]}) is None
                if not near and off.max() > 4 * np.max(moved[k]):
                    return False
        return True


def finite(array):
    return np.nan_to_num(array.astype(np.float64), nan=1e300, posinf=1e299, neginf=-1e299)

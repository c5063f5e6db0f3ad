"""What is checked of graphs of one opset: values and types on both backends, conversions to 16 bit, int8. Runs in a process of its own, which may crash."""
import collections
import copy
import hashlib

import numpy as np
import onnx

import compare
import known
import runtime
import written
from halftone import Halftone, kind_of
from model import Graph, model_of, prefixed

BACKENDS = ("reference", "cpu")
# How networks are converted besides mode typed in float16, in turns: name, arguments, whether ONNX Runtime has kernels for the result.
FORMS = [("all", ["--target", "float16", "--mode", "all"], True), ("bfloat16", ["--target", "bfloat16"], False),
         ("bare", ["--target", "float16", "--no-cast-params", "--no-keep-io-types"], True), ("tvm", ["--target", "float16", "--mode", "tvm"], True),
         ("all bare", ["--target", "float16", "--mode", "all", "--no-cast-params"], True), ("bfloat16 all", ["--target", "bfloat16", "--mode", "all"], False)]
# Whose values are compared, in turns: name, arguments, type.
FILES = [("typed", ["--target", "float16"], "float16"), ("bfloat16", ["--target", "bfloat16"], "bfloat16"), ("all", ["--target", "float16", "--mode", "all"], "float16"),
         ("bfloat16 all", ["--target", "bfloat16", "--mode", "all"], "bfloat16"), ("tvm", ["--target", "float16", "--mode", "tvm"], "float16"),
         ("bare", ["--target", "float16", "--mode", "all", "--no-keep-io-types"], "float16")]


class Checks:
    def __init__(self, program, scratch):
        self.program, self.scratch = Halftone(program), scratch
        self.told, self.excused, self.new = collections.Counter(), collections.Counter(), []

    def all(self, graphs, batch):
        """Checks graphs of one opset together, and what differs alone."""
        named = [prefixed(g, f"g{g.index}_") for g in graphs]
        for backend in BACKENDS:
            self.values(named, graphs, backend)
        if batch % 2 == 0:
            self.chained(named, graphs)
        self.conversions(named, graphs, batch)

    # --- values
    def run(self, graphs, backend, heads):
        """Outputs of graphs in one file."""
        path = self.scratch / "graphs.onnx"
        onnx.save(model_of(graphs, heads), path)
        feeds = {}
        for graph in graphs:
            feeds |= graph.feeds()
        return self.program.run(path, feeds, backend, self.scratch)

    def values(self, named, graphs, backend):
        """Each group reads what ONNX Runtime gives it."""
        cut = [g.apart() for g in named]
        got, _ = self.run(cut, backend, [g.given() for g in cut])
        for graph, apart, plain in zip(named, cut, graphs):
            mine, problem = got, None
            if got is None:
                mine, problem = self.run([apart], backend, [apart.given()])
            if mine is None:
                self.one_by_one(apart, plain, backend)
            else:
                for k, group in enumerate(apart.groups):
                    self.judge(apart, group, mine, backend, plain, k)

    def one_by_one(self, apart, plain, backend):
        """A graph that does not run: which of its groups?"""
        found = False
        for k, group in enumerate(apart.groups):
            part = apart.only([group])
            mine, problem = self.run([part], backend, [group.gives])
            if mine is None:
                found = True
                self.tell(apart, group, None, problem, backend, plain, k)
            else:
                self.judge(apart, group, mine, backend, plain, k)
        if not found:
            self.new_one(plain, plain.groups, backend, "runs group by group, and not as a whole")

    def judge(self, graph, group, got, backend, plain, k):
        problem = self.problem(graph, group, got, compare.TIGHT)
        if problem:
            self.tell(graph, group, [got.get(n) for n in group.gives], problem, backend, plain, k)

    @staticmethod
    def problem(graph, group, got, limits):
        reals, codes = compare.limits_of(group.op, limits)
        for name in group.gives:
            if name not in got:
                return f"no output {name}"
            want = graph.values[name]
            if group.values_known:
                problem = compare.difference(got[name], want, reals, codes)
            else:
                problem = None if (got[name].shape, got[name].dtype) == (want.shape, want.dtype) else f"{got[name].dtype} {got[name].shape}, expected {want.dtype} {want.shape}"
            if problem:
                return problem
        return None

    def tell(self, graph, group, got, problem, backend, plain, k):
        entry = known.excuse(known.Case(graph, group, got, problem, backend))
        if entry:
            self.excused[entry.reason] += 1
        else:
            self.new_one(plain, [plain.groups[k]], backend, problem)

    def new_one(self, plain, groups, what, problem):
        self.new.append({"index": plain.index, "opset": plain.opset, "what": what, "problem": problem, "operators": [g.op for g in groups],
                         "nodes": [text_of(n) for g in groups for n in g.nodes][:6], "kind": f"{[g.op for g in groups][:3]} {kind_of(problem)}",
                         "graph": plain.only(groups)})

    def chained(self, named, graphs):
        """Graphs as they are; what differs here alone is new unless ONNX Runtime's own values move as much with its inputs."""
        got, _ = self.run(named, "cpu", None)
        for graph, plain in zip(named, graphs):
            mine = got
            if mine is None:
                mine, problem = self.run([graph], "cpu", None)
            if mine is None:
                continue  # told by one_by_one()
            for name in graph.leaves():
                group = graph.group_of(name)
                problem = group.values_known and name in mine and compare.difference(mine[name], graph.values[name], *chain_limits(graph, group))
                if problem and not self.is_ill_conditioned(graph, name, mine[name]) and not self.is_explained(plain):
                    self.new_one(plain, plain.groups, "chained", f"{name}: {problem}")

    def is_explained(self, plain):
        return any(n["index"] == plain.index for n in self.new) or any(True for g in plain.groups if g.op in {op for e in known.ENTRIES for op in e.ops.split()})

    def is_ill_conditioned(self, graph, name, got):
        """Whether ONNX Runtime's own output moves about as much as the difference when its inputs move by a rounding."""
        want, moved = graph.values[name], 0.0
        random = np.random.RandomState(1)
        for _ in range(4):
            feeds = {}
            for k, v in graph.feeds().items():
                with np.errstate(over="ignore"):
                    feeds[k] = v * (1 + random.uniform(-1e-6, 1e-6, v.shape)).astype(v.dtype) if v.dtype.kind == "f" else v
            try:
                value, = runtime.run(model_of([graph], [[name]]), feeds)
            except runtime.Refused:
                return True
            if value.shape != want.shape or got.shape != want.shape or (want.dtype.kind != "f" and not np.array_equal(value, want)):
                return True
            if want.dtype.kind == "f" and want.size:
                with np.errstate(invalid="ignore", over="ignore"):
                    moved = np.maximum(moved, np.abs(np.nan_to_num(value.astype(np.float64) - want)))
        if want.dtype.kind != "f":
            return False
        with np.errstate(invalid="ignore", over="ignore"):
            off = np.abs(np.nan_to_num(got.astype(np.float64) - want))
            return bool(np.all(off <= 8 * moved + 1e-30)) and bool(np.isfinite(got).all() == np.isfinite(want).all())

    # --- conversions
    def conversions(self, named, graphs, batch):
        fit = [(g, p) for g, p in zip(named, graphs) if not ends_checker(g)]
        if fit and source_problem([g for g, _ in fit]) is not None:
            fit = [(g, p) for g, p in fit if source_problem([g]) is None]
        self.told["not converted: the checker or ONNX Runtime refuses the source as a whole"] += len(graphs) - len(fit)
        if not fit:
            return
        self.form([g for g, _ in fit], [p for _, p in fit], "typed", ["--target", "float16"], True)
        self.form([g for g, _ in fit], [p for _, p in fit], *FORMS[batch % len(FORMS)])
        if batch % 2 == 0:
            self.files([g for g, _ in fit], [p for _, p in fit], batch // 2)
        else:
            self.int8([g for g, _ in fit], [p for _, p in fit], ("qdq", "qoperator")[batch // 2 % 2])

    def form(self, named, graphs, name, arguments, loads):
        together = self.converted(named, arguments, loads)
        self.told[f"{name}: graphs converted"] += len(named)
        if together is None:
            return
        before = len(self.new), self.excused.total()
        for graph, plain in zip(named, graphs):
            problem = self.converted([graph], arguments, loads)
            if problem:
                self.tell_file(plain, *self.smaller(graph, plain, lambda g: self.converted([g], arguments, loads), problem, name))
        if (len(self.new), self.excused.total()) == before:
            self.new_one(graphs[0], graphs[0].groups, name, f"graphs {[g.index for g in graphs]} together: {together}")

    def tell_file(self, plain, groups, what, problem):
        """What is wrong with a written file."""
        entry = known.excuse_file(groups, what, problem)
        if entry:
            self.excused[entry.reason] += 1
        else:
            self.new_one(plain, groups, what, problem)

    # --- values of converted files
    def files(self, named, graphs, batch):
        """Groups converted one beside the other: what ONNX Runtime and Halftone compute from the same file, of the same inputs."""
        name, arguments, precision = FILES[batch % len(FILES)]
        backend = BACKENDS[batch // len(FILES) % 2]
        cut = [g.apart() for g in named]
        cut = [g.only([group for group in g.groups if written.is_flat(group)]) for g in cut]
        answers = self.both(cut, arguments, backend)
        for graph, plain in zip(cut, graphs):
            want, got = answers or self.both([graph], arguments, backend) or (None, None)
            if want is None:
                self.told[f"{name}: graphs whose values are not compared: no file, or ONNX Runtime refuses it"] += bool(graph.groups)
                continue
            self.told[f"{name}: graphs whose values are compared"] += 1
            for group in graph.groups:
                self.judge_file(graph, group, want, got, plain, f"{name}, values on {backend}", precision, backend)

    def both(self, graphs, arguments, backend):
        """(what ONNX Runtime gives, what Halftone gives, or says); None where there is no file, or ONNX Runtime refuses it. Groups that it names are left out."""
        source, once = self.scratch / "source.onnx", self.scratch / "once.onnx"
        refused = "there is one"
        while refused and any(g.groups for g in graphs):
            onnx.save(model_of(graphs, [g.given() for g in graphs]), source)
            if self.program.call("convert", source, *arguments, "--out", once):
                return None
            model = onnx.load(once)
            feeds = {k: v for g in graphs for k, v in g.feeds().items()}
            try:
                twin = written.in_float32(model)
                want = runtime.run(twin, written.as_declared(twin, written.as_declared(model, feeds)))
                refused = ""
            except runtime.Refused as error:
                refused = known.lacks_kernel(error)
                if not refused:
                    return None
                for graph in graphs:
                    graph.groups = [g for g in graph.groups if all(n.name != refused for n in g.nodes)]
        if refused:
            return None
        got, problem = self.program.run(once, written.as_declared(model, feeds), backend, self.scratch)
        if got is None:
            return None if len(graphs) > 1 else ({}, problem)
        names = [o.name for o in model.graph.output]
        return {n: w.astype(np.float16) if got[n].dtype == np.float16 else w for n, w in zip(names, want)}, got

    def judge_file(self, graph, group, want, got, plain, what, precision, backend):
        changed = copy.copy(graph)
        if isinstance(got, str):
            problem, mine = got, None
        else:
            changed.values = graph.values | {name: want[name] for name in group.gives}
            problem = self.problem(changed, group, got, compare.limits_in(precision, len(group.nodes) > 1))
            mine = [got.get(n) for n in group.gives]
        if not problem:
            return
        rounded = copy.copy(changed)
        rounded.values = {k: written.rounded(v, precision) for k, v in changed.values.items()}
        entry = known.excuse(known.Case(changed, group, mine, problem, backend, precision)) or known.excuse(known.Case(rounded, group, mine, problem, backend, precision))
        entry = entry or known.excuse_file([group], what, problem)
        if entry:
            self.excused[entry.reason] += 1
        else:
            self.new_one(plain, [g for g in plain.groups if f"g{plain.index}_{g.nodes[0].name}" == group.nodes[0].name], what, problem)

    def smaller(self, graph, plain, problem_of, problem, name):
        """The groups that fail alone, or as few as fail together."""
        groups = list(graph.groups)
        changed = True
        while changed and len(groups) > 1:
            changed = False
            for k in range(len(groups)):
                rest = graph.only(groups[:k] + groups[k + 1:])
                found = problem_of(rest) if source_problem([rest]) is None else None
                if found and kind_of(found)[:40] == kind_of(problem)[:40]:
                    groups, problem, changed = rest.groups, found, True
                    break
        places = [graph.groups.index(g) for g in groups]
        return [plain.groups[k] for k in places], name, problem

    def converted(self, graphs, arguments, loads):
        source, once, twice = (self.scratch / f"{n}.onnx" for n in ("source", "once", "twice"))
        onnx.save(model_of(graphs), source)
        problem = self.program.call("convert", source, *arguments, "--out", once) or file_problem(once, loads)
        problem = problem or self.program.call("convert", once, *arguments, "--out", twice)
        if problem:
            return problem
        if digest(once) != digest(twice) and "--no-keep-io-types" not in arguments:
            return "converting twice: " + changed(once, twice)
        return None

    def int8(self, named, graphs, form):
        with_products = [(g, p) for g, p in zip(named, graphs) if {group.op for group in g.groups} & {"Conv", "MatMul", "Gemm"} and g.feeds()]
        for k, (graph, plain) in enumerate(with_products):
            problem = self.quantized(graph, form)
            self.told[f"int8 {form}: graphs"] += 1
            if problem:
                self.tell_file(plain, *self.smaller(graph, plain, lambda g: self.quantized(g, form), problem, f"int8 {form}"))
            elif k == 0 and self.scratch.joinpath("int8.onnx").exists():
                self.codes(graph, plain, form)

    def codes(self, graph, plain, form):
        """The codes of a quantized file, in its order, as far as all before them agree: off by one at most, next to a tie. Where all agree, so do its outputs."""
        if any(v.dtype.kind == "f" and not np.isfinite(v).all() for v in graph.values.values()):
            self.told[f"int8 {form}: codes not compared: of NaN and infinities there are none"] += 1
            return
        model, shown = onnx.load(self.scratch / "int8.onnx"), self.scratch / "shown.onnx"
        names = written.show_codes(model)
        onnx.save(model, shown)
        feeds = written.as_declared(model, graph.feeds())
        outputs = [o.name for o in model.graph.output]
        try:
            want = dict(zip(outputs, runtime.run(str(shown), feeds)))
        except runtime.Refused as error:
            return self.new_one(plain, plain.groups, f"int8 {form}", f"ONNX Runtime does not run the file: {error}")
        backend = BACKENDS[graph.index // 2 % 2]
        got, problem = self.program.run(shown, feeds, backend, self.scratch)
        what = f"int8 {form}, values on {backend}"
        if got is None:
            return self.new_one(plain, plain.groups, what, problem)
        self.told[f"int8 {form}: graphs whose codes are compared"] += 1
        for name in names:
            problem = compare.difference(got[name], want[name], {}, 1)
            if problem:
                return self.new_one(plain, plain.groups, what, f"codes {name}: {problem}")
            if not np.array_equal(got[name], want[name]):
                self.told[f"int8 {form}: graphs with codes next to a tie"] += 1
                return None
        for name in graph.leaves():
            group = graph.group_of(name)
            problem = group.values_known and compare.difference(got[name], want[name], *chain_limits(graph, group))
            if problem and not self.is_explained(plain) and not self.is_ill_conditioned(graph, name, got[name]):
                self.new_one(plain, plain.groups, what, f"{name}: {problem}")
        return None

    def quantized(self, graph, form):
        source, out, feeds = self.scratch / "source.onnx", self.scratch / "int8.onnx", self.scratch / "fed.npz"
        out.unlink(missing_ok=True)
        onnx.save(graph.model(), source)
        np.savez(feeds, **graph.feeds())
        problem = self.program.call("quantize", source, "--inputs", feeds, "--form", form, "--out", out)
        if problem:
            return None if "nothing" in problem or "no examples" in problem or ("exit 3" in problem and "no kernel" in problem) else problem
        return file_problem(out, True)


def chain_limits(graph, group):
    """Roundings of all types that a graph holds reach its end; codes are off by one, and what reads them by their steps."""
    kinds = {v.dtype.name for v in graph.values.values()}
    if set(graph.operators()) <= compare.EXACT:
        return {}, 0
    limits = dict(compare.NEAR)
    if set(graph.operators()) & compare.SINGLE:
        limits["float64"] = limits["float32"]
    if "float16" in kinds:
        limits |= {k: compare.NEAR["float16"] for k in ("float32", "float64")}
    return limits, 1 if set(graph.operators()) & compare.TIES else 0


def ends_checker(graph):
    """onnx.checker 1.22 reads a type that it does not know, and ends the process: EyeLike of what an operator of another domain gives."""
    foreign = {o for g in graph.groups for n in g.nodes if n.domain not in ("", "local") for o in n.output}
    return any(n.op_type == "EyeLike" and n.input[0] in foreign for g in graph.groups for n in g.nodes)


def source_problem(graphs):
    model = model_of(graphs)
    try:
        onnx.checker.check_model(model, full_check=True)
        runtime.session(model)
    except Exception as error:
        return str(error)
    return None


def file_problem(path, loads):
    """What the checker or ONNX Runtime says of a written file."""
    try:
        onnx.checker.check_model(str(path), full_check=True)
    except Exception as error:
        return "checker: " + " ".join(str(error).split())[:400]
    if not loads:
        return None
    try:
        runtime.session(str(path))
    except runtime.Refused as error:
        return f"ONNX Runtime: {error}"
    return None


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def changed(once, twice):
    """What a second conversion has changed."""
    a, b = (onnx.load(p).graph for p in (once, twice))
    ours, theirs = ({n.name: text_of(n) for n in g.node} for g in (a, b))
    if ours.keys() != theirs.keys():
        return f"nodes gone {sorted(ours.keys() - theirs.keys())[:4]}, new {sorted(theirs.keys() - ours.keys())[:4]}"
    other = [f"{ours[n]} became {theirs[n]}" for n in ours if ours[n] != theirs[n]]
    if other:
        return other[0]
    return "order of nodes" if [n.name for n in a.node] != [n.name for n in b.node] else "something beside the nodes"


def text_of(node):
    attributes = " ".join(f"{a.name}={onnx.helper.printable_attribute(a).split('=', 1)[-1].strip()[:60]}" for a in node.attribute)
    return f"{', '.join(node.output)} = {node.domain + '.' if node.domain else ''}{node.op_type}({', '.join(node.input)}) {attributes}".strip()[:400]

#!/usr/bin/env python3
"""Random graphs through the real MXNet 1.9.1 and through Halftone: values, types, conversions, int8. See README.md."""
import argparse
import collections
import json
import shutil
import sys
import tempfile
import time
import warnings
from pathlib import Path

import compare
import graphs
from checks import Checks
from conversions import Conversions, MXNetCannot, NotAsked, WarnedOf
from known import Known, example_graph, oracle_problem
from mxnet_process import Crashed, MXNet
from operators import ALL
from shrink import Shrinker, Untestable

TOGETHER = 10  # graphs that one call of halftone-cli runs
LONG, LEAST = 20000, 50  # in so many graphs each operator is drawn at least so often
SHARE_OF, SHARE = 1000, 0.03  # of so many graphs and more at most this share is excused


def options():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cli", required=True, help="halftone-cli")
    parser.add_argument("--graphs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1, help="graph number i of seed S has the seed S * 1000000 + i")
    parser.add_argument("--first", type=int, default=0, help="number of the first graph")
    parser.add_argument("--keep", type=Path, help="folder for the smallest graphs of new differences")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="ends early, and says so")
    parser.add_argument("--report", type=Path, help="JSON with how often each operator was drawn, and what was excused")
    parser.add_argument("--tally", type=Path, help="JSON that sums up several runs: read, added to, and judged as one run")
    return parser.parse_args()


class Run:
    def __init__(self, asked, scratch):
        self.asked, self.scratch = asked, scratch
        self.mxnet = MXNet(scratch)
        self.checks = Checks(self.mxnet, asked.cli, scratch)
        self.known = Known()
        self.conversions = Conversions(self.checks, self.known)
        self.drawn, self.excused, self.told = collections.Counter(), collections.Counter(), collections.Counter()
        self.new = []
        self.excused_graphs = 0

    def all(self):
        """Runs the graphs; the number of new differences."""
        pending, ends = [], time.monotonic() + self.asked.seconds
        for index in range(self.asked.first, self.asked.first + self.asked.graphs):
            if time.monotonic() > ends:
                print(f"time is up after {index - self.asked.first} graphs")
                break
            folder = self.scratch / f"graph-{index}"
            told = self.make(index, folder)
            if told:
                pending.append((index, folder, told))
            if len(pending) == TOGETHER:
                self.check(pending)
                pending = []
        if pending:
            self.check(pending)

    def make(self, index, folder):
        try:
            said = self.mxnet.ask(do="make", seed=self.asked.seed * 1000000 + index, index=index, folder=str(folder))
        except Crashed as crash:
            self.told["MXNet crashed"] += 1
            print(f"graph {index}: MXNet crashed at {crash}", flush=True)
            return None
        if not said["ok"]:
            self.told["refused by MXNet"] += 1
            return None
        self.told["graphs"] += 1
        self.drawn.update(said["operators"])
        return said

    def check(self, pending):
        problems = self.checks.values_of_many([folder for _, folder, _ in pending])
        for index, folder, told in pending:
            graph = graphs.load(folder)
            if folder in problems:
                self.explain_values(index, graph, problems[folder])
            elif told["network"]:
                self.check_conversions(index, graph)
            shutil.rmtree(folder)

    # --- values
    def explain_values(self, index, graph, problem):
        """A difference is new unless the list has it, or the graph magnifies roundings."""
        try:
            alone = self.checks.wrong_by_itself(graph)
            entries = [self.checks.excuse(self.known, a) for a, _ in alone]
            unexplained = [a for (a, _), entry in zip(alone, entries) if not entry and not self.checks.is_ill_conditioned(a)]
            unset = [] if alone else self.checks.unset(self.known, graph)
            together = not alone and not unset  # no operator differs by itself
            if together and self.checks.magnifies_approximation(graph):
                self.told["a listed approximation, magnified"] += 1
            elif unexplained or (together and not self.checks.is_ill_conditioned(graph)):
                self.tell_new(index, "values", unexplained[0] if unexplained else graph, problem, self.unlisted_problem)
            elif unset or any(entries):
                self.excuse(index, [*unset, *(e for e in entries if e)])
            else:
                self.told["ill-conditioned"] += 1
        except (Crashed, Untestable) as trouble:
            self.tell_new(index, "values", graph, f"{problem}; not explained: {trouble}", lambda _: None)

    def unlisted_problem(self, graph):
        """What smaller graphs are to have as well: a difference that the list does not explain."""
        problem = self.checks.value_problem(graph, compare.TIGHT)
        listed = problem and len(graph.operators()) == 1 and self.checks.excuse(self.known, graph)
        return None if listed else problem

    def excuse(self, index, entries):
        self.excused_graphs += 1
        for entry in entries:
            self.excused[entry["id"]] += 1
        print(f"graph {index}: excused by {', '.join(sorted({e['id'] for e in entries}))}", flush=True)

    # --- conversions
    def check_conversions(self, index, graph):
        for form in self.conversions.forms(index):
            name = " ".join(map(str, form))
            try:
                problem = self.conversions.problem(graph, form)
            except NotAsked:
                continue
            except MXNetCannot:
                self.told["MXNet's own conversion fails"] += 1
                continue
            except WarnedOf:
                self.told[f"{form[0]}: not delivered, and warned of"] += 1
                continue
            except (Crashed, Untestable) as trouble:
                self.told["MXNet does not run parts"] += 1
                print(f"graph {index}, {name}: {trouble}", flush=True)
                continue
            self.told[f"{form[0]}: checked"] += 1
            entry = self.conversion_entry(form) if problem else None
            if entry:
                self.excuse(index, [entry])
            elif problem:
                self.tell_new(index, name, graph, problem, lambda g, form=form: self.conversions.problem(g, form))

    def conversion_entry(self, form):
        """The entry of the list that explains what conversions.problem() has just told, or None."""
        return self.known.excuse_conversion(self.scratch / "conversion") if form[0] in ("as mxnet", "asked") else None

    # --- what is new
    def tell_new(self, index, what, graph, problem, fails):
        shrinker = Shrinker(self.checks.internals, fails)
        try:
            small = shrinker.shrink(graph)
            problem = shrinker.fails(small) or problem
        except (Crashed, Untestable):
            small = graph
        self.new.append(f"seed {self.asked.seed}, graph {index}, {what}")
        print(f"NEW graph {index} (seed {self.asked.seed}), {what}: {problem}\n    "
              + "; ".join(f"{n['op']} {n.get('attrs') or ''}" for n in small.operators()), flush=True)
        if self.asked.keep:
            small.save(self.asked.keep / f"seed{self.asked.seed}-graph{index}")

    # --- the list itself
    def check_list(self):
        """Each entry's smallest graph: Halftone agrees with the definition, MXNet does not (or leaves memory as it was)."""
        for entry in self.known.entries:
            graph = example_graph(entry)
            if entry.get("check"):
                self.check_conversion_entry(entry, graph)
                continue
            try:
                folder = self.checks.evaluated(graph)
            except (Crashed, Untestable) as trouble:
                self.fault(entry, str(trouble))
                continue
            got, problem = self.checks.halftone.run_folder(folder, "reference")
            theirs = self.checks.expected(folder)
            if self.known.entry_of(graph) is not entry:
                problem = "its condition does not hold for its own graph"
            problem = problem or oracle_problem(entry, graph, got, theirs)
            if not problem and not entry.get("unset") and not oracle_problem(entry, graph, theirs, theirs):
                problem = "MXNet gives what the definition says"
            if problem:
                self.fault(entry, problem)

    def check_conversion_entry(self, entry, graph):
        form = entry["check"], "float16", False
        problem = self.conversions.problem(graph, form)
        if not problem or self.conversion_entry(form) is not entry:
            self.fault(entry, problem or "Halftone and MXNet agree")

    def fault(self, entry, problem):
        self.new.append(entry["id"])
        print(f"NEW list entry {entry['id']}: {problem}", flush=True)

    def summary(self):
        self.told["graphs excused"] = self.excused_graphs
        if self.asked.report:
            self.write(self.asked.report)
        if self.asked.tally:
            self.add_former(self.asked.tally)
            self.write(self.asked.tally)
        graphs_run = max(self.told["graphs"], 1)
        share = self.told["graphs excused"] / graphs_run
        print(", ".join(f"{n} {what}" for what, n in sorted(self.told.items())))
        print(f"excused: {share:.2%} of the graphs: {dict(self.excused.most_common())}")
        rare = sorted((self.drawn[op], op) for op in ALL)
        print(f"operators: {len(ALL)}, least drawn: {', '.join(f'{op} {n}' for n, op in rare[:5])}")
        if graphs_run >= SHARE_OF and share > SHARE:
            self.fault_of_run("excused", f"more than {SHARE:.0%} of the graphs are excused")
        if graphs_run >= LONG and rare[0][0] < LEAST:
            self.fault_of_run("rare", f"drawn less than {LEAST} times: {', '.join(op for n, op in rare if n < LEAST)}")
        print(f"{len(self.new)} new differences")

    def fault_of_run(self, what, text):
        self.new.append(what)
        print(f"NEW {text}")

    def write(self, path):
        path.write_text(json.dumps({"told": self.told, "excused": self.excused, "drawn": self.drawn, "new": self.new}, indent=1))

    def add_former(self, path):
        """Adds what former runs have summed up."""
        if path.exists():
            former = json.loads(path.read_text())
            for mine, name in ((self.told, "told"), (self.excused, "excused"), (self.drawn, "drawn")):
                mine.update(former[name])
            self.new = former["new"] + self.new


def main():
    asked = options()
    warnings.simplefilter("ignore")
    print(f"seed {asked.seed}, graphs {asked.first} to {asked.first + asked.graphs - 1}", flush=True)
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="halftone-differential-") as scratch:
        run = Run(asked, Path(scratch))
        run.check_list()
        run.all()
        run.mxnet.stop()
        run.summary()
    print(f"{time.monotonic() - begin:.0f} s")
    sys.exit(1 if run.new else 0)


if __name__ == "__main__":
    main()

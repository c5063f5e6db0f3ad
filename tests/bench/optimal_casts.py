#!/usr/bin/env python3
"""Do mode typed's casts cost the least that they can? optimal_casts.py CAST_PROBLEMS [--models FOLDER …] [--random N] [--target TYPE]

CAST_PROBLEMS is the program of that name (cmake --build BUILD --target cast_problems), which tells the choices of a network and what was chosen. Here they are posed
once more as a linear program, whose relaxation is integral, and solved by HiGHS (scipy): the optimum has to be what was chosen. Networks are those of FOLDER (default:
$HALFTONE_SHARED/models; *-symbol.json and *.onnx are searched for, and shapes of inputs taken from a preprocess.json beside them) and N random graphs of the tests.
One line each: choices, casts and bytes of the tensors that they touch by the rules alone ("before") and as chosen ("after"). Needs numpy and scipy.
"""
import argparse
import json
import os
import subprocess
from pathlib import Path

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_matrix

SHARED = os.environ.get("HALFTONE_SHARED", "")
HALF, FLOAT32, FIRST = 0, 1, 2

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("program", type=Path)
parser.add_argument("--models", type=Path, nargs="*", default=[Path(SHARED) / "models"])
parser.add_argument("--random", type=int, default=0)
parser.add_argument("--target", default="float16")
arguments = parser.parse_args()


def least(problem):
    """The optimum of the relaxation. Variables: which share of each term is 16 bit, then a cast down and one up of each tensor."""
    terms = FIRST + problem["choices"] + problem["variables"]
    tensors = problem["tensors"]
    rows, columns, values = [], [], []
    count = 0

    def at_most_zero(*parts):
        nonlocal count
        for column, value in parts:
            rows.append(count)
            columns.append(column)
            values.append(value)
        count += 1

    for k, (producer, readers, _, _) in enumerate(tensors):
        up, down = terms + 2 * k, terms + 2 * k + 1
        for reader in set(readers) - {producer}:
            at_most_zero((producer, 1), (reader, -1), (up, -1))
            at_most_zero((reader, 1), (producer, -1), (down, -1))
    for node, other in problem["required"]:
        if node != other:
            at_most_zero((node, 1), (other, -1))
    cost = np.zeros(terms + 2 * len(tensors))
    for k, tensor in enumerate(tensors):
        cost[terms + 2 * k:terms + 2 * k + 2] = tensor[2]
    bounds = [(1, 1), (0, 0)] + [(0, 1)] * (terms - FIRST) + [(0, None)] * (2 * len(tensors))
    if not count:
        return 0.0
    matrix = csr_matrix((values, (rows, columns)), shape=(count, len(cost)))
    scale = max(1.0, float(cost.max()))
    done = linprog(cost / scale, A_ub=matrix, b_ub=np.zeros(count), bounds=bounds, method="highs")
    if done.status != 0:
        raise SystemExit(f"{problem['name']}: HiGHS says {done.message}")
    return done.fun * scale


def figures(problem, half):
    """Casts, their bytes and their cost where the choices are as given; None for the cost where that is not allowed."""
    is_half = [True, False, *half]
    casts = bytes_ = cost = 0
    for producer, readers, weight, size in problem["tensors"]:
        stored = producer >= len(is_half)
        types = {is_half[reader] for reader in readers}
        needed = len(types) - 1 if stored else len(types - {is_half[producer]})
        casts, bytes_, cost = casts + needed, bytes_ + needed * size, cost + needed * weight
    allowed = all(not is_half[a] or is_half[b] for a, b in problem["required"])
    return casts, bytes_, cost if allowed else None


def shapes_beside(model):
    meta = model.parent / "preprocess.json"
    if not meta.exists():
        return "".join(f";{name}=1,3,224,224" for name in ("data", "input")) if "inception" not in model.name else ";data=1,3,299,299"
    inputs = json.loads(meta.read_text())["inputs"]
    return "".join(f";{one['name']}=" + ",".join("1" if isinstance(n, str) else str(n) for n in one["shape"]) for one in inputs if one["shape"])


def problems():
    for folder in arguments.models:
        for model in sorted([*folder.rglob("*-symbol.json"), *folder.rglob("*.onnx")]):
            done = subprocess.run([str(arguments.program), arguments.target, f"{model}{shapes_beside(model)}"], capture_output=True, text=True)
            if done.returncode:
                print(f"{model.relative_to(folder)}: left out, {done.stderr.strip().splitlines()[-1][:120]}")
                continue
            yield str(model.relative_to(folder)), json.loads(done.stdout)
    if arguments.random:
        with subprocess.Popen([str(arguments.program), arguments.target, "--random", "1", str(arguments.random)], stdout=subprocess.PIPE, text=True) as running:
            for line in running.stdout:
                problem = json.loads(line)
                yield problem["name"], problem
            if running.wait():
                raise SystemExit("the program failed on random graphs")


def main():
    print(f"{'network':56} {'choices':>7} {'casts before':>12} {'after':>6} {'MB before':>10} {'after':>8}  optimum")
    checked = wrong = 0
    sums = np.zeros(4)
    for name, problem in problems():
        before, after = figures(problem, problem["now"]), figures(problem, problem["half"])
        best = least(problem)
        right = after[2] is not None and abs(after[2] - best) <= 1e-6 * max(1.0, best)
        checked, wrong = checked + 1, wrong + (not right)
        is_random = name.startswith("random")
        if is_random:
            sums += [before[0], after[0], before[1], after[1]]
        if not is_random or not right:
            print(f"{name[-56:]:56} {problem['choices']:7} {before[0]:12} {after[0]:6} {before[1] / 1e6:10.2f} {after[1] / 1e6:8.2f}  {'yes' if right else f'NO: {after[2]}, least {best}'}",
                  flush=True)
    if arguments.random:
        print(f"{f'{arguments.random} random graphs':56} {'':7} {int(sums[0]):12} {int(sums[1]):6}")
    print(f"{checked} networks, {wrong} of them not at the optimum")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())

#!/usr/bin/env python3
"""How well `tune` searches: tune.py CLI INPUTS MODEL… [--examples 32] [--target bfloat16] [--limit sqnr=40] [--true N]

INPUTS is an .npz or a folder of pictures that fits every MODEL. Printed for each: seconds to the first measured point that is not float32
and to the whole front; passes over the examples, counted as whole ones (a group alone is half a pass, since only what lies behind it is
computed) beside N/2 + 15 for each narrower label; the share of the final hypervolume after a quarter of the time; with --true, Spearman's
rank correlation of what tune says each of N groups costs alone with what `compare` says of a model in which that group alone was
lowered, and how long one conversion and run for each of these groups took beside what tune took for one.
--remeasure N: the fastest point offered is timed again N times, each by a process of its own; how many medians lie in its interval.
--kills N: a search is killed N times at random moments; what its record holds never shrinks, and the end is as without.
--interrupts N: SIGINT at random moments; the longest time to the end.
The kind of CPU is printed first, since all of it goes by that.
"""
import argparse
import json
import random
import signal
import subprocess
import tempfile
import time
from pathlib import Path

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("cli", type=Path)
parser.add_argument("inputs", type=Path)
parser.add_argument("models", type=Path, nargs="+")
parser.add_argument("--examples", type=int, default=32)
parser.add_argument("--target", default="bfloat16")
parser.add_argument("--int8", action="store_true")
parser.add_argument("--limit")
parser.add_argument("--true", type=int, default=0, metavar="N", help="groups that are lowered alone by compare, too")
parser.add_argument("--remeasure", type=int, default=0, metavar="N")
parser.add_argument("--kills", type=int, default=0, metavar="N")
parser.add_argument("--interrupts", type=int, default=0, metavar="N")
parser.add_argument("--more", default="", help="further options of both commands, such as '--preprocess F'")
arguments = parser.parse_args()
BEST_DB = 150  # errors below this are none: an axis needs an end


def call(*parts):
    done = subprocess.run([str(arguments.cli), *map(str, parts), *arguments.more.split()], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, parts))}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def decibels(value):
    return BEST_DB if value == "inf" else min(float(value), BEST_DB)


def hypervolume(points, slowest):
    """What measured, clean points dominate of milliseconds below float32's and decibels above none."""
    volume, reached = 0.0, 0.0
    for point in sorted(points, key=lambda p: p["median_ms"]):
        height = decibels(point["sqnr_db"])
        if point["clean"] and point["median_ms"] < slowest and height > reached:
            volume += (slowest - point["median_ms"]) * (height - reached)
            reached = height
    return volume


def ranks(values):
    order = sorted(range(len(values)), key=lambda k: values[k])
    result = [0.0] * len(values)
    start = 0
    while start < len(order):  # equal values share their mean rank
        end = start
        while end + 1 < len(order) and values[order[end + 1]] == values[order[start]]:
            end += 1
        for k in order[start:end + 1]:
            result[k] = (start + end) / 2
        start = end + 1
    return result


def spearman(one, other):
    a, b = ranks(one), ranks(other)
    mean = (len(a) - 1) / 2
    spread = [sum((x - mean) ** 2 for x in side) for side in (a, b)]
    return sum((x - mean) * (y - mean) for x, y in zip(a, b)) / (spread[0] * spread[1]) ** 0.5 if all(spread) else float("nan")


def alone(model, front, mixed, folder):
    """Tune's errors of single groups, compare's, and the seconds that the latter took."""
    told, true, seconds = [], [], 0.0
    groups = [g for g in front["groups"] if g["tunable"] and "target" in g["labels"]]
    step = max(1, len(groups) // arguments.true)
    for group in groups[::step][:arguments.true]:
        # All nodes that the search decided about have a reason, and those of a group, such as its sum, the same one.
        overrides = {name: front["target"] if reason == mixed["reasons"][group["name"]] else "float32"
                     for name, reason in mixed["reasons"].items()}
        policy = Path(folder) / "alone.json"
        policy.write_text(json.dumps({**mixed, "node_overrides": overrides}))
        begin = time.monotonic()
        found = call("compare", model, "--inputs", arguments.inputs, "--examples", arguments.examples, "--policy", policy, "--json")
        seconds += time.monotonic() - begin
        told.append(decibels(group["labels"]["target"]["sqnr_db"]))
        true.append(min(decibels(output["sqnr_db"]) for output in found["outputs"]))
    return told, true, seconds


def cpu():
    facts = dict(line.split(":", 1) for line in Path("/proc/cpuinfo").read_text().split("\n\n")[0].splitlines() if ":" in line)
    facts = {key.strip(): value.strip() for key, value in facts.items()}
    flags = facts["flags"].split()
    extras = [name for name in ("avx2", "avx512f", "avx512_vnni", "avx512_bf16", "avx512_fp16", "amx_bf16", "amx_int8") if name in flags]
    return f"{facts.get('model name', 'CPU')}: {' '.join(extras)}"


def remeasured(model, point):
    """How many of the medians of new processes lie in the interval, and how far off they are."""
    inside, off = 0, []
    for _ in range(arguments.remeasure):
        told = call("profile", model, "--policy", point["policy"], "--versus-fp32", "--json", *shapes(model))
        ms = told["versus"]["ratio"] * point["median_ms"] / point["ratio"]
        inside += point["ci95"][0] <= ms <= point["ci95"][1]
        off.append(abs(ms / point["median_ms"] - 1))
    return inside, off


def shapes(model):
    """What a picture of this model comes as: profile has no data to tell it by."""
    rules = model.parent / "preprocess.json"
    options = []
    for one in json.loads(rules.read_text()).get("inputs", []) if rules.exists() else []:
        options += ["--shape", f"{one['name']}={','.join(str(d) if isinstance(d, int) else '1' for d in one['shape'])}"]
    return options


def searching(model, folder, *more):
    parts = [arguments.cli, "tune", model, "--inputs", arguments.inputs, "--target", arguments.target, "--examples", arguments.examples,
             "--out", Path(folder) / "front.json", "--json", *arguments.more.split(), *more]
    return subprocess.Popen([str(part) for part in parts], stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def killed(model, folder):
    state = Path(folder) / "killed.json"
    known, shrunk = 0, 0
    for _ in range(arguments.kills):
        process = searching(model, folder, "--state", state)
        try:
            process.wait(random.uniform(0.05, 3))
        except subprocess.TimeoutExpired:
            pass
        before = answers(state)  # all of these were written down, so that all of them must be there afterwards
        process.kill()
        process.communicate()
        after = answers(state)
        shrunk += after < max(before, known)
        known = after
    process = searching(model, folder, "--state", state)
    out, _ = process.communicate()
    return shrunk, known, answers(state), json.loads(out)["stopped_by"]


def answers(state):
    if not state.exists():
        return 0
    record = json.loads(state.read_text())
    return ("network" in record) + len(record["alone"]) + len(record["measured"])


def interrupted(model, folder):
    longest = 0.0
    for _ in range(arguments.interrupts):
        process = searching(model, folder)
        time.sleep(random.uniform(0.2, 8))
        if process.poll() is None:
            begin = time.monotonic()
            process.send_signal(signal.SIGINT)
            process.communicate()
            longest = max(longest, time.monotonic() - begin)
    return longest


print(cpu())
for model in arguments.models:
    with tempfile.TemporaryDirectory() as folder:
        options = ["--target", arguments.target, "--examples", arguments.examples, "--out", Path(folder) / "front.json", "--json"]
        options += ["--int8"] if arguments.int8 else []
        options += ["--limit", arguments.limit] if arguments.limit else []
        front = call("tune", model, "--inputs", arguments.inputs, *options)
        points = front["points"] + front["measured"]
        wide = next(p for p in points if p["origin"] == "float32")
        narrow = [p for p in points if p is not wide]
        groups = sum(g["tunable"] for g in front["groups"])
        labels = sum(len(g["labels"]) - 1 for g in front["groups"] if g["tunable"])
        whole = hypervolume(points, wide["median_ms"])
        early = hypervolume([p for p in points if p["found_s"] <= front["seconds"] / 4], wide["median_ms"])
        passes = front["evaluations"] - 1 + (front["passes"] - front["evaluations"]) / 2  # float32 is the reference of all
        print(f"{model.name}: {groups} groups, {len(front['points'])} points offered of {len(points)} measured, stopped by {front['stopped_by']}")
        if narrow:
            print(f"  first measured point {min(p['found_s'] for p in narrow):.1f} s, whole front {front['seconds']:.1f} s")
        print(f"  passes {passes:.1f}, at most {labels / 2 + 15 * (2 if arguments.int8 else 1):.1f}")
        print(f"  hypervolume after a quarter of the time {100 * early / whole if whole else 0:.0f} % of the final one; kappa {front['kappa']:.2f}")
        print(f"  slower than float32 among those offered: {sum(p['ratio'] >= 1 for p in front['points'] if p is not wide)}")
        if arguments.true:
            between = next(p for p in points if p["origin"] == "hull")
            told, true, seconds = alone(model, front, json.loads(Path(between["policy"]).read_text()), folder)
            each = front["errors_seconds"] / max(labels, 1)
            print(f"  Spearman {spearman(told, true):.3f} over {len(told)} groups alone; by compare {seconds / len(told):.2f} s each, by tune {each:.3f} s: {seconds / len(told) / each:.0f} times faster")
        if arguments.remeasure and len(front["points"]) > 1:
            inside, off = remeasured(model, front["points"][-1])
            low, high = front["points"][-1]["ci95"]
            width = 50 * (high - low) / front["points"][-1]["median_ms"]
            print(f"  measured again: {inside} of {arguments.remeasure} in the interval (±{width:.1f} %), at most {100 * max(off):.1f} % off")
        if arguments.kills:
            shrunk, kept, whole, end = killed(model, folder)
            print(f"  {arguments.kills} kills: {shrunk} lost what was written down; {kept} answers kept of {whole}, then stopped by {end}")
        if arguments.interrupts:
            print(f"  {arguments.interrupts} interrupts: at most {interrupted(model, folder):.2f} s to the end")

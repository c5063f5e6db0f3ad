"""Makes the n-th request for memory of each command fail: an error that says so, or the right answer, but nothing else."""

import concurrent.futures
import os
import re
import subprocess

# What is the same from run to run, and may therefore be compared: files, or nothing where they hold times.
COMMANDS = {
    "info": ("info {work}/tiny-symbol.json", []),
    "lists": ("lists --target float16", []),
    "backends": ("backends", []),
    "convert": ("convert {work}/tiny-symbol.json --target float16 --cast-params --out {out}/c",
                ["c-symbol.json", "c-0000.params"]),
    "rewrite": ("rewrite {work}/tiny-symbol.json --pass share --out {out}/r", ["r-symbol.json", "r-0000.params"]),
    "run": ("run {work}/tiny-symbol.json --inputs {work}/tiny.npz --out {out}/o.npz", ["o.npz"]),
    "profile": ("profile {work}/tiny-symbol.json --shape data=1,2,6,6 --repeats 1 --warmup 0", []),
    "compare": ("compare {work}/tiny-symbol.json --target float16 --inputs {work}/tiny.npz --csv {out}/c.csv", ["c.csv"]),
    "calibrate": ("calibrate {work}/tiny-symbol.json --inputs {work}/tiny.npz --method entropy", []),
    "quantize": ("quantize {work}/tiny-symbol.json --inputs {work}/tiny.npz --out {out}/q",
                 ["q-symbol.json", "q-0000.params"]),
    "layout": ("layout {work}/tiny-symbol.json", []),
    "report": ("report {work}/tiny-symbol.json --out {out}/r.html", []),
}
STEADY = {"info", "lists"}  # their output holds no time
DEEP = {"info", "convert", "run"}  # swept whole in every run; the others, which begin alike, only with --long


def attempts(total, first, spread):
    """1 to `first`, then so many more up to `total`, each further from the last by the same ratio."""
    chosen = set(range(1, min(first, total) + 1))
    for k in range(1, spread + 1):
        if total > first:
            chosen.add(round(first * (total / first) ** (k / spread)))
    return sorted(chosen)


def rows(command, shim, at, files, stdout):
    env = {**os.environ, "LD_PRELOAD": str(shim), "HALFTONE_FAIL_AT": at, "HALFTONE_FAIL_OUTPUTS": ":".join(files),
           "HALFTONE_FAIL_STEADY": "1" if stdout else ""}
    done = subprocess.run([str(part) for part in command], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, errors="replace", check=False)
    return [line.split("\t") for line in done.stderr.splitlines() if re.match(r"\d+\t", line)]


def fault(row, right):
    number, end, reached, _, digest, line = row
    # oneDNN 3.2 reads what it was not given, in dnnl_primitive_desc(), and frees twice, in ~jit_io_multi_dt_helper_t().
    if reached == "reached by oneDNN" and end.startswith("signal"):
        return None
    if end == "exit 0":
        return None if digest == right else f"n = {number}: other values"
    if end == "exit 3" and re.match(r"(error|libgomp): \S", line):
        return None
    if end == "exit 1" and re.search(r"no (\.npz )?archive: (No error|Not a zip archive)$", line):
        return None  # libzip, which keeps the reason to itself
    return f"n = {number}: {end}, {line[:200]!r}"


def attempts_of(name, total, is_long):
    """By --long all of `info` and `convert`, 800 of the others; else 800 of some commands and 180 of the others."""
    if is_long and name in ("info", "convert"):
        return f"1-{total}"
    chosen = attempts(total, 500, 300) if is_long or name in DEEP else attempts(total, 60, 120)
    return ",".join(map(str, chosen))


def sweep(name, cli, shim, work, is_long):
    call, files = COMMANDS[name]
    out = work / f"sweep-{name}"
    out.mkdir(exist_ok=True)
    command = [cli, *(part.format(work=work, out=out) for part in call.split())]
    files = [str(out / file) for file in files]
    steady = name in STEADY
    first = rows(command, shim, "0", files, steady)
    if not first or first[0][1] != "exit 0":
        return name, 1, [f"does not run: {first}"]
    total, right = int(first[0][3]), first[0][4]
    at = attempts_of(name, total, is_long)
    tried = rows(command, shim, at, files, steady)
    faults = [wrong for wrong in (fault(row, right) for row in tried) if wrong]
    faults += [f"left {left}" for left in os.listdir(out) if left.startswith(".halftone")][:1]
    return f"{name}, n of {total}", len(tried), faults


def all_commands(cli, shim, work, options):
    chosen = [name for name in COMMANDS if options.only in f"allocation {name}"]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        yield from pool.map(lambda name: sweep(name, cli, shim, work, options.long), chosen)

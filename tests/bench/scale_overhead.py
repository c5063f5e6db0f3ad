#!/usr/bin/env python3
"""What do queue, journal and merging cost: halftone-mpi with as many computing ranks as there are threads, against one process.

    scale_overhead.py HALFTONE_CLI HALFTONE_MPI [--model NAME] [--pictures N] [--ranks R] [--rounds K] [--command calibrate|compare]

Model and pictures are those of the folder that HALFTONE_SHARED names; the pictures are taken again under other names until there are N. Both ways run
in turns, and their tables have to be equal. Prints a row a round, and the medians: time by the clock and of all processors, and how
much more the ranks took. The time by the clock says something only on a machine that does nothing else."""

import argparse
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time


def measured(words):
    """Seconds by the clock, and of processors, of a program and all that it started."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True)
    wall, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"{words}\n{done.stderr[-2000:]}")
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def table(text):
    document = json.loads(text)
    for key in ("seconds", "peak_bytes", "process_peak_bytes", "memory"):
        document.pop(key, None)
    return document


def repeated(pictures, count, folder):
    """`count` pictures: links under names that keep their order."""
    files = sorted(path for path in pictures.iterdir() if path.suffix.lower() in (".png", ".jpg", ".jpeg", ".ppm", ".bmp"))
    for k in range(count):
        (folder / f"{k:06}{files[k % len(files)].suffix}").symlink_to(files[k % len(files)])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cli", type=pathlib.Path)
    parser.add_argument("mpi", type=pathlib.Path)
    parser.add_argument("--model", default="squeezenet11-mxnet")
    parser.add_argument("--images", default="imagenet500")
    parser.add_argument("--pictures", type=int, default=1000)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--tasks", type=int, help="shards; default: halftone-mpi's own")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--command", choices=["calibrate", "compare"], default="calibrate")
    options = parser.parse_args()
    if "HALFTONE_SHARED" not in os.environ:
        sys.exit("HALFTONE_SHARED names no folder: skipped")
    shared = pathlib.Path(os.environ["HALFTONE_SHARED"])
    home = shared / "models" / options.model
    model = next(iter([*home.glob("*-symbol.json"), *home.glob("*.onnx")]))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "pictures").mkdir()
        repeated(shared / "images" / options.images, options.pictures, folder / "pictures")
        call = [options.command, model, "--inputs", folder / "pictures", "--preprocess", home / "preprocess.json"]
        one = [options.cli, *call, "--threads", options.ranks]
        if options.command == "calibrate":
            call += ["--method", "minmax"]
            one += ["--method", "minmax", "--out", folder / "one.json"]
        else:
            call += ["--target", "bfloat16"]
            one += ["--target", "bfloat16", "--json"]
        many = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", options.ranks + 1, options.mpi, *call, "--out", folder / "many.json"]
        if os.geteuid() == 0:
            many.insert(1, "--allow-run-as-root")
        if options.tasks:
            many += ["--tasks", options.tasks]
        times = {"one": [], "many": []}
        print(f"{options.model}, {options.command} over {options.pictures} pictures: {options.ranks} threads against {options.ranks} ranks")
        for k in range(options.rounds):
            for way, words in (("one", one), ("many", many)):
                wall, cpu, told = measured(words)
                times[way].append((wall, cpu))
                if way == "one" and options.command == "compare":
                    (folder / "one.json").write_text(told)
            if table((folder / "one.json").read_text()) != table((folder / "many.json").read_text()):
                sys.exit("the tables differ")
            print(f"round {k + 1}: one process {times['one'][-1][0]:.2f} s ({times['one'][-1][1]:.2f} s of processors), "
                  f"ranks {times['many'][-1][0]:.2f} s ({times['many'][-1][1]:.2f} s)", flush=True)
    for at, what in enumerate(("by the clock", "of processors")):
        one, many = (statistics.median(pair[at] for pair in times[way]) for way in ("one", "many"))
        print(f"{what}: {one:.2f} s and {many:.2f} s, {100 * (many / one - 1):+.2f} %")


if __name__ == "__main__":
    main()

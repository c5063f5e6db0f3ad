#!/usr/bin/env python3
"""Do shards, batches and threads leave every byte of a calibration and of a comparison as it is?

    shards.py HALFTONE_CLI [--examples N] [--keep]

Trained models and pictures are those of the folder that HALFTONE_SHARED names. Each model is calibrated (entropy) and
compared (bfloat16) serially, then with batches of 1, 3 and 32, on 1 and 2 threads, and in 1, 2, 4 and 7 shards that are
merged. All tables have to be equal to the serial one, but for the time and the memory that they took. Prints a row a model."""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

MODELS = [
    ("cifar-resnet20-v1", "*-symbol.json", "cifar500"),
    ("squeezenet11-mxnet", "*-symbol.json", "imagenet500"),
    ("mobilenetv2-mxnet", "*-symbol.json", "imagenet500"),
    ("squeezenet11-onnx", "*.onnx", "imagenet500"),
    ("mobilenet-v1-075-onnx", "*.onnx", "imagenet500"),
    ("ultraface-rfb-320-onnx", "*.onnx", "faces"),
]


def call(cli, *words):
    done = subprocess.run([cli, *map(str, words)], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}\n{done.stderr}")
    return done.stdout


def table(text):
    document = json.loads(text)
    for key in ("seconds", "peak_bytes", "process_peak_bytes", "memory"):
        document.pop(key, None)
    return json.dumps(document)


def calibrate(cli, model, data, examples, out, *more):
    call(cli, "calibrate", model, "--inputs", data, "--examples", examples, "--method", "entropy", "--out", out, *more)
    return pathlib.Path(out)


def compare(cli, model, data, examples, *more):
    return call(cli, "compare", model, "--target", "bfloat16", "--inputs", data, "--examples", examples, *more)


def merged(cli, folder, count, shard):
    files = []
    for k in range(1, count + 1):
        files.append(folder / f"{k}-of-{count}")
        shard(files[-1], f"{k}/{count}")
    out = folder / "merged.json"
    call(cli, "merge", *reversed(files), "--out", out)
    sizes = [file.stat().st_size for file in files]
    for file in files:
        file.unlink()
    return table(out.read_text()), max(sizes)


def check(cli, model, data, examples, folder):
    """The differences, and what a shard takes."""
    differences = []
    ways = [("--batch", batch, "--threads", threads) for batch in (1, 3, 32) for threads in (1, 2)]
    start = time.monotonic()
    serial = table(calibrate(cli, model, data, examples, folder / "table.json").read_text())
    seconds = (time.monotonic() - start) / examples
    compared = table(compare(cli, model, data, examples, "--json"))
    for way in ways:
        if table(calibrate(cli, model, data, examples, folder / "table.json", *way).read_text()) != serial:
            differences.append(f"calibrate {way}")
        if table(compare(cli, model, data, examples, "--json", *way)) != compared:
            differences.append(f"compare {way}")
    size = {}
    for count in (1, 2, 4, 7):
        joined, size["calibrate"] = merged(
            cli, folder, count,
            lambda out, shard: calibrate(cli, model, data, examples, out, "--shard", shard))
        if joined != serial:
            differences.append(f"calibrate in {count} shards")
        joined, size["compare"] = merged(
            cli, folder, count,
            lambda out, shard: compare(cli, model, data, examples, "--out", out, "--shard", shard))
        if joined != compared:
            differences.append(f"compare in {count} shards")
    return differences, seconds, size


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cli")
    parser.add_argument("--examples", type=int, default=14)
    parser.add_argument("--models", nargs="*", help="only these")
    options = parser.parse_args()
    if "HALFTONE_SHARED" not in os.environ:
        sys.exit("HALFTONE_SHARED names no folder: skipped")
    shared = pathlib.Path(os.environ["HALFTONE_SHARED"])
    failed = False
    print(f"{'model':24} {'s a picture':>12} {'calibration':>12} {'comparison':>12}  equal")
    for name, pattern, pictures in MODELS:
        if options.models and name not in options.models:
            continue
        model = next((shared / "models" / name).glob(pattern))
        with tempfile.TemporaryDirectory() as folder:
            differences, seconds, size = check(options.cli, model, shared / "images" / pictures, options.examples,
                                               pathlib.Path(folder))
        failed |= bool(differences)
        print(f"{name:24} {seconds:12.3f} {size['calibrate']:>12,} {size['compare']:>12,}  "
              + ("yes" if not differences else "NO: " + ", ".join(differences)), flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())

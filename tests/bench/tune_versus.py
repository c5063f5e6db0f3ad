#!/usr/bin/env python3
"""`tune --int8` against what else finds the layers that must stay wide, on one ONNX model: same machine, pictures and limit.

tune_versus.py CLI MODEL.onnx PICTURES [--examples 100] [--calibrate 100] [--drop 0.5] [--only ours,nncf,ort]

MODEL has a preprocess.json beside it, PICTURES a labels.csv (file, class_index). Top-1 is that of so many examples; the others calibrate, and
onnxruntime compares values, on the first of them, since it holds all values of all that it is given. Others: NNCF's quantize_with_accuracy_control, and
onnxruntime's quantize_static, from which the nodes with the largest errors by its own debugger (qdq_loss_debug) are left out, twice as
many each time, until the limit holds. Printed: seconds until a plan was found (of ours also those until it had been measured, before what
might be faster was ruled out), its top-1 over the pictures, and the median time of one picture: theirs in ONNX Runtime, ours in Halftone
and, written as ONNX, in ONNX Runtime, all with as many threads as the machine has; and how much sooner the search had measured a plan
that is no slower than each of the others' at equal or better top-1.
Needs numpy, onnx, onnxruntime, pillow, nncf.
"""
import argparse
import csv
import json
import logging
import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
from onnx import version_converter
from PIL import Image

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("cli", type=Path)
parser.add_argument("model", type=Path)
parser.add_argument("pictures", type=Path)
parser.add_argument("--examples", type=int, default=100)
parser.add_argument("--calibrate", type=int, default=100)
parser.add_argument("--drop", type=float, default=0.5, help="points that top-1 may fall by")
parser.add_argument("--only", default="ours,nncf,ort")
arguments = parser.parse_args()
RULES = json.loads((arguments.model.parent / "preprocess.json").read_text())
RULES = RULES.get("inputs", [RULES])[0]
RUNS = 40


def rule(*names, default=None):
    return next((RULES[name] for name in names if name in RULES), default)


def picture(path):
    size = [d for d in RULES["shape"] if isinstance(d, int)][-2:]
    image = Image.open(path).convert("RGB")
    left, top = (image.width - size[1]) // 2, (image.height - size[0]) // 2
    pixels = np.asarray(image.crop((left, top, left + size[1], top + size[0])), dtype=np.float32)
    if str(rule("colour", "color", "colour_order", "channels", default="RGB")).upper() == "BGR":
        pixels = pixels[..., ::-1]
    pixels = (pixels - np.float32(RULES["mean"])) * np.float32(RULES["scale"])
    return np.ascontiguousarray(pixels.transpose(2, 0, 1)[None])


rows = list(csv.reader((arguments.pictures / "labels.csv").open()))
header = rows[0] if not rows[0][1].lstrip("-").isdigit() else None
rows = [row for row in rows[1 if header else 0:] if (arguments.pictures / row[0]).exists()][:arguments.examples]
INPUTS = [picture(arguments.pictures / row[0]) for row in rows]
CALIBRATING = INPUTS[:arguments.calibrate]
CLASSES = [int(row[1]) for row in rows]


def sessionOf(model):
    options = ort.SessionOptions()
    options.intra_op_num_threads = os.cpu_count()
    options.log_severity_level = 3
    return ort.InferenceSession(model if isinstance(model, (str, bytes)) else model.SerializeToString(), options, ["CPUExecutionProvider"])


def top1Of(session):
    name = session.get_inputs()[0].name
    hits = [int(np.argmax(session.run(None, {name: x})[0].reshape(-1))) for x in INPUTS]
    shift = 1 if session.get_outputs()[0].shape[-1] == 1001 else 0
    return 100 * float(np.mean([hit - shift == label for hit, label in zip(hits, CLASSES)]))


def medianMs(session):
    name = session.get_inputs()[0].name
    for _ in range(5):
        session.run(None, {name: INPUTS[0]})
    times = []
    for _ in range(RUNS):
        begin = time.perf_counter()
        session.run(None, {name: INPUTS[0]})
        times.append(1e3 * (time.perf_counter() - begin))
    return statistics.median(times)


def tell(name, seconds, model):
    """Returns what it prints: seconds, top-1, milliseconds."""
    session = sessionOf(model)
    told = seconds, top1Of(session), medianMs(session)
    print(f"{name:<34} found in {told[0]:7.1f} s   top-1 {told[1]:6.2f} %   {told[2]:7.3f} ms in ONNX Runtime", flush=True)
    return told


def ours(folder, others):
    begin = time.monotonic()
    call = [arguments.cli, "tune", arguments.model, "--inputs", arguments.pictures, "--examples", arguments.examples, "--target", "bfloat16",
            "--int8", "--labels", arguments.pictures / "labels.csv", "--limit", f"top1=-{arguments.drop}", "--out", folder / "front.json", "--pick", "fastest-within",
            "--write", folder / "ours.onnx", "--json"]
    done = subprocess.run([str(part) for part in call], capture_output=True, text=True)
    seconds = time.monotonic() - begin
    if done.returncode:
        raise SystemExit(done.stderr.strip())
    front = json.loads(done.stdout)
    point = front["points"][front["picked"]]
    print(f"{'tune, in Halftone':<34} found in {seconds:7.1f} s   top-1 {100 * point['top1']:6.2f} %   {point['median_ms']:7.3f} ms "
          f"(float32 {front['points'][0]['median_ms']:.3f}), {front['evaluations']} networks measured, this one after {point['found_s']:.1f} s, labels {point['labels']}", flush=True)
    for name, (theirs, top1, milliseconds) in others.items():
        good = [p for p in front["points"] + front["measured"] if p["median_ms"] <= milliseconds and 100 * p["top1"] >= top1 - 1e-9]
        if good:
            first = min(good, key=lambda p: p["found_s"])
            print(f"  no slower than {name}'s at {100 * first['top1']:.2f} %: {first['median_ms']:.3f} ms after {first['found_s']:.1f} s, "
                  f"{theirs / first['found_s']:.1f} times sooner", flush=True)
        else:
            print(f"  no point is as good as {name}'s", flush=True)
    try:
        tell("tune, written", seconds, str(folder / "ours.onnx"))
    except Exception as failure:  # bfloat16 has hardly any kernel there
        print(f"tune, written: ONNX Runtime does not run it: {str(failure).splitlines()[0][:110]}")


def batched(model):
    """Opset 13 at least, and a batch of one, as both tools want it."""
    model = onnx.load(str(model))
    if model.opset_import[0].version < 13:
        model = version_converter.convert_version(model, 13)
    model.ir_version = max(model.ir_version, 8)
    weights = {one.name for one in model.graph.initializer}  # which old files name among the inputs
    for value in [value for value in model.graph.input if value.name in weights]:
        model.graph.input.remove(value)
    for value in [*model.graph.input, *model.graph.output]:
        if value.type.tensor_type.shape.dim:
            value.type.tensor_type.shape.dim[0].dim_value = 1
    return model


def nncf(folder, source, reference):
    import nncf as library
    logging.getLogger("nncf").setLevel(logging.ERROR)
    name = source.graph.input[0].name
    begin = time.monotonic()
    data = library.Dataset(list(range(len(INPUTS))), lambda k: {name: INPUTS[k]})
    few = library.Dataset(list(range(len(CALIBRATING))), lambda k: {name: INPUTS[k]})

    def validate(model, indices):
        # NNCF hands over a prepared model that takes a dictionary, or the ONNX model itself.
        run = (lambda feed: list(model(feed).values())) if callable(model) else (lambda feed, s=sessionOf(model): s.run(None, feed))
        hits = []
        for k in indices:  # what the data set was made of
            answer = np.asarray(run({name: INPUTS[k]})[0]).reshape(-1)
            hits.append(float(int(np.argmax(answer)) - (1 if answer.size == 1001 else 0) == CLASSES[k]))
        return float(np.mean(hits)), hits

    model = library.quantize_with_accuracy_control(source, few, data, validate, max_drop=arguments.drop / 100,
                                                   subset_size=len(CALIBRATING), drop_type=library.DropType.ABSOLUTE)
    return tell("NNCF, accuracy control", time.monotonic() - begin, model)


def onnxRuntime(folder, source, reference):
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, qdq_loss_debug, quantize_static

    class Reader(CalibrationDataReader):
        def __init__(self):
            self.left = iter(CALIBRATING)

        def get_next(self):
            x = next(self.left, None)
            return None if x is None else {source.graph.input[0].name: x}

    begin = time.monotonic()
    wide, narrow = folder / "wide.onnx", folder / "narrow.onnx"
    onnx.save(source, str(wide))
    left_out, order = [], []
    while True:
        quantize_static(str(wide), str(narrow), Reader(), quant_format=QuantFormat.QDQ, per_channel=True, activation_type=QuantType.QUInt8,
                        weight_type=QuantType.QInt8, nodes_to_exclude=left_out)
        if top1Of(sessionOf(str(narrow))) >= reference - arguments.drop - 1e-9 or len(left_out) >= len(source.graph.node):
            break
        if not order:
            order = worstNodes(qdq_loss_debug, wide, narrow, source, Reader, folder)
        left_out = order[:max(1, 2 * len(left_out))]
    return tell(f"onnxruntime, {len(left_out)} nodes left out", time.monotonic() - begin, str(narrow))


def worstNodes(debugger, wide, narrow, source, Reader, folder):
    """Names of nodes, by the error of their outputs, the largest first."""
    told = []
    for model in (wide, narrow):
        augmented = folder / f"{model.stem}-augmented.onnx"
        debugger.modify_model_output_intermediate_tensors(str(model), str(augmented))
        told.append(debugger.collect_activations(str(augmented), Reader()))
    matched = debugger.create_activation_matching(told[1], told[0])
    errors = debugger.compute_activation_error(matched)
    makers = {output: node.name for node in source.graph.node for output in node.output}
    ranked = sorted(errors, key=lambda tensor: errors[tensor]["xmodel_err"])  # decibels: the least is the worst
    return [makers[tensor] for tensor in ranked if makers.get(tensor)]


with tempfile.TemporaryDirectory() as name:
    place = Path(name)
    wide = batched(arguments.model)
    for k, node in enumerate(wide.graph.node):
        node.name = node.name or f"node{k}"
    reference = top1Of(sessionOf(wide))
    print(f"{arguments.model.name}: {len(INPUTS)} pictures, float32 top-1 {reference:.2f} %, {medianMs(sessionOf(wide)):.3f} ms in ONNX Runtime, "
          f"at most {arguments.drop} points less")
    wanted = arguments.only.split(",")
    others = {which: run(place, wide, reference) for which, run in (("nncf", nncf), ("ort", onnxRuntime)) if which in wanted}
    if "ours" in wanted:
        ours(place, others)

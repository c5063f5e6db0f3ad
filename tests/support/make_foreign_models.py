#!/usr/bin/env python3
"""Writes tests/data/foreign: one small file for each format that is recognised but not read. Usage: make_foreign_models.py TESTS_DATA_FOLDER

A file is NAME.SUFFIX, where NAME is the format's name in core/io/foreign_formats.cpp, with -1, -2, … where there are several. Messages, archives and headers are
built by the formats' published definitions (named at each); the same bytes on every run.
"""

import io
import json
import struct
import sys
import zipfile
from pathlib import Path


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field, value):
    return varint(field << 3) + varint(value)


def part(field, content):
    content = content.encode() if isinstance(content, str) else content
    return varint(field << 3 | 2) + varint(len(content)) + content


def archive(*names):
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as z:
        for name in names:
            z.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), b"x")
    return held.getvalue()


def tensorflow():
    """tensorflow/core/framework/{graph,node_def}.proto, core/protobuf/{meta_graph,saved_model}.proto; LevelDB's table format."""
    node = part(1, "x") + part(2, "Placeholder") + part(5, part(1, "dtype") + part(2, number(6, 1)))
    graph = part(1, node) + part(1, part(1, "y") + part(2, "Relu") + part(3, "x")) + part(4, number(1, 1087))
    meta = part(1, part(4, "serve") + part(5, "2.16.1")) + part(2, graph)
    return {
        "graphdef.pb": graph,
        "savedmodel.pb": number(1, 1) + part(2, meta),
        "checkpoint-1.meta": meta,
        "checkpoint-2.index": b"\0" * 40 + bytes.fromhex("57fb808b247547db"),
        "checkpoint-3.txt": b'model_checkpoint_path: "model.ckpt-1000"\n',
        "tfjs.json": json.dumps({"format": "graph-model", "modelTopology": {"node": []}}).encode(),
    }


def pytorch():
    """Archives as torch.save(), torch.jit.save() and torch.export.save() lay them out; the old pickle begins with torch's magic number."""
    return {
        "pytorch-1.pt": archive("model/data.pkl", "model/byteorder", "model/data/0", "model/version"),
        "pytorch-2.pth": bytes.fromhex("80028a0a6cfc9c46f9206aa850192e"),
        "torchscript.pt": archive("model/data.pkl", "model/code/__torch__.py", "model/constants.pkl", "model/version"),
        "pt2-1.pt2": archive("model/archive_format", "model/models/model.json", "model/data/weights/model.pt"),
        "pt2-2.pt2": archive("serialized_exported_program.json", "serialized_state_dict.pt", "version"),
    }


def others():
    header = json.dumps({"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
    block = number(1, 0) + number(2, 2**64 - 1) + part(3, part(1, "w"))  # paddle/fluid/framework/framework.proto; the parent is -1
    return {
        "keras.keras": archive("metadata.json", "config.json", "model.weights.h5"),
        "hdf5.h5": b"\x89HDF\r\n\x1a\n" + b"\0" * 40,
        "coreml.mlmodel": number(1, 4) + part(2, part(1, part(1, "image"))) + part(500, part(1, part(1, "conv"))),  # Model.proto
        "safetensors.safetensors": struct.pack("<Q", len(header)) + header + b"\0" * 4,
        "gguf.gguf": b"GGUF" + struct.pack("<IQQ", 3, 0, 0),
        "openvino.xml": b'<?xml version="1.0"?>\n<net name="m" version="11">\n\t<layers>\n\t</layers>\n</net>\n',
        "paddle-1.pdmodel": part(1, block) + part(4, number(1, 0)),
        "paddle-2.json": json.dumps({"base_code": {"magic": "pir", "version": 1}, "program": {}}).encode(),
        "ncnn.param": b"7767517\n2 1\nInput data 0 1 data\nReLU relu 1 1 data out\n",
        "tensorrt-1.engine": b"ptrt" + b"\0" * 40,
        "tensorrt-2.plan": b"ftrt" + b"\0" * 40,
        "ort.ort": struct.pack("<I", 24) + b"ORTM" + b"\0" * 40,
        "onnxtxt.onnxtxt": b'<\n   ir_version: 9,\n   opset_import: ["" : 18]\n>\ng (float[1] x) => (float[1] y) { y = Relu (x) }\n',
        "onnxtextproto.textproto": b'# a comment\nir_version: 9\ngraph {\n  node { op_type: "Relu" }\n}\n',
        "onnxjson.json": json.dumps({"irVersion": "9", "graph": {"node": []}}).encode(),
    }


folder = Path(sys.argv[1]) / "foreign"
folder.mkdir(exist_ok=True)
for name, content in (tensorflow() | pytorch() | others()).items():
    (folder / name).write_bytes(content)

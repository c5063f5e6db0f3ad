#!/usr/bin/env python3
"""Picks from recordings of MXNet 1.9.1's quantization what tests/data/int8 holds: make_int8_goldens.py RECORDINGS

RECORDINGS holds a folder a network (model-symbol.json, model-0000.params, data.npz) and in it, for every variant,
VARIANT.json (settings, thresholds), VARIANT-symbol.json, VARIANT-0000.params and VARIANT-out.npz. Needs NumPy.
"""
import json
import shutil
import sys
from pathlib import Path

import numpy as np

STRUCTURE = {
    "mlp": ["plain_int8_none", "plain_int8_naive_smart", "plain_int8_naive_excl_fc2", "onednn_auto_naive_channelwise"],
    "cbrpf": ["onednn_int8_none", "onednn_auto_naive", "onednn_auto_naive_excl_conv1", "onednn_auto_naive_excl_op_fc",
              "plain_int8_naive"],
    "residual": ["onednn_auto_naive", "onednn_auto_naive_excl_add"],
    "fcadd": ["plain_int8_naive", "onednn_auto_naive_full"],
    "concat": ["onednn_auto_naive", "onednn_auto_naive_excl_cat"],
    "sigmoid": ["onednn_auto_naive_full"],
    "twoheads": ["onednn_auto_naive"],
    "embed": ["plain_int8_naive"],
    "deadrelu": ["onednn_auto_naive"],
}
RUN = {
    "mlp": ["plain_int8_none", "plain_int8_naive_smart", "onednn_auto_naive_channelwise"],
    "cbrpf": ["onednn_int8_none", "onednn_auto_naive"],
    "residual": ["onednn_auto_naive"],
    "concat": ["onednn_auto_naive"],
    "fcadd": ["onednn_auto_naive_full"],
    "sigmoid": ["onednn_auto_naive_full"],
    "embed": ["plain_int8_naive"],
}
EXAMPLES = 4  # the batch that MXNet ran: ranges found at run time depend on it

source = Path(sys.argv[1])
target = Path(__file__).resolve().parent.parent / "data/int8"
cases = []
for model, variants in STRUCTURE.items():
    (target / model).mkdir(parents=True, exist_ok=True)
    for name in ["model", *variants]:
        symbol = json.loads((source / model / f"{name}-symbol.json").read_text())
        (target / model / f"{name}-symbol.json").write_text(json.dumps(symbol, separators=(",", ":")))
    shutil.copy(source / model / "model-0000.params", target / model)
    for name in variants:
        record = json.loads((source / model / f"{name}.json").read_text())
        cases.append({"model": model, "variant": name, "settings": record["settings"], "thresholds": record["thresholds"],
                      "runs": name in RUN.get(model, [])})
    if model in RUN:
        arrays = {"data": np.load(source / model / "data.npz")["test"][:EXAMPLES]}
        for name in RUN[model]:
            outputs = np.load(source / model / f"{name}-out.npz")
            arrays.update({f"{name}:{key}": outputs[key][:EXAMPLES] for key in outputs.files})
            shutil.copy(source / model / f"{name}-0000.params", target / model)
        np.savez(target / model / "runs.npz", **arrays)
(target / "cases.json").write_text(json.dumps(cases, indent=1) + "\n")

#!/usr/bin/env python3
"""The real MXNet 1.9.1 loads and runs int8 models that halftone-cli writes: check_int8.py CLI FOLDER

FOLDER is tests/data/int8. Every network is quantized in the forms that MXNet itself can run, calibrated on its own data,
run by both, and the outputs must agree within 2 % of their peak: single codes differ where a value lies half between two.
A processor without VNNI adds two products of codes in 16 bits, where MXNet lets them saturate: there it only has to load and run a network
whose values then differ, which is counted and told.
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

os.environ["MXNET_SUBGRAPH_BACKEND"] = "NONE"

import mxnet as mx  # noqa: E402 (after the environment)
import numpy as np  # noqa: E402

from processor import EXACT_INT8  # noqa: E402

# Plain convolutions on int8 data are refused by MXNet's CPU backend.
FORMS = {"mlp": ["plain", "onednn"], "fcadd": ["plain", "onednn"], "embed": ["plain", "onednn"], "cbrpf": ["onednn"],
         "residual": ["onednn"], "concat": ["onednn"], "sigmoid": ["onednn"]}
VARIANTS = [("naive", "tensor"), ("mse", "tensor"), ("entropy", "channel")]

cli, folder = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
failures = checked = saturated = 0
with tempfile.TemporaryDirectory() as scratch:
    for network, forms in FORMS.items():
        data = np.load(folder / network / "runs.npz")["data"]
        example = Path(scratch) / "data.npz"
        np.savez(example, data=data)
        for form in forms:
            for method, granularity in VARIANTS:
                name = f"{network} {form} {method} {granularity}"
                prefix = Path(scratch) / "int8"
                subprocess.run([cli, "quantize", folder / network / "model-symbol.json", "--inputs", example, "--out", prefix,
                                "--form", form, "--calib", method, "--granularity", granularity, "--dtype",
                                "int8" if form == "plain" else "auto"], check=True, capture_output=True)
                subprocess.run([cli, "run", f"{prefix}-symbol.json", "--inputs", example, "--out", f"{prefix}.npz"], check=True,
                               capture_output=True)
                ours = list(np.load(f"{prefix}.npz").values())
                symbol, args, aux = mx.model.load_checkpoint(str(prefix), 0)
                executor = symbol.bind(mx.cpu(), {**args, "data": mx.nd.array(data)}, aux_states=aux, grad_req="null")
                theirs = [output.asnumpy() for output in executor.forward(is_train=False)]
                checked += 1
                worst = max(np.abs(a - b).max() / max(np.abs(b).max(), 1e-12) for a, b in zip(ours, theirs))
                if len(ours) == len(theirs) and worst > 0.02 and not EXACT_INT8:
                    saturated += 1
                elif len(ours) != len(theirs) or worst > 0.02:
                    failures += 1
                    print(f"FAIL {name}: differs by {worst:.3g} of the peak", flush=True)
print(f"int8 in MXNet: {checked - failures - saturated} of {checked} agree" + (f", {saturated} saturate in MXNet on this processor" if saturated else ""))
sys.exit(failures > 0)

#!/usr/bin/env python3
"""The real MXNet 1.9.1 loads and runs graphs with int8, bfloat16 and float32 operators that halftone-cli writes: check_mixed.py CLI FOLDER

FOLDER is tests/data/int8. Every network is converted to bfloat16 in both modes with some of its operators in int8, ranges from its own data,
run by both, and the outputs must agree within 5 % of their peak: single codes differ where a value lies half between two, and bfloat16 keeps
eight bits. Without the processor features that MXNet's bfloat16 kernels need only loading and inference of types are checked.
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

os.environ["MXNET_SUBGRAPH_BACKEND"] = "NONE"

import mxnet as mx  # noqa: E402 (after the environment)
import numpy as np  # noqa: E402

from processor import RUNS_BFLOAT16  # noqa: E402

NETWORKS = {"mlp": [["FullyConnected"]], "cbrpf": [["Convolution"], ["FullyConnected"], ["Convolution", "FullyConnected"]],
            "residual": [["Convolution"], ["Convolution", "elemwise_add"]], "concat": [["Convolution"], ["Convolution", "Concat"]],
            "sigmoid": [["Convolution"]]}

cli, folder = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
failures = checked = 0
with tempfile.TemporaryDirectory() as scratch:
    for network, choices in NETWORKS.items():
        data = np.load(folder / network / "runs.npz")["data"]
        example = Path(scratch) / "data.npz"
        np.savez(example, data=data)
        for operators in choices:
            for mode in ("typed", "mxnet"):
                name = f"{network} {'+'.join(operators)} {mode}"
                prefix = Path(scratch) / "mixed"
                options = [text for op in operators for text in ("--int8-op", op)]
                subprocess.run([cli, "convert", folder / network / "model-symbol.json", "--inputs", example, "--out", prefix,
                                "--target", "bfloat16", "--mode", mode, *options], check=True, capture_output=True)
                checked += 1
                try:
                    symbol, args, aux = mx.model.load_checkpoint(str(prefix), 0)
                    ops = {node["op"] for node in json.loads(symbol.tojson())["nodes"]}
                    if not ops & {"_sg_mkldnn_conv", "_sg_mkldnn_fully_connected"}:
                        raise ValueError("nothing is int8")
                    if not RUNS_BFLOAT16:
                        symbol.infer_type(data="float32")
                        continue
                    subprocess.run([cli, "run", f"{prefix}-symbol.json", "--inputs", example, "--out", f"{prefix}.npz"], check=True,
                                   capture_output=True)
                    ours = list(np.load(f"{prefix}.npz").values())
                    executor = symbol.bind(mx.cpu(), {**args, "data": mx.nd.array(data)}, aux_states=aux, grad_req="null")
                    theirs = [output.asnumpy() for output in executor.forward(is_train=False)]
                    worst = max(np.abs(a - b).max() / max(np.abs(b).max(), 1e-12) for a, b in zip(ours, theirs))
                    if len(ours) != len(theirs) or not worst <= 0.05:
                        raise ValueError(f"differs by {worst:.3g} of the peak")
                except (mx.MXNetError, ValueError, subprocess.CalledProcessError) as error:
                    failures += 1
                    print(f"FAIL {name}: {str(error).splitlines()[0][:300]}", flush=True)
print(f"int8, bfloat16 and float32 in one graph in MXNet: {checked - failures} of {checked} agree")
sys.exit(failures > 0)

#!/usr/bin/env python3
"""Writes the sample as ONNX, digits.onnx beside this file: make_onnx.py HALFTONE_CLI [OUT]

The network is that of digits-symbol.json and digits-0000.params, translated by Halftone's own export for pictures of 8 x 8 and batches of any size.
The same bytes come out every time; the test suite compares.
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

SAMPLE = Path(__file__).resolve().parent


def main():
    cli, out = sys.argv[1], Path(sys.argv[2]) if len(sys.argv) > 2 else SAMPLE / "digits.onnx"
    symbol = json.loads((SAMPLE / "digits-symbol.json").read_text())
    data = next(node for node in symbol["nodes"] if node["name"] == "data")
    data.setdefault("attrs", {})["__shape__"] = "(0, 1, 8, 8)"  # 0: any
    with tempfile.TemporaryDirectory() as folder:
        shaped = Path(folder) / "digits-symbol.json"
        shaped.write_text(json.dumps(symbol))
        subprocess.run([cli, "convert", shaped, "--params", SAMPLE / "digits-0000.params", "--out", out], check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Records conversions of small graphs with the real MXNet 1.9.1 as folders of tests/data/amp: make_amp_goldens.py tests/data/amp

Written: OUT/NAME/model-symbol.json, expected-symbol.json (casts kept) and case.json, which says the call.
"""
import json
import sys
from pathlib import Path

import mxnet as mx
from mxnet.contrib import amp

S = mx.sym


def foreach_behind_fp32():
    """The body tells that the loop's outputs are float32, as its first input is."""
    rows = S.exp(S.var("data"))
    outputs, _ = S.contrib.foreach(lambda row, state: (row + state, state * 2), rows, S.var("state"))
    return outputs, {"data": [3, 2, 4], "state": [2, 4]}


def upsampling_behind_cond():
    """The bodies tell that the branch's output is float32, so that the operator behind the stack of it may read it raw."""
    x, y = S.var("x"), S.var("y")
    chosen = S.contrib.cond(S.var("p") > 0, lambda: S.sin(x + y), lambda: y * 2)
    return S.tanh(S.UpSampling(S.stack(chosen, num_args=1), S.var("z"), scale=1, sample_type="nearest", num_args=2)), {
        "p": [1], "x": [5, 2, 2], "y": [5, 2, 2], "z": [1, 2, 2, 2]}


def main():
    for make in (foreach_behind_fp32, upsampling_behind_cond):
        symbol, shapes = make()
        folder = Path(sys.argv[1]) / make.__name__
        folder.mkdir(exist_ok=True, parents=True)
        symbol.save(str(folder / "model-symbol.json"), remove_amp_cast=False)
        converted, _, _ = amp.convert_model(symbol, {}, {}, target_dtype="float16")
        converted.save(str(folder / "expected-symbol.json"), remove_amp_cast=False)
        case = {"name": make.__name__, "description": make.__doc__, "reference": "mxnet 1.9.1", "api": "convert_model",
                "settings": {"target_dtype": "float16", "cast_optional_params": False}, "input_shapes": shapes,
                "input_dtypes": {name: "float32" for name in shapes}, "known_defects": [], "result": "ok",
                "expected_outputs": converted.list_outputs(), "expected_variable_dtype_attr": {}, "expected_param_dtypes": {}}
        (folder / "case.json").write_text(json.dumps(case, indent=1) + "\n")


if __name__ == "__main__":
    main()

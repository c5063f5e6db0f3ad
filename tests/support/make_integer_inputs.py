#!/usr/bin/env python3
"""Makes tests/data/onnx/integers.onnx and what ONNX Runtime computes with it: make_integer_inputs.py tests/data/onnx

Integers that are fed decide here which rows of a table are read, how many values are kept and which branch is taken. Written: integers.onnx,
integers-inputs.npz, integers-values.npz. Needs onnx 1.22, onnxruntime and numpy.
"""
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper as nh, parser

TEXT = """<ir_version: 8, opset_import: ["" : 17]>
integers (int64[2,12] ids, int64[1] kept, bool turns, int64[12] places) => (float[2,16,12] y, float[2,16,K] most, float[3,16] rows) {
  embedded = Gather<axis = 0>(table, ids)
  turned = Transpose<perm = [0, 2, 1]>(embedded)
  y = Conv<kernel_shape = [3], pads = [1, 1]>(turned, weight)
  most, where = TopK<axis = 2>(y, kept)
  three = Constant<value = int64[1] {3}>()
  zero = Constant<value = int64[1] {0}>()
  few = Slice(places, zero, three)
  rows = If(turns) <
    then_branch = then_graph () => (float[3,16] a) {
      a = Gather<axis = 0>(table, few)
    },
    else_branch = else_graph () => (float[3,16] b) {
      taken = Gather<axis = 0>(table, few)
      b = Neg(taken)
    }
  >
}
"""


def main():
    out = Path(sys.argv[1])
    random = np.random.RandomState(5)
    model = parser.parse_model(TEXT)
    model.graph.initializer.append(nh.from_array(random.uniform(-1, 1, (30, 16)).astype("float32"), "table"))
    model.graph.initializer.append(nh.from_array(random.uniform(-1, 1, (16, 16, 3)).astype("float32"), "weight"))
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, str(out / "integers.onnx"))
    feed = {"ids": random.randint(0, 30, (2, 12)), "kept": np.array([4]), "turns": np.array(False), "places": random.randint(0, 30, 12)}
    session = onnxruntime.InferenceSession(str(out / "integers.onnx"), providers=["CPUExecutionProvider"])
    np.savez(out / "integers-inputs.npz", **feed)
    np.savez(out / "integers-values.npz", **dict(zip((v.name for v in session.get_outputs()), session.run(None, feed))))


if __name__ == "__main__":
    main()

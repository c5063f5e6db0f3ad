#!/usr/bin/env python3
"""Makes tests/data/onnx_recurrent, a model of one recurrent node a case: ONNX's own node tests with the values that they state, and
more variants with those of ONNX Runtime: make_recurrent_goldens.py tests/data/onnx_recurrent

Written: OUT/NAME.onnx and OUT/NAME.npz, whose arrays are called in.INPUT and out.OUTPUT. Needs onnx 1.23, onnxruntime and numpy.
"""
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import helper
from onnx.backend.test.loader import load_model_tests

RANDOM = np.random.RandomState(11)
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
FUNCTIONS = {"RNN": 1, "GRU": 2, "LSTM": 3}
# ONNX Runtime has other defaults than ONNX for some of them.
ALPHAS = {"Affine": 0.3, "LeakyRelu": 0.1, "ThresholdedRelu": 0.4, "ScaledTanh": 0.7, "HardSigmoid": 0.25, "Elu": 0.8}
BETAS = {"Affine": 0.2, "ScaledTanh": 0.9, "HardSigmoid": 0.45}


def real(*shape):
    return RANDOM.uniform(-1, 1, shape).astype("float32")


def node(op, direction="forward", steps=5, batch=3, features=4, hidden=5, lengths=None, first="", bias=True, peepholes=False, wide=1.0, **attributes):
    """An operator, its inputs (None: absent) and its attributes. first: which of the first states "h" and "c" are given."""
    directions = 2 if direction == "bidirectional" else 1
    gates = GATES[op]
    inputs = [real(steps, batch, features) * wide, real(directions, gates * hidden, features), real(directions, gates * hidden, hidden),
              real(directions, 2 * gates * hidden) if bias else None, np.array(lengths, "int32") if lengths else None,
              real(directions, batch, hidden) if "h" in first else None]
    if op == "LSTM":
        inputs += [real(directions, batch, hidden) if "c" in first else None, real(directions, 3 * hidden) if peepholes else None]
    return op, inputs, {"hidden_size": hidden, "direction": direction, **attributes}


def cases():
    for op in GATES:
        for direction in ("forward", "reverse", "bidirectional"):
            first = "hc" if op == "LSTM" else "h"
            yield f"{op}_{direction}", node(op, direction, first=first, lengths=(5, 2, 4), peepholes=True)
            yield f"{op}_{direction}_single", node(op, direction, batch=1, steps=7, features=19, hidden=18, bias=direction == "reverse")
        both = {"direction": "bidirectional"}
        yield f"{op}_clip", node(op, clip=0.4, wide=3.0, **both)
        each = FUNCTIONS[op]
        for names in (("HardSigmoid", "Softsign", "Tanh"), ("Sigmoid", "Relu", "Relu"), ("Affine", "LeakyRelu", "ScaledTanh"),
                      ("ThresholdedRelu", "Elu", "Softplus")):
            for start in range(min(each, 2)) if each > 1 else range(3):
                chosen = list(names[start:start + each]) + list(names[:max(0, start + each - 3)])
                given = {"activation_alpha": [ALPHAS[name] for name in chosen if name in ALPHAS],
                         "activation_beta": [BETAS[name] for name in chosen if name in BETAS]}
                yield f"{op}_{'_'.join(chosen).lower()}", node(op, steps=3, activations=chosen, **{key: values for key, values in given.items() if values})
        yield f"{op}_defaults", node(op, activations=["HardSigmoid", "LeakyRelu", "Elu"][:each])
    yield "GRU_late", node("GRU", "bidirectional", linear_before_reset=1, lengths=(3, 5, 1), first="h")
    yield "GRU_late_clip", node("GRU", linear_before_reset=1, clip=0.5, wide=3.0)
    yield "LSTM_coupled", node("LSTM", "bidirectional", input_forget=1, first="hc")
    yield "LSTM_coupled_peepholes", node("LSTM", input_forget=1, peepholes=True)
    yield "LSTM_cell_only", node("LSTM", first="c")


def model_of(op, inputs, attributes):
    names = [f"x{k}" if value is not None else "" for k, value in enumerate(inputs)]
    outputs = [f"y{k}" for k in range(3 if op == "LSTM" else 2)]
    graph = helper.make_graph([helper.make_node(op, names, outputs, **attributes)], op,
                              [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
                               for name, value in zip(names, inputs) if name],
                              [onnx.ValueInfoProto(name=name) for name in outputs])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)
    return onnx.shape_inference.infer_shapes(model), {name: value for name, value in zip(names, inputs) if name}


def write(out, name, model, inputs, outputs):
    onnx.save(model, str(out / f"{name}.onnx"))
    np.savez_compressed(out / f"{name}.npz", **{f"in.{k}": v for k, v in inputs.items()},
                        **{f"out.{v.name}": value for v, value in zip(model.graph.output, outputs)})


def main():
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    for case in load_model_tests(kind="node"):
        if not case.name.startswith(("test_lstm", "test_gru", "test_rnn", "test_simple_rnn")):
            continue
        inputs, outputs = case.data_sets[0]
        write(out, "onnx_" + case.name[5:], case.model, dict(zip([i.name for i in case.model.graph.input], inputs)), outputs)
    for name, (op, inputs, attributes) in cases():
        model, given = model_of(op, inputs, attributes)
        session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        write(out, name.lower(), model, given, session.run(None, given))


main()

#!/usr/bin/env python3
"""Makes tests/data/onnx_recurrent, a model of one recurrent node a case: ONNX's own node tests with the values that they state, and
more variants with those of ONNX Runtime: make_recurrent_goldens.py tests/data/onnx_recurrent

With codes_: com.microsoft.DynamicQuantizeLSTM. With decoded_: weights that DequantizeLinear gives.

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


def codes(kind, *shape):
    return RANDOM.randint(np.iinfo(kind).min, np.iinfo(kind).max + 1, shape).astype(kind)


def coded(kind, direction, columns=False, steps=6, batch=3, features=5, hidden=18, lengths=None, first="", bias=True, peepholes=False, **attributes):
    """An LSTM on codes; columns: with a scale each. Their zero points are 0, or one for all of uint8, as ONNX Runtime wants them."""
    directions, rows = 2 if direction == "bidirectional" else 1, 4 * hidden
    shape = (directions, rows) if columns else (directions,)
    zero = lambda: np.full(shape, 0 if kind == "int8" else 117, kind) if columns else codes(kind, directions)
    scale = lambda: RANDOM.uniform(0.002, 0.006, shape).astype("float32")
    inputs = [real(steps, batch, features), codes(kind, directions, features, rows), codes(kind, directions, hidden, rows), real(directions, 2 * rows) if bias else None,
              np.array(lengths, "int32") if lengths else None, real(directions, batch, hidden) if "h" in first else None,
              real(directions, batch, hidden) if "c" in first else None, real(directions, 3 * hidden) if peepholes else None, scale(), zero(), scale(), zero()]
    return "DynamicQuantizeLSTM", inputs, {"hidden_size": hidden, "direction": direction, **attributes}


def coded_cases():
    for direction in ("forward", "reverse", "bidirectional"):
        for kind in ("int8", "uint8"):
            for columns in (False, True):
                name = f"codes_{direction}_{kind}_{'columns' if columns else 'tensor'}"
                yield name, coded(kind, direction, columns, lengths=(6, 2, 4), first="hc")
    yield "codes_plain", coded("int8", "forward", True, batch=1, features=19, hidden=4, bias=False)
    yield "codes_padded", coded("uint8", "bidirectional", lengths=(3, 0, 5), first="hc")
    yield "codes_peepholes", coded("int8", "bidirectional", peepholes=True, clip=0.7, first="c")
    yield "codes_coupled", coded("uint8", "forward", peepholes=True, input_forget=1)
    yield "codes_functions", coded("int8", "reverse", True, activations=["HardSigmoid", "Softsign", "Tanh"])


def decoded(op):
    """Its model with codes of the weights, and what is given: a scale a tensor of W, a scale a row of R."""
    op, inputs, attributes = node(op, "bidirectional", batch=2, features=6, hidden=17)
    rows = inputs[2].shape[1]
    held = {"W_codes": codes("int8", *inputs[1].shape), "W_scale": np.float32(0.005), "W_zero": np.int8(3), "R_codes": codes("uint8", *inputs[2].shape),
            "R_scale": RANDOM.uniform(0.002, 0.004, rows).astype("float32"), "R_zero": np.full(rows, 128, "uint8"), "B": inputs[3]}
    nodes = [helper.make_node("DequantizeLinear", ["W_codes", "W_scale", "W_zero"], ["W"]),
             helper.make_node("DequantizeLinear", ["R_codes", "R_scale", "R_zero"], ["R"], axis=1),
             helper.make_node(op, ["x0", "W", "R", "B"], ["y0", "y1"], **attributes)]
    graph = helper.make_graph(nodes, op, [helper.make_tensor_value_info("x0", onnx.TensorProto.FLOAT, inputs[0].shape)],
                              [onnx.ValueInfoProto(name="y0"), onnx.ValueInfoProto(name="y1")],
                              [onnx.numpy_helper.from_array(value, name) for name, value in held.items()])
    return onnx.shape_inference.infer_shapes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)), {"x0": inputs[0]}


def model_of(op, inputs, attributes):
    names = [f"x{k}" if value is not None else "" for k, value in enumerate(inputs)]
    domain = "com.microsoft" if op.startswith("Dynamic") else ""
    outputs = [f"y{k}" for k in range(3 if op.endswith("LSTM") else 2)]
    graph = helper.make_graph([helper.make_node(op, names, outputs, domain=domain, **attributes)], op,
                              [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
                               for name, value in zip(names, inputs) if name],
                              [onnx.ValueInfoProto(name=name) for name in outputs])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)] + [helper.make_opsetid(domain, 1)] * bool(domain), ir_version=8)
    return onnx.shape_inference.infer_shapes(model), {name: value for name, value in zip(names, inputs) if name}


def computed(model, inputs):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # of several, each codes the states of its own part of a batch by itself
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"]).run(None, inputs)


def write(out, name, model, inputs, outputs):
    for told, value in zip(model.graph.output, outputs):
        if not told.type.HasField("tensor_type"):
            told.CopyFrom(helper.make_tensor_value_info(told.name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape))
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
    for name, (op, inputs, attributes) in [*cases(), *coded_cases()]:
        model, given = model_of(op, inputs, attributes)
        write(out, name.lower(), model, given, computed(model, given))
    for op in GATES:
        model, given = decoded(op)
        write(out, f"decoded_{op.lower()}", model, given, computed(model, given))


main()

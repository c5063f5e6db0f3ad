"""Writes resources/tflite/operators.json: python3 tests/support/make_tflite_operators.py   (needs ai-edge-litert, whose schema it reads)

Per operator its code and what its inputs are called; per table of options its fields: name, place in the table, kind, default.
"""
import inspect
import json
import re
from pathlib import Path

from ai_edge_litert import schema_py_generated as schema

# What LiteRT's documentation of the operators calls their inputs; those that are not here are input, input1, ….
INPUTS = {
    "input, filter, bias?": "CONV_2D DEPTHWISE_CONV_2D CONV_3D",
    "input, weights, bias?": "FULLY_CONNECTED",
    "output_shape, weights, input, bias?": "TRANSPOSE_CONV CONV_3D_TRANSPOSE",
    "input, alpha": "PRELU",
    "input, shape?": "RESHAPE",
    "input, shape": "BROADCAST_TO",
    "input, axes": "MEAN SUM REDUCE_MAX REDUCE_MIN REDUCE_PROD REDUCE_ANY REDUCE_ALL REVERSE_V2",
    "input, axis": "ARG_MAX ARG_MIN EXPAND_DIMS CUMSUM",
    "input, paddings": "PAD MIRROR_PAD",
    "input, paddings, value": "PADV2",
    "input, permutation": "TRANSPOSE",
    "input, size": "RESIZE_BILINEAR RESIZE_NEAREST_NEIGHBOR",
    "input, begin, size": "SLICE",
    "input, begin, end, strides": "STRIDED_SLICE",
    "axis, input": "SPLIT",
    "input, sizes, axis": "SPLIT_V",
    "input, repeats": "TILE",
    "input, indices": "GATHER GATHER_ND",
    "condition, x, y": "SELECT SELECT_V2",
    "shape, value": "FILL",
    "start, limit, delta": "RANGE",
    "indices, depth, on_value, off_value": "ONE_HOT",
    "input, k": "TOPK_V2",
    "input, block_shape, paddings": "SPACE_TO_BATCH_ND",
    "input, block_shape, crops": "BATCH_TO_SPACE_ND",
    "input, feature_weights, time_weights, bias?, state": "SVDF",
    "ids, values": "EMBEDDING_LOOKUP",
    "resource": "READ_VARIABLE",
    "resource, value": "ASSIGN_VARIABLE",
    "input, input_to_input?, input_to_forget, input_to_cell, input_to_output, recurrent_to_input?, recurrent_to_forget, "
    "recurrent_to_cell, recurrent_to_output, cell_to_input?, cell_to_forget?, cell_to_output?, input_bias?, forget_bias, cell_bias, "
    "output_bias, projection?, projection_bias?, output_state, cell_state, input_norm?, forget_norm?, cell_norm?, output_norm?":
        "LSTM UNIDIRECTIONAL_SEQUENCE_LSTM",
}
ENUMS = {"padding": "Padding", "fused_activation_function": "ActivationFunctionType", "weights_format": "FullyConnectedOptionsWeightsFormat",
         "mode": "MirrorPadMode", "type": "LSHProjectionType", "combiner": "CombinerType", "kernel_type": "LSTMKernelType"}
TYPES = {"in_data_type", "out_data_type", "output_type", "out_type", "idx_out_type", "quantized_bias_type"}


def constants(enum):
    return {value: name for name, value in vars(enum).items() if isinstance(value, int) and not name.startswith("_")}


def snake(name):
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def fields(table):
    """Those that are numbers, truth values, texts or lists of numbers."""
    found = []
    for name, method in inspect.getmembers(table, inspect.isfunction):
        body = inspect.getsource(method)
        place, kind = re.search(r"Offset\((\d+)\)", body), re.search(r"number_types\.(\w+)Flags, (?:o|a) \+", body)
        if place is None or name.endswith(("AsNumpy", "Length", "IsNone")):
            continue
        default = re.findall(r"return (\S+)$", body.strip())[-1]
        one = {"name": snake(name), "place": (int(place[1]) - 4) // 2}
        if "Vector(o)" in body:
            if kind is None or kind[1] not in ("Int32", "Int64", "Float32"):
                continue
            one["kind"] = kind[1].lower() + "s"
        elif "_tab.String(" in body:
            one["kind"] = "text"
        elif kind is None:
            continue
        else:
            one["kind"] = kind[1].lower()
            if default not in ("0", "0.0", "False"):
                one["default"] = {"True": "1"}.get(default, default)
        enum = "TensorType" if one["name"] in TYPES else ENUMS.get(one["name"])
        if enum is not None and one["kind"] == "int8" and hasattr(schema, enum):
            one["names"] = enum
        found.append(one)
    return sorted(found, key=lambda one: one["place"])


def main():
    inputs = {op: text for text, ops in INPUTS.items() for op in ops.split()}
    operators = {name: {"code": code, **({"inputs": inputs[name]} if name in inputs else {})}
                 for code, name in sorted(constants(schema.BuiltinOperator).items()) if not name.startswith("PLACEHOLDER")}
    options = [{"union": which, "tag": tag, "table": name, "fields": fields(getattr(schema, name))}
               for which, union in ((1, schema.BuiltinOptions), (2, schema.BuiltinOptions2)) for tag, name in sorted(constants(union).items()) if tag]
    used = sorted({f["names"] for o in options for f in o["fields"] if "names" in f})
    names = {one: {str(value): name for value, name in sorted(constants(getattr(schema, one)).items())} for one in used}
    lines = ['{"operators": {']
    lines.append(",\n".join(f' "{name}": {json.dumps(one)}' for name, one in operators.items()))
    lines.append('}, "options": [')
    lines.append(",\n".join(" " + json.dumps(one) for one in options))
    lines.append('], "names": {')
    lines.append(",\n".join(f' "{name}": {json.dumps(one)}' for name, one in names.items()))
    lines.append("}}\n")
    (Path(__file__).parents[2] / "resources/tflite/operators.json").write_text("\n".join(lines))


main()

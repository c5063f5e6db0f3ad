"""Writes resources/onnx/operators.json from ONNX's own schemas, and the lists of resources/oplists/onnx-*.json from the classes:
python3 make_onnx_operators.py CLASSES.json RESOURCES

CLASSES.json holds under "operators" what class each operator has for float16 and bfloat16 ("fp16", "bf16": target, neutral, widest, fp32), and why
("reason"). Everything else are facts of the onnx package (1.22.0, and of 1.23.0 the Attention of opset 25, which it added later): per operator its versions as far as these facts differ, newest last, each with
  since    the opset from which it holds
  inputs   "X, W, B?": names; "?" for optional ones, "*" for any number
  outputs  likewise
  types    the type rule (core/ops/type_rule.h)
  converted  a narrower type rule for conversions, where there is one
  attributes  {name: "int", "int = 1", "ints", "float", "floats", "string", "strings", "tensor", "graph"}; without " = " and with "!": required
"""
import json
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import defs

OURS = {"tensor(float)": "float32", "tensor(double)": "float64", "tensor(float16)": "float16", "tensor(bfloat16)": "bfloat16", "tensor(bool)": "bool",
        **{f"tensor({k})": k for k in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")}}
KINDS = {defs.OpSchema.AttrType.INT: "int", defs.OpSchema.AttrType.INTS: "ints", defs.OpSchema.AttrType.FLOAT: "float",
         defs.OpSchema.AttrType.FLOATS: "floats", defs.OpSchema.AttrType.STRING: "string", defs.OpSchema.AttrType.STRINGS: "strings",
         defs.OpSchema.AttrType.TENSOR: "tensor", defs.OpSchema.AttrType.GRAPH: "graph"}
# The attribute that says an output's type, where it is no input's.
TYPED_BY = {"Cast": "to", "BitCast": "to", "RandomNormal": "dtype", "RandomUniform": "dtype", "RandomNormalLike": "dtype", "RandomUniformLike": "dtype", "EyeLike": "dtype",
            "Multinomial": "dtype", "Bernoulli": "dtype", "ConstantOfShape": "value", "Constant": "value", "HannWindow": "output_datatype",
            "HammingWindow": "output_datatype", "BlackmanWindow": "output_datatype", "QuantizeLinear": "output_dtype", "DequantizeLinear": "output_dtype",
            "SequenceEmpty": "dtype", "Optional": "type", "LayerNormalization": "stash_type", "MelWeightMatrix": "output_datatype"}
DEFAULTS = {("SequenceEmpty", "dtype"): "int = 1"}  # what the schema's text says alone
# Output types that follow an input where the attribute is absent.
LIKE = {"RandomNormalLike": 0, "RandomUniformLike": 0, "EyeLike": 0, "Bernoulli": 0}
VARIABLES = "TUVW"
# Operators of ai.onnx.ml with structs of their own, as of its newest version; they hold in every opset of ai.onnx.
ML = ("TreeEnsemble", "TreeEnsembleClassifier", "TreeEnsembleRegressor", "SVMClassifier")
# Labels that are texts are given by their places.
ML_TYPES = {"TreeEnsemble": "T{float32|float64} -> T", "TreeEnsembleRegressor": "?{float32|float64|int32|int64} -> float32"}
# Operators of com.microsoft with structs of their own, which ONNX has no schemas of: as ONNX Runtime (1.32) documents them.
MICROSOFT = {"DynamicQuantizeLSTM": {
    "inputs": "X, W, R, B?, sequence_lens?, initial_h?, initial_c?, P?, W_scale, W_zero_point, R_scale, R_zero_point", "outputs": "Y?, Y_h?, Y_c?",
    "types": "float32, T{int8|uint8}, T, float32, int32, float32, float32, float32, float32, T, float32, T -> float32, float32, float32",
    "attributes": {"activation_alpha": "floats", "activation_beta": "floats", "activations": "strings", "clip": "float", "direction": "string = forward",
                   "hidden_size": "int", "input_forget": "int = 0"}}}

# The type of a sequence or of an optional value is that of its tensors, so that what goes into one and comes out again has one type; {} stands for the schema's types.
SEQUENCES = {"SequenceConstruct": "T{}... -> T", "SequenceInsert": "T{}, T, ?{int32|int64} -> T", "SequenceAt": "T{}, ?{int32|int64} -> T",
             "SequenceErase": "T{}, ?{int32|int64} -> T", "SplitToSequence": "T{}, ?{int32|int64} -> T", "ConcatFromSequence": "T{} -> T",
             "SequenceEmpty": "-> D", "Optional": "T{} -> T", "OptionalGetElement": "T{} -> T"}

# Classes that are no longer those of CLASSES.json: recurrent layers compute in bfloat16 here, with sums and states in float32.
CHANGED = {op: {"bf16": "target"} for op in ("GRU", "LSTM", "RNN")}

# What a conversion may choose where the type rule allows more: type variables that are one then, or a rule. Kernels of attention take queries, keys and values of
# one type only; ONNX Runtime (1.32) computes the function body that ONNX gives for RMSNormalization, which multiplies both inputs as they are, and that of
# MeanVarianceNormalization adds constants in float32 whatever the data are.
SAME = {"Attention": {"T2": "T1"}, "RMSNormalization": {"V": "T"}}
CONVERTED = {"MeanVarianceNormalization": "T{float32} -> T",
             "BitCast": "?{bool|float64|int16|int32|int64|int8|uint16|uint32|uint64|uint8} -> D"}  # bits mean something in the type that has them alone


def slot(p):
    mark = {defs.OpSchema.FormalParameterOption.Optional: "?", defs.OpSchema.FormalParameterOption.Variadic: "*"}.get(p.option, "")
    return p.name + mark


def sequence_rule(schema):
    listed = {t.removeprefix("seq(").replace("))", ")") for c in schema.type_constraints if c.type_param_str in ("T", "S", "V") for t in c.allowed_type_strs}
    ours = sorted(OURS[t] for t in listed if t in OURS)
    return SEQUENCES[schema.name].replace("{}", "" if len(ours) == len(OURS) else "{" + "|".join(ours) + "}")


def rule(schema, same):
    allowed = {c.type_param_str: c.allowed_type_strs for c in schema.type_constraints}
    params = [*schema.inputs, *schema.outputs]
    variable = lambda p: same.get(p.type_str, p.type_str)
    uses = {}
    for p in params:
        uses[variable(p)] = uses.get(variable(p), 0) + (2 if p.option == defs.OpSchema.FormalParameterOption.Variadic and p.is_homogeneous else 1)
    given = {p.type_str for p in schema.inputs}
    names = {}

    def types_of(text):
        listed = allowed.get(text, [text])
        return listed, sorted({OURS[t] for t in listed if t in OURS})

    def item(p, is_output):
        listed, ours = types_of(p.type_str)
        if not ours or any(t.startswith(("seq(", "optional(", "map(")) for t in listed) and not any(t.startswith("tensor(") for t in listed):
            return "?"
        if not p.is_homogeneous:
            return "?"
        if len(listed) == 1:
            return ours[0]
        if is_output and p.type_str not in given:
            return "D" if schema.name in TYPED_BY else "?"
        if uses[variable(p)] == 1:
            text = "?"
        elif variable(p) in names:
            return names[variable(p)]
        elif len(names) < len(VARIABLES):
            text = names[variable(p)] = VARIABLES[len(names)]
        else:
            text = "?"
        # What only types that we do not know would be left out for is not restricted.
        return text if len(ours) == len(OURS) else text + "{" + "|".join(ours) + "}"

    def side(parameters, is_output):
        items = []
        for p in parameters:
            text = item(p, is_output)
            if p.option == defs.OpSchema.FormalParameterOption.Variadic:
                text += "..."
            items.append(text)
        return ", ".join(items)

    return f"{side(schema.inputs, False)} -> {side(schema.outputs, True)}".strip()


def converted(schema):
    if schema.name in SAME:
        return {"converted": rule(schema, SAME[schema.name])}
    return {"converted": CONVERTED[schema.name]} if schema.name in CONVERTED else {}


def attribute(a):
    kind = KINDS.get(a.type, "other")
    if a.required:
        return kind + "!"
    if a.default_value.name:
        value = onnx.helper.get_attribute_value(a.default_value)
        if isinstance(value, bytes):
            value = value.decode()
        if isinstance(value, list):
            value = "[" + ",".join(str(v.decode() if isinstance(v, bytes) else v) for v in value) + "]"
        if isinstance(value, float):
            value = str(np.float32(value))
        return f"{kind} = {value}"
    return kind


def main():
    classes = json.load(open(sys.argv[1]))["operators"]
    table = {}
    for schema in sorted(defs.get_all_schemas_with_history(), key=lambda s: (s.name, s.since_version)):
        if schema.domain or schema.support_level == defs.OpSchema.SupportType.EXPERIMENTAL:
            continue
        op = table.setdefault(schema.name, {})
        known = {**classes.get(schema.name, {}), **CHANGED.get(schema.name, {})}
        for key in ("fp16", "bf16", "reason"):
            if key in known:
                op[key] = known[key]
        if schema.name in TYPED_BY:
            op["typed_by"] = TYPED_BY[schema.name]
        if schema.name in LIKE:
            op["like"] = LIKE[schema.name]
        op.setdefault("versions", []).append({
            "since": schema.since_version, **({"deprecated": True} if schema.deprecated else {}),
            "inputs": ", ".join(map(slot, schema.inputs)), "outputs": ", ".join(map(slot, schema.outputs)),
            "types": sequence_rule(schema) if schema.name in SEQUENCES else rule(schema, {}), **converted(schema),
            "attributes": {k: DEFAULTS.get((schema.name, k)) or attribute(a) for k, a in sorted(schema.attributes.items())}})
    for op in table.values():  # versions before the last one that opset 7 has are not needed
        old = [v for v in op["versions"] if v["since"] <= 7]
        op["versions"] = old[-1:] + [v for v in op["versions"] if v["since"] > 7]
        told = lambda v: {k: x for k, x in v.items() if k != "since"}
        op["versions"] = [v for k, v in enumerate(op["versions"]) if k == 0 or told(v) != told(op["versions"][k - 1])]
    for name in ML:
        schema = defs.get_schema(name, domain="ai.onnx.ml")
        table["ai.onnx.ml." + name] = {"versions": [{
            "since": 1, "inputs": ", ".join(map(slot, schema.inputs)), "outputs": ", ".join(map(slot, schema.outputs)),
            "types": ML_TYPES.get(name, "?{float32|float64|int32|int64} -> int64, float32"),
            "attributes": {k: attribute(a) for k, a in sorted(schema.attributes.items())}}]}
    for name, facts in MICROSOFT.items():
        table["com.microsoft." + name] = {"versions": [{"since": 1, **facts}]}
    folder = Path(sys.argv[2])
    for target, key in (("float16", "fp16"), ("bfloat16", "bf16")):
        of = lambda kind: [name for name, op in table.items() if op.get(key) == kind]
        lists = {"source": "ONNX operators by class", "target_dtype": target, "target_dtype_ops": of("target"), "fp32_ops": of("fp32"),
                 "widest_dtype_ops": of("widest"), "conditional_fp32_ops": [], "fp16_fp32_ops": of("neutral")}
        (folder / f"oplists/onnx-{target}.json").write_text(json.dumps(lists, indent=1) + "\n")
    rows = [f" {json.dumps(name)}: {json.dumps(op, ensure_ascii=False)}" for name, op in table.items()]
    (folder / "onnx/operators.json").write_text("{\n" + ",\n".join(rows) + "\n}\n")


if __name__ == "__main__":
    main()

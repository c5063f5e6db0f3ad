"""Writes tests/data/onnx_types.txt, the types of every operator's outputs as the onnx package (1.23.0) infers them from its schemas:
python3 make_onnx_type_goldens.py FILE

A line is a node: `OPERATOR OPSET ATTRIBUTES: TYPES OF INPUTS -> TYPES OF OUTPUTS`, with all inputs and outputs that the schema has (two of those of which there may
be any number), once with each type that a type variable allows, the other variables in float32 where they take it. Lists and optional values stand by the type of
what they hold. An output whose type variable some input has is of its type (the inference of RMSNormalization contradicts its schema). Left out: operators that run
bodies, whose outputs have the bodies' types; texts; types that are only passed on.
"""
import sys

import onnx
from onnx import TensorProto, defs, helper, shape_inference

from make_onnx_operators import OURS, TYPED_BY

CODES = {"float32": TensorProto.FLOAT, "float64": TensorProto.DOUBLE, **{t: getattr(TensorProto, t.upper()) for t in OURS.values() if t[:5] != "float"},
         "float16": TensorProto.FLOAT16}
NAMES = {code: name for name, code in CODES.items()}
CHOSEN = ("float32", "float16", "bfloat16", "float64", "int64", "int8", "bool")  # of a variable that takes many
BODIES = {"If", "Loop", "Scan", "SequenceMap"}
FIRST, LAST = 7, 26
Option = defs.OpSchema.FormalParameterOption
Kind = defs.OpSchema.AttrType
# What attributes without a default may be; where the attribute says a type, it is written in each of these.
VALUES = {Kind.INT: 1, Kind.INTS: [0], Kind.FLOAT: 1.0, Kind.FLOATS: [1.0], Kind.STRING: "", Kind.STRINGS: [""]}
WRITTEN = {"LayerNormalization": ("float32", "bfloat16")}
PARTICULAR = {("Einsum", "equation"): "i,i->i", ("Unsqueeze", "axes"): [0], ("Upsample", "scales"): [1.0, 1.0], ("Transpose", "perm"): [1, 0],
              ("Pad", "pads"): [0, 0, 0, 0], ("Upsample", "mode"): "nearest"}


def held(text):
    """float32 of "seq(tensor(float))"; None for what we have no name for."""
    while text.startswith(("seq(", "optional(")):
        text = text[text.index("(") + 1:-1]
    return OURS.get(text)


def proto(text):
    """The type that a schema's text means."""
    if text.startswith("seq("):
        return helper.make_sequence_type_proto(proto(text[4:-1]))
    if text.startswith("optional("):
        return helper.make_optional_type_proto(proto(text[9:-1]))
    return helper.make_tensor_type_proto(CODES[OURS[text]], None)


def element(type_proto):
    while not type_proto.HasField("tensor_type"):
        if not (type_proto.HasField("sequence_type") or type_proto.HasField("optional_type")):
            return None
        type_proto = (type_proto.sequence_type if type_proto.HasField("sequence_type") else type_proto.optional_type).elem_type
    return NAMES.get(type_proto.tensor_type.elem_type)


def choices(schema):
    """One type for each type text of the inputs, in turns."""
    allowed = {c.type_param_str: [t for t in c.allowed_type_strs if held(t)] for c in schema.type_constraints}
    texts = list(dict.fromkeys(p.type_str for p in schema.inputs))
    options = [allowed.get(t, [t] if held(t) else []) for t in texts]
    if any(not o for o in options):
        return
    base = [next((t for t in o if held(t) == "float32"), o[0]) for o in options]
    seen = set()
    for at, listed in enumerate(options or [[]]):
        for choice in listed or [None]:
            for together in (False, True):  # one variable alone, or all that take the type
                pick = [choice if k == at else next((t for t in options[k] if together and held(t) == held(choice)), base[k]) for k in range(len(texts))]
                if (choice is None or len(listed) < 8 or held(choice) in CHOSEN) and tuple(pick) not in seen:
                    seen.add(tuple(pick))
                    yield dict(zip(texts, pick))


def attributes(schema):
    """Those that must be written, with each type that one of them may say."""
    typed = TYPED_BY.get(schema.name)
    written = {}
    for key, a in schema.attributes.items():
        if key != typed and a.required and a.type in VALUES:
            written[key] = PARTICULAR.get((schema.name, key), VALUES[a.type])
    if typed not in schema.attributes:
        yield written
        return
    if not schema.attributes[typed].required:
        yield written
    if schema.attributes[typed].type == Kind.INT:
        for name in WRITTEN.get(schema.name, ("float32", "float16", "float64", "int64", "uint8")):
            yield written | {typed: CODES[name]}
    elif schema.attributes[typed].type == Kind.TENSOR:
        for name in ("float32", "float16", "int64"):
            yield written | {typed: helper.make_tensor("", CODES[name], [1], [0])}


def inferred(schema, opset, picked, written):
    """([types of inputs], [types of outputs]), or None for a node that cannot be."""
    inputs, infos, types = [], [], []
    for p in schema.inputs:
        for _ in range(2 if p.option == Option.Variadic else 1):
            name = f"i{len(inputs)}"
            inputs.append(name)
            infos.append(helper.make_value_info(name, proto(picked[p.type_str])))
            types.append(held(picked[p.type_str]))
    outputs, variables = [], []
    for p in schema.outputs:
        for _ in range(2 if p.option == Option.Variadic else 1):
            outputs.append(f"o{len(outputs)}")
            variables.append(p.type_str)
    node = helper.make_node(schema.name, inputs, outputs, **written)
    model = helper.make_model(helper.make_graph([node], "g", infos, []), opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    try:
        told = {v.name: element(v.type) for v in shape_inference.infer_shapes(model, strict_mode=True).graph.value_info}
    except shape_inference.InferenceError as error:
        if schema.name == "BitCast" or "TypeInference" in str(error) or "unsupported type" in str(error) or "inconsistent type" in str(error):
            return None
        told = {}
    fixed = lambda text: held(text) if text.startswith("tensor(") else None
    gives = [held(picked.get(v, "")) or told.get(o) or fixed(v) for o, v in zip(outputs, variables)]
    return types, gives


def text_of(key, value):
    """As attributes stand in our graphs."""
    if isinstance(value, TensorProto):
        return f"{key}={NAMES[value.data_type]}[1]"
    if isinstance(value, list):
        return f"{key}=[{','.join(map(str, value))}]"
    return f"{key}={value}"


def main():
    lines, silent = [], set()
    for schema in sorted(defs.get_all_schemas_with_history(), key=lambda s: (s.name, s.since_version)):
        if schema.domain or schema.name in BODIES or schema.deprecated or schema.support_level == defs.OpSchema.SupportType.EXPERIMENTAL:
            continue
        opset = max(schema.since_version, FIRST)
        if opset > LAST or defs.get_schema(schema.name, opset).since_version != schema.since_version:
            continue
        count = 0
        for picked in choices(schema):
            for written in attributes(schema):
                made = inferred(schema, opset, picked, written)
                if made is None:
                    continue
                if None in made[1]:  # Constant without a value
                    silent.add(f"{schema.name} {opset}: {made} {written.keys()}")
                    continue
                told = " ".join(text_of(k, v) for k, v in sorted(written.items()))
                lines.append(f"{schema.name} {opset}{' ' * bool(told)}{told}: {', '.join(made[0])} -> {', '.join(made[1])}".replace(":  ->", ": ->"))
                count += 1
        if not count:
            silent.add(f"{schema.name} {opset}: nothing")
    with open(sys.argv[1], "w") as file:
        file.write("\n".join(dict.fromkeys(lines)) + "\n")
    print(len(lines), "nodes; left out:", *sorted(silent), sep="\n")


if __name__ == "__main__":
    main()

"""Which kernels a runtime has, by operator, opset and type: writes resources/onnx/runtimes.json.

    python3 tests/bench/measure_runtimes.py [ort] [openvino] [--tensorrt operators.md] [--out FILE]      (Python with numpy, onnx, onnxruntime, openvino)

Models of one node are handed to the runtime, in each opset that changed the operator and in each type: those of ONNX's own node tests with
their floating-point tensors in another type. A runtime says what it makes of them before it runs: ONNX Runtime in the graph that it
stores, OpenVINO in the graph that it executes. TensorRT is not run: its entry is what the list of operators of onnx-tensorrt says
(docs/operators.md). Entries of runtimes that are not named stay as they are.

A type of an operator has one of these, for all opsets or by the opset that begins it:
    native     computes in it
    float32    computes in float32, between casts (any other type that it computes in likewise)
    none       refused
"mixed" answers for operators whose parameters are float32 beside data of 16 bits, where that is another answer.
"""
import argparse
import json
import os
import re
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, defs, helper, numpy_helper

ROOT = Path(__file__).resolve().parents[2]
TYPES = {"float32": TensorProto.FLOAT, "float16": TensorProto.FLOAT16, "bfloat16": TensorProto.BFLOAT16}
OLDEST = 7  # of the opsets that Halftone reads
MOVES = {"Cast", "CastLike", "Constant", "ConstantOfShape", "RandomNormal", "RandomUniform", "EyeLike", "If", "Loop", "Scan"}  # the type is an attribute, or the body's

KEEPS = {"BatchNormalization"}  # conversions leave its parameters in float32 where they may have a type of their own


def schema_of(op, opset):
    try:
        return defs.get_schema(op, opset, "")
    except defs.SchemaError:
        return None


def node_tests():
    """By operator, tests of one node whose inputs have floating-point tensors, those with the fewest inputs first."""
    from onnx.backend.test.case.node import collect_testcases
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = collect_testcases(None)
    found = {}
    for case in cases:
        model = case.model
        if model is None or len(model.graph.node) != 1 or model.graph.node[0].domain or not case.data_sets:
            continue
        if any(i.type.tensor_type.elem_type == TensorProto.FLOAT for i in model.graph.input):
            found.setdefault(model.graph.node[0].op_type, []).append(case)
    for cases in found.values():
        cases.sort(key=lambda case: len(case.model.graph.input))
    return found


def bound_types(names, formals):
    """By tensor, the type variable that it is bound to; the last formal may be repeated."""
    bound = {}
    for k, name in enumerate(names):
        if name and formals:
            formal = formals[min(k, len(formals) - 1)]
            bound[name] = formal.type_str
    return bound


def retyped(case, opset, elem, keeps=False):
    """The test in that opset with its floating-point tensors in another type; None where the operator does not take it. keeps: without parameters
    that may have a type of their own."""
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    node = model.graph.node[0]
    schema = schema_of(node.op_type, opset)
    if schema is None or schema.since_version != opset:
        return None
    word = {TensorProto.FLOAT: "tensor(float)", TensorProto.FLOAT16: "tensor(float16)", TensorProto.BFLOAT16: "tensor(bfloat16)"}[elem]
    allowed = {c.type_param_str for c in schema.type_constraints if word in c.allowed_type_strs}
    bound = bound_types(node.input, schema.inputs) | bound_types(node.output, schema.outputs)
    if keeps:
        allowed &= {bound[node.input[0]]}
    changed = 0
    for value in [*model.graph.input, *model.graph.output]:
        tensor = value.type.tensor_type
        if tensor.elem_type == TensorProto.FLOAT and bound.get(value.name) in allowed:
            tensor.elem_type = elem
            changed += any(i.name == value.name for i in model.graph.input)
    if not changed:
        return None
    del model.opset_import[:]
    model.opset_import.append(helper.make_opsetid("", opset))
    model.ir_version = 8
    freeze(model, case.data_sets[0][0])
    return model


def freeze(model, data):
    """Integers, which say how and not what is computed, become constants; so do all shapes."""
    kept = [v for v in model.graph.input]
    del model.graph.input[:]
    for value, given in zip(kept, data):
        if isinstance(given, np.ndarray) and value.type.tensor_type.elem_type in (TensorProto.INT64, TensorProto.INT32, TensorProto.BOOL):
            model.graph.initializer.append(numpy_helper.from_array(given, value.name))
        else:
            model.graph.input.append(value)


class Ort:
    name, title = "ort", "ONNX Runtime CPU"

    def __init__(self):
        import onnxruntime
        self.rt = onnxruntime
        self.rt.set_default_logger_severity(4)
        self.version = self.rt.__version__
        self.file = tempfile.mkdtemp(prefix="measured") + "/graph.onnx"

    def session(self, model, stores=False):
        options = self.rt.SessionOptions()
        options.graph_optimization_level = self.rt.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        if stores:
            options.optimized_model_filepath = self.file
        return self.rt.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])

    def told(self, model, type_name):
        try:
            self.session(model, stores=True)
        except Exception as error:  # each release has classes of its own
            words = str(error)
            return "none" if "NOT_IMPLEMENTED" in words or "Could not find an implementation" in words or "Type Error" in words and type_name != "float32" else None
        stored = onnx.load(self.file)
        os.remove(self.file)
        if all(node.op_type == "Identity" for node in stored.graph.node):
            return None  # the test asks for nothing
        casts = any("InsertedPrecisionFreeCast" in name for node in stored.graph.node for name in (node.name, *node.input, *node.output))
        return "float32" if casts else "native"

    def takes(self, model):
        try:
            self.session(model)
            return True
        except Exception:
            return False


class OpenVino:
    name, title = "openvino", "OpenVINO CPU"
    SILENT = {"Input", "Output", "Const", "Reorder", "Convert", "Reshape", "Parameter", "Result"}
    WORDS = {"f32": "float32", "f16": "float16", "bf16": "bfloat16"}

    def __init__(self):
        import openvino
        self.core = openvino.Core()
        self.version = re.match(r"[0-9]+(\.[0-9]+)+", openvino.__version__)[0]

    def compiled(self, model, type_name):
        read = self.core.read_model(model.SerializeToString(), b"")
        hint = next(k for k, v in self.WORDS.items() if v == type_name)
        return self.core.compile_model(read, "CPU", {"INFERENCE_PRECISION_HINT": hint, "INFERENCE_NUM_THREADS": 1})

    def told(self, model, type_name):
        try:
            compiled = self.compiled(model, type_name)
        except Exception:
            return "none"
        ran = set()
        for op in compiled.get_runtime_model().get_ops():
            info = {k: str(v.value if hasattr(v, "value") else v) for k, v in op.get_rt_info().items()}
            if info.get("layerType") not in self.SILENT:
                ran.add(self.WORDS.get(info.get("runtimePrecision", "").lower()))
        ran.discard(None)
        if not ran:
            return None  # nothing but moves, or no floating point
        return "native" if ran == {type_name} else sorted(ran - {type_name})[0]

    def takes(self, model):
        try:
            self.compiled(model, "float32")
            return True
        except Exception:
            return False


def newest_opset(runtime):
    """The newest that it reads, by a model that every opset has."""
    for opset in range(defs.onnx_opset_version(), OLDEST, -1):
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4])
        y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 4])
        model = helper.make_model(helper.make_graph([helper.make_node("Sigmoid", ["x"], ["y"], name="n")], "g", [x], [y]), opset_imports=[helper.make_opsetid("", opset)])
        model.ir_version = 8
        if runtime.takes(model):
            return opset
    return OLDEST


def conv_codes(form, per_channel):
    """A convolution of codes, as quantize writes it: x -> QuantizeLinear -> ... -> DequantizeLinear -> y."""
    rng = np.random.default_rng(1)
    scales = np.full(8 if per_channel else (), 0.02, np.float32)  # of 8 output channels, beside 4 input channels
    zeros = np.zeros(scales.shape, np.int8)
    values = {"s": np.float32(0.05), "z": np.uint8(128), "w": rng.integers(-127, 128, (8, 4, 3, 3), np.int8), "ws": scales, "wz": zeros}
    nodes = [helper.make_node("QuantizeLinear", ["x", "s", "z"], ["c"], name="q")]
    if form == "qoperator":
        nodes += [helper.make_node("QLinearConv", ["c", "s", "z", "w", "ws", "wz", "s", "z"], ["d"], name="conv")]
    else:
        axis = {"axis": 0} if per_channel else {}
        nodes += [helper.make_node("DequantizeLinear", ["c", "s", "z"], ["a"], name="da"), helper.make_node("DequantizeLinear", ["w", "ws", "wz"], ["b"], name="db", **axis),
                  helper.make_node("Conv", ["a", "b"], ["v"], name="conv"), helper.make_node("QuantizeLinear", ["v", "s", "z"], ["d"], name="qd")]
    nodes += [helper.make_node("DequantizeLinear", ["d", "s", "z"], ["y"], name="dy")]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4, 8, 8])], [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 8, 6, 6])],
                              [numpy_helper.from_array(np.asarray(v), k) for k, v in values.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8
    return model


def told_by_opset(runtime, cases, op, opset, type_name, keeps=False):
    for case in cases[:4]:
        model = retyped(case, opset, TYPES[type_name], keeps)
        if model is None:
            continue
        plain = retyped(case, opset, TensorProto.FLOAT)
        if type_name != "float32" and runtime.told(plain, "float32") not in ("native", "none"):
            continue  # the test says something that this opset does not know
        told = runtime.told(model, type_name)
        if told is not None:
            return told
    return None


def answers_of(runtime, cases, op, sinces, type_name, keeps=False):
    """One word, or words by the opset that begins them; None: nothing is told."""
    by_opset = {since: told for since in sinces if (told := told_by_opset(runtime, cases, op, since, type_name, keeps)) is not None}
    first = {since: told for k, (since, told) in enumerate(by_opset.items()) if k == 0 or told != list(by_opset.values())[k - 1]}
    return ({str(k): v for k, v in first.items()} if len(first) > 1 else next(iter(first.values()))) if first else None


def kernels_of(runtime):
    newest = newest_opset(runtime)
    tests = node_tests()
    known = json.loads((ROOT / "resources/onnx/operators.json").read_text())
    table = {}
    for op in sorted(known):
        if op not in tests or op in MOVES:
            continue
        sinces = sorted({s.since_version for s in (schema_of(op, v) for v in range(OLDEST, newest + 1)) if s})
        for type_name in TYPES:
            if answers := answers_of(runtime, tests[op], op, sinces, type_name):
                table.setdefault(op, {})[type_name] = answers
        if op in KEEPS and (answers := answers_of(runtime, tests[op], op, sinces, "float16", keeps=True)) != table[op]["float16"]:
            table[op]["mixed"] = answers
    forms = {f"{form} {'channel' if per_channel else 'tensor'}": runtime.takes(conv_codes(form, per_channel)) for form in ("qdq", "qoperator") for per_channel in (False, True)}
    return {"name": runtime.name, "title": runtime.title, "version": runtime.version, "opset": newest, **({"widens_lone": True} if runtime.name == "ort" else {}), "int8": forms, "kernels": table}


def documented(path):
    """TensorRT as its list of operators has it. The forms of int8 are those of its developer guide: pairs with zero points of 0."""
    text = Path(path).read_text()
    version, opset = re.search(r"TensorRT ([0-9.]+[0-9]) supports operators.* to opset ([0-9]+)", text).groups()
    known = json.loads((ROOT / "resources/onnx/operators.json").read_text())
    words = {"float32": "FP32", "float16": "FP16", "bfloat16": "BF16"}
    table = {}
    for op, supported, types in re.findall(r"^\| (\w+) *\| ([YN])[^|]*\|([^|\n]*)", text, re.M):
        named = {t.strip() for t in types.split(",")}
        floats = {schema.since_version for schema in [schema_of(op, int(opset))] if schema and any("float" in t for c in schema.type_constraints for t in c.allowed_type_strs)}
        if op in known and op not in MOVES and floats and (supported == "N" or named & set(words.values())):
            table[op] = {name: "native" if supported == "Y" and word in named else "none" for name, word in words.items()}
    forms = {"qdq tensor": True, "qdq channel": True, "qoperator tensor": False, "qoperator channel": False, "asymmetric": False}
    return {"name": "tensorrt", "title": "TensorRT", "version": version, "documented": True, "opset": int(opset), "int8": forms, "kernels": table}


def processor_flags():
    text = Path("/proc/cpuinfo").read_text() if os.path.exists("/proc/cpuinfo") else ""
    flags = next((line for line in text.splitlines() if line.startswith("flags")), "").split()
    return [f for f in ("avx2", "avx512f", "avx512_vnni", "avx512_bf16", "avx512_fp16", "amx_tile", "amx_fp16") if f in flags]


def text_of(table):
    """One line an operator, so that a newer release shows as the lines that it changed."""
    lines = ["{", f' "processor": {json.dumps(table["processor"])},', ' "runtimes": [']
    for k, one in enumerate(table["runtimes"]):
        head = {key: value for key, value in one.items() if key != "kernels"}
        lines.append("  " + json.dumps(head)[:-1] + ', "kernels": {')
        rows = [f"   {json.dumps(op)}: {json.dumps(types)}" for op, types in one["kernels"].items()]
        lines.append(",\n".join(rows))
        lines.append("  }}" + ("," if k + 1 < len(table["runtimes"]) else ""))
    return "\n".join([*lines, " ]", "}", ""])


def main():
    q = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    q.add_argument("runtimes", nargs="*", metavar="ort|openvino")
    q.add_argument("--tensorrt", metavar="operators.md", help="the list of onnx-tensorrt")
    q.add_argument("--out", default=str(ROOT / "resources/onnx/runtimes.json"))
    a = q.parse_args()
    out = Path(a.out)
    table = json.loads(out.read_text()) if out.exists() else {"runtimes": []}
    kept = {one["name"]: one for one in table["runtimes"]}
    for kind in (Ort, OpenVino):
        if kind.name in a.runtimes or not (a.runtimes or a.tensorrt):
            kept[kind.name] = kernels_of(kind())
            print(f"{kind.title} {kept[kind.name]['version']}: {len(kept[kind.name]['kernels'])} operators", file=sys.stderr)
    if a.tensorrt:
        kept["tensorrt"] = documented(a.tensorrt)
    out.write_text(text_of({"processor": processor_flags(), "runtimes": list(kept.values())}))


if __name__ == "__main__":
    main()

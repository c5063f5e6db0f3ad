"""Files that Halftone wrote, made ready for ONNX Runtime."""
import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from model import attribute_graphs

HALVES = (TensorProto.FLOAT16, TensorProto.BFLOAT16)


def is_flat(group):
    """Whether its nodes have no bodies and call no functions of the model."""
    return not any(n.domain == "local" or any(True for _ in attribute_graphs(n)) for n in group.nodes)


def as_declared(model, feeds):
    """The arrays in the types that the file's inputs have."""
    types = {i.name: i.type.tensor_type.elem_type for i in model.graph.input}
    wanted = {TensorProto.FLOAT16: np.float16, TensorProto.FLOAT: np.float32}
    with np.errstate(over="ignore"):
        return {k: v.astype(wanted[types[k]]) if types[k] in wanted else v for k, v in feeds.items()}


def in_float32(model):
    """The same file with float16 and bfloat16 as the definition has them: what is computed in float32 is rounded. ONNX Runtime has casts to these types and hardly more, and
    leaves roundings out between the operators that it has in float32 alone. Needs: flat nodes."""
    typed = onnx.shape_inference.infer_shapes(model)
    types = {v.name: v.type.tensor_type.elem_type for v in [*typed.graph.value_info, *typed.graph.input, *typed.graph.output]}
    twin = onnx.ModelProto()
    twin.CopyFrom(model)
    graph = twin.graph
    del graph.node[:], graph.value_info[:], graph.initializer[:]
    for node in model.graph.node:
        made = graph.node.add()
        made.CopyFrom(node)
        for attribute in made.attribute:
            if attribute.HasField("t") and attribute.t.data_type in HALVES:
                attribute.t.CopyFrom(widened(attribute.t))
            if attribute.name in ("to", "dtype", "output_datatype", "output_dtype") and attribute.i in HALVES:
                attribute.i = TensorProto.FLOAT
        for k, name in enumerate(node.output):
            if types.get(name) in HALVES:
                made.output[k] = f"{name}_wide"
                graph.node.append(helper.make_node("Cast", [f"{name}_wide"], [f"{name}_half"], to=types[name]))
                graph.node.append(helper.make_node("Cast", [f"{name}_half"], [name], to=TensorProto.FLOAT))
    graph.initializer.extend(widened(t) if t.data_type in HALVES else t for t in model.graph.initializer)
    for value in [*graph.input, *graph.output]:
        if value.type.tensor_type.elem_type in HALVES:
            value.type.tensor_type.elem_type = TensorProto.FLOAT
    return twin


def rounded(array, precision):
    """An array of float32 as the type holds it: float16, or float32 with the numbers of bfloat16."""
    if array.dtype != np.float32:
        return array
    with np.errstate(over="ignore"):
        return array.astype(np.float16) if precision == "float16" else array.astype(ml_dtypes.bfloat16).astype(np.float32)


def widened(tensor):
    return numpy_helper.from_array(numpy_helper.to_array(tensor).astype(np.float32), tensor.name)


def show_codes(model):
    """Makes the codes that a file computes outputs of it; their names, in order."""
    outputs = {o.name for o in model.graph.output}
    names = [o for n in model.graph.node if n.op_type in ("QuantizeLinear", "QGemm") or n.op_type.startswith("QLinear") for o in n.output if o]
    model.graph.output.extend(onnx.ValueInfoProto(name=n) for n in names if n not in outputs)
    return names

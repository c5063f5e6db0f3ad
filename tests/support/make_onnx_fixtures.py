"""Writes tests/data/onnx: python3 make_onnx_fixtures.py FOLDER. Needs onnx and onnxruntime, whose results are the goldens.

kept.onnx      one of everything that a file can say and a reader must keep: metadata, doc strings, value_info, a function and a call of it, an
               operator of an unknown domain, a body that captures a value, absent optional inputs, attributes of all kinds, initializers of all types
NAME.onnx with NAME.npz  small models with inputs (in.X) and the values that ONNX Runtime gives (out.Y)
"""
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto as T, helper as h, numpy_helper as nh


def value(name, shape, kind=T.FLOAT):
    return h.make_tensor_value_info(name, kind, shape)


def model(graph, opset=17, ir=8, **more):
    return h.make_model(graph, opset_imports=[h.make_opsetid("", opset)], ir_version=ir, producer_name="fixtures", producer_version="1", **more)


def kept():
    typed = [nh.from_array(np.arange(4).astype(kind), f"as_{kind}") for kind in
             ("float32", "float64", "float16", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "bool")]
    then = h.make_graph([h.make_node("Relu", ["h"], ["t"], name="in_then")], "then", [], [value("t", ["N", 4])])
    other = h.make_graph([h.make_node("Add", ["h", "one"], ["e"], name="in_else")], "else", [], [value("e", ["N", 4])],
                         [nh.from_array(np.ones(1, np.float32), "one")])
    odd = h.make_node("Odd", ["x", "", "as_float32"], ["o", "", "p"], domain="com.example", name="odd", i=3, f=0.1, s="text, [with] \\marks",
                      ints=[1, -2], floats=[0.5, 1e-9], strings=["a,b", "c"], t=nh.from_array(np.ones((1, 2), np.float32), "held"))
    odd.doc_string = "said of a node"
    nodes = [h.make_node("MatMul", ["x", "w"], ["h"], name="product"), odd, h.make_node("Clip", ["o", "", "most"], ["c"]),
             h.make_node("If", ["flag"], ["b"], then_branch=then, else_branch=other, name="choice"), h.make_node("Twice", ["b"], ["y"], domain="fn", name="call")]
    graph = h.make_graph(nodes, "kept", [value("x", ["N", 3]), value("flag", [], T.BOOL)], [value("y", ["N", 4]), value("c", None)],
                         [nh.from_array(np.arange(12, dtype=np.float32).reshape(3, 4), "w"), nh.from_array(np.float32(6), "most"), *typed],
                         doc_string="said of the graph", value_info=[value("h", ["N", 4])])
    twice = h.make_function("fn", "Twice", ["a"], ["r"], [h.make_node("Add", ["a", "a"], ["r"])], [h.make_opsetid("", 17)])
    made = model(graph, functions=[twice], doc_string="said of the model")
    made.opset_import.extend([h.make_opsetid("com.example", 2), h.make_opsetid("fn", 1)])
    h.set_model_props(made, {"author": "nobody", "about": "öäü"})
    return made


def small():
    rng = np.random.default_rng(1)
    draw = lambda *shape: rng.standard_normal(shape).astype(np.float32)
    constant = lambda name, v: nh.from_array(np.asarray(v), name)
    g = h.make_graph([h.make_node("Relu", ["x"], ["a"]), h.make_node("Reshape", ["a", "s"], ["r"]), h.make_node("Add", ["r", "b"], ["y"])], "moved",
                     [value("x", ["N", 6])], [value("y", ["N", 2, 3])], [constant("s", np.array([-1, 2, 3])), constant("b", draw(3))])
    yield "reshape", model(g), {"x": draw(2, 6)}
    g = h.make_graph([h.make_node("Constant", [], ["k"], value_ints=[3, 2]), h.make_node("Reshape", ["x", "k"], ["y"])], "constant", [value("x", [2, 3])],
                     [value("y", [3, 2])])
    yield "constant", model(g), {"x": draw(2, 3)}


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(exist_ok=True, parents=True)
    (folder / "kept.onnx").write_bytes(kept().SerializeToString(deterministic=True))
    for name, made, feed in small():
        onnx.checker.check_model(made, full_check=True)
        onnx.save(made, folder / f"{name}.onnx")
        session = onnxruntime.InferenceSession(made.SerializeToString())
        outputs = dict(zip([o.name for o in session.get_outputs()], session.run(None, feed)))
        np.savez(folder / f"{name}.npz", **{f"in.{k}": v for k, v in feed.items()}, **{f"out.{k}": v for k, v in outputs.items()})


if __name__ == "__main__":
    main()

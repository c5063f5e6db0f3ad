"""Writes tests/data/onnx: python3 make_onnx_fixtures.py FOLDER. Needs onnx and onnxruntime, whose results are the goldens.

kept.onnx      one of everything that a file can say and a reader must keep: metadata, doc strings, value_info, a function and a call of it, an
               operator of an unknown domain, a body that captures a value, absent optional inputs, attributes of all kinds, initializers of all types
choice.onnx    an If whose branches read the graph around them; choice-CASE-inputs.npz and the values that ONNX Runtime gives for them
sums.onnx      a Scan that adds up rows; sums-inputs.npz, -values.npz
steps.onnx     a Loop around a product, one of whose states grows; it reads the number of the step, its condition ends it early, a Loop in it takes
               no step; steps-CASE-inputs.npz and -values.npz, with and without a step
edges.onnx     a Loop with an If and a Scan in it, around products; edges-CASE-inputs.npz and -values.npz
heads.onnx     an output amid the graph, an operator that nobody knows between products, an input of texts, and one that nothing reads
attention.onnx  products and a softmax that an Attention of opset 23 reads
sequences.onnx  products that go into sequences and come out again
endless.onnx   a Loop of so many steps that they take hours, just below what is refused
walk.onnx      a Scan from the end along the second axis that gives what it makes along the last, and reads the graph around it
transformer.onnx  two layers of BERT's shape, small, as tests/bench/make_bert.py writes them; transformer-inputs.npz, -values.npz
told.onnx      operators whose outputs have other types than their inputs, or which no program runs in every type that their schemas allow; told-inputs.npz, -values.npz
norms13.onnx   normalizations with variances that float16 cannot hold; norms14.onnx: the same where they may be float32
positions.onnx  whole numbers and times in floats, and what reads them
defaults.onnx  inputs with values in the file; defaults_some.onnx: of IR 4, where one initializer is no input; defaults_old.onnx: where all are, as old
               exporters wrote
bounds.onnx    epsilons that float16 makes 0
bounds_shared.onnx  the same, each read by several operators and by a branch
shape_in_branch.onnx  a branch that multiplies an input and reads its shape
left_out.onnx  outputs before others that are not taken
foreign.onnx   inputs and parameters of types that are not computed with
calls.onnx     operators of ONNX Runtime and a call of a function
network.onnx   a small classifier of drawn weights for the inputs of resources/sample/digits-test.npz; one of its nodes has no name
"""
import argparse
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto as T, helper as h, numpy_helper as nh, parser


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


def choice():
    """Two branches that read the graph around them; what a Constant holds is the shape of the last step."""
    draw = lambda *shape: np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    then = h.make_graph([h.make_node("Mul", ["x", "w"], ["t"])], "then", [], [value("t", [2, 4])])
    other = h.make_graph([h.make_node("Relu", ["x"], ["r"]), h.make_node("Add", ["r", "one"], ["e"])], "else", [], [value("e", [2, 4])],
                         [nh.from_array(np.ones(1, np.float32), "one")])
    graph = h.make_graph([h.make_node("If", ["flag"], ["b"], else_branch=other, then_branch=then), h.make_node("Constant", [], ["k"], value_ints=[4, 2]),
                          h.make_node("Reshape", ["b", "k"], ["y"])], "choice", [value("flag", [], T.BOOL), value("x", [2, 4])], [value("y", [4, 2])],
                         [nh.from_array(draw(2, 4), "w")])
    return model(graph), draw(2, 4)


def edges():
    """Products in branches of a Loop and in a Scan in one of them, all on one value that is carried on; a second state that its body does not read, and
    one that adds up what it has no part in."""
    w = nh.from_array(np.random.default_rng(13).standard_normal((4, 4)).astype(np.float32) / 2, "w")
    row = h.make_graph([h.make_node("Add", ["s", "r"], ["s1"]), h.make_node("MatMul", ["s1", "w"], ["s2"]), h.make_node("Relu", ["s2"], ["s3"])], "row",
                       [value("s", [4]), value("r", [4])], [value("s2", [4]), value("s3", [4])])
    then = h.make_graph([h.make_node("MatMul", ["m", "w"], ["t1"]), h.make_node("Relu", ["t1"], ["t2"])], "then", [], [value("t2", [2, 4])])
    other = h.make_graph([h.make_node("ReduceMax", ["m"], ["first"], axes=[0], keepdims=0), h.make_node("Scan", ["first", "m"], ["last", "all"], body=row, num_scan_inputs=1)],
                         "else", [], [value("all", [2, 4])])
    body = h.make_graph([h.make_node("MatMul", ["a", "w"], ["m"]), h.make_node("If", ["flag"], ["c"], then_branch=then, else_branch=other),
                         h.make_node("Tanh", ["c"], ["next"]), h.make_node("Identity", ["goes"], ["on"]), h.make_node("Relu", ["m"], ["unread"]),
                         h.make_node("Add", ["sum", "m"], ["more"])], "body",
                        [value("i", [], T.INT64), value("goes", [], T.BOOL), value("a", [2, 4]), value("b", [2, 4]), value("sum", [2, 4])],
                        [value("on", [], T.BOOL), value("next", [2, 4]), value("unread", [2, 4]), value("more", [2, 4])])
    graph = h.make_graph([h.make_node("Loop", ["trips", "", "x", "zero", "zero"], ["y0", "z", "total"], body=body, name="loop"), h.make_node("Relu", ["y0"], ["y"]),
                          h.make_node("MatMul", ["z", "w"], ["z1"])], "edges",
                         [value("flag", [], T.BOOL), value("x", [2, 4])], [value("y", [2, 4]), value("z1", [2, 4]), value("total", [2, 4])],
                         [w, nh.from_array(np.zeros((2, 4), np.float32), "zero"), nh.from_array(np.array(3, np.int64), "trips")])
    return model(graph)


def constants():
    """Weights that nodes hold, as exporters write them, and an initializer of a branch; one value is beyond float16. The scalar is read in float32, too."""
    draw = lambda *shape: nh.from_array(np.random.default_rng(6).standard_normal(shape).astype(np.float32))
    then = h.make_graph([h.make_node("MatMul", ["b", "v"], ["t"])], "then", [], [value("t", [2, 5])],
                        [nh.from_array(np.random.default_rng(8).standard_normal((4, 5)).astype(np.float32), "v")])
    other = h.make_graph([h.make_node("Constant", [], ["u"], value=draw(4, 5)), h.make_node("MatMul", ["b", "u"], ["e"])], "else", [], [value("e", [2, 5])])
    far = nh.from_array(np.array([1e6, 2, 3, 4], np.float32))
    nodes = [h.make_node("Constant", [], ["w"], value=draw(3, 4), name="weights"), h.make_node("MatMul", ["x", "w"], ["p"], name="product"),
             h.make_node("Constant", [], ["s"], value_float=0.5), h.make_node("Mul", ["p", "s"], ["m"]), h.make_node("Constant", [], ["far"], value=far, name="distant"),
             h.make_node("Min", ["m", "far"], ["b"]), h.make_node("If", ["flag"], ["c"], then_branch=then, else_branch=other, name="choice"),
             h.make_node("Exp", ["s"], ["z"]), h.make_node("Relu", ["c"], ["y"])]
    return model(h.make_graph(nodes, "constants", [value("flag", [], T.BOOL), value("x", [2, 3])], [value("y", [2, 5]), value("z", [])]))


def norms(opset):
    """Three normalizations, two of whose variances float16 cannot hold: once an initializer, once what a node holds."""
    draw = np.random.default_rng(7)
    nodes, held = [], [nh.from_array(draw.standard_normal((4, 3, 1, 1)).astype(np.float32), "w")]
    nodes.append(h.make_node("Conv", ["x", "w"], ["c"], name="conv"))
    before = "c"
    for name, variance in (("stored", [1, 2, 70000, 3]), ("held", [65504, 65536, 1, 1]), ("small", [1, 2, 65504, 3])):
        parts = {"scale": np.ones(4), "shift": draw.standard_normal(4), "mean": draw.standard_normal(4), "variance": np.array(variance)}
        for part, values in parts.items():
            tensor = nh.from_array(values.astype(np.float32), f"{name}_{part}")
            if name == "held" and part == "variance":
                nodes.append(h.make_node("Constant", [], [tensor.name], value=tensor, name="constant"))
            else:
                held.append(tensor)
        nodes.append(h.make_node("BatchNormalization", [before, *(f"{name}_{part}" for part in parts)], [f"{name}_out"], name=name))
        before = f"{name}_out"
    nodes.append(h.make_node("Relu", [before], ["y"], name="relu"))
    return model(h.make_graph(nodes, "norms", [value("x", [1, 3, 2, 2])], [value("y", [1, 4, 2, 2])], held), opset)


def told():
    """Mean and deviation of a LayerNormalization are float32 whatever it reads; an identity has the type of what it is like."""
    draw = np.random.default_rng(11)
    held = [nh.from_array(draw.standard_normal(shape).astype(np.float32), name) for name, shape in (("w", (4, 4)), ("scale", (4,)), ("bias", (4,)))]
    nodes = [h.make_node("MatMul", ["x", "w"], ["p"], name="product"),
             h.make_node("LayerNormalization", ["p", "scale", "bias"], ["n", "mean", "deviation"], name="layer"),
             h.make_node("Mul", ["n", "deviation"], ["scaled"], name="scaled"), h.make_node("Sub", ["scaled", "mean"], ["moved"], name="moved"),
             h.make_node("RMSNormalization", ["moved", "scale"], ["root"], name="root"), h.make_node("EyeLike", ["w"], ["identity"], name="identity"),
             h.make_node("MatMul", ["root", "identity"], ["again"], name="again"), h.make_node("Reshape", ["again", "square"], ["image"], name="image"),
             h.make_node("MeanVarianceNormalization", ["image"], ["spread"], name="spread"), h.make_node("Relu", ["spread"], ["y"], name="last")]
    return model(h.make_graph(nodes, "told", [value("x", [8, 4])], [value("y", [2, 4, 2, 2])],
                              [*held, nh.from_array(np.array([2, 4, 2, 2]), "square")]), 23, 11)


def odd():
    """What the unknown operator gives is read beside what is known."""
    nodes = [h.make_node("Softmax", ["x"], ["s"]), h.make_node("Odd", ["y"], ["u"], domain="com.example"), h.make_node("Transpose", ["u"], ["t"]),
             h.make_node("MatMul", ["s", "t"], ["p"]), h.make_node("Add", ["t", "u"], ["c"]), h.make_node("MatMul", ["p", "c"], ["z"])]
    made = model(h.make_graph(nodes, "odd", [value("x", [2, 3]), value("y", [3, 3])], [value("z", [2, 3])]))
    made.opset_import.append(h.make_opsetid("com.example", 1))
    return made


def heads():
    nodes = [h.make_node("MatMul", ["x", "v"], ["first"]), h.make_node("Odd", ["first", "texts"], ["u"], domain="com.example"),
             h.make_node("MatMul", ["u", "w"], ["second"])]
    made = model(h.make_graph(nodes, "heads", [value("spare", ["N", 4]), value("texts", [2], T.STRING), value("x", [2, 3])],
                              [value("first", [2, 3]), value("second", [2, 3])],
                              [nh.from_array(np.full((3, 3), k, np.float32), name) for k, name in ((0.5, "v"), (2, "w"))]))
    made.opset_import.append(h.make_opsetid("com.example", 1))
    return made


def attention():
    nodes = [h.make_node("MatMul", ["x", "w"], ["q"]), h.make_node("MatMul", ["x", "x"], ["k"]), h.make_node("Softmax", ["x"], ["s"]),
             h.make_node("Attention", ["q", "k", "s"], ["y"], name="attention", q_num_heads=2, kv_num_heads=2)]
    return model(h.make_graph(nodes, "attention", [value("x", [1, 4, 4])], [value("y", [1, 4, 4])], [nh.from_array(np.eye(4, dtype=np.float32), "w")]), 23, 11)


def sums():
    body = h.make_graph([h.make_node("Add", ["sum", "row"], ["next"]), h.make_node("Identity", ["next"], ["told"])], "step",
                        [value("sum", [2]), value("row", [2])], [value("next", [2]), value("told", [2])])
    scan = h.make_node("Scan", ["first", "x"], ["y", "z"], num_scan_inputs=1, body=body, name="adding")
    return model(h.make_graph([scan], "sums", [value("first", [2]), value("x", [3, 2])], [value("y", [2]), value("z", [3, 2])]))


def steps():
    """x is multiplied by w in each step, rows gathers what was made, until the sum is above the limit."""
    inner = h.make_graph([h.make_node("Add", ["v", "v"], ["twice"]), h.make_node("Identity", ["c1"], ["c2"]), h.make_node("Identity", ["twice"], ["each"])], "inner",
                         [value("j", [], T.INT64), value("c1", [], T.BOOL), value("v", [1, 3])],
                         [value("c2", [], T.BOOL), value("twice", [1, 3]), value("each", [1, 3])])
    nodes = [h.make_node("MatMul", ["state", "w"], ["product"]), h.make_node("Cast", ["i"], ["number"], to=T.FLOAT),
             h.make_node("Add", ["product", "number"], ["next"]), h.make_node("Concat", ["rows", "next"], ["more"], axis=0),
             h.make_node("ReduceSum", ["next"], ["total"], keepdims=0), h.make_node("Less", ["total", "limit"], ["goes"]),
             h.make_node("Loop", ["none", "", "next"], ["same", "nothing"], body=inner), h.make_node("Add", ["same", "next"], ["given"])]
    body = h.make_graph(nodes, "step", [value("i", [], T.INT64), value("before", [], T.BOOL), value("state", [1, 3]), value("rows", ["R", 3])],
                        [value("goes", [], T.BOOL), value("next", [1, 3]), value("more", ["S", 3]), value("given", [1, 3])],
                        [nh.from_array(np.array(0, np.int64), "none")])
    loop = h.make_node("Loop", ["most", "first", "x", "x"], ["y", "rows_out", "each"], body=body, name="stepping")
    random = np.random.default_rng(4)
    return model(h.make_graph([loop], "steps", [value("most", [], T.INT64), value("first", [], T.BOOL), value("x", [1, 3]), value("limit", [])],
                              [value("y", [1, 3]), value("rows_out", ["Q", 3]), value("each", ["P", 1, 3])],
                              [nh.from_array(random.standard_normal((3, 3)).astype(np.float32), "w")]))


def sequences():
    nodes = [h.make_node("MatMul", ["x", "w"], ["rows"], name="product"), h.make_node("SplitToSequence", ["rows", "two"], ["parts"], name="split", axis=1),
             h.make_node("SequenceAt", ["parts", "one"], ["second"], name="at"), h.make_node("SequenceConstruct", ["second", "second"], ["pair"], name="pair"),
             h.make_node("SequenceInsert", ["pair", "second"], ["three"], name="insert"), h.make_node("ConcatFromSequence", ["three"], ["joined"], name="join", axis=0),
             h.make_node("Mul", ["joined", "joined"], ["y"], name="square")]
    return model(h.make_graph(nodes, "sequences", [value("x", ["N", 4])], [value("y", ["M", 2])],
                              [nh.from_array(np.eye(4, dtype=np.float32), "w"), nh.from_array(np.array(2), "two"), nh.from_array(np.array(1), "one")]))


def lists():
    """Parts of x are taken, put in, taken out, counted and joined."""
    return parser.parse_model("""<ir_version: 9, opset_import: ["" : 17]>
lists (float[4, 3] x, int64 k) => (float[N, M] y, int64 n, float[A, B] at, float[C, D, E] stacked) {
  two = Constant<value_int = 2>()
  parts = SplitToSequence<axis = 0>(x, two)
  at = SequenceAt(parts, k)
  more = SequenceInsert(parts, at)
  zero = Constant<value_int = 0>()
  fewer = SequenceErase(more, zero)
  y = ConcatFromSequence<axis = 0>(fewer)
  n = SequenceLength(more)
  pair = SequenceConstruct(at, at)
  stacked = ConcatFromSequence<axis = -1, new_axis = 1>(pair)
}""")


def list_in_loop():
    """A loop carries a list, to which each step adds."""
    return parser.parse_model("""<ir_version: 9, opset_import: ["" : 17]>
list_in_loop (float[3] x, int64 n) => (float[N] y) {
  empty = SequenceEmpty<dtype = 1>()
  go = Constant<value = bool {1}>()
  all = Loop (n, go, empty) <body = step (int64 i, bool c, seq(float[K]) l) => (bool c2, seq(float[J]) l2) {
    f = Cast<to = 1>(i)  v = Mul(x, f)  l2 = SequenceInsert(l, v)  c2 = Identity(c) }>
  y = ConcatFromSequence<axis = 0>(all)
}""")


def endless():
    body = h.make_graph([h.make_node("Relu", ["v"], ["w"])], "step", [value("i", [], T.INT64), value("goes", [], T.BOOL), value("v", [2])],
                        [value("goes", [], T.BOOL), value("w", [2])])
    loop = h.make_node("Loop", ["most", "", "x"], ["y"], body=body, name="turning")
    return model(h.make_graph([loop], "endless", [value("x", [2])], [value("y", [2])], [nh.from_array(np.array(2 * 10**9, np.int64), "most")]))


def walk():
    body = h.make_graph([h.make_node("Mul", ["sum", "scale"], ["less"]), h.make_node("Add", ["less", "row"], ["next"]),
                         h.make_node("Identity", ["next"], ["told"]), h.make_node("Neg", ["row"], ["minus"])], "step",
                        [value("sum", [2]), value("row", [2])], [value("next", [2]), value("told", [2]), value("minus", [2])])
    scan = h.make_node("Scan", ["first", "x"], ["y", "z", "m"], num_scan_inputs=1, body=body, scan_input_axes=[1], scan_input_directions=[1],
                       scan_output_axes=[-1, 0], scan_output_directions=[0, 1], name="walking")
    return model(h.make_graph([scan], "walk", [value("first", [2]), value("x", [2, 4])], [value("y", [2]), value("z", [2, 4]), value("m", [4, 2])],
                              [nh.from_array(np.array([0.5, -0.25], np.float32), "scale")]))


def network():
    random = np.random.default_rng(3)
    draw = lambda *shape: (random.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32)
    weights = {"w0": draw(8, 1, 3, 3), "b0": draw(8), "w1": draw(8, 8, 3, 3), "w2": draw(10, 8), "b2": draw(10)}
    same = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}
    nodes = [h.make_node("Conv", ["data", "w0", "b0"], ["c0"], name="conv0", **same), h.make_node("Relu", ["c0"], ["r0"], name="relu0"),
             h.make_node("Conv", ["r0", "w1"], ["c1"], **same), h.make_node("Add", ["c1", "r0"], ["a1"], name="add1"),
             h.make_node("GlobalAveragePool", ["a1"], ["g"], name="pool"), h.make_node("Flatten", ["g"], ["f"], name="flat"),
             h.make_node("Gemm", ["f", "w2", "b2"], ["s"], name="scores", transB=1), h.make_node("Softmax", ["s"], ["prob"], name="softmax")]
    return model(h.make_graph(nodes, "network", [value("data", ["N", 1, 8, 8])], [value("prob", ["N", 10])],
                              [nh.from_array(array, name) for name, array in weights.items()]))


def transformer():
    sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))
    import make_bert
    made = make_bert.make(argparse.Namespace(layers=2, width=16, heads=2, tokens=6, vocabulary=20, batch=2))
    mask = np.ones((2, 6), np.int64)
    mask[1, 4:] = 0
    draw = np.random.default_rng(7)
    return made, {"input_ids": draw.integers(0, 20, (2, 6)), "attention_mask": mask, "token_type_ids": draw.integers(0, 2, (2, 6))}


def zip_map():
    """Labels that are texts and scores by label: values that are no tensors of numbers."""
    nodes = [h.make_node("LinearClassifier", ["x"], ["label", "scores"], "label", domain="ai.onnx.ml", coefficients=[1.0, 2, 3, 4, 5, 6], intercepts=[0.0, 1, 2], classlabels_ints=[0, 1, 2]),
             h.make_node("LabelEncoder", ["label"], ["name"], "name", domain="ai.onnx.ml", keys_int64s=[0, 1, 2], values_strings=["a", "b", "c"]),
             h.make_node("ZipMap", ["scores"], ["z"], "z", domain="ai.onnx.ml", classlabels_int64s=[0, 1, 2])]
    scores = h.make_sequence_type_proto(h.make_map_type_proto(T.INT64, h.make_tensor_type_proto(T.FLOAT, None)))
    graph = h.make_graph(nodes, "zip_map", [h.make_tensor_value_info("x", T.FLOAT, ["n", 2])], [h.make_tensor_value_info("name", T.STRING, ["n"]), h.make_value_info("z", scores)])
    return h.make_model(graph, opset_imports=[h.make_opsetid("", 15), h.make_opsetid("ai.onnx.ml", 2)], ir_version=8)


def sparse():
    """A factor of a product that the file holds sparsely; its last value is beyond float16."""
    held = h.make_sparse_tensor(nh.from_array(np.array([0.1, -2.5, 3, 1e6], np.float32), "w"), nh.from_array(np.array([0, 3, 5, 9]), "places"), [4, 3])
    graph = h.make_graph([h.make_node("MatMul", ["x", "w"], ["y"])], "sparse", [h.make_tensor_value_info("x", T.FLOAT, [2, 4])], [h.make_tensor_value_info("y", T.FLOAT, [2, 3])], sparse_initializer=[held])
    return h.make_model(graph, opset_imports=[h.make_opsetid("", 17)], ir_version=8)


def mixed_signs():
    """A convolution between pairs for each mix of types of its data, weights and result, called by them."""
    draw, nodes, held, outputs = np.random.default_rng(11), [], [], []
    hold = lambda name, array: held.append(nh.from_array(np.asarray(array), name)) or name
    weights = draw.integers(0, 100, (3, 2, 3, 3))
    step = hold("step", np.float32(0.02))
    for data, weight, result in ((a, b, c) for a in ("int8", "uint8") for b in ("int8", "uint8") for c in ("int8", "uint8")):
        name = f"{data}_{weight}_{result}"
        zero = lambda part, kind, at: hold(f"{name}_{part}_zero", np.array(at, kind))
        of_data, of_weight, of_result = zero("data", data, 3), zero("weight", weight, 0), zero("result", result, 5)
        pair = lambda value, of, to: (h.make_node("QuantizeLinear", [value, step, of], [to + "_codes"]), h.make_node("DequantizeLinear", [to + "_codes", step, of], [to]))
        nodes += [*pair("x", of_data, f"{name}_x"), h.make_node("DequantizeLinear", [hold(f"{name}_codes", weights.astype(weight)), step, of_weight], [f"{name}_w"]),
                  h.make_node("Conv", [f"{name}_x", f"{name}_w"], [f"{name}_made"], name), *pair(f"{name}_made", of_result, f"{name}_y")]
        outputs.append(h.make_tensor_value_info(f"{name}_y", T.FLOAT, [1, 3, 3, 3]))
    graph = h.make_graph(nodes, "mixed_signs", [h.make_tensor_value_info("x", T.FLOAT, [1, 2, 5, 5])], outputs, held)
    return h.make_model(graph, opset_imports=[h.make_opsetid("", 17)], ir_version=8)


def positions():
    """Whole numbers in floats: nodes called held… must not round them, those called free… may (M-position)."""
    f = lambda *shape: np.linspace(-0.9, 0.8, int(np.prod(shape)), dtype=np.float32).reshape(shape)
    init = {
        "axis1": np.array([1], np.int64), "axis2": np.array([2], np.int64), "begin0": np.array([0], np.int64), "end2": np.array([2], np.int64), "end4": np.array([4], np.int64),
        "frequencies": (1 / 10000 ** (np.arange(4) / 4)).astype(np.float32).reshape(1, 4, 1), "rates": np.array([[1, 0.5, 0.25]], np.float32),
        "wq": f(8, 8), "ws": f(8, 6), "table": f(64, 4), "wf": f(2, 4), "one": np.array(1, np.float32), "large": np.array(-1e4, np.float32), "fall": np.array(-0.3, np.float32),
        "from0": np.array(0, np.int64), "to6": np.array(6, np.int64), "by1": np.array(1, np.int64), "k3": np.array([3], np.int64), "width": np.array(4, np.float32),
        "limit": np.array(0.5, np.float32), "cumulative": np.array(1, np.int64), "end": np.array(7, np.float32),
    }
    n = h.make_node
    then = h.make_graph([n("Mul", ["position", "fall"], ["b1"], "held_inside"), n("Sin", ["b1"], ["b2"], "held_wave_inside")], "then", [], [value("b2", ["N", 1, 6])])
    other = h.make_graph([n("Neg", ["position"], ["e1"], "free_inside")], "other", [], [value("e1", ["N", 1, 6])])
    nodes = [
        n("Unsqueeze", ["position_ids", "axis1"], ["p1"], "free_rows"), n("Cast", ["p1"], ["position"], "free_cast", to=T.FLOAT),
        n("MatMul", ["frequencies", "position"], ["angles"], "held_angles"), n("Transpose", ["angles"], ["turned"], "held_transpose", perm=[0, 2, 1]),
        n("Concat", ["turned", "turned"], ["both"], "held_join", axis=-1), n("Sin", ["both"], ["sine"], "held_sine"), n("Cos", ["both"], ["cosine"], "held_cosine"),
        n("Sigmoid", ["x"], ["squashed"], "free_squashed"), n("MatMul", ["squashed", "wq"], ["q"], "free_query"), n("Mul", ["q", "cosine"], ["qc"], "free_product"), n("Mul", ["q", "sine"], ["qs"], "free_other_product"),
        n("Add", ["qc", "qs"], ["rope"], "free_sum"), n("Sin", ["q"], ["y2"], "free_wave"),
        n("Unsqueeze", ["time", "axis1"], ["t1"], "held_time"), n("Mul", ["t1", "rates"], ["t2"], "held_rates"), n("Cos", ["t2"], ["y3"], "held_time_wave"),
        n("Range", ["from0", "to6", "by1"], ["r1"], "free_range"), n("Cast", ["r1"], ["r2"], "free_range_cast", to=T.FLOAT), n("Mul", ["r2", "fall"], ["r3"], "held_exponent"), n("Exp", ["r3"], ["y4"], "held_decay"),
        n("MatMul", ["rope", "ws"], ["s1"], "free_scores"), n("CumSum", ["s1", "cumulative"], ["s2"], "held_running"), n("Less", ["s2", "limit"], ["y5"], "held_compared"),
        n("Cast", ["mask"], ["m1"], "free_mask", to=T.FLOAT), n("Sub", ["one", "m1"], ["m2"], "free_inverse"), n("Mul", ["m2", "large"], ["m3"], "free_large"), n("Add", ["s1", "m3"], ["m4"], "free_masked"),
        n("Softmax", ["m4"], ["y6"], "free_softmax", axis=-1),
        n("Slice", ["ids", "begin0", "end2", "axis1"], ["i1"], "held_ids"), n("Cast", ["i1"], ["i2"], "held_index", to=T.INT64), n("Gather", ["table", "i2"], ["y7"], "free_rows_of_table"),
        n("Slice", ["ids", "end2", "end4", "axis1"], ["i3"], "free_features"), n("MatMul", ["i3", "wf"], ["y8"], "free_layer"),
        n("TopK", ["y8", "k3"], ["k1", "k2"], "free_best"), n("Cast", ["k2"], ["k4"], "free_best_cast", to=T.FLOAT), n("Div", ["k4", "width"], ["k5"], "held_row"), n("Floor", ["k5"], ["y9"], "held_floor"),
        n("Equal", ["position", "end"], ["y10"], "held_equal"),
        n("Mul", ["r2", "limit"], ["g1"], "held_searched"), n("ArgMax", ["g1"], ["y12"], "held_place", axis=0), n("ArgMax", ["i3"], ["y13"], "free_place", axis=-1),
        n("Mul", ["r2", "limit"], ["g2"], "held_signed"), n("Sign", ["g2"], ["g3"], "held_sign"), n("Sin", ["g3"], ["y14"], "held_sign_wave"),
        n("If", ["flag"], ["y11"], "free_choice", then_branch=then, else_branch=other),
    ]
    inputs = [value("position_ids", ["N", 6], T.INT64), value("mask", [6, 6], T.INT64), value("x", ["N", 6, 8]), value("time", ["N"]), value("ids", ["N", 4]), value("flag", [], T.BOOL)]
    outputs = [value("rope", ["N", 6, 8]), value("y2", ["N", 6, 8]), value("y3", ["N", 3]), value("y4", [6]), value("y5", ["N", 6, 6], T.BOOL), value("y6", ["N", 6, 6]), value("y7", ["N", 2, 4]), value("y8", ["N", 4]),
               value("y9", ["N", 3]), value("y10", ["N", 1, 6], T.BOOL), value("y11", ["N", 1, 6]), value("y12", [1], T.INT64), value("y13", ["N", 1], T.INT64), value("y14", [6])]
    return model(h.make_graph(nodes, "positions", inputs, outputs, [nh.from_array(a, k) for k, a in init.items()]))


def defaults(ir, others=False):
    """Inputs that have values in the file: weights, a gain, a bound. `others`: one more initializer, which is no input."""
    init = {"w": np.linspace(-1, 1, 16, dtype=np.float32).reshape(4, 4), "gain": np.array(1.5, np.float32), "high": np.array(1, np.float32)}
    inputs = [value("x", [2, 4])] + [value(k, list(a.shape)) for k, a in init.items()]
    nodes = [h.make_node("MatMul", ["x", "w"], ["a"], "product"), h.make_node("Mul", ["a", "gain"], ["b"], "scaled"), h.make_node("Clip", ["b", "", "high"], ["c"], "bounded")]
    if others:
        init["v"] = np.eye(4, dtype=np.float32)
    nodes.append(h.make_node("MatMul", ["c", "v"], ["y"], "last") if others else h.make_node("Identity", ["c"], ["y"], "last"))
    return model(h.make_graph(nodes, "defaults", inputs, [value("y", [2, 4])], [nh.from_array(a, k) for k, a in init.items()]), 13, ir)


def bounds():
    """Means and norms of rows of which one is all zeros: epsilons keep the divisors above 0, as parameters and as constants."""
    init = {"w": np.eye(4, dtype=np.float32), "least": np.array(1e-9, np.float32), "least_norm": np.array(1e-12, np.float32), "axes": np.array([1], np.int64), "tiny": np.array([1e-9, 1, 1, 1], np.float32)}
    nodes = [
        h.make_node("MatMul", ["x", "w"], ["a"], "product"), h.make_node("ReduceSum", ["a", "axes"], ["sum"], "sum"), h.make_node("Clip", ["sum", "least"], ["count"], "count"),
        h.make_node("Div", ["a", "count"], ["mean"], "mean"), h.make_node("ReduceL2", ["a"], ["norm"], "norm", axes=[1]), h.make_node("Max", ["norm", "least_norm"], ["above"], "above"),
        h.make_node("Div", ["mean", "above"], ["unit"], "unit"), h.make_node("Constant", [], ["eps"], "eps", value=nh.from_array(np.array(1e-10, np.float32))),
        h.make_node("ReduceSumSquare", ["unit"], ["square"], "square", axes=[1]), h.make_node("Add", ["square", "eps"], ["guarded"], "guarded"), h.make_node("Sqrt", ["guarded"], ["root"], "root"),
        h.make_node("Div", ["unit", "root"], ["last"], "last"), h.make_node("Mul", ["last", "tiny"], ["y"], "scaled"),
    ]
    return model(h.make_graph(nodes, "bounds", [value("x", [3, 4])], [value("y", [3, 4])], [nh.from_array(a, k) for k, a in init.items()]))


def bounds_shared():
    """A row of zeros over its norm: an epsilon that is a parameter and one that is a constant, each read outside, by an operator that tests keep in float32,
    and in a branch."""
    n = h.make_node
    then = h.make_graph([n("Add", ["norm", "least"], ["t1"], "then_least"), n("Div", ["a", "t1"], ["t2"], "then_unit"), n("Add", ["norm", "eps"], ["t3"], "then_eps"), n("Div", ["t2", "t3"], ["t"], "then_last")],
                        "then", [], [value("t", [3, 4])])
    other = h.make_graph([n("Relu", ["a"], ["e"], "other")], "else", [], [value("e", [3, 4])])
    nodes = [
        n("Constant", [], ["eps"], "eps", value=nh.from_array(np.array(1e-10, np.float32))), n("MatMul", ["x", "w"], ["a"], "product"), n("ReduceL2", ["a"], ["norm"], "norm", axes=[1]),
        n("Add", ["norm", "least"], ["n1"], "outside_least"), n("Div", ["a", "n1"], ["unit"], "unit"), n("Add", ["norm", "eps"], ["n2"], "outside_eps"), n("Div", ["unit", "n2"], ["y"], "last"),
        n("Add", ["norm", "least"], ["z1"], "exact_least"), n("Add", ["z1", "eps"], ["z"], "exact_eps"), n("If", ["flag"], ["c"], "choice", then_branch=then, else_branch=other),
    ]
    init = {"w": np.eye(4, dtype=np.float32), "least": np.array(1e-9, np.float32)}
    return model(h.make_graph(nodes, "bounds_shared", [value("x", [3, 4]), value("flag", [], T.BOOL)], [value("y", [3, 4]), value("z", [3, 1]), value("c", [3, 4])],
                              [nh.from_array(a, k) for k, a in init.items()]))


def shape_in_branch():
    """An input that a branch multiplies, and whose shape it reads; outside a product of it with itself is multiplied."""
    n = h.make_node
    w = nh.from_array(np.linspace(-1, 1, 16, dtype=np.float32).reshape(4, 4), "w")
    v = nh.from_array(np.linspace(-1, 1, 8, dtype=np.float32).reshape(2, 4), "v")
    then = h.make_graph([n("MatMul", ["x", "w"], ["t1"]), n("Shape", ["x"], ["t2"]), n("Reshape", ["t1", "t2"], ["t"])], "then", [], [value("t", [2, 4])])
    other = h.make_graph([n("MatMul", ["v", "w"], ["e"])], "else", [], [value("e", [2, 4])])
    nodes = [n("If", ["flag"], ["c"], "choice", then_branch=then, else_branch=other), n("Mul", ["x", "x"], ["s"], "square"), n("MatMul", ["s", "w"], ["y"], "product")]
    return model(h.make_graph(nodes, "shape_in_branch", [value("x", [2, 4]), value("flag", [], T.BOOL)], [value("c", [2, 4]), value("y", [2, 4])], [w, v]))


def left_out():
    """Outputs that are not taken stand before others."""
    init = {"w": np.linspace(-1, 1, 16, dtype=np.float32).reshape(4, 4), "gamma": np.ones(4, np.float32), "gates": np.linspace(-1, 1, 32, dtype=np.float32).reshape(1, 8, 4),
            "again": np.linspace(-1, 1, 16, dtype=np.float32).reshape(1, 8, 2)}
    nodes = [
        h.make_node("MatMul", ["x", "w"], ["a"], "product"),
        h.make_node("SkipSimplifiedLayerNormalization", ["a", "x", "gamma"], ["y", "", "", "sum"], "norm", domain="com.microsoft", epsilon=1e-5),
        h.make_node("LSTM", ["sum", "gates", "again"], ["", "last"], "cells", hidden_size=2),
    ]
    outputs = [value("y", [2, 3, 4]), value("last", [1, 3, 2])]
    made = model(h.make_graph(nodes, "left_out", [value("x", [2, 3, 4])], outputs, [nh.from_array(a, k) for k, a in init.items()]))
    made.opset_import.append(h.make_opsetid("com.microsoft", 1))
    return made


def foreign():
    """Casts to the types of an input and of a parameter, which are none that anybody computes with."""
    kinds = {"texts": T.STRING, "codes": T.FLOAT8E4M3FNUZ}
    held = h.make_tensor("held", T.FLOAT8E5M2FNUZ, [1], b"\x40", raw=True)
    nodes = [n for like in (*kinds, "held") for n in (h.make_node("CastLike", ["x", like], [f"{like}_cast"], f"{like}_cast"), h.make_node("Identity", [f"{like}_cast"], [f"{like}_y"], f"{like}_y"))]
    outputs = [value(f"{like}_y", [4], kind) for like, kind in (*kinds.items(), ("held", T.FLOAT8E5M2FNUZ))]
    made = model(h.make_graph(nodes, "foreign", [value("x", [4])] + [value(n, [1], k) for n, k in kinds.items()], outputs, [held]))
    made.opset_import[0].version = 21
    return made


def calls():
    """Operators of ONNX Runtime, and a function of the model whose constant says float32."""
    init = {"w": np.linspace(-1, 1, 64, dtype=np.float32).reshape(8, 8), "bias": np.ones(8, np.float32)}
    nodes = [
        h.make_node("FusedMatMul", ["x", "w"], ["a"], "fused", domain="com.microsoft", alpha=0.5), h.make_node("BiasGelu", ["a", "bias"], ["b"], "gelu", domain="com.microsoft"),
        h.make_node("Halved", ["b"], ["c"], "halved", domain="own"), h.make_node("MatMul", ["c", "w"], ["y"], "product"),
    ]
    half = h.make_function("own", "Halved", ["a"], ["b"], [h.make_node("Constant", [], ["half"], value=nh.from_array(np.array(0.5, np.float32))), h.make_node("Mul", ["a", "half"], ["b"])], [h.make_opsetid("", 17)])
    made = model(h.make_graph(nodes, "calls", [value("x", ["N", 8])], [value("y", ["N", 8])], [nh.from_array(a, k) for k, a in init.items()]), functions=[half])
    made.opset_import.extend([h.make_opsetid("com.microsoft", 1), h.make_opsetid("own", 1)])
    return made


def record(folder, name, made, cases, full_check=True):
    onnx.checker.check_model(made, full_check=full_check)
    (folder / f"{name}.onnx").write_bytes(made.SerializeToString(deterministic=True))
    session = onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    for case, feed in cases.items():
        np.savez(folder / f"{name}{case}-inputs.npz", **feed)
        np.savez(folder / f"{name}{case}-values.npz", **dict(zip([o.name for o in session.get_outputs()], session.run(None, feed))))


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(exist_ok=True, parents=True)
    (folder / "kept.onnx").write_bytes(kept().SerializeToString(deterministic=True))
    x = np.random.default_rng(5).standard_normal((3, 2)).astype(np.float32)
    record(folder, "sums", sums(), {"": {"first": x[0], "x": x}})
    row = np.array([[0.5, -1, 2]], np.float32)
    case = lambda most, first, limit: {"most": np.array(most, np.int64), "first": np.array(first), "x": row, "limit": np.array(limit, np.float32)}
    record(folder, "steps", steps(), {"-all": case(4, True, 1e9), "-early": case(9, True, -1e9), "-none": case(3, False, 1e9)})
    x23 = np.random.default_rng(9).standard_normal((2, 3)).astype(np.float32)
    record(folder, "constants", constants(), {"-true": {"flag": np.array(True), "x": x23}, "-false": {"flag": np.array(False), "x": x23}})
    x24 = np.random.default_rng(14).standard_normal((2, 4)).astype(np.float32)
    record(folder, "edges", edges(), {"-true": {"flag": np.array(True), "x": x24}, "-false": {"flag": np.array(False), "x": x24}})
    for opset in (13, 14):
        made = norms(opset)
        onnx.checker.check_model(made, full_check=True)
        (folder / f"norms{opset}.onnx").write_bytes(made.SerializeToString(deterministic=True))
    onnx.checker.check_model(sparse())
    (folder / "sparse.onnx").write_bytes(sparse().SerializeToString(deterministic=True))
    record(folder, "mixed_signs", mixed_signs(), {"": {"x": np.random.default_rng(12).uniform(-0.2, 0.2, (1, 2, 5, 5)).astype(np.float32)}})
    onnx.checker.check_model(zip_map(), full_check=True)
    (folder / "zip_map.onnx").write_bytes(zip_map().SerializeToString(deterministic=True))
    record(folder, "told", told(), {"": {"x": np.random.default_rng(13).standard_normal((8, 4)).astype(np.float32)}},
           full_check=False)  # fails where MeanVarianceNormalization does not write its axes
    (folder / "odd.onnx").write_bytes(odd().SerializeToString(deterministic=True))
    (folder / "heads.onnx").write_bytes(heads().SerializeToString(deterministic=True))
    onnx.checker.check_model(attention(), full_check=True)
    (folder / "attention.onnx").write_bytes(attention().SerializeToString(deterministic=True))
    made, feed = transformer()
    record(folder, "transformer", made, {"": feed})
    listed = np.arange(12, dtype=np.float32).reshape(4, 3)
    record(folder, "lists", lists(), {"": {"x": listed, "k": np.array(-1)}})
    record(folder, "list_in_loop", list_in_loop(), {"": {"x": listed[1], "n": np.array(4)}})
    onnx.checker.check_model(endless(), full_check=True)
    (folder / "sequences.onnx").write_bytes(sequences().SerializeToString(deterministic=True))
    (folder / "endless.onnx").write_bytes(endless().SerializeToString(deterministic=True))
    for name, made in (("positions", positions()), ("defaults", defaults(8)), ("defaults_some", defaults(4, others=True)), ("defaults_old", defaults(4)), ("bounds", bounds()),
                       ("bounds_shared", bounds_shared()), ("shape_in_branch", shape_in_branch()), ("left_out", left_out()), ("foreign", foreign())):
        onnx.checker.check_model(made, full_check=True)
        (folder / f"{name}.onnx").write_bytes(made.SerializeToString(deterministic=True))
    (folder / "calls.onnx").write_bytes(calls().SerializeToString(deterministic=True))
    record(folder, "walk", walk(), {"": {"first": x[1], "x": np.arange(8, dtype=np.float32).reshape(2, 4)}})
    onnx.checker.check_model(network(), full_check=True)
    (folder / "network.onnx").write_bytes(network().SerializeToString(deterministic=True))
    made, x = choice()
    onnx.checker.check_model(made, full_check=True)
    (folder / "choice.onnx").write_bytes(made.SerializeToString(deterministic=True))
    session = onnxruntime.InferenceSession(made.SerializeToString())
    for name, flag in (("true", True), ("false", False)):
        feed = {"flag": np.array(flag), "x": x}
        np.savez(folder / f"choice-{name}-inputs.npz", **feed)
        np.savez(folder / f"choice-{name}-values.npz", y=session.run(None, feed)[0])


if __name__ == "__main__":
    main()

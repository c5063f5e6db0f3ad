#!/usr/bin/env python3
"""Makes tests/data/onnx_tabular with ONNX Runtime: make_onnx_tabular_goldens.py tests/data/onnx_tabular [CASES]

Operators of ai.onnx.ml for tables, one node a case: ensembles of drawn trees, support vectors, encoders. CASES (a number) writes that many
drawn ensembles and support vectors beside the named ones, to compare more than is kept. Written as by make_onnx_call_goldens.py.
"""
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import helper as h, numpy_helper as nh

RANDOM = np.random.RandomState(11)
TESTS = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]
FEATURES = 4


def real(*shape, low=-1.0, high=1.0):
    return RANDOM.uniform(low, high, shape).astype("float32")


def trees(count, depth, columns, key, tests=TESTS[:1], positive=False, column=None, missing=False):
    """Attributes of `count` drawn trees; leaves have weights of one column each."""
    a = {name: [] for name in ("nodes_treeids", "nodes_nodeids", "nodes_modes", "nodes_featureids", "nodes_values", "nodes_truenodeids", "nodes_falsenodeids",
                               "nodes_missing_value_tracks_true", f"{key}_treeids", f"{key}_nodeids", f"{key}_ids", f"{key}_weights")}

    def grow(tree, node, left):
        is_leaf = left == 0 or (left < depth and RANDOM.rand() < 0.2)
        yes, no = 2 * node + 1, 2 * node + 2
        values = (tree, node, "LEAF" if is_leaf else tests[RANDOM.randint(len(tests))], 0 if is_leaf else RANDOM.randint(FEATURES),
                  0.0 if is_leaf else float(np.float32(RANDOM.choice([-0.5, 0.0, 0.25, 0.3]))), 0 if is_leaf else yes, 0 if is_leaf else no, int(missing and RANDOM.rand() < 0.5))
        for name, value in zip(list(a)[:8], values):
            a[name].append(value)
        if is_leaf:
            for name, value in zip(list(a)[8:], (tree, node, RANDOM.randint(columns) if column is None else column,
                                                 float(real(low=0.05 if positive else -1.0, high=0.4 if positive else 1.0)))):
                a[name].append(value)
        else:
            grow(tree, yes, left - 1)
            grow(tree, no, left - 1)

    for tree in range(count):
        grow(tree, 0, depth)
    return a


def rows(count=6, missing=False):
    x = real(count, FEATURES)
    x[0, :3] = [-0.5, 0.25, 0.3]
    if missing:
        x[1, 1] = x[2, 3] = np.nan
    return {"X": x}


def split_trees(double):
    """Of version 5: two trees over three nodes, five leaves, one test for membership."""
    kind = "float64" if double else "float32"
    tensor = lambda name, values, kind: nh.from_array(np.array(values, kind), name)
    return {"tree_roots": [0, 2], "n_targets": 2, "aggregate_function": 1, "post_transform": 0, "nodes_modes": tensor("m", [0, 6, 4], "uint8"),
            "nodes_featureids": [0, 2, 1], "nodes_splits": tensor("s", [0.1, 0.0, 0.25], kind), "nodes_truenodeids": [1, 0, 3], "nodes_trueleafs": [0, 1, 1],
            "nodes_falsenodeids": [2, 1, 4], "nodes_falseleafs": [1, 1, 1], "leaf_targetids": [0, 1, 0, 1, 0],
            "leaf_weights": tensor("w", [0.5, -0.25, 1.5, 2.0, -1.0], kind), "membership_values": tensor("v", [0.3, 0.4, 0.5, float("nan")], kind)}


def vectors(classes, kernel, transform="NONE", proba=False):
    counts = [2 + k for k in range(classes)]
    pairs = classes * (classes - 1) // 2
    a = {"kernel_type": kernel, "kernel_params": [0.6, 0.2, 2.0], "post_transform": transform, "classlabels_ints": list(range(3, 3 + classes)),
         "vectors_per_class": counts, "support_vectors": real(sum(counts) * FEATURES).tolist(), "coefficients": real((classes - 1) * sum(counts)).tolist(), "rho": real(pairs).tolist()}
    if proba:
        a.update(prob_a=real(pairs, low=-2, high=-0.5).tolist(), prob_b=real(pairs).tolist())
    return a


def classifier(columns, **options):
    transform, base = options.pop("transform", "NONE"), options.pop("base", 0)
    a = trees(5, 3, columns, "class", **options)
    a.update(classlabels_int64s=[7 + 2 * k for k in range(columns)], post_transform=transform)
    if base:
        a["base_values"] = real(base).tolist()
    return a


def regressor(columns, **options):
    more = {k: options.pop(k) for k in ("aggregate_function", "post_transform") if k in options}
    base = options.pop("base", 0)
    a = trees(5, 3, columns, "target", **options)
    a.update(n_targets=columns, **more)
    if base:
        a["base_values"] = real(base).tolist()
    return a


def cases():
    """(name, operator, inputs, attributes, number of outputs)."""
    tree = "TreeEnsembleClassifier"
    yield "classifier", tree, rows(), classifier(3), 2
    yield "classifier_tests", tree, rows(missing=True), classifier(3, tests=TESTS, missing=True, transform="SOFTMAX", base=3), 2
    yield "classifier_zero", tree, rows(), classifier(4, transform="SOFTMAX_ZERO"), 2
    yield "classifier_logistic", tree, rows(), classifier(3, transform="LOGISTIC", base=3), 2
    yield "pair", tree, rows(), classifier(2, column=1), 2
    yield "pair_base", tree, rows(), classifier(2, column=1, transform="LOGISTIC", base=1), 2
    yield "pair_shares", tree, rows(), classifier(2, column=1, positive=True), 2
    yield "pair_bases", tree, rows(), classifier(2, column=1, base=2), 2
    yield "pair_first", tree, rows(), classifier(2, column=0), 2
    yield "pair_first_shares", tree, rows(), classifier(2, column=0, positive=True), 2
    yield "pair_first_logistic", tree, rows(), classifier(2, column=0, transform="LOGISTIC", base=1), 2
    yield "pair_both", tree, rows(), {**classifier(2), "classlabels_int64s": [0, 1]}, 2  # ONNX Runtime gives no other labels here
    yield "classifier_doubles", tree, {"X": rows()["X"].astype("float64")}, classifier(3), 2
    for aggregate in ("SUM", "AVERAGE", "MIN", "MAX"):
        yield f"regressor_{aggregate.lower()}", "TreeEnsembleRegressor", rows(), regressor(2, aggregate_function=aggregate, base=2), 1
    yield "regressor_one", "TreeEnsembleRegressor", rows(), regressor(1, base=1, tests=TESTS), 1
    yield "ensemble", "TreeEnsemble", rows(), split_trees(False), 1
    yield "ensemble_doubles", "TreeEnsemble", {"X": rows()["X"].astype("float64")}, split_trees(True), 1
    svm = "SVMClassifier"
    for kernel in ("LINEAR", "RBF", "POLY", "SIGMOID"):
        yield f"vectors_{kernel.lower()}", svm, rows(), vectors(3, kernel), 2
    yield "vectors_probabilities", svm, rows(), vectors(4, "RBF", proba=True), 2
    yield "vectors_pair", svm, rows(), vectors(2, "RBF"), 2
    yield "vectors_pair_probabilities", svm, rows(), vectors(2, "RBF", proba=True), 2
    yield "vectors_softmax", svm, rows(), vectors(3, "RBF", "SOFTMAX"), 2
    yield ("vectors_none", svm, rows(), {"classlabels_ints": [4, 5, 6], "coefficients": real(3 * FEATURES).tolist(), "rho": [0.2], "kernel_type": "LINEAR", "kernel_params": [0.0, 0.0, 0.0]}, 2)
    yield ("one_class", "SVMRegressor", rows(), {"coefficients": real(3).tolist(), "support_vectors": real(3 * FEATURES).tolist(), "n_supports": 3, "one_class": 1, "rho": [0.1],
                                                 "kernel_type": "RBF", "kernel_params": [0.5, 0.0, 3.0]}, 1)
    yield ("regressor_no_vectors", "SVMRegressor", rows(), {"coefficients": real(FEATURES).tolist(), "rho": [0.1], "kernel_type": "LINEAR", "kernel_params": [0.0, 0.0, 0.0]}, 1)
    codes = {"X": np.array([[3, 1], [9, 2]], "int64")}
    yield "label_integers", "LabelEncoder", codes, {"keys_int64s": [1, 2, 3], "values_floats": [0.5, 1.5, 2.5], "default_float": -3.0}, 1
    yield "label_reals", "LabelEncoder", {"X": np.array([0.5, 4.0, 1.5], "float32")}, {"keys_floats": [0.5, 1.5], "values_int64s": [7, 8]}, 1
    yield "one_hot", "OneHotEncoder", codes, {"cats_int64s": [1, 3, 9]}, 1
    yield "imputer", "Imputer", rows(missing=True), {"imputed_value_floats": [0.1, 0.2, 0.3, 0.4], "replaced_value_float": float("nan")}, 1
    yield "imputer_integers", "Imputer", codes, {"imputed_value_int64s": [-1], "replaced_value_int64": 9}, 1
    yield "binarizer", "Binarizer", rows(), {"threshold": 0.25}, 1
    yield "features", "FeatureVectorizer", {"X": rows()["X"], "Z": real(6, 2)}, {"inputdimensions": [4, 2]}, 1


def drawn(count):
    for k in range(count):
        transform = RANDOM.choice(["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"])
        columns = RANDOM.randint(2, 5)
        yield (f"drawn_{k}", "TreeEnsembleClassifier", rows(missing=True),
               classifier(columns, tests=TESTS, transform=str(transform), missing=True, positive=RANDOM.rand() < 0.5, base=int(RANDOM.choice([0, columns])),
                          column=[None, RANDOM.randint(columns)][RANDOM.randint(2)]), 2)
        yield f"drawn_vectors_{k}", "SVMClassifier", rows(), vectors(RANDOM.randint(2, 5), str(RANDOM.choice(["RBF", "LINEAR"])), str(transform), RANDOM.rand() < 0.5), 2


def model_of(op, inputs, attributes, outputs):
    node = h.make_node(op, list(inputs), [f"out{k}" for k in range(outputs)], domain="ai.onnx.ml", **attributes)
    typed = [h.make_tensor_value_info(name, h.np_dtype_to_tensor_dtype(array.dtype), array.shape) for name, array in inputs.items()]
    graph = h.make_graph([node], op, typed, [onnx.ValueInfoProto(name=f"out{k}") for k in range(outputs)])
    version = 5 if op == "TreeEnsemble" else 3
    return h.make_model(graph, opset_imports=[h.make_opsetid("", 16), h.make_opsetid("ai.onnx.ml", version)], ir_version=8)


def main(folder, more):
    for name, op, inputs, attributes, outputs in [*cases(), *drawn(more)]:
        model = model_of(op, inputs, attributes, outputs)
        results = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"]).run(None, inputs)
        for output, value in zip(model.graph.output, results):
            output.CopyFrom(h.make_tensor_value_info(output.name, h.np_dtype_to_tensor_dtype(value.dtype), value.shape))
        onnx.checker.check_model(model)
        (folder / f"{name}.onnx").write_bytes(model.SerializeToString())
        np.savez(folder / f"{name}.npz", **{f"in.{key}": value for key, value in inputs.items()},
                 **{f"out.{output.name}": value for output, value in zip(model.graph.output, results)})


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)

"""Operators of ai.onnx.ml."""
import numpy as np

ML = "ai.onnx.ml"


def rows(d, width):
    return d.tensor(shape=(d.integer(1, 4), width), dtype="float32", kind="sum")


def scaler(d):
    w = d.integer(1, 4)
    values = lambda: [float(v) for v in d.np.uniform(0.5, 2, d.choice((1, w)))]
    d.node("Scaler", [rows(d, w)], domain=ML, offset=values(), scale=values())


def normalizer(d):
    d.node("Normalizer", [rows(d, d.integer(1, 4))], domain=ML, norm=d.choice(("MAX", "L1", "L2")))


def linear_regressor(d):
    w, targets = d.integer(1, 4), d.integer(1, 3)
    d.node("LinearRegressor", [rows(d, w)], domain=ML, coefficients=[float(v) for v in d.np.uniform(-1, 1, w * targets)], targets=targets,
           intercepts=[float(v) for v in d.np.uniform(-1, 1, targets)])


def linear_classifier(d):
    w, classes = d.integer(1, 4), d.integer(2, 3)
    d.node("LinearClassifier", [rows(d, w)], 2, domain=ML, coefficients=[float(v) for v in d.np.uniform(-1, 1, w * classes)],
           intercepts=[float(v) for v in d.np.uniform(-1, 1, classes)], classlabels_ints=list(range(classes)), multi_class=0,
           post_transform=d.choice(("NONE", "SOFTMAX", "LOGISTIC")))


def features(d):
    w = d.integer(1, 5)
    d.node("ArrayFeatureExtractor", [rows(d, w), d.constant(d.np.randint(0, w, (1, d.integer(1, 3))).astype(np.int64))], domain=ML)


def binarizer(d):
    d.node("Binarizer", [rows(d, d.integer(1, 4))], domain=ML, threshold=float(d.choice((0.0, 0.5))))


def imputer(d):
    w = d.integer(1, 4)
    d.node("Imputer", [rows(d, w)], domain=ML, imputed_value_floats=[0.5] * w, replaced_value_float=1.0)


def encoder(d):
    a = d.given(d.np.randint(0, 5, d.dims(d.integer(1, 2))).astype(np.int64))
    d.node("OneHotEncoder", [a], domain=ML, cats_int64s=[0, 1, 3], zeros=1)


def labels(d):
    a = d.given(d.np.randint(0, 5, d.dims(d.integer(1, 2))).astype(np.int64))
    d.node("LabelEncoder", [a], domain=ML, keys_int64s=[0, 1, 2], values_int64s=[7, 8, 9], default_int64=-1)


def vectorizer(d):
    n = d.integer(1, 3)
    parts = [d.fresh((n, d.integer(1, 3)), "float32", "sum") for _ in range(d.integer(1, 3))]
    d.node("FeatureVectorizer", parts, domain=ML, inputdimensions=[p.shape[1] for p in parts])


def trees(op):
    """Two trees of a root and two leaves each; every leaf weighs all classes, as exporters write them."""
    def draw(d):
        w, classes = d.integer(1, 3), 3  # of two, ONNX Runtime gives the places as labels
        modes = [d.choice(("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GT", "BRANCH_GTE")), "LEAF", "LEAF"] * 2
        prefix = "target" if op == "TreeEnsembleRegressor" else "class"
        leaves = [(tree, leaf, k) for tree in (0, 1) for leaf in (1, 2) for k in range(classes)]
        attrs = {"nodes_treeids": [0, 0, 0, 1, 1, 1], "nodes_nodeids": [0, 1, 2] * 2, "nodes_featureids": [d.integer(0, w - 1), 0, 0, d.integer(0, w - 1), 0, 0],
                 "nodes_modes": modes, "nodes_values": [0.25, 0.0, 0.0, -0.5, 0.0, 0.0], "nodes_truenodeids": [1, 0, 0] * 2, "nodes_falsenodeids": [2, 0, 0] * 2,
                 f"{prefix}_treeids": [x[0] for x in leaves], f"{prefix}_nodeids": [x[1] for x in leaves], f"{prefix}_ids": [x[2] for x in leaves],
                 f"{prefix}_weights": [float(v) for v in d.np.uniform(0, 1, len(leaves))]}
        if op == "TreeEnsembleRegressor":
            attrs |= {"n_targets": classes} | d.some(aggregate_function=d.choice(("SUM", "AVERAGE", "MIN", "MAX")), base_values=[0.5] * classes)
        else:
            attrs |= {"classlabels_int64s": [3, 5, 9]} | d.some(post_transform=d.choice(("NONE", "SOFTMAX", "LOGISTIC")))
        d.node(op, [rows(d, w)], 1 if op == "TreeEnsembleRegressor" else 2, domain=ML, **attrs)
    return draw


def svm(d):
    w, n = d.integer(1, 3), 2
    kernel = d.choice(("LINEAR", "POLY", "RBF", "SIGMOID"))
    d.node("SVMRegressor", [rows(d, w)], domain=ML, kernel_type=kernel, kernel_params=[0.5, 1.0, 2.0], coefficients=[0.5, -0.25],
           support_vectors=[float(v) for v in d.np.uniform(-1, 1, n * w)], rho=[0.1], n_supports=n)


OPERATORS = {f"{ML}.{name}": f for name, f in {
    "Scaler": scaler, "Normalizer": normalizer, "LinearRegressor": linear_regressor, "LinearClassifier": linear_classifier, "ArrayFeatureExtractor": features,
    "Binarizer": binarizer, "Imputer": imputer, "OneHotEncoder": encoder, "LabelEncoder": labels, "FeatureVectorizer": vectorizer,
    "TreeEnsembleRegressor": trees("TreeEnsembleRegressor"), "TreeEnsembleClassifier": trees("TreeEnsembleClassifier"), "SVMRegressor": svm}.items()}

#!/usr/bin/env python3
"""Asks the real MXNet 1.9.1 how types spread through one operator: probe_types.py CASES.json > types_inferred.json

CASES is a list of [operator, attributes, number of inputs, number of outputs (hidden ones too)]. Each is put into a graph of its own
whose variables carry a type or none, and MXNet's partial type inference is run. A row of the result reads
"given inputs>given outputs inferred inputs>inferred outputs", a letter for each position ("." is open), or ends in "refused", or in
"open" when MXNet throws because a type is not known yet. Cases with the same rows share them.
"""

import json
import sys

import mxnet as mx
import numpy as np

LETTERS = {0: "f", 1: "d", 2: "h", 3: "u", 4: "i", 5: "c", 6: "l", 7: "o", 12: "b", None: "."}
CODES = {"float32": 0, "float64": 1, "float16": 2, "uint8": 3, "int32": 4, "int8": 5, "int64": 6, "bool": 7}
FLOATS = {0, 1, 2, 12}


def code(dtype):
    if dtype is None:
        return None
    dtype = np.dtype(dtype)
    return 12 if dtype.names else CODES[dtype.name]


def symbol(op, attributes, types, outputs, typed_output):
    """The operator between variables; `typed_output` (position, code) adds a consumer that types one output."""
    nodes = [{"op": "null", "name": "v%d" % i, "attrs": {} if t is None else {"__dtype__": str(t)}, "inputs": []}
             for i, t in enumerate(types)]
    n = len(nodes)
    nodes.append({"op": op, "name": "probed", "attrs": attributes, "inputs": [[i, 0, 0] for i in range(n)]})
    variables, heads = list(range(n)), [[n, k, 0] for k in range(outputs)]
    if typed_output:
        nodes.append({"op": "null", "name": "z", "attrs": {"__dtype__": str(typed_output[1])}, "inputs": []})
        nodes.append({"op": "elemwise_add", "name": "consumer", "inputs": [[n, typed_output[0], 0], [n + 1, 0, 0]]})
        variables.append(n + 1)
        heads.append([n + 2, 0, 0])
    return mx.sym.load_json(json.dumps({"nodes": nodes, "arg_nodes": variables, "heads": heads,
                                        "attrs": {"mxnet_version": ["int", 10901]}}))


def infer(op, attributes, types, outputs, typed_output):
    """Types of inputs and outputs, or "refused" / "open"."""
    try:
        probed = symbol(op, attributes, types, outputs, typed_output)
        arguments, results, states = probed.infer_type_partial()
    except mx.base.MXNetError as error:
        message = str(error)
        is_open = any(mark in message for mark in ("must have specified", "-1 vs", "must be set")) or not any(
            t is not None for t in types)
        return "open" if is_open else "refused"
    known = dict(zip(probed.list_arguments(), map(code, arguments)))
    known.update(zip(probed.list_auxiliary_states(), map(code, states)))
    return [known["v%d" % i] for i in range(len(types))], [code(t) for t in results[:outputs]]


def givens(inputs, outputs):
    """What to give: nothing, one input, all inputs alike, one input unlike the rest, one output."""
    every = [0, 1, 2, 3, 4, 5, 6, 7, 12]
    yield [None] * inputs, None
    for i in range(inputs):
        for t in every if i == 0 else [0, 2, 4, 12]:
            yield [t if k == i else None for k in range(inputs)], None
    if inputs > 1:
        for t in every:
            yield [t] * inputs, None
        for i in range(inputs):
            for t in [2, 4, 6, 7, 12]:
                yield [t if k == i else 0 for k in range(inputs)], None
    for k in range(outputs):
        for t in [0, 2, 4]:
            yield [None] * inputs, (k, t)


def letters(types):
    return "".join(LETTERS[t] for t in types)


def is_telling(op, attributes, types, output, result):
    """False for rows that say nothing of the operator, or that follow a quirk which we don't copy."""
    if output and (isinstance(result, str) and result == "refused"):
        return False  # the contradiction shows at the consumer
    if output and op == "Pooling":
        return False  # it forgets what its outputs were given
    if output and attributes.get("is_int") == "False" and output[1] not in FLOATS:
        return False  # backwards an integer result is taken for an integer input, forwards it cannot come of one
    # Where inference overwrites a given type instead of refusing it.
    return isinstance(result, str) or all(given in (None, now) for given, now in zip(types, result[0]))


def probe(op, attributes, inputs, outputs):
    rows = []
    for types, output in givens(inputs, outputs):
        result = infer(op, attributes, types, outputs, output)
        if not is_telling(op, attributes, types, output, result):
            continue
        given = "".join(LETTERS[output[1]] if output and output[0] == k else "." for k in range(outputs))
        answer = result if isinstance(result, str) else letters(result[0]) + ">" + letters(result[1])
        rows.append(letters(types) + ">" + given + " " + answer)
    return rows


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        cases = json.load(file)
    groups = {}
    for op, attributes, inputs, outputs in cases:
        rows = tuple(probe(op, attributes, inputs, outputs))
        groups.setdefault(rows, []).append([op, attributes])
    lines = [json.dumps({"ops": ops, "rows": rows}, separators=(",", ":")) for rows, ops in groups.items()]
    print("[\n" + ",\n".join(lines) + "\n]")


if __name__ == "__main__":
    main()

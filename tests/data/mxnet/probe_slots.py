#!/usr/bin/env python3
"""Asks the real MXNet 1.9.1 for the inputs and outputs of operators: probe_slots.py CASES.json [MORE.json…] > slots.json

A case begins with [operator, attributes, …]. Result: [operator, attributes, input names, names of all outputs, number of visible ones].
Cases that MXNet cannot create by themselves are left out.
"""

import ctypes
import json
import sys

import mxnet as mx
from mxnet.base import _LIB, c_str, c_str_array, check_call, mx_uint
from mxnet.symbol.symbol import Symbol


def creators():
    count, array = mx_uint(), ctypes.POINTER(ctypes.c_void_p)()
    check_call(_LIB.MXSymbolListAtomicSymbolCreators(ctypes.byref(count), ctypes.byref(array)))
    table = {}
    for i in range(count.value):
        name = ctypes.c_char_p()
        check_call(_LIB.MXSymbolGetAtomicSymbolName(ctypes.c_void_p(array[i]), ctypes.byref(name)))
        table[name.value.decode()] = ctypes.c_void_p(array[i])
    return table


def create(creator, attributes):
    """The operator as MXNet completes it: every input a variable that it made itself."""
    handle = ctypes.c_void_p()
    keys, values = list(attributes), [str(value) for value in attributes.values()]
    check_call(_LIB.MXSymbolCreateAtomicSymbol(creator, mx_uint(len(keys)), c_str_array(keys), c_str_array(values),
                                               ctypes.byref(handle)))
    symbol = Symbol(handle)
    check_call(_LIB.NNSymbolCompose(handle, c_str("probed"), mx_uint(0), None, (ctypes.c_void_p * 0)()))
    return symbol


def output_names(graph, count):
    """Names of all outputs, hidden ones too: each as the only head."""
    node = len(graph["nodes"]) - 1
    names = []
    for k in range(count):
        graph["heads"] = [[node, k, 0]]
        names.append(mx.sym.load_json(json.dumps(graph)).list_outputs()[0][len("probed_"):])
    return names


def main():
    table = creators()
    lines = []
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            cases = json.load(file)
        for op, attributes in (case[:2] for case in cases):
            try:
                symbol = create(table[op], attributes)
                graph = json.loads(symbol.tojson(remove_amp_cast=False))
                count = graph["node_row_ptr"][-1] - graph["node_row_ptr"][-2]
                inputs = [name[len("probed_"):] for name in symbol.list_inputs()]
                case = [op, attributes, inputs, output_names(graph, count), len(symbol.list_outputs())]
                lines.append(json.dumps(case, separators=(",", ":")))
            except (mx.base.MXNetError, KeyError) as error:
                print("left out:", op, attributes, str(error).splitlines()[0][:100], file=sys.stderr)
    print("[\n" + ",\n".join(sorted(set(lines))) + "\n]")


if __name__ == "__main__":
    main()

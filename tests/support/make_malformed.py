#!/usr/bin/env python3
"""Makes the malformed corpus of tests/data/malformed from the fixtures under tests/data: the same files on every run.

Usage: make_malformed.py TESTS_DATA_FOLDER

Each case is a stretch of corpus.bin and a line of manifest.tsv: name, kind (symbol, params, policy, model), offset, length, text that the error must contain. Kind "model"
is opened through the content sniffer, the others by their own reader. "*" as text: any error will do, or a good reading that can be written
and read again (bit flips often hit a byte whose value is free).
"""

import json
import random
import struct
import sys
from pathlib import Path

LIST_MAGIC, V1, V2, V3 = 0x112, 0xF993FAC8, 0xF993FAC9, 0xF993FACA
CASES = {}


def case(name, kind, data, expected):
    assert name not in CASES, name
    CASES[name] = (kind, data.encode() if isinstance(data, str) else data, expected)


# --- symbols ----------------------------------------------------------------------------------------------------------------------------

def symbol(change=None):
    """Two variables and a FullyConnected, then whatever `change` does to the document."""
    document = {
        "nodes": [
            {"op": "null", "name": "data", "inputs": []},
            {"op": "null", "name": "w", "inputs": []},
            {"op": "FullyConnected", "name": "fc", "attrs": {"num_hidden": "4", "no_bias": "True"}, "inputs": [[0, 0, 0], [1, 0, 0]]},
            {"op": "Activation", "name": "act", "attrs": {"act_type": "relu"}, "inputs": [[2, 0, 0]]},
        ],
        "arg_nodes": [0, 1],
        "node_row_ptr": [0, 1, 2, 3, 4],
        "heads": [[3, 0, 0]],
        "attrs": {"mxnet_version": ["int", 10901]},
    }
    if change:
        change(document)
    return document


def changed(name, expected, change):
    case(f"symbol_{name}.json", "symbol", json.dumps(symbol(change)), expected)


def at(path, value):
    """A change that puts `value` at a path like nodes/2/inputs/0/0."""
    def change(document):
        *way, last = [int(k) if k.isdigit() else k for k in path.split("/")]
        for key in way:
            document = document[key]
        document[last] = value
    return change


def without(path):
    def change(document):
        *way, last = [int(k) if k.isdigit() else k for k in path.split("/")]
        for key in way:
            document = document[key]
        del document[last]
    return change


def bad_ids():
    whole = "expected a whole number from 0 to 4294967295"
    for value in (-1, -2**31, 2**32, 2**63, 2**64, 10**30, 1.5, 1e30, -0.5, True, None, "0", {}, []):
        tag = str(value).replace(" ", "").replace("{}", "object").replace("[]", "list")
        changed(f"input_id_{tag}", f"nodes[2].inputs[0][0]: ", at("nodes/2/inputs/0/0", value))
        changed(f"head_id_{tag}", f"heads[0][0]: ", at("heads/0/0", value))
        changed(f"arg_node_{tag}", f"arg_nodes[1]: ", at("arg_nodes/1", value))
        changed(f"row_pointer_{tag}", whole, at("node_row_ptr/1", value))
    for value in (4, 5, 99, 2**31 - 1, 2**31, 2**32 - 1):
        changed(f"input_{value}_of_4", f"nodes[2].inputs[0]: node {value} of 4", at("nodes/2/inputs/0/0", value))
        changed(f"head_{value}_of_4", f"heads[0]: node {value} of 4", at("heads/0/0", value))
        changed(f"arg_node_{value}_of_4", f"arg_nodes[0]: node {value} of 4", at("arg_nodes/0", value))
        changed(f"control_{value}_of_4", f"nodes[3].control_deps[0]: node {value} of 4", at("nodes/3/control_deps", [value]))
    for value in (1, 2**31, 2**32 - 1):
        changed(f"input_output_{value}", f"nodes[2].inputs[0]: output {value} of null", at("nodes/2/inputs/0/1", value))
        changed(f"fc_output_{value}", f"nodes[3].inputs[0]: output {value} of FullyConnected", at("nodes/3/inputs/0/1", value))
        changed(f"head_output_{value}", f"heads[0]: output {value} of Activation", at("heads/0/1", value))
    changed("self_input", 'nodes[2].inputs[1]: node 2, which is "fc" itself', at("nodes/2/inputs/1/0", 2))
    changed("forward_reference", "nodes[2].inputs[1]: node 3, which comes after", at("nodes/2/inputs/1/0", 3))
    changed("control_self", "nodes[3].control_deps[0]: node 3, which is", at("nodes/3/control_deps", [3]))
    changed("control_forward", "nodes[2].control_deps[1]: node 3, which comes after", at("nodes/2/control_deps", [0, 3]))
    changed("control_is_entry", "nodes[3].control_deps[0]: a list", at("nodes/3/control_deps", [[0, 0, 0]]))
    changed("arg_node_is_operator", 'arg_nodes[1]: node 2, the operator "fc"', at("arg_nodes/1", 2))


def bad_kinds():
    for key in ("nodes", "arg_nodes", "heads"):
        changed(f"missing_{key}", f'a graph without "{key}"', without(key))
        for tag, value in (("number", 7), ("text", "x"), ("null", None), ("object", {"a": 1}), ("true", True)):
            changed(f"{key}_is_{tag}", f"{key}: ", at(key, value))
    for key in ("op", "name", "inputs"):
        changed(f"node_without_{key}", f'nodes[2]: a node without "{key}"', without(f"nodes/2/{key}"))
    for key in ("op", "name"):
        for tag, value in (("number", 7), ("list", ["x"]), ("null", None), ("object", {})):
            changed(f"{key}_is_{tag}", f"nodes[1].{key}: ", at(f"nodes/1/{key}", value))
    for key in ("attrs", "attr", "param"):
        for tag, value in (("list", []), ("text", "x"), ("number", 1), ("null", None)):
            changed(f"node_{key}_is_{tag}", f"nodes[1].{key}: ", at(f"nodes/1/{key}", value))
        for tag, value in (("number", 4), ("float", 1.5), ("null", None), ("true", True), ("list", ["3"]), ("object", {"a": "b"})):
            changed(f"{key}_value_is_{tag}", f"nodes[1].{key}.__x__: ", at(f"nodes/1/{key}", {"__x__": value}))
    for tag, value in (("empty", []), ("one", [0]), ("four", [0, 0, 0, 0]), ("number", 0), ("nested", [[0, 0, 0]])):
        changed(f"entry_{tag}", "nodes[3].inputs[0]", at("nodes/3/inputs", [value]))
        changed(f"head_entry_{tag}", "heads[0]", at("heads", [value]))
    for tag, value in (("number", 5), ("list", [7]), ("object", {})):
        changed(f"node_is_{tag}", "nodes[0]" if tag != "object" else 'nodes[0]: a node without "op"', at("nodes/0", value))
    changed("no_heads", "heads: no outputs", at("heads", []))
    changed("no_nodes", "heads[0]: node 3 of 0", at("nodes", []))
    changed("subgraphs_is_object", "nodes[3].subgraphs: an object", at("nodes/3/subgraphs", {}))
    changed("subgraph_is_number", "nodes[3].subgraphs[0]: 4", at("nodes/3/subgraphs", [4]))
    changed("subgraph_is_empty", 'nodes[3].subgraphs[0]: a graph without "nodes"', at("nodes/3/subgraphs", [{}]))
    changed("subgraph_self_input", 'nodes[3].subgraphs[0].nodes[2].inputs[0]: node 2, which is "fc" itself',
            at("nodes/3/subgraphs", [symbol(at("nodes/2/inputs/0/0", 2))]))
    changed("unknown_key", 'unknown key "bar"', at("bar", 2))
    changed("unknown_node_key", 'nodes[1]: unknown key "foo"', at("nodes/1/foo", 2))
    for tag, value in (("text", "1.9.1"), ("number", 10901), ("typo", ["int", "x"]), ("negative", ["int", -5]), ("long", ["int", 10**25]),
                       ("empty", []), ("real", ["int", 1.5])):
        changed(f"version_{tag}", "attrs.mxnet_version: ", at("attrs/mxnet_version", value))
    changed("attrs_is_list", "attrs: a list", at("attrs", []))


def bad_operators():
    changed("empty_op", "nodes[2].op: an empty operator name", at("nodes/2/op", ""))
    changed("unknown_attribute", "bogus", at("nodes/2/attrs/bogus", "1"))
    changed("near_attribute", "num_hiden", at("nodes/2/attrs", {"num_hiden": "4"}))
    changed("missing_attribute", "num_hidden", without("nodes/2/attrs/num_hidden"))
    for value in ("four", "", "4.5", "1e400", "(4,", "None", "99999999999999999999", "4 4", "0x"):
        changed(f"num_hidden_{len(value)}_{value.replace(' ', '_').replace('(', 'p')}", "num_hidden", at("nodes/2/attrs/num_hidden", value))
    for value in ("maybe", "2", "", "TRUE?"):
        changed(f"no_bias_{len(value)}_{value.replace('?', 'q')}", "no_bias", at("nodes/2/attrs/no_bias", value))
    changed("bad_enum", "act_type", at("nodes/3/attrs/act_type", "rely"))
    changed("bare_key_now", "lr_mult", at("nodes/2/attrs/lr_mult", "1"))
    changed("too_few_inputs", "nodes[2].inputs: FullyConnected \"fc\" with 1 inputs, expected 2", at("nodes/2/inputs", [[0, 0, 0]]))
    changed("too_many_inputs", "with 3 inputs, expected 2", at("nodes/2/inputs", [[0, 0, 0]] * 3))
    changed("no_inputs", "with 0 inputs, expected 2", at("nodes/2/inputs", []))
    changed("variable_with_inputs", 'nodes[1].inputs: inputs of the variable "w"', at("nodes/1/inputs", [[0, 0, 0]]))
    for count in ("65536", "2147483647", "2000000000"):
        changed(f"slice_{count}", "outputs or more", at("nodes/3", {"op": "SliceChannel", "name": "s", "attrs": {"num_outputs": count}, "inputs": [[2, 0, 0]]}))
        changed(f"concat_{count}", f"with 1 inputs, expected {count}", at("nodes/3", {"op": "Concat", "name": "c", "attrs": {"num_args": count}, "inputs": [[2, 0, 0]]}))


def bad_text():
    good = json.dumps(symbol())
    for length in sorted(random.Random(1).sample(range(1, len(good)), 40)):
        case(f"symbol_cut_{length:03}.json", "symbol", good[:length], "invalid JSON")
    for position in sorted(random.Random(2).sample(range(len(good)), 40)):
        data = bytearray(good.encode())
        data[position] ^= 1 << random.Random(position).randrange(8)
        case(f"symbol_flip_{position:03}.json", "symbol", bytes(data), "*")
    case("symbol_comma.json", "symbol", good[:-1] + ",}", "invalid JSON")
    case("symbol_two.json", "symbol", good + good, "invalid JSON")
    case("symbol_tail.json", "symbol", good + "x", "invalid JSON")
    case("symbol_nul.json", "symbol", good.replace("data", "da\0ta"), "a NUL byte, expected text")
    case("symbol_nul_tail.json", "symbol", good.encode() + b"\0", "a NUL byte, expected text")
    case("symbol_bad_utf8.json", "symbol", good.encode().replace(b"data", b"d\xffta"), "invalid JSON")
    case("symbol_surrogate.json", "symbol", good.replace("data", "\\ud800"), "invalid JSON")
    case("symbol_nan.json", "symbol", good.replace("10901", "NaN"), "invalid JSON")
    case("symbol_number_overflow.json", "symbol", good.replace("[3, 0, 0]", "[1e999, 0, 0]"), "invalid JSON")
    case("symbol_comment.json", "symbol", "// x\n" + good, "invalid JSON")
    case("symbol_repeated_nodes.json", "symbol", good[:-1] + ', "nodes": []}', "nodes: duplicate key")
    case("symbol_repeated_name.json", "symbol", good.replace('"name": "fc"', '"name": "fc", "name": "fd"'), "nodes[2].name: duplicate key")
    for depth in (64, 65, 1000):
        case(f"symbol_deep_metadata_{depth}.json", "symbol", json.dumps(symbol()).replace("10901]", "10901, " + "[" * depth + "]" * depth + "]"), "nested more than 64 deep")
    case("symbol_deep_lists.json", "symbol", "[" * 3000, "a list, expected an object")
    case("symbol_deep_objects.json", "symbol", '{"a":' * 500, 'unknown key "a"')
    case("symbol_deep_ignored.json", "symbol", good.replace('"name": "w"', '"name": "w", "backward_source_id": ' + "[" * 70 + "]" * 70), "nested more than 64 deep")
    body = symbol()
    for _ in range(20):
        body = {"nodes": [{"op": "M", "name": "m", "inputs": [], "subgraphs": [body]}], "arg_nodes": [], "heads": [[0, 0, 0]]}
    case("symbol_deep_subgraphs.json", "symbol", json.dumps(body, separators=(",", ":")), "nested more than 64 deep")


# --- parameter files --------------------------------------------------------------------------------------------------------------------

def shape(*dims):
    return struct.pack("<i", len(dims)) + struct.pack(f"<{len(dims)}q", *dims)


def dense(dims=(2, 3), code=0, data=b"\0" * 24, magic=V2, storage=0, context=(1, 0)):
    head = struct.pack("<I", magic) + (struct.pack("<i", storage) if magic != V1 else b"")
    return head + shape(*dims) + struct.pack("<iii", *context, code) + data


def listed(arrays, names=None, count=None, name_count=None, magic=LIST_MAGIC):
    names = [b"arg:w%d" % i for i in range(len(arrays))] if names is None else names
    out = struct.pack("<QQQ", magic, 0, len(arrays) if count is None else count) + b"".join(arrays)
    out += struct.pack("<Q", len(names) if name_count is None else name_count)
    return out + b"".join(struct.pack("<Q", len(n)) + n for n in names)


def params(name, expected, data):
    case(f"params_{name}.params", "params", data, expected)


def bad_params():
    good = listed([dense(), dense((4,), 5, b"\0" * 4)])
    for length in range(0, len(good), 3):
        params(f"cut_{length:03}", "the file ends in" if length < 24 else "byte ", good[:length])
    for position in range(0, len(good), 2):
        data = bytearray(good)
        data[position] ^= 1 << random.Random(position).randrange(8)
        params(f"flip_{position:03}", "*", bytes(data))
    for magic in (0, 0x113, 0x112 << 8, 2**64 - 1):
        params(f"list_magic_{magic:x}", "byte 0: signature 0x", listed([dense()], magic=magic))
    for count in (2**64 - 1, 2**63, 2**32, 2**31, 1000, 30):
        params(f"count_{count}", "byte 16: " + str(count), listed([dense()], count=count))
        params(f"names_{count}", "byte 88: " + str(count), listed([dense()], name_count=count))
    params("two_names_for_one", "2 names, expected 1, or none", listed([dense()], [b"a", b"b"]))
    params("one_name_for_two", "1 names, expected 2, or none", listed([dense(), dense()], [b"a"]))
    for length in (2**64 - 1, 2**63, 2**32, 100):
        params(f"name_length_{length}", "the file ends in name 0", listed([dense()], []) [:-8] + struct.pack("<QQ", 1, length) + b"w")
    for rank in (33, 64, 1000, 2**31 - 1, -1, -2, -2**31):
        data = struct.pack("<Iii", V2, 0, rank) + b"\0" * 64
        params(f"rank_{rank}", f"byte 32: rank {rank} in the shape of array 0, expected 0 to 32", listed([data]))
    params("v3_rank_-2", "rank -2", listed([struct.pack("<Iii", V3, 0, -2)]))
    params("rank_32_short", "the file ends in", listed([dense((1,) * 32)])[:100])
    for dim in (-1, -2**31, -2**63):
        for magic, tag in ((V1, "v1"), (V2, "v2"), (V3, "v3")):
            params(f"{tag}_dim_{dim}", f"dimension {dim} in the shape of array 0, expected 0 or more", listed([dense((2, dim), magic=magic)]))
    huge = {"2_31": (2**31,), "2_63": (2**63 - 1,), "product_0": (2**32, 2**32), "product_8": (2**62, 2**62, 4), "wraps_to_6": (2**33 + 6, 2**31, 2),
            "times_4_wraps": (2**62,), "before_zero": (2**62, 2**62, 0), "one_more": (2, 4), "2_40": (2**20, 2**20)}
    for tag, dims in huge.items():
        params(f"shape_{tag}", "shape (", listed([dense(dims, data=b"")], []))
    params("zero_times_huge", "dimension -1", listed([dense((0, -1), data=b"")]))
    for code in (-1, 13, 99, 255, 2**31 - 1, -2**31):
        params(f"type_{code}", f"type code {code} of array 0, expected 0 to 12", listed([dense(code=code)]))
    for storage in (-1, -2, 3, 100, 2**31 - 1):
        params(f"storage_{storage}", f"byte 28: storage type {storage} of array 0, expected 0, 1 or 2", listed([dense(storage=storage)]))
    for storage in (1, 2):
        params(f"v3_storage_{storage}", f"storage type {storage} of array 0, expected 0", listed([dense(magic=V3, storage=storage)]))
    for word in (33, 34, 1000, V1 - 1, V3 + 1, 2**32 - 1):
        params(f"first_word_{word}", f"first word {word} of array 0", listed([struct.pack("<I", word) + b"\0" * 40]))
    params("v0_huge", "shape (4294967295", listed([struct.pack("<IIIiii", 2, 2**32 - 1, 2**32 - 1, 1, 0, 0)], []))
    params("v0_32_short", "the file ends in", listed([struct.pack("<I", 32) + b"\1" * 20], []))
    params("swapped", "byte 0: signature 0x", json.dumps(symbol()))


def sparse(storage, stored, dims, aux, values, code=0):
    """`aux`: (type code, shape, bytes) of each index array."""
    out = struct.pack("<Ii", V2, storage) + shape(*stored) + shape(*dims) + struct.pack("<iii", 1, 0, code)
    out += b"".join(struct.pack("<i", c) + shape(*s) for c, s, _ in aux)
    return listed([out + values + b"".join(d for _, _, d in aux)])


def longs(*values):
    return (6, (len(values),), struct.pack(f"<{len(values)}q", *values))


def bad_sparse():
    two = b"\0" * 16
    for tag, rows in {"descending": (3, 1), "equal": (1, 1), "high": (1, 4), "negative": (-1, 2), "huge": (1, 2**62)}.items():
        params(f"rows_{tag}", "array 0: ", sparse(1, (2, 2), (4, 2), [longs(*rows)], two))
    params("rows_one_short", "1 row indices for 2 stored rows", sparse(1, (2, 2), (4, 2), [longs(1)], two))
    params("rows_wide", "does not fit the shape", sparse(1, (2, 2), (4, 3), [longs(1, 2)], two))
    params("rows_rank_0", "stored values without a shape", sparse(1, (), (4, 2), [longs(1, 2)], two))
    params("rows_float", "indices of type float32", sparse(1, (2, 2), (4, 2), [(0, (2,), b"\0" * 8)], two))
    params("rows_table", "indices of type int64 and shape (2, 1)", sparse(1, (2, 2), (4, 2), [(6, (2, 1), b"\0" * 16)], two))
    columns = longs(1, 0, 2)
    three = b"\0" * 12
    for tag, pointers in {"short": (0, 3), "long": (0, 1, 2, 3), "start": (1, 1, 3), "end": (0, 1, 2), "falling": (0, 4, 3), "negative": (0, -1, 3)}.items():
        params(f"csr_pointers_{tag}", "array 0: ", sparse(2, (3,), (2, 3), [longs(*pointers), columns], three))
    for tag, bad in {"high": (1, 0, 3), "negative": (1, -1, 2), "short": (1, 0), "huge": (1, 2**63 - 1, 0)}.items():
        params(f"csr_columns_{tag}", "array 0: ", sparse(2, (3,), (2, 3), [longs(0, 1, 3), longs(*bad)], three))
    params("csr_rank_1", "a csr array of shape (6,)", sparse(2, (3,), (6,), [longs(0, 1, 3), columns], three))
    params("csr_rank_3", "a csr array of shape (2, 3, 1)", sparse(2, (3,), (2, 3, 1), [longs(0, 1, 3), columns], three))
    params("csr_huge_stored", "shape (4611686018427387904,)", sparse(2, (2**62,), (2, 3), [longs(0, 1, 3), columns], three))
    params("csr_index_type", "type code 77 of the indices of array 0", sparse(2, (3,), (2, 3), [(77, (3,), b""), columns], three))
    good = sparse(2, (3,), (2, 3), [longs(0, 1, 3), columns], three)
    for length in range(24, len(good) - 40, 9):
        params(f"csr_cut_{length:03}", "byte ", good[:length])


# --- what people hand over instead of a model -------------------------------------------------------------------------------------------

def bad_models():
    good = json.dumps(symbol())
    for name, data, expected in (
        ("empty", b"", "an empty file"), ("blanks", b" \n\t " * 9, "only whitespace"), ("html", b"<!DOCTYPE html><html>404</html>", "a web page"),
        ("html_blanks", b"\n\n <html>", "a web page"), ("xml", b"<?xml version='1.0'?>", "a web page or XML"), ("bom", b"\xef\xbb\xbf" + good.encode(), "a byte order mark"),
        ("utf16_le", good.encode("utf-16-le"), "UTF-16"), ("utf16_be", good.encode("utf-16-be"), "UTF-16"), ("utf16_bom", good.encode("utf-16"), "UTF-16"),
        ("zip", b"PK\3\4" + b"\0" * 40, "a zip archive"), ("gzip", b"\x1f\x8b\x08\0" * 4, "a gzip archive"), ("npy", b"\x93NUMPY\1\0", "a NumPy array"),
        ("pickle", b"\x80\x04\x95\0\0", "a Python pickle"), ("gguf", b"GGUF\3\0\0\0", "a GGUF model"), ("hdf5", b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
        ("lfs", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "a Git LFS pointer"),
        ("text", b"hello world", "\"hello world\""), ("nul", b"\0" * 100, "expected an ONNX model, or an MXNet symbol"), ("list", b"[1, 2]", "a list, expected an object"),
        ("brace", b"{", "invalid JSON"), ("magic_only", struct.pack("<Q", LIST_MAGIC), "the file ends in the reserved word"),
        ("policy", json.dumps({"target_dtype": "float16"}).encode(), 'unknown key "target_dtype"'),
    ):
        case(f"model_{name}.bin", "model", data, expected)


# --- policies ---------------------------------------------------------------------------------------------------------------------------

def bad_policies():
    def policy(name, document, expected):
        case(f"policy_{name}.json", "policy", document if isinstance(document, str) else json.dumps(document), expected)

    policy("empty", "", "byte")
    policy("list", [], "")
    policy("unknown_key", {"target_dtyp": "float16"}, "target_dtyp")
    for tag, value in (("int8", "int8"), ("number", 16), ("list", ["float16"]), ("empty", "")):
        policy(f"target_{tag}", {"target_dtype": value}, "target_dtype")
    for key in ("target_dtype_ops", "fp32_ops", "widest_dtype_ops", "excluded_sym_names", "data_names"):
        for tag, value in (("text", "Convolution"), ("number", 3), ("object", {"a": 1}), ("numbers", [1]), ("nested", [["a"]]), ("nulls", [None])):
            policy(f"{key}_{tag}", {key: value}, key)
    for tag, value in (("text", "x"), ("flat", ["Activation", "act_type", ["relu"]]), ("pair", [["Activation", "act_type"]]), ("four", [["A", "b", ["c"], 1]]),
                       ("values_text", [["Activation", "act_type", "relu"]]), ("values_numbers", [["Activation", "act_type", [1]]]), ("object", [{"op": "A"}])):
        policy(f"conditional_{tag}", {"conditional_fp32_ops": value}, "conditional_fp32_ops")
    for key in ("cast_optional_params", "keep_io_types"):
        for tag, value in (("text", "true"), ("number", 1), ("list", [])):
            policy(f"{key}_{tag}", {key: value}, key)
    for key in ("input_dtypes", "node_overrides"):
        for tag, value in (("list", []), ("text", "a"), ("number", {"a": 1}), ("nested", {"a": {}}), ("bad", {"a": "float17"})):
            policy(f"{key}_{tag}", {key: value}, key)
    for key in ("mode", "api"):
        for tag, value in (("unknown", "onnx"), ("number", 1), ("list", [])):
            policy(f"{key}_{tag}", {key: value}, key)
    policy("repeated", '{"mode": "typed", "mode": "mxnet"}', "mode")
    policy("deep", '{"fp32_ops": ' + "[" * 1000, "")
    policy("tail", '{} {}', "")
    good = json.dumps({"target_dtype": "bfloat16", "fp32_ops": ["softmax"], "conditional_fp32_ops": [["Activation", "act_type", ["softrelu"]]]})
    for length in range(1, len(good), 6):
        policy(f"cut_{length:03}", good[:length], "")


def main():
    folder = Path(sys.argv[1]) / "malformed"
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    for make in (bad_ids, bad_kinds, bad_operators, bad_text, bad_params, bad_sparse, bad_models, bad_policies):
        make()
    # One file for all: hundreds of tiny ones would each cost a block on disk and a line in every listing.
    lines = []
    with open(folder / "corpus.bin", "wb") as corpus:
        for name, (kind, data, expected) in sorted(CASES.items()):
            assert len(data) < 4096, name
            lines.append(f"{name}\t{kind}\t{corpus.tell()}\t{len(data)}\t{expected}\n")
            corpus.write(data)
    (folder / "manifest.tsv").write_text("".join(lines))
    print(f"{len(CASES)} cases")


if __name__ == "__main__":
    main()

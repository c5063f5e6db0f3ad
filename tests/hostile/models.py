"""Models, arrays and pictures that ask for trouble, written without any framework."""

import json
import pathlib
import struct
import zipfile
import zlib


def write_symbol(path, nodes, heads):
    """nodes: (operator, name, attributes, indices of inputs); "null" is a variable."""
    written = []
    for operator, name, attributes, inputs in nodes:
        node = {"op": operator, "name": name, "inputs": [[index, 0, 0] for index in inputs]}
        if attributes:
            node["attrs"] = {key: str(value) for key, value in attributes.items()}
        written.append(node)
    document = {
        "nodes": written,
        "arg_nodes": [index for index, node in enumerate(nodes) if node[0] == "null"],
        "node_row_ptr": list(range(len(nodes) + 1)),
        "heads": [[head, 0, 0] for head in heads],
        "attrs": {"mxnet_version": ["int", 10901]},
    }
    pathlib.Path(path).write_text(json.dumps(document))


def write_params(path, arrays):
    """arrays: name to (shape, float32 values)."""
    out = [struct.pack("<QQQ", 0x112, 0, len(arrays))]
    for shape, values in arrays.values():
        out.append(struct.pack("<Iii", 0xF993FAC9, 0, len(shape)) + struct.pack(f"<{len(shape)}q", *shape))
        out.append(struct.pack("<iii", 1, 0, 0) + struct.pack(f"<{len(values)}f", *values))
    out.append(struct.pack("<Q", len(arrays)))
    for name in arrays:
        out.append(struct.pack("<Q", len(name)) + name.encode())
    pathlib.Path(path).write_bytes(b"".join(out))


def npy_header(shape, code="<f4"):
    text = f"{{'descr': '{code}', 'fortran_order': False, 'shape': ({''.join(f'{dim},' for dim in shape)}), }}"
    text += " " * (63 - (10 + len(text)) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()


def write_npz(path, arrays):
    """arrays: name to (shape, float32 values)."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, (shape, values) in arrays.items():
            archive.writestr(name + ".npy", npy_header(shape) + struct.pack(f"<{len(values)}f", *values))


def write_zeros_npz(path, name, shape):
    """One array of zeros, packed a thousand to one."""
    count = 4
    for dim in shape:
        count *= dim
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        with archive.open(name + ".npy", "w", force_zip64=True) as entry:
            entry.write(npy_header(shape))
            piece = bytes(1 << 20)
            while count > 0:
                entry.write(piece[:min(count, len(piece))])
                count -= min(count, len(piece))


def write_png(path, width, height, unpacked):
    """A grey picture whose rows unpack to so many zeros, whatever its size."""
    def chunk(name, content):
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    packer = zlib.compressobj(9)
    rows = [packer.compress(bytes(min(1 << 20, unpacked - at))) for at in range(0, unpacked, 1 << 20)]
    rows = b"".join(rows) + packer.flush()
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    content = chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")
    pathlib.Path(path).write_bytes(b"\x89PNG\r\n\x1a\n" + content)


def ramp(count):
    return [((7 * k) % 23 - 11) / 16 for k in range(count)]


def single(path, operator, attributes, inputs=1):
    write_symbol(path, [("null", "data", None, []), (operator, "op", attributes, [0] * inputs)], [1])


def chain(path, length):
    nodes = [("null", "data", None, [])]
    nodes += [("_plus_scalar", f"n{k}", {"scalar": 0.001}, [k]) for k in range(length)]
    write_symbol(path, nodes, [length])


def tiny(folder):
    """Every command can be run on it: a convolution, a normalisation, a full layer."""
    write_symbol(folder / "tiny-symbol.json", [
        ("null", "data", None, []),
        ("null", "conv_weight", None, []),
        ("Convolution", "conv", {"kernel": "(3, 3)", "num_filter": 4, "no_bias": True, "pad": "(1, 1)"}, [0, 1]),
        ("Activation", "relu", {"act_type": "relu"}, [2]),
        ("null", "full_weight", None, []),
        ("null", "full_bias", None, []),
        ("FullyConnected", "full", {"num_hidden": 3}, [3, 4, 5]),
        ("softmax", "prob", {"axis": -1}, [6]),
    ], [7])
    write_params(folder / "tiny-0000.params", {
        "arg:conv_weight": ((4, 2, 3, 3), ramp(72)),
        "arg:full_weight": ((3, 144), ramp(432)),
        "arg:full_bias": ((3,), ramp(3)),
    })
    write_npz(folder / "tiny.npz", {"data": ((2, 2, 6, 6), ramp(144))})


def large(folder):
    """Its parameters are mapped, not copied, and its walk takes a while."""
    layers = 12
    nodes = [("null", "data", None, [])]
    arrays = {}
    last = 0
    for k in range(layers):
        nodes.append(("null", f"w{k}", None, []))
        nodes.append(("Convolution", f"conv{k}", {"kernel": "(3, 3)", "num_filter": 64, "no_bias": True,
                                                  "pad": "(1, 1)"}, [last, len(nodes) - 1]))
        nodes.append(("Activation", f"relu{k}", {"act_type": "relu"}, [len(nodes) - 1]))
        last = len(nodes) - 1
        channels = 64 if k > 0 else 3
        count = 64 * channels * 9
        arrays[f"arg:w{k}"] = ((64, channels, 3, 3), [value / 8 for value in ramp(count)])
    write_symbol(folder / "large-symbol.json", nodes, [last])
    write_params(folder / "large-0000.params", arrays)
    write_npz(folder / "large.npz", {"data": ((8, 3, 64, 64), ramp(8 * 3 * 64 * 64))})


def make(folder):
    folder = pathlib.Path(folder)
    single(folder / "one_hot-symbol.json", "one_hot", {"depth": 2000000000})
    single(folder / "pad-symbol.json", "Pad",
           {"mode": "constant", "pad_width": "(0,0,0,0,1000000,1000000,1000000,1000000)"})
    single(folder / "broadcast-symbol.json", "broadcast_axis", {"axis": 1, "size": 2000000000})
    single(folder / "resize-symbol.json", "_contrib_BilinearResize2D", {"height": 100000, "width": 100000})
    single(folder / "zeros-symbol.json", "_zeros", {"shape": "(1000000,1000000)", "dtype": "float32"}, 0)
    single(folder / "eye-symbol.json", "_eye", {"N": 1000000, "M": 1000000, "dtype": "float32"}, 0)
    single(folder / "pool-symbol.json", "Pooling",
           {"kernel": "(3,3)", "pad": "(2000000000,2000000000)", "pool_type": "max"})
    write_symbol(folder / "padding-symbol.json", [
        ("null", "data", None, []), ("null", "weight", None, []),
        ("Convolution", "op", {"kernel": "(3,3)", "pad": "(2000000000,2000000000)", "num_filter": 4,
                               "no_bias": True}, [0, 1])], [2])
    single(folder / "relu-symbol.json", "Activation", {"act_type": "relu"})
    write_npz(folder / "vector.npz", {"data": ((4,), ramp(4))})
    write_npz(folder / "matrix.npz", {"data": ((1, 1), ramp(1))})
    write_npz(folder / "picture.npz", {"data": ((1, 3, 8, 8), ramp(192))})
    write_npz(folder / "weighted.npz", {"data": ((1, 3, 8, 8), ramp(192)), "weight": ((4, 3, 3, 3), ramp(108))})
    chain(folder / "chain-symbol.json", 5000)
    write_symbol(folder / "parts-symbol.json", [
        ("null", "data", None, []), ("Concat", "op", {"num_args": 5000, "dim": 0}, [0] * 5000)], [1])
    write_zeros_npz(folder / "bomb.npz", "data", (1, 3, 8, 1 << 22))
    pictures = folder / "pictures"
    pictures.mkdir(exist_ok=True)
    write_png(pictures / "bomb.png", 8, 8, 600 << 20)
    (folder / "preprocess.json").write_text(json.dumps(
        {"inputs": [{"name": "data", "color": "RGB", "layout": "NCHW", "shape": [1, 3, 8, 8],
                     "mean": [0, 0, 0], "scale": [1, 1, 1]}]}))
    tiny(folder)
    large(folder)

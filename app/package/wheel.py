#!/usr/bin/env python3
"""Makes a wheel of a folder: wheel.py programs|window FOLDER VERSION TO

FOLDER holds what is to lie in site-packages, and in data/ what goes into the environment's own folders, and licenses/. The tag names the oldest
glibc that every file in it runs on, 2.28 at least, since the window's Qt asks for that. The same folder gives the same bytes.
"""
import base64
import hashlib
import os
import stat
import sys
import zipfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import elf # noqa: E402

LEAST = (2, 28)
DATE = (2026, 1, 1, 0, 0, 0)

COMMON = """Classifier: Environment :: Console
Classifier: Operating System :: POSIX :: Linux
Classifier: Topic :: Scientific/Engineering :: Artificial Intelligence
Keywords: onnx,mxnet,float16,bfloat16,int8,quantization,mixed precision
"""
KINDS = {
    "programs": {
        "name": "halftone_nn",
        "summary": "Mixed-precision conversion of neural networks: float16, bfloat16 and int8, operator by operator",
        "licence": "Apache-2.0",
        "requires": ["numpy", 'halftone-nn-gui =={version} ; extra == "gui"'],
        "extras": ["gui"],
        "commands": ["halftone-cli = halftone._programs:cli", "halftone = halftone._programs:window"],
        "text": "`halftone-cli` and the module `halftone` convert, quantize, compare, calibrate and profile ONNX and MXNet models.\n"
                'The window is an extra: `pip install "halftone-nn[gui]"`, then `halftone MODEL`.\n',
    },
    "window": {
        "name": "halftone_nn_gui",
        "summary": "The window of Halftone: see and edit the mixed-precision conversion of a neural network",
        "licence": "GPL-3.0-only",
        "requires": ["halftone-nn =={version}", "PySide6-Essentials >=6.4,<7"],
        "extras": [],
        "commands": [],
        "text": 'Installed with `pip install "halftone-nn[gui]"` and started with `halftone MODEL`.\n',
    },
}


def files_of(folder):
    for path, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            full = os.path.join(path, name)
            yield full, os.path.relpath(full, folder)


def metadata(kind, version, licences):
    lines = ["Metadata-Version: 2.1", f"Name: {kind['name'].replace('_', '-')}", f"Version: {version}", f"Summary: {kind['summary']}",
             f"License: {kind['licence']}", *(f"License-File: {name}" for name in licences), "Requires-Python: >=3.9",
             *(f"Requires-Dist: {text.format(version=version)}" for text in kind["requires"]),
             *(f"Provides-Extra: {extra}" for extra in kind["extras"]), COMMON + "Description-Content-Type: text/markdown"]
    return "\n".join(lines) + "\n\n# " + kind["name"].replace("_", "-") + "\n\n" + kind["text"]


def main():
    if len(sys.argv) != 5 or sys.argv[1] not in KINDS:
        sys.exit(__doc__)
    kind, folder, version, to = KINDS[sys.argv[1]], *sys.argv[2:]
    begin = f"{kind['name']}-{version}"
    entries = {} # name in the wheel: (bytes, is a program)
    floor = LEAST
    for path, name in files_of(folder):
        if "__pycache__" in name:
            continue
        is_elf = elf.is_elf(path)
        if is_elf:
            floor = max(floor, elf.floor(path))
        if name.startswith("data/"):
            name = f"{begin}.data/{name}"
        elif name.startswith("licenses/"):
            name = f"{begin}.dist-info/{name}"
        with open(path, "rb") as file:
            entries[name] = (file.read(), bool(os.stat(path).st_mode & stat.S_IXUSR))
    tag = f"py3-none-manylinux_{floor[0]}_{floor[1]}_x86_64"
    licences = sorted(name.split("/licenses/")[1] for name in entries if ".dist-info/licenses/" in name)
    own = {"METADATA": metadata(kind, version, licences),
           "WHEEL": f"Wheel-Version: 1.0\nGenerator: halftone\nRoot-Is-Purelib: false\nTag: {tag}\n"}
    if kind["commands"]:
        own["entry_points.txt"] = "[console_scripts]\n" + "\n".join(kind["commands"]) + "\n"
    entries.update({f"{begin}.dist-info/{name}": (text.encode(), False) for name, text in own.items()})
    record = f"{begin}.dist-info/RECORD"
    rows = []
    for name, (data, _) in entries.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        rows.append(f"{name},sha256={digest},{len(data)}\n")
    entries[record] = ("".join([*rows, f"{record},,\n"]).encode(), False)
    os.makedirs(to, exist_ok=True)
    wheel = os.path.join(to, f"{begin}-{tag}.whl")
    with zipfile.ZipFile(wheel + ".part", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, (data, is_program) in entries.items():
            info = zipfile.ZipInfo(name, DATE)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = (stat.S_IFREG | (0o755 if is_program else 0o644)) << 16
            archive.writestr(info, data, compresslevel=9)
    os.replace(wheel + ".part", wheel)
    print(wheel)


if __name__ == "__main__":
    main()

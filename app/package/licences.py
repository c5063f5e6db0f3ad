#!/usr/bin/env python3
"""Writes licences.txt's table and the texts of the licences into a package: licences.py SYSROOT TO SECTION...

Fails when SYSROOT/bundled names files of Debian 11 packages that the sections do not cover.
"""
import glob
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
COMMON = "/usr/share/common-licenses"


def rows(sections):
    section = ""
    with open(os.path.join(HERE, "licences.txt"), encoding="utf-8") as file:
        for line in map(str.strip, file):
            if line.startswith("["):
                section = line[1:-1]
            elif line and not line.startswith("#") and section in sections:
                name, licence, where, *packages = map(str.strip, line.split("|"))
                kind, _, key = where.partition(":")
                yield name, licence, kind, key, packages[0].split() if packages else [key]


def first(pattern):
    found = sorted(glob.glob(pattern))
    if not found:
        sys.exit(f"error: {pattern}: there is no such file")
    return found[-1]


def of_pypi(environment, package):
    folder = first(f"{ROOT}/build/{environment}/lib/python3*/site-packages/{package}-*.dist-info")
    return os.path.basename(folder).removesuffix(".dist-info").split("-")[-1]


def version_and_texts(kind, key, sysroot):
    if kind == "deb":
        version = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", key], capture_output=True, text=True, check=True).stdout
        return version, [f"/usr/share/doc/{key}/copyright"]
    if kind == "old":
        version = re.search(r"_(.*)_", os.path.basename(first(f"{sysroot}/debs/{key}_*.deb"))).group(1).replace("%3a", ":")
        return version, [f"{sysroot}/root/usr/share/doc/{key}/copyright"]
    if kind == "source":
        version = re.search(r"_(.*)\.dsc", os.path.basename(first(f"{sysroot}/src/{key}_*.dsc"))).group(1)
        return version, [f"{sysroot}/src/{key}/debian/copyright"]
    if kind == "onednn":
        folder = f"{ROOT}/build/onednn/share/doc/onednn"
        return of_pypi("onednn", "onednn_cpu_gomp"), [f"{folder}/LICENSE", f"{folder}/THIRD-PARTY-PROGRAMS"]
    if kind == "onnx":
        return of_pypi("onnx", "onnx"), [f"{COMMON}/Apache-2.0"]
    with open(f"{sysroot}/pyside/version", encoding="utf-8") as file:
        return file.read().strip(), [f"{COMMON}/LGPL-3", f"{COMMON}/GPL-3"]


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    sysroot, to, sections = sys.argv[1], sys.argv[2], sys.argv[3:]
    os.makedirs(to, exist_ok=True)
    table, covered = [], set()
    for name, licence, kind, key, packages in rows(sections):
        version, texts = version_and_texts(kind, key, sysroot)
        covered.update(packages)
        short = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
        files = []
        for text in texts:
            if not os.path.exists(text):
                sys.exit(f"error: {text}: the licence of {name} is not there")
            files.append(short + ("" if len(texts) == 1 else "-" + os.path.basename(text).lower()) + ".txt")
            shutil.copyfile(text, os.path.join(to, files[-1]))
        table.append(f"| {name} | {version} | {licence} | {', '.join(files)} |\n")
    bundled = f"{sysroot}/bundled"
    if os.path.exists(bundled):
        with open(bundled, encoding="utf-8") as file:
            unnamed = {package for package in file.read().split() if package not in covered}
        if unnamed:
            sys.exit(f"error: app/package/licences.txt does not name {', '.join(sorted(unnamed))}")
    shutil.copyfile(os.path.join(ROOT, "LICENSE"), os.path.join(to, "halftone.txt"))
    own = "Apache-2.0; see halftone.txt"
    if "window" in sections:
        shutil.copyfile(f"{COMMON}/GPL-3", os.path.join(to, "GPL-3.txt"))
        own = "sources Apache-2.0 (halftone.txt); this package as a whole GPL-3.0-only (GPL-3.txt), since the window links QCustomPlot"
    with open(os.path.join(to, "README.txt"), "w", encoding="utf-8") as file:
        file.write(f"# Licences\n\nHalftone: {own}.\n\nWith it come:\n\n| library | version | licence | text |\n|---|---|---|---|\n"
                   + "".join(table)
                   + "\nVersions with a hyphen are Debian's; the sources are in Debian's archive under that version. Qt's and oneDNN's are"
                     " published by their projects.\n")


if __name__ == "__main__":
    main()

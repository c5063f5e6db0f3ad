#!/usr/bin/env python3
"""Holds documents and sources together: python3 tests/check_documents.py (a second; nothing is built).

Every rule that a comment cites exists once in a document, every document, section and source that is named is there,
core/README.md has every room, README.md stays short, and the window says what the glossary says."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
IDS = re.compile(r"\b[DFMQT]-[a-z][a-z0-9]*(?:-[a-z0-9]+)*\b")
DEFINED = re.compile(r"^\| ([DFMQT]-[a-z0-9-]+) \|", re.M)
DOCUMENT = re.compile(r"\b((?:[\w.]+/)*[A-Z]+\.md)(?:, (?:\"([^\"]+)\"|section (\d+)))?")
SOURCE = re.compile(r"\b((?:core|app|widgets|tests|resources)/[\w/]+\.(?:h|cpp|py|sh|json|txt))\b")
LINK = re.compile(r"\]\(([^)#:]+)\)")
# What only those could open who wrote it.
ELSEWHERE = re.compile(r"\((?:[^()]*; )?spec: |(?<![/\w])spec/\w|DESIGN\.md|\bshared/(?:spec|anchors|fixtures|accept)")
# What the window says: no option of the command line, and the glossary's word for a thing.
TEXT = re.compile(r'(?:\btr|QStringLiteral)\(\s*((?:"(?:[^"\\]|\\.)*"\s*)+)')
NOT_SAID = {r"(?<![\w-])--[a-z]": "an option of the command line", r"(?i)same first class": "say top-1 agreement", r"(?i)diverges": "say first layer below N dB",
            r"(?i)\bas asked|\basked for": "say requested", r"(?i)chosen (node|layer|operator|tensor)s?\b": "say selected"}
README_LINES, README_COLUMNS = 120, 140


def texts():
    names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in names.splitlines():
        is_text = name.endswith((".h", ".cpp", ".py", ".sh", ".md", ".txt", ".cmake")) or name.startswith(".ci/") or name.endswith("/case.json")
        path = ROOT / name
        if is_text and path.is_file() and not name.startswith("tests/fuzz/corpus/") and path != pathlib.Path(__file__).resolve():
            yield name, path.read_text(encoding="utf-8")


def headings(document):
    return re.findall(r"^#+ (.+)$", (ROOT / document).read_text(encoding="utf-8"), re.M)


def defined_ids(files):
    found, faults = {}, []
    for name, text in files.items():
        for one in DEFINED.findall(text) if name.endswith(".md") else []:
            if one in found:
                faults.append(f"{name}: {one} is a rule of {found[one]} already")
            found[one] = name
    return found, faults


def faults_in(name, text, ids):
    for number, line in enumerate(text.splitlines(), 1):
        where = f"{name}:{number}"
        yield from (f"{where}: {one} is no rule of a document" for one in IDS.findall(line) if one not in ids)
        if ELSEWHERE.search(line):
            yield f"{where}: a document that is not in the repository"
        comment = line.partition("//")[2] if name.endswith((".h", ".cpp")) else line if name.endswith(".md") else ""
        yield from (f"{where}: {one} does not exist" for one in SOURCE.findall(comment) if not (ROOT / one).exists())
        for document, heading, section in [] if name.endswith(".md") else DOCUMENT.findall(line):
            if not (ROOT / document).is_file():
                yield f"{where}: {document} does not exist"
            elif heading and heading not in headings(document):
                yield f"{where}: {document} has no section {heading}"
            elif section and not any(one.startswith(section + " ") for one in headings(document)):
                yield f"{where}: {document} has no section {section}"


def words_in(name, text):
    is_window = name.startswith(("widgets/", "app/")) and name.endswith(".cpp") and not name.endswith("_call.cpp") and not name.startswith(("app/cli/", "app/mpi/", "app/main.cpp", "app/screenshot.cpp"))
    for said in TEXT.findall(text) if is_window else []:
        yield from (f"{name}: {said.strip()}: {why}" for pattern, why in NOT_SAID.items() if re.search(pattern, said))


def dead_links(name, text):
    for link in LINK.findall(text) if name.endswith(".md") else []:
        if not (ROOT / name).parent.joinpath(link).exists():
            yield f"{name}: the link to {link} leads nowhere"


def missing_rooms(files):
    rooms = re.findall(r"^([a-z]+):", files["core/rooms.txt"], re.M)
    shown = re.findall(r"^\| `(\w+)`", files["core/README.md"], re.M)
    yield from (f"core/README.md: the room {room} is missing" for room in rooms if room not in shown)
    yield from (f"core/README.md: {room} is no room of core/rooms.txt" for room in shown if room not in rooms)


def too_long(text):
    lines = text.splitlines()
    if len(lines) > README_LINES:
        yield f"README.md: {len(lines)} lines, at most {README_LINES}"
    yield from (f"README.md:{number}: {len(line)} columns, at most {README_COLUMNS}"
                for number, line in enumerate(lines, 1) if len(line) > README_COLUMNS)


def main():
    files = dict(texts())
    ids, faults = defined_ids(files)
    for name, text in files.items():
        faults += [*faults_in(name, text, ids), *dead_links(name, text), *words_in(name, text)]
    faults += [*missing_rooms(files), *too_long(files["README.md"])]
    print("\n".join(faults), file=sys.stderr, end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Holds documents and sources together: python3 tests/check_documents.py (a second; nothing is built).

Every rule that a comment cites exists once in a document, every document, section and source that is named is there,
core/README.md has every room, README.md stays short, and window, command line and help say what the glossary says."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
IDS = re.compile(r"\b[DFMQTW]-[a-z][a-z0-9]*(?:-[a-z0-9]+)*\b")
DEFINED = re.compile(r"^\| ([DFMQTW]-[a-z0-9-]+) \|", re.M)
DOCUMENT = re.compile(r"\b((?:[\w.]+/)*[A-Z]+\.md)(?:, (?:\"([^\"]+)\"|section (\d+)))?")
SOURCE = re.compile(r"\b((?:core|app|widgets|tests|resources)/[\w/]+\.(?:h|cpp|py|sh|json|txt))\b")
LINK = re.compile(r"\]\(([^)#:]+)\)")
# What only those could open who wrote it.
ELSEWHERE = re.compile(r"\((?:[^()]*; )?spec: |(?<![/\w])spec/\w|DESIGN\.md|\bshared/(?:spec|anchors|fixtures|accept)")
# What people read: the glossary's word for a thing, and no option of the command line where the window may show it.
TOKEN = re.compile(r"""//[^\n]*|'(?:[^'\\\n]|\\.)'|"(?:[^"\\\n]|\\.)*\"""")
OPTION = {r"(?<![\w-])--[a-z]": "an option of the command line"}
NOT_SAID = {r"(?i)same first class": "say top-1 agreement", r"(?i)\bdiverges\b": "say first layer below N dB",
            r"(?i)\bas asked\b|\bask(?:s|ed) (?:for|to)\b|\bis asked\b": "say requested",
            r"(?i)\bchosen (?:node|layer|operator|tensor|chip|group|point)s?\b": "say selected", r"(?i)thresholds are chosen": "say set",
            r"(?i)\bgo(?:es)? on\b": "say resume", r"(?i)not to be trusted": "say unreliable", r"(?i)nothing gained": "say no speed-up",
            r"(?i)\bis no (?:number|unit|kind|command|pass|node|operator)\b": "say is not a",
            r"(?i)\bis none that\b|\bthat is no\b|\btold of\b|\banew\b|\bkin\b|\bwhoever\b|\bstands in\b": "say it in plain words",
            r"(?i)\b(?:layer|it|group)s? alone\b|\balone (?:%\d|dB|\(dB\))": "say isolated", r"(?i)\bdraw &?inputs\b": "say Draw Random Inputs"}
# Command lines that the window writes: of halftone-mpi, of Python programs, of converters, and its own; style sheets have names of that form.
WRITES_OPTIONS = re.compile(r"app/(?:cli|mpi)/|app/(?:main|screenshot|hosts/host_run)\.cpp|\w+_call\.cpp|core/report/html_|core/io/foreign_formats\.cpp")
README_LINES, README_COLUMNS = 120, 140


def texts():
    names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in names.splitlines():
        is_text = name.endswith((".h", ".cpp", ".py", ".sh", ".md", ".txt", ".cmake", ".html")) or name.startswith(".ci/") or name.endswith("/case.json")
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


def literals(text):
    """The string literals, those that stand side by side as one; not those of comments and includes."""
    code = re.sub(r"^\s*#\s*include.*$", "", text, flags=re.M)
    joined, end = "", 0
    for token in TOKEN.finditer(code):
        if not token[0].startswith('"'):
            continue
        if joined and not code[end:token.start()].strip():
            joined += token[0][1:-1]
        else:
            yield joined
            joined = token[0][1:-1]
        end = token.end()
    yield joined


def words_in(name, text):
    is_help = name.startswith("resources/help/") or name in ("README.md", "app/README.md")
    is_source = name.startswith(("widgets/", "app/", "core/")) and name.endswith((".h", ".cpp"))
    for said in [re.sub(r"<[^>]*>", "", line) for line in text.splitlines()] if is_help else literals(text) if is_source else []:
        banned = NOT_SAID if is_help or WRITES_OPTIONS.search(name) else NOT_SAID | OPTION
        yield from (f"{name}: {said.strip()}: {why}" for pattern, why in banned.items() if re.search(pattern, said))


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

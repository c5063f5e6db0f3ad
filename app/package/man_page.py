#!/usr/bin/env python3
"""Writes a program's manual page from its --help: man_page.py PROGRAM PAGE

Commands listed under "Subcommands:" get a section each, made from their own --help.
"""
import os
import re
import subprocess
import sys

OTHERS = {"halftone": "halftone-cli", "halftone-cli": "halftone"}


def answer(*command):
    environment = dict(os.environ, LC_ALL="C.UTF-8", QT_QPA_PLATFORM="offscreen", XDG_RUNTIME_DIR="/tmp")
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        sys.exit(f"error: {' '.join(command)} ended with {done.returncode}: {done.stderr.strip()}")
    return done.stdout


class Help:
    """One help text: what it begins with, and [(title, [(term, text)])]."""

    def __init__(self, text):
        self.usage = ""
        self.about = ""
        self.groups = []
        for line in text.splitlines():
            if line.startswith("Usage:"):
                self.usage = line[len("Usage:"):].strip()
            elif re.fullmatch(r"[A-Z][\w ]*:", line):
                self.groups.append((line[:-1], []))
            elif line.startswith("  ") and self.groups:
                self.add(line)
            elif line.strip():
                self.about += (" " if self.about else "") + line.strip()

    def add(self, line):
        entries = self.groups[-1][1]
        if line.startswith("   ") and entries: # goes on
            term, text = entries[-1]
            entries[-1] = (term, f"{text} {line.strip()}".strip())
            return
        term, _, text = line.strip().partition("  ")
        entries.append((term, text.strip()))


def escaped(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text[:1] in (".", "'") else text


def rows(entries):
    return "".join(f".TP\n.B {escaped(term)}\n{escaped(text)}\n" for term, text in entries)


def sections(of):
    return "".join(f".SH {title.upper()}\n{rows(entries)}" for title, entries in of if title != "Subcommands" and entries)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    program, page = sys.argv[1:]
    name = os.path.basename(program)
    text = Help(answer(program, "--help"))
    version = answer(program, "--version").split()[-1]
    commands = [term for title, entries in text.groups if title == "Subcommands" for term, _ in entries]
    usage = text.usage.split(" ", 1)[-1].replace("SUBCOMMAND", "COMMAND")
    lines = [f'.TH {name.upper()} 1 "" "Halftone {version}" "User Commands"\n',
             f".SH NAME\n{name} \\- {escaped(text.about.rstrip('.'))}\n",
             f".SH SYNOPSIS\n.B {name}\n{escaped(usage)}\n",
             f".SH DESCRIPTION\n{escaped(text.about)}\n", sections(text.groups)]
    if commands:
        lines.append(".SH COMMANDS\n")
    for command in commands:
        own = Help(answer(program, command, "--help"))
        arguments = own.usage.removeprefix(f"{name} {command}").replace("[OPTIONS]", "").strip()
        lines.append(f".SS {escaped(f'{name} {command} {arguments}'.strip())} [OPTIONS]\n{escaped(own.about)}\n")
        for title, entries in own.groups:
            entries = [entry for entry in entries if not entry[0].startswith("-h,")]
            if title not in ("Options", "Positionals") and entries:
                lines.append(f".PP\n{title}:\n")
            lines.append(rows(entries))
    if name in OTHERS:
        lines.append(f".SH SEE ALSO\n.BR {escaped(OTHERS[name])} (1)\n")
    with open(page, "w", encoding="utf-8") as file:
        file.write("".join(lines))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Copies the libraries that programs and libraries need, and what those need: bundle.py TO FOLDERS [FILE...]

FOLDERS, separated by colons, are looked through in turn; what is in TO already is not copied, nor is what every system has (elf.py).
Prints which files were copied.
"""
import os
import shutil
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import elf # noqa: E402


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    to, folders, todo = sys.argv[1], sys.argv[2].split(":"), sys.argv[3:]
    os.makedirs(to, exist_ok=True)
    seen = set(elf.SYSTEM)
    while todo:
        file = todo.pop()
        for name in elf.needed(file):
            if name in seen:
                continue
            seen.add(name)
            there = os.path.join(to, name)
            if os.path.exists(there):
                todo.append(there)
                continue
            found = next((path for folder in folders if os.path.exists(path := os.path.join(folder, name))), None)
            if found is None:
                sys.exit(f"error: {name}: needed by {os.path.basename(file)}, expected in {' or '.join(folders)}")
            shutil.copy(os.path.realpath(found), there)
            os.chmod(there, 0o755)
            print(os.path.realpath(found))
            todo.append(there)


if __name__ == "__main__":
    main()

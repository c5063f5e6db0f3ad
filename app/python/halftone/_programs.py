"""The commands halftone-cli and halftone, which become the programs of this package."""
import importlib.util
import os
import sys


def cli():
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "halftone-cli")
    os.execv(program, [program, *sys.argv[1:]])


def window():
    if importlib.util.find_spec("halftone_gui") is None:
        print('error: the window is not installed; pip install "halftone-nn[gui]"', file=sys.stderr)
        return 3
    from halftone_gui import run
    return run(sys.argv[1:])

"""The window of Halftone, on the Qt of PySide6."""
import ctypes
import importlib.util
import os
import sys

# What PySide6's Qt takes from the system: the file, and the package of it in Debian, Fedora and Arch Linux.
ALWAYS = (
    ("libGL.so.1", "libgl1", "libglvnd-glx", "libglvnd"),
    ("libEGL.so.1", "libegl1", "libglvnd-egl", "libglvnd"),
    ("libglib-2.0.so.0", "libglib2.0-0", "glib2", "glib2"),
    ("libgthread-2.0.so.0", "libglib2.0-0", "glib2", "glib2"),
    ("libfontconfig.so.1", "libfontconfig1", "fontconfig", "fontconfig"),
    ("libfreetype.so.6", "libfreetype6", "freetype", "freetype2"),
    ("libxkbcommon.so.0", "libxkbcommon0", "libxkbcommon", "libxkbcommon"),
    ("libdbus-1.so.3", "libdbus-1-3", "dbus-libs", "dbus"),
)
ON_A_DISPLAY = (
    ("libX11-xcb.so.1", "libx11-xcb1", "libX11-xcb", "libx11"),
    ("libxkbcommon-x11.so.0", "libxkbcommon-x11-0", "libxkbcommon-x11", "libxkbcommon-x11"),
    ("libxcb-cursor.so.0", "libxcb-cursor0", "xcb-util-cursor", "xcb-util-cursor"),
    ("libxcb-icccm.so.4", "libxcb-icccm4", "xcb-util-wm", "xcb-util-wm"),
    ("libxcb-image.so.0", "libxcb-image0", "xcb-util-image", "xcb-util-image"),
    ("libxcb-keysyms.so.1", "libxcb-keysyms1", "xcb-util-keysyms", "xcb-util-keysyms"),
    ("libxcb-render-util.so.0", "libxcb-render-util0", "xcb-util-renderutil", "xcb-util-renderutil"),
    ("libxcb-randr.so.0", "libxcb-randr0", "libxcb", "libxcb"),
    ("libxcb-render.so.0", "libxcb-render0", "libxcb", "libxcb"),
    ("libxcb-shape.so.0", "libxcb-shape0", "libxcb", "libxcb"),
    ("libxcb-shm.so.0", "libxcb-shm0", "libxcb", "libxcb"),
    ("libxcb-sync.so.1", "libxcb-sync1", "libxcb", "libxcb"),
    ("libxcb-xfixes.so.0", "libxcb-xfixes0", "libxcb", "libxcb"),
    ("libxcb-xkb.so.1", "libxcb-xkb1", "libxcb", "libxcb"),
)
INSTALL = ("Debian: apt install", "Fedora: dnf install", "Arch: pacman -S")


def is_missing(file):
    try:
        ctypes.CDLL(file)
    except OSError:
        return True
    return False


def needs_no_display(arguments):
    return bool(os.environ.get("QT_QPA_PLATFORM")) or any(
        argument.startswith(("--screenshot", "--help")) or argument in ("-h", "-v", "--version") for argument in arguments)


def missing_libraries(arguments):
    """One line that names them and their packages; empty where none is missing."""
    missing = [row for row in ALWAYS + (() if needs_no_display(arguments) else ON_A_DISPLAY) if is_missing(row[0])]
    if not missing:
        return ""
    packages = [f"{how} {' '.join(dict.fromkeys(row[column] for row in missing))}" for column, how in enumerate(INSTALL, 1)]
    return f"Qt needs {', '.join(row[0] for row in missing)}, which this system lacks; {'; '.join(packages)}"


def folder_of(package):
    return list(importlib.util.find_spec(package).submodule_search_locations)[0]


def run(arguments):
    lacking = missing_libraries(arguments)
    if lacking:
        print(f"error: {lacking}", file=sys.stderr)
        return 3
    own = os.path.dirname(os.path.abspath(__file__))
    qt = os.path.join(folder_of("PySide6"), "Qt")
    libraries = [os.path.join(folder_of("halftone"), "lib"), os.path.join(qt, "lib")]
    environment = dict(os.environ)
    beside = os.path.dirname(own)
    if any(os.path.commonpath([beside, folder]) != beside for folder in libraries): # not where bin/halftone looks for them
        environment["LD_LIBRARY_PATH"] = ":".join(filter(None, [*libraries, environment.get("LD_LIBRARY_PATH")]))
        environment["QT_PLUGIN_PATH"] = os.path.join(qt, "plugins")
    program = os.path.join(own, "bin", "halftone")
    os.execve(program, [program, *arguments], environment)

"""The report page, the window, and what this machine has."""
from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING, Any, Callable, Optional, Union

from ._conversion import Conversion
from ._data import open_data
from ._errors import BadCall, BadInput, Unsupported
from ._library import ProgressFunction, json_of, library, made, settings, text_of, watched
from ._model import load

if TYPE_CHECKING:
    from ._model import Source
    from ._results import Front

_ATTACHED = ("policy", "inputs", "labels", "params", "session") # options of the window


def version() -> str:
    """The version of the library, e.g. "0.1.0"."""
    return library().ht_version().decode()


def report(model: "Source", path: Any, *, data: Any = None, front: Optional["Front"] = None, progress: Optional[ProgressFunction] = None,
           **options: Any) -> None:
    """Writes a self-contained HTML page about a model to `path`.

    data     examples to compare and calibrate on; see quantize()
    front    the result of tune(), to be shown as well
    options  further options of `halftone-cli report`, with underscores: policy, target, hardware, latency, …
    """
    model = load(model)
    examples = open_data(model, data, options)
    made_of = watched("ht_report", model._handle.value, examples and examples.value, front and front._handle.value, settings(**options),
                      progress=progress)
    try:
        _write_whole(path, text_of(made_of))
    except OSError as failure:
        found = f"cannot write: {failure.strerror}"
        raise BadInput(f"{os.fspath(path)}: {found}", file=os.fspath(path), found=found) from None


def _write_whole(path: Any, text: str) -> None:
    folder = os.path.dirname(os.path.abspath(os.fspath(path)))
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=folder, prefix=".halftone-", delete=False) as file:
        try:
            file.write(text)
            file.close()
            os.replace(file.name, path)
        except BaseException:
            os.unlink(file.name)
            raise


def _window() -> list[str]:
    if importlib.util.find_spec("halftone_gui") is not None:
        return [sys.executable, "-c", "import sys, halftone_gui; sys.exit(halftone_gui.run(sys.argv[1:]))"]
    program = shutil.which("halftone")
    if program is None or os.path.dirname(program) == os.path.dirname(sys.executable): # that of this package, which needs halftone_gui
        raise Unsupported('the window is not installed; pip install "halftone-nn[gui]"', expected='pip install "halftone-nn[gui]"')
    return [program]


def show(model: Union["Source", Conversion], **attached: Any) -> "subprocess.Popen[bytes]":
    """Opens a model in the window and returns its process.

    model     whatever load() takes, or a Conversion, which is shown with its policy. What is not in a file is written to a temporary one.
    attached  paths for the window's options: policy, inputs, labels, params
    Raises Unsupported if the window is not installed.
    """
    for name in attached:
        if name not in _ATTACHED:
            raise BadCall(f"{name}: expected one of {', '.join(_ATTACHED)}", setting=name, expected=", ".join(_ATTACHED))
    command = _window()
    conversion = model if isinstance(model, Conversion) else None
    source = conversion.source if conversion else load(model)
    folder = ""
    if source.path is None or conversion:
        folder = tempfile.mkdtemp(prefix="halftone-")
    if conversion and "policy" not in attached:
        attached["policy"] = os.path.join(folder, "shown.policy.json")
        with open(attached["policy"], "wb") as file:
            file.write(settings(**conversion.policy))
    path = source.path or source.save(os.path.join(folder, "model"))[0]
    options = [word for name, value in attached.items() for word in (f"--{name}", os.fspath(value))]
    return subprocess.Popen([*command, path, *options])


def backends() -> list[dict[str, Any]]:
    """Rows with name, available, device, dtypes ({type: "native", "emulated" or "no"}) and why of each backend."""
    return json_of(made("ht_backends"))["backends"]


def hardware(name: Any = None) -> dict[str, Any]:
    """The described chips, or one of them: its name, "this", "this-gpu", or the path of a description."""
    return json_of(watched("ht_hardware", None if name is None else os.fsencode(name)))


def progress() -> Callable[[float, str], None]:
    """A function for `progress=`: a bar of tqdm if that is installed, else lines on standard error."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _Lines()
    bar = tqdm(total=1.0, bar_format="{percentage:3.0f}%|{bar}| {desc} [{elapsed}<{remaining}]")

    def advance(share: float, what: str) -> None:
        bar.set_description_str(what, refresh=False)
        bar.update(max(share - bar.n, 0))
        if share >= 1:
            bar.close()

    return advance


class _Lines:
    """Prints every tenth of the way."""

    def __init__(self) -> None:
        self._next = 0.0

    def __call__(self, share: float, what: str) -> None:
        if share >= self._next:
            print(f"{share:4.0%} {what}", file=sys.stderr)
            self._next = share + 0.1

"""libhalftone.so by ctypes: its structs, its functions, and how a call is made."""
from __future__ import annotations

import ctypes
import functools
import json
import os
import signal
import threading
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_void_p
from typing import Any, Callable, Optional

from ._errors import BadCall, BadInput, Error, NoMemory, Unsupported

ProgressFunction = Callable[[float, str], Any]


class ErrorRecord(ctypes.Structure):
    """ht_error"""

    _fields_ = [("kind", c_int), *((name, c_char_p) for name in ("message", "file", "setting", "place", "found", "expected"))]


class Array(ctypes.Structure):
    """ht_array"""

    _fields_ = [("name", c_char_p), ("type", c_char_p), ("rank", c_int32), ("shape", POINTER(c_int64)), ("data", c_void_p),
                ("bytes", c_size_t)]


PROGRESS = ctypes.CFUNCTYPE(c_int, c_double, c_char_p, c_void_p)
NEXT = ctypes.CFUNCTYPE(c_int, POINTER(POINTER(Array)), POINTER(c_size_t), c_void_p)
RELEASE = ctypes.CFUNCTYPE(None, c_void_p)

_KINDS = {1: BadInput, 2: BadCall, 3: Unsupported, 4: NoMemory}
_ERROR = POINTER(POINTER(ErrorRecord))
_OUT = POINTER(c_void_p)
_WATCHED = (PROGRESS, c_void_p)
# The arguments of the functions that return an ht_kind, but for the result and the error behind them, and what frees the result.
_MAKERS: dict[str, tuple[tuple, str]] = {
    "ht_model_open": ((c_char_p, c_char_p), "ht_model_free"),
    "ht_model_read": ((c_void_p, c_size_t, c_char_p, c_char_p), "ht_model_free"),
    "ht_model_save": ((c_void_p, c_char_p, c_char_p), "ht_free"),
    "ht_model_info": ((c_void_p,), "ht_free"),
    "ht_model_nodes": ((c_void_p,), "ht_free"),
    "ht_model_svg": ((c_void_p, c_void_p, c_char_p, *_WATCHED), "ht_free"),
    "ht_data_open": ((c_char_p,), "ht_data_free"),
    "ht_data_pull": ((NEXT, c_void_p, c_char_p), "ht_data_free"),
    "ht_data_borrow": ((POINTER(Array), c_size_t, c_char_p, RELEASE, c_void_p), "ht_data_free"),
    "ht_runner_new": ((c_void_p, c_char_p), "ht_runner_free"),
    "ht_runner_run": ((c_void_p, POINTER(Array), c_size_t, *_WATCHED), "ht_values_free"),
    "ht_convert": ((c_void_p, c_void_p, c_char_p, *_WATCHED), "ht_conversion_free"),
    "ht_quantize": ((c_void_p, c_void_p, c_void_p, c_char_p, *_WATCHED), "ht_conversion_free"),
    "ht_conversion_report": ((c_void_p,), "ht_free"),
    "ht_conversion_policy": ((c_void_p,), "ht_free"),
    "ht_conversion_model": ((c_void_p,), "ht_model_free"),
    "ht_verify": ((c_void_p, c_char_p, *_WATCHED), "ht_free"),
    "ht_calibrate": ((c_void_p, c_void_p, c_char_p, *_WATCHED), "ht_calibration_free"),
    "ht_calibration_report": ((c_void_p,), "ht_free"),
    "ht_compare": ((c_void_p, c_void_p, c_void_p, c_char_p, *_WATCHED), "ht_free"),
    "ht_compare_models": ((c_void_p, c_void_p, c_void_p, c_char_p, *_WATCHED), "ht_free"),
    "ht_compare_values": ((c_void_p, POINTER(Array), c_size_t, c_void_p, c_char_p, *_WATCHED), "ht_free"),
    "ht_profile": ((c_void_p, c_void_p, c_char_p, *_WATCHED), "ht_free"),
    "ht_tune": ((c_void_p, c_void_p, c_char_p, *_WATCHED), "ht_front_free"),
    "ht_front_report": ((c_void_p,), "ht_free"),
    "ht_front_pick": ((c_void_p, c_char_p, *_WATCHED), "ht_conversion_free"),
    "ht_report": ((c_void_p, c_void_p, c_void_p, c_char_p, *_WATCHED), "ht_free"),
    "ht_backends": ((), "ht_free"),
    "ht_hardware": ((c_char_p, *_WATCHED), "ht_free"),
}
_OTHERS: dict[str, tuple] = {
    "ht_model_bytes": (c_void_p, _OUT, POINTER(c_size_t)),
    "ht_calibration_save": (c_void_p, c_char_p),
}


def _path() -> str:
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib", "libhalftone.so")
    return os.environ.get("HALFTONE_LIBRARY") or beside


@functools.lru_cache(maxsize=None)
def library() -> ctypes.CDLL:
    """The library, loaded by the first call. HALFTONE_LIBRARY names another one than the package's."""
    try:
        loaded = ctypes.CDLL(_path())
    except OSError as failure:
        raise Unsupported(f"{_path()}: {failure}", file=_path(), found=str(failure)) from None
    for name, arguments in {**{name: (*row[0], _OUT) for name, row in _MAKERS.items()}, **_OTHERS}.items():
        function = getattr(loaded, name)
        function.argtypes = (*arguments, _ERROR)
        function.restype = c_int
    for name in {row[1] for row in _MAKERS.values()}:
        function = getattr(loaded, name)
        function.argtypes = (c_void_p,)
        function.restype = None
    loaded.ht_error_free.argtypes = (POINTER(ErrorRecord),)
    loaded.ht_error_free.restype = None
    loaded.ht_values_count.argtypes = (c_void_p,)
    loaded.ht_values_count.restype = c_size_t
    loaded.ht_values_array.argtypes = (c_void_p, c_size_t)
    loaded.ht_values_array.restype = POINTER(Array)
    loaded.ht_version.restype = c_char_p
    return loaded


class Handle:
    """Owns what the library made; freed with the last reference."""

    __slots__ = ("value", "_free")

    def __init__(self, value: int, free: str) -> None:
        self.value = value
        self._free = getattr(library(), free)

    def __del__(self) -> None:
        self._free(self.value)


def _raise(record: Any) -> None:
    texts = {name: getattr(record.contents, name).decode("utf-8", "replace")
             for name in ("message", "file", "setting", "place", "found", "expected")}
    kind = _KINDS.get(record.contents.kind, Error)
    library().ht_error_free(record)
    raise kind(texts.pop("message"), **texts)


def call(name: str, *arguments: Any) -> None:
    """Calls a function that returns an ht_kind. Raises what its error record says."""
    record = POINTER(ErrorRecord)()
    if getattr(library(), name)(*arguments, byref(record)) != 0:
        _raise(record)


class _Watch:
    """Lets a call report its progress, and be stopped by Ctrl-C or an exception of the reporting function.

    The exception is kept while the library returns, and raised at the end of the `with` block in place of the library's own.
    """

    def __init__(self, report: Optional[ProgressFunction]) -> None:
        self._user = report
        self._raised: Optional[BaseException] = None
        self._handler: Any = None
        self.report = PROGRESS(self._report)

    def _report(self, share: float, what: bytes, _user: Any) -> int:
        if self._user is not None and self._raised is None:
            try:
                self._user(share, what.decode("utf-8", "replace"))
            except BaseException as raised: # also KeyboardInterrupt: nothing may leave through C
                self._raised = raised
        return 0 if self._raised is None else 1

    def _on_signal(self, number: int, frame: Any) -> None:
        try:
            self._handler(number, frame)
        except BaseException as raised:
            self._raised = raised

    def __enter__(self) -> "_Watch":
        if threading.current_thread() is threading.main_thread():
            handler = signal.getsignal(signal.SIGINT)
            if callable(handler):
                self._handler = handler
                signal.signal(signal.SIGINT, self._on_signal)
        return self

    def __exit__(self, *_raised: Any) -> None:
        if self._handler is not None:
            signal.signal(signal.SIGINT, self._handler)
        del self.report # and with it the reference to this object
        if self._raised is not None:
            raise self._raised from None


def made(name: str, *arguments: Any) -> Handle:
    """Calls a function that gives one result."""
    result = c_void_p()
    call(name, *arguments, byref(result))
    return Handle(result.value or 0, _MAKERS[name][1])


def watched(name: str, *arguments: Any, progress: Optional[ProgressFunction] = None) -> Handle:
    """Calls one that takes a progress callback."""
    with _Watch(progress) as watch:
        return made(name, *arguments, watch.report, None)


def text_of(text: Handle) -> str:
    return ctypes.string_at(text.value).decode("utf-8")


def json_of(text: Handle) -> Any:
    return json.loads(text_of(text))


def settings(**values: Any) -> bytes:
    """A JSON object of those that are not None, for the library. Paths become texts, and other iterables lists."""
    given = {key: value for key, value in values.items() if value is not None}
    try:
        return json.dumps(given, default=_plain).encode("utf-8", "surrogateescape")
    except (TypeError, ValueError) as failure:
        raise BadCall(str(failure)) from None


def _plain(value: Any) -> Any:
    if isinstance(value, os.PathLike):
        return os.fsdecode(value)
    if hasattr(value, "tolist"): # of NumPy
        return value.tolist()
    return list(value)


def path_bytes(path: Any) -> bytes:
    return os.fsencode(path)


def listed(names: Any) -> Optional[list]:
    """None for no names; one name may stand alone."""
    names = [names] if isinstance(names, str) else list(names)
    return names or None

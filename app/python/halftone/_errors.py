"""Exceptions: one for each kind of failure, each also the built-in exception of that kind."""
from __future__ import annotations


class Error(Exception):
    """What all failures of this package are.

    file      path of the file concerned
    setting   the argument or option that is wrong
    place     where in it: a byte offset, a JSON path, a node, an array
    found     what was found there
    expected  what was expected, or what to do
    Texts that do not apply are empty.
    """

    def __init__(self, message: str, *, file: str = "", setting: str = "", place: str = "", found: str = "", expected: str = "") -> None:
        super().__init__(message)
        self.file = file
        self.setting = setting
        self.place = place
        self.found = found
        self.expected = expected


class BadInput(Error, ValueError):
    """A file, or a value in it or in an argument, is wrong."""


class BadCall(Error, TypeError):
    """The call itself is wrong: an unknown option, a combination that is not allowed, an argument of the wrong type."""


class Unsupported(Error, NotImplementedError):
    """Valid, but not supported by this build or machine."""


class NoMemory(Error, MemoryError):
    """Not enough memory or threads."""

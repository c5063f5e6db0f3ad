"""NumPy arrays as the library takes them, and its arrays as views for NumPy."""
from __future__ import annotations

import ctypes
import sys
from typing import TYPE_CHECKING, Any, Mapping

from ._errors import BadCall
from ._library import Array, Handle, library

if TYPE_CHECKING:
    import numpy

# Codes of types that NumPy lacks, as it can hold them.
_CODES = {"bfloat16": "uint16", "int4": "int8", "int2": "int8"}


def as_array(value: Any, name: str) -> "numpy.ndarray":
    """A contiguous array in this machine's byte order; `value` itself if it is one. Tensors of PyTorch may have gradients."""
    import numpy
    if hasattr(value, "detach"):
        value = value.detach().cpu()
    array = numpy.asarray(value)
    if array.dtype.kind in "OSUMm":
        raise BadCall(f"{name}: an array of {array.dtype}, expected numbers", setting=name, found=str(array.dtype), expected="numbers")
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    return numpy.ascontiguousarray(array) if array.ndim else array


class Packed:
    """Named arrays as a C array of ht_array. Holds what that points to."""

    def __init__(self, arrays: Mapping[str, Any]) -> None:
        self._held: list = []
        self.count = len(arrays)
        self.pointer = (Array * max(self.count, 1))()
        for target, (name, value) in zip(self.pointer, arrays.items()):
            array = as_array(value, str(name))
            target.name = str(name).encode()
            target.type = array.dtype.name.encode()
            target.rank = array.ndim
            target.shape = (ctypes.c_int64 * array.ndim)(*array.shape)
            target.data = array.__array_interface__["data"][0]
            target.bytes = array.nbytes
            self._held.append(array)


class _View:
    """Memory of the library as NumPy finds it. NumPy keeps this object, and with it the memory, as long as it has views of it."""

    __slots__ = ("__array_interface__", "_owner")

    def __init__(self, array: Array, shape: tuple, dtype: Any, owner: Handle) -> None:
        self.__array_interface__ = {"version": 3, "shape": shape, "typestr": dtype.str, "data": (array.data, False)}
        self._owner = owner


def _extended(name: str) -> Any:
    """The type of package ml_dtypes, if the program has loaded it."""
    module = sys.modules.get("ml_dtypes")
    return getattr(module, name, None) if module else None


def _view(array: Array, owner: Handle) -> "numpy.ndarray":
    import numpy
    name = array.type.decode()
    shape = tuple(array.shape[k] for k in range(array.rank))
    extended = None
    try:
        dtype = numpy.dtype(name)
    except TypeError: # a type that NumPy lacks
        extended = _extended(name)
        dtype = numpy.dtype(_CODES.get(name, "uint8"))
    if not array.bytes:
        return numpy.empty(shape, extended or dtype)
    view = numpy.asarray(_View(array, shape, dtype, owner))
    return view if extended is None else view.view(extended)


def views(values: Handle) -> dict[str, "numpy.ndarray"]:
    """The arrays of an ht_values by name, without copies."""
    functions = library()
    result = {}
    for k in range(functions.ht_values_count(values.value)):
        array = functions.ht_values_array(values.value, k).contents
        result[array.name.decode()] = _view(array, values)
    return result



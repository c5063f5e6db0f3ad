"""Models: loading, looking into them, running them."""
from __future__ import annotations

import functools
import os
import weakref
from ctypes import byref, c_size_t, c_void_p, string_at
from typing import TYPE_CHECKING, Any, Iterable, Mapping, Optional, Union

from ._arrays import Packed, views
from ._errors import BadCall
from ._library import Handle, call, json_of, library, made, path_bytes, settings, text_of, watched

if TYPE_CHECKING:
    import numpy
    import onnx

    Source = Union["Model", str, os.PathLike, bytes, onnx.ModelProto, Any] # whatever load() takes


class Model:
    """A graph and its parameters, which do not change. Threads may share one."""

    def __init__(self, handle: Handle, *, path: Optional[str] = None, origin: Any = None) -> None:
        self._handle = handle
        self._runners: dict[tuple, Handle] = {}
        self.path = path #: of the file that it was read from; None: it was not
        self._origin = _weak(origin)

    @functools.cached_property
    def info(self) -> dict[str, Any]:
        """What `halftone-cli info --json` prints: format, opset, parameters by type, sizes in bytes, …"""
        return json_of(made("ht_model_info", self._handle.value))

    @property
    def inputs(self) -> list[dict[str, Any]]:
        """Rows with name, shape and dtype of each input; null is an unknown shape."""
        return self.info["inputs"]

    @property
    def outputs(self) -> list[dict[str, Any]]:
        """Rows with name, shape and dtype of each output."""
        return self.info["outputs"]

    @property
    def operators(self) -> dict[str, int]:
        """How many nodes there are of each operator."""
        return self.info["ops"]

    @functools.cached_property
    def nodes(self) -> list[dict[str, Any]]:
        """Rows with name, op, inputs and outputs of each node, in the order of the file."""
        return json_of(made("ht_model_nodes", self._handle.value))

    def run(self, feeds: Mapping[str, Any], *, outputs: Union[None, str, Iterable[str]] = None, backend: str = "cpu",
            threads: int = 0) -> dict[str, "numpy.ndarray"]:
        """Runs the model once and returns its outputs by name.

        feeds    array for each input, in the type and shape that the model declares. Contiguous arrays are not copied.
        outputs  None: the model's; "all": those of every node; or names of outputs and nodes
        backend  a name that backends() lists
        threads  number of worker threads; 0: one per core
        The arrays are views of memory that lives as long as they do. Types that NumPy lacks come in the types of ml_dtypes if that
        package is loaded, and else as their codes (bfloat16 as uint16).
        The model is prepared for a combination of outputs, backend and threads by the first call.
        Raises BadInput for wrong or missing feeds, Unsupported for an operator that the backend has no kernel for.
        """
        key = ((outputs,) if outputs is None or isinstance(outputs, str) else tuple(outputs), backend, threads)
        runner = self._runners.get(key)
        if runner is None:
            wanted = outputs if outputs in (None, "all") else list(key[0])
            runner = made("ht_runner_new", self._handle.value, settings(outputs=wanted, backend=backend, threads=threads))
            self._runners[key] = runner
        if not isinstance(feeds, Mapping):
            raise BadCall(f"feeds: {type(feeds).__name__}, expected a dict of arrays by the name of the input", setting="feeds")
        arrays = Packed(feeds)
        return views(watched("ht_runner_run", runner.value, arrays.pointer, arrays.count))

    def to_bytes(self) -> bytes:
        """The bytes of an ONNX file with all weights inside. Raises Unsupported for a model of another format."""
        address, size = c_void_p(), c_size_t()
        call("ht_model_bytes", self._handle.value, byref(address), byref(size))
        try:
            return string_at(address, size.value)
        finally:
            library().ht_free(address)

    def to_onnx(self) -> "onnx.ModelProto":
        """The model as an onnx.ModelProto; needs the package onnx."""
        import onnx
        return onnx.load_model_from_string(self.to_bytes())

    def save(self, path: Any, *, external_data: Optional[bool] = None) -> list[str]:
        """Writes P.onnx, or P-symbol.json and P-0000.params, and returns the paths of what was written.

        path           P, or for an ONNX model P.onnx
        external_data  store all weights in P.onnx.data
        Files are written completely or not at all, and never over one that the model was read from.
        """
        return json_of(made("ht_model_save", self._handle.value, path_bytes(path), settings(external_data=external_data)))["written"]

    def _repr_html_(self) -> str:
        from ._notebook import shown
        svg = text_of(watched("ht_model_svg", self._handle.value, None, settings(fold="none")))
        return shown(f"{len(self.nodes)} nodes", svg)

    def __repr__(self) -> str:
        return f"<halftone.Model {self.path or self.info['format']}, {self.info['nodes']} nodes>"


def _weak(origin: Any) -> Any:
    try:
        return weakref.ref(origin)
    except TypeError: # of a type without weak references
        return lambda: None


def load(model: "Source", *, params: Any = None, shapes: Optional[Mapping[str, Iterable[int]]] = None) -> Model:
    """Reads a model.

    model   path of an ONNX file or an MXNet symbol, the bytes of an ONNX file, an onnx.ModelProto, what torch.onnx.export() returns, or
            a Model, which is returned as it is
    params  path of the parameters of an MXNet symbol, if they are not beside it
    shapes  lengths of the axes of inputs whose shape the file leaves open
    Raises BadInput for a damaged file, BadCall for anything else than these.
    """
    if isinstance(model, Model):
        if params is None and shapes is None:
            return model
        raise BadCall("params and shapes: not possible with a model that is loaded already", setting="params")
    if shapes is not None and not isinstance(shapes, Mapping):
        raise BadCall(f"shapes: {type(shapes).__name__}, expected a dict of lengths by the name of the input", setting="shapes")
    chosen = settings(params=params, shape=None if shapes is None else {name: list(shape) for name, shape in shapes.items()})
    if isinstance(model, (str, os.PathLike)):
        path = os.fspath(model)
        return Model(made("ht_model_open", path_bytes(path), chosen), path=os.fsdecode(path), origin=model)
    origin = model
    model = getattr(model, "model_proto", model) # of torch.onnx.ONNXProgram
    if hasattr(model, "SerializeToString"):
        model = model.SerializeToString()
    if isinstance(model, (bytearray, memoryview)):
        model = bytes(model)
    if not isinstance(model, bytes):
        found = type(model).__name__
        raise BadCall(f"model: {found}, expected a path, bytes or an onnx.ModelProto", setting="model", found=found)
    return Model(made("ht_model_read", model, len(model), None, chosen), origin=origin)


def is_same(model: "Source", loaded: Model) -> bool:
    """Whether `loaded` is what load(model) once gave."""
    if isinstance(model, (str, os.PathLike)):
        return loaded.path is not None and os.path.abspath(os.fspath(model)) == os.path.abspath(loaded.path)
    return model is loaded or model is loaded._origin()

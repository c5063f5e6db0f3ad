"""Examples for a model: from files, arrays, or anything that gives one batch after another."""
from __future__ import annotations

import ctypes
import itertools
import os
from typing import TYPE_CHECKING, Any, Iterator, Mapping, Optional

from ._arrays import Packed, as_array
from ._errors import BadCall, BadInput, Error
from ._library import NEXT, RELEASE, Array, Handle, made, settings

if TYPE_CHECKING:
    from ._model import Model

_borrowed: dict[int, Packed] = {} # what the library reads without a copy, until it releases it
_keys = itertools.count(1)


@RELEASE
def _release(key: Optional[int]) -> None:
    _borrowed.pop(key or 0, None)


def open_data(model: "Model", data: Any, options: dict[str, Any], *, labels: Any = None, metric: Optional[str] = None) -> Optional[Handle]:
    """`data` as an ht_data; None for None.

    Takes examples (number), targets (path, or an array like the first output) and preprocess (path) out of `options`.

    data    path of an .npz file or a folder of pictures; a dict of arrays by input; or an iterable (or an object with get_next(), as
            ONNX Runtime's calibration readers) of batches: dicts, or tuples in the order of the inputs. Arrays have an axis of examples
            first. A tuple may have the labels behind the inputs, a dict under "labels".
    labels  correct classes: an array with one integer per example, or, with a path, that of a file
    Raises BadCall for anything else; exceptions of the iterable come out as they are.
    """
    if data is None:
        return None
    answers = {"labels": labels, "targets": options.pop("targets", None)}
    chosen = {"metric": metric, **{name: options.pop(name, None) for name in ("examples", "preprocess")}}
    if isinstance(data, (str, os.PathLike)):
        if all(value is None or isinstance(value, (str, os.PathLike)) for value in answers.values()):
            return made("ht_data_open", settings(inputs=os.fspath(data), **answers, **chosen))
        data = _loaded(data)
    given = {name: value for name, value in answers.items() if value is not None}
    if isinstance(data, Mapping):
        return _borrow({**data, **given}, settings(**chosen))
    for name in given:
        raise BadCall(f"{name}: not possible with an iterable, whose batches hold them", setting=name)
    return _pull(_batches(model, data), settings(**chosen))


def _loaded(path: Any) -> dict[str, Any]:
    if not os.fspath(path).endswith(".npz"):
        raise BadCall("labels or targets: an array, expected the path of a file, as for any folder of pictures", setting="labels")
    import numpy
    with numpy.load(path) as arrays:
        return dict(arrays)


def _borrow(arrays: Mapping[str, Any], chosen: bytes) -> Handle:
    packed = Packed(arrays)
    key = next(_keys)
    _borrowed[key] = packed
    try:
        return made("ht_data_borrow", packed.pointer, packed.count, chosen, _release, key)
    except BaseException:
        _borrowed.pop(key, None)
        raise


def _pull(batches: Iterator[Mapping[str, Any]], chosen: bytes) -> Handle:
    raised: list[BaseException] = []
    held: list[Packed] = []

    def following(arrays: Any, count: Any, _user: Any) -> int:
        try:
            batch = next(batches, None)
            if batch is None and not held:
                raise BadInput("data: no batch, expected one or more", setting="data", found="no batch", expected="one or more")
            held.clear()
            if batch is None:
                return 0
            held.append(Packed(batch))
            arrays[0] = ctypes.cast(held[0].pointer, ctypes.POINTER(Array))
            count[0] = held[0].count
            return 1
        except BaseException as failure: # nothing may leave through C
            raised.append(failure)
            return 2

    try:
        return made("ht_data_pull", NEXT(following), None, chosen)
    except Error:
        if raised:
            raise raised[0] from None
        raise


def _steps(data: Any) -> Iterator[Any]:
    if hasattr(data, "get_next"): # ONNX Runtime's CalibrationDataReader
        return iter(data.get_next, None)
    if hasattr(data, "get_inference_data"): # nncf.Dataset
        return iter(data.get_inference_data())
    try:
        return iter(data)
    except TypeError:
        raise BadCall(f"data: {type(data).__name__}, expected a path, a dict of arrays or an iterable of batches", setting="data") from None


def _batches(model: "Model", data: Any) -> Iterator[dict[str, Any]]:
    inputs = model.inputs
    ranks = {row["name"]: len(row["shape"]) for row in inputs if isinstance(row.get("shape"), list)}
    for step in _steps(data):
        batch = dict(step) if isinstance(step, Mapping) else _named(step, [row["name"] for row in inputs])
        yield {name: _with_examples(as_array(value, name), ranks.get(name, 1)) for name, value in batch.items()}


def _named(step: Any, names: list[str]) -> dict[str, Any]:
    values = list(step) if isinstance(step, (tuple, list)) else [step]
    if len(values) == 2 and isinstance(values[0], (Mapping, tuple, list)): # (inputs, labels)
        first = dict(values[0]) if isinstance(values[0], Mapping) else _named(values[0], names)
        return {**first, "labels": values[1]}
    if not len(names) <= len(values) <= len(names) + 1:
        found = f"a batch of {len(values)} arrays"
        expected = f"{len(names)}, for {', '.join(names)}, and at most the labels behind them"
        raise BadCall(f"data: {found}, expected {expected}", setting="data", found=found, expected=expected)
    return dict(zip([*names, "labels"], values))


def _with_examples(array: Any, rank: int) -> Any:
    """The array with an axis of examples, if it is one example."""
    return array[None] if array.ndim == rank - 1 else array

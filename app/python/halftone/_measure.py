"""Comparing, timing, verifying, searching."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, Optional, Union

from ._arrays import Packed
from ._conversion import Conversion, _policy
from ._data import open_data
from ._errors import BadCall
from ._library import ProgressFunction, json_of, settings, watched
from ._model import is_same, load
from ._results import Comparison, Front, Profile, Verification

if TYPE_CHECKING:
    from ._model import Source


def compare(model: "Source", other: Any, data: Any, *, isolated: bool = False, labels: Any = None, metric: Optional[str] = None,
            progress: Optional[ProgressFunction] = None, **options: Any) -> Comparison:
    """Compares a model with another one, layer by layer.

    model     the reference: whatever load() takes
    other     a Conversion; a model, whose layers are matched by name; or a dict of arrays that another program computed, by the names
              that run(…, outputs="all") gives, with an axis of all examples first
    data      path of an .npz file or a folder of pictures, dict of arrays, or iterable of dicts or tuples; see quantize()
    isolated  also measure every layer lowered by itself
    labels    correct classes: array of integers, or path of a file
    metric    "top1", "top5", "miou", "psnr", "cosine" or "perplexity" (default: chosen from outputs and labels)
    options   further options of `halftone-cli compare`, with underscores: threshold, batch, backend, memory, next_token, …
    """
    reference = load(model) if not (isinstance(other, Conversion) and is_same(model, other.source)) else other.source
    examples = open_data(reference, data, options, labels=labels, metric=metric)
    chosen = settings(effect="both" if isolated else None, **options)
    last = (examples and examples.value, chosen)
    if isinstance(other, Mapping):
        arrays = Packed(other)
        made_of = watched("ht_compare_values", reference._handle.value, arrays.pointer, arrays.count, *last, progress=progress)
    elif isinstance(other, Conversion) and other.source is reference:
        made_of = watched("ht_compare", reference._handle.value, other._handle.value, *last, progress=progress)
    else:
        second = other.model if isinstance(other, Conversion) else load(other)
        made_of = watched("ht_compare_models", reference._handle.value, second._handle.value, *last, progress=progress)
    return Comparison(json_of(made_of))


def profile(model: Union["Source", Conversion], *, backend: str = "cpu", versus: Any = None, threads: int = 0, repeats: int = 30,
            progress: Optional[ProgressFunction] = None, **options: Any) -> Profile:
    """Measures the latency of a model or a Conversion.

    versus   "fp32", or the source of the Conversion: time it too, in alternating runs
    threads  number of worker threads; 0: one per core
    repeats  number of timed runs
    options  further options of `halftone-cli profile`, with underscores: warmup, batch, random_params, …
    """
    conversion = model if isinstance(model, Conversion) else None
    source = conversion.source if conversion else load(model)
    if versus is not None and not (conversion and (versus == "fp32" or is_same(versus, source))):
        raise BadCall('versus: expected "fp32" or the source of a Conversion', setting="versus", expected='"fp32"')
    chosen = settings(backend=backend, threads=threads, repeats=repeats, versus_fp32=None if versus is None else True, **options)
    handle = conversion._handle.value if conversion else None
    return Profile(json_of(watched("ht_profile", source._handle.value, handle, chosen, progress=progress)))


def verify(model: Union["Source", Conversion], *, policy: Any = None, backend: Optional[str] = None,
           progress: Optional[ProgressFunction] = None, **options: Any) -> Verification:
    """Finds which types the operators of a model compute in, whatever program converted it.

    policy   what was requested: path of a policy file, or its content as a dict; deviations are `differences`
    backend  also ask this backend
    options  further options of `halftone-cli verify`, with underscores: target, fp32_op, hardware, …
    """
    checked = model.model if isinstance(model, Conversion) else load(model)
    chosen = settings(policy=_policy(policy), backend=backend, **options)
    return Verification(json_of(watched("ht_verify", checked._handle.value, chosen, progress=progress)))


def tune(model: "Source", data: Any, *, int8: bool = False, limit: Optional[str] = "top1=-0.5", time: Union[None, str, float] = "60s",
         backend: str = "cpu", state: Any = None, labels: Any = None, metric: Optional[str] = None,
         progress: Optional[ProgressFunction] = None, **options: Any) -> Front:
    """Searches for the layers that must stay in float32, and measures accuracy against latency.

    int8     also consider int8
    limit    "top1=-0.5" (percentage points) or "sqnr=30" (dB)
    time     start no new measurement after this time: "60s", "5m" or seconds; None: no limit
    state    path of a file that stores measurements; a stopped search resumes from it
    labels   as in compare()
    options  further options of `halftone-cli tune`, with underscores: target, points, examples, fp32_op, …
    Raises Unsupported for a target that the backend only emulates.
    """
    model = load(model)
    examples = open_data(model, data, options, labels=labels, metric=metric)
    chosen = settings(int8=int8 or None, limit=limit, time=time, backend=backend, state=state, **options)
    return Front(watched("ht_tune", model._handle.value, examples and examples.value, chosen, progress=progress), model)

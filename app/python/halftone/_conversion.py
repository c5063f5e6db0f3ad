"""Conversion to 16 bit, quantization to int8, calibration."""
from __future__ import annotations

import functools
import json
from typing import TYPE_CHECKING, Any, Iterable, Mapping, Optional, Union

from ._data import open_data
from ._library import Handle, ProgressFunction, call, json_of, listed, made, path_bytes, settings, text_of, watched
from ._model import Model, load
from ._notebook import shown

if TYPE_CHECKING:
    import onnx

    from ._model import Source

Names = Union[str, Iterable[str]]


class Conversion:
    """A converted or quantized model with the log of what was done."""

    def __init__(self, handle: Handle, source: Model) -> None:
        self._handle = handle
        self.source = source #: the model as it was

    @functools.cached_property
    def report(self) -> dict[str, Any]:
        """What `halftone-cli convert --json` or `quantize --json` prints."""
        return json_of(made("ht_conversion_report", self._handle.value))

    @property
    def nodes(self) -> list[dict[str, Any]]:
        """Rows with name, op, requested, assigned, rule, entry, … of each node; of a quantized model those in int8, or whose weights are codes."""
        return self.report.get("nodes", self.report.get("quantized", self.report.get("weights", [])))

    @property
    def policy(self) -> dict[str, Any]:
        """What decided, as a policy file holds it. Raises BadCall for a result of quantize()."""
        return json_of(made("ht_conversion_policy", self._handle.value))

    @functools.cached_property
    def model(self) -> Model:
        """The converted model."""
        return Model(made("ht_conversion_model", self._handle.value))

    def run(self, feeds: Mapping[str, Any], **options: Any) -> dict[str, Any]:
        """Runs the converted model: see Model.run()."""
        return self.model.run(feeds, **options)

    def save(self, path: Any, *, external_data: Optional[bool] = None) -> list[str]:
        """Writes the converted model: see Model.save()."""
        return self.model.save(path, external_data=external_data)

    def to_bytes(self) -> bytes:
        """The bytes of the converted ONNX model: see Model.to_bytes()."""
        return self.model.to_bytes()

    def to_onnx(self) -> "onnx.ModelProto":
        """The converted model as an onnx.ModelProto: see Model.to_onnx()."""
        return self.model.to_onnx()

    def _summary(self) -> str:
        if "quantized" in self.report:
            return f"{self.report.get('form')}: {len(self.report['quantized'])} nodes in int8"
        if "target" not in self.report:
            return f"{len(self.nodes)} nodes with weights in codes, {self.report['bits_per_weight']:.3f} bits per weight"
        counts: dict[str, int] = {}
        for row in self.nodes:
            counts[str(row.get("assigned"))] = counts.get(str(row.get("assigned")), 0) + 1
        parts = ", ".join(f"{count} nodes in {name}" for name, count in sorted(counts.items()))
        return f"{self.report.get('target')}: {parts}; {self.report.get('casts')} casts"

    def _repr_html_(self) -> str:
        svg = text_of(watched("ht_model_svg", self.source._handle.value, self._handle.value, settings(fold="none")))
        return shown(self._summary(), svg)

    def __repr__(self) -> str:
        return f"<halftone.Conversion {self._summary()}>"


class Calibration:
    """Statistics and thresholds of all tensors of a model."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    @functools.cached_property
    def report(self) -> dict[str, Any]:
        """What `halftone-cli calibrate --json` prints."""
        return json_of(made("ht_calibration_report", self._handle.value))

    @property
    def tensors(self) -> list[dict[str, Any]]:
        """Rows with name, node, op, min, max, threshold, sqnr_db, … of each tensor."""
        return self.report["tensors"]

    def save(self, path: Any) -> None:
        """Writes the table that `halftone-cli convert --table` and the option `table` read."""
        call("ht_calibration_save", self._handle.value, path_bytes(path))

    def __repr__(self) -> str:
        return f"<halftone.Calibration {self.report['method']}, {len(self.tensors)} tensors>"


def _policy(policy: Any) -> Any:
    return json.loads(policy) if isinstance(policy, (str, bytes)) and policy[:1] in ("{", b"{") else policy


def convert(model: "Source", target: Optional[str] = None, *, policy: Any = None, fp32_ops: Names = (), target_ops: Names = (),
            exclude: Names = (), overrides: Optional[Mapping[str, str]] = None, keep_io_types: Optional[bool] = None,
            hardware: Optional[str] = None, mode: Optional[str] = None, weights: Names = (), weight_method: Optional[str] = None,
            weight_form: Optional[str] = None, data: Any = None, progress: Optional[ProgressFunction] = None,
            **options: Any) -> Conversion:
    """Converts a model to mixed precision.

    model          whatever load() takes
    target         "float16" or "bfloat16"; default: the policy's, else "float16"
    policy         path of a policy file, or its content as a dict or text
    fp32_ops       operators that stay in float32
    target_ops     operators that compute in the target type
    exclude        nodes that stay in float32, by name or /pattern/
    overrides      type of single nodes: {name: type}
    keep_io_types  whether inputs and outputs keep their types (default: as the mode says)
    hardware       a chip that hardware() lists, or "this"
    mode           "typed" (default), "mxnet", "tvm" or "all"
    weights        formats that weights are stored in, whatever type computes: "uint4/32" for every MatMul and Gemm by a constant matrix,
                   "NODE=FORMAT" for one, the last that matches wins
    weight_method  how their codes are chosen: "rtn" or "mse" (default)
    weight_form    "nbits" (MatMulNBits, default where there is one) or "qdq" (DequantizeLinear)
    data           examples that calibrate operators in int8, as in quantize()
    progress       called as progress(share, what), share from 0 to 1; an exception stops the call and comes out as it is
    options        further options of `halftone-cli convert`, with underscores: int8_op, opset, accumulate, clamp, strict, …
    Raises BadInput for names that nothing has, and Unsupported for what the target cannot express.
    """
    model = load(model)
    examples = open_data(model, data, options)
    chosen = settings(target=target, policy=_policy(policy), fp32_op=listed(fp32_ops), target_op=listed(target_ops),
                      exclude=listed(exclude), override=None if overrides is None else dict(overrides), keep_io_types=keep_io_types,
                      hardware=hardware, mode=mode, weights=listed(weights), weight_method=weight_method, weight_form=weight_form, **options)
    return Conversion(watched("ht_convert", model._handle.value, examples and examples.value, chosen, progress=progress), model)


def quantize(model: "Source", data: Any = None, *, form: Optional[str] = None, calib: Optional[str] = None, exclude: Names = (),
             types: Names = (), bias_correction: bool = True, weights: Names = (), weight_method: Optional[str] = None,
             weight_form: Optional[str] = None, progress: Optional[ProgressFunction] = None, **options: Any) -> Conversion:
    """Quantizes a model to int8, or its weights alone.

    model            whatever load() takes
    data             examples to measure ranges on: path of an .npz file or a folder of pictures, dict of arrays, or iterable of dicts or
                     tuples (a torch DataLoader, a CalibrationDataReader); or a Calibration
    form             "qdq" (pairs of QuantizeLinear and DequantizeLinear) or "qoperator"; for MXNet "onednn" or "plain"; default: the first
    calib            "none", "naive", "entropy", "percentile", "mse" or "output" (default)
    exclude          nodes that stay in float32
    types            operators to quantize; empty: all that can be
    bias_correction  take the mean errors of layers, measured on the data, out of their biases; has no effect without data
    weights          formats as in convert(): only weights are quantized, without data too
    weight_method    "rtn", "mse" (default without data) or "gptq" (default with data)
    weight_form      as in convert()
    options          further options of `halftone-cli quantize`, with underscores: dtype, mode, granularity, hardware, table, …
    Raises BadInput for data that does not fit the inputs.
    """
    model = load(model)
    calibration = data if isinstance(data, Calibration) else None
    examples = None if calibration else open_data(model, data, options)
    formats = listed(weights)
    chosen = settings(form=form, calib=calib, exclude=listed(exclude), int8_op=listed(types), weights=formats,
                      weight_method=weight_method, weight_form=weight_form,
                      correct_biases=True if bias_correction and examples and not formats else None, **options)
    made_of = (examples and examples.value, calibration and calibration._handle.value)
    return Conversion(watched("ht_quantize", model._handle.value, *made_of, chosen, progress=progress), model)


def calibrate(model: "Source", data: Any, *, method: Optional[str] = None, progress: Optional[ProgressFunction] = None,
              **options: Any) -> Calibration:
    """Collects statistics and a threshold for every tensor.

    method   "minmax" (default), "entropy", "percentile" or "mse"
    options  further options of `halftone-cli calibrate`, with underscores: layers, dtype, percentile, …
    """
    model = load(model)
    examples = open_data(model, data, options)
    chosen = settings(method=method, **options)
    return Calibration(watched("ht_calibrate", model._handle.value, examples and examples.value, chosen, progress=progress))

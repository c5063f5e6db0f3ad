"""What comparing, timing, verifying and searching return."""
from __future__ import annotations

import functools
from typing import Any, Optional, Union

from ._conversion import Conversion
from ._library import Handle, ProgressFunction, json_of, made, watched
from ._model import Model

Rows = list # of dicts: pandas.DataFrame(rows) works. Numbers that JSON lacks are "inf", "-inf" and "nan"; None was not computed.


class _Report:
    """A document of the library, which subclasses name the parts of."""

    def __init__(self, report: dict[str, Any]) -> None:
        self.report = report


class Comparison(_Report):
    """Differences of two models, layer by layer and of their outputs. `report` is what `halftone-cli compare --json` prints."""

    @property
    def layers(self) -> Rows:
        """Rows with name, op, dtype, max_abs, rel_l2, cosine, sqnr_db (dB), overflow, nan, … in the order of the model."""
        return self.report["layers"]

    @property
    def first_divergence(self) -> Any:
        """The first layer whose signal-to-noise ratio is below the threshold; None: there is none."""
        return self.report["first_divergence"]

    @property
    def top1(self) -> Optional[dict[str, float]]:
        """Shares of examples in the correct class (fp32, mixed), and of those in the same class (agree); None without labels."""
        return self.report["top1"]

    @property
    def outputs(self) -> Rows:
        """Rows like those of the layers, of the model's outputs."""
        return self.report["outputs"]

    def __repr__(self) -> str:
        return f"<halftone.Comparison of {len(self.layers)} layers, first divergence {self.first_divergence}, top-1 {self.top1}>"


class Profile(_Report):
    """Latency of a model. `report` is what `halftone-cli profile --json` prints."""

    @property
    def layers(self) -> Rows:
        """Rows with names, op, dtype, kernel, median_us and min_us (microseconds) of each fused layer."""
        return self.report["layers"]

    @property
    def median_ms(self) -> float:
        """Milliseconds of a run."""
        return self.report["median_ms"]

    def _versus(self, key: str) -> Any:
        return (self.report.get("versus") or {}).get(key)

    @property
    def ratio(self) -> Optional[float]:
        """Its time divided by that of the unconverted model, below 1 if it is faster; None without `versus`."""
        return self._versus("ratio")

    @property
    def ci95(self) -> Optional[list[float]]:
        """The interval that holds that ratio with a confidence of 95 %."""
        return self._versus("ci95")

    @property
    def as_asked(self) -> Any:
        """Whether operators computed in the types that were requested; None: the backend does not tell."""
        return self.report.get("as_asked")

    def __repr__(self) -> str:
        return f"<halftone.Profile {self.median_ms:.3f} ms" + (f", {self.ratio:.2f} of the unconverted model's>" if self.ratio else ">")


class Verification(_Report):
    """Which types the operators of a model compute in. `report` is what `halftone-cli verify --json` prints."""

    @property
    def differences(self) -> Rows:
        """Rows with node, op, requested, computes, entry and why of each operator that deviates from the policy."""
        return self.report["differences"]

    @property
    def types(self) -> dict[str, dict[str, Any]]:
        """Operators, FLOPs and bytes by type."""
        return self.report["types"]

    def __bool__(self) -> bool:
        return not self.differences

    def __repr__(self) -> str:
        return f"<halftone.Verification {', '.join(self.types)}; {len(self.differences)} differences>"


class Front:
    """What a search found: models from the most accurate to the fastest."""

    def __init__(self, handle: Handle, source: Model) -> None:
        self._handle = handle
        self.source = source #: the model as it was

    @functools.cached_property
    def report(self) -> dict[str, Any]:
        """What `halftone-cli tune --json` prints, with the policies themselves in place of their files."""
        return json_of(made("ht_front_report", self._handle.value))

    @property
    def points(self) -> Rows:
        """Rows with policy, median_ms, ratio, sqnr_db, top1, within_limit, … of each point."""
        return self.report["points"]

    def pick(self, which: Union[str, int] = "fastest-within", *, progress: Optional[ProgressFunction] = None) -> Conversion:
        """The model of a point: "fastest-within" (the limit), "knee", or its index. Raises BadInput if no point is within the limit."""
        made_of = watched("ht_front_pick", self._handle.value, str(which).encode(), progress=progress)
        return Conversion(made_of, self.source)

    def __repr__(self) -> str:
        return f"<halftone.Front of {len(self.points)} points>"

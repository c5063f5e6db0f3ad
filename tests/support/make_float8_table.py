#!/usr/bin/env python3
"""Records what ml_dtypes makes of the float8 formats: the value of every code, and the codes of every number between two of them.

    python3 make_float8_table.py        writes tests/data/number_formats/float8.json

"values" are by code. "between" has one row for each two positive neighbours, the last number and what comes "beyond" it included: the codes
of the float32 just below their middle, of the middle, of the float32 just above it, and of the three negative ones. PyPI's ml_dtypes and numpy are needed.
"""
import json
import pathlib

import ml_dtypes
import numpy

FORMATS = {"float8_e4m3fn": (ml_dtypes.float8_e4m3fn, 480.0), "float8_e5m2": (ml_dtypes.float8_e5m2, 65536.0)}


def told(value):
    return "nan" if numpy.isnan(value) else float(value).hex() if numpy.isfinite(value) else str(float(value))


def codes(values, dtype):
    return [int(code) for code in numpy.array(values, numpy.float32).astype(dtype).view(numpy.uint8)]


def between(low, high, dtype):
    middle = numpy.float32((low + high) / 2)
    near = [numpy.nextafter(middle, numpy.float32(low)), middle, numpy.nextafter(middle, numpy.float32(high))]
    return codes(near + [-value for value in near], dtype)


def table(dtype, beyond):
    values = numpy.arange(256, dtype=numpy.uint8).view(dtype).astype(numpy.float64)
    positive = [float(value) for value in values[:128] if numpy.isfinite(value)] + [beyond]
    return {"values": [told(value) for value in values], "beyond": told(beyond),
            "between": [between(low, high, dtype) for low, high in zip(positive, positive[1:])]}


def main():
    target = pathlib.Path(__file__).parent.parent / "data/number_formats/float8.json"
    rows = {name: table(*facts) for name, facts in FORMATS.items()}
    rows["source"] = "ml_dtypes " + ml_dtypes.__version__
    text = json.dumps(rows, separators=(",", ":"))
    target.write_text(text.replace("],[", "],\n[") + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

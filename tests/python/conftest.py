"""What the tests share: the sample, the command line, and the module itself."""
import json
import os
import pathlib
import subprocess

import numpy
import pytest

import halftone as ht

ROOT = pathlib.Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "resources/sample"
MODEL = SAMPLE / "digits.onnx"
DIGITS = SAMPLE / "digits-test.npz"
ALL_FLOAT16 = SAMPLE / "onnx-all-float16.policy.json"
CLI = os.environ.get("HALFTONE_CLI", "halftone-cli")
# Of a build without optimisation no time says anything.
optimised = pytest.mark.skipif(not os.environ.get("HALFTONE_OPTIMISED"), reason="HALFTONE_OPTIMISED is not set: the build is not a release")
TIMES = {"seconds", "peak_bytes", "process_peak_bytes", "memory", "written"} # that differ from run to run, or that only files have


def call_cli(*arguments):
    """The JSON of a command."""
    done = subprocess.run([CLI, *map(str, arguments), "--json"], check=True, capture_output=True)
    return json.loads(done.stdout)


def steady(document):
    return {key: value for key, value in document.items() if key not in TIMES}


@pytest.fixture(scope="session")
def bfloat16():
    """A type whose latency the CPU can show."""
    if next(row for row in ht.backends() if row["name"] == "cpu")["dtypes"].get("bfloat16") != "native":
        pytest.skip("this machine has no native bfloat16, so that nothing can be timed")
    return "bfloat16"


@pytest.fixture(scope="session")
def model():
    return ht.load(MODEL)


@pytest.fixture(scope="session")
def digits():
    """data: float32 [450, 1, 8, 8]; labels: int64 [450]"""
    with numpy.load(DIGITS) as arrays:
        return dict(arrays)


@pytest.fixture(scope="session")
def ruined(model):
    """Everything in float16, where one sum overflows."""
    return ht.convert(model, policy=ALL_FLOAT16)

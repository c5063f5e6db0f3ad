"""Comparison, latency, verification, search, reports."""
import os
import pathlib
import statistics
import time

import numpy
import onnx
import pytest

import halftone as ht
from conftest import ALL_FLOAT16, DIGITS, MODEL, SAMPLE, call_cli, optimised, steady


def test_the_sample_in_float16(model, ruined):
    compared = ht.compare(model, ruined, DIGITS)
    assert compared.top1["fp32"] == pytest.approx(0.9933333333333333)
    assert compared.top1["mixed"] == pytest.approx(0.09777777777777778)
    assert compared.first_divergence == "energy"
    expected = call_cli("compare", MODEL, "--policy", ALL_FLOAT16, "--inputs", DIGITS)
    assert steady(compared.report) == steady(expected)
    assert compared.layers == expected["layers"]
    assert compared.outputs == expected["outputs"]


def test_isolated_errors(model, ruined):
    compared = ht.compare(model, ruined, DIGITS, isolated=True)
    row = next(row for row in compared.layers if row["name"] == "energy")
    assert row["isolated"] is not None


def test_two_models_and_values_of_another_program(model, ruined, digits):
    against = ht.compare(model, ruined.to_onnx(), DIGITS)
    assert against.top1["mixed"] == pytest.approx(0.09777777777777778)
    values = model.run({"data": digits["data"]}, outputs="all")
    same = ht.compare(model, {**values, **model.run({"data": digits["data"]})}, DIGITS)
    assert {node["name"] for node in model.nodes} <= {row["name"] for row in same.layers}
    assert all(row["max_abs"] < 1e-4 for row in same.layers + same.outputs)
    assert same.top1["fp32"] == same.top1["mixed"] == pytest.approx(0.9933333333333333)
    assert same.top1["agree"] == 1


def test_a_source_loaded_again_is_the_same_model(ruined):
    assert ht.compare(str(MODEL), ruined, DIGITS).first_divergence == "energy"


def test_verify(model, ruined):
    assert ht.verify(model).types.keys() == {"float32"}
    verified = ht.verify(ruined, policy=ALL_FLOAT16)
    assert verified and not verified.differences
    refused = ht.verify(model, policy=ALL_FLOAT16)
    assert not refused
    assert {"node", "op", "requested", "computes", "why"} <= refused.differences[0].keys()


def shaped():
    return ht.load(MODEL, shapes={"data": (1, 1, 8, 8)})


def test_profile_and_its_ratio():
    model = shaped()
    profile = ht.profile(model, repeats=5)
    assert 0 < profile.median_ms < 1000
    assert {"names", "op", "dtype", "median_us"} <= profile.layers[0].keys()
    assert profile.ratio is None
    alternating = ht.profile(ht.quantize(model, SAMPLE / "digits-calibration.npz"), versus="fp32", repeats=5)
    assert alternating.ci95[0] <= alternating.ratio <= alternating.ci95[1]
    with pytest.raises(TypeError, match="versus"):
        ht.profile(model, versus="fp32")


@optimised
def test_squeezenet_runs_as_fast_as_profile_says():
    folder = pathlib.Path(os.environ.get("HALFTONE_SHARED", "")) / "models/squeezenet11-onnx"
    if not folder.is_dir():
        pytest.skip("HALFTONE_SHARED names no folder with models/squeezenet11-onnx")
    with numpy.load(folder / "reference.npz") as reference:
        feeds = {"data_0": reference["in0.data_0"]}
    model = ht.load(next(folder.glob("*.onnx")), shapes={"data_0": feeds["data_0"].shape})
    model.run(feeds, threads=1)
    ratios = []
    for _ in range(3): # in turns, since a machine has other work at times
        times = []
        for _ in range(15):
            begin = time.perf_counter()
            model.run(feeds, threads=1)
            times.append(time.perf_counter() - begin)
        ratios.append(statistics.median(times) * 1e3 / ht.profile(model, threads=1, repeats=15).median_ms)
    assert min(ratios) < 1.3


@optimised
def test_a_second_run_takes_as_long_as_profile_says(digits):
    model = shaped()
    feeds = {"data": digits["data"][:1]}
    model.run(feeds)
    times = []
    for _ in range(200):
        begin = time.perf_counter()
        model.run(feeds)
        times.append(time.perf_counter() - begin)
    own, measured = min(times) * 1e3, ht.profile(model).report["min_ms"]
    assert own < 1.3 * measured + 0.1 # of a tiny model, the call itself takes as long


def test_tune_and_pick(model, bfloat16, tmp_path):
    front = ht.tune(model, DIGITS, target=bfloat16, limit="sqnr=30", time="20s", points=2, examples=32, state=tmp_path / "state")
    assert front.points and {"policy", "sqnr_db", "ratio"} <= front.points[0].keys()
    picked = front.pick(0)
    onnx.checker.check_model(picked.to_onnx())
    ht.report(model, tmp_path / "front.html", front=front)
    assert "<html" in (tmp_path / "front.html").read_text()


def test_report(model, tmp_path):
    ht.report(model, tmp_path / "page.html", data=DIGITS, policy=str(ALL_FLOAT16))
    page = (tmp_path / "page.html").read_text()
    assert "energy" in page
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


def test_show_says_how_to_get_the_window(model, monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ht.Unsupported, match="halftone-nn"):
        ht.show(model)
    with pytest.raises(TypeError, match="colour"):
        ht.show(model, colour="red")


def test_show_starts_the_window_with_what_is_attached(ruined, monkeypatch, tmp_path):
    program = tmp_path / "halftone"
    program.write_text('#!/bin/sh\nprintf "%s\\n" "$@" >' + str(tmp_path / "arguments") + "\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    assert ht.show(ruined, inputs=DIGITS).wait() == 0
    arguments = (tmp_path / "arguments").read_text().split("\n")
    assert arguments[0] == str(MODEL)
    assert arguments[1:3] == ["--inputs", str(DIGITS)]
    policy = pathlib.Path(arguments[arguments.index("--policy") + 1])
    assert ht.convert(MODEL, policy=policy).to_bytes() == ruined.to_bytes()

"""Conversion, quantization, calibration."""
import json
import pathlib

import numpy
import onnx
import pytest

import halftone as ht
from conftest import ALL_FLOAT16, MODEL, SAMPLE, call_cli, steady


def test_the_report_and_the_bytes_are_the_command_lines(model, tmp_path):
    converted = ht.convert(model, "float16", fp32_ops=["Conv"], exclude="fc", overrides={"stage1_relu": "float32"})
    expected = call_cli("convert", MODEL, "--target", "float16", "--fp32-op", "Conv", "--exclude", "fc", "--override",
                        "stage1_relu=float32", "--out", tmp_path / "m")
    assert steady(converted.report) == steady(expected)
    assert converted.nodes == expected["nodes"]
    assert {"name", "op", "requested", "assigned", "rule", "entry"} <= converted.nodes[0].keys()
    assert converted.to_bytes() == (tmp_path / "m.onnx").read_bytes()
    assert converted.to_onnx().SerializeToString(deterministic=True)
    onnx.checker.check_model(converted.to_onnx(), full_check=True)
    written = converted.save(tmp_path / "saved.onnx")
    assert pathlib.Path(written[0]).read_bytes() == converted.to_bytes()


def test_bfloat16_and_mode(model):
    assert ht.convert(model, "bfloat16").report["target"] == "bfloat16"
    assert ht.convert(model, mode="all").report["mode"] == "all"


def test_a_policy_may_be_a_path_a_dict_or_a_text(model, ruined):
    content = json.loads(ALL_FLOAT16.read_text())
    for policy in (str(ALL_FLOAT16), content, ALL_FLOAT16.read_text()):
        assert ht.convert(model, policy=policy).to_bytes() == ruined.to_bytes()
    again = ht.convert(model, policy=ruined.policy)
    assert again.to_bytes() == ruined.to_bytes()


def test_a_misspelt_operator_is_a_value_error(model):
    with pytest.raises(ValueError, match="Softmax") as caught:
        ht.convert(model, "float16", fp32_ops=["Sofmax"])
    assert isinstance(caught.value, ht.BadInput)


def test_an_unknown_option_is_a_type_error(model):
    with pytest.raises(TypeError, match="keep_io_typ"):
        ht.convert(model, "float16", keep_io_typ=True)
    with pytest.raises(ht.Error):
        ht.convert(model, "float17")


def test_options_of_the_command_line(model, tmp_path):
    converted = ht.convert(model, "float16", keep_io_types=False, opset=20, hardware="sm_80")
    call_cli("convert", MODEL, "--target", "float16", "--no-keep-io-types", "--opset", 20, "--hardware", "sm_80", "--out", tmp_path / "m")
    assert converted.to_bytes() == (tmp_path / "m.onnx").read_bytes()


def test_mxnet_writes_two_files(tmp_path):
    converted = ht.convert(SAMPLE / "digits-symbol.json", "float16")
    written = converted.save(tmp_path / "m")
    assert sorted(pathlib.Path(path).name for path in written) == ["m-0000.params", "m-symbol.json"]
    with pytest.raises(NotImplementedError):
        converted.to_bytes()


def test_quantize_is_the_command_lines(model, digits, tmp_path):
    calibration = SAMPLE / "digits-calibration.npz"
    quantized = ht.quantize(model, calibration, bias_correction=False)
    expected = call_cli("quantize", MODEL, "--form", "qdq", "--inputs", calibration, "--out", tmp_path / "m")
    assert steady(quantized.report) == steady(expected)
    assert quantized.to_bytes() == (tmp_path / "m.onnx").read_bytes()
    probabilities = quantized.run({"data": digits["data"]})["prob_output"]
    assert numpy.mean(probabilities.argmax(1) == digits["labels"]) > 0.98


def test_weights_are_the_command_lines(model, tmp_path):
    converted = ht.convert(model, "float16", weights="uint4/32", weight_method="rtn")
    expected = call_cli("convert", MODEL, "--target", "float16", "--weights", "uint4/32", "--method", "rtn", "--out", tmp_path / "c")
    assert steady(converted.report) == steady(expected)
    assert converted.to_bytes() == (tmp_path / "c.onnx").read_bytes()
    assert ht.compare(model, converted, SAMPLE / "digits-test.npz", examples=20).report["unmatched"]["model"] == []
    data = SAMPLE / "digits-calibration.npz"
    quantized = ht.quantize(model, data, weights=["int8/32", "fc=int4/32"], weight_form="qdq")
    expected = call_cli("quantize", MODEL, "--weights", "int8/32", "--weights", "fc=int4/32", "--form", "qdq", "--inputs", data,
                        "--out", tmp_path / "q")
    assert steady(quantized.report) == steady(expected)
    assert quantized.nodes[0]["method"] == "gptq" and quantized.nodes[0]["format"] == "int4/32"
    assert quantized.to_bytes() == (tmp_path / "q.onnx").read_bytes()
    with pytest.raises(ht.BadCall, match="gptq needs data"):
        ht.quantize(model, weights="int4/32", weight_method="gptq")


def test_types_and_exclusions_of_quantize(model):
    quantized = ht.quantize(model, SAMPLE / "digits-calibration.npz", types=["Conv"], exclude=["stem_conv"], form="qoperator")
    operators = {node.op_type for node in quantized.to_onnx().graph.node}
    assert "QLinearConv" in operators and "QGemm" not in operators and "Conv" in operators


def test_a_calibration_serves_quantize(model, digits, tmp_path):
    data = SAMPLE / "digits-calibration.npz"
    table = ht.calibrate(model, data, method="entropy")
    expected = call_cli("calibrate", MODEL, "--inputs", data, "--method", "entropy", "--out", tmp_path / "table.json")
    assert table.tensors == expected["tensors"]
    table.save(tmp_path / "own.json")
    stored, own = (json.loads((tmp_path / name).read_text()) for name in ("table.json", "own.json"))
    assert steady(own) == steady(stored)
    probabilities = ht.quantize(model, table).run({"data": digits["data"]})["prob_output"]
    assert numpy.mean(probabilities.argmax(1) == digits["labels"]) > 0.98
    call_cli("quantize", MODEL, "--form", "qdq", "--table", tmp_path / "table.json", "--out", tmp_path / "m")
    assert ht.quantize(model, table=tmp_path / "own.json").to_bytes() == (tmp_path / "m.onnx").read_bytes()

"""Loading and running models."""
import gc
import pathlib
import subprocess
import sys
import threading

import numpy
import onnx
import onnxruntime
import pytest

import halftone as ht
from conftest import MODEL, SAMPLE, call_cli


def resident():
    """Bytes of this process in memory."""
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


def test_import_takes_less_than_150_ms():
    code = "import time; begin = time.process_time(); import halftone; print(time.process_time() - begin)"
    assert min(float(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True).stdout) for _ in range(3)) < 0.15


@pytest.mark.parametrize("source", [str(MODEL), MODEL, MODEL.read_bytes(), onnx.load(MODEL)], ids=["str", "Path", "bytes", "ModelProto"])
def test_every_source_gives_the_same_model(source, model):
    loaded = ht.load(source)
    assert loaded.nodes == model.nodes
    assert loaded.inputs == model.inputs


def test_info_is_the_command_lines(model):
    assert model.info == call_cli("info", MODEL)
    assert [row["name"] for row in model.inputs] == ["data"]
    assert [row["name"] for row in model.outputs] == ["prob_output"]
    assert model.operators["Conv"] == 6
    assert [(node["name"], node["op"]) for node in model.nodes] == [(node.name, node.op_type) for node in onnx.load(MODEL).graph.node]


def test_mxnet_model():
    loaded = ht.load(SAMPLE / "digits-symbol.json", shapes={"data": (1, 1, 8, 8)})
    assert loaded.inputs[0]["shape"] == [1, 1, 8, 8]


def test_run_agrees_with_onnxruntime(model, digits):
    batch = digits["data"][:16]
    expected = onnxruntime.InferenceSession(MODEL).run(None, {"data": batch})[0]
    values = model.run({"data": batch})
    assert list(values) == ["prob_output"]
    numpy.testing.assert_allclose(values["prob_output"], expected, atol=1e-6)


def test_outputs_are_chosen_by_name(model, digits):
    feeds = {"data": digits["data"][:1]}
    everything = model.run(feeds, outputs="all")
    assert len(everything) >= len(model.nodes)
    energy = model.run(feeds, outputs=["energy"])
    assert len(energy) == 1
    numpy.testing.assert_array_equal(next(iter(energy.values())), everything["energy"])
    exact = (feeds["data"].astype(numpy.float64) ** 2).sum()
    assert float(everything["energy"].ravel()[0]) == pytest.approx(exact, rel=1e-5)


def test_outputs_are_views_that_outlive_everything(digits):
    model = ht.load(MODEL)
    values = model.run({"data": digits["data"][:4]})
    view = values["prob_output"]
    expected = view.copy()
    assert not view.flags.owndata
    del values, model
    gc.collect()
    ht.load(MODEL).run({"data": digits["data"][4:8]}) # memory that was freed would be used again
    numpy.testing.assert_array_equal(view, expected)


def test_inputs_may_be_lists_strided_or_of_the_other_byte_order(model, digits):
    batch = digits["data"][:2]
    for given in (batch.tolist(), numpy.asfortranarray(batch), batch.astype(">f4"), digits["data"][:4:2][:1]):
        given = numpy.float32(given) if isinstance(given, list) else given
        result = model.run({"data": given})["prob_output"]
        expected = model.run({"data": batch[:len(given)].copy()})["prob_output"]
        numpy.testing.assert_array_equal(result, expected)


def test_ten_thousand_runs_hold_the_process_within_5_mb(model, digits):
    feeds = {"data": digits["data"][:1]}
    for _ in range(200):
        model.run(feeds)
    gc.collect()
    before = resident()
    for _ in range(10_000):
        model.run(feeds)
    gc.collect()
    assert resident() - before < 5_000_000


def test_threads_share_a_model(model, digits):
    expected = model.run({"data": digits["data"]})["prob_output"]
    failures = []

    def run(begin):
        for k in range(begin, begin + 50):
            value = model.run({"data": digits["data"][k:k + 1]}, threads=1)["prob_output"]
            if not numpy.allclose(value, expected[k:k + 1], atol=1e-6):
                failures.append(k)

    threads = [threading.Thread(target=run, args=(begin,)) for begin in (0, 100, 200)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


@pytest.mark.parametrize("feeds", [{}, {"dat": numpy.zeros((1, 1, 8, 8), "float32")}, {"data": numpy.zeros((1, 1, 8, 8))},
                                   {"data": numpy.zeros((1, 3, 8, 8), "float32")}], ids=["missing", "misspelt", "type", "shape"])
def test_wrong_feeds_are_value_errors(model, feeds):
    with pytest.raises(ValueError, match="data"):
        model.run(feeds)


def test_errors_have_their_parts(tmp_path):
    damaged = tmp_path / "damaged.onnx"
    damaged.write_bytes(MODEL.read_bytes()[:1000])
    with pytest.raises(ht.BadInput) as caught:
        ht.load(damaged)
    assert caught.value.file == str(damaged)
    assert caught.value.found and str(caught.value).startswith(str(damaged))
    with pytest.raises(ValueError, match="none.onnx"):
        ht.load(tmp_path / "none.onnx")
    with pytest.raises(TypeError, match="expected a path"):
        ht.load(5)
    with pytest.raises(TypeError):
        ht.load(MODEL).run([1, 2])
    with pytest.raises(TypeError, match="numbers"):
        ht.load(MODEL).run({"data": numpy.array(["text"])})


def test_bytes_and_saved_files_are_the_same(model, tmp_path):
    written = model.save(tmp_path / "copy")
    assert [pathlib.Path(path).name for path in written] == ["copy.onnx"]
    assert pathlib.Path(written[0]).read_bytes() == model.to_bytes()
    onnx.checker.check_model(model.to_onnx(), full_check=True)


def test_backends_and_hardware():
    assert ht.backends() == call_cli("backends")["backends"]
    assert {"cpu", "reference"} <= {row["name"] for row in ht.backends()}
    assert ht.hardware("sm_80") == call_cli("hardware", "sm_80")
    with pytest.raises(ht.Error, match="sm_8000"):
        ht.hardware("sm_8000")

"""Every form of data gives the same ranges."""
import numpy
import pytest

import halftone as ht
from conftest import DIGITS


class Reader:
    """As ONNX Runtime's CalibrationDataReader."""

    def __init__(self, batches):
        self._batches = iter(batches)

    def get_next(self):
        return next(self._batches, None)


class Tensor:
    """As a tensor of PyTorch: NumPy gets it only without its gradient."""

    def __init__(self, array):
        self._array = array

    def detach(self):
        return self

    def cpu(self):
        return self._array


def batches(digits, size=90):
    for begin in range(0, 450, size):
        yield digits["data"][begin:begin + size], digits["labels"][begin:begin + size]


FORMS = {
    "path": lambda digits: DIGITS,
    "dict": lambda digits: dict(digits),
    "dict without labels": lambda digits: {"data": digits["data"]},
    "dicts": lambda digits: ({"data": data} for data, _ in batches(digits)),
    "tuples": lambda digits: list(batches(digits)),
    "arrays": lambda digits: (data for data, _ in batches(digits)),
    "lists of one example each": lambda digits: ([data[0], labels[0]] for data, labels in batches(digits, 1)),
    "single examples without labels": lambda digits: [(example,) for example in digits["data"]],
    "inputs and labels": lambda digits: (({"data": data}, labels) for data, labels in batches(digits)),
    "reader": lambda digits: Reader({"data": data} for data, _ in batches(digits)),
    "tensors": lambda digits: ((Tensor(data), Tensor(labels)) for data, labels in batches(digits)),
}


@pytest.fixture(scope="module")
def tensors(model):
    return ht.calibrate(model, DIGITS).tensors


@pytest.mark.parametrize("form", FORMS)
def test_form(form, model, digits, tensors):
    calibration = ht.calibrate(model, FORMS[form](digits))
    assert calibration.report["examples"] == 450
    assert calibration.tensors == tensors


def test_an_exception_of_the_data_comes_out_as_it_is(model, digits):
    class Own(Exception):
        pass

    def failing():
        yield {"data": digits["data"][:1]}
        raise Own("in the middle")

    with pytest.raises(Own, match="in the middle"):
        ht.calibrate(model, failing())


@pytest.mark.parametrize("data", [5, [], [(1, 2, 3)], [{"dat": numpy.zeros((1, 1, 8, 8), "float32")}], {"data": numpy.zeros((2, 3))},
                                  "none.npz"], ids=["number", "nothing", "too many", "misspelt", "type", "no file"])
def test_wrong_data_is_an_error(model, data):
    with pytest.raises(ht.Error):
        ht.calibrate(model, data)


def test_labels_may_be_given_apart(model, digits, ruined):
    for labels in (digits["labels"], digits["labels"].tolist()):
        compared = ht.compare(model, ruined, {"data": digits["data"]}, labels=labels)
        assert compared.top1["fp32"] == pytest.approx(447 / 450)

"""Progress, interruption, threads of long calls."""
import signal
import subprocess
import sys
import threading
import time

import pytest

import halftone as ht
from conftest import DIGITS, MODEL


def test_progress_is_reported(model, ruined):
    seen = []
    ht.compare(model, ruined, DIGITS, progress=lambda share, what: seen.append((share, what)))
    assert seen and all(0 <= share <= 1 and isinstance(what, str) for share, what in seen)
    assert [share for share, _ in seen] == sorted(share for share, _ in seen)


def test_an_exception_of_the_callback_comes_out_as_it_is(model, ruined):
    class Own(Exception):
        pass

    def failing(share, what):
        raise Own(what)

    with pytest.raises(Own):
        ht.compare(model, ruined, DIGITS, progress=failing)
    assert ht.compare(model, ruined, DIGITS).first_divergence == "energy" # and the next call works


LONG = """
import halftone as ht, numpy, sys
model = ht.load(sys.argv[1])
pictures = numpy.tile(numpy.load(sys.argv[2])["data"], (100, 1, 1, 1))
lowered = ht.convert(model)
print("ready", flush=True)
try:
    ht.compare(model, lowered, {"data": pictures}, isolated=True)
except KeyboardInterrupt:
    print("stopped", flush=True)
"""


def test_ctrl_c_raises_keyboard_interrupt_within_a_second():
    process = subprocess.Popen([sys.executable, "-c", LONG, str(MODEL), str(DIGITS)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout.readline() == b"ready\n"
    time.sleep(1)
    begin = time.perf_counter()
    process.send_signal(signal.SIGINT)
    assert process.stdout.readline() == b"stopped\n"
    took = time.perf_counter() - begin
    assert process.wait() == 0, process.stderr.read()
    assert took < 1


def test_the_handler_of_a_signal_is_put_back(model):
    before = signal.getsignal(signal.SIGINT)
    ht.verify(model)
    assert signal.getsignal(signal.SIGINT) is before


def test_another_thread_counts_on(model, ruined):
    counted = []
    ended = threading.Event()

    def count():
        while not ended.is_set():
            counted.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    begin = time.perf_counter()
    ht.compare(model, ruined, DIGITS, threads=1)
    took = time.perf_counter() - begin
    ended.set()
    thread.join()
    assert sum(begin <= at <= begin + took for at in counted) > 50 * took


def test_long_calls_work_in_other_threads(model):
    result = []
    thread = threading.Thread(target=lambda: result.append(ht.verify(model)))
    thread.start()
    thread.join()
    assert result[0].types.keys() == {"float32"}


def test_progress_without_tqdm_prints_lines(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    report = ht.progress()
    report(0.0, "reading")
    report(0.05, "reading")
    report(1.0, "done")
    assert capsys.readouterr().err == "  0% reading\n100% done\n"


def test_what_is_wrong_is_named(model, digits, tmp_path):
    with pytest.raises(ValueError, match="dta.*did you mean data"):
        model.run({"dta": digits["data"], "data": digits["data"]})
    with pytest.raises(ValueError, match="no batch"):
        ht.calibrate(model, [])
    with pytest.raises(TypeError, match="shapes"):
        ht.load(MODEL, shapes="1,1,8,8")
    with pytest.raises(TypeError, match="repeats: 0"):
        ht.profile(model, repeats=0)
    with pytest.raises(ValueError, match="page.html: cannot write") as raised:
        ht.report(model, tmp_path / "nowhere" / "page.html")
    assert raised.value.file.endswith("page.html")

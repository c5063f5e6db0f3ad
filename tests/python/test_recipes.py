"""The recipes of the guide run as they are printed, one after another as in one session."""
import html
import importlib.util
import re
import shutil

import pytest

from conftest import ROOT, SAMPLE

PAGE = (ROOT / "resources/help/python.html").read_text(encoding="utf-8")
RECIPES = [(re.sub(r"<[^>]*>", "", title), [html.unescape(code) for code in re.findall(r"<pre>(.*?)</pre>", text, re.S)])
           for title, text in re.findall(r"<h3>(.*?)</h3>(.*?)(?=<h3>|\Z)", PAGE, re.S)]


@pytest.mark.parametrize("title, blocks", RECIPES, ids=[title for title, _ in RECIPES])
def test_recipe(title, blocks, tmp_path, monkeypatch, request):
    if any("ht.tune" in block for block in blocks):
        request.getfixturevalue("bfloat16")
    for package in ("torch", "pandas"):
        if any(f"import {package}" in block for block in blocks) and importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    shutil.copy(SAMPLE / "digits.onnx", tmp_path / "model.onnx")
    shutil.copy(SAMPLE / "digits-test.npz", tmp_path / "test.npz")
    shutil.copy(SAMPLE / "digits-calibration.npz", tmp_path / "calibration.npz")
    monkeypatch.chdir(tmp_path)
    assert blocks
    names = {"__name__": title}
    for block in blocks:
        exec(compile(block, title, "exec"), names) # as a reader would paste them
    for name, value in list(names.items()):
        if name.startswith("test_") and callable(value):
            value()

"""What a notebook's cell shows."""
import nbclient
import nbformat

from conftest import ALL_FLOAT16, MODEL


def test_a_cell_shows_every_node(model):
    cell = nbformat.v4.new_code_cell(f"import halftone as ht\nht.convert({str(MODEL)!r}, policy={str(ALL_FLOAT16)!r})")
    notebook = nbformat.v4.new_notebook(cells=[cell])
    nbclient.NotebookClient(notebook, timeout=60, kernel_name="python3").execute()
    html = cell.outputs[0].data["text/html"]
    assert "<svg" in html
    for node in model.nodes:
        assert node["name"] in html.partition("<svg")[2]


def test_a_model_shows_its_graph(model):
    assert "<svg" in model._repr_html_()

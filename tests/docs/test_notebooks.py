"""The notebooks run from top to bottom, in time, and hold what came out of them."""

import re
import resource
from itertools import pairwise
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from artus_env.engine.compiling.jit import ANNOUNCEMENT

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
LIMIT = 120
"""CPU seconds for a whole notebook; other tests run beside it."""
HANGS = 600
"""Seconds after which a cell is given up."""


def seconds():
    """CPU seconds of all processes that were started from here and have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def outputs(notebook, kind):
    return [
        out for cell in notebook.cells if cell.cell_type == "code" for out in cell.outputs if out.output_type == kind
    ]


def complaints(notebook):
    """Lines on the standard error."""
    return [line for out in outputs(notebook, "stream") if out.name == "stderr" for line in out.text.splitlines()]


def plots(notebook):
    return [out for out in outputs(notebook, "display_data") if "image/png" in out.data]


def captions(notebook):
    texts = [out.data.get("text/markdown", "") for out in outputs(notebook, "display_data")]
    return [text for text in texts if text.startswith("**Figure")]


def test_there_are_notebooks():
    assert [path.stem[:2] for path in NOTEBOOKS] == ["01", "02", "03", "04", "05", "06"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_runs_from_top_to_bottom(path, tmp_path):
    """Each plot comes with a caption, and nothing is printed to the standard error but why a first call takes long."""
    notebook = nbformat.read(path, as_version=4)
    before = seconds()
    NotebookClient(notebook, timeout=HANGS, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert 0 < seconds() - before < LIMIT
    assert plots(notebook)
    assert len(captions(notebook)) == len(plots(notebook))
    assert [line for line in complaints(notebook) if line != ANNOUNCEMENT] == []


COLUMNS = re.compile(r"(\S {2,}\S.*){2}")
"""A printed line of three columns or more."""


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_code_that_draws_is_folded_and_tables_are_tables(path):
    """In Jupyter and on the site; what is worked out stays in sight, and so does every cell that others need."""
    notebook = nbformat.read(path, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for cell in code:
        draws = "plt.subplots(" in cell.source or "plt.rcParams" in cell.source
        folded = cell.metadata.get("jupyter", {}).get("source_hidden", False)
        assert folded == ("hide-input" in cell.metadata.get("tags", [])) == draws, cell.source
        if "plt.subplots(" in cell.source:
            assert re.match(r"figure, .*plt\.subplots\(", cell.source), "what comes before is a cell of its own"
    printed = "\n".join(out.text for out in outputs(notebook, "stream")).splitlines()
    assert not [line for line, after in pairwise(printed) if COLUMNS.search(line) and COLUMNS.search(after)]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_holds_what_came_out(path):
    """All cells have run, once and in order, and the file stays small enough to be read on the web."""
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    assert complaints(notebook) == []
    assert len(captions(notebook)) == len(plots(notebook)) > 0
    assert path.stat().st_size < 1_000_000

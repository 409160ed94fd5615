"""The tests themselves: which of them run together, and that none sees the user's files."""

from pathlib import Path

import pytest

from artus_training.people.results import default_folder


def test_tests_that_belong_together_run_in_one_process(request):
    """Where they don't, nothing but a long wait tells: pytest-xdist writes each test's group behind its name."""
    if not getattr(request.config.option, "loadgroup", False):
        pytest.skip("no groups were asked for: `make test` does")
    grouped = [item.nodeid for item in request.session.items if item.get_closest_marker("xdist_group")]
    assert grouped
    assert [name for name in grouped if "@" not in name] == []


@pytest.fixture(scope="module")
def current_folder_of_fixtures():
    return Path.cwd()


def test_no_test_sees_the_files_of_the_user(current_folder_of_fixtures):
    """Tests don't see files of the clone such as `runs`, games in the home folder or settings of matplotlib."""
    clone = Path(__file__).parents[1]
    assert list(Path.cwd().iterdir()) == []
    assert not any(folder.is_relative_to(clone) for folder in (Path.cwd(), current_folder_of_fixtures))
    assert not default_folder().exists()
    assert not default_folder().is_relative_to(Path.home() / ".local")
    matplotlib = pytest.importorskip("matplotlib")
    assert matplotlib.matplotlib_fname().startswith(str(Path(matplotlib.__file__).parent))

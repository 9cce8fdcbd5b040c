"""Files that octools writes: whole, created exclusively, and never through a link."""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from octools.errors import OctoolsError
from octools.figure import save
from octools.files import is_file_name, whole_file, write_new, write_text
from octools.initial import write_initial
from octools.table import write_table
from octools.text import printable, require_one_line

PRECIOUS = "precious"
WRITERS: dict[str, Callable[[Path], object]] = {
    "text.html": lambda path: write_text(path, "text"),
    "table.csv": lambda path: write_table({"a": np.arange(3)}, path),
    "figure.png": lambda path: save(Figure(), path),
}


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    path = tmp_path / "victim"
    path.write_text(PRECIOUS)
    return path


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("ending", ["", ".part"])
@pytest.mark.parametrize("kind", ["symbolic", "hard", "dangling"])
def test_no_link_is_followed(
    tmp_path: Path, victim: Path, name: str, ending: str, kind: str
) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    link = folder / (name + ending)
    if kind == "hard":
        victim.unlink()
        WRITERS[name](victim)  # octools replaces its own files only
        os.link(victim, link)
    else:
        link.symlink_to(victim if kind == "symbolic" else tmp_path / "nowhere")
    before = victim.read_bytes()
    WRITERS[name](folder / name)
    assert [path.name for path in folder.iterdir()] == [name]
    assert (folder / name).stat().st_size > 0 and not (folder / name).is_symlink()
    assert victim.read_bytes() == before
    assert not (tmp_path / "nowhere").exists()


def test_a_file_that_fails_leaves_the_old_one(victim: Path) -> None:
    with pytest.raises(OctoolsError, match="cannot write"), whole_file(victim) as beside:
        beside.write_text("half")
        raise OSError("no space")
    assert victim.read_text() == PRECIOUS
    assert [path.name for path in victim.parent.iterdir()] == ["victim"]


@pytest.mark.parametrize("kind", ["file", "symbolic", "dangling"])
def test_a_new_file_replaces_nothing(tmp_path: Path, victim: Path, kind: str) -> None:
    path = tmp_path / "new.h5"
    if kind == "file":
        path.write_text(PRECIOUS)
    else:
        path.symlink_to(victim if kind == "symbolic" else tmp_path / "nowhere")
    with pytest.raises(FileExistsError):
        write_new(path, "text")
    with pytest.raises(OctoolsError, match="exists"):
        write_initial(path, particles={"dark": {"position": np.full((1, 3), 0.5), "mass": [1.0],
                                                "velocity": np.zeros((1, 3))}})  # fmt: skip
    assert victim.read_text() == PRECIOUS
    assert not (tmp_path / "nowhere").exists()
    assert not list(tmp_path.glob("*.part")) and not list(tmp_path.glob(".*.part"))


def test_names_of_files_lead_nowhere_else() -> None:
    assert all(map(is_file_name, ("control.toml", "a-b_c.9")))
    for name in ("", ".", "..", ".x", "../a", "/a", "a/b", "-x", "a b", "a\nb", "a\n", None, 3):
        assert not is_file_name(name)


def test_texts_show_what_they_hold() -> None:
    assert printable("\x1b[2J\a\n") == r"\x1b[2J\x07\n"
    assert printable("a\n\tb\r", lines=True) == "a\n\tb\\r"
    assert printable("M☉ µm \u202e\u2028\udcff") == r"M☉ µm \u202e\u2028\udcff"
    assert require_one_line("M☉ µm", "--queue") == "M☉ µm"
    for text in ("a\nb", "a\rb", "a\u2028b", "a\x00b", "a\x85b"):
        with pytest.raises(OctoolsError, match="--queue"):
            require_one_line(text, "--queue")

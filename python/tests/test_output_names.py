"""Names of output files that commands refuse: folders, devices and files of another kind."""

import inspect
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from conftest import Call, partly_refined
from made_up_run import MadeUpRun
from synthetic import add_particles

from octools.cli import Entry, commands
from octools.errors import OctoolsError
from octools.file_kinds import kind_of
from octools.files import whole_file

FOLDERS = {"examples", "convert"}  # their --output may be a folder


def writers() -> list[tuple[str, str]]:
    """List the commands that write files with the option that names the file."""
    found = []
    for entry in commands().values():
        names = set(inspect.signature(entry.function()).parameters)
        found += [(entry.name, f"--{name}") for name in ("output", "plot") if name in names]
    return found


def required(entry: Entry) -> list[str]:
    """Give words for the arguments that a command requires."""
    words = {"job": ["run.toml", "--for", "slurm"], "eos-table": []}
    return words.get(entry.name, ["run"])


def test_all_writing_commands_are_known() -> None:
    named = {name for name, _ in writers()}
    expected = {
        "plot", "phase", "profile", "movie", "history", "spectra", "halos", "ics", "sfr", "sinks",
        "ledger", "kennicutt", "expect", "job", "examples", "eos-table", "convert", "report",
        "scaling", "trace", "diagnose", "binary",
    }  # fmt: skip
    assert named == expected - {"expect"} | (named & {"expect"})


@pytest.mark.parametrize("place", [".", "folder", "pipe", "link"])
@pytest.mark.parametrize(("name", "option"), [w for w in writers() if w[0] not in FOLDERS])
def test_no_command_writes_in_place_of_a_folder_or_pipe(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    octools: Call,
    name: str,
    option: str,
    place: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "folder")
    os.mkfifo(tmp_path / "pipe")
    before = sorted(tmp_path.rglob("*"))
    result = octools(name, *required(commands()[name]), option, place)
    assert result.returncode == 2
    assert result.stdout == ""
    reason = "it is not a regular file" if place == "pipe" else "it is a directory"
    assert result.stderr.startswith(f"octools: cannot write {place}: {reason}")
    assert result.stderr.count("\n") == 1
    assert sorted(tmp_path.rglob("*")) == before


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Make a run with a snapshot, particles, a history, telemetry and parameters."""
    folder = tmp_path / "run"
    folder.mkdir()
    snapshot = partly_refined().write(folder / "snap_00000.h5")
    add_particles(snapshot, "dark", 64)
    head = "step,time,dt,mass,momentum_x,momentum_y,momentum_z,total_energy,absolute_momentum"
    (folder / "history.csv").write_text(f"{head}\n0,0,1,1,0,0,0,1,1\n1,1,1,1,0,0,0,1.5,1\n")
    (folder / "run.toml").write_text('model = "amr"\n')
    MadeUpRun(steps=20).write(folder)
    MadeUpRun(steps=20, ranks=4).write(tmp_path / "wide")
    return folder


WRITES: dict[str, tuple[str, ...]] = {
    "plot": ("snap_00000.h5",),
    "phase": ("snap_00000.h5", "--x", "density", "--y", "pressure"),
    "profile": ("snap_00000.h5",),
    "movie": ("",),
    "history": ("",),
    "ledger": ("",),
    "report": ("",),
    "trace": ("",),
    "scaling": ("",),
    "diagnose": ("",),
}
ENDINGS = {"movie": ".gif", "report": ".html", "trace": ".json"}
TABLE = ("--ideal", 1.4, 0.6, "--density", 1, 2, "--temperature", 1e5, 2e5)


def call(octools: Call, name: str, run: Path, output: Path) -> tuple[int, str]:
    option = "--plot" if name == "diagnose" else "--output"
    words = TABLE if name == "eos-table" else (run / WRITES[name][0], *WRITES[name][1:])
    words += (run.parent / "wide",) if name == "scaling" else ()
    result = octools(name, *words, option, output)
    return result.returncode, result.stderr


@pytest.mark.parametrize("victim", ["snap_00000.h5", "run.toml", "history.csv", "photo"])
@pytest.mark.parametrize("name", [*WRITES, "eos-table"])
def test_no_file_of_another_kind_is_replaced(
    tmp_path: Path, octools: Call, run: Path, name: str, victim: str
) -> None:
    target = tmp_path / f"victim{ENDINGS.get(name, '.h5' if name == 'eos-table' else '.png')}"
    if victim == "photo":
        target.write_bytes(b"\xff\xd8\xff\xe0 precious")
    else:
        shutil.copy(run / victim, target)
    before = target.read_bytes()
    code, message = call(octools, name, run, target)
    assert target.read_bytes() == before
    assert code == 2
    assert "octools replaces only older files with such contents" in message
    assert not list(tmp_path.glob("*.part*"))


@pytest.mark.parametrize("name", [*WRITES, "eos-table"])
def test_own_older_files_are_replaced_and_other_places_give_one_message(
    tmp_path: Path, octools: Call, run: Path, name: str
) -> None:
    target = tmp_path / f"new{ENDINGS.get(name, '.h5' if name == 'eos-table' else '.png')}"
    for _ in range(2):
        code, message = call(octools, name, run, target)
        assert code == 0, message
    for place in (run / "run.toml" / "a.png", tmp_path / ("a" * 300 + target.suffix)):
        code, message = call(octools, name, run, place.with_suffix(target.suffix))
        last = message.strip().split("\n")[-1]
        assert code == 2
        assert last.startswith("octools: cannot write"), message


def test_the_table_of_a_profile_does_not_replace_the_history(octools: Call, run: Path) -> None:
    before = (run / "history.csv").read_bytes()
    result = octools("profile", run / "snap_00000.h5", "--output", run / "history.png")
    assert result.returncode == 2
    assert (run / "history.csv").read_bytes() == before


def test_folders_of_conversions_and_examples_are_no_files(
    tmp_path: Path, octools: Call, run: Path
) -> None:
    (tmp_path / "file").write_text("precious")
    for words in (["convert", run, "--to", "gadget"], ["examples", "sedov"]):
        result = octools(*words, "--output", tmp_path / "file")
        assert result.returncode == 2, words
        assert result.stderr.count("\n") == 1
    shutil.copy(run / "snap_00000.h5", tmp_path / "snap_00000.hdf5")
    before = (tmp_path / "snap_00000.hdf5").read_bytes()
    result = octools("convert", run, "--to", "gadget", "--output", tmp_path)
    assert result.returncode == 2
    assert "a snapshot or checkpoint of Octant" in result.stderr
    assert (tmp_path / "snap_00000.hdf5").read_bytes() == before
    assert (tmp_path / "file").read_text() == "precious"


@pytest.mark.parametrize(
    "words",
    [
        ("profile", "--kind", "radial", "--bin-width", "1e-300"),
        ("profile", "--kind", "radial", "--bin-width", "0"),
        ("profile", "--kind", "radial", "--bin-width", "nan"),
        ("profile", "--kind", "radial", "--bin-width", "inf"),
        ("sfr", "--intervals", str(10**30)),
        ("movie", "--rate", str(10**30)),
        ("plot", "--snapshot", str(10**30)),
        ("plot", "--width", "1e-300"),
        ("plot", "--width", "nan"),
    ],
)
def test_absurd_sizes_give_one_message(octools: Call, run: Path, words: tuple[str, ...]) -> None:
    result = octools(words[0], run, *words[1:])
    assert result.returncode == 2
    assert "Traceback" not in result.stderr
    assert not list(run.glob("*.png"))


KINDS: dict[str, Callable[[Path], object]] = {
    "a text file": lambda path: path.write_text("# a\nb = [1, 2]\n"),
    "a web page": lambda path: path.write_text("<!doctype html>\n<p>a"),
    'a table with the first column "step"': lambda path: path.write_text("# step,time\n1,2\n"),
    "a profile": lambda path: path.write_text("radius,density\n1,2\n"),
    'a JSON file with the first key "a"': lambda path: path.write_text('{"a": 1}'),
    "a binary file": lambda path: path.write_bytes(np.arange(9.0).tobytes()),
    "a PNG picture": lambda path: path.write_bytes(b"\x89PNG\r\n\x1a\n\0"),
    "a damaged HDF5 file": lambda path: path.write_bytes(b"\x89HDF\r\n\x1a\n rest"),
    "a damaged compressed file": lambda path: path.write_bytes(b"\x1f\x8b rest"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_of_files_are_told_by_their_contents(tmp_path: Path, kind: str) -> None:
    KINDS[kind](tmp_path / "file")
    assert kind_of(tmp_path / "file") == kind
    (tmp_path / "empty").touch()
    assert kind_of(tmp_path / "empty") is None
    with whole_file(tmp_path / "empty") as beside:
        KINDS[kind](beside)
    assert kind_of(tmp_path / "empty") == kind
    if kind != "a text file":
        with (
            pytest.raises(OctoolsError, match="exists and is"),
            whole_file(tmp_path / "file") as beside,
        ):
            beside.write_text("text")
        assert kind_of(tmp_path / "file") == kind

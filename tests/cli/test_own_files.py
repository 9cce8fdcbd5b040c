"""A run changes its own files alone: no name and no link leads it out of its folder."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from flows import SMALL_CHANNEL
from inputs import TINY_BLAST
from refusals import assert_refused
from running import (
    CHECKPOINT_EVERY_STEP,
    heed_signals,
    octant,
    octant_command,
    octant_environment,
    run,
    run_well,
)

MODELS = pytest.mark.parametrize("model", [TINY_BLAST, SMALL_CHANNEL], ids=["amr", "dns"])
EVERYTHING = (
    *CHECKPOINT_EVERY_STEP,
    "time.max_steps=2",
    'output.slices=["z = 0.3"]',
    "output.compression=deflate",
)
PRECIOUS = "precious\n"
LINKS = {
    "symbolic": lambda link, target: link.symlink_to(target),
    "hard": lambda link, target: os.link(target, link),
}


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    path = tmp_path / "victim.toml"
    path.write_text(PRECIOUS)
    return path


# --- the control file ----------------------------------------------------------------------------


CONTROL_FILES = (
    "../victim.toml", "run.lock", "history.csv", "run.toml", "log.txt", "", ".", "..", ".toml",
    "a/b.toml", "/tmp/octant-victim.toml", "a\\nb.toml", "snap_00000.h5",
)  # fmt: skip


@pytest.mark.parametrize(
    ("model", "name"),
    [*((TINY_BLAST, name) for name in CONTROL_FILES), (SMALL_CHANNEL, CONTROL_FILES[0])],
)
def test_a_control_file_is_a_file_of_its_own(
    tmp_path: Path, victim: Path, model: str, name: str
) -> None:
    text = f'{model}\n[run]\ncontrol_file = "{name}"\n'
    outcome = run(tmp_path / "run", text)
    assert_refused(outcome, "run.control_file", "control.toml")
    assert not (tmp_path / "run").exists()
    assert victim.read_text() == PRECIOUS


@pytest.mark.parametrize(
    ("kind", "ranks"),
    [
        *((k, 1) for k in ("parameters", "dangling", "folder", "pipe", "long")),
        ("link", 1),
        ("link", 3),
    ],
)
def test_what_is_no_control_file_stays(tmp_path: Path, victim: Path, kind: str, ranks: int) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    control = folder / "orders.toml"
    if kind == "parameters":
        control.write_text(TINY_BLAST)
    elif kind == "link":
        victim.write_text("dump = true\n")
        control.symlink_to(victim)
    elif kind == "dangling":
        control.symlink_to(tmp_path / "nowhere")
    elif kind == "folder":
        control.mkdir()
    elif kind == "pipe":
        os.mkfifo(control)
    else:
        control.write_text("#" * 100_000 + "\nstop = true\n")
    before, target = control.lstat(), victim.read_bytes()
    outcome = run_well(folder, TINY_BLAST, "run.control_file=orders.toml", ranks=ranks)
    assert outcome.text.count("is ignored until it changes") == 1  # and not at every step
    assert control.lstat().st_ino == before.st_ino
    assert victim.read_bytes() == target
    assert not (tmp_path / "nowhere").exists()


# --- links ---------------------------------------------------------------------------------------


def written_names(folder: Path) -> list[Path]:
    return sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())


@MODELS
def test_links_in_the_folder_are_not_followed(tmp_path: Path, victim: Path, model: str) -> None:
    """Under every name that a run writes, and every temporary one."""
    names = written_names(run_well(tmp_path / "first", model, *EVERYTHING).directory)
    links = []
    for kind, link in LINKS.items():
        folder = tmp_path / kind
        for name in names:
            beside = (f"{name}.part", f"{name}.rows.part", f"{name.parent}/.{name.name}.part")
            for each in (str(name), *beside):
                if each in ("run.lock", "log.txt") or "superseded" in each:
                    continue
                if each.endswith((".h5", ".parquet")) or each == "history.csv":
                    continue  # which would be a run
                path = folder / each
                path.parent.mkdir(parents=True, exist_ok=True)
                link(path, victim)
                links.append(path)
        run_well(folder, model, *EVERYTHING)
        assert victim.read_text() == PRECIOUS
        assert set(written_names(folder)) >= set(names)
    assert len(links) > 20


@pytest.mark.parametrize("kind", [*LINKS, "dangling"])
@pytest.mark.parametrize("name", ["run.lock", "log.txt"])
@pytest.mark.parametrize("is_taken", [False, True], ids=["new", "taken"])
def test_links_under_names_that_are_written_on_are_not_followed(
    tmp_path: Path, victim: Path, name: str, kind: str, is_taken: bool
) -> None:
    """Also by a run that is refused for another reason."""
    folder = tmp_path / "run"
    folder.mkdir()
    if is_taken:
        (folder / "history.csv").write_text("step\n0\n")
    if kind == "dangling":
        (folder / name).symlink_to(tmp_path / "nowhere")
    else:
        LINKS[kind](folder / name, victim)
    outcome = run(folder, TINY_BLAST, "time.max_steps=1")
    if name == "log.txt" and not is_taken and kind != "hard":
        assert outcome.code == 0  # a run does not end for the sake of its log
        assert outcome.text.count("some lines could not be written to the log file") == 1
    else:
        assert_refused(outcome, name if not is_taken or name == "run.lock" else "contains a run")
    assert victim.read_text() == PRECIOUS
    assert not (tmp_path / "nowhere").exists()


def test_foreign_files_stay_in_a_linked_folder_of_telemetry(tmp_path: Path) -> None:
    """The folder may lie on another disk; what is there already counts as a run."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / "run").mkdir()
    (tmp_path / "run/telemetry").symlink_to(elsewhere)
    (elsewhere / "mine.txt").write_text(PRECIOUS)
    (elsewhere / "foreign.parquet").write_text(PRECIOUS)
    assert_refused(run(tmp_path / "run", TINY_BLAST, "time.max_steps=1"), "contains a run")
    assert {path.name for path in elsewhere.iterdir()} == {"mine.txt", "foreign.parquet"}
    (elsewhere / "foreign.parquet").unlink()
    run_well(tmp_path / "run", TINY_BLAST, "time.max_steps=1")
    assert (elsewhere / "mine.txt").read_text() == PRECIOUS


def test_the_folder_itself_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "scratch").mkdir()
    (tmp_path / "run").symlink_to(tmp_path / "scratch")
    run_well(tmp_path / "run", TINY_BLAST, "time.max_steps=1")
    assert (tmp_path / "scratch/history.csv").is_file()


def test_the_list_of_results_is_written_into_an_empty_file_alone(
    tmp_path: Path, victim: Path
) -> None:
    """OCTANT_DONE_FILE, by which the launcher learns where there are pictures to make."""
    (tmp_path / "in.toml").write_text(TINY_BLAST)
    (tmp_path / "link").symlink_to(tmp_path / "empty")
    (tmp_path / "empty").touch()
    for n, asked in enumerate((victim, tmp_path / "absent", tmp_path / "link")):
        words = ["run", tmp_path / "in.toml", "--output", tmp_path / f"run{n}"]
        words += ["--set", "time.max_steps=1", "--set", "output.pictures=['history']"]
        done = subprocess.run(
            octant_command(*words),
            env=octant_environment() | {"OCTANT_DONE_FILE": str(asked)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, "OCTANT_DONE_FILE" in done.stderr) == (0, True), done.stderr
    assert victim.read_text() == PRECIOUS
    assert (tmp_path / "empty").read_text() == ""
    assert not (tmp_path / "absent").exists()


# --- the lock ------------------------------------------------------------------------------------


@contextmanager
def endless(folder: Path) -> Iterator[subprocess.Popen[str]]:
    file = folder.with_suffix(".toml")
    file.write_text(TINY_BLAST)
    settings = ("time.max_steps=1000000", "time.end=1000", "debug.step_seconds=0.05")
    words = [word for setting in settings for word in ("--set", setting)]
    process = subprocess.Popen(
        octant_command("run", file, "--output", folder, *words),
        env=octant_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
        preexec_fn=heed_signals,
    )
    try:
        history = folder / "history.csv"
        deadline = time.monotonic() + 60
        while not (history.exists() and history.read_text().count("\n") > 1):
            assert time.monotonic() < deadline and process.poll() is None
            time.sleep(0.05)
        yield process
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("how", ["removed", "replaced"])
def test_a_lock_that_is_gone_does_not_let_a_run_be_moved(tmp_path: Path, how: str) -> None:
    folder = tmp_path / "run"
    with endless(folder) as process:
        (folder / "run.lock").unlink()
        if how == "replaced":
            (folder / "run.lock").touch()
        for words in ({"overwrite": True}, {"restart": "latest"}, {}):
            outcome = run(folder, TINY_BLAST, **words)
            assert_refused(outcome, "another run is writing to it")
        assert sorted(path.name for path in tmp_path.iterdir()) == ["run", "run.toml"]
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 3
    assert list(folder.glob("checkpoint_*.h5"))
    run_well(folder, TINY_BLAST, restart="latest")


def test_a_restart_removes_what_a_killed_run_left(tmp_path: Path) -> None:
    folder = run_well(tmp_path / "run", TINY_BLAST, *CHECKPOINT_EVERY_STEP).directory
    left = ("snap_00042.h5.part", "snap_00042.h5.rows.part", "checkpoint_00099.h5.part",
            "slice_z0.5_00042.h5.part", "run.toml.part", ".stars_formed_0.parquet",
            ".stars_formed.parquet.part", "telemetry/.steps_1.parquet.part")  # fmt: skip
    foreign = ("mine.part", "snap_x.h5.part", ".mine", "mine.parquet")
    for name in (*left, *foreign):
        (folder / name).write_text(PRECIOUS)
    run_well(folder, TINY_BLAST, "time.max_steps=3", restart="latest")
    assert [name for name in left if (folder / name).exists()] == []
    assert all((folder / name).read_text() == PRECIOUS for name in foreign)


# --- names that become columns -------------------------------------------------------------------

BAD_NAMES = ("a,b", "a\nb", "a b", "9a", '"a"', "", "a\x1b[2J", "ä", 101 * "a", "mass", "step")


@pytest.mark.parametrize("name", BAD_NAMES)
def test_names_of_integrals_are_names(tmp_path: Path, name: str) -> None:
    definition = json.dumps([f"{name} = density"])
    outcome = run(tmp_path / "run", TINY_BLAST + f"\n[output]\nintegrals = {definition}\n")
    assert_refused(outcome, "output.integrals")
    assert "\x1b" not in outcome.text
    assert not (tmp_path / "run/history.csv").exists()


def test_integrals_have_one_name_each(tmp_path: Path) -> None:
    definitions = json.dumps(["a = density", "a = pressure"])
    text = TINY_BLAST + f"\n[output]\nintegrals = {definitions}\n"
    assert_refused(run(tmp_path / "run", text), "given twice")


def test_escapes_do_not_reach_the_terminal(tmp_path: Path) -> None:
    """From a name of a file and from the value of a parameter."""
    file = tmp_path / "a\x1b]0;owned\x07.toml"
    assert "\x1b" not in octant("check", file).text
    file.write_text(TINY_BLAST.replace('"sedov"', '"\\u001b[2Jx"'))
    outcome = octant("check", file)
    assert outcome.code == 2
    assert "\\x1b" in outcome.text and not {"\x1b", "\x07"} & set(outcome.text)

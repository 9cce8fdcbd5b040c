"""Following runs: their state from what they have written, and orders to them."""

import json
import os
from dataclasses import asdict
from pathlib import Path

import pytest
from conftest import Call

from octools.errors import OctoolsError
from octools.watch.state import Watched, control, in_words

BEGIN = 1_700_000_000.0
PARAMETERS = "[time]\nend = 2.0\nmax_steps = 1000\n"


def stamp(seconds: float) -> str:
    from datetime import datetime

    return datetime.fromtimestamp(BEGIN + seconds).strftime("%Y-%m-%d %H:%M:%S.000")


def write_run(
    run: Path, steps: int, seconds: float, *lines: str, parameters: str = PARAMETERS
) -> None:
    """Write a run that has made some steps of 0.01 after so many seconds."""
    run.mkdir(exist_ok=True)
    (run / "run.toml").write_text(parameters)
    text = [f"{stamp(0)}  info     blast: 3 rank(s)", f"{stamp(1)}  warning  crowded"]
    (run / "log.txt").write_text("\n".join([*text, *lines, ""]))
    rows = [f"{n},{0.01 * n},{0.1 + 0.001 * n},0.01,8" for n in range(steps + 1)]
    (run / "history.csv").write_text("\n".join(["step,time,a,dt,blocks_0", *rows, ""]))
    for file in ("log.txt", "history.csv"):
        os.utime(run / file, (BEGIN + seconds, BEGIN + seconds))


def test_a_running_run_tells_how_far_it_is(tmp_path: Path) -> None:
    write_run(tmp_path, 50, 100.0)
    watched = Watched(tmp_path)
    state = watched.look(BEGIN + 103)
    assert (state.state, state.step, state.when) == ("running", 50, "t = 0.5 of 2")
    assert state.share == pytest.approx(0.25)
    assert (state.quiet, state.step_seconds, state.left) == pytest.approx((3.0, 2.0, 300.0))
    assert state.warnings == ("crowded",)
    assert state.numbers == {"dt": 0.01, "blocks_0": 8.0}
    write_run(tmp_path, 100, 400.0)  # slower now
    state = watched.look(BEGIN + 400)
    assert (state.step_seconds, state.left) == pytest.approx((4.0, 400.0))


def test_a_run_by_steps_or_redshift_tells_its_share(tmp_path: Path) -> None:
    write_run(tmp_path, 50, 100.0, parameters="[time]\nend = 1e9\nmax_steps = 100\n")
    assert Watched(tmp_path).look(BEGIN + 100).share == pytest.approx(0.5)
    universe = '[cosmology]\nenabled = true\nstart = "a = 0.1"\nend = "z = 4"\n'
    write_run(tmp_path, 50, 100.0, parameters=universe)
    state = Watched(tmp_path).look(BEGIN + 100)
    assert (state.share, state.when) == (pytest.approx(0.5), "z = 5.667")


@pytest.mark.parametrize(
    ("lines", "later", "expected"),
    [
        (["info     done: time 2 after 9 steps"], 9e4, "done"),
        (["info     stopping at step 7: signal 10", "info     wrote checkpoint"], 9e4, "stopped"),
        (["info     stopping at step 7: signal 10", "info     restarted from x"], 1, "running"),
        (["error    step 7: density -1"], 5, "failed"),
        ([], 30, "running"),
        ([], 300, "silent"),
    ],
)
def test_states_follow_the_log(
    tmp_path: Path, lines: list[str], later: float, expected: str
) -> None:
    write_run(tmp_path, 50, 100.0, *(f"{stamp(100)}  {line}" for line in lines))
    state = Watched(tmp_path).look(BEGIN + 100 + later)
    assert state.state == expected
    assert (state.left is None) == (expected != "running" or "restarted" in str(lines))


def test_a_run_without_a_step_waits(tmp_path: Path, octools: Call) -> None:
    assert Watched(tmp_path).look().state == "silent"
    (tmp_path / "log.txt").write_text("no stamp\n")
    assert Watched(tmp_path).look().state == "waiting"
    shown = octools("watch", tmp_path, "--once")
    assert (shown.returncode, "waiting" in shown.stdout) == (0, True)
    assert octools("watch", tmp_path / "nowhere", "--once").returncode == 2


def test_orders_are_those_that_runs_know(tmp_path: Path) -> None:
    path = control(tmp_path, {"stop": True, "snapshot_interval": 0.5})
    assert path.read_text() == "stop = true\nsnapshot_interval = 0.5\n"
    with pytest.raises(OctoolsError, match="not applied"):
        control(tmp_path, {"dump": True})
    path.unlink()
    bad = ({"stop": False}, {"dump": "yes"}, {"snapshot_interval": -1}, {"x\ny": True})
    for orders in (*bad, {"checkpoint_interval": True}, {"snapshot_interval": json.loads("NaN")}):
        with pytest.raises(OctoolsError, match="not supported in a control file"):
            control(tmp_path, orders)
    assert not path.exists()
    (tmp_path / "run.toml").write_text('[run]\ncontrol_file = "orders.toml"\n')
    assert control(tmp_path, {"dump": True}).name == "orders.toml"


def test_lengths_of_time_have_two_units() -> None:
    told = [in_words(s) for s in (None, 0.25, 59.0, 61.0, 7260.0, 90000.0)]
    assert told == ["-", "0.25 s", "59 s", "1 min 1 s", "2 h 1 min", "1 d 1 h"]


DAMAGED = {
    "nan": ("step,time,a,dt,blocks_0\n0,0,0.1,0.01,8\nnan,nan,nan,nan,nan\n", PARAMETERS, ""),
    "infinite": ("step,time,a,dt\n1e400,inf,-inf,inf\n", PARAMETERS, ""),
    "no columns": ("x\n1\n", PARAMETERS, ""),
    "empty rows": ("step,time\n\n\n", PARAMETERS, ""),
    "a long cell": ("step,time\n0," + 200000 * "1" + "\n", PARAMETERS, ""),
    "types": ("step,time,dt\n0,0,0\n", 'time = 5\nrun = ["x"]\ncosmology = "y"\n', ""),
    "texts": ("step,time,dt\n0,0,0\n", '[time]\nend = "late"\nmax_steps = [1]\n', ""),
    "dates": ("step,time,dt\n0,0,0\n", "[time]\nend = 2024-01-01\nmax_steps = 1e400\n", ""),
    "epochs": (
        "step,time,a,dt\n0,0,0,0\n",
        '[cosmology]\nenabled = true\nstart = "a"\nend = "z = -1"\n',
        "",
    ),
    "epochs of another type": (
        "step,time,a,dt\n0,0,0.5,0\n",
        "[cosmology]\nenabled = true\nstart = 3\n",
        "",
    ),
    "log": ("step,time,dt\n0,0,0\n", PARAMETERS, "2024-99-99 25:61:61.000  info     x\n"),
    "early log": ("step,time,dt\n0,0,0\n", PARAMETERS, "0000-01-01 00:00:00.000  error    x\n"),
}


@pytest.mark.parametrize("fault", DAMAGED)
def test_damaged_files_end_nothing(tmp_path: Path, fault: str) -> None:
    history, parameters, log = DAMAGED[fault]
    (tmp_path / "history.csv").write_text(history)
    (tmp_path / "run.toml").write_text(parameters)
    (tmp_path / "log.txt").write_text(log)
    state = Watched(tmp_path).look()
    json.dumps(asdict(state), allow_nan=False)
    assert 0.0 <= state.share <= 1.0


def test_escapes_of_a_log_do_not_reach_the_terminal(tmp_path: Path, octools: Call) -> None:
    run = tmp_path / "run\x1b]0;owned\x07"
    write_run(run, 3, 10.0, f"{stamp(9)}  warning  \x1b[2J\x9b31mred \u202ereversed")
    shown = octools("watch", run, "--once")
    assert shown.returncode == 0
    assert r"\x1b[2J\x9b31mred \u202ereversed" in shown.stdout
    assert not set("\x1b\x07\x9b\u202e") & set(shown.stdout)


NO_CONTROL_FILES = ("../victim.toml", "/tmp/victim.toml", "run.lock", "history.csv", "run.toml", "")


@pytest.mark.parametrize("name", [*NO_CONTROL_FILES, ".toml", "a\nb.toml"])
def test_orders_stay_in_the_folder(tmp_path: Path, name: str) -> None:
    run = tmp_path / "run"
    run.mkdir()
    (run / "run.toml").write_text(f"[run]\ncontrol_file = {json.dumps(name)}\n")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(OctoolsError, match="not a valid name of a control file"):
        control(run, {"stop": True})
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("link", ["control.toml", ".control.toml.part"])
@pytest.mark.parametrize("leads_somewhere", [True, False])
def test_orders_follow_no_links(tmp_path: Path, link: str, leads_somewhere: bool) -> None:
    run, victim = tmp_path / "run", tmp_path / "victim"
    run.mkdir()
    if leads_somewhere:
        victim.write_text("precious")
    (run / link).symlink_to(victim)
    if link == "control.toml":
        with pytest.raises(OctoolsError, match="not applied"):
            control(run, {"stop": True})
    else:
        assert control(run, {"stop": True}).read_text() == "stop = true\n"
    assert victim.exists() == leads_somewhere
    assert not leads_somewhere or victim.read_text() == "precious"

"""Following runs: their state from what they have written, and orders to them."""

import json
import os
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
    with pytest.raises(OctoolsError, match="not obeyed"):
        control(tmp_path, {"dump": True})
    path.unlink()
    bad = ({"stop": False}, {"dump": "yes"}, {"snapshot_interval": -1}, {"x\ny": True})
    for orders in (*bad, {"checkpoint_interval": True}, {"snapshot_interval": json.loads("NaN")}):
        with pytest.raises(OctoolsError, match="cannot be told"):
            control(tmp_path, orders)
    assert not path.exists()
    (tmp_path / "run.toml").write_text('[run]\ncontrol_file = "orders.toml"\n')
    assert control(tmp_path, {"dump": True}).name == "orders.toml"


def test_lengths_of_time_have_two_units() -> None:
    told = [in_words(s) for s in (None, 0.25, 59.0, 61.0, 7260.0, 90000.0)]
    assert told == ["-", "0.25 s", "59 s", "1 min 1 s", "2 h 1 min", "1 d 1 h"]

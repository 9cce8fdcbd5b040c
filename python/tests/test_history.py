"""Reading and judging the history of a run."""

from pathlib import Path

import numpy as np
import pytest

from octools.errors import OctoolsError
from octools.history import drifts, read_history

HEAD = (
    "step,time,dt,mass,momentum_x,momentum_y,momentum_z,total_energy,absolute_momentum,"
    "blocks_0,blocks_1\n"
)


def test_drifts_are_relative(tmp_path: Path) -> None:
    rows = "0,0.0,0.1,2.0,0.0,0,0,4.0,1.0,64,0\n1,0.1,0.1,2.5,0.2,0,0,3.0,1.6,64,8\n"
    (tmp_path / "history.csv").write_text(HEAD + rows)
    history = read_history(tmp_path)
    found = drifts(history)
    assert found["mass"].tolist() == [0.0, 0.25]
    assert found["total_energy"].tolist() == [0.0, -0.25]
    assert found["momentum_x"] == pytest.approx([0.0, 0.125])
    assert [column.tolist() for column in history.per_level("blocks").values()] == [
        [64, 64],
        [0, 8],
    ]


def test_energy_of_an_expanding_box_is_judged_by_its_own_equation(tmp_path: Path) -> None:
    head = HEAD.replace("\n", ",redshift,econs\n")
    rows = "0,0.0,0.1,2,0,0,0,4.0,1.0,64,0,9,0.0\n1,0.1,0.1,2,0,0,0,-300.0,1.6,64,8,8,0.002\n"
    (tmp_path / "history.csv").write_text(head + rows)
    found = drifts(read_history(tmp_path))
    assert "total_energy" not in found
    assert found["energy (Layzer-Irvine)"].tolist() == [0.0, 0.002]


def test_half_a_row_at_the_end_is_left_out(tmp_path: Path) -> None:
    rows = "0,0.0,0.1,2.0,0.0,0,0,4.0,1.0,64,0\n1,0.1,0."
    (tmp_path / "history.csv").write_text(HEAD + rows)
    assert len(read_history(tmp_path)["time"]) == 1


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(OctoolsError, match="there is no history"):
        read_history(tmp_path)
    (tmp_path / "history.csv").write_text(HEAD)
    with pytest.raises(OctoolsError, match="no rows yet"):
        read_history(tmp_path)
    (tmp_path / "history.csv").write_text("a,b\n1,x\n")
    with pytest.raises(OctoolsError, match="is not a complete history"):
        read_history(tmp_path)


def test_drifts_below_round_off_leave_the_axis_alone(tmp_path: Path) -> None:
    from matplotlib.figure import Figure

    from octools.history import ROUND_OFF, _draw_drifts

    axes = Figure().add_subplot()
    _draw_drifts(axes, np.arange(3.0), {"mass": np.array([0.0, 1e-30, 1e-12])})
    assert axes.get_ylim()[0] == ROUND_OFF
    axes = Figure().add_subplot()
    _draw_drifts(axes, np.arange(3.0), {"mass": np.array([1e-6, 1e-5, 1e-4])})
    assert axes.get_ylim()[0] > 1e-7

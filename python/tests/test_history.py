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
    with pytest.raises(OctoolsError, match=r"the history file .* does not exist"):
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


def test_constant_quantities_are_named_and_their_rounding_errors_are_not_drawn() -> None:
    from matplotlib.figure import Figure

    from octools.constant import name_constants
    from octools.history import _draw_drifts

    time = np.arange(3.0)
    drifts_of, steps, energies = Figure().subplots(3, 1)
    curves = {"mass": np.array([0.0, 1e-16, -2e-16]), "total_energy": np.array([0.0, 1e-6, 2e-6])}
    _draw_drifts(drifts_of, time, curves)
    labels = [text.get_text() for text in drifts_of.get_legend().get_texts()]
    assert labels == ["mass: constant to 2e-16", "total energy"]
    assert [len(line.get_xdata()) for line in drifts_of.get_lines()] == [0, 3]

    steps.plot(time, 0.1 + np.array([0.0, 1e-17, 3e-17]))
    name_constants(steps)
    assert [text.get_text() for text in steps.texts] == ["constant: 0.1"]
    assert np.ptp(steps.get_lines()[0].get_ydata()) == 0.0
    assert steps.get_ylim() == pytest.approx((0.09, 0.11))

    energies.plot(time, [1.0, 2.0, 3.0], label="of u")
    energies.plot(time, [1e-30, 3e-30, 2e-30], label="of v")
    energies.plot(time, [1e-12, 3e-12, 2e-12], label="of w")
    name_constants(energies)
    labels = [line.get_label() for line in energies.get_lines()]
    assert labels == ["of u", "of v: constant, 0", "of w"]
    assert list(energies.texts) == []

"""The books of a run."""

from pathlib import Path

import pytest

from octools.errors import OctoolsError
from octools.history import read_history
from octools.ledger import books, save_books

HEAD = (
    "step,time,dt,mass,momentum_x,momentum_y,momentum_z,total_energy,absolute_momentum,"
    "floored_mass,floored_energy,stars_particles,stars_mass,stars_momentum_x,stars_momentum_y,"
    "stars_momentum_z,cooling_cooled,cooling_uv_heated,supernovae_energy\n"
)
FIRST = "0,0.0,0.1,4.0,1.0,0,0,8.0,1.0,0,0,0,0,0,0,0,1.0,0.5,0.0\n"


def test_what_is_entered_explains_what_changed(tmp_path: Path) -> None:
    rows = "1,0.1,0.1,3.0,0.5,0,0,10.25,1.0,0.5,0,1,1.5,0.5,0,0,2.0,0.75,3.0\n"
    (tmp_path / "history.csv").write_text(HEAD + FIRST + rows)
    history = read_history(tmp_path)
    found = {book.name: book for book in books(history)}
    assert set(found) == {"mass", "momentum_x", "momentum_y", "momentum_z", "total_energy"}
    assert set(found["mass"].entries) == {"floored_mass"}
    assert set(found["total_energy"].entries) == {
        "cooling_cooled",
        "cooling_uv_heated",
        "supernovae_energy",
    }
    assert found["total_energy"].entries["cooling_cooled"].tolist() == [0.0, -1.0]
    for book in found.values():
        assert book.rest == pytest.approx([0.0, 0.0], abs=1e-15), book.name
    save_books([*found.values()], history["time"], "a run", tmp_path / "ledger.png")
    assert (tmp_path / "ledger.png").stat().st_size > 1000


def test_what_is_not_entered_is_left_over(tmp_path: Path) -> None:
    rows = "1,0.1,0.1,4.4,1.0,0.1,0,8.0,1.0,0,0,0,0,0,0,0,1.0,0.5,0.0\n"
    (tmp_path / "history.csv").write_text(HEAD + FIRST + rows)
    found = {book.name: book for book in books(read_history(tmp_path))}
    assert found["mass"].rest[-1] == pytest.approx(0.1)
    assert found["momentum_y"].rest[-1] == pytest.approx(0.1)
    assert found["total_energy"].rest[-1] == 0.0


def test_in_an_expanding_box_econs_is_what_is_left_of_energy(tmp_path: Path) -> None:
    head = HEAD.replace("\n", ",ekin,eint,epot,econs\n")
    first = FIRST.replace("\n", ",3.0,1.0,-4.0,0.0\n")
    row = "1,0.1,0.1,4.0,1.0,0,0,8.0,1.0,0,0,0,0,0,0,0,1.5,0.75,1.0,6.0,2.0,-8.0,0.01\n"
    (tmp_path / "history.csv").write_text(head + first + row)
    book = {book.name: book for book in books(read_history(tmp_path))}["energy"]
    assert book.entries["cooling_cooled"][-1] == -0.5
    assert book.entries["expansion"][-1] == pytest.approx(0.0 - (-0.5 + 0.25 + 1.0) - 0.08)
    assert book.rest[-1] == pytest.approx(0.01)


def test_a_run_without_gas_is_refused(tmp_path: Path) -> None:
    (tmp_path / "history.csv").write_text("step,time\n0,0.0\n")
    with pytest.raises(OctoolsError, match="has no gas"):
        books(read_history(tmp_path))

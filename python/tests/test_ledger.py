"""The budget of a run."""

import re
from pathlib import Path

import numpy as np
import pytest
from conftest import Call
from matplotlib.figure import Figure

from octools.errors import OctoolsError
from octools.history import drifts, read_history
from octools.ledger import ENERGY, MOST_LINES, Book, books, largest_entries, save_books
from octools.time_axis import TimeAxis, time_axis

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
    save_books([*found.values()], time_axis(history), "a run", tmp_path / "ledger.png")
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


def test_a_panel_has_eight_lines_that_can_be_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = {f"account_{n}": np.linspace(0.0, n + 1.0, 5) for n in range(13)}
    book = Book("total_energy", np.sum([*entries.values()], axis=0), entries, 1.0)
    shown = largest_entries(book)
    assert len(shown) == MOST_LINES - 1
    assert list(shown)[:2] == ["account_12", "account_11"]
    assert shown["7 others"][-1] == sum(range(1, 8))
    assert np.sum([*shown.values()], axis=0) == pytest.approx(book.total)
    figures: list[Figure] = []
    monkeypatch.setattr("octools.ledger.save", lambda figure, _: figures.append(figure))
    axis = TimeAxis(np.linspace(0.5, 5.0, 5), "cosmic time [Gyr]", np.linspace(10.0, 1.0, 5))
    save_books([book], axis, "a run", tmp_path / "ledger.png")
    axes = figures[0].get_axes()[0]
    looks = {(line.get_color(), line.get_linestyle()) for line in axes.get_lines()}
    assert len(looks) == len(axes.get_lines()) == MOST_LINES
    assert axes.get_xlabel() == "cosmic time [Gyr]"
    top = axes.child_axes[0]
    assert top.get_xlabel() == "redshift"
    assert [label.get_text() for label in top.get_xticklabels()][:2] == ["1", "2"]


@pytest.mark.parametrize(
    ("parameters", "label"),
    [
        ("", "time"),
        ("[units]\ntime = 3.15576e13\n", "time [Myr]"),
        ("[cosmology]\nenabled = true\nomega_m = 1.0\nomega_lambda = 0.0\nh = 0.7\n",
         "cosmic time [Gyr]"),
    ],
)  # fmt: skip
def test_times_of_plots_are_physical(tmp_path: Path, parameters: str, label: str) -> None:
    (tmp_path / "run.toml").write_text(parameters)
    rows = "step,time,a\n0,0.0,0.25\n1,2.0,1.0\n"
    (tmp_path / "history.csv").write_text(rows)
    axis = time_axis(read_history(tmp_path))
    assert axis.label == label
    if axis.redshift is None:
        assert axis.values == pytest.approx([0.0, 2.0])
    else:
        # Einstein & de Sitter (1932): 2 / (3 H) today, and an eighth of it at z = 3.
        assert axis.values == pytest.approx([9.3109 / 8, 9.3109], rel=1e-3)
        assert axis.redshift.tolist() == [3.0, 0.0]


KILOPARSECS = """
[units]
length = 3.0856775814913673e21
density = 6.767905323e-32
time = 3.15576e13
"""
BOX = """
[cosmology]
enabled = true
omega_m = 0.3
h = 0.7
box = 10.0
"""


def test_budgets_are_in_physical_units_where_the_run_has_them(tmp_path: Path) -> None:
    rows = "1,0.1,0.1,3.0,0.5,0,0,10.25,1.0,0.5,0,1,1.5,0.5,0,0,2.0,0.75,3.0\n"
    (tmp_path / "history.csv").write_text(HEAD + FIRST + rows)
    code = {book.name: book for book in books(read_history(tmp_path))}
    assert {book.unit for book in code.values()} == {"code units"}

    (tmp_path / "run.toml").write_text(KILOPARSECS)
    galaxy = {book.name: book for book in books(read_history(tmp_path))}
    assert [galaxy[name].unit for name in ("mass", "momentum_x", "total_energy")] == [
        "Msun",
        "Msun km/s",
        "erg",
    ]
    assert galaxy["mass"].total == pytest.approx(code["mass"].total, rel=1e-3)
    kms = 977.79  # of 1 kpc / Myr
    assert galaxy["momentum_x"].total == pytest.approx(kms * code["momentum_x"].total, rel=1e-3)
    erg = 1.98841e33 * (1e5 * kms) ** 2
    supernovae = galaxy["total_energy"].entries["supernovae_energy"]
    assert supernovae[-1] == pytest.approx(3.0 * erg, rel=1e-3)
    assert galaxy["mass"].rest == pytest.approx(code["mass"].rest, abs=1e-14)


def test_budgets_of_an_expanding_box_name_the_powers_of_the_scale_factor(tmp_path: Path) -> None:
    head = HEAD.replace("\n", ",a,ekin,eint,epot,econs\n")
    first = FIRST.replace("\n", ",0.1,3.0,1.0,-4.0,0.0\n")
    row = "1,0.1,0.1,4.0,1.0,0,0,8.0,1.0,0,0,0,0,0,0,0,1.5,0.75,1.0,0.2,6.0,2.0,-8.0,0.01\n"
    (tmp_path / "history.csv").write_text(head + first + row)
    (tmp_path / "run.toml").write_text(BOX)
    found = {book.name: book for book in books(read_history(tmp_path))}
    assert found["momentum_x"].unit == "Msun km/s / a"
    assert found["energy"].unit == "erg / a^2"
    mass = 0.3 * 2.77536627e11 * 1000.0 / 0.7  # in the box
    assert found["mass"].total[0] == pytest.approx(4.0 * mass)
    speed = 1000.0  # km/s: H0 times 10 Mpc/h
    assert found["momentum_x"].total[0] == pytest.approx(mass * speed, rel=1e-6)


def test_a_constant_budget_is_said_to_be_constant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    total = 1.0 + np.array([0.0, 1e-16, 3e-16])
    book = Book("mass", total, {"black_holes_radiated": np.array([0.0, 1e-17, 1e-16])}, 1.0)
    figures: list[Figure] = []
    monkeypatch.setattr("octools.ledger.save", lambda figure, _: figures.append(figure))
    save_books([book], TimeAxis(np.arange(3.0), "time"), "a run", tmp_path / "ledger.png")
    axes = figures[0].get_axes()[0]
    assert [text.get_text() for text in axes.texts] == ["constant: 1 code units, to 2e-16"]
    assert all(len(line.get_xdata()) == 0 for line in axes.get_lines())


def write_history(folder: Path, columns: dict[str, list[float]], parameters: str = "") -> None:
    """Write the history of gas at rest with further columns, and the parameters of its run."""
    rows = len(next(iter(columns.values())))
    given = dict.fromkeys(
        ["step", "time", "dt", "mass", *(f"momentum_{a}" for a in "xyz"), "total_energy"],
        [1.0] * rows,
    )
    given |= {"absolute_momentum": [1.0] * rows} | columns
    lines = [
        ",".join(given),
        *(",".join(map(str, row)) for row in zip(*given.values(), strict=True)),
    ]
    (folder / "history.csv").write_text("\n".join(lines) + "\n")
    (folder / "run.toml").write_text(parameters)


SOURCES = Path(__file__).resolve().parents[2] / "src/subgrid"


def test_every_account_of_added_energy_is_an_entry() -> None:
    """Compare the entries with what the processes of the program count as added energy."""
    if not SOURCES.is_dir():
        pytest.skip("the sources of the program are not beside the tests")
    found = {}
    for path in SOURCES.rglob("*.cpp"):
        text = path.read_text()
        name = re.search(r'const char\* name\(\) const override \{ return "(\w+)"', text)
        body = re.search(r"double added_energy\([^{]*\{(.*?)\}", text, re.DOTALL)
        if name and body:
            for sign, account in re.findall(r'([+-]?)\s*ledger\.total\("(\w+)"\)', body[1]):
                found[f"{name[1]}_{account}"] = -1.0 if sign == "-" else 1.0
    assert len(found) > 15
    assert {name: ENERGY.get(name) for name in found} == found


def test_energy_from_photons_is_no_drift(tmp_path: Path) -> None:
    columns = {
        "total_energy": [2.0, 2.0 + 0.7 - 0.3 + 0.01],
        "ionization_heated": [0.1, 0.8],
        "ionization_radiated": [0.0, 0.3],
        "ionization_work": [0.0, 0.01],
    }
    write_history(tmp_path, columns)
    history = read_history(tmp_path)
    assert drifts(history)["total_energy"] == pytest.approx([0.0, 0.0], abs=1e-15)
    book = {book.name: book for book in books(history)}["total_energy"]
    assert set(book.entries) == {"ionization_heated", "ionization_radiated", "ionization_work"}


@pytest.mark.parametrize("ratio", [1.0, 0.1])
def test_grey_radiation_takes_what_the_gas_gains(tmp_path: Path, ratio: float) -> None:
    columns = {
        "total_energy": [2.0, 2.0 + 0.25 / ratio],
        "radiation_energy": [3.0, 1.75],
        "outflow_radiation": [0.5, 1.5],
    }
    write_history(tmp_path, columns, f"[radiation]\nenabled = true\nspeed_ratio = {ratio}\n")
    history = read_history(tmp_path)
    assert drifts(history)["total_energy"] == pytest.approx([0.0, 0.0], abs=1e-15)
    book = {book.name: book for book in books(history)}["total_energy"]
    assert book.entries["radiation"].tolist() == [0.0, pytest.approx(0.25 / ratio)]


def test_momentum_of_sources_and_of_radiation_is_accounted_for(tmp_path: Path) -> None:
    columns = {
        "momentum_x": [0.0, 0.3],
        "sources_momentum_x": [0.0, 0.3],
        "momentum_y": [0.0, 0.2],
        "radiation_energy": [1.0, 1.0],
        "radiation_momentum_x": [0.0, 0.0],
        "radiation_momentum_y": [0.5, 0.3],
        "radiation_momentum_z": [0.0, 0.1],
    }
    write_history(tmp_path, columns)
    found = drifts(read_history(tmp_path))
    assert found["momentum_x"][-1] == found["momentum_y"][-1] == 0.0
    assert found["momentum_z"][-1] == pytest.approx(0.1)
    # The history has no column for the momentum of radiation that leaves through boundaries.
    write_history(tmp_path, columns | {"outflow_radiation": [0.0, 0.0]})
    found = {book.name: book for book in books(read_history(tmp_path))}
    assert set(found["momentum_y"].entries) == set()


@pytest.mark.parametrize(
    ("account", "sign"),
    [("heating_energy", 1), ("floored_energy", 1), ("outflow_energy", -1), ("sources_heat", 1),
     ("turbulence_energy", 1), ("cooling_cooled", -1), ("exchanged_energy", 1)],
)  # fmt: skip
def test_history_lists_accounts_and_draws_what_they_leave(
    tmp_path: Path, octools: Call, account: str, sign: int
) -> None:
    write_history(tmp_path, {"total_energy": [2.0, 2.5], account: [1.0, 1.0 + sign * 0.5]})
    result = octools("history", tmp_path)
    assert result.returncode == 0
    assert "drift of total energy:            +0.000e+00 at the end" in result.stdout
    assert f"accounted for in the total energy: {account.replace('_', ' ')}" in result.stdout

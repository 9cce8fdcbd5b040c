"""Budgets of a run: changes of conserved quantities by process, and the unexplained rest."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from octools.ages import HUBBLE_TIME
from octools.errors import OctoolsError
from octools.figure import INK, SERIES, STYLE, save
from octools.history import CONSERVED, History
from octools.linear import CRITICAL_DENSITY
from octools.snapshot import Array
from octools.time_axis import TimeAxis, draw_redshifts, run_parameters
from octools.units import PARSEC, SOLAR_MASS

# By account of history.csv: whether it adds energy or takes it away.
ENERGY = {
    "heating_energy": 1.0,
    "sources_work": 1.0,
    "sources_heat": 1.0,
    "turbulence_energy": 1.0,
    "braking_energy": 1.0,
    "cooling_cooled": -1.0,
    "cooling_uv_heated": 1.0,
    "cooling_floor_energy": 1.0,
    "cooling_capped": -1.0,
    "stars_formed_thermal": -1.0,
    "supernovae_energy": 1.0,
    "supernovae_floor_energy": 1.0,
    "black_holes_accreted_energy": -1.0,
    "black_holes_merger_kinetic": -1.0,
    "black_holes_injected": 1.0,
    "black_holes_floor_energy": 1.0,
    "ionization_heated": 1.0,
    "ionization_radiated": -1.0,
    "ionization_work": 1.0,
    "ionization_floored": 1.0,
    "source_energy": 1.0,
    "floored_energy": 1.0,
    "exchanged_energy": 1.0,
    "outflow_energy": -1.0,
    "outflow_potential": -1.0,
}
MASS = {"floored_mass": 1.0, "outflow_mass": -1.0, "black_holes_radiated": -1.0}
# By kind of particles: what those that left the domain took with them.
PARTICLE_ENERGY = ("outflow_kinetic", "outflow_potential")


@dataclass(frozen=True)
class Book:
    """Budget of a quantity that is conserved except for recorded changes.

    Attributes
    ----------
    name
        Name of the quantity.
    total
        Total of gas and particles, shape (rows,).
    entries
        Change since the first row by process, each of shape (rows,).
    scale
        Reference of the residual: the initial total, or the largest entry.
    unit
        Unit of `total`, `entries` and `scale`.
    """

    name: str
    total: Array
    entries: dict[str, Array]
    scale: float
    unit: str = "code units"

    @property
    def rest(self) -> Array:
        """Residual: change of the total minus all entries, relative to `scale`, shape (rows,)."""
        entered = sum(self.entries.values(), np.zeros_like(self.total))
        return (self.total - self.total[0] - entered) / self.scale


def books(history: History) -> list[Book]:
    """Return the budgets of mass, momentum and energy, in physical units if the run has them."""
    return [_in_units(book, *unit_of(book.name, history)) for book in books_in_code_units(history)]


def unit_of(name: str, history: History) -> tuple[str, float]:
    """Choose the unit of a budget, and how many of it a unit of the code is.

    Code units of an expanding box are supercomoving: momenta times the scale factor a and energies
    times its square are those of its units at a = 1.
    """
    quantity = name.removeprefix("total_").split("_")[0]
    units = _code_units(history)
    if units is None:
        return "code units", 1.0
    length, mass, time = units
    a, a2 = (" / a", " / a^2") if "a" in history.columns and _expands(history) else ("", "")
    speed = length / time
    galactic = mass * float(np.abs(history["mass"]).max()) > 1e-6 * SOLAR_MASS
    if quantity == "energy":
        return f"erg{a2}", mass * speed**2
    if not galactic:
        return ("g", mass) if quantity == "mass" else (f"g cm/s{a}", mass * speed)
    if quantity == "mass":
        return "Msun", mass / SOLAR_MASS
    return f"Msun km/s{a}", mass / SOLAR_MASS * speed / 1e5


def _expands(history: History) -> bool:
    return bool(run_parameters(history).parameter("cosmology.enabled", False))


def _code_units(history: History) -> tuple[float, float, float] | None:
    """Find length, mass and time in cgs, at a = 1 in an expanding box; None without units."""
    parameters = run_parameters(history)
    if _expands(history):
        h = float(parameters.parameter("cosmology.h"))
        box = float(parameters.parameter("cosmology.box"))  # Mpc/h
        omega_m = float(parameters.parameter("cosmology.omega_m"))
        mass = CRITICAL_DENSITY * omega_m * box**3 / h * SOLAR_MASS
        return 1e6 * PARSEC * box / h, mass, HUBBLE_TIME / h
    length, density, time = (
        float(parameters.parameter(f"units.{name}", 1.0)) for name in ("length", "density", "time")
    )
    if length == density == time == 1.0:
        return None
    return length, density * length**3, time


def _in_units(book: Book, unit: str, size: float) -> Book:
    entries = {name: size * values for name, values in book.entries.items()}
    return Book(book.name, size * book.total, entries, size * book.scale, unit)


def books_in_code_units(history: History, with_energy: bool = True) -> list[Book]:
    """Return the budgets of mass, momentum and, `with_energy`, of energy in code units.

    Raises
    ------
    OctoolsError
        If the run has no gas.
    """
    if "mass" not in history.columns:
        raise OctoolsError(f"{history.path} has no gas, which the budgets require")
    kinds = _kinds(history)
    mass = MASS | {f"{kind}_outflow_mass": -1.0 for kind in kinds}
    found = [_book(history, "mass", _with_particles(history, "mass"), mass)]
    scale = float(history["absolute_momentum"].max())
    for axis in "xyz":
        total = _with_particles(history, f"momentum_{axis}")
        columns = [f"outflow_momentum_{axis}"]
        columns += [f"{kind}_outflow_momentum_{axis}" for kind in kinds]
        accounts = dict.fromkeys(columns, -1.0) | {
            f"sources_momentum_{axis}": 1.0,
            f"braking_momentum_{axis}": 1.0,
        }
        entries = _entries(history, accounts) | _momentum_of_radiation(history, axis)
        largest = max(float(np.abs(values).max()) for values in (total, *entries.values()))
        found.append(Book(f"momentum_{axis}", total, entries, max(scale, largest)))
    if with_energy:
        expands = "econs" in history.columns
        found.append((_energy_of_expanding_space if expands else _energy)(history))
    return [book for book in found if book.scale > 0.0]


def _energy(history: History) -> Book:
    energy = ENERGY | {f"{k}_{what}": -1.0 for k in _kinds(history) for what in PARTICLE_ENERGY}
    energy["energy_resolution"] = 1.0
    total = history["total_energy"]
    return _book(history, "total_energy", total, energy, _heat_of_radiation(history))


def _heat_of_radiation(history: History) -> dict[str, Array]:
    """Return the energy that gas has gained from grey radiation, as an entry.

    The sum of the energy of the gas and c / c' times that of radiation in the domain and beyond its
    boundaries is conserved; c' is the reduced speed of light.
    """
    if "radiation_energy" not in history.columns:
        return {}
    radiation = history["radiation_energy"]
    if "outflow_radiation" in history.columns:
        radiation = radiation + history["outflow_radiation"]
    ratio = float(run_parameters(history).parameter("radiation.speed_ratio", 1.0))
    return _if_changed("radiation", (radiation[0] - radiation) / ratio)


def _momentum_of_radiation(history: History, axis: str) -> dict[str, Array]:
    """Return the momentum that gas has gained from grey radiation in a periodic domain."""
    name = f"radiation_momentum_{axis}"
    if name not in history.columns or "outflow_radiation" in history.columns:
        return {}
    return _if_changed("radiation", history[name][0] - history[name])


def _if_changed(name: str, change: Array) -> dict[str, Array]:
    return {name: change} if np.any(change != 0.0) else {}


def _energy_of_expanding_space(history: History) -> Book:
    """Open the book of energy in supercomoving units: what ``econs`` does not call an error.

    What expansion has done is what is left of the change; the scale is the present potential.
    """
    total = history["ekin"] + history["eint"] + history["epot"]
    accounts = {name: sign for name, sign in ENERGY.items() if name != "floored_energy"}
    accounts |= {"energy_resolution": 1.0, "energy_spared": 1.0}
    book = _book(history, "energy", total, accounts)
    error = history["econs"] * np.abs(history["epot"])
    entered = sum(book.entries.values(), np.zeros_like(total))
    work = total - total[0] - entered - error
    scale = float(np.abs(history["epot"]).max())
    return Book("energy", total, {"expansion": work, **book.entries}, scale)


def _with_particles(history: History, name: str) -> Array:
    """Add what all kinds of particles have to what the gas has."""
    columns = [f"{kind}_{name}" for kind in _kinds(history)]
    columns = [column for column in columns if column in history.columns]
    return history[name] + sum(history[column] for column in columns)


def _kinds(history: History) -> list[str]:
    return [n.removesuffix("_particles") for n in history.columns if n.endswith("_particles")]


def _entries(history: History, accounts: dict[str, float]) -> dict[str, Array]:
    return {
        account: sign * (history[account] - history[account][0])
        for account, sign in accounts.items()
        if account in history.columns and np.any(history[account] != history[account][0])
    }


def _book(
    history: History,
    name: str,
    total: Array,
    accounts: dict[str, float],
    others: dict[str, Array] | None = None,
) -> Book:
    """Return a budget with the entries of accounts, by sign, and `others`."""
    entries = _entries(history, accounts) | (others or {})
    largest = max((float(np.abs(entry).max()) for entry in entries.values()), default=0.0)
    return Book(name, total, entries, max(abs(float(total[0])), largest))


MOST_LINES = 8  # of a panel, with the change and the sum of what is not drawn by itself
STYLES = ("-", "--")


def largest_change(book: Book) -> float:
    """Return the largest change of the total or of an entry, relative to the scale."""
    changes = (book.total - book.total[0], *book.entries.values())
    return max(float(np.abs(change).max()) for change in changes) / book.scale


def largest_entries(book: Book) -> dict[str, Array]:
    """Choose the entries that a panel shows: the largest, and the sum of all others as one."""
    ranked = sorted(book.entries, key=lambda name: -float(np.abs(book.entries[name]).max()))
    if len(ranked) <= MOST_LINES - 1:
        return {name: book.entries[name] for name in ranked}
    shown, others = ranked[: MOST_LINES - 2], ranked[MOST_LINES - 2 :]
    rest = np.sum([book.entries[name] for name in others], axis=0)
    return {**{name: book.entries[name] for name in shown}, f"{len(others)} others": rest}


def save_books(found: list[Book], axis: TimeAxis, title: str, path: Path) -> None:
    """Draw the largest entries of every book that has some against time.

    Parameters
    ----------
    found
        The books.
    axis
        Times of the rows.
    title
        Title of the picture.
    path
        The file to write.
    """
    drawn = [book for book in found if book.entries] or found[:1]
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(8.4, 3.0 * len(drawn) + 1.2), layout="constrained")
        rows = np.atleast_1d(figure.subplots(len(drawn), 1, sharex=True))
        for axes, book in zip(rows, drawn, strict=True):
            change = book.total - book.total[0]
            axes.plot(axis.values, change, color=INK, lw=2.0, label="change of the total")
            for n, (account, entry) in enumerate(largest_entries(book).items()):
                colour, style = SERIES[n % len(SERIES)], STYLES[n // len(SERIES) % len(STYLES)]
                label = account.replace("_", " ")
                axes.plot(axis.values, entry, color=colour, ls=style, lw=1.4, label=label)
            axes.set_ylabel(f"{book.name.replace('_', ' ')} [{book.unit}]")
            if largest_change(book) <= CONSERVED:
                for line in axes.get_lines():
                    line.set_data([], [])
                change = largest_change(book)
                said = f"constant: {book.total[0]:.4g} {book.unit}, to {change:.1g}"
                axes.text(0.5, 0.5, said, transform=axes.transAxes, ha="center", fontsize=9)
                axes.set_yticks([])
            axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8.5)
            axes.spines[["top", "right"]].set_visible(False)
            axes.margins(x=0.01)
        rows[-1].set_xlabel(axis.label)
        if axis.redshift is not None:
            draw_redshifts(rows[0], axis.values, axis.redshift)
        rows[0].set_title(title, loc="left")
        save(figure, path)

"""Commands for cosmology: initial conditions and halos."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from octools.options import Number, Output, Target, console
from octools.run import output_path, resolve

if TYPE_CHECKING:
    from octools.halos import Halos, Shown
    from octools.ics import GraficLevel, Universe
    from octools.linear import LinearTheory, Spectrum


def ics_command(
    target: Annotated[
        Path, typer.Argument(help="A directory of grafic files, a snapshot, or a run directory.")
    ],
    omega_b: Annotated[
        float, typer.Option(min=0.0, help="Baryon density parameter, for linear theory.")
    ] = 0.047,
    sigma_8: Annotated[
        float, typer.Option(min=0.0, help="Normalization of the linear power spectrum today.")
    ] = 0.81,
    spectral_index: Annotated[
        float, typer.Option(help="Spectral index of the primordial spectrum.")
    ] = 0.967,
    w0: Annotated[
        float, typer.Option(help="Equation-of-state parameter of dark energy today.")
    ] = -1.0,
    wa: Annotated[
        float, typer.Option(help="Evolution of the equation of state: w = w0 + wa (1 - a).")
    ] = 0.0,
    omega_radiation: Annotated[
        float, typer.Option(min=0.0, help="Radiation density parameter today, for linear theory.")
    ] = 0.0,
    snapshot: Annotated[
        int, typer.Option("--snapshot", help="Number of the snapshot of a run.")
    ] = 0,
    output: Output = None,
) -> None:
    """Summarise initial conditions, and compare their power spectrum with linear theory.

    Of a snapshot, the gas on the base grid is measured; what the run's parameters say of omega_b,
    sigma_8, the spectral index, dark energy and radiation goes before these options.
    """
    from octools import ics
    from octools.linear import other_energies, power_spectrum
    from octools.snapshot import Snapshot

    given = {"omega_b": omega_b, "sigma_8": sigma_8, "spectral_index": spectral_index}
    given |= {"w0": w0, "wa": wa, "omega_radiation": omega_radiation}
    if ics.is_grafic(target):
        levels = ics.read_levels(target)
        universe = levels[0].universe
        theory = _linear_theory(universe, given)
        what, delta = ics.overdensity(levels[0], theory)
        for level in levels:
            console.print(_level_table(level))
            if level.others:
                names = ", ".join(f"ic_{name}" for name in level.others)
                console.print(
                    f"{level.folder}: ignored {names}, which are not fields of initial conditions"
                )
    else:
        path = resolve(target, snapshot if target.is_dir() else None)
        with Snapshot(path) as data:
            universe, delta = ics.base_overdensity(data)
            stored = {
                "omega_b": data.header.parameter("cosmology.omega_b"),
                "sigma_8": data.header.parameter("initial.sigma_8"),
                "spectral_index": data.header.parameter("initial.spectral_index"),
                **other_energies(data.header),
            }
        given |= {name: value for name, value in stored.items() if value is not None}
        theory, what = _linear_theory(universe, given), "gas"
    title = f"{what}, {delta.shape[0]}³ in {universe.box:.6g} Mpc/h, z = {universe.redshift:.4g}"
    spectrum = power_spectrum(delta, universe.box, theory, universe.scale_factor)
    destination = output or output_path(target, "ics.png")
    ics.save_spectrum(spectrum, title, destination)
    console.print(f"{title}; standard deviation {delta.std():.5g}")
    console.print(_spectrum_table(spectrum))
    console.print(f"wrote {destination}")


def _linear_theory(universe: "Universe", given: dict[str, float]) -> "LinearTheory":
    from octools.linear import LinearTheory

    return LinearTheory(universe.omega_m, universe.omega_lambda, h=universe.h, **given)


def _level_table(level: "GraficLevel") -> Table:
    from octools import ics

    universe = level.universe
    cells = " x ".join(map(str, level.cells))
    where = ", ".join(map(str, level.origin))
    table = Table(
        title=f"level {level.number}: {cells} cells of {universe.box / 2**level.number:.6g} Mpc/h "
        f"starting at cell ({where}); a = {universe.scale_factor:.7g}, omega_m = "
        f"{universe.omega_m:.6g}, omega_lambda = {universe.omega_lambda:.6g}, h = "
        f"{universe.h:.6g}",
        title_justify="left",
        title_style="",
        box=None,
        pad_edge=False,
    )
    table.add_column("field")
    for column in ("mean", "standard deviation", "least", "greatest"):
        table.add_column(column, justify="right")
    for name, *numbers in ics.moments(level):
        table.add_row(name, *(f"{number:.5g}" for number in numbers))
    return table


def _spectrum_table(spectrum: "Spectrum") -> Table:
    table = Table(box=None, pad_edge=False)
    for column in ("k [h/Mpc]", "P [(Mpc/h)^3]", "linear", "ratio", "modes"):
        table.add_column(column, justify="right")
    rows = (spectrum.k, spectrum.power, spectrum.expected, spectrum.modes)
    for k, power, expected, modes in zip(*rows, strict=True):
        ratio = f"{power / expected:.3f}"
        table.add_row(f"{k:.4f}", f"{power:.4g}", f"{expected:.4g}", ratio, f"{modes:.0f}")
    return table


def halos(
    target: Target,
    linking: Annotated[
        float, typer.Option(min=0.0, help="Linking length, in mean separations of particles.")
    ] = 0.2,
    least: Annotated[int, typer.Option(min=2, help="Minimum number of particles per halo.")] = 20,
    kind: Annotated[str, typer.Option(help="Particle kind.")] = "dark",
    picture: Annotated[
        bool, typer.Option(help="Plot of the halos and their mass function.")
    ] = True,
    snapshot: Number = None,
    output: Output = None,
) -> None:
    """Find halos of particles by friends of friends and write a catalogue."""
    from octools.halos import (
        find_halos,
        read_particles,
        save_picture,
        shown_units,
        write_catalogue,
        write_catalogue_hdf5,
    )
    from octools.snapshot import Snapshot

    path = resolve(target, snapshot)
    with Snapshot(path) as data:
        particles, header, units = read_particles(data, kind), data.header, data.length_units
    found = find_halos(particles, linking, least)
    destination = output or output_path(target, f"{path.stem}_halos.csv")
    write_catalogue(found, destination)
    write_catalogue_hdf5(found, header, destination.with_suffix(".h5"))
    shown = shown_units(header, kind, units)
    unit = f" {shown.length_units}" if shown.length_units else ""
    console.print(
        f"{len(found.mass) or 'no'} halos of {least} particles or more; "
        f"linking length {found.linking_length * shown.length:.6g}{unit}"
    )
    if len(found.mass):
        console.print(_halo_table(found, shown))
        if header.expands:
            console.print("masses include all matter; lengths are comoving, velocities peculiar")
        elif not shown.mass_units:
            console.print("in code units")
    if picture:
        save_picture(particles, found, shown, header.when, destination.with_suffix(".png"))
    written = [".h5", ".png"] if picture else [".h5"]
    others = [destination.with_suffix(suffix).name for suffix in written]
    console.print(f"wrote {destination}, {' and '.join(others)}")


def _halo_table(halos: "Halos", shown: "Shown", rows: int = 10) -> Table:
    """List the heaviest halos, with units in the head of each column unless they are the code's."""
    length = shown.length_units.removeprefix("comoving ") if shown.mass_units else ""

    def head(name: str, unit: str) -> str:
        return f"{name} [{unit}]" if unit else name

    table = Table(box=None, pad_edge=False)
    columns = ["particles", head("mass", shown.mass_units), *(head(axis, length) for axis in "xyz")]
    for column in (*columns, head("radius", length), head("dispersion", shown.velocity_units)):
        table.add_column(column, justify="right")
    for n in range(min(rows, len(halos.mass))):
        numbers = (
            halos.mass[n] * shown.mass,
            *(halos.centre[n] * shown.length),
            halos.radius[n] * shown.length,
            halos.dispersion[n] * shown.velocity,
        )
        table.add_row(str(halos.number[n]), *(f"{number:.5g}" for number in numbers))
    return table

"""Octo-Tiger's .ini files: its shock tube (problem = sod), blast wave, and rotating star."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from octools.equation_of_state import DENSITY_CGS, PRESSURE_CGS
from octools.inputs import octotiger_radiation
from octools.inputs.conversion import Conversion, read_blocks
from octools.inputs.octotiger_radiation import is_on
from octools.snapshot import AXES

SUB_GRID = 8  # cells along an edge of Octo-Tiger's sub-grids, of which the root is one
# The star of Octo-Tiger's rotating_star.bin, with G = 1 and a density of 1 at its centre.
STAR = {"mass": 0.24511, "radius": 0.905, "axis_ratio": 0.6685, "polytropic_index": 1.5}
STAR_TURNS = 0.51555
DEFAULTS = {
    "problem": "none",
    "xscale": 1.0,
    "min_level": 1,
    "max_level": 1,
    "cfl": 0.4,
    "odt": 0.01,
    "eblast0": 1.0,
    "sod_rhol": 1.0,
    "sod_rhor": 0.125,
    "sod_pl": 1.0,
    "sod_pr": 0.1,
    "sod_theta": 0.0,
    "sod_phi": 90.0,
    "sod_gamma": 1.4,
    "gravity": "on",
    "hydro": "on",
    "radiation": "off",
    "reflect_bc": "off",
    "cdisc_detect": "on",
    "inflow_bc": "off",
    "unigrid": "off",
    "rotating_star_x": 0.0,
    "refinement_floor": 1e-3,
    **octotiger_radiation.DEFAULTS,
}


def convert(path: Path) -> Conversion:
    """Convert an .ini file of Octo-Tiger to parameters of Octant."""
    source = Conversion(path, read_blocks(path, "Octo-Tiger", header="options"), DEFAULTS)
    problem = str(source.get("problem")).lower()
    problems = {"sod": _sod, "blast": _blast, "rotating_star": _star}
    if problem not in problems:
        known = ", ".join(problems)
        raise source.refuse(f"problem = {problem} has no counterpart; supported: {known}")
    radiates = _is_on(source, "radiation")
    if not radiates and not _is_on(source, "hydro"):
        raise source.refuse("hydro = off has no counterpart without radiation = on")
    source.put("model", "amr")
    with source.naming_settings():
        problems[problem](source)
        source.carried("problem", now="problem.name")
        if radiates:
            octotiger_radiation.convert(source, problem)
        source.carried("hydro", "radiation", now="gas only")
        _mesh(source)
        if problem == "rotating_star":
            _mesh_of_star(source)
        _hydro(source)
        _equation_of_state(source)
        _time(source)
    return source


def _is_on(source: Conversion, name: str) -> bool:
    return is_on(source.get(name))


def _sod(source: Conversion) -> None:
    states = {
        side: [float(source.get(f"sod_rho{side}")), float(source.get(f"sod_p{side}"))]
        for side in "lr"
    }
    theta, phi = (np.deg2rad(float(source.get(f"sod_{angle}"))) for angle in ("theta", "phi"))
    normal = [np.cos(theta) * np.sin(phi), np.sin(theta) * np.sin(phi), np.cos(phi)]
    along = [a for a in range(3) if np.isclose(normal[a], 1.0)]
    if along and not _is_on(source, "radiation"):
        source.put("problem.name", "riemann")
        source.put("problem.axis", AXES[along[0]])
        source.put("problem.position", 0.0)
        for name, (density, pressure) in zip(("left", "right"), states.values(), strict=True):
            source.put(f"problem.{name}", [density, 0.0, pressure], "density, velocity, pressure")
    else:
        parts = [f"{n:.17g}*{a}" for n, a in zip(normal, AXES, strict=True) if abs(n) > 1e-15]
        source.put("problem.name", "expression")
        for n, name in enumerate(("density", "pressure")):
            source.put(f"problem.{name}", f"left ? {states['l'][n]!r} : {states['r'][n]!r}")
        source.put("problem.terms.left", f"{' + '.join(parts)} < 0")
    source.put("hydro.gamma", float(source.get("sod_gamma")))
    names = [f"sod_{name}" for name in ("rhol", "rhor", "pl", "pr", "theta", "phi")]
    source.carried(*names, now="problem.*")
    source.carried("sod_gamma", now="hydro.gamma")


def _blast(source: Conversion) -> None:
    source.put("problem.name", "sedov")
    energy = float(source.get("eblast0"))
    source.put(
        "problem.energy", energy, "eblast0, in all finest cells within a radius of 3.5 cells"
    )
    source.put("problem.radius_cells", 3.5)
    source.put("problem.density", 1.0)
    source.put("problem.ambient_pressure", 1e-10, "Octo-Tiger: 4e-21")
    source.put("problem.centre", [0.0] * 3)
    source.put("hydro.gamma", 1.4)
    source.carried("eblast0", now="problem.energy")


def _star(source: Conversion) -> None:
    """Recompute the star of the shipped file in the frame that rotates with it."""
    source.put("problem.name", "rotating_star")
    for name, value in STAR.items():
        source.put(f"problem.{name}", value)
    source.put("problem.centre", [float(source.get("rotating_star_x")), 0.0, 0.0])
    source.put("hydro.gamma", 5 / 3)
    source.put("frame.angular_velocity", STAR_TURNS)
    source.changed("input_file", now="problem.*: the star of rotating_star.bin, computed again")
    source.carried("rotating_star_x", now="problem.centre")
    source.lost("rotating_star_amr", why="refinement: [refine]")
    source.lost("n_species", why="the star consists of one species; hydro.scalars adds more")


def _mesh_of_star(source: Conversion) -> None:
    """Refine above densities that fall by 8 with each level down from the finest."""
    levels = source.tables["mesh"]["max_level"][0]
    floor = float(source.get("refinement_floor"))
    del source.tables["refine"]
    source.put("refine.density", [floor / 8.0 ** (levels - 1 - n) for n in range(levels)])
    source.carried("refinement_floor", now="refine.density")


def _mesh(source: Conversion) -> None:
    half = float(source.get("xscale"))
    finest = int(source.get("max_level"))
    coarsest = finest if _is_on(source, "unigrid") else min(int(source.get("min_level")), finest)
    source.put("mesh.base_cells", [SUB_GRID << coarsest] * 3, f"sub-grids of level {coarsest}")
    source.put("mesh.block_size", SUB_GRID)
    source.put("mesh.max_level", finest - coarsest)
    source.put("mesh.lower", [-half] * 3, "xscale")
    source.put("mesh.upper", [half] * 3)
    outer = "open" if _is_on(source, "inflow_bc") else "diode"
    side = "reflecting" if _is_on(source, "reflect_bc") else outer
    for axis in AXES:
        source.put(f"mesh.boundary_{axis}", [side] * 2)
    source.put("refine.gradient_fields", ["density", "pressure"])
    source.put("refine.gradient", [0.05, 0.05], "changes of about 10 % between cells")
    source.carried("xscale", now="mesh.lower, mesh.upper")
    source.changed("min_level", "unigrid", now="mesh.base_cells: the coarsest resolution")
    source.changed("max_level", now="mesh.max_level, counted from the base grid")
    source.carried("reflect_bc", now="mesh.boundary_*")
    source.changed("inflow_bc", now="mesh.boundary_*: off is diode, on is open")


def _hydro(source: Conversion) -> None:
    source.put("hydro.scheme", "rk3")
    if source.get("problem") == "rotating_star":
        source.put("hydro.reconstruction", "ppm26")
    else:
        source.put("hydro.reconstruction", "ppm")
        source.put(
            "hydro.riemann", "hll", "Octo-Tiger: central fluxes with the same two signal speeds"
        )
    if float(source.get("rho_floor", 0.0)) > 0:
        source.put("hydro.density_floor", float(source.get("rho_floor")))
        source.carried("rho_floor", now="hydro.density_floor")
    source.put("gravity.enabled", _is_on(source, "gravity"))
    source.carried("gravity", now="gravity.enabled")
    if _is_on(source, "gravity"):
        source.put("gravity.solver", "fmm")
        if _is_on(source, "reflect_bc"):
            source.put("gravity.beyond_walls", "vacuum", "Octo-Tiger: gravity has no walls")
        source.put("gravity.theta", min(0.5, max(0.34, float(source.get("theta", 0.5)))))
        source.carried("theta", now="gravity.theta")
        if str(source.get("correct_am_grav", "on")).lower() in ("on", "true", "1"):
            source.carried("correct_am_grav", now="corrected moments with gravity.solver = fmm")
    source.lost("theta", why="there is no gravity")
    source.lost("correct_am_hydro", "correct_am_grav", why="angular momentum is not corrected")
    source.put("hydro.contact_steepening", _is_on(source, "cdisc_detect"))
    source.changed("cdisc_detect", now="hydro.contact_steepening: density only, not species")
    switches: tuple[Any, ...] = ("dual_energy_sw1", "dual_energy_sw2")
    source.lost(
        *switches, why="dual energy is switched off; hydro.dual_energy uses a different criterion"
    )


def _equation_of_state(source: Conversion) -> None:
    """Write the equation of state of white dwarfs, with its constants in code units of the file.

    Pressure and density scale as in Marcello et al. (2021, MNRAS 504, 5345), with two nucleons per
    electron.
    """
    kind = str(source.get("eos", "ideal")).lower()
    if kind == "ideal":
        source.carried("eos", now="hydro.equation_of_state")
        return
    if kind != "wd":
        raise source.refuse(f"eos = {kind} has no counterpart; supported: ideal, wd")
    if source.get("problem") == "rotating_star" or _is_on(source, "radiation"):
        raise source.refuse("eos = wd is not supported with rotating_star or radiation = on")
    centimetre, gram, second = (
        float(source.get(f"code_to_{unit}", 1.0)) for unit in ("cm", "g", "s")
    )
    if not min(centimetre, gram, second) > 0.0:
        raise source.refuse("code_to_cm, code_to_g and code_to_s must be above 0")
    source.put("hydro.equation_of_state", "white_dwarf")
    pressure = PRESSURE_CGS / (gram / (centimetre * second**2))
    source.put("hydro.degeneracy_pressure", pressure, "6.0023e22 erg/cm^3")
    density = 2.0 * DENSITY_CGS / (gram / centimetre**3)
    source.put(
        "hydro.degeneracy_density", density, "9.81011e5 g/cm^3 times 2 nucleons per electron"
    )
    source.put("hydro.dual_energy", "on", "for cold matter")
    source.put("hydro.contact_steepening", False, "not available for white dwarfs")
    source.carried("eos", now="hydro.equation_of_state")
    units = ("code_to_cm", "code_to_g", "code_to_s")
    source.carried(*units, now="hydro.degeneracy_pressure, hydro.degeneracy_density")


def _time(source: Conversion) -> None:
    if "stop_time" not in source.settings and "stop_step" not in source.settings:
        raise source.refuse("neither stop_time nor stop_step is set")
    source.put("time.end", float(source.get("stop_time", 1e9)))
    if "stop_step" in source.settings:
        source.put("time.max_steps", int(source.get("stop_step")))
    source.carried("stop_time", "stop_step", now="time.end, time.max_steps")
    source.put("time.cfl", min(1.0, 3 * float(source.get("cfl"))), "fraction of a sum over axes")
    source.put("time.subcycle", False, "as all levels take the same step")
    source.changed("cfl", now="time.cfl: multiplied by 3, because speeds are summed over the axes")
    source.put("output.snapshot_interval", float(source.get("odt")))
    source.carried("odt", now="output.snapshot_interval")
    longest = float(source.get("hard_dt", -1.0))
    if longest > 0:
        source.put("time.largest_step", longest)
    source.changed("hard_dt", now="time.largest_step, unless time.cfl requires a smaller step")

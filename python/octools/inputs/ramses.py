"""RAMSES namelists: regions of gas, a blast wave in uniform gas, cosmology from grafic files.

The table of rules (`ramses_table`) names the counterpart of every setting, and converts those that
stand for themselves. The functions here convert those that depend on each other: the mesh, the
boundaries, the solvers, the output times, and the refinement criteria.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from octools.inputs import ramses_conditions, ramses_eos, ramses_rules
from octools.inputs.conversion import BY_HAND, NOT_USED, Conversion
from octools.inputs.namelist import read_namelist
from octools.inputs.ramses_conditions import Universe
from octools.inputs.ramses_gas import ionizes
from octools.inputs.ramses_radiation import ionizing_groups
from octools.inputs.ramses_rules import Settings
from octools.inputs.ramses_source import Ramses, listed
from octools.inputs.ramses_table import TOPICS
from octools.inputs.ramses_values import cools, wants_cooling
from octools.snapshot import AXES
from octools.units import PARSEC, YEAR

RIEMANN = {"llf": "llf", "hll": "hll", "hllc": "hllc", "exact": "exact", "acoustic": "exact"}
OF_BAROTROPIC_GAS = RIEMANN | {"llf": "hll", "exact": "hllc", "acoustic": "hllc"}
OF_MAGNETIC_FIELDS = ("hlld", "roe", "upwind", "hydro")
# Tables of runs without physical processes, which require hydro.dimensions = 3.
OF_GAS_ALONE = {"", "mesh", "problem", "problem.terms", "time", "hydro", "refine", "units"} | {
    "output",
    "run",
    "balance",
    "comm",
    "execution",
    "telemetry",
}
OF_DISC = "gravity_type = 3, the vertical force of a galactic disc: no self-gravity"
HUGE = 1e30
MOST_BOUNDARIES = 100  # MAXBOUND of RAMSES
SUFFIXES = (".nml", ".txt", ".namelist", "")  # RAMSES copies its namelist to namelist.txt
FINEST_LINE = 12  # level; a mesh of 2^12 x 4 x 4 cells takes 20 MB
LARGEST_NAMELIST = 4_000_000  # bytes


def is_namelist(path: Path) -> bool:
    """Return true if a file is a namelist of RAMSES, by its groups."""
    if path.suffix.lower() not in SUFFIXES or path.stat().st_size > LARGEST_NAMELIST:
        return False
    text = path.read_text(errors="replace")
    return re.search(r"^[ \t]*[&$][ \t]*(amr|run)_params\b", text, re.I | re.M) is not None


def convert(path: Path) -> Conversion:
    """Convert a namelist of RAMSES to Octant's parameters."""
    found = read_namelist(path)
    again = {
        f"{group} (repeated)/{name}": value
        for (group, _, name), value in (
            (key.partition("/"), v) for key, v in found.repeated.items()
        )
    }
    source = Conversion(path, found.settings | again)
    for name in again:
        source.account(name, NOT_USED, "RAMSES reads only the first group of a name")
    ramses = Ramses(source, Settings(source, TOPICS))
    source.put("model", "amr")
    with source.naming_settings():
        _skip_groups(ramses)
        ramses_eos.refuse_combinations(ramses.s)
        _mesh(ramses)
        _boundaries(ramses)
        universe = None
        if ramses.s.flag("cosmo"):
            universe = ramses_conditions.cosmology(ramses)
        else:
            ramses_conditions.gas(ramses)
            _output(ramses)
        _hydro(ramses)
        _gravity(ramses)
        _refinement(ramses, universe)
        ramses.s.mass_sph = _mass_sph(ramses, universe)
        ramses_rules.apply(source, ramses.s)
    if ramses.dimensions < 3 and set(source.tables) <= OF_GAS_ALONE:
        source.put("hydro.dimensions", ramses.dimensions, "axes along which the gas varies")
    return source


def _skip_groups(ramses: Ramses) -> None:
    """Account for the groups that RAMSES does not read."""
    coarsest, finest = ramses.levels
    skipped = {}
    if not ramses.s.flag("hydro"):
        skipped["hydro_params"] = "RAMSES reads this group only with hydro = .true."
    if finest <= coarsest:
        skipped["refine_params"] = "RAMSES reads this group only if levelmax > levelmin"
    for key in ramses.source.settings:
        group, _, name = key.partition("/")
        if group in skipped and ramses.s.keys.pop(name, None):
            ramses.source.account(key, NOT_USED, skipped[group])


def _mesh(ramses: Ramses) -> None:
    source, (coarsest, finest) = ramses.source, ramses.levels
    side = 1.0 if ramses.s.flag("cosmo") else ramses.s.number("boxlen")
    dimensions = ramses.dimensions
    origin = f"levelmin = {coarsest}"
    if dimensions == 1:
        # Refined cubes would divide the other axes, too.
        coarsest = max(coarsest, min(finest, FINEST_LINE))
        origin = f"levelmax = {finest}: a line of cells needs no refinement"
    block = min(8 if dimensions == 3 else 4, 2**coarsest)
    cells = [2**coarsest] * dimensions + [block] * (3 - dimensions)
    source.put("mesh.base_cells", cells, origin)
    source.put("mesh.block_size", block, "RAMSES refines octs of 2^3 cells")
    source.put("mesh.max_level", max(0, finest - coarsest), f"levelmax = {finest}")
    source.put("mesh.lower", [0.0] * 3)
    upper = [side * count / 2**coarsest for count in cells]
    thin = "" if dimensions == 3 else f"; {dimensions}-dimensional: no region names other axes"
    source.put("mesh.upper", upper, f"boxlen{thin}")
    if dimensions < 3:
        ramses.changed("levelmin", "levelmax", now=f"mesh.base_cells, in {dimensions} dimension(s)")


def _boundaries(ramses: Ramses) -> None:
    source = ramses.source
    count = int(ramses.s.number("nboundary"))
    if not 0 <= count <= MOST_BOUNDARIES:
        raise source.refuse(f"nboundary = {count}; expected at most {MOST_BOUNDARIES}")
    sides = [["periodic", "periodic"] for _ in AXES]
    open_side = "diode" if ramses.s.flag("no_inflow") else "outflow"
    kinds = {1: "reflecting", 2: open_side, 3: "inflow"}
    for n in range(count):
        number = int(ramses.at("bound_type", n, 0))
        if number <= 0:  # ignored by RAMSES: the face remains periodic
            continue
        ends = [
            [ramses.at(f"{letter}bound_{end}", n, 0) for end in ("min", "max")] for letter in "ijk"
        ]
        axes = [a for a, (low, high) in enumerate(ends) if low == high != 0]
        kind = kinds.get(number)
        if len(axes) != 1 or kind is None:
            raise source.refuse(
                f"boundary {n + 1} does not cover a whole face of the box, or has an unknown type"
            )
        sides[axes[0]][0 if ends[axes[0]][0] < 0 else 1] = kind
    for axis, side in zip(AXES, sides, strict=True):
        if ("periodic" in side) and side != ["periodic"] * 2:
            raise source.refuse(f"only one {axis} boundary is set")
        source.put(f"mesh.boundary_{axis}", side)
    if any("inflow" in side for side in sides):
        places = [f"{letter}bound_{end}" for letter in "ijk" for end in ("min", "max")]
        now = "mesh.boundary_*; an inflow has the gas state of the problem"
        ramses.changed("nboundary", "bound_type", *places, now=now)


def _output(ramses: Ramses) -> None:
    s, source = ramses.s, ramses.source
    times = [time for time in s.numbers("tout") if time < HUGE] if s.has("tout") else []
    times = times[: int(s.number("noutput")) or None]
    end = s.number("tend")
    if end <= 0 and not times:
        if not s.has("nstepmax"):
            raise source.refuse("no end time is set: neither tend nor tout")
        end = HUGE
    last = end if end > 0 else max(times)
    source.put("time.end", last, "nstepmax ends the run" if last == HUGE else "")
    if earlier := [t for t in times if t < last]:
        source.put("output.snapshot_times", earlier)
    if s.has("delta_tout") and s.number("delta_tout") < HUGE:
        source.put("output.snapshot_interval", s.number("delta_tout"))


def _hydro(ramses: Ramses) -> None:
    s, source = ramses.s, ramses.source
    cosmo, gamma = s.flag("cosmo"), s.number("gamma")
    barotropic = ramses_eos.gas(s)
    source.put("hydro.enabled", s.flag("hydro"))
    source.put("hydro.gamma", gamma)
    if cosmo and (not s.has("gamma") or np.isclose(gamma, 5 / 3, rtol=1e-6)):
        source.put("hydro.gamma", 5 / 3, "as required by supercomoving units")
        ramses.changed("gamma", now="hydro.gamma = 5/3 exactly")
    if barotropic is not None and barotropic.largest_exponent > gamma:
        meaning = "the largest exponent of the pressure; the flow does not depend on it"
        source.put("hydro.gamma", barotropic.largest_exponent, meaning)
        ramses.changed("gamma", now=f"hydro.gamma: {meaning}")
    riemann = s.text("riemann").lower()
    if riemann in OF_MAGNETIC_FIELDS:
        raise source.refuse(
            f"riemann = '{riemann}' is a solver of magnetohydrodynamics, and magnetic fields are "
            "not available; if the field is zero, set riemann = 'hllc'"
        )
    if riemann not in RIEMANN:
        raise source.refuse(
            f"riemann = '{riemann}' has no counterpart; expected {', '.join(RIEMANN)}"
        )
    source.put("hydro.scheme", "muscl_hancock")
    solver = (RIEMANN if barotropic is None else OF_BAROTROPIC_GAS)[riemann]
    source.put("hydro.riemann", solver)
    if solver != riemann:
        ramses.changed("riemann", now=f"hydro.riemann = {solver}")
    if s.text("scheme").lower() != "muscl":
        ramses.changed("scheme", now="hydro.scheme = muscl_hancock")
    slope = int(s.number("slope_type"))
    source.put("hydro.limiter", "minmod" if slope in (0, 1) else "mc", f"slope_type = {slope}")
    if slope not in (1, 2):
        ramses.changed("slope_type", now="hydro.limiter, the closest available")
    density, sound = s.number("smallr"), s.number("smallc")
    if s.has("smallr"):
        source.put("hydro.density_floor", density)
    if barotropic is not None:
        why = "hydro.equation_of_state: the pressure follows from the density"
        source.lost(*map(ramses.key, ("smallc", "pressure_fix", "beta_fix")), why=why)
    elif s.has("smallc"):
        source.put("hydro.pressure_floor", density * sound**2 / gamma, "smallr smallc^2 / gamma")
        ramses.changed("smallc", now="hydro.pressure_floor: a pressure, independent of the density")
    if s.flag("pressure_fix") and barotropic is None:
        source.put("hydro.dual_energy", "overwrite" if cosmo else "on")
    ramses.changed("pressure_fix", "beta_fix", now="hydro.dual_energy, with a different criterion")
    source.put("time.cfl", s.number("courant_factor"), "courant_factor")


def _gravity(ramses: Ramses) -> None:
    s, source = ramses.s, ramses.source
    kind = int(s.number("gravity_type"))
    given = [float(x or 0) for x in listed(s.get("gravity_params"))] + [0.0] * 10
    if not s.flag("poisson"):
        ramses.not_used("gravity_type", "gravity_params", why="poisson = .false.")
    elif kind == 0:
        source.put("gravity.enabled", True)
        source.put("gravity.tolerance", s.number("epsilon"))
        ramses.changed("epsilon", now="gravity.tolerance, relative to the right-hand side")
    elif kind == 1:
        source.put("hydro.acceleration", given[:3], "gravity_type = 1: no self-gravity")
    elif kind == 2:
        mass, softening, *centre = given[:5]
        offsets = [f"({a} - {c!r})" for a, c in zip(AXES, centre, strict=True)]
        square = " + ".join(f"{offset}^2" for offset in offsets)
        distance = f"({square} + {softening!r}^2)^1.5"
        force = [f"-{mass!r} * {offset} / {distance}" for offset in offsets]
        source.put("sources.acceleration", force, "gravity_type = 2: no self-gravity")
    elif kind == 3:
        source.put("sources.acceleration", ["0", "0", _galactic_disc(ramses, given)], OF_DISC)
    else:
        raise source.refuse(
            f"gravity_type = {kind} has no counterpart; expected 0, 1, 2 or 3. Remove it, and "
            "write the force as expressions in sources.acceleration"
        )


def _galactic_disc(ramses: Ramses, given: list[float]) -> str:
    """Return the vertical force of stars and dark matter at the Sun (Kuijken & Gilmore 1989).

    `given` are the coefficients of both in kpc Myr^-2 and Myr^-2, and the scale height in pc.
    """
    length, time = (ramses.s.number(f"units_{name}") for name in ("length", "time"))
    squared = (time / (1e6 * YEAR)) ** 2
    stars = given[0] * 1000 * PARSEC / length * squared
    halo = given[1] * squared
    height = given[2] * PARSEC / length
    z = f"(z - {0.5 * ramses.s.number('boxlen')!r})"
    return f"-{stars!r} * {z} / sqrt({z}^2 + {height!r}^2) - {halo!r} * {z}"


# --- refinement -----------------------------------------------------------------------------------


def _refinement(ramses: Ramses, universe: Universe | None) -> None:
    s, source, (coarsest, finest) = ramses.s, ramses.source, ramses.levels
    if finest > coarsest:
        _gradients(ramses)
        _masses(ramses, universe)
        _jeans(ramses)
    buffers = s.numbers("nexpand")
    source.put("refine.buffer", int(max(buffers, default=1)), "nexpand")
    if len(set(buffers)) > 1:
        ramses.changed("nexpand", now="refine.buffer: the largest number, on all levels")
    if universe is not None and s.flag("hydro"):
        _holdback(ramses, universe)
    else:
        why = "there is no expansion" if universe is None else "there is no gas that cools"
        ramses.not_used("q_refine_holdback", "nlevel_collapse", why=why)


def _gradients(ramses: Ramses) -> None:
    fields = {"density": "d", "pressure": "p"}
    given = {f"err_grad_{end}" for end in fields.values()}
    used = {
        field: ramses.s.number(f"err_grad_{end}")
        for field, end in fields.items()
        if ramses.s.has(f"err_grad_{end}") and ramses.s.number(f"err_grad_{end}") >= 0
    }
    floors = [f"floor_{fields[field]}" for field in used]
    if ionizes(ramses.s):
        if ramses.s.number("rt_err_grad_xhii") > 0:
            used["ionized_hydrogen"] = ramses.s.number("rt_err_grad_xhii")
            floors.append("rt_floor_xhii")
        if ramses.s.number("rt_err_grad_n") > 0:
            threshold = ramses.s.number("rt_err_grad_n")
            used |= {
                f"photon_density_{n}": threshold for n in range(len(ionizing_groups(ramses.s)))
            }
            floors.append("rt_floor_n")
        given |= {"rt_err_grad_xhii", "rt_err_grad_n"}
    _floor(ramses, floors)
    if used:
        ramses.source.put("refine.gradient_fields", list(used))
        ramses.source.put(
            "refine.gradient",
            list(used.values()),
            "relative change between the two neighbouring cells",
        )
    now = "refine.gradient: the same in smooth flow, half the value at a jump"
    ramses.changed(*given, now=now)


def _floor(ramses: Ramses, floors: list[str]) -> None:
    """Carry the floor of a gradient over where it is that of the only field with a threshold."""
    name = floors[0] if len(floors) == 1 else ""
    if name and name != "rt_floor_n" and ramses.s.has(name) and ramses.s.number(name) > 0:
        ramses.source.put("refine.floor", ramses.s.number(name), name.replace("xhii", "xHII"))
        ramses.carried(name, now="refine.floor")
        return
    why = "refine.floor holds for all fields"
    for name in floors:
        unit = "; photons per volume of the code" if name == "rt_floor_n" else ""
        if ramses.s.has(name):
            ramses.source.account(ramses.key(name), BY_HAND, f"{why}{unit}")


def _masses(ramses: Ramses, universe: Universe | None) -> None:
    s, source, (coarsest, finest) = ramses.s, ramses.source, ramses.levels
    masses = [-1.0 if m is None else float(m) for m in listed(s.get("m_refine"))]
    masses = (masses + [-1.0] * finest)[: finest - coarsest]
    unit = s.number("mass_sph")
    if not masses or max(masses) < 0 or (universe is None and unit <= 0):
        if s.has("m_refine"):
            why = "no level is refined" if unit > 0 else "mass_sph = 0"
            ramses.not_used("m_refine", "mass_sph", why=why)
        return
    if universe is None:
        factor, meaning = 1.0, "in refine.mass_unit"
        source.put("refine.mass_unit", unit, "mass_sph")
    else:
        share = (universe.gas_share or 0.0) if s.flag("hydro") else 0.0
        factor = (1.0 - share) / 8.0 ** (universe.finest - coarsest)
        meaning = "m_refine (1 - f), f: share of gas in the mass, in mean masses of a base cell"
        if share > 0:
            source.put("refine.gas_weight", (1.0 - share) / share, "(1 - f) / f")
        if universe.gas_share is None and s.flag("hydro"):
            now = "refine.mass = m_refine (1 - f), refine.gas_weight = (1 - f) / f"
            source.by_hand(ramses.key("m_refine"), now=f"{now}; f = omega_b / omega_m")
        now = f"refine.mass: times {factor:.6g}, with refine.gas_weight"
        ramses.changed("m_refine", now=now)
        ramses.not_used("mass_sph", why="cosmological runs take it from the files")
    values = [float(f"{factor * m:.12g}") if m >= 0 else HUGE for m in masses]
    source.put("refine.mass", values, meaning)
    marker = int(s.number("ivar_refine")) if s.has("ivar_refine") else -1
    if marker > 5:
        source.put("refine.mass_scalar", marker - 6, "ivar_refine - 6")
        source.put("hydro.scalars", marker - 5, f"up to variable {marker}")
        if s.has("var_cut_refine"):
            source.put("refine.mass_scalar_above", max(s.number("var_cut_refine"), 0.0))
    else:
        ramses.not_used("ivar_refine", "var_cut_refine", why="no variable beyond the gas is given")


def _jeans(ramses: Ramses) -> None:
    """Convert the numbers of cells per Jeans length, which begin with that of levelmin."""
    s, (coarsest, finest) = ramses.s, ramses.levels
    cells = [float(n or -1) for n in listed(s.get("jeans_refine"))][: finest - coarsest]
    used = [n for n in cells if n > 0]
    if not used or not (s.flag("poisson") and s.flag("hydro")):
        why = "no level is refined by it" if s.flag("poisson") else "poisson = .false."
        ramses.not_used("jeans_refine", why=why)
        return
    gamma = 5 / 3 if s.flag("cosmo") and not s.has("gamma") else s.number("gamma")
    name = "gamma"
    if (barotropic := ramses_eos.gas(s)) is not None:
        gamma, name = barotropic.smallest_exponent, "smallest exponent"
    value = float(f"{max(used) * gamma**0.5:.6g}")
    ramses.source.put("refine.jeans", value, f"{max(used):g} sqrt({name})")
    remark = (
        f"refine.jeans: times sqrt({name}), for the adiabatic instead of the isothermal sound speed"
    )
    if len(set(cells)) > 1 or len(cells) < finest - coarsest:
        remark += "; the largest number, on all levels"
    ramses.changed("jeans_refine", now=remark)


def _holdback(ramses: Ramses, universe: Universe) -> None:
    """Convert the delay of fine levels, which RAMSES applies where gas cools."""
    s, (_, finest) = ramses.s, ramses.levels
    free = universe.finest + int(s.number("nlevel_collapse"))
    loses_heat = cools(s) or (ionizes(s) and wants_cooling(s))
    held = loses_heat and s.flag("q_refine_holdback") and finest - 1 > free
    ramses.source.put("refine.holdback", held, "fine levels in cosmological runs with cooling")
    if held:
        now = f"refine.holdback: levels up to {free + 1}, open in RAMSES, are held back, too"
        ramses.changed("q_refine_holdback", "nlevel_collapse", now=now)
    elif not loses_heat:
        ramses.not_used("q_refine_holdback", "nlevel_collapse", why="gas does not cool")
    elif s.flag("q_refine_holdback"):
        why = f"levels up to {free + 1} are open from the beginning: refine.holdback = false"
        ramses.not_used("q_refine_holdback", "nlevel_collapse", why=why)


def _mass_sph(ramses: Ramses, universe: Universe | None) -> float | None:
    """Return mass_sph, the gas mass of a cell of the initial conditions, in solar masses."""
    s = ramses.s
    if universe is not None:
        return universe.gas_mass
    if s.number("mass_sph") <= 0:
        return None
    grams = s.number("mass_sph") * s.number("units_density") * s.number("units_length") ** 3
    return grams / ramses_conditions.SOLAR_MASS

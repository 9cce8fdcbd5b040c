"""RAMSES's namelists: regions of gas, a blast in uniform gas, cosmology from grafic files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from octools.errors import OctoolsError
from octools.inputs.conversion import Conversion, require_short_lists
from octools.snapshot import AXES

RIEMANN = {"llf": "llf", "hll": "hll", "hllc": "hllc", "exact": "exact", "acoustic": "exact"}
MEMORY = ("ngridmax", "ngridtot", "npartmax", "nparttot")
HUGE = 1e30
DEEPEST_LEVEL = 60
MOST_BOUNDARIES = 100  # MAXBOUND of RAMSES
GALAXIES = (
    *("cooling_params", "sf_params", "feedback_params", "grackle_params"),
    *("physics_params", "sink_params"),
)
# Parameters of Octant that say what a setting of these groups says: the tables of docs/galaxy.md.
BY_HAND = {
    "cooling": "cooling.enabled",
    "cooling_method": "cooling.method",
    "use_grackle": "cooling.enabled, cooling.table",
    "grackle_table": "cooling.table",
    "grackle_data_file": "cooling.table",
    "haardt_madau": "cooling.uv_background",
    "grackle_uvbackground": "cooling.uv_background",
    "z_reion": "cooling.reionization",
    "self_shielding": "cooling.self_shielding",
    "grackle_self_shielding_method": "cooling.self_shielding",
    "grackle_cmb_temperature_floor": "cooling.cmb_floor",
    "z_ave": "cooling.initial_metallicity",
    "t2max": "cooling.maximum_temperature",
    "delayed_cooling": "cooling.delayed",
    "t_diss": "cooling.delay_time",
    "jeans_ncells": "floor.jeans_cells",
    "t2_star": "floor.temperature, with floor.kind",
    "g_star": "floor.index",
    "eps_star": "stars.efficiency, with stars.enabled",
    "sf_model": "stars.model",
    "n_star": "stars.density, and floor.density with a polytrope",
    "del_star": "stars.overdensity",
    "m_star": "stars.mass",
    "eta_sn": "supernovae.fraction, with supernovae.mode",
    "t_sne": "supernovae.delay",
    "yield": "supernovae.yield",
    "rcell": "supernovae.radius",
    "rbubble": "supernovae.least_radius",
    "f_ek": "supernovae.kinetic_fraction",
    "sink": "black_holes.enabled",
    "mseed": "black_holes.seed_mass",
    "n_sink": "black_holes.gas_density",
    "ns_sink": "black_holes.star_density",
    "r_gal": "black_holes.exclusion",
    "boost_acc": "black_holes.boost",
    "d_boost": "black_holes.boost_density",
    "sigmav_max": "black_holes.velocity_limit",
    "drag": "black_holes.drag",
    "boost_drag": "black_holes.drag_boost",
    "rmerge": "black_holes.merge_length",
    "vrel_merge": "black_holes.merge_bound",
    "spin_bh": "black_holes.spin",
    "agn": "agn.enabled",
    "x_floor": "agn.radio_threshold",
    "eagn_t": "agn.thermal_efficiency",
    "eagn_k": "agn.jet_efficiency",
    "mad_jet": "agn.mad",
    "ragn_dx": "agn.radius",
    "ragn": "agn.least_radius",
    "mloadagn": "agn.mass_loading",
    "jetfrac": "agn.jet_trigger",
    "tagn": "agn.heating_trigger",
    "t2maxagn": "agn.maximum_temperature",
    "f_ekagn": "agn.kinetic_fraction",
}
DEFAULTS = {
    "run_params/hydro": False,
    "run_params/poisson": False,
    "run_params/cosmo": False,
    "run_params/nstepmax": 1_000_000,
    "amr_params/levelmin": 1,
    "amr_params/levelmax": 1,
    "amr_params/boxlen": 1.0,
    "amr_params/nexpand": 1,
    "init_params/nregion": 0,
    "hydro_params/gamma": 1.4,
    "hydro_params/courant_factor": 0.5,
    "hydro_params/riemann": "llf",
    "hydro_params/slope_type": 1,
    "hydro_params/scheme": "muscl",
    "hydro_params/smallr": 1e-10,
    "hydro_params/smallc": 1e-10,
    "hydro_params/pressure_fix": False,
    "refine_params/mass_sph": 0.0,
    "boundary_params/nboundary": 0,
    "poisson_params/gravity_type": 0,
}


def _read(path: Path) -> dict[str, Any]:
    import f90nml

    require_short_lists(path)
    try:
        groups = f90nml.read(str(path))
    except (OSError, StopIteration, AssertionError, ValueError, TypeError, IndexError) as cause:
        raise OctoolsError(f"{path} is not a complete namelist: {cause}") from cause
    return {
        f"{group}/{name}": value
        for group, names in groups.items()
        if isinstance(names, dict)
        for name, value in names.items()
        if value is not None  # a name without a value stays at its default
    }


def is_namelist(path: Path) -> bool:
    """Tell whether a file is a namelist of RAMSES, by its groups."""
    return path.suffix == ".nml" and any(
        line.strip().lower().startswith("&amr_params")
        for line in path.read_text(errors="replace").splitlines()
    )


def convert(path: Path) -> Conversion:
    """Say in Octant's parameters what a namelist of RAMSES says."""
    source = Conversion(path, _read(path), DEFAULTS)
    source.put("model", "amr")
    with source.naming_settings():
        _mesh(source)
        _boundaries(source)
        if source.get("run_params/cosmo"):
            _cosmology(source)
        else:
            _gas(source)
            _output(source)
        _hydro(source)
        _gravity(source)
        _refinement(source)
        _time(source)
    return source


def _list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list) else [] if value is None else [value]


def _levels(source: Conversion) -> tuple[int, int]:
    levels = []
    for name in ("levelmin", "levelmax"):
        value = source.get(f"amr_params/{name}")
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= DEEPEST_LEVEL:
            raise source.refuse(f"{name} = {value}; expected a whole number up to {DEEPEST_LEVEL}")
        levels.append(value)
    return levels[0], levels[1]


def _mesh(source: Conversion) -> None:
    coarsest, finest = _levels(source)
    side = float(source.get("amr_params/boxlen"))
    source.put("mesh.base_cells", [2**coarsest] * 3, f"levelmin = {coarsest}")
    source.put("mesh.block_size", min(8, 2**coarsest), "RAMSES refines octs, blocks of 2")
    source.put("mesh.max_level", max(0, finest - coarsest), f"levelmax = {finest}")
    source.put("mesh.lower", [0.0] * 3)
    source.put("mesh.upper", [side] * 3, "boxlen")
    source.carried("amr_params/levelmin", now="mesh.base_cells")
    source.carried("amr_params/levelmax", now="mesh.max_level, counted from levelmin")
    source.carried("amr_params/boxlen", now="mesh.upper")
    memory = [f"amr_params/{name}" for name in MEMORY]
    source.lost(*memory, why="memory is taken as it is needed")


def _boundaries(source: Conversion) -> None:
    count = int(source.get("boundary_params/nboundary"))
    if not 0 <= count <= MOST_BOUNDARIES:
        raise source.refuse(f"nboundary = {count}; expected at most {MOST_BOUNDARIES}")
    sides = [["periodic", "periodic"] for _ in AXES]
    kinds = {1: "reflecting", 2: "outflow", 3: "inflow"}
    for n in range(count):
        ends = [
            [_at(source, f"boundary_params/{letter}bound_{end}", n, 0) for end in ("min", "max")]
            for letter in "ijk"
        ]
        axes = [a for a, (low, high) in enumerate(ends) if low == high != 0]
        kind = kinds.get(int(_at(source, "boundary_params/bound_type", n, 0)))
        if len(axes) != 1 or kind is None:
            raise source.refuse(f"boundary {n + 1} is no whole side of the box of a known type")
        sides[axes[0]][0 if ends[axes[0]][0] < 0 else 1] = kind
    for axis, side in zip(AXES, sides, strict=True):
        if ("periodic" in side) and side != ["periodic"] * 2:
            raise source.refuse(f"only one side of {axis} is bounded")
        source.put(f"mesh.boundary_{axis}", side)
    places = [f"{letter}bound_{end}" for letter in "ijk" for end in ("min", "max")]
    named = [f"boundary_params/{name}" for name in ("nboundary", "bound_type", *places)]
    if any("inflow" in side for side in sides):
        source.changed(*named, now="mesh.boundary_*; an inflow lets in the problem's own gas")
    source.carried(*named, now="mesh.boundary_*")


def _at(source: Conversion, name: str, index: int, default: Any) -> Any:
    values = _list(source.get(name))
    return values[index] if index < len(values) and values[index] is not None else default


# --- initial conditions ---------------------------------------------------------------------------


REGION = ("x_center", "y_center", "z_center", "length_x", "length_y", "length_z", "exp_region")
STATE = ("d_region", "u_region", "v_region", "w_region", "p_region")


def _gas(source: Conversion) -> None:
    regions = [_region(source, n) for n in range(int(source.get("init_params/nregion")))]
    if not regions:
        raise source.refuse("it sets no regions of gas (nregion), and no cosmology")
    names = [f"init_params/{name}" for name in ("nregion", "region_type", *REGION, *STATE)]
    points = [region for region in regions if region["region_type"] == "point"]
    if points:
        _blast(source, regions)
        now = "problem.name = sedov; the point's pressure is energy times gamma - 1"
        source.changed(*names, now=now)
    else:
        _expressions(source, regions)
        source.changed(*names, now="problem.name = expression; conditions for the regions")
    if source.get("init_params/filetype", "ascii") != "ascii":
        raise source.refuse("filetype has a counterpart in cosmology only")
    particles = ("init_params/filetype", "init_params/initfile", "run_params/pic")
    source.lost(*particles, why="particles of ic_part are not read")


def _region(source: Conversion, n: int) -> dict[str, Any]:
    defaults = {"region_type": "square", "exp_region": 2.0} | dict.fromkeys(REGION[3:6], 1e10)
    region = {
        name: _at(source, f"init_params/{name}", n, defaults.get(name, 0.0))
        for name in ("region_type", *REGION, *STATE)
    }
    if region["region_type"] not in ("square", "point"):
        raise source.refuse(f"region_type = '{region['region_type']}' is unknown")
    return region


def _is_everything(source: Conversion, region: dict[str, Any]) -> bool:
    side = float(source.get("amr_params/boxlen"))
    reach = [
        2 * max(region[f"{a}_center"], side - region[f"{a}_center"]) / region[f"length_{a}"]
        for a in AXES
    ]
    power = float(region["exp_region"])
    return (max(reach) if power >= 10 else sum(r**power for r in reach) ** (1 / power)) < 1


def _blast(source: Conversion, regions: list[dict[str, Any]]) -> None:
    """Turn a point in uniform gas at rest into Sedov's blast; all else with points is refused."""
    moving = [region for region in regions if any(region[name] for name in STATE[1:4])]
    plain = len(regions) == 2 and regions[0]["region_type"] == "square"
    point = regions[-1]
    if not plain or moving or point["d_region"] or not _is_everything(source, regions[0]):
        raise source.refuse("a point has a counterpart in uniform gas at rest only, without mass")
    gamma = float(source.get("hydro_params/gamma"))
    source.put("problem.name", "sedov")
    source.put("problem.energy", float(point["p_region"]) / (gamma - 1), "of the whole blast")
    source.put("problem.density", float(regions[0]["d_region"]))
    source.put("problem.ambient_pressure", float(regions[0]["p_region"]))
    source.put("problem.centre", [float(point[f"{a}_center"]) for a in AXES])
    source.put("problem.radius_cells", 1.0, "the eight finest cells around a node")


def _expressions(source: Conversion, regions: list[dict[str, Any]]) -> None:
    """Write the state as choices among the regions; a later one goes before the others."""
    density = float(source.get("hydro_params/smallr"))
    sound, gamma = (float(source.get(f"hydro_params/{n}")) for n in ("smallc", "gamma"))
    first = [density, 0.0, 0.0, 0.0, density * sound**2 / gamma]
    texts = [repr(value) for value in first]
    terms = {}
    for n, region in enumerate(regions):
        states = [repr(float(region[name])) for name in STATE]
        if _is_everything(source, region):
            texts = states
            continue
        terms[f"in_region_{n + 1}"] = _condition(region)
        texts = [
            new if new == old else f"in_region_{n + 1} ? {new} : ({old})"
            for new, old in zip(states, texts, strict=True)
        ]
    source.put("problem.name", "expression")
    source.put("problem.density", texts[0])
    source.put("problem.velocity", texts[1:4])
    source.put("problem.pressure", texts[4])
    for name, text in terms.items():
        source.put(f"problem.terms.{name}", text)


def _condition(region: dict[str, Any]) -> str:
    power = float(region["exp_region"])
    parts = [
        f"abs({a} - {float(region[f'{a}_center'])!r}) * {2 / float(region[f'length_{a}'])!r}"
        for a in AXES
        if float(region[f"length_{a}"]) < 1e9
    ]
    if power >= 10:
        return " && ".join(f"{part} < 1" for part in parts)
    return " + ".join(f"({part})^{power!r}" for part in parts) + " < 1"


def _cosmology(source: Conversion) -> None:
    """Begin from grafic files, which know the box; those that are there fill it in."""
    from octools.ics import is_grafic, read_levels

    files = [Path(str(name)) for name in _list(source.get("init_params/initfile"))]
    if source.get("init_params/filetype") != "grafic" or not files:
        raise source.refuse("a cosmological run begins from grafic files here: filetype, initfile")
    folder = files[0].parent
    # Places count from where RAMSES runs: beside the namelist, or above, if it lies with the files.
    places = [above / folder for above in source.path.resolve().parents[:2]]
    place = next((place for place in places if is_grafic(place)), None)
    source.put("problem.name", "cosmology")
    source.put("initial.kind", "grafic")
    source.put("initial.path", str(place or folder))
    source.carried("init_params/filetype", "init_params/initfile", now="initial.kind, .path")
    source.put("cosmology.enabled", True)
    if place is not None:
        universe = read_levels(place)[0].universe
        for name in ("omega_m", "omega_lambda", "h", "box"):
            source.put(f"cosmology.{name}", float(getattr(universe, name)), "of the files")
    else:
        missing = "omega_m, omega_lambda, h and box: take those of the files, which are not here"
        source.put("cosmology.box", 0.0, missing)
    if "init_params/omega_b" in source.settings:
        source.put("cosmology.omega_b", float(source.get("init_params/omega_b")))
        source.carried("init_params/omega_b", now="cosmology.omega_b")
    times = [float(a) for a in _list(source.get("output_params/aout")) if a is not None]
    last = float(source.get("output_params/aend") or (max(times) if times else 1.0))
    source.put("cosmology.end", f"a = {last!r}")
    source.put("cosmology.snapshots", [f"a = {a!r}" for a in times])
    names = [f"output_params/{name}" for name in ("aout", "aend", "noutput")]
    source.carried(*names, now="cosmology.snapshots, cosmology.end")
    source.carried("run_params/cosmo", "run_params/pic", now="cosmology.enabled; dark matter")


# --- the rest -------------------------------------------------------------------------------------


def _output(source: Conversion) -> None:
    times = [float(t) for t in _list(source.get("output_params/tout")) if t is not None]
    times = times[: int(source.get("output_params/noutput", 0)) or None]
    end = source.get("output_params/tend")
    if end is None and not times:
        raise source.refuse("it says no time at which to end: neither tend nor tout")
    last = float(end if end is not None else max(times))
    source.put("time.end", last)
    if earlier := [t for t in times if t < last]:
        source.put("output.snapshot_times", earlier)
    source.carried("output_params/tend", "output_params/tout", now="time.end, .snapshot_times")
    source.carried("output_params/noutput", now="as many as output.snapshot_times has")
    interval = source.get("output_params/delta_tout")
    if interval is not None and float(interval) < HUGE:
        source.put("output.snapshot_interval", float(interval))
        source.carried("output_params/delta_tout", now="output.snapshot_interval")
    source.lost("output_params/foutput", why="snapshots follow the time, not the steps")


def _hydro(source: Conversion) -> None:
    name = "hydro_params/"
    source.put("hydro.enabled", bool(source.get("run_params/hydro")))
    source.put("hydro.gamma", float(source.get(f"{name}gamma")))
    given = source.settings.get(f"{name}gamma", 5 / 3)
    if source.get("run_params/cosmo") and np.isclose(given, 5 / 3, rtol=1e-6):
        source.put("hydro.gamma", 5 / 3, "as supercomoving units demand")
        source.changed(f"{name}gamma", now="hydro.gamma = 5/3 to the last digit")
    source.carried("run_params/hydro", f"{name}gamma", now="hydro.enabled, hydro.gamma")
    riemann = str(source.get(f"{name}riemann"))
    if riemann not in RIEMANN:
        raise source.refuse(f"riemann = '{riemann}' has no counterpart")
    source.put("hydro.scheme", "muscl_hancock")
    source.put("hydro.riemann", RIEMANN[riemann])
    if riemann == "acoustic":
        source.changed(f"{name}riemann", now="hydro.riemann = exact")
    source.carried(f"{name}riemann", now="hydro.riemann")
    if source.get(f"{name}scheme") != "muscl":
        source.changed(f"{name}scheme", now="hydro.scheme = muscl_hancock")
    source.carried(f"{name}scheme", now="hydro.scheme = muscl_hancock")
    slope = int(source.get(f"{name}slope_type"))
    source.put("hydro.limiter", "minmod" if slope in (0, 1) else "mc", f"slope_type = {slope}")
    if slope not in (1, 2):
        source.changed(f"{name}slope_type", now="hydro.limiter, the nearest there is")
    source.carried(f"{name}slope_type", now="hydro.limiter")
    density, sound = (float(source.get(f"{name}{n}")) for n in ("smallr", "smallc"))
    if f"{name}smallr" in source.settings:
        source.put("hydro.density_floor", density)
        source.carried(f"{name}smallr", now="hydro.density_floor")
    if f"{name}smallc" in source.settings:
        gamma = float(source.get(f"{name}gamma"))
        source.put("hydro.pressure_floor", density * sound**2 / gamma, "smallr smallc^2 / gamma")
        source.changed(f"{name}smallc", now="hydro.pressure_floor: a pressure, at every density")
    if source.get(f"{name}pressure_fix"):
        source.put("hydro.dual_energy", "overwrite" if source.get("run_params/cosmo") else "on")
    source.changed(
        f"{name}pressure_fix", f"{name}beta_fix", now="hydro.dual_energy, with its own criterion"
    )


def _gravity(source: Conversion) -> None:
    if int(source.get("poisson_params/gravity_type")) != 0:
        raise source.refuse("gravity_type: forces and masses by formula have no counterpart")
    if source.get("run_params/poisson"):
        source.put("gravity.enabled", True)
        tolerance = float(source.get("poisson_params/epsilon", 1e-4))
        source.put("gravity.tolerance", tolerance)
    source.carried("run_params/poisson", now="gravity.enabled; the constant is 1 in both")
    source.changed("poisson_params/epsilon", now="gravity.tolerance, relative to the right side")
    for unit in ("length", "density", "time"):
        for group in ("physics_params", "units_params"):  # of earlier versions, and of today's
            name = f"{group}/units_{unit}"
            if name in source.settings:
                source.put(f"units.{unit}", float(source.get(name)))
                source.carried(name, now=f"units.{unit}")


def _refinement(source: Conversion) -> None:
    name = "refine_params/"
    coarsest, finest = _levels(source)
    fields = {"density": "err_grad_d", "pressure": "err_grad_p"}
    used = {f: float(source.get(name + n)) for f, n in fields.items() if source.get(name + n)}
    used = {f: value for f, value in used.items() if value >= 0}
    if used and finest > coarsest:
        source.put("refine.gradient_fields", list(used))
        source.put("refine.gradient", list(used.values()), "between the cells on both sides")
    gradients = [name + n for n in fields.values()]
    now = "refine.gradient: the same where it is smooth, half as much at a jump"
    source.changed(*gradients, now=now)
    source.lost(f"{name}err_grad_u", why="no criterion compares velocities with the sound speed")
    masses = [float(m) for m in _list(source.get(f"{name}m_refine"))][: finest - coarsest]
    unit = float(source.get(f"{name}mass_sph"))
    if masses and max(masses) >= 0 and (unit > 0 or source.get("run_params/cosmo")):
        source.put("refine.mass", [m if m >= 0 else HUGE for m in masses], "in refine.mass_unit")
        if unit > 0:
            source.put("refine.mass_unit", unit, "mass_sph")
        source.carried(f"{name}m_refine", f"{name}mass_sph", now="refine.mass, refine.mass_unit")
    # Entry l of jeans_refine is of level l; other lists begin with levelmin.
    jeans = [float(n or -1) for n in _list(source.get(f"{name}jeans_refine"))]
    jeans = [n for n in jeans[coarsest - 1 : finest - 1] if n > 0]
    if not source.get("run_params/poisson"):
        source.lost(f"{name}jeans_refine", why="there is no Jeans length without gravity")
    elif jeans:
        source.put("refine.jeans", max(jeans), "cells per Jeans length")
        if len(set(jeans)) > 1:
            source.changed(f"{name}jeans_refine", now="refine.jeans: the most, on all levels")
        source.carried(f"{name}jeans_refine", now="refine.jeans")
    shape = [f"{name}{n}_refine" for n in ("r", "x", "y", "z", "a", "b", "exp")]
    source.lost(*shape, why="regions do not bound refinement here; refine.where adds some")
    source.lost(
        f"{name}interpol_var", f"{name}interpol_type", why="new cells have slopes of their own"
    )
    dilation = max(int(n) for n in _list(source.get("amr_params/nexpand")) if n is not None)
    source.put("refine.buffer", dilation, "nexpand")
    source.changed("amr_params/nexpand", now="refine.buffer, in cells, on all levels")


def _time(source: Conversion) -> None:
    coarsest, finest = _levels(source)
    source.put("time.cfl", float(source.get("hydro_params/courant_factor")), "courant_factor")
    source.carried("hydro_params/courant_factor", now="time.cfl")
    if "run_params/nstepmax" in source.settings:
        source.put("time.max_steps", int(source.get("run_params/nstepmax")))
        source.carried("run_params/nstepmax", now="time.max_steps")
    parts = _list(source.get("run_params/nsubcycle"))[: finest - coarsest]
    source.put("time.subcycle", not parts or any(int(n) != 1 for n in parts))
    if len(set(parts)) > 1:
        source.changed("run_params/nsubcycle", now="time.subcycle: all levels, or none")
    source.carried("run_params/nsubcycle", now="time.subcycle")
    if int(source.get("run_params/nremap", -1)) >= 0:
        source.put("balance.interval", int(source.get("run_params/nremap")), "nremap")
        source.carried("run_params/nremap", now="balance.interval")
    if float(source.get("output_params/walltime_hrs", -1.0)) > 0:
        seconds = 3600 * float(source.get("output_params/walltime_hrs"))
        source.put("run.walltime", seconds, "s")
        source.carried("output_params/walltime_hrs", now="run.walltime")
    if "output_params/minutes_dump" in source.settings:
        minutes = float(source.get("output_params/minutes_dump"))
        source.put("run.walltime_margin", 60 * minutes, "s")
        source.carried("output_params/minutes_dump", now="run.walltime_margin")
    source.lost("run_params/nrestart", why="octant run --restart output_NNNNN goes on from one")
    source.lost("run_params/ncontrol", why="history.csv has every step: output.history_interval")
    for name in source.settings:
        group, _, key = name.partition("/")
        if (group in GALAXIES or name == "run_params/sink") and key in BY_HAND:
            source.by_hand(name, now=BY_HAND[key])

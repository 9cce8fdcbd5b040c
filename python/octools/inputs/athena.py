"""Input files of Athena++ and AthenaK: shock tubes, blast waves, Liska & Wendroff's implosion."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from octools.inputs.conversion import NOT_USED, Conversion, read_blocks
from octools.snapshot import AXES

BLOCK = 8
PROBLEMS = ("shock_tube", "blast", "implode")
SIDES = {
    "periodic": "periodic",
    "outflow": "outflow",
    "reflect": "reflecting",
    "reflecting": "reflecting",
    "diode": "diode",
}
RIEMANN = {"llf": "llf", "hlle": "hll", "hll": "hll", "hllc": "hllc", "roe": "hllc"}
OF_ISOTHERMAL_GAS = RIEMANN | {"llf": "hll"}
SCHEMES = {"rk2": "rk2", "rk3": "rk3", "vl2": "muscl_hancock", "rk1": "rk2", "rk4": "rk3"}
RECONSTRUCTIONS = {"dc": "plm", "plm": "plm", "ppm": "ppm", "ppm4": "ppm", "ppmx": "ppm"}
RECONSTRUCTIONS |= {"wenoz": "ppm", "1": "plm", "2": "plm", "3": "ppm", "2c": "plm", "3c": "ppm"}
PHYSICS = ("mhd", "radiation", "ion-neutral", "z4c", "adm", "particles", "turb_driving")
FIELDS = ("vtk", "bin", "hdf5", "tab", "rst")


def convert(path: Path) -> Conversion:
    """Convert an input file of Athena++ or AthenaK to parameters of Octant."""
    source = Conversion(path, read_blocks(path, "Athena"))
    blocks = {name.split("/")[0] for name in source.settings}
    if strange := sorted(blocks & set(PHYSICS)):
        raise source.refuse(f"<{strange[0]}> has no counterpart")
    if {"mesh", "time"} - blocks:
        raise source.refuse("this is not an Athena input file: <mesh> or <time> is missing")
    source.put("model", "amr")
    with source.naming_settings():
        _PROBLEMS[_problem(source)](source)
        _mesh(source)
        _hydro(source)
        _refinement(source)
        _time(source)
        _output(source)
    return source


def _problem(source: Conversion) -> str:
    """Return the problem's name: AthenaK's parameter, or the configuration of Athena++."""
    name = source.get("problem/pgen_name")
    if name is None:
        own = {"shock_tube": "dl", "implode": "d_in", "blast": "prat"}
        found = [problem for problem, key in own.items() if f"problem/{key}" in source.settings]
        name = found[0] if found else "(not given in the file)"
    if name not in PROBLEMS:
        known = ", ".join(PROBLEMS)
        raise source.refuse(f"problem {name} has no counterpart; supported: {known}")
    source.carried("problem/pgen_name", now="problem.name")
    return str(name)


def _shock_tube(source: Conversion) -> None:
    axis = int(source.get("problem/shock_dir", 1)) - 1
    source.put("problem.name", "riemann")
    source.put("problem.axis", AXES[axis])
    source.put("problem.position", float(source.get("problem/xshock", 0.0)))
    for name, side in (("left", "l"), ("right", "r")):
        velocity = [float(source.get(f"problem/{v}{side}", 0.0)) for v in "uvw"]
        if any(velocity[1:]):
            raise source.refuse("velocities along the plane of a shock tube have no counterpart")
        density = float(source.get(f"problem/d{side}", 0.0))
        state = [density, _pressure(source, f"problem/p{side}", density, 0.0)]
        source.put(f"problem.{name}", [state[0], velocity[0], state[1]], "density, velocity, p")
    names = [f"problem/{q}{side}" for q in "dpuvw" for side in "lr"]
    source.carried("problem/shock_dir", "problem/xshock", *names, now="problem.*")


def _implode(source: Conversion) -> None:
    sides = [[float(source.get(f"mesh/x{n}{end}")) for end in ("min", "max")] for n in (1, 2)]
    source.put("problem.name", "implosion")
    middle = sum(sides[1]) / 2
    source.put("problem.diagonal", middle - sides[0][0] - sides[1][0], "x + y below the membrane")
    for theirs, ours in (("in", "inner"), ("out", "outer")):
        density = float(source.get(f"problem/d_{theirs}"))
        source.put(f"problem.{ours}_density", density)
        source.carried(f"problem/d_{theirs}", now=f"problem.{ours}_density")
        pressure = _pressure(source, f"problem/p_{theirs}", density)
        source.put(f"problem.{ours}_pressure", pressure)
        source.carried(f"problem/p_{theirs}", now=f"problem.{ours}_pressure")


def _blast(source: Conversion) -> None:
    """Write a ball of high pressure, whose edge falls exponentially from radius to radius."""
    given = {
        name: next((float(source.get(f"problem/{n}")) for n in names if n in known), default)
        for known in [{name.removeprefix("problem/") for name in source.settings}]
        for name, names, default in (
            ("inner", ("inner_radius", "radius"), None),
            ("outer", ("outer_radius",), None),
            ("pressure", ("pn_amb", "pamb"), None),
            ("density", ("dn_amb", "damb"), 1.0),
            ("pressure_ratio", ("prat",), 1.0),
            ("density_ratio", ("drat",), 1.0),
        )
    }
    if (speed := _sound_speed(source)) is not None:
        given["pressure"] = speed**2 * given["density"]
        given["pressure_ratio"] = given["density_ratio"]
        _not_used(source, "problem/pn_amb", "problem/pamb", "problem/prat")
    inner, pressure = given["inner"], given["pressure"]
    if inner is None or pressure is None:
        raise source.refuse("the blast has no radius or no ambient pressure")
    outer = given["outer"]
    if outer is None:
        outer = inner + float(source.get("problem/ramp", 0.0))
    source.put("problem.name", "expression")
    for name in ("density", "pressure"):
        source.put(f"problem.{name}", f"{given[name]!r} * {given[f'{name}_ratio']!r}^inside")
    parts = [
        f"({axis} - {float(source.get(f'problem/x{n}_0', 0.0))!r})^2"
        for n, axis in enumerate(AXES, 1)
        if int(source.get(f"mesh/nx{n}", 1)) > 1
    ]
    source.put("problem.terms.radius", f"sqrt({' + '.join(parts)})")
    ramp = f"radius < {outer!r} ? ({outer!r} - radius) / {outer - inner!r} : 0"
    edge = "0" if outer <= inner else f"({ramp})"
    source.put("problem.terms.inside", f"radius < {inner!r} ? 1 : {edge}", "1 in the ball")
    names = ("inner_radius", "outer_radius", "radius", "ramp", "pn_amb", "pamb", "dn_amb", "damb")
    places = [f"x{n}_0" for n in (1, 2, 3)]
    every = [f"problem/{name}" for name in (*names, "prat", "drat", *places)]
    source.changed(*every, now="problem.name = expression; formulas of the radius")


_PROBLEMS = {"shock_tube": _shock_tube, "blast": _blast, "implode": _implode}


def _slab(source: Conversion) -> float:
    """Return the thickness of an axis that has one cell: that of a block of cubes."""
    width = float(source.get("mesh/x1max")) - float(source.get("mesh/x1min"))
    return BLOCK * width / int(source.get("mesh/nx1"))


def _mesh(source: Conversion) -> None:
    cells, lower, upper = [], [], []
    for n, axis in enumerate(AXES, 1):
        names = [f"mesh/{name}" for name in (f"nx{n}", f"x{n}min", f"x{n}max")]
        if any(source.get(name) is None for name in names):
            raise source.refuse(f"<mesh> lacks nx{n}, x{n}min or x{n}max")
        count, low, high = (source.get(name) for name in names)
        flat = int(count) == 1
        cells.append(BLOCK if flat else int(count))
        lower.append(float(low))
        upper.append(float(low) + _slab(source) if flat else float(high))
        sides = [_side(source, f"mesh/{end}x{n}_bc", flat) for end in "io"]
        source.put(f"mesh.boundary_{axis}", sides)
        source.carried(f"mesh/ix{n}_bc", f"mesh/ox{n}_bc", now=f"mesh.boundary_{axis}")
        if flat:
            source.changed(*names, now=f"one block along {axis}: Octant is three-dimensional")
        source.carried(*names, now="mesh.base_cells, .lower, .upper")
        if float(source.get(f"mesh/x{n}rat", 1.0)) != 1.0:
            raise source.refuse(f"x{n}rat: stretched grids have no counterpart")
    if odd := [count for count in cells if count % BLOCK]:
        raise source.refuse(f"{odd[0]} cells are not a multiple of the block size, {BLOCK}")
    source.put("mesh.base_cells", cells)
    source.put("mesh.block_size", BLOCK)
    source.put("mesh.lower", lower)
    source.put("mesh.upper", upper)
    blocks = [f"meshblock/nx{n}" for n in (1, 2, 3)]
    source.changed(*blocks, now=f"mesh.block_size = {BLOCK}, along all axes")
    source.lost("mesh/nghost", "mesh/num_threads", why="follows from the scheme and the run")


def _side(source: Conversion, name: str, flat: bool) -> str:
    given = str(source.get(name, "periodic"))
    if flat:
        return "periodic"
    if given not in SIDES:
        raise source.refuse(f"{name.removeprefix('mesh/')} = {given} has no counterpart")
    return SIDES[given]


def _first(source: Conversion, default: Any, *names: str) -> tuple[str, Any]:
    """Return the first of some settings that is present."""
    found = [name for name in names if name in source.settings]
    return (found[0], source.get(found[0])) if found else ("", default)


GAMMAS = ("hydro/gamma", "eos/gamma", "fluid/gamma")
SPEED = "hydro/iso_sound_speed"


def _is_isothermal(source: Conversion) -> bool:
    """Return true for eos = isothermal of AthenaK, or for a sound speed without gamma.

    Athena++ is configured for one equation of state, and a file may contain the settings of both.
    """
    if "hydro/eos" in source.settings:
        return str(source.get("hydro/eos")) == "isothermal"
    return SPEED in source.settings and not any(name in source.settings for name in GAMMAS)


def _sound_speed(source: Conversion) -> float | None:
    """Return the sound speed of isothermal gas; None for an ideal gas."""
    if not _is_isothermal(source):
        return None
    speed = source.get(SPEED)
    if speed is None:
        raise source.refuse("eos = isothermal requires iso_sound_speed")
    if not float(speed) > 0:
        raise ValueError("expected a number above 0")
    return float(speed)


def _pressure(source: Conversion, name: str, density: float, default: Any = None) -> float:
    """Return a pressure of the file; of isothermal gas, that of the density."""
    if (speed := _sound_speed(source)) is not None:
        _not_used(source, name)
        return speed**2 * density
    return float(source.get(name, default))


def _not_used(source: Conversion, *names: str) -> None:
    """Account for settings of an ideal gas in a file of isothermal gas."""
    for name in names:
        source.account(name, NOT_USED, "the pressure of isothermal gas follows from its density")


def _gas(source: Conversion) -> None:
    """Write the equation of state."""
    speed = _sound_speed(source)
    if speed is not None:
        source.put("hydro.equation_of_state", "isothermal")
        source.put("hydro.sound_speed", speed, "iso_sound_speed")
        source.put("hydro.gamma", 5 / 3, "only of the energy in files, p / (gamma - 1)")
        source.carried(SPEED, "hydro/eos", now="hydro.equation_of_state, hydro.sound_speed")
        _not_used(source, *GAMMAS, "hydro/pfloor")
        return
    if (kind := str(source.get("hydro/eos", "ideal"))) != "ideal":
        raise source.refuse(
            f"eos = {kind} has no counterpart; supported: ideal, isothermal. For a table, convert "
            "the file with eos = ideal, write a table in the format of Octant "
            "(docs/real_gas.md) and set hydro.equation_of_state = table by hand"
        )
    name, gamma = _first(source, None, *GAMMAS)
    if gamma is None:
        raise source.refuse("neither gamma nor iso_sound_speed is set in <hydro>")
    source.put("hydro.gamma", float(gamma))
    source.carried(name, "hydro/eos", now="hydro.gamma")
    why = "gamma is set: Athena++ is taken as configured for an ideal gas. If not, remove gamma"
    source.account(SPEED, NOT_USED, "eos = ideal" if "hydro/eos" in source.settings else why)


def _hydro(source: Conversion) -> None:
    _gas(source)
    isothermal = _is_isothermal(source)
    name, solver = _first(source, "hllc", "hydro/rsolver")
    if solver not in RIEMANN:
        raise source.refuse(f"rsolver = {solver} has no counterpart")
    ours = (OF_ISOTHERMAL_GAS if isothermal else RIEMANN)[solver]
    source.put("hydro.riemann", ours)
    same = solver != "roe" and RIEMANN[solver] == ours
    (source.carried if same else source.changed)(name, now=f"hydro.riemann = {ours}")
    name, given = _first(source, "plm", "hydro/reconstruct", "time/xorder")
    method = RECONSTRUCTIONS.get(str(given))
    if method is None:
        raise source.refuse(f"{name} = {given} has no counterpart")
    source.put("hydro.reconstruction", method)
    if method == "plm":
        source.put("hydro.limiter", "van_leer")
    same = str(given) in ("plm", "2")
    (source.carried if same else source.changed)(name, now=f"hydro.reconstruction = {method}")
    for theirs, ours in (("dfloor", "density_floor"), ("pfloor", "pressure_floor")):
        if f"hydro/{theirs}" in source.settings and not (isothermal and theirs == "pfloor"):
            source.put(f"hydro.{ours}", float(source.get(f"hydro/{theirs}")))
            source.carried(f"hydro/{theirs}", now=f"hydro.{ours}")


def _refinement(source: Conversion) -> None:
    name = "mesh_refinement/" if source.get("mesh_refinement/refinement") else "mesh/"
    kind = str(source.get(f"{name}refinement", "none"))
    levels = int(_first(source, 1, f"{name}num_levels", f"{name}numlevel")[1])
    adaptive = kind == "adaptive"
    source.put("mesh.max_level", levels - 1 if adaptive else 0)
    if kind == "static":
        source.lost(f"{name}refinement", why="set refine.region_level, _lower, _upper by hand")
    source.carried(f"{name}refinement", now="mesh.max_level")
    source.changed(
        f"{name}num_levels", f"{name}numlevel", now="mesh.max_level, counted from the base grid"
    )
    fields = {"ddens_max": "density", "dpres_max": "pressure"}
    used = {
        f: float(source.get(name + n)) for n, f in fields.items() if name + n in source.settings
    }
    if adaptive:
        source.put("refine.gradient_fields", list(used) or ["density", "pressure"])
        source.put("refine.gradient", [0.5 * v for v in used.values()] or [0.05, 0.05])
    source.changed(
        *(name + n for n in fields), now="half of refine.gradient, which is relative to a sum"
    )
    if f"{name}dens_max" in source.settings and adaptive:
        most = float(source.get(f"{name}dens_max"))
        source.put("refine.density", [most] * (levels - 1))
        source.carried(f"{name}dens_max", now="refine.density")
    step = _first(source, None, f"{name}refinement_interval", f"{name}ncycle_check")
    if step[1] is not None:
        source.put("refine.interval", max(1, int(step[1])))
        source.carried(step[0], now="refine.interval")


def _time(source: Conversion) -> None:
    if source.get("time/tlim") is None:
        raise source.refuse("<time> lacks tlim")
    source.put("time.end", float(source.get("time/tlim")))
    source.carried("time/tlim", now="time.end")
    if int(source.get("time/nlim", -1)) >= 0:
        source.put("time.max_steps", int(source.get("time/nlim")))
    source.carried("time/nlim", now="time.max_steps")
    courant = min(0.8, 3 * float(source.get("time/cfl_number", 0.3)))
    source.put("time.cfl", courant, "fraction of a sum over axes")
    source.changed(
        "time/cfl_number", now="time.cfl: multiplied by 3, because speeds are summed over the axes"
    )
    scheme = str(source.get("time/integrator", "vl2"))
    if scheme not in SCHEMES:
        raise source.refuse(f"integrator = {scheme} has no counterpart")
    source.put("hydro.scheme", SCHEMES[scheme])
    same = SCHEMES[scheme] == scheme
    now = f"hydro.scheme = {SCHEMES[scheme]}"
    (source.carried if same else source.changed)("time/integrator", now=now)
    source.put("time.subcycle", False, "as all levels take the same step")
    if str(source.get("time/evolution", "dynamic")) != "dynamic":
        raise source.refuse("evolution: the gas always evolves")
    source.carried("time/evolution", now="the gas always evolves")


def _output(source: Conversion) -> None:
    outputs = {n.split("/")[0] for n in source.settings if n.startswith("output")}
    intervals = {}
    for block in sorted(outputs):
        kind = str(source.get(f"{block}/file_type"))
        every = [f"{block}/{n}" for n in ("file_type", "dt", "variable", "data_format", "id")]
        if kind in FIELDS and source.get(f"{block}/dt") is not None:
            intervals[block] = float(source.get(f"{block}/dt"))
            source.changed(*every, now="output.snapshot_interval: all fields, the shortest time")
        elif kind == "hst":
            source.changed(*every, now="history.csv, one row per step")
    positive = [value for value in intervals.values() if value > 0]
    if positive:
        source.put("output.snapshot_interval", min(positive))

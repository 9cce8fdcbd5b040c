"""Parameter file of CaNS, input.nml: channels, cavities and Taylor-Green vortices."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import h5py

from octools.cans import FIELDS, load
from octools.errors import OctoolsError, reading
from octools.files import whole_file
from octools.inputs.conversion import Conversion, require_short_lists
from octools.snapshot import AXES

MAPPINGS = {1: "tanh", 2: "tanh_lower", 3: "tanh_upper"}
SIDES = ("lower", "upper")
PROBLEMS = {
    **{"zer": "cavity", "tgv": "taylor_green", "poi": "channel", "cou": "couette"},
    "log": "channel",  # with a parabola instead of the law of the wall
}
# Velocities and pressure of those that formulas say; U stands for the bulk velocity.
FORMULAS = {
    "uni": (["1", "0", "0"], "0"),
    "tgw": (["cos(x) * sin(y)", "-sin(x) * cos(y)", "0"], "-(cos(2*x) + cos(2*y)) / 4"),
    "iop": (["U * (6 * z / L * (1 - z / L) - 1)", "0", "0"], "0"),
}
SCALAR = ("alphai", "beta", "gacc", "iniscal", "cbcscal_1", "bcscal_1", "ssource", "is_sforced")
AT_REST = (["0", "0", "0"], "0")
PRESSURE = {"periodic": "P", "outflow": "D"}  # what goes with other sides is "N"
DEFAULTS = {
    **{"nscal": 0, "gr": 0.0, "gtype": 1, "visci": 1.0, "inivel": "zer", "is_wallturb": False},
    **{"cfl": 0.8, "dtmax": 0.0, "dt_f": -1.0, "nstep": 1, "time_max": 1e9, "tw_max": 0.0},
    **{"stop_type": [True, False, False], "is_forced": [False] * 3, "bforce": [0.0] * 3},
    **{"velf": [0.0] * 3, "bcpre": [0.0] * 6, "nsaves_max": 0, "iout0d": 1},
    **{f"cbcvel_{c}": ["P"] * 6 for c in (1, 2, 3)},
    **{f"bcvel_{c}": [0.0] * 6 for c in (1, 2, 3)},
    **{"alphai": 1.0, "beta": 1.0, "gacc": [0.0] * 3, "iniscal": "zer", "ssource": 0.0},
    **{"cbcscal_1": ["P"] * 6, "bcscal_1": [0.0] * 6, "is_sforced": False},
    "is_boussinesq_buoyancy": False,
    "is_gridpoint_natural_channel": False,
    **dict.fromkeys(("is_impdiff", "is_impdiff_1d", "is_poisson_dtdma", "restart"), False),
}


def convert(path: Path, initial: Path | None = None) -> Conversion:
    """Convert a parameter file of CaNS to parameters of Octant.

    Parameters
    ----------
    path
        CaNS's ``input.nml``.
    initial
        A folder with initial fields ``u_init.npy``, ..., each [i][j][k], which the run is to begin
        with: `write_initial` turns them into ``problem.path``, which is still to be set.
    """
    source = Conversion(path, _read(path), DEFAULTS)
    source.put("model", "dns")
    with source.naming_settings():
        _grid(source)
        _flow(source)
        _time(source)
        _problem(source, initial)
        _scalar(source, initial)
        _output(source)
    return source


def _read(path: Path) -> dict[str, Any]:
    """Read the assignments: names in lower case, a value, or a list of them."""
    require_short_lists(path)
    with reading(path, "input.nml of CaNS"):
        text = path.read_text()
    text = re.sub(r"!.*", "", text)
    name = r"([A-Za-z_]\w*)\s*(\([^)]*\))?\s*=(?!=)"
    found = list(re.finditer(name, text))
    ends = [*(match.start() for match in found[1:]), len(text)][: len(found)]
    values = {
        match[1].lower() + _last_index(match[2]): _values(text[match.end() : end])
        for match, end in zip(found, ends, strict=True)
    }
    if "ng" not in values or "l" not in values:
        raise OctoolsError(f"{path} is not a CaNS parameter file: ng or l is missing")
    return values


def _last_index(indices: str | None) -> str:
    """Tell the components of a tensor apart: ``(0:1,1:3,2)`` becomes ``_2``, all of them ``_1``."""
    parts = (indices or "").strip("()").split(",")
    return f"_{parts[2].strip().replace(':', '1')}" if len(parts) == 3 else ""


def _values(text: str) -> list[Any]:
    tokens = re.findall(r"'[^']*'|\"[^\"]*\"|[^\s,/&]+", text.split("\n&")[0])
    values: list[Any] = []
    for token in tokens:
        if token[0] in "'\"":
            values.append(token[1:-1])
        elif re.fullmatch(r"\.?[tT](rue)?\.?|\.TRUE\.", token):
            values.append(True)
        elif re.fullmatch(r"\.?[fF](alse)?\.?|\.FALSE\.", token):
            values.append(False)
        elif re.fullmatch(r"[+-]?\d+", token):
            values.append(int(token))
        else:
            try:
                values.append(float(re.sub("[dD]", "e", token)))
            except ValueError:
                break  # the beginning of the next group
    return values


def _one(source: Conversion, name: str) -> Any:
    """Return the only value of a name, or its first."""
    value = source.get(name)
    return value[0] if isinstance(value, list) else value


def _grid(source: Conversion) -> None:
    source.put("grid.cells", [int(n) for n in source.get("ng")])
    source.put("grid.size", [float(x) for x in source.get("l")])
    source.carried("ng", now="grid.cells")
    source.carried("l", now="grid.size")
    factor = float(_one(source, "gr"))
    if _one(source, "is_gridpoint_natural_channel"):
        raise source.refuse(
            "is_gridpoint_natural_channel has no counterpart; write the faces to a file and use "
            'grid.stretching = "file"'
        )
    if factor == 0.0:
        source.carried("gtype", "gr", now="an even grid along z")
        return
    kind = int(_one(source, "gtype"))
    if kind not in MAPPINGS:
        raise source.refuse(
            f"gtype = {kind} has no counterpart; write the faces to a file and use "
            'grid.stretching = "file"'
        )
    source.put("grid.stretching", MAPPINGS[kind])
    source.put("grid.stretching_factor", factor)
    source.carried("gtype", "gr", now="grid.stretching, grid.stretching_factor")


def _flow(source: Conversion) -> None:
    source.put("dns.viscosity", 1.0 / float(_one(source, "visci")))
    source.changed("visci", now="dns.viscosity = 1 / visci")
    if _one(source, "is_impdiff_1d"):
        source.put("dns.diffusion", "implicit_z")
    elif _one(source, "is_impdiff"):
        source.put("dns.diffusion", "implicit")
    source.carried("is_impdiff", "is_impdiff_1d", now="dns.diffusion")
    if _one(source, "is_poisson_dtdma"):
        source.put("dns.poisson", "ptdma")
    source.carried("is_poisson_dtdma", now="dns.poisson")
    for axis in range(3):
        sides = [_side(source, axis, end) for end in range(2)]
        source.put(f"dns.boundary_{AXES[axis]}", [kind for kind, _ in sides])
        for end, (_, velocity) in enumerate(sides):
            if any(velocity):
                source.put(f"dns.velocity_{AXES[axis]}_{SIDES[end]}", velocity)
    source.carried(*(f"cbcvel_{c}" for c in (1, 2, 3)), now="dns.boundary_*")
    source.carried(*(f"bcvel_{c}" for c in (1, 2, 3)), now="dns.velocity_*")
    source.changed(
        "cbcpre",
        "bcpre",
        now="dns.boundary_*: the velocity conditions determine the pressure conditions",
    )
    _forcing(source)


def _side(source: Conversion, axis: int, end: int) -> tuple[str, list[float]]:
    """Tell what a side of the domain is, and its velocity."""
    place = 2 * axis + end
    kinds = [source.get(f"cbcvel_{c}")[place] for c in (1, 2, 3)]
    velocity = [float(source.get(f"bcvel_{c}")[place]) for c in (1, 2, 3)]
    normal, tangential = kinds[axis], {kinds[c] for c in range(3) if c != axis}
    at_rest = not any(velocity)
    where = f"the {SIDES[end]} {AXES[axis]} boundary"
    found: tuple[str, list[float]] | None = None
    if normal == "P":
        found = "periodic", [0.0] * 3
    elif normal == "D" and tangential == {"D"}:
        found = ("inflow" if velocity[axis] else "wall"), velocity
    elif normal == "D" and tangential == {"N"} and at_rest:
        found = "free_slip", [0.0] * 3
    elif normal == "N" and tangential == {"N"} and at_rest:
        found = "outflow", [0.0] * 3
    if found is None:
        raise source.refuse(
            f"{where} has the conditions {', '.join(kinds)} for u, v, w, which have no counterpart"
        )
    wanted = PRESSURE.get(found[0], "N")
    given = source.get("cbcpre", [wanted] * 6)[place]
    if given != wanted or float(source.get("bcpre")[place]) != 0.0:
        raise source.refuse(
            f"{where}, {found[0]}, has a pressure condition (cbcpre = {given}, bcpre) that has no "
            f"counterpart; expected {wanted} with 0"
        )
    return found


def _forcing(source: Conversion) -> None:
    forced = [bool(f) for f in source.get("is_forced")]
    force = [float(f) for f in source.get("bforce")]
    if sum(forced) + sum(f != 0.0 for f in force) > 1 or forced[2] or force[2]:
        raise source.refuse("a flow can be forced along one axis only, x or y")
    for axis in range(2):
        if forced[axis] or force[axis]:
            kind = "bulk_velocity" if forced[axis] else "pressure_gradient"
            value = float(source.get("velf")[axis]) if forced[axis] else force[axis]
            source.put("dns.forcing", kind)
            source.put("dns.forcing_axis", AXES[axis])
            source.put(f"dns.{kind}", value)
    source.carried("is_forced", "bforce", now="dns.forcing")
    if any(forced):
        source.carried("velf", now="dns.bulk_velocity")


def _time(source: Conversion) -> None:
    by_step, by_time, by_clock, *_ = [*source.get("stop_type"), False, False]
    source.put("time.end", float(_one(source, "time_max")) if by_time else 1e9)
    if by_step:
        source.put("time.max_steps", int(_one(source, "nstep")))
    source.put("time.cfl", min(1.0, float(_one(source, "cfl"))))
    source.changed("cfl", now="time.cfl: fraction of the linearly stable time step")
    longest, fixed = (float(_one(source, name)) for name in ("dtmax", "dt_f"))
    if longest > 0.0:
        source.put("time.largest_step", longest)
    if fixed > 0.0:
        source.put("time.step", fixed)
    if by_clock:
        source.put("run.walltime", 3600.0 * float(_one(source, "tw_max")))
    source.carried("dtmax", now="time.largest_step")
    source.carried("dt_f", now="time.step")
    source.carried("stop_type", now="which of time.max_steps, time.end and run.walltime are set")
    limits = {"nstep": "time.max_steps", "time_max": "time.end", "tw_max": "run.walltime, in s"}
    for (name, now), counts in zip(limits.items(), (by_step, by_time, by_clock), strict=True):
        if counts:
            source.carried(name, now=now)
        else:
            source.lost(name, why=f"not used with this stop_type; the counterpart is {now}")


def _problem(source: Conversion, initial: Path | None) -> None:
    kind = str(_one(source, "inivel"))
    channel = initial is None and PROBLEMS.get(kind) == "channel"
    if initial is not None:
        source.put("problem.name", "stored_flow")
        source.changed("inivel", now='problem.name = "stored_flow": the given fields')
        source.lost("is_wallturb", why="the given fields are used unchanged")
    elif kind in FORMULAS or (kind == "zer" and int(_one(source, "nscal"))):
        _formulas(source, *FORMULAS.get(kind, AT_REST))
        source.carried("inivel", now='problem.name = "expression"')
    elif kind in PROBLEMS:
        source.put("problem.name", PROBLEMS[kind])
        if kind == "log":
            source.changed("inivel", now='problem.name = "channel": perturbed parabolic profile')
        source.carried("inivel", now="problem.name")
    else:
        known = ", ".join([*PROBLEMS, *FORMULAS])
        raise source.refuse(
            f"inivel = '{kind}' has no counterpart; supported: {known}, or use --initial"
        )
    if channel:
        source.put("problem.bulk_velocity", float(source.settings.get("velf", [1.0])[0]))
        source.carried("velf", now="problem.bulk_velocity")
        if _one(source, "is_wallturb") or kind == "log":
            now = "problem.rolls and problem.noise: perturbations as in Octant"
            source.changed("is_wallturb", now=now)
        else:
            source.put("problem.rolls", 0.0)
            source.put("problem.noise", 0.0)
            source.carried("is_wallturb", now="problem.rolls = 0, problem.noise = 0")
    if _one(source, "is_wallturb") and not channel and initial is None:
        raise source.refuse(f"is_wallturb has a counterpart in channels only, not in '{kind}'")
    source.lost("is_wallturb", why="only channels (inivel = poi, log) are perturbed")
    source.lost("velf", why="no velocity is forced")


def _formulas(source: Conversion, velocity: list[str], pressure: str) -> None:
    source.put("problem.name", "expression")
    source.put("problem.velocity", velocity)
    source.put("problem.pressure", pressure)
    if any("U" in component for component in velocity):
        walls = source.get("bcvel_1")[4:6]
        source.put("problem.constants.U", 0.5 * abs(float(walls[0]) + float(walls[1])))
        source.put("problem.constants.L", float(source.get("l")[2]))


def _scalar(source: Conversion, initial: Path | None) -> None:
    """Carry over a scalar, which formulas can give a flow that does, too."""
    count = int(_one(source, "nscal"))
    source.carried("nscal", now="scalar.enabled")
    if count == 0:
        names = [name for name in SCALAR if name in source.settings]
        source.lost(*names, why="there is no scalar (nscal = 0)")
        return
    if count > 1 or initial is not None:
        raise source.refuse("there is one scalar (nscal), and none with --initial")
    if source.tables["problem"]["name"][0] != "expression":
        raise source.refuse("a scalar is supported only with inivel = zer, uni, tgw or iop")
    if float(_one(source, "ssource")) != 0.0 or _one(source, "is_sforced"):
        raise source.refuse("sources of the scalar (ssource, is_sforced) have no counterpart")
    source.put("scalar.enabled", True)
    source.put("scalar.diffusivity", 1.0 / float(_one(source, "alphai")))
    source.changed("alphai", now="scalar.diffusivity = 1 / alphai")
    gravity = [float(g) for g in source.get("gacc")]
    if _one(source, "is_boussinesq_buoyancy"):
        if gravity[0] or gravity[1]:
            raise source.refuse("gravity (gacc) is supported along z only")
        source.put("scalar.buoyancy", -gravity[2] * float(_one(source, "beta")))
    source.changed("gacc", "beta", now="scalar.buoyancy = -gacc beta")
    source.carried("is_boussinesq_buoyancy", now="scalar.buoyancy")
    source.carried("ssource", "is_sforced", "scalf", now="no source")
    kinds, values = source.get("cbcscal_1"), [float(v) for v in source.get("bcscal_1")]
    for a, axis in enumerate(AXES):
        own, at = kinds[2 * a : 2 * a + 2], values[2 * a : 2 * a + 2]
        if own == ["P", "P"]:
            continue
        if any(kind == "N" and value for kind, value in zip(own, at, strict=True)):
            raise source.refuse(f"a scalar flux through an {axis} boundary has no counterpart")
        source.put(f"scalar.boundary_{axis}", [{"D": "value"}.get(k, "insulated") for k in own])
        source.put(f"scalar.values_{axis}", at)
    source.carried("cbcscal_1", "bcscal_1", now="scalar.boundary_*, scalar.values_*")
    lower, upper = values[4:]
    height = float(source.get("l")[2])
    texts = {
        **{"zer": "0", "dhc": "0", "uni": repr(0.5 * (lower + upper))},
        "cou": f"{lower!r} + ({upper!r} - {lower!r}) * z / {height!r}",
    }
    if (kind := str(_one(source, "iniscal"))) not in texts:
        raise source.refuse(f"iniscal = '{kind}' has no counterpart; supported: {', '.join(texts)}")
    source.put("problem.scalar", texts[kind])
    source.carried("iniscal", now="problem.scalar")


def _output(source: Conversion) -> None:
    every = int(_one(source, "iout0d"))
    if every > 0:
        source.put("output.history_interval", every)
    source.carried("iout0d", now="output.history_interval")
    kept = int(_one(source, "nsaves_max"))
    if kept > 0:
        source.put("output.checkpoint_keep", kept)
        source.carried("nsaves_max", now="output.checkpoint_keep")
    source.lost(
        "nsaves_max", why="output.checkpoint_keep sets the number of checkpoints that are kept"
    )
    source.lost("is_overwrite_save", why="output.checkpoint_keep sets the number that is kept")
    source.lost(
        "isave",
        why="checkpoints are written at intervals of wall-clock time: output.checkpoint_interval",
    )
    source.lost("icheck", why="every step is checked")
    source.lost("iout1d", why="means over planes and times: [statistics]")
    source.lost(
        "iout2d",
        why="planes are written at intervals of time: output.slices, output.cutout_interval",
    )
    source.lost(
        "iout3d", why="snapshots are written at intervals of time: output.snapshot_interval"
    )
    if _one(source, "restart"):
        source.lost("restart", why="Octant restarts from its own checkpoints: --restart latest")
    source.carried("restart", now="a run starts from the initial conditions without --restart")
    split = "x".join(str(n) for n in source.get("dims", []))
    source.lost("dims", why=f'-n sets the number of ranks; grid.process_grid = "{split}"')
    source.lost("ipencil_axis", why="pencils are aligned with x")
    source.lost("is_gridpoint_natural_channel", why="switched off")
    source.lost("io_backend", "is_use_compression", why="files are HDF5, written by all ranks")
    source.lost("is_debug", "is_debug_poisson", "is_timing", why="[telemetry] measures each phase")


def has_initial(folder: Path) -> bool:
    """Return true if a folder holds initial fields."""
    return (folder / "u_init.npy").is_file()


def write_initial(folder: Path, path: Path) -> None:
    """Write the initial fields of a folder, as ``problem.path`` takes them."""
    with whole_file(path) as beside, h5py.File(beside, "w") as file:
        for name in FIELDS:
            file[f"fields/{name}"] = load(folder, name, "init")

"""CaNS's parameter file, input.nml: channels, cavities and Taylor-Green vortices."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import h5py

from octools.cans import FIELDS, load
from octools.errors import OctoolsError, reading
from octools.inputs.conversion import Conversion
from octools.snapshot import AXES

MAPPINGS = {1: "tanh", 2: "tanh_lower", 3: "tanh_upper"}
SIDES = ("lower", "upper")
PROBLEMS = {"zer": "cavity", "tgv": "taylor_green", "poi": "channel", "cou": "couette"}
PRESSURE = {"periodic": "P", "outflow": "D"}  # what goes with other sides is "N"
DEFAULTS = {
    **{"nscal": 0, "gr": 0.0, "gtype": 1, "visci": 1.0, "inivel": "zer", "is_wallturb": False},
    **{"cfl": 0.8, "dtmax": 0.0, "dt_f": -1.0, "nstep": 1, "time_max": 1e9, "tw_max": 0.0},
    **{"stop_type": [True, False, False], "is_forced": [False] * 3, "bforce": [0.0] * 3},
    **{"velf": [0.0] * 3, "bcpre": [0.0] * 6, "nsaves_max": 0, "iout0d": 1},
    **{f"cbcvel_{c}": ["P"] * 6 for c in (1, 2, 3)},
    **{f"bcvel_{c}": [0.0] * 6 for c in (1, 2, 3)},
    **dict.fromkeys(("is_impdiff", "is_impdiff_1d", "is_poisson_dtdma", "restart"), False),
}


def convert(path: Path, initial: Path | None = None) -> Conversion:
    """Say in Octant's parameters what a parameter file of CaNS says.

    Parameters
    ----------
    path
        CaNS's ``input.nml``.
    initial
        A folder with initial fields ``u_init.npy``, ..., each [i][j][k], which the run is to begin
        with: `write_initial` turns them into ``problem.path``, which is still to be set.
    """
    source = Conversion(path, _read(path), DEFAULTS)
    if int(_one(source, "nscal")) > 0:
        raise source.refuse("scalars (nscal) are not carried over; write [scalar] by hand")
    source.put("model", "dns")
    _grid(source)
    _flow(source)
    _time(source)
    _problem(source, initial)
    _output(source)
    source.carried("nscal", now="no scalar")
    return source


def _read(path: Path) -> dict[str, Any]:
    """Read the assignments: names in lower case, a value, or a list of them."""
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
        raise OctoolsError(f"{path} is no parameter file of CaNS: it sets no ng or no l")
    return values


def _last_index(indices: str | None) -> str:
    """Tell the components of a tensor apart: ``(0:1,1:3,2)`` becomes ``_2``."""
    parts = (indices or "").strip("()").split(",")
    return f"_{parts[2].strip()}" if len(parts) == 3 else ""


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
    source.changed("cbcpre", "bcpre", now="dns.boundary_*: the velocity's tell the pressure's")
    _forcing(source)


def _side(source: Conversion, axis: int, end: int) -> tuple[str, list[float]]:
    """Tell what a side of the domain is, and its velocity."""
    place = 2 * axis + end
    kinds = [source.get(f"cbcvel_{c}")[place] for c in (1, 2, 3)]
    velocity = [float(source.get(f"bcvel_{c}")[place]) for c in (1, 2, 3)]
    normal, tangential = kinds[axis], {kinds[c] for c in range(3) if c != axis}
    at_rest = not any(velocity)
    where = f"the {SIDES[end]} side of {AXES[axis]}"
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
            f"{where}, {found[0]}, has a condition of the pressure (cbcpre = {given}, bcpre) that "
            f"has no counterpart; there is {wanted} with 0"
        )
    return found


def _forcing(source: Conversion) -> None:
    forced = [bool(f) for f in source.get("is_forced")]
    force = [float(f) for f in source.get("bforce")]
    if sum(forced) + sum(f != 0.0 for f in force) > 1 or forced[2] or force[2]:
        raise source.refuse("a flow is forced along one axis, x or y")
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
    source.changed("cfl", now="time.cfl: of the longest step that linear theory calls stable")
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
            source.lost(name, why=f"stop_type leaves it out; {now} would be it")


def _problem(source: Conversion, initial: Path | None) -> None:
    kind = str(_one(source, "inivel"))
    if initial is not None:
        source.put("problem.name", "stored_flow")
        source.changed("inivel", now='problem.name = "stored_flow": the fields that are given')
        source.lost("is_wallturb", why="the fields that are given are taken as they are")
    elif kind not in PROBLEMS:
        raise source.refuse(
            f"inivel = '{kind}' has no counterpart; there are: {', '.join(PROBLEMS)}, or give "
            "--initial"
        )
    else:
        source.put("problem.name", PROBLEMS[kind])
        source.carried("inivel", now="problem.name")
    if initial is None and kind == "poi":
        source.put("problem.bulk_velocity", float(source.settings.get("velf", [1.0])[0]))
        source.carried("velf", now="problem.bulk_velocity")
        if _one(source, "is_wallturb"):
            now = "problem.rolls and problem.noise: disturbances of Octant's own"
            source.changed("is_wallturb", now=now)
        else:
            source.put("problem.rolls", 0.0)
            source.put("problem.noise", 0.0)
            source.carried("is_wallturb", now="problem.rolls = 0, problem.noise = 0")
    source.lost("is_wallturb", why="only channels (inivel = poi) are disturbed")
    source.lost("velf", why="nothing is forced to have it")


def _output(source: Conversion) -> None:
    every = int(_one(source, "iout0d"))
    if every > 0:
        source.put("output.history_interval", every)
    source.carried("iout0d", now="output.history_interval")
    kept = int(_one(source, "nsaves_max"))
    if kept > 0:
        source.put("output.checkpoint_keep", kept)
        source.carried("nsaves_max", now="output.checkpoint_keep")
    source.lost("nsaves_max", why="output.checkpoint_keep says how many checkpoints are kept")
    source.lost("is_overwrite_save", why="output.checkpoint_keep says how many are kept")
    source.lost("isave", why="checkpoints come by the clock: output.checkpoint_interval")
    source.lost("icheck", why="every step is checked")
    source.lost("iout1d", why="means over planes and times: [statistics]")
    source.lost("iout2d", why="planes come by time: output.slices, output.cutout_interval")
    source.lost("iout3d", why="snapshots come by time: output.snapshot_interval")
    if _one(source, "restart"):
        source.lost("restart", why="Octant goes on from its own checkpoints: --restart latest")
    source.carried("restart", now="a run begins anew without --restart")
    split = "x".join(str(n) for n in source.get("dims", []))
    source.lost("dims", why=f'-n says how many ranks share the work; grid.process_grid = "{split}"')
    source.lost("ipencil_axis", why="pencils lie along x")
    source.lost("is_debug", "is_debug_poisson", "is_timing", why="[telemetry] measures each phase")


def has_initial(folder: Path) -> bool:
    """Tell whether a folder holds initial fields."""
    return (folder / "u_init.npy").is_file()


def write_initial(folder: Path, path: Path) -> None:
    """Write the initial fields of a folder, as ``problem.path`` takes them."""
    with h5py.File(path, "w") as file:
        for name in FIELDS:
            file[f"fields/{name}"] = load(folder, name, "init")

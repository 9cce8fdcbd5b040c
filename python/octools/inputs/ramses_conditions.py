"""Initial conditions of RAMSES: regions of gas, a blast wave in uniform gas, grafic files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from octools.inputs.conversion import BY_HAND, LOST, Conversion
from octools.inputs.ramses_gas import ions, is_barotropic
from octools.inputs.ramses_source import Ramses, listed
from octools.inputs.ramses_values import cools, forms_stars
from octools.snapshot import AXES

REGION = ("x_center", "y_center", "z_center", "length_x", "length_y", "length_z", "exp_region")
STATE = ("d_region", "u_region", "v_region", "w_region", "p_region")
PATCHES = ("dice_params", "merger_params", "restart_params", "halo_params")
VOLUME = ("", " / cell_size", " / cell_size^2", " / cell_size^3")  # by dimensions; "": none
CRITICAL_DENSITY = 2.775366e11  # h^2 solar masses per Mpc^3
SOLAR_MASS = 1.98841e33  # g


def gas(ramses: Ramses) -> None:
    """Convert regions of gas; other initial conditions are left to be written."""
    s, source = ramses.s, ramses.source
    regions = [
        _region(ramses, n) for n in range(int(s.number("nregion") if s.has("nregion") else 0))
    ]
    kind = s.text("filetype").lower()
    patch = next((key for key in source.settings if key.partition("/")[0] in PATCHES), None)
    if not regions or kind != "ascii" or patch:
        if kind == "ascii" and not patch and s.has("nregion") and not s.has("initfile"):
            raise source.refuse("neither gas regions (nregion) nor a cosmology is set")
        _from_file(ramses)
        return
    names = ("nregion", "region_type", *REGION, *STATE)
    if is_barotropic(s):
        ramses.changed("p_region", now="hydro.equation_of_state replaces the pressure")
    particles = ramses.s.flag("pic") and ramses.s.has("initfile")
    if _is_blast(ramses, regions) and not particles:
        _blast(ramses, regions)
        now = "problem.name = sedov; the pressure of the point is the energy times gamma - 1"
        ramses.changed(*names, now=now)
        source.account(ramses.key("var_region"), LOST, "a blast wave has no scalars")
    else:
        _expressions(ramses, regions)
        ramses.changed(*names, now="problem.name = expression; conditions for the regions")
    ramses.carried("filetype", now="regions of gas, and ic_part in the folder initfile")
    if particles:
        _particles(ramses)
    else:
        ramses.not_used("initfile", why="RAMSES reads ic_part with pic = .true.")


def _particles(ramses: Ramses) -> None:
    """Read dark matter from ic_part, whose coordinates begin at the centre of the box."""
    source, folder = ramses.source, Path(str(listed(ramses.s.get("initfile"))[0] or "."))
    place = place_of(source, folder / "ic_part", Path.is_file)
    source.put("problem.particle_table", str(place or folder / "ic_part"), "ic_part of initfile")
    middle = 0.5 * ramses.s.number("boxlen")
    source.put("problem.particle_origin", [middle] * 3, "centre of the box")
    now = "problem.particle_table"
    if place is None:
        source.by_hand(ramses.key("initfile"), now=f"{now}: {folder / 'ic_part'} is missing")
    else:
        ramses.carried("initfile", now=f"{now}; dark matter")


def place_of(source: Conversion, path: Path, exists: Callable[[Path], bool]) -> Path | None:
    """Find a file or directory that a namelist names; None if there is none.

    Places count from where RAMSES runs: beside the namelist, or above, if it lies with the files.
    """
    places = (above / path for above in source.path.resolve().parents[:2])
    return next((place for place in places if exists(place)), None)


def _from_file(ramses: Ramses) -> None:
    """Leave initial conditions that RAMSES reads, or that are compiled into it, to be written."""
    source = ramses.source
    hint = "write the initial conditions with octools.write_initial"
    source.put("problem.name", "file")
    source.put("problem.path", "initial.h5", hint)
    now = f"problem.path: {hint}; RAMSES reads them from files or computes them in a patch"
    for name in ("filetype", "initfile", "nregion", "region_type", *REGION, *STATE, "var_region"):
        source.account(ramses.key(name), BY_HAND, now)


def _region(ramses: Ramses, n: int) -> dict[str, Any]:
    defaults = {"region_type": "square", "exp_region": 2.0} | dict.fromkeys(REGION[3:6], 1e10)
    region = {
        name: ramses.at(name, n, defaults.get(name, 0.0))
        for name in ("region_type", *REGION, *STATE)
    }
    region["region_type"] = str(region["region_type"]).lower()
    if region["region_type"] not in ("square", "point"):
        raise ramses.source.refuse(f"region_type = '{region['region_type']}' is unknown")
    return region


def _is_everything(ramses: Ramses, region: dict[str, Any]) -> bool:
    side = ramses.s.number("boxlen")
    reach = [
        2 * max(region[f"{a}_center"], side - region[f"{a}_center"]) / region[f"length_{a}"]
        for a in AXES
    ]
    power = float(region["exp_region"])
    return (max(reach) if power >= 10 else sum(r**power for r in reach) ** (1 / power)) < 1


def _is_blast(ramses: Ramses, regions: list[dict[str, Any]]) -> bool:
    """Return true for one point without mass in uniform gas at rest: the blast wave of Sedov."""
    if (
        ramses.dimensions < 3
        or is_barotropic(ramses.s)
        or len(regions) != 2
        or any(region[name] for region in regions for name in STATE[1:4])
    ):
        return False
    gas, point = regions
    kinds = (gas["region_type"], point["region_type"])
    return kinds == ("square", "point") and not point["d_region"] and _is_everything(ramses, gas)


def _blast(ramses: Ramses, regions: list[dict[str, Any]]) -> None:
    source, (gas, point) = ramses.source, regions
    energy = float(point["p_region"]) / (ramses.s.number("gamma") - 1)
    source.put("problem.name", "sedov")
    source.put("problem.energy", energy, "energy of the whole blast")
    source.put("problem.density", float(gas["d_region"]))
    source.put("problem.ambient_pressure", float(gas["p_region"]))
    source.put("problem.centre", [float(point[f"{a}_center"]) for a in AXES])
    source.put("problem.radius_cells", 1.0, "the eight finest cells around a node")


def _expressions(ramses: Ramses, regions: list[dict[str, Any]]) -> None:
    """Write the state as an expression of the regions: a later one replaces or adds to it."""
    s, source = ramses.s, ramses.source
    density, sound, gamma = (s.number(name) for name in ("smallr", "smallc", "gamma"))
    terms = [_term(ramses, n, region) for n, region in enumerate(regions)]
    first = [density, 0.0, 0.0, 0.0, density * sound**2 / gamma]
    states = [[float(region[name]) for region in regions] for name in STATE]
    is_density = [True, False, False, False, True]
    texts = [
        _state(start, of, terms, ramses.dimensions if by_volume else 0)
        for start, of, by_volume in zip(first, states, is_density, strict=True)
    ]
    source.put("problem.name", "expression")
    source.put("problem.density", texts[0])
    source.put("problem.velocity", texts[1:4])
    source.put("problem.pressure", texts[4])
    _scalars(ramses, terms)
    for term in terms:
        if term.text:
            source.put(f"problem.terms.{term.name}", term.text)


@dataclass
class Term:
    """Expression that says to what extent a cell belongs to a region.

    Attributes
    ----------
    name
        Name of the term in problem.terms.
    text
        The expression; empty for a region that is the whole box.
    is_point
        True for the fraction of a point that a cell holds, false for a condition.
    """

    name: str
    text: str
    is_point: bool


def _term(ramses: Ramses, n: int, region: dict[str, Any]) -> Term:
    if region["region_type"] == "point":
        return Term(f"at_point_{n + 1}", _fraction(region, ramses.dimensions), is_point=True)
    text = "" if _is_everything(ramses, region) else _condition(region)
    return Term(f"in_region_{n + 1}", text, is_point=False)


def _fraction(region: dict[str, Any], dimensions: int) -> str:
    """Return the part of a point in a cell: it is distributed to the nearest cells."""
    return " * ".join(
        f"max(0, 1 - abs({a} - {float(region[f'{a}_center'])!r}) / cell_size)"
        for a in AXES[:dimensions]
    )


def _state(first: float, values: list[float], terms: list[Term], power: int) -> str:
    """Return a quantity of all regions: a point adds its value, others replace that before them.

    The value of a point is divided by this power of the cell size: by the volume for densities.
    """
    text = repr(first)
    for value, term in zip(values, terms, strict=True):
        new = repr(value)
        if term.is_point:
            if value:
                each = f"{new} * {term.name}" + VOLUME[power]
                text = each if text == "0.0" else f"({text}) + {each}"
        elif not term.text:
            text = new
        elif new != text:
            text = f"{term.name} ? {new} : ({text})"
    return text


def _scalars(ramses: Ramses, terms: list[Term]) -> None:
    """Write metals and other passive scalars, which var_region lists variable by variable."""
    s, source = ramses.s, ramses.source
    given = listed(s.get("var_region"))
    if not given:
        return
    columns = [listed(column) for column in (given if isinstance(given[0], list) else [given])]
    texts = []
    for column in columns:
        values = [float(value or 0.0) for value in column] + [0.0] * len(terms)
        texts.append(_state(0.0, values[: len(terms)], terms, 0))
    places = []
    metals = [texts.pop(0)] if s.flag("metal") and (cools(s) or forms_stars(s) or ions(s)) else []
    if metals and (cools(s) or forms_stars(s)):
        source.put("problem.species.metals", metals.pop(), "mass fraction")
        places.append("problem.species.metals")
    if s.flag("delayed_cooling") and (cools(s) or ions(s)) and texts:
        texts.pop(0)
    for name in ions(s)[: len(texts)]:
        fraction = texts.pop(0)
        if not s.flag("rt_is_init_xion") and (s.number("x") < 1 or name == "ionized_hydrogen"):
            source.put(f"problem.species.{name}", fraction, "fraction of the nuclei")
            places.append(f"problem.species.{name}")
    texts = metals + texts
    if texts:
        source.put("hydro.scalars", len(texts))
        source.put("problem.scalars", texts)
        places.append("problem.scalars")
    otherwise = "ions start as rt_is_init_xion says" if ions(s) else "delayed cooling starts at 0"
    ramses.changed("var_region", now=", ".join(places) or otherwise)


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


# --- cosmology ------------------------------------------------------------------------------------


@dataclass
class Universe:
    """Cosmological initial conditions.

    Attributes
    ----------
    finest
        Finest level of the initial conditions.
    gas_share
        Share of gas in all matter, if it is known.
    gas_mass
        Gas mass of a cell of the finest level in solar masses, if the box is known.
    """

    finest: int
    gas_share: float | None
    gas_mass: float | None


def cosmology(ramses: Ramses) -> Universe:
    """Begin from grafic files, which know the box; those that are there fill it in."""
    from octools.ics import is_grafic, read_levels

    s, source = ramses.s, ramses.source
    files = [Path(str(name)) for name in listed(s.get("initfile")) if name and str(name).strip()]
    if s.text("filetype").lower() != "grafic" or not files:
        raise source.refuse("a cosmological run requires grafic files: filetype, initfile")
    folder = files[0].parent
    place = place_of(source, folder, is_grafic)
    source.put("problem.name", "cosmology")
    source.put("initial.kind", "grafic")
    source.put("initial.path", str(place or folder))
    source.put("cosmology.enabled", True)
    numbers = _numbers_of_namelist(ramses)
    if place is not None:
        found = read_levels(place)[0].universe
        numbers = {n: float(getattr(found, n)) for n in ("omega_m", "omega_lambda", "h", "box")}
    for name, value in numbers.items():
        origin = "taken from the files" if place is not None else "see the files"
        source.put(f"cosmology.{name}", value, origin)
    if place is None:
        missing = "the files are missing: set omega_m, omega_lambda, h and box as in the files"
        source.put("cosmology.box", 0.0, missing)
        expected = f"level_{ramses.levels[0]:03}"
        now = f"initial.path: the files are missing; expected a directory with {expected}, ..."
        source.account(ramses.key("initfile"), BY_HAND, now)
    omega_b = 0.0 if ramses.old and not s.has("omega_b") else s.number("omega_b")
    if s.flag("hydro") or s.has("omega_b"):
        origin = "omega_b" if s.has("omega_b") else "omega_b, default of RAMSES"
        source.put("cosmology.omega_b", omega_b, origin)
    _epochs(ramses)
    finest = ramses.levels[0] + len(files) - 1
    share = omega_b / numbers["omega_m"] if numbers.get("omega_m") else None
    mass = None
    if place is not None:
        box, h = numbers["box"], numbers["h"]
        mass = CRITICAL_DENSITY * omega_b * box**3 / h / 8.0**finest
    return Universe(finest, share, mass)


def _numbers_of_namelist(ramses: Ramses) -> dict[str, float]:
    names = {"omega_m": ("omega_m", 1.0), "omega_l": ("omega_lambda", 1.0), "h0": ("h", 0.01)}
    return {
        ours: factor * ramses.s.number(theirs)
        for theirs, (ours, factor) in names.items()
        if ramses.s.has(theirs)
    }


def _epochs(ramses: Ramses) -> None:
    s, source = ramses.s, ramses.source
    times = [a for a in s.numbers("aout") if a <= 1.0] if s.has("aout") else []
    times = times[: int(s.number("noutput")) or None]
    last = s.number("aend") if s.number("aend") > 0 else max(times, default=1.0)
    source.put("cosmology.end", f"a = {last!r}")
    step = s.number("delta_aout") if s.has("delta_aout") else 0.0
    if 0 < step < last:
        times += [float(f"{n * step:.9g}") for n in range(1, int(last / step) + 1)]
    epochs = [a for a in sorted(set(times)) if a <= last]
    source.put("cosmology.snapshots", [f"a = {a!r}" for a in epochs])

"""Parameters of ionising radiation of Octant from the settings of RAMSES-RT (RT_PARAMS, RT_GROUPS).

RAMSES-RT (Rosdahl et al. 2013, MNRAS 436, 2188) assigns cross sections and sources to groups of
photons one by one. Octant averages over one spectrum, which distributes the photons of a source.
"""

# The table of rules describes each value.
# ruff: noqa: D103

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from octools.inputs.conversion import BY_HAND, CHANGED, LOST, NOT_USED
from octools.inputs.ramses_gas import UNITS, ionizes, lacks_units, why_dark
from octools.inputs.ramses_rules import Note, Settings
from octools.inputs.ramses_source import listed
from octools.inputs.ramses_spectra import THRESHOLDS, Group, black_body, temperature_of

MOST_GROUPS = 3  # of Octant
MOST_GROUPS_READ = 1000  # of a namelist
MOST_SOURCES = 100  # MAXREGION of RAMSES
MOST_SUBSTEPS = 4  # of Octant on refined meshes
NEAR = 0.005  # relative difference of energies that count as equal
OFF = "rt = .false."
CFL = "divided by √3: the step is cfl dx / (√3 c'), in RAMSES f dx / (3 c')"


def enabled(s: Settings) -> Any:
    if not s.flag("rt"):
        return Note(None, OFF, NOT_USED)
    if reason := why_dark(s):
        return Note(False, reason, LOST)
    if lacks_units(s):
        return Note(False, f"ionization.enabled = true {UNITS}", BY_HAND)
    return True


def of_photons(value: Callable[[Settings], Any]) -> Callable[[Settings], Any]:
    """Return a rule that holds only where Octant follows photons."""

    def rule(s: Settings) -> Any:
        if ionizes(s):
            return value(s)
        return Note(None, OFF if not s.flag("rt") else "see rt", NOT_USED)

    return rule


def at_rest(s: Settings) -> Any:
    if s.flag("static_gas") or (s.flag("static") and s.flag("rt")):
        return Note(False, "the gas remains at rest; the mesh is refined as usual")
    if s.flag("static"):
        return Note(None, "gas and mesh always evolve; hydro.moves = false keeps gas at rest", LOST)
    return Note(None, "off", NOT_USED)


# --- transport ------------------------------------------------------------------------------------


def speed_ratio(s: Settings) -> Any:
    given = s.numbers("rt_c_fraction")
    if not all(0 < value <= 1 for value in given):
        raise ValueError("expected numbers above 0 and up to 1")
    if len(set(given)) > 1:
        return Note(max(given), "the largest number, on all levels")
    return given[0]


def courant(s: Settings) -> Any:
    value = s.number("rt_courant_factor")
    if value <= 0:
        raise ValueError("expected a number above 0")
    return Note(float(f"{min(1.0, value / 3**0.5):.6g}"), CFL)


def substeps(s: Settings) -> Any:
    given = max(1, int(s.positive("rt_nsubcycle")))
    if s.number("levelmax") > s.number("levelmin") and given > MOST_SUBSTEPS:
        return Note(MOST_SUBSTEPS, f"at most {MOST_SUBSTEPS} on refined meshes")
    return given


def flux(s: Settings) -> Any:
    scheme = s.text("rt_flux_scheme").lower()
    if scheme == "glf":
        return Note(None, "photons always have local fluxes of Lax and Friedrichs", CHANGED)
    return Note(None, f"'{scheme}' is not available: the fluxes are those of 'glf'", LOST)


# --- groups ---------------------------------------------------------------------------------------


def of_group(s: Settings, name: str, group: int, default: Any = None) -> Any:
    """Return the value of a group, counted from 1."""
    values = listed(s.get(name))
    return values[group - 1] if group <= len(values) and values[group - 1] is not None else default


def number_of_groups(s: Settings) -> int:
    """Return the number of groups that the namelist implies: it is compiled into RAMSES."""
    counts = [len(listed(s.get(name))) for name in ("group_egy", "groupl0", "groupl1")]
    sources = [int(g) for g in s.numbers("rt_src_group")] if s.has("rt_src_group") else []
    count = max([*counts, *sources])
    if count > MOST_GROUPS_READ:
        raise ValueError(f"{count} groups of photons; expected at most {MOST_GROUPS_READ}")
    return count or (1 if s.has("rt_nsource") else MOST_GROUPS)


def lowest_energy(s: Settings, group: int) -> float:
    default = THRESHOLDS[group - 1] if group <= len(THRESHOLDS) else THRESHOLDS[0]
    return float(of_group(s, "groupl0", group, default))


def ionizing_groups(s: Settings) -> dict[int, float]:
    """Return the lowest energy of each group that Octant has, by the number in RAMSES."""
    lowest = {group: lowest_energy(s, group) for group in range(1, number_of_groups(s) + 1)}
    chosen = sorted((energy, n) for n, energy in lowest.items() if energy >= 0.99 * THRESHOLDS[0])
    groups: dict[int, float] = {}
    for energy, group in chosen:
        if len(groups) < MOST_GROUPS and energy not in groups.values():
            groups[group] = energy
    if not groups:
        s.get("groupl0")
        raise ValueError("no group has photons that ionise hydrogen: groupL0 >= 13.6")
    return groups


def edges(s: Settings) -> Any:
    groups, count = ionizing_groups(s), number_of_groups(s)
    energies = list(groups.values())
    remarks = []
    if missing := [str(g) for g in range(1, count + 1) if g not in groups]:
        remarks.append(
            f"group(s) {', '.join(missing)} are not available: at most {MOST_GROUPS} groups of "
            f"different photons above {THRESHOLDS[0]} eV"
        )
    ends = [*energies[1:], 0.0]
    for group, end in zip(groups, ends, strict=True):
        upper = float(of_group(s, "groupl1", group, end))
        if upper != end and abs(upper - end) > NEAR * max(upper, end):
            now = f"{end:g} eV" if end > 0 else "infinity"
            remarks.append(f"group {group} ends at {now} instead of groupL1 = {upper:g}")
    if not s.has("groupl0", "group_egy"):
        remarks.append("RAMSES has the number of groups that was compiled into it (NGROUPS)")
        return Note(energies, "; ".join(remarks), BY_HAND)
    if remarks:
        return Note(energies, "; ".join(remarks), BY_HAND if missing else CHANGED)
    return energies


def mean_energies(s: Settings) -> list[float]:
    """Return the mean energies of the groups that Octant has; empty if the namelist lacks some."""
    found = [of_group(s, "group_egy", group) for group in ionizing_groups(s)]
    return [] if None in found else [float(energy) for energy in found]


def is_monochromatic(s: Settings) -> bool:
    """Return true if all photons of a group have its lowest energy."""
    means, lowest = mean_energies(s), ionizing_groups(s).values()
    return bool(means) and all(
        abs(mean - low) <= NEAR * low for mean, low in zip(means, lowest, strict=True)
    )


def temperature(s: Settings) -> float:
    means = mean_energies(s)
    if not means or is_monochromatic(s) or min(means) <= 0:
        return 1e5
    return temperature_of(list(ionizing_groups(s).values()), means)


def averages(s: Settings) -> list[Group]:
    """Return the averages that Octant has with the spectrum of the converted file."""
    energies = list(ionizing_groups(s).values())
    if not is_monochromatic(s):
        return black_body(energies, temperature(s))
    return [Group.monochromatic(energy, len(energies)) for energy in energies]


def spectrum(s: Settings) -> Any:
    if is_monochromatic(s):
        return Note("monochromatic", "group_egy is the lowest energy of each group")
    if not s.has("group_egy"):
        return Note("black_body", "of 1e5 K, as the default groups of RAMSES-RT")
    return Note("black_body", f"{_energies(s)}; Octant averages over the spectrum")


def _energies(s: Settings) -> str:
    ours = ", ".join(f"{group.energy:.4g}" for group in averages(s))
    return f"mean photon energies {ours} eV"


def spectrum_temperature(s: Settings) -> Any:
    if is_monochromatic(s):
        return Note(None, "photons are monochromatic", NOT_USED)
    value = temperature(s)
    means = mean_energies(s)
    if not means:
        return Note(value, "black body of 1e5 K, as the default groups of RAMSES-RT")
    worst = max(abs(g.energy / e - 1) for g, e in zip(averages(s), means, strict=True))
    remark = f"closest black body: {_energies(s)}, up to {100 * worst:.2g} % from group_egy"
    return Note(value, remark, BY_HAND if worst > 0.1 else CHANGED)


def sections(name: str) -> Callable[[Settings], Any]:
    """Return a rule that compares given cross sections with those of the spectrum."""

    def rule(s: Settings) -> Any:
        given = _table(s, name)
        worst, where = 0.0, ""
        for group, ours in zip(ionizing_groups(s), averages(s), strict=True):
            for atom, (label, own) in enumerate(zip(ATOMS, ours.sections, strict=True)):
                theirs = given.get((group, atom))
                if theirs and abs(own / theirs - 1) > worst:
                    worst = abs(own / theirs - 1)
                    where = f"{label}, group {group}: {own:.4g} instead of {theirs:.4g} cm²"
        remark = "Octant averages over ionization.spectrum"
        if name == "group_cse":
            return Note(None, f"{remark}, weighted with the excess energy for the heating", CHANGED)
        if where:
            remark += f"; largest difference: {where} ({100 * worst:.2g} %)"
        return Note(None, remark, BY_HAND if worst > 0.1 else CHANGED)

    return rule


ATOMS = ("H I", "He I", "He II")


def _table(s: Settings, name: str) -> dict[tuple[int, int], float]:
    """Return an array (group, atom): by group, counted from 1, and atom, from 0."""
    values = listed(s.get(name))
    if values and isinstance(values[0], list):
        columns = [listed(column) for column in values]
    else:  # in Fortran's order
        count = number_of_groups(s)
        columns = [values[n : n + count] for n in range(0, len(values), count)]
    return {
        (group, atom): float(value)
        for atom, column in enumerate(columns[: len(ATOMS)])
        for group, value in enumerate(column, 1)
        if value is not None
    }


# --- gas ------------------------------------------------------------------------------------------


def hydrogen_fraction(s: Settings) -> Any:
    hydrogen, helium = s.number("x"), s.number("y")
    if s.flag("metal") or abs(hydrogen + helium - 1) < 0.01:
        return hydrogen
    if not s.has("y"):
        return hydrogen if hydrogen < 1 else Note(hydrogen, "no helium")
    return Note(hydrogen, f"the rest is helium; Y = {helium:g} in RAMSES")


def constant_temperature(s: Settings) -> Any:
    if s.number("rt_tconst") >= 0:
        remark = "temperature of the gas; in RAMSES only of its rates, without heating and cooling"
        return Note(s.number("rt_tconst"), remark)
    return 0.0


def initial_ions(s: Settings) -> Any:
    if s.flag("rt_is_init_xion"):
        remark = (
            "gas begins neutral, in RAMSES in collisional equilibrium: the same below 8000 K; "
            "ionization.initial_ions sets other fractions"
        )
        return Note(None, remark, BY_HAND)
    return Note(None, "the fractions of ions are those of var_region, in problem.species", CHANGED)


def pressure(s: Settings) -> Any:
    boost = s.number("rt_pressboost")
    if boost in (0, 1):
        return boost == 1
    return Note(True, f"without the factor rt_pressBoost = {boost:g}", BY_HAND)


# --- point sources --------------------------------------------------------------------------------


@dataclass
class Sources:
    """Point sources, all groups together.

    Attributes
    ----------
    rates
        Photons per second by position.
    by_group
        Photons per second by group of RAMSES.
    remarks
        Settings that are not converted, with the reason.
    """

    rates: dict[tuple[float, ...], float] = field(default_factory=dict)
    by_group: dict[int, float] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)


def sources(s: Settings) -> Sources:
    """Return the point sources; those of several groups at the same place are one."""
    found = Sources()
    groups, last = ionizing_groups(s), number_of_groups(s)
    count = int(s.positive("rt_nsource"))
    if count > MOST_SOURCES:
        raise ValueError(f"expected at most {MOST_SOURCES}")
    for n in range(1, count + 1):
        kind = str(of_group(s, "rt_source_type", n, "square")).strip().lower()
        group = int(of_group(s, "rt_src_group", n, 1))
        if kind != "point":
            found.remarks.append(f"source {n} is a '{kind}': photons enter at inflow boundaries")
        elif 1 <= group <= last and group not in groups:
            found.remarks.append(f"source {n} emits into group {group}, which is not available")
        elif group in groups:
            place = tuple(float(of_group(s, f"rt_src_{axis}_center", n, 0.0)) for axis in "xyz")
            rate = float(of_group(s, "rt_n_source", n, 0.0))
            found.rates[place] = found.rates.get(place, 0.0) + rate
            found.by_group[group] = found.by_group.get(group, 0.0) + rate
            if any(of_group(s, f"rt_{u}_source", n, 0.0) for u in "uvw"):
                found.remarks.append(f"source {n} is isotropic, in RAMSES a beam")
    return found


def position(axis: int) -> Callable[[Settings], Any]:
    """Return a rule for the positions of point sources along an axis."""
    return lambda s: [place[axis] for place in sources(s).rates] or None


def rates(s: Settings) -> Any:
    found = sources(s)
    values = [float(f"{rate:.9g}") for rate in found.rates.values()]
    remarks, total = list(found.remarks), sum(found.by_group.values())
    if total > 0 and len(ionizing_groups(s)) > 1:
        theirs = [found.by_group.get(group, 0.0) / total for group in ionizing_groups(s)]
        ours = [group.photons for group in averages(s)]
        worst = max(abs(a - b) for a, b in zip(theirs, ours, strict=True))
        text = ", ".join(f"{share:.3f}" for share in ours)
        instead = ", ".join(f"{share:.3f}" for share in theirs)
        remarks.insert(0, f"ionization.spectrum shares them as {text}; in RAMSES {instead}")
        if worst > 0.05:
            return Note(values, "; ".join(remarks), BY_HAND)
    if found.remarks:
        return Note(values or None, "; ".join(remarks), BY_HAND)
    return Note(values, "; ".join(remarks)) if remarks and values else values or None


def star_rate(s: Settings) -> Any:
    if not s.flag("rt_star"):
        return Note(None, "stars are dark: rt_star = .false.", NOT_USED)
    escape = s.number("rt_esc_frac")
    remark = (
        "ionization.star_table: write the photons per second and solar mass of sed_dir to a text "
        f"file, times rt_esc_frac = {escape:g}; or set ionization.star_rate"
    )
    return Note(None, remark, BY_HAND)

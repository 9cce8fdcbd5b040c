"""Equation of state of Octant from the settings of barotropic gas in RAMSES.

RAMSES gives T/μ as a function of the density; the pressure is rho k_B T / (μ m_H).
"""

# The table of rules describes each value.
# ruff: noqa: D103

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from octools.inputs.conversion import BY_HAND, NOT_USED
from octools.inputs.ramses_gas import is_barotropic, lacks_units
from octools.inputs.ramses_rules import Note, Rule, Settings, Topic
from octools.inputs.ramses_values import wants_black_holes, wants_stars

BOLTZMANN = 1.380649e-16  # erg/K, of RAMSES
HYDROGEN = 1.660539e-24  # g, the atomic mass unit, with which RAMSES computes T/μ and n_H
HYDROGEN_FRACTION = 0.76

# Piecewise linear approximation of ln(1 + e^u) with an error of at most 0.0128, by its value f at
# u <= 0; f(-u) = f(u) - u. It is 0 below the first u.
SUM_AT = ((-4.3592224, 0.0), (-2.113334, 0.1013018), (-0.9349607, 0.3182526), (0.0, 0.6803274))

MISSPELLED = "expected isothermal, polytrope, double_polytrope, custom or legacy"


@dataclass(frozen=True)
class Gas:
    """Isothermal gas, or barotropic gas with densities.

    Attributes
    ----------
    sound_speed
        sqrt(p / rho) in code units, at the first density.
    densities
        Densities at which the exponent changes, in code units; empty for isothermal gas.
    exponents
        Exponents of the pressure below, between and above the densities.
    """

    sound_speed: float
    densities: tuple[float, ...] = ()
    exponents: tuple[float, ...] = ()

    @property
    def smallest_exponent(self) -> float:
        """The smallest exponent."""
        return min(self.exponents, default=1.0)

    @property
    def largest_exponent(self) -> float:
        """The largest exponent."""
        return max(self.exponents, default=1.0)


def form(s: Settings) -> str:
    return s.text("barotropic_eos_form").lower()


def gas(s: Settings) -> Gas | None:
    """Return the equation of state; None for an ideal gas."""
    if not is_barotropic(s):
        return None
    kind = form(s)
    if kind == "legacy":
        # n_star is a number of hydrogen nuclei per cm^3.
        grams = _above_zero(s, "n_star") * HYDROGEN / HYDROGEN_FRACTION
        return _polytrope(s, _above_zero(s, "t2_star"), grams, _above_zero(s, "g_star"))
    ratio = _above_zero(s, "t_eos") / _above_zero(s, "mu_gas")
    if kind == "isothermal":
        return Gas(_sound_speed(s, ratio))
    grams, index = _above_zero(s, "polytrope_rho"), _above_zero(s, "polytrope_index")
    if kind == "polytrope":
        return _polytrope(s, ratio, grams, index)
    if kind == "custom":
        return _polytrope(s, ratio, grams, index, below=1.0)
    if kind == "double_polytrope":
        return _sum_of_polytropes(s, ratio, grams, index)
    s.text("barotropic_eos_form")  # for the name in the error
    raise ValueError(MISSPELLED)


def _above_zero(s: Settings, name: str) -> float:
    value = s.number(name)
    if value <= 0:
        raise s.source.refuse(
            f"{name} = {value:g} is not supported with barotropic_eos_form = '{form(s)}'; "
            "expected a number above 0"
        )
    return value


def _sound_speed(s: Settings, ratio: float) -> float:
    """Return sqrt(p / rho) in code units for a T/μ in K."""
    unit = s.number("units_length") / s.number("units_time")
    return float(f"{math.sqrt(BOLTZMANN / HYDROGEN * ratio) / unit:.12g}")


def _polytrope(
    s: Settings, ratio: float, grams: float, index: float, below: float | None = None
) -> Gas:
    """Return T/μ = ratio (d/d0)^(index-1); up to d0 with another exponent, if `below` is given."""
    if index == 1.0:
        return Gas(_sound_speed(s, ratio))
    density = grams / s.number("units_density")
    return Gas(_sound_speed(s, ratio), (density,), (index if below is None else below, index))


def _sum_of_polytropes(s: Settings, ratio: float, grams: float, index: float) -> Gas:
    """Return an approximation of T/μ = ratio (1 + (d/d0)^(index-1))."""
    if index == 1.0:
        return Gas(_sound_speed(s, 2.0 * ratio))
    points = [*SUM_AT, *((-u, f - u) for u, f in reversed(SUM_AT[:-1]))]
    slopes = [0.0]
    for (u, f), (v, g) in pairwise(points):
        slopes.append((g - f) / (v - u))
    places = [u / (index - 1.0) for u, _ in points]
    values = [f for _, f in points]
    exponents = [float(f"{1.0 + (index - 1.0) * slope:.8g}") for slope in slopes] + [index]
    if index < 1.0:
        places, values, exponents = places[::-1], values[::-1], exponents[::-1]
    density = grams / s.number("units_density")
    densities = tuple(float(f"{density * math.exp(place):.8g}") for place in places)
    return Gas(_sound_speed(s, ratio * math.exp(values[0])), densities, tuple(exponents))


def refuse_combinations(s: Settings) -> None:
    """Refuse settings of physics that Octant does not combine with barotropic gas.

    Raises
    ------
    OctoolsError
        With the names of the settings.
    """
    if not is_barotropic(s):
        return
    name = "barotropic_eos" if s.flag("barotropic_eos") else "isothermal"
    reasons = {
        "cosmo = .true., because the unit of velocity changes with the scale factor": s.flag(
            "cosmo"
        ),
        "star formation (eps_star, t_star)": wants_stars(s),
        "black holes (sink, smbh)": wants_black_holes(s),
        "EOS_PARAMS, whose equations of state (patch hydro/eos) depend on the cell size": any(
            key.startswith("eos_params/") for key in s.source.settings
        ),
        "jeans_ncells, which makes the pressure depend on the cell size": form(s) == "legacy"
        and s.number("jeans_ncells") > 0,
    }
    for reason, is_set in reasons.items():
        if is_set:
            raise s.source.refuse(
                f"{name} = .true. is not supported with {reason}. Remove one of the settings"
            )


# --- values of the rules --------------------------------------------------------------------------


def equation_of_state(s: Settings) -> Any:
    found = gas(s)
    if found is None:
        if s.flag("barotropic_eos") or s.flag("isothermal"):
            return Note(None, "hydro = .false.: there is no gas", NOT_USED)
        if form(s) != "legacy":
            return Note(None, "barotropic_eos = .false.", NOT_USED)
        return "ideal"
    value = "barotropic" if found.densities else "isothermal"
    if form(s) == "custom":
        remark = (
            "isothermal up to polytrope_rho, polytrope_index above, as in the source of RAMSES; if "
            "a patch contains another function, set hydro.barotropic_densities and exponents"
        )
        return Note(value, remark, BY_HAND)
    if form(s) == "double_polytrope" and found.densities:
        return Note(value, "the sum of two polytropes becomes 8 pieces, to 1.3 % in pressure")
    return value


def _value(*forms: str) -> Callable[[Callable[[Gas], Any]], Callable[[Settings], Any]]:
    """Return a rule for settings that RAMSES reads with the given forms of barotropic gas."""

    def rule(of: Callable[[Gas], Any]) -> Callable[[Settings], Any]:
        def value(s: Settings) -> Any:
            found = gas(s)
            if found is None:
                return Note(None, "" if "legacy" in forms else "the gas is ideal", NOT_USED)
            if form(s) not in forms:
                why = f"barotropic_eos_form = '{form(s)}' does not use this setting"
                return Note(None, why, NOT_USED)
            given = of(found)
            if given is None:
                return Note(None, "the gas is isothermal", NOT_USED)
            return given

        return value

    return rule


def _with_units(value: Callable[[Settings], Any]) -> Callable[[Settings], Any]:
    """Add a remark where the units are not set."""

    def rule(s: Settings) -> Any:
        found = value(s)
        if isinstance(found, Note) or not lacks_units(s):
            return found
        remark = "computed with units of 1 cgs; with those of a patched units.f90, set it by hand"
        return Note(found, remark, BY_HAND)

    return rule


NEW = ("isothermal", "polytrope", "double_polytrope", "custom")
sound_speed = _with_units(_value(*NEW)(lambda found: found.sound_speed))
densities = _with_units(_value(*NEW[1:])(lambda found: list(found.densities) or None))
exponents = _value(*NEW[1:])(lambda found: list(found.exponents) or None)
legacy_sound_speed = _with_units(_value("legacy")(lambda found: found.sound_speed))
legacy_densities = _with_units(_value("legacy")(lambda found: list(found.densities) or None))
legacy_exponents = _value("legacy")(lambda found: list(found.exponents) or None)

# fmt: off

EQUATION_OF_STATE = Topic(
    "Equation of state",
    "cooling_params physics_params",
    enabled=is_barotropic,
    rules=(
        Rule("barotropic_eos isothermal barotropic_eos_form", "hydro.equation_of_state",
             "isothermal, polytrope, custom, legacy; the sum of double_polytrope becomes 8 "
             "pieces, to 1.3 % in pressure. Refused with star formation, black holes and cosmo",
             default=(False, False, "legacy"), value=equation_of_state),
        Rule("t_eos mu_gas", "hydro.sound_speed", "√(k_B T_eos / (mu_gas m_H)) with the atomic "
             "mass unit as m_H; requires units", default=(10.0, 1.0), value=sound_speed),
        Rule("polytrope_rho", "hydro.barotropic_densities", "in g/cm³", default=1e50,
             value=densities),
        Rule("polytrope_index", "hydro.barotropic_exponents",
             "hydro.gamma is raised to this index if it is lower", default=1.0,
             value=exponents),
        Rule("t2_star", "hydro.sound_speed", "of legacy", default=0.0,
             value=legacy_sound_speed, groups="sf_params physics_params"),
        Rule("n_star", "hydro.barotropic_densities", "of legacy, in hydrogen nuclei per cm³",
             default=0.1, value=legacy_densities, groups="sf_params physics_params"),
        Rule("g_star", "hydro.barotropic_exponents", "of legacy", default=1.6,
             value=legacy_exponents, groups="sf_params physics_params"),
    ),
)

# fmt: on

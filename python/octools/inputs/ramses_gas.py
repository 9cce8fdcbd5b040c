"""Kind of gas that a namelist of RAMSES describes: its units, its equation of state, its ions."""

from __future__ import annotations

from octools.inputs.ramses_rules import Settings

UNITS = "requires units.length, .density and .time in cgs, which units.f90 of a patch may set"


def lacks_units(s: Settings) -> bool:
    """Return true for units of 1 cgs, with which densities and temperatures are not physical."""
    units = ("units_length", "units_density", "units_time")
    return not s.flag("cosmo") and all(s.number(unit) == 1.0 for unit in units)


def is_barotropic(s: Settings) -> bool:
    """Return true if the pressure of the gas is a function of its density."""
    return s.flag("hydro") and (s.flag("isothermal") or s.flag("barotropic_eos"))


def why_dark(s: Settings) -> str | None:
    """Return the reason why Octant cannot follow the photons of this namelist, if there is one."""
    if not s.flag("hydro"):
        return "ionization.enabled = true requires gas: hydro = .true."
    if is_barotropic(s):
        return 'ionization.enabled = true requires hydro.equation_of_state = "ideal"'
    return None


def ionizes(s: Settings) -> bool:
    """Return true if Octant follows the ionising photons of this namelist."""
    return s.flag("rt") and why_dark(s) is None and not lacks_units(s)


def ions(s: Settings) -> tuple[str, ...]:
    """Return the names of the ions, in the order of the scalars of RAMSES (NIONS = 3)."""
    if not ionizes(s):
        return ()
    return ("ionized_hydrogen", "ionized_helium", "doubly_ionized_helium")

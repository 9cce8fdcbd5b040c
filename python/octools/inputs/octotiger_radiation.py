"""Radiation of Octo-Tiger: units, speed of light, opacities and initial radiation.

Octo-Tiger moves grey radiation with the M1 closure. Its opacities are those of free-free and
bound-free absorption (Kramers) and of electron scattering, by the hydrogen fraction X and the
metallicity Z; newer versions have options sigmaA and sigmaS instead.
"""

from __future__ import annotations

import math
from typing import Any

from octools.inputs.conversion import Conversion

LIGHT_SPEED = 2.99792458e10  # cm/s
RADIATION = 7.565733e-15  # erg / (cm^3 K^4)
BOLTZMANN = 1.380649e-16  # erg/K
HYDROGEN = 1.67262192e-24  # g
KRAMERS = 4e25  # cm^2/g (g/cm^3)^-1 K^3.5
PLANCK = 30.262  # Planck mean over Rosseland mean of Kramers' opacity
ELECTRONS = 0.2  # cm^2/g times 1 + X
COURANT = 0.1  # substeps: at least 10 c dt / dx
DEFAULTS = {
    "clight_retard": 1.0,
    "code_to_g": 1.0,
    "code_to_cm": 1.0,
    "code_to_s": 1.0,
    "X": 0.7068,
    "Z": 0.0181,
    "atomic_mass": 1.2969,
    "atomic_number": 1.0994,
}


def convert(source: Conversion, gas: str) -> None:
    """Write [units] and [radiation] for a problem with the gas at rest or in motion.

    Raises
    ------
    OctoolsError
        If the problem is in a rotating frame, or the units are not positive.
    """
    if gas == "rotating_star":
        raise source.refuse(
            "radiation = on is not supported with problem = rotating_star: Octant has no radiation "
            "in rotating frames; set radiation = off"
        )
    gram, length, time = (_above_zero(source, f"code_to_{unit}") for unit in ("g", "cm", "s"))
    source.put("units.length", length, "code_to_cm")
    source.put("units.density", gram / length**3, "code_to_g / code_to_cm^3")
    source.put("units.time", time, "code_to_s")
    source.carried("code_to_cm", "code_to_g", "code_to_s", now="[units]")
    source.put("radiation.enabled", True)
    source.put("radiation.speed_ratio", 1.0 / _retardation(source), "1 / clight_retard")
    source.changed("clight_retard", now="radiation.speed_ratio: one over it")
    cfl = float(f"{COURANT * math.sqrt(3):.4g}")
    source.put("radiation.cfl", cfl, "c dt = 0.1 dx, as in Octo-Tiger")
    source.put("radiation.molecular_weight", _weight(source))
    source.changed(
        "atomic_mass", "atomic_number", now="radiation.molecular_weight, of the first species"
    )
    _opacities(source, gram, length)
    source.changed("radiation", now="radiation.enabled: other numerical methods")
    source.changed("rad_implicit", now="the exchange of energy is always implicit")
    _initial(source, (length / time) ** 2, gram / (length * time**2))
    if not is_on(source.get("hydro")):
        source.put("hydro.moves", False, "hydro = off")
        source.changed("hydro", now="hydro.moves")


def _above_zero(source: Conversion, name: str) -> float:
    value = float(source.get(name))
    if not (value > 0 and math.isfinite(value)):
        raise ValueError("expected a number above 0")
    return value


def _retardation(source: Conversion) -> float:
    value = _above_zero(source, "clight_retard")
    if value < 1:
        raise ValueError("expected at least 1: the speed of light is divided by it")
    return value


def _first(source: Conversion, name: str) -> float:
    """Return the first value of an option with values by species."""
    return float(str(source.get(name)).replace(",", " ").split()[0])


def _weight(source: Conversion) -> float:
    """Return the mean molecular weight of ionised gas."""
    return _first(source, "atomic_mass") / (1.0 + _first(source, "atomic_number"))


def _opacities(source: Conversion, gram: float, length: float) -> None:
    unit = length**2 / gram  # cm^2/g
    if "sigmaA" in source.settings or "sigmaS" in source.settings:
        absorbed = float(source.get("sigmaA", 0.0)) / unit
        source.put("radiation.planck_opacity", absorbed, "sigmaA")
        source.put("radiation.rosseland_opacity", absorbed, "sigmaA")
        source.put("radiation.scattering_opacity", float(source.get("sigmaS", 0.0)) / unit)
        source.carried("sigmaA", "sigmaS", now="radiation.*_opacity")
        source.lost("X", "Z", why="sigmaA and sigmaS are the opacities")
        return
    hydrogen, metals = _first(source, "X"), _first(source, "Z")
    kramers = KRAMERS * (1.0 + hydrogen)
    values = {
        "planck_opacity": PLANCK * kramers * (metals + 1e-4),
        "rosseland_opacity": kramers * (metals + 1e-3),
        "scattering_opacity": ELECTRONS * (1.0 + hydrogen),
    }
    for name, value in values.items():
        source.put(f"radiation.{name}", float(f"{value / unit:.9g}"))
    source.put("radiation.opacity_density_exponent", 1.0, "Kramers' law")
    source.put("radiation.opacity_temperature_exponent", -3.5)
    source.put("radiation.opacity_density", length**3 / gram, "1 g/cm^3")
    source.put("radiation.opacity_temperature", 1.0, "K")
    now = "radiation.*_opacity: electrons are neither degenerate nor relativistic"
    source.changed("X", "Z", now=f"{now}; the first species")


def _initial(source: Conversion, speed_squared: float, energy: float) -> None:
    """Begin in equilibrium with the gas, where the problem allows it."""
    if source.tables["problem"]["name"][0] != "expression":
        source.put(
            "radiation.initial_temperature", 0.0, "Octo-Tiger: that of the gas; set it by hand"
        )
        return
    kelvin = _weight(source) * HYDROGEN / BOLTZMANN * speed_squared

    def equilibrium(side: str) -> float:
        ratio = float(source.get(f"sod_p{side}")) / float(source.get(f"sod_rho{side}"))
        return RADIATION * (kelvin * ratio) ** 4 / energy

    left, right = (float(f"{equilibrium(side):.9g}") for side in "lr")
    source.put("problem.fields.radiation_energy", f"left ? {left!r} : {right!r}", "equilibrium")


def is_on(value: Any) -> bool:
    """Return true for the words with which Octo-Tiger switches options on."""
    return str(value).lower() in ("on", "true", "1", "yes")

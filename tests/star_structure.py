"""Structure of spherical stars by direct integration, independent of the program.

The equations are those of hydrostatic equilibrium with the pressure as a function of the density:
dm/dr = 4 pi r^2 rho, dp/dr = -G m rho / r^2. The program uses the enthalpy and an expansion of the
potential in spherical harmonics instead.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, log, pi, sqrt

GRAVITY = 6.6743e-8  # cm^3 g^-1 s^-2
SUN = 1.988409870698051e33  # g
ELECTRON_PRESSURE, ELECTRON_DENSITY = 6.0023e22, 9.81011e5  # erg cm^-3, g cm^-3 per mu_e


@dataclass(frozen=True)
class Matter:
    """Pressure slope dp/drho, and the density below which the rest of a star is negligible."""

    slope: Callable[[float], float]
    thin: float = 1e-12  # of the central density


def white_dwarf(electron_weight: float = 2.0) -> Matter:
    """Give degenerate electrons in cgs units: dp/drho = 8 A x^2 / (3 B sqrt(1 + x^2))."""
    unit = ELECTRON_DENSITY * electron_weight

    def slope(rho: float) -> float:
        square = (rho / unit) ** (2 / 3)
        return 8 * ELECTRON_PRESSURE / (3 * unit) * square / sqrt(1 + square)

    return Matter(slope)


def pieces(densities: list[float], exponents: list[float], sound_speed: float) -> Matter:
    """Give piecewise polytropes with p = rho sound_speed^2 at the first density."""
    pressures = [sound_speed**2 * densities[0]]
    for n in range(1, len(densities)):
        pressures.append(pressures[-1] * (densities[n] / densities[n - 1]) ** exponents[n])

    def slope(rho: float) -> float:
        piece = sum(rho >= begin for begin in densities)
        n = max(piece - 1, 0)
        pressure = pressures[n] * (rho / densities[n]) ** exponents[piece]
        return exponents[piece] * pressure / rho

    return Matter(slope)


def integrate(matter: Matter, central: float, gravity: float) -> tuple[float, float]:
    """Give mass and radius for a central density, by Runge-Kutta steps in ln rho and radius."""
    height = sqrt(matter.slope(central) / (4 * pi * gravity * central))
    r = 1e-3 * height
    mass, density = 4 / 3 * pi * r**3 * central, central

    def slopes(r: float, mass: float, rho: float) -> tuple[float, float]:
        if rho <= 0.0:
            return 0.0, -inf
        return 4 * pi * r * r * rho, -gravity * mass * rho / (r * r * matter.slope(rho))

    while density > matter.thin * central:
        # Steps of 1 % of the radius and of the height over which the density falls.
        h = min(0.01 * max(r, height), 0.01 * density / abs(slopes(r, mass, density)[1]))
        a = slopes(r, mass, density)
        b = slopes(r + h / 2, mass + h / 2 * a[0], density + h / 2 * a[1])
        c = slopes(r + h / 2, mass + h / 2 * b[0], density + h / 2 * b[1])
        d = slopes(r + h, mass + h * c[0], density + h * c[1])
        mass += h / 6 * (a[0] + 2 * b[0] + 2 * c[0] + d[0])
        density += h / 6 * (a[1] + 2 * b[1] + 2 * c[1] + d[1])
        r += h
    return mass, r


def star_of_mass(
    matter: Matter, mass: float, gravity: float, between: tuple[float, float]
) -> tuple[float, float]:
    """Give central density and radius of the star of a mass, whose density is between bounds."""
    low, high = between
    (light, _), (heavy, _) = integrate(matter, low, gravity), integrate(matter, high, gravity)
    assert light < mass < heavy, (light, mass, heavy)
    for _ in range(60):
        middle = low * (high / low) ** (log(mass / light) / log(heavy / light))
        found, radius = integrate(matter, middle, gravity)
        if abs(found / mass - 1) < 1e-9:
            return middle, radius
        if found < mass:
            low, light = middle, found
        else:
            high, heavy = middle, found
    return middle, radius

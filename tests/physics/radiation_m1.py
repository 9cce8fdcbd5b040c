"""Numerical solutions of the grey M1 equations along one axis, in gas at rest, at high resolution.

The equations are those of `radiation_solutions`, with the pressure of Levermore (1984), or that of
P1, E / 3. Second order in space and time: MUSCL with the slopes of van Leer (1977), the Riemann
solver of Harten, Lax & van Leer (1983), two stages of Shu & Osher (1988), and exact exchange with
the gas before and after each step (Strang 1968). Mean free paths must be resolved.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from radiation_solutions import Array, Medium

Closure = Callable[[Array], tuple[Array, Array, Array]]


def levermore(f: Array) -> tuple[Array, Array, Array]:
    """Return P / E and both wave speeds over c, for reduced fluxes f = F / (c E).

    Levermore (1984), JQSRT 31, 149; speeds as in Skinner & Ostriker (2013), ApJS 206, 21, eq. 41.
    """
    square = np.minimum(f * f, 1.0)
    g = np.sqrt(4.0 - 3.0 * square)
    chi = (3.0 + 4.0 * square) / (5.0 + 2.0 * g)
    spread = np.sqrt(np.maximum(2.0 / 3.0 * (g * g - g) + 2.0 * (2.0 - square - g), 0.0))
    return chi, (f - spread) / g, (f + spread) / g


def p1(f: Array) -> tuple[Array, Array, Array]:
    """Return P / E and both wave speeds over c of the P1 equations."""
    speed = np.full_like(f, np.sqrt(1.0 / 3.0))
    return np.full_like(f, 1.0 / 3.0), -speed, speed


@dataclass
class Slab:
    """Radiation and emission in equal cells of 0 < x < length. The boundary at `length` is open.

    `incident` is the flux F_in that enters at x = 0, where c E / 4 + F / 2 = F_in (Marshak).
    Otherwise, `bath` is the energy density of isotropic radiation in ghost cells at x = 0. If both
    are None, x = 0 is a plane of symmetry. `source` is Q of each cell.
    """

    length: float
    cells: int
    medium: Medium = field(default_factory=Medium)
    closure: Closure = levermore
    incident: float | None = None
    bath: float | None = None
    source: float | Array = 0.0
    time: float = 0.0
    energy: Array = field(init=False)
    flux: Array = field(init=False)  # F / c
    emission: Array = field(init=False)

    def __post_init__(self) -> None:
        """Begin with cold gas without radiation."""
        self.energy, self.flux, self.emission = np.zeros((3, self.cells))

    @property
    def x(self) -> Array:
        """Return the centres of the cells."""
        return (np.arange(self.cells) + 0.5) * self.length / self.cells

    def advance(self, end: float, courant: float = 0.4) -> "Slab":
        """Advance to the time `end`, and return this object."""
        c, dx = self.medium.light_speed, self.length / self.cells
        steps = max(1, int(np.ceil((end - self.time) * c / (courant * dx))))
        dt = (end - self.time) / steps
        for _ in range(steps):
            self._exchange(0.5 * dt)
            old = self._limited(np.stack([self.energy, self.flux]))
            middle = self._limited(old + dt * self._change(old))
            new = self._limited(0.5 * (old + middle + dt * self._change(middle)))
            self.energy, self.flux = new
            self._exchange(0.5 * dt)
        self.time = end
        return self

    def _exchange(self, dt: float) -> None:
        """Advance absorption, emission and the source, exactly: E + h B is linear in time."""
        m, q = self.medium, self.source
        h, rate = m.heat_ratio, m.light_speed * m.absorption
        self.flux *= np.exp(-m.light_speed * m.extinction * dt)
        if rate == 0.0:
            self.energy = self.energy + q * dt
            return
        total = self.energy + h * self.emission + q * dt
        # The difference D = E - B obeys dD/dt = -k D + Q with this k.
        k = rate * (1.0 + 1.0 / h)
        steady = q / k
        difference = steady + (self.energy - self.emission - steady) * np.exp(-k * dt)
        self.emission = (total - difference) / (1.0 + h)
        self.energy = self.emission + difference

    @staticmethod
    def _limited(state: NDArray) -> NDArray:
        """Return E >= 0 and |F| <= c E."""
        energy = np.maximum(state[0], 1e-30)
        return np.stack([energy, np.clip(state[1], -energy, energy)])

    def _change(self, state: NDArray) -> NDArray:
        """Return the rates of change of E and F / c by transport."""
        dx = self.length / self.cells
        energy, f = state[0], state[1] / state[0]
        padded = np.stack([np.pad(energy, 2, mode="edge"), np.pad(f, 2, mode="edge")])
        if self.bath is not None:
            padded[0, :2], padded[1, :2] = self.bath, 0.0
        elif self.incident is None:
            padded[0, :2] = energy[1::-1]
            padded[1, :2] = -f[1::-1]
        left, right = np.diff(padded)[:, :-1], np.diff(padded)[:, 1:]
        smaller = 2.0 * np.minimum(np.abs(left), np.abs(right))
        smaller = np.minimum(smaller, 0.5 * np.abs(left + right))
        slope = np.where(left * right > 0.0, np.sign(left) * smaller, 0.0)
        below = (padded[:, 1:-1] + 0.5 * slope)[:, :-1]
        above = (padded[:, 1:-1] - 0.5 * slope)[:, 1:]
        flux = self._riemann(below, above)
        if self.incident is not None:
            flux[:, 0] = self._marshak_flux(energy[0], state[1, 0])
        return -self.medium.light_speed / dx * np.diff(flux)

    def _riemann(self, below: NDArray, above: NDArray) -> NDArray:
        """Return the fluxes of E and F / c over c, between states (E, f)."""
        chi_l, slow_l, fast_l = self.closure(below[1])
        chi_r, slow_r, fast_r = self.closure(above[1])
        low = np.minimum(np.minimum(slow_l, slow_r), 0.0)
        high = np.maximum(np.maximum(fast_l, fast_r), 0.0)
        state_l = np.stack([below[0], below[0] * below[1]])
        state_r = np.stack([above[0], above[0] * above[1]])
        flux_l = np.stack([state_l[1], chi_l * below[0]])
        flux_r = np.stack([state_r[1], chi_r * above[0]])
        jump = low * high * (state_r - state_l)
        return (high * flux_l - low * flux_r + jump) / np.maximum(high - low, 1e-30)

    def _marshak_flux(self, energy: float, flux: float) -> tuple[float, float]:
        """Return the fluxes at x = 0: 2 F_in / c - E / 2, and the pressure there.

        E at the boundary follows from the wave that leaves the first cell, E - sqrt(3) F / c.
        """
        incoming = 2.0 * self.incident / self.medium.light_speed
        leaving = energy - np.sqrt(3.0) * flux
        here = (leaving + np.sqrt(3.0) * incoming) / (1.0 + 0.5 * np.sqrt(3.0))
        boundary_flux = incoming - 0.5 * here
        f = np.clip(boundary_flux / max(here, 1e-30), -1.0, 1.0)
        return boundary_flux, float(self.closure(np.array([f]))[0][0]) * here


def su_olson_slab(
    tau: float, cells: int = 2000, length: float = 0.0, closure: Closure = levermore
) -> Slab:
    """Return the source problem of Su & Olson (1997) at `tau`, with the M1 closure.

    Q = 1 where |x| < 1/2 until tau = 10; h = 1, c = 1, s = 1. Cells must divide x = 1/2.
    """
    length = length or 0.5 * np.ceil(2.0 * (tau + 1.0))
    slab = Slab(length, cells, closure=closure)
    slab.source = np.clip((0.5 - slab.x) * cells / length + 0.5, 0.0, 1.0)
    slab.advance(min(tau, 10.0))
    if tau > 10.0:
        slab.source = 0.0
        slab.advance(tau)
    return slab


def hot_slab_m1(
    tau: float, cells: int = 2000, length: float = 0.0, closure: Closure = levermore
) -> Slab:
    """Return the solution from E = 1 where |x| < 1/2, and no other energy, at `tau`, with M1.

    h = 1, c = 1, s = 1, as in `hot_slab`. Cells must divide x = 1/2.
    """
    length = length or 0.5 * np.ceil(2.0 * (tau + 1.0))
    slab = Slab(length, cells, closure=closure)
    slab.energy = np.clip((0.5 - slab.x) * cells / length + 0.5, 0.0, 1.0)
    return slab.advance(tau)


def marshak_slab(
    tau: float,
    epsilon: float,
    cells: int = 1000,
    length: float = 0.0,
    closure: Closure = levermore,
    *,
    bath: bool = False,
) -> Slab:
    """Return the Marshak wave at `tau`, in the scales of `marshak_wave`, with the M1 closure.

    With `bath`, the boundary is a ghost cell with u = 1 and without flux. E and B of the slab are u
    and v, its x is sqrt(3) s z, and so c = sqrt(3) / epsilon: the extinction is 1 / sqrt(3), and
    h = 1 / epsilon.
    """
    c = np.sqrt(3.0) / epsilon
    medium = Medium(1.0 / np.sqrt(3.0), heat_ratio=1.0 / epsilon, light_speed=c)
    slab = Slab(length or 1.05 * c * tau, cells, medium, closure)
    if bath:
        slab.bath = 1.0
    else:
        slab.incident = 0.25 * c
    return slab.advance(tau)


def extrapolated(coarse: Array, fine: Array) -> Array:
    """Return the limit of second order of results on cells, and on cells of a third of their size.

    The centres of coarse cells are those of every third fine one.
    """
    return (9.0 * fine[1::3] - coarse) / 8.0

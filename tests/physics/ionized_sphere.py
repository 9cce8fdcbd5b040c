"""Spherical ionised regions around a source, with which runs are compared; no run of Octant.

Rays of photons cross shells of hydrogen and helium, which they ionise and heat. The gas is at rest,
or moves with its shells (Lagrangian hydrodynamics). Photons have an infinite speed. A finite speed
c of photons in gas at rest delays the state at radius r by r / c, exactly.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from ionized_atoms import BOLTZMANN, Array, Photons, case_b_rates

KPC = 3.0856775814913673e21
MYR = 1e6 * 3.15576e7
PROTON_MASS = 1.67262192369e-24
LIGHT_SPEED = 2.99792458e10
GAMMA = 5.0 / 3.0
LEAST = 1e-14  # smallest fraction of an atom or ion
CRITICAL = 3110.0  # electrons per cm^3 at which the metastable level of HeI saturates

HI, HEI, HEIII, ENERGY = range(4)  # rows of the unknowns


@dataclass
class IonizedSphere:
    """Shells of gas around a source; arrays have one value per shell, from the centre outwards.

    Attributes
    ----------
    edges
        Radii of the boundaries of shells, in cm, from 0.
    density
        Hydrogen nuclei per cm^3.
    photons, rate
        Photons of the source, and their number per second.
    helium
        Helium nuclei per hydrogen nucleus.
    initial_temperature
        Temperature of the neutral gas at the beginning, in K.
    temperature
        Temperature of isothermal gas, or 0: it follows from heating and cooling.
    moves
        Whether pressure moves the gas.
    """

    edges: Array
    density: Array
    photons: Photons
    rate: float
    helium: float = 0.0
    initial_temperature: float = 100.0
    temperature: float = 0.0
    moves: bool = False
    time: float = 0.0
    absorbed: float = 0.0  # photons, in all
    unknowns: Array = field(init=False)  # atoms per nucleus, energy per hydrogen nucleus
    velocity: Array = field(init=False)  # of the edges

    def __post_init__(self) -> None:
        """Set neutral gas at rest."""
        self.edges = np.array(self.edges, float)
        cells = len(self.edges) - 1
        self.density = np.broadcast_to(self.density, cells).astype(float)
        self.nuclei = self.density * self.volume
        self.velocity = np.zeros(cells + 1)
        start = self.temperature or self.initial_temperature
        energy = BOLTZMANN * start * (1.0 + self.helium) / (GAMMA - 1.0)
        self.unknowns = np.array([[1.0], [1.0], [LEAST], [energy]]) * np.ones(cells)
        self.active = [HI, HEI, HEIII, ENERGY] if self.helium > 0.0 else [HI, ENERGY]
        if self.temperature > 0.0:
            self.active = self.active[:-1]
        self.entering = np.outer(self.photons.share * self.rate, np.ones(cells))

    # --- state ------------------------------------------------------------------------------------

    @property
    def volume(self) -> Array:
        """Return the volumes of the shells."""
        return 4.0 * np.pi / 3.0 * np.diff(self.edges**3)

    @property
    def radius(self) -> Array:
        """Return the radii of the middle of the shells."""
        return 0.5 * (self.edges[1:] + self.edges[:-1])

    @property
    def neutral(self) -> Array:
        """Return the fraction of neutral hydrogen."""
        return self.unknowns[HI]

    @property
    def gas_temperature(self) -> Array:
        """Return the temperature in K."""
        return self._temperature(self.unknowns, self._electrons(self.unknowns))

    def front(self, fraction: float = 0.5) -> float:
        """Return the largest radius at which the fraction of neutral hydrogen is `fraction`."""
        inside = np.flatnonzero(self.neutral < fraction)
        if len(inside) == 0:
            return 0.0
        n = min(inside[-1], len(self.neutral) - 2)
        return float(np.interp(fraction, self.neutral[n : n + 2], self.radius[n : n + 2]))

    def _electrons(self, u: Array) -> Array:
        """Return electrons per hydrogen nucleus."""
        ions = 1.0 - u[..., HEI, :] + u[..., HEIII, :]  # HeII + 2 HeIII
        return 1.0 - u[..., HI, :] + self.helium * ions

    def _temperature(self, u: Array, electrons: Array) -> Array:
        if self.temperature > 0.0:
            return np.full_like(electrons, self.temperature)
        particles = 1.0 + self.helium + electrons
        return (GAMMA - 1.0) * u[..., ENERGY, :] / (BOLTZMANN * particles)

    def _depths(self, u: Array) -> tuple[Array, Array]:
        """Return the optical depths (groups, 3) of shells, and the atoms per hydrogen nucleus."""
        helium_ions = 1.0 - u[..., HEI, :] - u[..., HEIII, :]
        per_nucleus = np.stack([np.ones_like(helium_ions), u[..., HEI, :], helium_ions], axis=-2)
        per_nucleus[..., 0, :] = u[..., HI, :]
        per_nucleus[..., 1:, :] *= self.helium
        column = per_nucleus * self.density * np.diff(self.edges)
        return self.photons.cross_section[:, :, None] * column[..., None, :, :], per_nucleus

    # --- ionisation -------------------------------------------------------------------------------

    def _changes(self, u: Array, dt: float) -> Array:
        """Return the changes of the unknowns during `dt` in a state u, shape (..., 4, shells)."""
        electrons = self._electrons(u)
        rates = case_b_rates(self._temperature(u, electrons))
        n_e = electrons * self.density
        depths, atoms = self._depths(u)
        depth = depths.sum(axis=-2)
        mean = -np.expm1(-depth) / np.maximum(depth, 1e-300)
        each = depths * (self.entering * dt / self.nuclei * mean)[..., None, :]
        ions = np.stack(
            [1.0 - u[..., HI, :], atoms[..., 2, :], self.helium * u[..., HEIII, :]], axis=-2
        )
        flow, loss = [], 0.0
        for s in range(3):
            collisions = rates.ionization[s] * atoms[..., s, :]
            collisions = collisions - rates.recombination[s] * ions[..., s, :]
            flow.append(each[..., s, :].sum(axis=-2) + dt * n_e * collisions)
            loss = loss + rates.atom_loss[s] * atoms[..., s, :]
            loss = loss + rates.ion_loss[s] * ions[..., s, :]
        pairs = n_e * CRITICAL / (CRITICAL + n_e)
        loss = loss + rates.metastable_loss * pairs * ions[..., 1, :]
        heat = np.sum(each * self.photons.excess[:, :, None], axis=(-3, -2))
        per_helium = self.helium if self.helium > 0.0 else 1.0
        return np.stack(
            [-flow[0], -flow[1] / per_helium, flow[2] / per_helium, heat - dt * n_e * loss], axis=-2
        )

    def _pass_photons(self, u: Array) -> Array:
        """Return the photons per second that enter each shell, and set none."""
        depth = self._depths(u)[0].sum(axis=-2)
        before = np.cumsum(depth, axis=-1) - depth
        return (self.photons.share * self.rate)[:, None] * np.exp(-before)

    def react(self, dt: float, precision: float = 1e-9, most: int = 200) -> None:
        """Advance ions and energy by an implicit step in which all shells shade those beyond."""
        start, u = self.unknowns.copy(), self.unknowns.copy()
        rows, cells = self.active, u.shape[1]
        size = len(rows)
        for _ in range(most):
            entering = self._pass_photons(u)
            shift = np.max(np.abs(entering - self.entering)) / self.rate
            self.entering = entering
            step = 1e-7 * u + 1e-13 * np.array([[1.0], [1.0], [1.0], [0.0]])
            points = np.broadcast_to(u, (size + 1, *u.shape)).copy()
            for k, row in enumerate(rows):
                points[k + 1, row] += step[row]
            change = self._changes(points, dt)
            residual = (u - start - change[0])[rows]
            slope = np.empty((cells, size, size))
            for k, row in enumerate(rows):
                slope[:, :, k] = -((change[k + 1] - change[0])[rows] / step[row]).T
                slope[:, k, k] += 1.0
            d = np.linalg.solve(slope, residual.T[:, :, None])[:, :, 0].T
            new = u.copy()
            new[rows] -= d
            self._limit(new, u)
            size_of_change = np.max(np.abs(new - u)[rows] / (u[rows] + 1e-7 * (u[rows] < 1.1)))
            u = new
            if shift <= precision and size_of_change <= 1e-3 * precision**0.5:
                break
        else:
            raise RuntimeError(f"no solution at {self.time / MYR} Myr for a step of {dt / MYR} Myr")
        depth = self._depths(u)[0].sum(axis=-2)
        self.absorbed += float(np.sum(self.entering * -np.expm1(-depth))) * dt
        self.unknowns = u

    @staticmethod
    def _limit(new: Array, old: Array) -> None:
        """Keep fractions between LEAST and 1, and energies positive."""
        new[:3] = np.clip(new[:3], LEAST, 1.0)
        new[HEIII] = np.minimum(new[HEIII], np.maximum(1.0 - new[HEI], LEAST))
        new[ENERGY] = np.clip(new[ENERGY], 0.2 * old[ENERGY], 5.0 * old[ENERGY])

    # --- motion -----------------------------------------------------------------------------------

    @property
    def pressure(self) -> Array:
        """Return the pressure in erg/cm^3."""
        if self.temperature > 0.0:
            particles = 1.0 + self.helium + self._electrons(self.unknowns)
            return self.density * particles * BOLTZMANN * self.temperature
        return (GAMMA - 1.0) * self.density * self.unknowns[ENERGY]

    def longest_step(self, courant: float = 0.3) -> float:
        """Return the longest stable step of the motion."""
        mass = self.density * PROTON_MASS * (1.0 + 4.0 * self.helium)
        sound = np.sqrt(GAMMA * self.pressure / mass)
        jump = np.abs(np.diff(self.velocity))
        return float(courant * np.min(np.diff(self.edges) / (sound + 4.0 * jump + 1.0)))

    def move(self, dt: float) -> None:
        """Advance velocities, radii and energies (von Neumann & Richtmyer 1950, J. Appl. Phys. 21).

        Walls bound the gas at both ends.
        """
        weight = PROTON_MASS * (1.0 + 4.0 * self.helium)
        mass, pressure = self.nuclei * weight, self.pressure
        jump = np.minimum(np.diff(self.velocity), 0.0)
        sound = np.sqrt(GAMMA * pressure / (self.density * weight))
        viscous = self.density * weight * (2.0 * jump**2 - 0.5 * sound * jump)
        force = -np.diff(pressure + viscous) * 4.0 * np.pi * self.edges[1:-1] ** 2
        self.velocity[1:-1] += dt * force / (0.5 * (mass[1:] + mass[:-1]))
        before = self.volume
        self.edges = self.edges + dt * self.velocity
        if np.any(np.diff(self.edges) <= 0.0):
            raise RuntimeError("shells cross")
        growth = self.volume - before
        self.density = self.nuclei / self.volume
        work = (0.5 * pressure + viscous) * growth / self.nuclei
        if self.temperature == 0.0:
            cooling = 1.0 + 0.5 * (GAMMA - 1.0) * growth / self.volume
            self.unknowns[ENERGY] = (self.unknowns[ENERGY] - work) / cooling

    # --- runs -------------------------------------------------------------------------------------

    def advance(self, end: float, steps: int) -> None:
        """Advance to a time in s, in steps whose ends are at equal distances in time^(1/2)."""
        roots = np.linspace(np.sqrt(self.time), np.sqrt(end), steps + 1)
        for following in roots[1:] ** 2:
            while self.time < following * (1.0 - 1e-12):
                dt = following - self.time
                if self.moves and dt > self.longest_step():
                    dt = dt / np.ceil(dt / self.longest_step())
                self.react(dt)
                if self.moves:
                    self.move(dt)
                self.time += dt


def cosmological_region(
    cells: int = 128, *, size: float = 6.6, photons: Photons, **parameters: object
) -> IonizedSphere:
    """Return the gas of tests 1, 2 and 5 of Iliev et al. (2006, 2009) up to a radius in kpc."""
    edges = np.linspace(0.0, size * KPC, cells + 1)
    return IonizedSphere(edges, np.full(cells, 1e-3), photons, 5e48, **parameters)


@dataclass(frozen=True)
class Delayed:
    """State of a sphere as photons of a finite speed make it; arrays by shell."""

    radius: Array  # cm
    neutral: Array
    helium_atoms: Array  # HeI and HeIII, fractions of helium nuclei
    helium_three: Array
    temperature: Array
    density: Array  # hydrogen nuclei per cm^3

    @property
    def ionized_radius(self) -> float:
        """Return the radius in kpc of a sphere with as many ions, in gas of constant density."""
        width = self.radius[1] - self.radius[0]
        shells = np.diff((np.arange(len(self.radius) + 1) * width) ** 3)
        return float(np.sum(shells * (1.0 - self.neutral)) ** (1.0 / 3.0) / KPC)


def with_light_speed(
    sphere: IonizedSphere, times: Sequence[float], speed: float, steps: int = 300
) -> list[Delayed]:
    """Return a sphere at times in s, with photons of a finite speed in cm/s.

    The state at radius r is that of the sphere with an infinite speed, r / speed earlier: rays of
    photons keep the time since they left the source, and gas at rest has one ray only.
    """
    last, records, moments = max(times), [], []
    for n in range(steps + 1):
        if n > 0:
            sphere.advance(last * (n / steps) ** 2, 1)
        records.append([*sphere.unknowns[:3], sphere.gas_temperature])
        moments.append(sphere.time)
    table = np.array(records)

    def at(time: float) -> Delayed:
        since = np.maximum(time - sphere.radius / speed, 0.0)
        values = np.array(
            [
                [np.interp(since[i], moments, table[:, k, i]) for i in range(len(since))]
                for k in range(4)
            ]
        )
        return Delayed(sphere.radius, *values, sphere.density)

    return [at(time) for time in times]


def with_delayed_front(
    sphere: IonizedSphere, times: Sequence[float], speed: float, steps: int = 800
) -> list[Delayed]:
    """Return a sphere at times in s, when photons of a finite speed have reached its front.

    The state is that of the sphere with an infinite speed at the time since which photons on their
    way to the front have left the source: an approximation for moving gas.
    """
    states, last = [], max(times)
    for n in range(1, steps + 1):
        sphere.advance(last * (n / steps) ** 2, 1)
        while len(states) < len(times) and (
            sphere.time + sphere.front() / speed >= times[len(states)]
        ):
            kept = (sphere.radius, *sphere.unknowns[:3], sphere.gas_temperature, sphere.density)
            states.append(Delayed(*(values.copy() for values in kept)))
    return states

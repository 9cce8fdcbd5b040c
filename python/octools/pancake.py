"""Zel'dovich pancake: exact before collapse, and integrated in one dimension afterwards.

Lengths are in units of the box and measured from its middle, where the collapse is; velocities,
densities and pressures are those of the code (supercomoving, Martel & Shapiro 1998), time is
tau with d tau = H0 dt / a^2.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from octools.linear import LinearTheory
from octools.snapshot import Array

WAVE = 2 * np.pi
GAMMA = 5 / 3
BOLTZMANN, PROTON_MASS = 1.380649e-16, 1.67262192369e-24  # cgs
MOLECULAR_WEIGHT = 1.22
# Pressure over density^gamma that the gas has at least in the integration along a line. Without it
# the middle, which no shock heats, becomes 10^5 times denser than the mean.
LEAST_ENTROPY = 1e-5


@dataclass(frozen=True)
class State:
    """Gas along the line, from the middle to the end of the box.

    Attributes
    ----------
    place
        Centres of cells of equal mass, ascending, shape (cells,).
    density, velocity, pressure
        Shape (cells,).
    """

    place: Array
    density: Array
    velocity: Array
    pressure: Array


@dataclass(frozen=True)
class Pancake:
    """Plane wave of gas and dark matter that collapses in an expanding universe.

    Attributes
    ----------
    theory
        The universe.
    start, collapse
        Scale factors at which the gas has one temperature, and at which the middle collapses.
    temperature
        The gas's at the start, K.
    gas_share
        The share of all matter that is gas.
    box
        Side of the box, Mpc/h.
    """

    theory: LinearTheory
    start: float
    collapse: float
    temperature: float
    gas_share: float
    box: float

    def amplitude(self, a: float) -> float:
        """Return A of the map x = q - A sin(k q) / k from where matter began to where it is."""
        return self.theory.growth(a) / self.theory.growth(self.collapse)

    def change(self, a: float) -> float:
        """Return dA / d tau."""
        return self.amplitude(a) * self.theory.rate(a) * a**2 * self.theory.hubble(a)

    def places(self, q: Array, a: float) -> tuple[Array, Array]:
        """Return where matter is that began at `q`, and its velocity; before the collapse."""
        wave = np.sin(WAVE * q) / WAVE
        return q - self.amplitude(a) * wave, -self.change(a) * wave

    @property
    def heat(self) -> float:
        """Pressure over density at the start."""
        velocity = 1e7 * self.box / self.start  # cm/s; of the code at the start
        unit = velocity**2 * PROTON_MASS / BOLTZMANN
        return self.temperature / MOLECULAR_WEIGHT / unit

    def exact(self, a: float, points: int = 4000) -> State:
        """Return the state before the collapse, at points of equal mass."""
        q = 0.5 * (np.arange(points) + 0.5) / points
        place, velocity = self.places(q, a)
        density = 1 / (1 - self.amplitude(a) * np.cos(WAVE * q))
        first = 1 / (1 - self.amplitude(self.start) * np.cos(WAVE * q))
        pressure = self.gas_share * self.heat * first ** (1 - GAMMA) * density**GAMMA
        return State(place, self.gas_share * density, velocity, pressure)

    def at(self, x: Array, a: float) -> tuple[Array, Array, Array]:
        """Return density, velocity and pressure at distances from the middle, of any sign."""
        state = self.exact(a) if a < 0.98 * self.collapse else self.line.state(a)
        distance = np.abs(x)
        density, pressure = (
            np.interp(distance, state.place, values) for values in (state.density, state.pressure)
        )
        place = np.concatenate([[0.0], state.place, [0.5]])  # at rest at both ends
        velocity = np.interp(distance, place, np.concatenate([[0.0], state.velocity, [0.0]]))
        return density, np.sign(x) * velocity, pressure

    @cached_property
    def line(self) -> Line:
        """The integration along the line, which goes on from call to call."""
        return Line(self, 0.9 * self.collapse)


class Line:
    """Gas and dark matter along a line, integrated in time.

    One half of the box is enough. The gas is divided into cells of equal mass between nodes that
    move with it (von Neumann & Richtmyer 1950, with viscosity only where velocities bend,
    Christensen 1990), dark matter into sheets that pass through each other. The force on each is
    exact, 3/2 Omega_m a times what its distance exceeds the mass below it by.
    """

    def __init__(
        self, pancake: Pancake, begin: float, cells: int = 400, sheets: int = 4000
    ) -> None:
        self.pancake, self.a = pancake, begin
        self.node_mass = 0.5 * np.arange(cells + 1) / cells
        self.x, self.v = pancake.places(self.node_mass, begin)
        self.x[-1], self.v[0], self.v[-1] = 0.5, 0.0, 0.0
        first, _ = pancake.places(self.node_mass, pancake.start)
        relative = np.diff(first) / np.diff(self.x)
        density = np.diff(self.node_mass) / np.diff(self.x)
        heat = np.maximum(
            pancake.heat * relative ** (GAMMA - 1), LEAST_ENTROPY * density ** (GAMMA - 1)
        )
        self.heat = heat / (GAMMA - 1)  # energy per mass
        self.gas = pancake.gas_share
        if self.gas == 0:
            raise ValueError("the pancake has no gas")
        self.mass = self.gas * np.diff(self.node_mass)
        sheet = 0.5 * (np.arange(sheets if self.gas < 1 else 0) + 0.5) / sheets
        self.y, self.w = pancake.places(sheet, begin)
        self.sheet_mass = (1 - self.gas) * 0.5 / sheets
        self.last = 0.0  # time step

    def state(self, a: float) -> State:
        """Integrate to a scale factor, not before the last one, and give the gas."""
        if a < self.a:
            return type(self)(self.pancake, 0.9 * self.pancake.collapse).state(a)
        while self.a < a:
            self._step(a)
        place = 0.5 * (self.x[1:] + self.x[:-1])
        density = self.mass / np.diff(self.x)
        pressure = (GAMMA - 1) * density * self.heat
        return State(place, density, 0.5 * (self.v[1:] + self.v[:-1]), pressure)

    def _forces(self) -> tuple[Array, Array]:
        """Return the accelerations of nodes and sheets by gravity."""
        strength = 1.5 * self.pancake.theory.omega_m * self.a
        sheets = np.sort(self.y)
        count = np.arange(len(sheets)) + 0.5
        dark = np.interp(self.x, sheets, count, 0, len(sheets)) if len(sheets) else 0 * self.x
        below = self.gas * self.node_mass + self.sheet_mass * dark
        on_nodes = strength * (self.x - below)
        on_nodes[[0, -1]] = 0.0
        if not len(sheets):
            return on_nodes, self.y
        rank = np.interp(self.y, sheets, count)
        gas = self.gas * np.interp(self.y, self.x, self.node_mass)
        return on_nodes, strength * (self.y - gas - self.sheet_mass * rank)

    def _stress(self) -> tuple[Array, Array]:
        """Return pressure with viscosity in cells, and the speed of signals."""
        density = self.mass / np.diff(self.x)
        pressure = (GAMMA - 1) * density * self.heat
        sound = np.sqrt(GAMMA * pressure / density)
        jump = np.diff(self.v)
        whole = np.where(jump == 0, 1e-300, jump)
        left = np.append(1.0, jump[:-1] / whole[1:])
        right = np.append(jump[1:] / whole[:-1], 1.0)
        smooth = np.clip(np.minimum.reduce([(left + right) / 2, 2 * left, 2 * right]), 0.0, 1.0)
        shock = np.maximum(-jump * (1 - smooth), 0.0)
        viscosity = density * shock * (4 / 3 * shock + 0.5 * sound)
        return pressure + viscosity, sound + 4 * shock

    def _step(self, end: float) -> None:
        theory = self.pancake.theory
        stress, signal = self._stress()
        on_nodes, on_sheets = self._forces()
        rate = self.a**3 * theory.hubble(self.a)  # da / d tau
        closing = np.maximum(-np.diff(self.v), 0.0)
        dt = 0.3 * float(np.min(np.diff(self.x) / (signal + closing)))
        dt = min(dt, 0.002 * self.a / rate)
        if self.a + rate * dt > end:
            dt = (end - self.a) / rate
        push = np.zeros_like(self.x)
        push[1:-1] = -np.diff(stress) / (0.5 * (self.mass[1:] + self.mass[:-1]))
        before, kick = self.v, 0.5 * (self.last + dt)  # velocities are those of half a step ago
        self.v = self.v + kick * (on_nodes + push)
        self.w = self.w + kick * on_sheets
        self.last = dt
        # Work by the stress on the mean motion: kinetic and internal energy together are constant.
        motion = 0.5 * (self.v + before)
        self.heat = np.maximum(self.heat - dt * stress * np.diff(motion) / self.mass, 1e-300)
        self.x = self.x + dt * self.v
        self.y = self.y + dt * self.w
        for crossed, sign in ((self.y < 0, 0.0), (self.y > 0.5, 1.0)):
            self.y = np.where(crossed, sign - self.y, self.y)
            self.w = np.where(crossed, -self.w, self.w)
        self.a = end if self.a + rate * dt >= end * (1 - 1e-12) else self.a + rate * dt

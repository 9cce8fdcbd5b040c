"""A cylindrical or spherical blast in one dimension, for cells of any size along the radius.

MUSCL-Hancock with the monotonised central limiter and HLLC, as the default of `octant`.
"""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
GAMMA = 1.4


def limited(state: Array) -> Array:
    """Give the slopes of all cells but the first and the last."""
    left, right = state[:, 1:-1] - state[:, :-2], state[:, 2:] - state[:, 1:-1]
    low, high = 2 * np.minimum(left, right), 2 * np.maximum(left, right)
    centre = 0.5 * (left + right)
    return np.maximum(np.minimum(low, centre), 0) + np.minimum(np.maximum(high, centre), 0)


def hllc(below: Array, above: Array) -> Array:
    """Give the fluxes between states (density, velocity, pressure)."""
    density, velocity, pressure = np.stack([below, above], axis=1)
    sound = np.sqrt(GAMMA * pressure / density)
    slowest = (velocity - sound).min(axis=0)
    fastest = (velocity + sound).max(axis=0)
    signal = np.stack([slowest, fastest])
    inertia = density * (signal - velocity)
    thrust = inertia * velocity - pressure
    middle = (thrust[0] - thrust[1]) / (inertia[0] - inertia[1])
    energy = pressure / (GAMMA - 1) + 0.5 * density * velocity**2
    flux = np.stack([density * velocity, density * velocity**2 + pressure])
    flux = np.concatenate([flux, [(energy + pressure) * velocity]])
    inside = inertia / (signal - middle)
    push = (middle - velocity) * (middle + pressure / inertia)
    star = np.stack([inside, inside * middle, inside * (energy / density + push)])
    state = np.stack([density, density * velocity, energy])
    lower, upper = (flux + signal * (star - state)).swapaxes(0, 1)
    result = np.where(middle >= 0, lower, upper)
    result = np.where(slowest >= 0, flux[:, 0], result)
    return np.where(fastest <= 0, flux[:, 1], result)


def peak_of_blast(cell: float, end: float, ball: float, outer: float, dimensions: int) -> float:
    """Give the largest density at a time, of energy 1 (per length) released within a radius."""
    edge = np.arange(round(outer / cell) + 1) * cell
    area, centre = edge ** (dimensions - 1), 0.5 * (edge[1:] + edge[:-1])
    volume = np.diff(edge**dimensions) / dimensions
    share = np.clip((ball - edge[:-1]) / cell, 0, 1)
    heat = 1e-5 / (GAMMA - 1) + share / (2 * (dimensions - 1) * np.pi * (share * volume).sum())
    u = np.stack([np.ones_like(centre), np.zeros_like(centre), heat])
    radius = np.concatenate([[-centre[0]], centre, [centre[-1] + cell]])
    mirror = np.array([[1.0], [-1.0], [1.0]])
    time = 0.0
    while time < end:
        velocity = u[1] / u[0]
        pressure = np.maximum((GAMMA - 1) * (u[2] - 0.5 * u[1] * velocity), 1e-12)
        sound = np.sqrt(GAMMA * pressure / u[0])
        dt = min(0.27 * cell / (np.abs(velocity) + sound).max(), end - time)
        inner = np.stack([u[0], velocity, pressure])
        last = inner[:, -1:]
        w = np.concatenate([inner[:, 1::-1] * mirror, inner, last, last], axis=1)
        slope, (density, v, p) = limited(w), w[:, 1:-1]
        stretch = slope[1] + (dimensions - 1) * v / radius * cell
        change = v * slope
        change += np.stack([density * stretch, slope[2] / density, GAMMA * p * stretch])
        half = w[:, 1:-1] - 0.5 * dt / cell * change
        floor = np.array([[1e-8], [-np.inf], [1e-12]])
        below = np.maximum(half - 0.5 * slope, floor)
        above = np.maximum(half + 0.5 * slope, floor)
        flow = area * hllc(above[:, :-1], below[:, 1:])
        u = u - dt / volume * np.diff(flow, axis=1)
        u[1] += dt / volume * half[2, 1:-1] * np.diff(area)
        time += dt
    return float(u[0].max())

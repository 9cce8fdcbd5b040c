"""Generalised Fermi-Dirac integrals by Gauss-Legendre quadrature.

The integrals of electrons with the kinetic energy x in units of kT, the degeneracy parameter eta
and the relativity parameter beta = kT / (m c^2) are

    F_k(eta, beta) = integral over x from 0 to infinity of
                     x^k (1 + beta x / 2)^(1/2) / (exp(x - eta) + 1).

As in Aparicio (1998, ApJS 117, 627), the range is divided at points around the Fermi surface
x = eta. The integration variable phi is half the rapidity divided by kappa = (beta / 2)^(1/2),
x = (sinh(kappa phi) / kappa)^2. In this variable, integrands with half-integer k have no branch
points, from the non-relativistic to the ultra-relativistic limit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

ORDER = 24  # nodes per interval
NODES, WEIGHTS = np.polynomial.legendre.leggauss(ORDER)
# Boundaries of intervals, as differences of x from max(eta, 0). The occupation differs from 1 by
# less than 1e-21 below the first one in degenerate gas, and is negligible above the last one.
OFFSETS = np.array([-48.0, -16.0, -6.0, 0.0, 6.0, 16.0, 34.0, 70.0])
SPLIT = 0.4  # end of the first interval of gas that is not degenerate
DEGENERATE = 100.0  # eta above which x - eta is the variable near the Fermi surface
CHUNK = 256  # integrals that are computed together


@dataclass(frozen=True)
class Quadrature:
    """Nodes of integrals over the kinetic energy, of shape (integrals, nodes).

    Attributes
    ----------
    energy
        Kinetic energy x in units of kT.
    excess
        Difference x - eta from the chemical potential.
    weight
        Weight of the node times x^(1/2) (1 + beta x / 2)^(1/2).
    """

    energy: Array
    excess: Array
    weight: Array


def quadrature(eta: Array, beta: Array) -> Quadrature:
    """Return nodes and weights for integrals with the occupation 1 / (exp(x - eta) + 1).

    Parameters
    ----------
    eta
        Degeneracy parameters, of shape (integrals,); all above 100, or all at most 100.
    beta
        Relativity parameters kT / (m c^2) >= 0, of the same shape.
    """
    if eta.size and eta.min() > DEGENERATE:
        edges = np.array([0.0, 1 / 16, 1.0]) * (eta + OFFSETS[0])[:, None]
        below = _rapidity_nodes(edges, eta, beta)
        near = _surface_nodes(eta, beta)
        parts = zip(below, near, strict=True)
        return Quadrature(*(np.concatenate(part, axis=1) for part in parts))
    # Boundaries below SPLIT are moved to it: empty intervals have no weight.
    edges = np.maximum(np.maximum(eta, 0.0)[:, None] + OFFSETS, SPLIT)
    edges = np.concatenate((np.zeros((eta.size, 1)), edges), axis=1)
    return Quadrature(*_rapidity_nodes(edges, eta, beta))


def _rapidity_nodes(edges: Array, eta: Array, beta: Array) -> tuple[Array, Array, Array]:
    """Return energies, excesses and weights for intervals in the rapidity."""
    kappa = np.sqrt(np.maximum(beta, 1e-200) / 2)[:, None]
    bounds = np.arcsinh(kappa * np.sqrt(edges)) / kappa
    phi, weight = _nodes(bounds)
    root = np.sinh(kappa * phi) / kappa  # x^(1/2)
    energy = root**2
    # dx (1 + beta x / 2)^(1/2) = 2 x^(1/2) cosh(kappa phi)^2 dphi
    return energy, energy - eta[:, None], 2 * weight * energy * (1 + (kappa * root) ** 2)


def _surface_nodes(eta: Array, beta: Array) -> tuple[Array, Array, Array]:
    """Return energies, excesses and weights for intervals around the Fermi surface."""
    excess, weight = _nodes(np.broadcast_to(OFFSETS, (eta.size, OFFSETS.size)))
    energy = eta[:, None] + excess
    return energy, excess, weight * np.sqrt(energy * (1 + beta[:, None] * energy / 2))


def _nodes(bounds: Array) -> tuple[Array, Array]:
    """Return the nodes and weights of intervals with these boundaries, of shape (..., nodes)."""
    half = np.diff(bounds, axis=1)[..., None] / 2
    middle = bounds[:, :-1, None] + half
    shape = (len(bounds), -1)
    return (middle + half * NODES).reshape(shape), (half * WEIGHTS).reshape(shape)


def occupation(excess: Array) -> Array:
    """Return 1 / (exp(y) + 1)."""
    return 1 / (np.exp(np.minimum(excess, 700.0)) + 1)


def fermi_dirac(k: float, eta: Any, beta: Any = 0.0) -> Array:
    """Return the generalised Fermi-Dirac integral F_k(eta, beta).

    The relative error is below 1e-12 for k = 1/2, 3/2 and 5/2, which the density, the pressure and
    the energy of electrons require.

    Parameters
    ----------
    k
        Order, a half-integer >= -1/2.
    eta
        Degeneracy parameter, any number or array.
    beta
        Relativity parameter kT / (m c^2) >= 0.

    Returns
    -------
    Array
        Array of the common shape of `eta` and `beta`.
    """
    eta, beta = np.broadcast_arrays(np.asarray(eta, float), np.asarray(beta, float))

    def integrals(eta: Array, beta: Array) -> tuple[Array]:
        at = quadrature(eta, beta)
        return (np.sum(at.weight * at.energy ** (k - 0.5) * occupation(at.excess), axis=1),)

    (values,) = by_chunks(integrals, eta.ravel(), beta.ravel())
    return values.reshape(eta.shape)


def by_chunks(function: Any, eta: Array, beta: Array, *more: Array) -> tuple[Array, ...]:
    """Return results of a function of few arguments of one regime for arguments of both regimes.

    Parameters
    ----------
    function
        Function of `eta`, `beta` and `more` that returns a tuple of arrays of their shape.
    eta, beta, more
        Arguments of shape (integrals,).
    """
    degenerate = eta > DEGENERATE
    results: list[Array] = []
    for group in (np.flatnonzero(~degenerate), np.flatnonzero(degenerate)):
        for start in range(0, group.size, CHUNK):
            rows = group[start : start + CHUNK]
            found = function(eta[rows], beta[rows], *(values[rows] for values in more))
            results = results or [np.empty(eta.shape) for _ in found]
            for result, part in zip(results, found, strict=True):
                result[rows] = part
    return tuple(results)

"""Generalised Fermi-Dirac integrals against values with 30 digits, and exact relations."""

import math
from pathlib import Path

import numpy as np

from octools.fermi_dirac import fermi_dirac

REFERENCE = np.genfromtxt(
    Path(__file__).with_name("fermi_integrals.csv"), delimiter=",", names=True, dtype=float
)


def test_integrals_have_twelve_digits_at_all_degeneracies_and_relativities() -> None:
    """The reference is written by fermi_integrals.py, with factors exp(-eta) where eta < 0."""
    for k in np.unique(REFERENCE["k"]):
        rows = REFERENCE[REFERENCE["k"] == k]
        found = fermi_dirac(k, rows["eta"], rows["beta"]) * np.exp(-np.minimum(rows["eta"], 0.0))
        error = np.abs(found / rows["integral"] - 1)
        print(k, error.max())
        assert error.max() <= 1e-12, f"k = {k}: {rows[error.argmax()]}"


def test_shapes_are_broadcast() -> None:
    eta, beta = np.array([-1.0, 0.0, 200.0])[:, None], np.array([0.0, 0.3])
    found = fermi_dirac(0.5, eta, beta)
    assert found.shape == (3, 2)
    for i, j in np.ndindex(found.shape):
        assert found[i, j] == fermi_dirac(0.5, eta[i, 0], beta[j])
    assert fermi_dirac(0.5, 1.0).shape == ()


def test_values_are_continuous_where_the_nodes_change() -> None:
    """Below and above eta = 100, the variable of the integration differs; at 0, the boundaries."""
    for eta in (0.0, 100.0):
        for beta in (0.0, 1e-3, 1.0, 100.0):
            for k in (0.5, 1.5, 2.5):
                step = 1e-9
                values = fermi_dirac(k, np.array([eta - step, eta, eta + step]), beta)
                slope = np.diff(values)
                assert abs(slope[0] - slope[1]) <= 2e-13 * values[1]


def test_integrals_without_relativity_obey_the_recurrence() -> None:
    """The relation d F_k / d eta = k F_(k - 1), with differences of eighth order."""
    eta, step = np.array([-20.0, -2.0, 0.5, 4.0, 20.0, 70.0]), 0.05
    weights = np.array([672, -168, 32, -3]) / 840
    for k in (0.5, 1.5, 2.5):
        slope = sum(
            w * (fermi_dirac(k, eta + n * step) - fermi_dirac(k, eta - n * step))
            for n, w in enumerate(weights, 1)
        )
        np.testing.assert_allclose(slope / step, k * fermi_dirac(k - 1, eta), rtol=1e-9)


def test_limits_are_those_of_classical_and_of_cold_gas() -> None:
    for k in (0.5, 1.5, 2.5):
        classical = fermi_dirac(k, -40.0) * math.exp(40.0)
        assert abs(classical / math.gamma(k + 1) - 1) <= 1e-13
        # Sommerfeld expansion: next term 7 pi^4 / 360 f'''(eta)
        eta = 1e4
        cold = eta ** (k + 1) / (k + 1) * (1 + np.pi**2 / 6 * k * (k + 1) / eta**2)
        assert abs(fermi_dirac(k, eta) / cold - 1) <= 1e-13

"""Checks of the exchange of uniform gas and radiation; no run of Octant."""

import numpy as np
import pytest
from radiation_cell import Relaxation, drag


@pytest.mark.parametrize("gas_energy", [1e2, 1e10])
@pytest.mark.parametrize("speed_ratio", [1.0, 0.1])
def test_relaxation_follows_its_equation(gas_energy: float, speed_ratio: float) -> None:
    cell = Relaxation(
        gas_energy=gas_energy,
        radiation_energy=1e12,
        heat=1e-7 * 1.5 * 8.314e7 / 0.6,
        radiation_constant=7.5657e-15,
        absorption=4e-8,
        light_speed=2.998e10,
        speed_ratio=speed_ratio,
    )
    time = np.geomspace(1e-13, 1e-4, 200)
    e, radiation = cell.at(time)
    assert radiation + speed_ratio * e == pytest.approx(1e12 + speed_ratio * gas_energy)
    assert np.all(np.diff(e) * np.sign(cell.equilibrium - gas_energy) >= 0.0)
    emission = cell.radiation_constant * (e / cell.heat) ** 4
    assert emission[-1] == pytest.approx(radiation[-1], rel=1e-6)
    step = 1e-4 * time
    slope = (cell.at(time + step)[0] - cell.at(time - step)[0]) / (2.0 * step)
    rate = cell.light_speed * cell.absorption * (radiation - emission)
    significant = np.abs(rate) * time > 1e-3 * np.abs(e)
    assert significant.sum() > 20
    assert slope[significant] == pytest.approx(rate[significant], rel=1e-3)


def test_drag_conserves_momentum_and_follows_its_equation() -> None:
    time, c, r, rho, e, s = np.linspace(0.0, 2.0, 11), 10.0, 0.3, 2.0, 30.0, 0.4
    given = {"energy": e, "extinction": s, "density": rho, "light_speed": c, "speed_ratio": r}
    v, f = drag(time, 5.0, **given)
    assert rho * v + f / (r * c**2) == pytest.approx(5.0 / (r * c**2))
    step = 1e-5
    slope = (drag(time + step, 5.0, **given)[0] - drag(time - step, 5.0, **given)[0]) / (2 * step)
    assert rho * slope == pytest.approx(s * (f - 4 / 3 * v * e) / c, rel=1e-6)
    v, f = drag(1e3, 5.0, **given)
    assert f == pytest.approx(4 / 3 * v * e)

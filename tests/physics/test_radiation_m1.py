"""Checks of the numerical M1 solutions with which runs are compared; no run of Octant."""

import numpy as np
import pytest
from octools.flow_figures import REFERENCES, read_table
from radiation_m1 import Slab, extrapolated, hot_slab_m1, levermore, marshak_slab, p1, su_olson_slab
from radiation_solutions import (
    MARK,
    MARSHAK,
    SU_OLSON_TRANSPORT_U,
    SU_OLSON_X,
    Medium,
    hot_slab,
    marshak_wave,
    marshak_wave_p1,
    su_olson_source,
)


def test_closure_has_the_limits_of_diffusion_and_of_a_beam() -> None:
    chi, slow, fast = levermore(np.array([0.0, 1.0, -1.0]))
    assert chi == pytest.approx([1 / 3, 1.0, 1.0])
    assert slow == pytest.approx([-np.sqrt(1 / 3), 1.0, -1.0])
    assert fast == pytest.approx([np.sqrt(1 / 3), 1.0, -1.0])
    # The speeds are the eigenvalues of d(f, chi E) / d(E, F / c).
    f, step = np.linspace(-0.9, 0.9, 19), 1e-5
    slope = (levermore(f + step)[0] - levermore(f - step)[0]) / (2.0 * step)
    chi, slow, fast = levermore(f)
    assert slow + fast == pytest.approx(slope, abs=1e-8)
    assert -slow * fast == pytest.approx(chi - f * slope, abs=1e-8)


def test_p1_solutions_converge_to_the_exact_ones() -> None:
    errors = []
    for cells in (110, 330):
        slab = su_olson_slab(3.0, cells, 5.5, closure=p1)
        exact = su_olson_source(slab.x, 3.0, 1, modes=2000)[0]
        errors.append(np.abs(slab.energy - exact).mean() / exact.mean())
    assert errors[1] < 5e-4
    assert errors[0] > 5.0 * errors[1]


@pytest.mark.parametrize(("bath", "boundary"), [(False, MARSHAK), (True, MARK)])
def test_p1_waves_have_the_exact_boundary_condition(bath: bool, boundary: float) -> None:
    slab = marshak_slab(1.0, 0.1, 300, closure=p1, bath=bath)
    u, v = marshak_wave_p1(slab.x, 1.0, 0.1, boundary=boundary)
    assert np.abs(slab.energy - u).max() < 3e-2
    assert np.abs(slab.energy - u).mean() < 8e-3 * u.mean()
    assert np.abs(slab.emission - v).mean() < 1.2e-2 * v.mean()


def test_scattering_and_heat_capacity_are_those_of_the_exact_solution() -> None:
    medium = Medium(absorption=2.0, scattering=3.0, heat_ratio=0.3, light_speed=7.0)
    slab = Slab(4.0, 400, medium, p1)
    slab.energy[:50] = 1.0
    slab.advance(0.5)
    e, b = hot_slab(slab.x, 0.5, 1, medium=medium)
    assert np.abs(slab.energy - e).mean() < 2e-3 * e.mean()
    assert np.abs(slab.emission - b).mean() < 2e-3 * b.mean()


def test_m1_solutions_conserve_energy_and_converge() -> None:
    coarse, fine, finest = (su_olson_slab(3.0, cells, 5.5) for cells in (55, 165, 495))
    for slab in (coarse, fine, finest):
        stored = np.sum(slab.energy + slab.emission) * slab.length / slab.cells
        assert stored == pytest.approx(1.5, rel=1e-10)
    first, second = (
        np.abs(a.energy - b.energy[1::3]).mean() for a, b in ((coarse, fine), (fine, finest))
    )
    assert second < 3e-4
    assert first > 5.0 * second
    limit = extrapolated(fine.energy, finest.energy)
    assert np.abs(limit - finest.energy[1::3]).mean() < 5e-5
    # M1 is no exact transport: the difference is largest at the edge of the source.
    error = np.interp(SU_OLSON_X, finest.x, finest.energy) - SU_OLSON_TRANSPORT_U[3.16228]
    assert 0.1 < np.abs(error).max() < 0.2


def test_slab_without_source_has_the_fronts_of_p1() -> None:
    slab = hot_slab_m1(1.0, 400, 2.0, closure=p1)
    e, b = hot_slab(slab.x, 1.0, 1, modes=4000)
    assert np.abs(slab.energy - e).mean() < 0.02 * e.mean()
    assert np.abs(slab.emission - b).mean() < 2e-3 * b.mean()
    stored = np.sum(slab.energy + slab.emission) * slab.length / slab.cells
    assert stored == pytest.approx(0.5, rel=1e-10)


def test_m1_wave_of_great_optical_depth_is_the_diffusion_wave() -> None:
    slab = marshak_slab(10.0, 1.0, 300)
    u, v = marshak_wave_p1(slab.x, 10.0, 1.0)
    assert np.abs(slab.energy - u).max() < 0.03
    assert np.abs(slab.emission - v).max() < 0.03


def test_solutions_for_the_example_are_these() -> None:
    """Compare the table for examples/marshak.toml: 12 mean free paths, at tau = 10."""
    table = read_table(REFERENCES / "marshak.csv")
    slab = marshak_slab(10.0, 0.1, 768, 12.0 * np.sqrt(3.0), bath=True)
    x, energy, emission = (
        field.reshape(192, -1).mean(axis=1) for field in (slab.x, slab.energy, slab.emission)
    )
    assert np.sqrt(3.0) * table["x"] == pytest.approx(x, rel=1e-5)
    assert table["radiation_energy"] == pytest.approx(energy, rel=1e-5)
    assert table["emission"] == pytest.approx(emission, rel=1e-5)
    u, v = marshak_wave(x, 10.0, 0.1)
    assert table["diffusion_energy"] == pytest.approx(u, rel=1e-5)
    assert table["diffusion_emission"] == pytest.approx(v, rel=1e-5)


def test_beam_moves_at_the_speed_of_light() -> None:
    vacuum = Medium(absorption=0.0, light_speed=2.0)
    slab = Slab(4.0, 400, vacuum)
    slab.energy = np.where(np.abs(slab.x - 1.0) < 0.5, 1.0, 1e-12)
    slab.flux = slab.energy.copy()
    before = np.sum(slab.energy * slab.x) / np.sum(slab.energy)
    slab.advance(0.75)
    after = np.sum(slab.energy * slab.x) / np.sum(slab.energy)
    assert after - before == pytest.approx(1.5, rel=1e-6)
    assert slab.energy[:80].max() < 1e-3

"""Looking at initial conditions, and linear theory to compare them with."""

from pathlib import Path

import numpy as np
import pytest
from conftest import Call
from synthetic import Synthetic

from octools.ics import HEADER, overdensity, read_levels
from octools.linear import LinearTheory, power_spectrum
from octools.snapshot import Array

THEORY = LinearTheory(0.3111, 0.6889, 0.047, 0.6766, 0.81, 0.967)


def write(path: Path, values: Array, spacing: float = 2.0, offset: float = 0.0) -> None:
    """Write a grafic2 file; values as [z][y][x], spacing and offset in Mpc."""
    nz, ny, nx = values.shape
    where = (offset,) * 3
    header = np.array([(44, (nx, ny, nz), spacing, where, 0.02, 0.3, 0.7, 70.0, 44)], HEADER)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        header.tofile(file)
        marker = np.array([4 * nx * ny], "<i4")
        for plane in values.astype("<f4"):
            for part in (marker, plane, marker):
                part.tofile(file)


def wave(n: int, box: float) -> tuple[Array, Array, Array]:
    """Give x and y at the cells' centres, and the phase of a wave along both."""
    x = (np.arange(n) + 0.5) * box / n + np.zeros((n, n, 1))
    y = np.swapaxes(x, 1, 2)
    return x, y, 2 * np.pi / box * (2 * x + y)


def test_linear_power_agrees_with_another_implementation(reference: Path) -> None:
    table = np.loadtxt(reference / "pk_linear_z29.5.csv", delimiter=",", skiprows=4)
    k, early = table[:, 0], table[:, 2]
    np.testing.assert_allclose(THEORY.power(k, 1 / 30.5), early, rtol=2e-3)


def test_growth_is_that_of_the_reference() -> None:
    assert THEORY.growth(1 / 30.5) == pytest.approx(0.0417366371, rel=1e-5)
    assert THEORY.velocity_per_displacement(1 / 30.5) == pytest.approx(308.0337, rel=1e-5)
    assert LinearTheory(1, 0, 0, 0.5, 1, 1).growth(0.1) == pytest.approx(0.1, rel=1e-6)


def growth_with_constant_w(a: float, omega_m: float, w: float) -> float:
    """D / a in a flat universe of matter and dark energy: 2F1 by its series (Silveira 1994)."""
    x = -((1 - omega_m) / omega_m) * a ** (-3 * w)
    one, two, three = -1 / (3 * w), (w - 1) / (2 * w), 1 - 5 / (6 * w)
    term, total = 1.0, 1.0
    for n in range(200):
        term *= (one + n) * (two + n) / ((three + n) * (n + 1)) * x
        total += term
    return a * total


@pytest.mark.parametrize("w", [-0.5, -0.7, -1.0, -1.2])
def test_growth_follows_the_equation_of_state_of_dark_energy(w: float) -> None:
    theory = LinearTheory(0.3, 0.7, 0.05, 0.7, 0.8, 0.96, w0=w)
    found = theory.growth(0.5) / theory.growth(0.1)
    expected = growth_with_constant_w(0.5, 0.3, w) / growth_with_constant_w(0.1, 0.3, w)
    assert found == pytest.approx(expected, rel=1e-6)
    # A w that changes as fast as a grows is another constant at early times.
    early = LinearTheory(0.3, 0.7, 0.05, 0.7, 0.8, 0.96, w0=w - 0.1, wa=0.1)
    assert early.growth(1e-2) / early.growth(5e-3) == pytest.approx(2.0, rel=1e-2)


def test_growth_stagnates_while_radiation_rules() -> None:
    theory = LinearTheory(0.9, 0.0, 0.05, 0.7, 0.8, 0.96, omega_radiation=0.1)
    equality = 0.1 / 0.9
    expected = (1 + 1.5 * 0.5 / equality) / (1 + 1.5 * 1e-3 / equality)
    assert theory.growth(0.5) / theory.growth(1e-3) == pytest.approx(expected, rel=1e-6)
    assert theory.rate(0.5) == pytest.approx(0.5 / (0.5 + 2 / 3 * equality), rel=1e-6)
    with pytest.raises(ValueError, match="1e-5"):
        theory.growth(1e-6)


def test_a_wave_has_its_power_in_its_bin() -> None:
    box, n = 30.0, 16
    _, _, phase = wave(n, box)
    spectrum = power_spectrum(0.1 * np.cos(phase), box, THEORY, 1.0)
    shell = 1  # of wavenumber 5^(1/2), nearest to 2
    total = spectrum.power * spectrum.modes
    # A^2 / 4 times the volume in each of the two modes.
    assert total[shell] == pytest.approx(2 * 0.1**2 / 4 * box**3)
    assert np.delete(total, shell) == pytest.approx(0, abs=1e-9)
    assert spectrum.modes[0] == 18  # those of length 1 and 2^(1/2)


@pytest.mark.parametrize("vector", ["posc", "velc"])
def test_overdensity_without_files_of_it_follows_from_motions(tmp_path: Path, vector: str) -> None:
    n = 8
    box = n * 2.0 * 0.7
    k = 2 * np.pi / box
    _, _, phase = wave(n, box)
    universe = LinearTheory(0.3, 0.7, 0.05, 0.7, 0.8, 0.96)
    factor = 1.0 if vector == "posc" else universe.velocity_per_displacement(0.02)
    for axis, component in zip("xyz", (2 * k, k, 0.0), strict=True):
        motion = -component / (5 * k**2) * np.sin(phase) * 0.1
        write(tmp_path / f"level_003/ic_{vector}{axis}", motion * factor)
    what, delta = overdensity(read_levels(tmp_path)[0], universe)
    assert what == "dark matter"
    np.testing.assert_allclose(delta, 0.1 * np.cos(phase), atol=1e-6)


def test_files_that_are_no_fields_are_named(tmp_path: Path, octools: Call) -> None:
    """Numbers of particles have eight bytes, which is no damage."""
    for name in ("deltab", "velcx", "velcy", "velcz"):
        write(tmp_path / f"level_003/ic_{name}", np.random.default_rng(1).random((8, 8, 8)) * 0.1)
    ids = np.arange(8**3, dtype="<i8").tobytes()
    (tmp_path / "level_003/ic_particle_ids").write_bytes(ids)
    result = octools("ics", tmp_path, "--output", tmp_path / "ics.png")
    assert result.returncode == 0, result.stderr
    assert "ignored ic_particle_ids" in result.stdout
    assert "velcx" in result.stdout


def test_a_folder_is_summarised_level_by_level(tmp_path: Path, octools: Call) -> None:
    rng = np.random.default_rng(1)
    write(tmp_path / "level_003/ic_deltab", 0.1 * rng.standard_normal((8, 8, 8)))
    write(tmp_path / "level_004/ic_deltab", np.full((4, 4, 4), 0.25), 1.0, 6.0)
    result = octools("ics", tmp_path, "--output", tmp_path / "out.png")
    assert result.returncode == 0, result.stderr
    assert "level 3: 8 x 8 x 8 cells of 1.4 Mpc/h" in result.stdout
    assert "level 4: 4 x 4 x 4 cells of 0.7 Mpc/h starting at cell (6, 6, 6)" in result.stdout
    assert "0.25" in result.stdout
    assert "z = 49" in result.stdout
    assert (tmp_path / "out.png").is_file()


def test_gas_of_a_snapshot_is_compared_on_the_base_grid(tmp_path: Path, octools: Call) -> None:
    parameters = (
        "cosmology = {enabled = true, omega_m = 0.3, omega_lambda = 0.7, omega_b = 0.05, h = 0.7}\n"
    )
    fields = {"density": lambda x, y, z: 0.2 * (1 + 0.01 * np.cos(2 * np.pi * x) + 0 * (y + z))}
    path = Synthetic(fields=fields, parameters=parameters).write(tmp_path / "snap_00000.h5")
    result = octools("ics", path)
    assert result.returncode == 0, result.stderr
    assert "gas, 16³" in result.stdout
    assert "standard deviation 0.0070711" in result.stdout


def test_what_cannot_be_used_is_refused_in_one_line(
    tmp_path: Path, snapshot_path: Path, octools: Call
) -> None:
    def refused(target: Path, *words: str) -> None:
        result = octools("ics", target)
        assert result.returncode == 2
        assert result.stderr.count("\n") == 1
        for word in words:
            assert word in result.stderr

    refused(snapshot_path, "not from a cosmological run")
    blast = "cosmology = {enabled = false, omega_m = 0.3, omega_lambda = 0.7, h = 0.7}"
    refused(Synthetic(parameters=blast).write(tmp_path / "blast.h5"), "not from a cosmological run")
    refused(tmp_path / "nowhere", "nowhere")
    file = tmp_path / "level_003/ic_deltab"
    write(file, np.zeros((8, 8, 8)))
    file.write_bytes(file.read_bytes()[:-100])
    refused(tmp_path, "ic_deltab", "truncated")
    file.write_bytes(np.frombuffer(file.read_bytes()[:800], ">i4").astype("<i4").tobytes())
    refused(tmp_path, "ic_deltab", "little-endian")


def test_deviation_is_sigma_8_in_spheres_of_8_and_halos_are_as_many_as_known() -> None:
    theory = LinearTheory(0.3111, 0.6889, 0.049, 0.6766, 0.81, 0.967)
    mass = np.array([1.0, 64.0]) * 4 / 3 * np.pi * 8**3 * 2.77536627e11 * 0.3111
    sigma = theory.deviation(mass)
    assert sigma[0] == pytest.approx(0.81, rel=1e-3)
    assert 0.1 < sigma[1] / sigma[0] < 0.35
    assert theory.deviation(mass, 0.5) == pytest.approx(sigma * theory.growth(0.5))
    # Clusters: some 2e-5 per (Mpc/h)^3 are heavier than 1e14 Msun/h (Jenkins et al. 2001).
    heavier = theory.heavier_halos(np.array([1e13, 1e14, 1e15]))
    assert 1.5e-5 < heavier[1] < 4e-5
    assert 10 < heavier[0] / heavier[1] < 30
    assert heavier[2] < 4e-7

"""An expanding box with gas and dark matter: growth, energy, masses, zooms, and the same bits."""

from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest
from numpy.typing import NDArray

from inputs import CLUMPY_BOX
from reference_data import reference_path
from running import (
    CHECKPOINT_EVERY_STEP,
    Outcome,
    assert_goes_on,
    assert_same_run,
    leaf_cells,
    octant,
    run,
    run_well,
    uniform_grid,
)

OMEGA_M, OMEGA_B, H = 0.3111, 0.047, 0.6766

MUSIC = f"""
[problem]
name = "cosmology"

[cosmology]
enabled = true
omega_m = {OMEGA_M}
omega_b = {OMEGA_B}
h = {H}
box = 50.0

[initial]
kind = "grafic"

[gravity]
enabled = true

[mesh]
base_cells = [32, 32, 32]
block_size = 8

[hydro]
gamma = 1.6666666666666667
limiter = "mc"
dual_energy = "overwrite"
"""


def files(name: str) -> str:
    """Override that names one of MUSIC's sets."""
    return f"initial.path={reference_path(f'ics/{name}/grafic')}"


def growth(a: float) -> float:
    """Growing mode of matter and a cosmological constant, up to a factor (Heath 1977)."""
    x = np.linspace(1e-6, a, 200_001)
    hubble = np.sqrt(OMEGA_M / x**3 + 1 - OMEGA_M)
    return float(hubble[-1] * np.trapezoid(1 / (x * hubble) ** 3, x))


def band_powers(path: Path, bins: int = 5) -> NDArray[np.float64]:
    """Mean power of the dark matter's modes near the first multiples of 2 pi / box, shape (bins,).

    Sums over particles, not a transform of clouds in cells: of particles near their lattice, clouds
    in as many cells hold 4 % too much at a fifth of the box, later they do not.
    """
    with h5py.File(path) as file:
        dark = file["particles/dark"]
        position, mass = dark["position"][...], dark["mass"][...]
    n = np.arange(-bins, bins + 1)
    x, y, z = (np.exp(-2j * np.pi * position[:, axis, None] * n) for axis in range(3))
    delta = np.array([(mass[:, None] * wave[:, None] * y).T @ z for wave in x.T]) / mass.sum()
    number = np.rint(np.sqrt(sum(k**2 for k in np.meshgrid(n, n, n, indexing="ij"))))
    return np.array([np.mean(np.abs(delta[number == band]) ** 2) for band in range(1, bins + 1)])


def scale_factor(path: Path) -> float:
    """Scale factor of a snapshot."""
    with h5py.File(path) as file:
        return float(file["header"].attrs["scale_factor"])


def gas_band_powers(path: Path, bins: int = 5) -> NDArray[np.float64]:
    """Mean power of the modes of the gas's means of cells, in the same bands, shape (bins,)."""
    density = uniform_grid(path, "density")
    delta = np.fft.fftn(density / density.mean() - 1) / density.size
    n = np.fft.fftfreq(len(density), 1 / len(density))
    number = np.rint(np.sqrt(sum(k**2 for k in np.meshgrid(n, n, n, indexing="ij"))))
    return np.array([np.mean(np.abs(delta[number == band]) ** 2) for band in range(1, bins + 1)])


Powers = Callable[[Path], NDArray[np.float64]]


def grown_over_linear(outcome: Outcome, powers: Powers) -> NDArray[np.float64]:
    """Growth of the five lowest bands from the start to a = 0.1 over that of linear theory."""
    start, later = outcome.snapshots[:2]
    assert scale_factor(later) == pytest.approx(0.1, rel=1e-9)
    grown = np.sqrt(powers(later) / powers(start))
    return grown / (growth(0.1) / growth(scale_factor(start)))


@pytest.fixture(scope="module")
def music(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """Run MUSIC's 32^3 set to a = 0.1 and on to a = 0.3, on a uniform mesh."""
    directory = tmp_path_factory.mktemp("music") / "run"
    epochs = ('cosmology.snapshots=["a = 0.1"]', 'cosmology.end="a = 0.3"')
    return run_well(directory, MUSIC, files("b50_n032_2lpt"), *epochs, timeout=300)


def cold_box(directory: Path, *overrides: str, ranks: int = 1) -> Path:
    """Run MUSIC's 32^3 set to a = 0.1013 and return the snapshot: nothing has met, all is cold."""
    how = (files("b50_n032_2lpt"), 'cosmology.end="a = 0.1013"', *overrides)
    return run_well(directory, MUSIC, *how, ranks=ranks).last_snapshot


def heat_over_adiabat(path: Path, start: Path) -> float:
    """Mean of pressure over density by mass, over what the entropy of the start makes of it."""
    first, last = leaf_cells(start), leaf_cells(path)
    entropy = np.mean(first["pressure"] / first["density"] ** (5 / 3))
    return float(np.sum(last["pressure"]) / np.sum(entropy * last["density"] ** (5 / 3)))


def test_cold_gas_has_the_same_bits_whatever_the_blocks(tmp_path: Path) -> None:
    def fields(size: int) -> list[bytes]:
        snapshot = cold_box(tmp_path / str(size), f"mesh.block_size={size}")
        return [uniform_grid(snapshot, name).tobytes() for name in ("density", "pressure")]

    reference = fields(32)
    for size in (2, 4, 8, 16):
        assert fields(size) == reference, size


@pytest.mark.parametrize("scheme", ["muscl_hancock", "rk2", "rk3"])
@pytest.mark.parametrize("profile", ["plm", "ppm"])
def test_cold_gas_stays_on_its_adiabat(tmp_path: Path, scheme: str, profile: str) -> None:
    how = (f"hydro.scheme={scheme}", f"hydro.reconstruction={profile}")
    snapshot = cold_box(tmp_path / "run", *how)
    start = tmp_path / "run" / "snap_00000.h5"
    assert heat_over_adiabat(snapshot, start) == pytest.approx(1.0, abs=0.2)


def test_cold_gas_at_a_level_jump_stays_on_its_adiabat(tmp_path: Path) -> None:
    """Not all of it as yet: fluxes' corrections heat none, interpolated ghosts do."""
    half = ("mesh.max_level=1", "refine.region_level=1", "refine.region_upper=[0.5, 1.0, 1.0]")
    snapshot = cold_box(tmp_path / "run", *half)
    first, last = leaf_cells(tmp_path / "run" / "snap_00000.h5"), leaf_cells(snapshot)
    entropy = np.mean(first["pressure"] / first["density"] ** (5 / 3))
    heated = last["pressure"] > 2 * entropy * last["density"] ** (5 / 3)
    mass = last["density"] * last.volume
    assert mass[heated].sum() < 0.02 * mass.sum()  # twice that where corrections count as heat


def test_a_large_box_stays_on_its_adiabat(tmp_path: Path) -> None:
    """Units grow with the box: 3e-15 is the pressure of its gas, and no smallest one."""
    large = ("cosmology.box=800.0", "mesh.max_level=0", 'cosmology.start="z = 29.5"')
    outcome = run_well(tmp_path / "run", CLUMPY_BOX, *large, 'cosmology.end="a = 0.1"')
    assert outcome.history()["floored_cells"][-1] == 0
    first, last = leaf_cells(outcome.snapshots[0]), leaf_cells(outcome.last_snapshot)
    entropies = [cells["pressure"] / cells["density"] ** (5 / 3) for cells in (first, last)]
    assert entropies[1] == pytest.approx(np.mean(entropies[0]), rel=1e-3)


def test_the_five_lowest_bands_grow_as_in_linear_theory(music: Outcome) -> None:
    # 0.992 to 0.995: the discrete Laplacian's stronger, clouds' and differences' weaker forces
    # nearly cancel.
    assert grown_over_linear(music, band_powers) == pytest.approx(np.ones(5), abs=0.01)
    # 0.991 to 1.001, with the minmod limiter 0.975: it flattens waves of seven cells.
    assert grown_over_linear(music, gas_band_powers) == pytest.approx(np.ones(5), abs=0.01)


def test_energy_obeys_layzer_and_irvine(music: Outcome) -> None:
    history = music.history()
    assert history["a"][-1] == pytest.approx(0.3, rel=1e-9)
    assert np.abs(history["econs"]).max() < 0.005


def test_gas_and_dark_matter_have_their_masses(music: Outcome) -> None:
    history = music.history()
    share = OMEGA_B / OMEGA_M
    assert history["mass"] == pytest.approx(share, rel=1e-6)
    assert history["dark_mass"] == pytest.approx(1 - share, rel=1e-6)
    assert (history["dark_particles"] == 32**3).all()


def test_units_are_those_of_the_epoch(music: Outcome) -> None:
    with h5py.File(music.last_snapshot) as file:
        header = dict(file["header"].attrs)
    a, hubble, megaparsec = 0.3, 100 * H * 1e5, 3.0856775814913673e24
    assert header["redshift"] == pytest.approx(1 / a - 1)
    assert header["unit_length"] == pytest.approx(a * 50 / H * megaparsec)
    assert header["unit_time"] == pytest.approx(a**2 * megaparsec / hubble)
    density = 3 * (hubble / megaparsec) ** 2 / (8 * np.pi * 6.6743e-8) * OMEGA_M / a**3
    assert header["unit_mass"] / header["unit_length"] ** 3 == pytest.approx(density)


def test_a_nested_zoom_has_its_levels_and_masses(tmp_path: Path) -> None:
    outcome = run_well(
        tmp_path / "run",
        MUSIC,
        files("b50_zoom_l5_l7"),
        "mesh.block_size=4",
        "mesh.max_level=3",
        "hydro.scalars=1",
        "refine.mass=[0.125, 0.125, 0.125]",
        "refine.mass_scalar=0",
        "time.max_steps=4",
    )
    history = outcome.history()
    share = OMEGA_B / OMEGA_M
    assert history["mass"] == pytest.approx(share, rel=1e-6)
    assert history["dark_mass"] == pytest.approx(1 - share, rel=1e-6)
    # One particle in each cell that no finer level holds.
    assert history["dark_particles"][-1] == 32**3 - 8**3 + 16**3 - 11**3 + 22**3
    assert history["leaf_cells_2"][-1] >= 22**3


def test_only_dark_matter_falls_without_gas(tmp_path: Path) -> None:
    outcome = run_well(tmp_path / "run", CLUMPY_BOX, "hydro.enabled=false")
    history = outcome.history()
    assert (history["mass"] == 0).all()
    assert history["dark_mass"] == pytest.approx(1, rel=1e-12)
    assert history["leaf_cells_1"][-1] > 0
    assert history["ekin"][-1] > 2 * history["ekin"][0]
    with h5py.File(outcome.last_snapshot) as file:
        assert set(file) == {"header", "mesh", "gravity", "particles"}


def test_a_run_without_gas_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    dark = ("hydro.enabled=false", "time.max_steps=10")
    whole = run_well(tmp_path / "whole", CLUMPY_BOX, *dark, *CHECKPOINT_EVERY_STEP)
    assert_goes_on(tmp_path / "rest", whole, 5, *dark, ranks=2)
    checkpoint = whole.directory / "checkpoint_00004.h5"
    told = octant("info", checkpoint)
    assert told.code == 0 and "dark matter: 4096 particles" in told.text, told.text
    # There is nothing that a gas could begin with.
    refused = run(tmp_path / "gas", CLUMPY_BOX, restart=checkpoint)
    assert refused.code == 2 and "hydro.enabled" in refused.text, refused.text


# --- the same bits ------------------------------------------------------------------------------

STEPS = 20


SLOWLY_OPENED = """
[problem]
name = "cosmology"
[cosmology]
enabled = true
box = 10.0
start = "z = 30"
end = "a = 0.95"
[initial]
kind = "generate"
sigma_8 = 0.81
[gravity]
enabled = true
[mesh]
base_cells = [8, 8, 8]
block_size = 4
max_level = 2
[refine]
mass = [0.5, 0.1]
holdback = true
[hydro]
enabled = false
"""


@pytest.mark.parametrize("ranks", [1, 2])
def test_levels_become_available_at_their_epochs(tmp_path: Path, ranks: int) -> None:
    """At a = 0.79 / 2^n, where the finest cells have again half of their proper size."""
    history = run_well(tmp_path / "run", SLOWLY_OPENED, ranks=ranks).history()
    a = history["a"]
    for level, epoch in ((1, 0.3969), (2, 0.7937)):
        blocks = history[f"blocks_{level}"]
        first = int(np.argmax(blocks > 0))  # matter is dense enough from the beginning
        assert a[first - 1] < epoch < a[first]
        assert np.all(blocks[first:] > 0)
    without = run_well(
        tmp_path / "all", SLOWLY_OPENED, "refine.holdback=false", "time.max_steps=1", ranks=ranks
    )
    assert without.history()["blocks_2"][-1] > 0


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """Run the clumpy box on one rank."""
    return run_well(tmp_path_factory.mktemp("one_rank") / "run", CLUMPY_BOX, *CHECKPOINT_EVERY_STEP)


def test_the_clumpy_box_refines(reference: Outcome) -> None:
    history = reference.history()
    assert history["step"][-1] == STEPS
    assert history["leaf_cells_2"][-1] > 0
    assert history["leaf_cells_1"][0] < history["leaf_cells_1"][-1]


def test_the_same_bits_on_two_ranks(tmp_path: Path, reference: Outcome) -> None:
    assert_same_run(run_well(tmp_path / "run", CLUMPY_BOX, ranks=2), reference)


@pytest.mark.parametrize(
    ("ranks", "decomposition", "exchange"),
    [
        (1, "hilbert", "p2p"),
        (2, "ksection", "p2p"),
        (3, "hilbert", "alltoall"),
        (4, "morton", "ksection"),
    ],
)
def test_the_same_bits_across_a_restart(
    tmp_path: Path, reference: Outcome, ranks: int, decomposition: str, exchange: str
) -> None:
    overrides = (f"balance.decomposition={decomposition}", f"comm.exchange={exchange}")
    assert_goes_on(tmp_path / "run", reference, 17, *overrides, ranks=ranks, timeout=300)

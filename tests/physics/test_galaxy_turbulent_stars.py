"""Star formation that depends on turbulence in cells: rates by the equations, bits, refusals."""

import math
from pathlib import Path

import numpy as np
import pytest
from galaxy_setups import CLOUD_GAS, STARS_IN_CLUMPY_BOX
from numpy.typing import NDArray

from galaxies import (
    BOLTZMANN,
    MEGAYEAR,
    NEWTON,
    PARSEC,
    PROTON,
    SNAPSHOTS_ALONE,
    assert_same_births,
    births,
)
from inputs import CLUMPY_BOX
from refusals import assert_refused
from running import (
    CHECKPOINT_EVERY_STEP,
    ROOT,
    Outcome,
    assert_goes_on,
    assert_same_run,
    run,
    run_well,
)
from smaller_examples import SMALLER

Array = NDArray[np.float64]
MODELS = ["multi_freefall_km", "multi_freefall_pn", "padoan", "hopkins", "virial"]

# Gas of about 100 hydrogen nuclei per cm^3 in cells of 10 pc, with waves of velocity that shear,
# turn and squeeze it. Units: pc, Myr, one hydrogen per cm^3.
SIDE, CELLS, SPEED, TEMPERATURE = 160.0, 16, 6.0, 30.0
VELOCITIES = [
    f"{SPEED}*sin(2*k*y) + 7",
    f"{SPEED}*cos(k*y)*sin(k*z) - 3",
    f"{SPEED}*sin(k*x)",
]
WAVES = f"""
[problem]
name = "expression"
density = "100*(1 + 0.5*sin(k*x)*cos(k*y))"
velocity = ["{SPEED}*sin(2*k*y) + 7", "{SPEED}*cos(k*y)*sin(k*z) - 3", "{SPEED}*sin(k*x)"]
temperature = "{TEMPERATURE}"

[problem.constants]
k = "2*pi/{SIDE}"

[mesh]
base_cells = [{CELLS}, {CELLS}, {CELLS}]
block_size = 8
upper = [{SIDE}, {SIDE}, {SIDE}]
{CLOUD_GAS}
[stars]
enabled = true
efficiency = 0.5
density = 70.0
mass = 1.0

[time]
end = 1e-6
max_steps = 1
{SNAPSHOTS_ALONE}"""


def state() -> tuple[Array, list[Array]]:
    """Evaluate density and velocity at the centres of cells, shape (x, y, z)."""
    k = 2.0 * math.pi / SIDE
    centre = (np.arange(CELLS) + 0.5) * SIDE / CELLS
    x, y, z = np.meshgrid(centre, centre, centre, indexing="ij")
    density = 100.0 * (1.0 + 0.5 * np.sin(k * x) * np.cos(k * y))
    v = [np.sin(2.0 * k * y), np.cos(k * y) * np.sin(k * z), np.sin(k * x)]
    return density, [SPEED * component for component in v]


def efficiency(model: str, density: Array, v: list[Array]) -> Array:
    """Find the share of gas that forms stars in a free-fall time, by the papers' equations."""
    dx = SIDE / CELLS
    slope = [
        [(np.roll(u, -1, axis) - np.roll(u, 1, axis)) / (2.0 * dx) for axis in range(3)] for u in v
    ]
    squared = dx**2 * sum(slope[i][j] ** 2 for i in range(3) for j in range(3))
    sound = 5.0 / 3.0 * BOLTZMANN * TEMPERATURE / PROTON * (MEGAYEAR / PARSEC) ** 2
    virial = 5.0 * squared / (math.pi * NEWTON * density * dx**2)
    mach = squared / sound
    variance = np.log(1.0 + 0.4**2 * mach)
    erf = np.vectorize(math.erf)
    free_fall = np.sqrt(3.0 * math.pi / (32.0 * NEWTON * density))
    if model == "padoan":
        return np.exp(-1.6 * free_fall * 2.0 * np.sqrt(squared + sound) / dx)
    if model == "hopkins":
        divergence = sum(slope[i][i] for i in range(3))
        turns = [
            slope[(i + 2) % 3][(i + 1) % 3] - slope[(i + 1) % 3][(i + 2) % 3] for i in range(3)
        ]
        both = divergence**2 + sum(turn**2 for turn in turns)
        return np.where(both < 2.0 * NEWTON * density, 1.0, 0.0)
    if model == "virial":
        bound = 5.0 * (squared + sound) / (math.pi * NEWTON * density * dx**2) < 1.0
        around = sum(np.roll(density, s, axis) for s in (-1, 1) for axis in range(3))
        return np.where(bound & (around < 6.0 * density), 1.0, 0.0)
    critical = {
        "multi_freefall_km": np.log(math.pi**2 / 5.0 * 0.19**2 * virial * mach),
        "multi_freefall_pn": np.log(0.067 / 0.97**2 * virial * mach),
    }[model]
    reach = (variance - critical) / np.sqrt(2.0 * variance)
    return 0.5 * 0.49 * np.exp(0.375 * variance) * (1.0 + erf(reach))


@pytest.mark.parametrize("model", MODELS)
def test_rates_are_those_of_the_equations(tmp_path: Path, model: str) -> None:
    strength = {"virial": 0.2, "hopkins": 0.6, "padoan": 0.3}.get(model, 1.0)
    weaker = [
        f"problem.velocity=[{', '.join(repr(f'{strength}*({v})') for v in VELOCITIES)}]",
        f"stars.model={model}",
    ]
    outcome = run_well(tmp_path / "run", WAVES, *weaker)
    density, velocity = state()
    factor = efficiency(model, density, [strength * v for v in velocity])
    dense = density > 70.0
    if model in {"hopkins", "virial"}:
        assert 0.05 < factor[dense].mean() < 0.95
    free_fall = np.sqrt(3.0 * math.pi / (32.0 * NEWTON * density))
    mass = density * (SIDE / CELLS) ** 3
    expected = (0.5 * factor * mass * 1e-6 / free_fall)[dense].sum()
    assert outcome.history()["stars_expected"][-1] == pytest.approx(expected, rel=1e-4)


MANY = ["stars.mass=1e-4", "stars.model=multi_freefall_pn"]


@pytest.mark.parametrize(("block_size", "ranks"), [(4, 1), (16, 1), (8, 2), (4, 3)])
def test_the_same_stars_in_blocks_of_any_size(tmp_path: Path, block_size: int, ranks: int) -> None:
    reference = run_well(tmp_path / "reference", WAVES, *MANY)
    outcome = run_well(tmp_path / "run", WAVES, *MANY, f"mesh.block_size={block_size}", ranks=ranks)
    log = births(reference)
    assert len(log["id"]) > 100
    assert np.isfinite(log["mach"]).all() and (log["virial_parameter"] > 0.0).all()
    assert_same_births(outcome, reference)


BOX = CLUMPY_BOX + STARS_IN_CLUMPY_BOX + 'model = "multi_freefall_km"\n'


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """Run a small universe with several levels on one rank."""
    folder = tmp_path_factory.mktemp("turbulent")
    return run_well(folder / "run", BOX, *CHECKPOINT_EVERY_STEP)


@pytest.mark.parametrize("ranks", [2, 3])
def test_the_same_stars_on_more_ranks(tmp_path: Path, box: Outcome, ranks: int) -> None:
    assert len(np.unique(births(box)["level"])) >= 2
    outcome = run_well(tmp_path / "run", BOX, "balance.cost=measured", ranks=ranks)
    assert_same_run(outcome, box)
    assert_same_births(outcome, box)


def test_the_same_stars_across_a_restart(tmp_path: Path, box: Outcome) -> None:
    log = births(box)
    step = int(log["step"][len(log["step"]) // 2])
    outcome = assert_goes_on(tmp_path / "run", box, step, ranks=2)
    assert_same_births(outcome, box)


def test_other_models_look_at_no_turbulence(tmp_path: Path) -> None:
    outcome = run_well(tmp_path / "run", WAVES, "stars.mass=1e-4", "stars.model=schmidt")
    assert np.isnan(births(outcome)["mach"]).all()


def test_a_model_that_there_is_not_is_refused(tmp_path: Path) -> None:
    refused = run(tmp_path / "run", WAVES, "stars.model=multi_freefall")
    assert_refused(refused, "stars.model", "multi_freefall_km")


@pytest.mark.parametrize("model", MODELS)
def test_gas_that_its_floor_alone_holds_up_has_numbers(tmp_path: Path, model: str) -> None:
    disc = (ROOT / "examples" / "disc_galaxy.toml").read_text()
    smaller = [*SMALLER["disc_galaxy"], f"stars.model={model}", "time.max_steps=2"]
    outcome = run_well(tmp_path / "run", disc, *smaller)
    assert np.isfinite(outcome.history()["stars_expected"]).all()
    run_well(outcome.directory, disc, *smaller, "time.max_steps=3", restart="latest")

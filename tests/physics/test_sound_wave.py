"""A linear sound wave, oblique to the grid, converges at second order."""

from pathlib import Path

import numpy as np
import pytest

from running import leaf_cells, run_well

AMPLITUDE = 1e-6

# The wave's period is 1 / sqrt(3) = 0.577. A quarter of it is long enough for the error of the
# scheme to outgrow that of the first step, and short enough for 64^3 cells in a quick test. Over
# longer times what monotone limiters cut off the crests takes over: at one period the rates of rk2
# and rk3 with mc are 1.59 and 1.70.
WAVE = f"""
[problem]
name = "sound_wave"
wave = [1, 1, 1]
amplitude = {AMPLITUDE}

[mesh]
block_size = 8

[time]
end = 0.15
"""


def relative_errors(directory: Path, cells: int, *overrides: str) -> tuple[float, float]:
    """Means, and largest values, of |q - exact mean over the cell|, in units of the amplitude.

    Of density, pressure and each axis' share of the velocity, the largest ones: with a density and
    a speed of sound of 1 they change by the same amounts.
    """
    outcome = run_well(directory, WAVE, f"mesh.base_cells={[cells] * 3}", *overrides)
    found = leaf_cells(outcome.last_snapshot)
    wave_number = 2 * np.pi * np.sqrt(3.0)
    phase = 2 * np.pi * found.position.sum(axis=1) - wave_number * found.time
    exact = AMPLITUDE * np.sinc(found.size) ** 3 * np.sin(phase)
    changes = [found["density"] - 1.0, found["pressure"] - 1.0 / 1.4]
    changes += [found[f"velocity_{axis}"] * np.sqrt(3.0) for axis in "xyz"]
    errors = np.abs(np.array(changes) - exact) / AMPLITUDE
    return float(errors.mean(axis=1).max()), float(errors.max())


@pytest.mark.parametrize(
    ("scheme", "reconstruction"),
    [
        ("muscl_hancock", "plm"),
        ("muscl_hancock", "ppm"),
        ("rk2", "plm"),
        ("rk3", "plm"),
        ("rk3", "ppm"),
    ],
)
def test_converges_at_second_order(tmp_path: Path, scheme: str, reconstruction: str) -> None:
    overrides = (f"hydro.scheme={scheme}", f"hydro.reconstruction={reconstruction}")
    errors = [
        relative_errors(tmp_path / str(cells), cells, *overrides)[0] for cells in (16, 32, 64)
    ]
    rate = np.log2(errors[0] / errors[-1]) / 2
    # Second order, less what limiters take at the crests.
    assert rate >= 1.9, f"errors {errors}"


@pytest.mark.parametrize("scheme", ["muscl_hancock", "rk2", "rk3"])
def test_converges_over_a_whole_period_if_smooth_extrema_are_kept(
    tmp_path: Path, scheme: str
) -> None:
    overrides = (f"hydro.scheme={scheme}", "hydro.limiter=huynh", "time.end=0.5773502691896258")
    # 1.99 with rk2 from 16^3 to 64^3 as well, which would take eight times as long.
    errors = [relative_errors(tmp_path / str(cells), cells, *overrides)[0] for cells in (16, 32)]
    assert np.log2(errors[0] / errors[1]) >= 1.9, f"errors {errors}"


# The middle of the box is finer: the wave enters it and leaves it, obliquely to every level jump.
FINE_MIDDLE = (
    "mesh.max_level=1",
    "refine.region_level=1",
    "refine.region_lower=[0.25, 0.25, 0.25]",
    "refine.region_upper=[0.75, 0.75, 0.75]",
    "refine.buffer=0",
)


@pytest.mark.parametrize("scheme", ["muscl_hancock", "rk2", "rk3"])
def test_cells_at_level_jumps_converge(tmp_path: Path, scheme: str) -> None:
    """No cell is left out: second order on average, at the jumps at least half an order less."""
    errors = np.array(
        [
            relative_errors(tmp_path / str(cells), cells, *FINE_MIDDLE, f"hydro.scheme={scheme}")
            for cells in (16, 32)
        ]
    )
    mean, largest = np.log2(errors[0] / errors[1])
    assert mean >= 1.9, f"errors {errors}"
    assert largest >= 1.4, f"errors {errors}"

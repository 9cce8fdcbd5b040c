"""A linear sound wave, oblique to the grid, converges at second order."""

from pathlib import Path

import numpy as np
import pytest

from running import leaf_cells, run_well

AMPLITUDE = 1e-6

# The wave's period is 1 / sqrt(3) = 0.577. A quarter of it is long enough for the error of the
# scheme to outgrow that of the first step, and short enough for 64^3 cells in a quick test.
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


def relative_error(directory: Path, cells: int, *overrides: str) -> float:
    """Mean of |density - exact mean over the cell|, in units of the amplitude."""
    outcome = run_well(directory, WAVE, f"mesh.base_cells={[cells] * 3}", *overrides)
    found = leaf_cells(outcome.last_snapshot)
    wave_number = 2 * np.pi * np.sqrt(3.0)
    phase = 2 * np.pi * found.position.sum(axis=1) - wave_number * found.time
    exact = 1.0 + AMPLITUDE * np.sinc(1.0 / cells) ** 3 * np.sin(phase)
    return float(np.mean(np.abs(found["density"] - exact))) / AMPLITUDE


@pytest.mark.parametrize(
    "scheme",
    [("muscl_hancock", "plm"), ("rk2", "plm"), ("rk3", "plm"), ("rk3", "ppm")],
    ids=lambda scheme: "_".join(scheme),
)
def test_converges_at_second_order(tmp_path: Path, scheme: tuple[str, str]) -> None:
    overrides = (f"hydro.scheme={scheme[0]}", f"hydro.reconstruction={scheme[1]}")
    errors = [relative_error(tmp_path / str(cells), cells, *overrides) for cells in (16, 32, 64)]
    rates = np.log2(np.array(errors[:-1]) / errors[1:])
    # Second order, less what limiters take at the extrema.
    assert rates.min() >= 1.9, f"errors {errors}, rates {rates}"

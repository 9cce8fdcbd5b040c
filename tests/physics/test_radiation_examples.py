"""Examples of radiation, run as they are, give the numbers that `octools expect` compares."""

from pathlib import Path

import pytest
from octools.expected import EXAMPLES
from octools.expected.findings import Number

from running import ROOT, run_well


@pytest.mark.parametrize(
    "example",
    ["shadow", "marshak", "radiation_shock", "radiative_pulse", "stromgren", "cosmological_hii"],
)
def test_an_example_of_radiation_gives_the_expected_numbers(example: str, tmp_path: Path) -> None:
    text = (ROOT / f"examples/{example}.toml").read_text()
    run = run_well(tmp_path / "run", text).directory
    found = [number for number in EXAMPLES[example](run) if isinstance(number, Number)]
    assert found
    assert [str(number) for number in found if not number.passes] == []

"""Pictures of examples show something, on smaller meshes and after few steps."""

from pathlib import Path

import pytest
from octools.cli import app
from octools.run import picture_command, wanted_pictures
from typer.testing import CliRunner

from pictures import Gallery
from running import ROOT, run_well
from smaller_examples import SMALLER

STEPS = {"cosmology": 6, "galaxies": 2}
NEED_MORE = ("kennicutt",)  # cells or stars than these runs have


@pytest.mark.parametrize(
    "example",
    [
        "sedov",
        "kelvin_helmholtz",
        "cosmology",
        "galaxies",
        "disc_galaxy",
        "single_supernova",
        "binary",
        "marshak",
        "radiation_shock",
        "cavity",
    ],
)
def test_pictures_of_examples_have_range_and_contrast(
    example: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a folder of any name."""
    text = (ROOT / f"examples/{example}.toml").read_text()
    steps = f"time.max_steps={STEPS.get(example, 12)}"
    run = run_well(tmp_path / "another_name", text, *SMALLER[example], steps).directory
    gallery = Gallery(monkeypatch)
    wanted = [text for text in wanted_pictures(run) if text.split()[0] not in NEED_MORE]
    for text in wanted:
        result = CliRunner().invoke(app, picture_command(text, run))
        assert result.exit_code == 0, f"{text}: {result.output}{result.exception}"
    assert gallery.pictures >= len(wanted) > 0
    assert gallery.wrong == []

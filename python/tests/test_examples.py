"""The example files: whole, legible, and of the shape that they claim."""

import tomllib
from pathlib import Path

import numpy as np
import pytest
from conftest import Call

from octools.examples import read_example
from octools.run import picture_command

EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "examples").glob("*.toml"))


@pytest.fixture(params=EXAMPLES, ids=lambda path: path.stem)
def example(request: pytest.FixtureRequest) -> Path:
    return request.param


def test_first_lines_state_description_run_time_and_plots(example: Path) -> None:
    said = read_example(example).said
    for word in ("Shows", "Takes", "Plots"):
        assert said.get(word), word


def test_lines_fit_the_page(example: Path) -> None:
    assert max(map(len, example.read_text().splitlines())) <= 100


def test_cells_are_cubes_in_whole_blocks(example: Path) -> None:
    table = tomllib.loads(example.read_text())
    if table.get("model") == "dns":
        assert "mesh" not in table, "a flow has one grid, whose cells need not be cubes"
        return
    mesh = table["mesh"]
    cells = np.array(mesh["base_cells"])
    ends = mesh.get("lower", [0.0] * 3), mesh.get("upper", [1.0] * 3)
    lower, upper = (np.array([float(str(end).split()[0]) for end in side]) for side in ends)
    size = (upper - lower) / cells
    assert np.all(cells % mesh["block_size"] == 0)
    assert size == pytest.approx(size[0], rel=1e-12)


def test_output_is_named_after_the_example(example: Path) -> None:
    table = tomllib.loads(example.read_text())
    assert table["output"]["directory"] == f"output/{example.stem}"
    assert len(table.get("refine", {}).get("gradient_fields", [])) == len(
        table.get("refine", {}).get("gradient", [])
    )


def test_pictures_are_those_of_commands_that_draw(example: Path) -> None:
    for text in tomllib.loads(example.read_text())["output"].get("pictures", []):
        assert picture_command(text, Path("run"))[1] == "run"


def test_examples_are_listed_and_copied(tmp_path: Path, octools: Call) -> None:
    lines = octools("examples").stdout.splitlines()
    assert [line.split()[0] for line in lines[: len(EXAMPLES)]] == [p.stem for p in EXAMPLES]
    assert max(map(len, lines)) <= 100
    for name in ("sod", "sedov.toml", "sod"):  # an unchanged copy may be there
        result = octools("examples", name, "--output", tmp_path / "some")
        assert result.returncode == 0, result.stderr
    for path in EXAMPLES:
        copy = tmp_path / "some" / path.name
        assert copy.exists() == (path.stem in ("sod", "sedov"))
        assert not copy.exists() or copy.read_text() == path.read_text()


def test_a_changed_example_is_kept(tmp_path: Path, octools: Call) -> None:
    (tmp_path / "sod.toml").write_text("tuned by hand")
    result = octools("examples", "sod", "--output", tmp_path)
    assert result.returncode == 2
    assert "exists and differs from the example" in result.stderr
    assert (tmp_path / "sod.toml").read_text() == "tuned by hand"
    assert "there is no example sedan" in octools("examples", "sedan").stderr

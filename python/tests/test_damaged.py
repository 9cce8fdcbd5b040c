"""Commands that meet no run, another model or damaged files end with one line, and no traceback."""

import shutil
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from conftest import Call
from made_up_run import MadeUpRun
from synthetic import Synthetic
from test_flow import write_statistics

COMMANDS = [
    ["plot"],
    ["plot", "--kind", "projection"],
    ["movie"],
    ["profile"],
    ["phase"],
    ["spectra"],
    ["history"],
    ["halos"],
    ["ics"],
    ["pictures"],
    ["report"],
    ["trace"],
    ["diagnose"],
    ["sql", "select * from ranks"],
    ["compare", "OTHER"],
    ["convert"],
]
HISTORY = (
    "step,time,dt,mass,momentum_x,momentum_y,momentum_z,total_energy,absolute_momentum,blocks_0\n"
    "0,0.0,0.1,1.0,0,0,0,1.0,0.5,8\n"
    "1,0.1,0.1,1.0,0,0,0,1.0,0.5,8\n"
)


def write_gas(run: Path) -> Path:
    Synthetic(time=0.5, parameters="problem = {name = 'sedov'}").write(run / "snap_00000.h5")
    (run / "history.csv").write_text(HISTORY)
    (run / "run.toml").write_text("[output]\npictures = ['plot', 'profile --exact none']\n")
    return MadeUpRun(steps=3).write(run)


def write_a_flow(run: Path) -> Path:
    write_statistics(run)
    (run / "history.csv").write_text("step,time,dt,wall_shear_lower\n0,0.0,0.1,1.0\n")
    return run


def each_file(damage: Callable[[Path], object]) -> Callable[[Path], None]:
    def damage_all(run: Path) -> None:
        for path in [path for path in run.rglob("*") if path.is_file()]:
            damage(path)

    return damage_all


def halve(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def flip_bits(path: Path) -> None:
    """Flip a bit in each 200 bytes."""
    generator = np.random.default_rng(path.stat().st_size)
    data = bytearray(path.read_bytes())
    for place in generator.integers(len(data), size=1 + len(data) // 200):
        data[place] ^= 1 << int(generator.integers(8))
    path.write_bytes(data)


def make_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


DAMAGES: dict[str, Callable[[Path], object]] = {
    "missing": shutil.rmtree,
    "empty": lambda run: [shutil.rmtree(run), run.mkdir()],
    "a_file": lambda run: [shutil.rmtree(run), run.write_text("text")],
    "empty_files": each_file(lambda path: path.write_bytes(b"")),
    "noise": each_file(lambda path: path.write_bytes(np.random.default_rng(1).bytes(2000))),
    "halves": each_file(halve),
    "flipped_bits": each_file(flip_bits),
    "folders_for_files": each_file(make_folder),
    "nothing": lambda run: None,
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("write", [write_gas, write_a_flow])
def test_commands_end_with_one_line(
    tmp_path: Path, octools: Call, write: Callable[[Path], Path], damage: str
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    write_gas(other)
    for command, *options in COMMANDS:
        run = tmp_path / "run"
        run.mkdir()
        write(run)
        DAMAGES[damage](run)
        words = [other if word == "OTHER" else word for word in options]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            result = octools(command, run, *words)
        assert result.returncode in (0, 1, 2), command
        if command != "pictures":  # each may have its line, or none is requested
            lines = result.stderr.splitlines()
            assert len(lines) == (1 if result.returncode == 2 else 0), (command, lines)
            assert result.returncode == 2 or damage in ("nothing", "flipped_bits"), command
        if run.is_dir():
            shutil.rmtree(run)
        else:
            run.unlink(missing_ok=True)

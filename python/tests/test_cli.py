"""The commands as users type them: what they write, what they say, and how they end."""

import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
from conftest import Call, partly_refined
from matplotlib.image import imread
from PIL import Image
from synthetic import Synthetic

SEDOV = '[problem]\nname = "sedov"\nenergy = 1.0\ndensity = 1.0\n'


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Make a run directory with three snapshots, the last of them refined."""
    directory = tmp_path / "run"
    directory.mkdir()
    for number in range(2):
        Synthetic(time=0.01 * number).write(directory / f"snap_{number:05d}.h5")
    partly_refined(time=0.02, parameters=SEDOV).write(directory / "snap_00002.h5")
    return directory


@pytest.mark.parametrize(
    "options",
    [
        ["--outlines"],
        ["--kind", "projection", "--axis", "x", "--log"],
        ["--kind", "projection", "--mean", "--field", "pressure"],
        ["--field", "velocity_x", "--position", "0.3", "--axis", "y"],
        ["--field", "level", "--snapshot", "0"],
    ],
)
def test_plot_writes_a_picture(octools: Call, run: Path, tmp_path: Path, options: list) -> None:
    picture = tmp_path / "pictures" / "a.png"
    result = octools("plot", run, "--output", picture, *options)
    assert result.returncode == 0, result.stderr
    assert f"wrote {picture}" in result.stdout
    pixels = imread(picture)
    assert min(pixels.shape[:2]) > 500
    assert pixels.std() > 0.05


def test_plot_puts_the_picture_beside_the_data(octools: Call, run: Path) -> None:
    assert octools("plot", run).returncode == 0
    assert (run / "snap_00002_density_slice_z.png").is_file()


def test_profile_writes_picture_table_and_numbers(octools: Call, run: Path) -> None:
    result = octools("profile", run)
    assert result.returncode == 0, result.stderr
    assert "exact shock radius:" in result.stdout
    assert (run / "snap_00002_profile_radius.png").is_file()
    lines = (run / "snap_00002_profile_radius.csv").read_text().splitlines()
    assert lines[0] == (
        "radius,density,radial_velocity,pressure,exact_density,exact_radial_velocity,exact_pressure"
    )
    table = np.loadtxt(lines, delimiter=",", skiprows=1)
    assert table.shape[0] > 20
    assert np.all(np.isfinite(table))


def test_profile_along_a_line_needs_no_exact_solution(octools: Call, run: Path) -> None:
    options = ["--kind", "line", "--axis", "y", "--exact", "none", "--fields", "density,mach"]
    result = octools("profile", run, *options, "--centre", 0.3, 0.5, 0.5)
    assert result.returncode == 0, result.stderr
    header = (run / "snap_00002_profile_y.csv").read_text().splitlines()[0]
    assert header == "y,density,mach"


def test_movie_has_one_frame_per_snapshot(octools: Call, run: Path, tmp_path: Path) -> None:
    movie = tmp_path / "movie.gif"
    result = octools("movie", run, "--output", movie, "--rate", 5)
    assert result.returncode == 0, result.stderr
    with Image.open(movie) as frames:
        assert frames.n_frames == 3  # type: ignore[attr-defined]


def test_frames_share_their_colours(octools: Call, tmp_path: Path) -> None:
    for number, density in enumerate((1.0, 3.0)):
        fields = {"density": lambda x, y, z, d=density: d + 0 * (x + y + z)}
        Synthetic(fields=fields).write(tmp_path / f"snap_{number:05d}.h5")
    movie = tmp_path / "movie.gif"
    assert octools("movie", tmp_path, "--output", movie).returncode == 0
    brightness = []
    with Image.open(movie) as frames:
        for number in range(2):
            frames.seek(number)
            grey = frames.convert("L")
            brightness.append(grey.getpixel((grey.width // 3, grey.height // 2)))
    assert brightness[0] < 20
    assert brightness[1] > 200


def test_movie_refuses_other_kinds_of_file(octools: Call, run: Path) -> None:
    result = octools("movie", run, "--output", "movie.avi")
    assert result.returncode == 2
    assert "must end in .gif or .mp4" in result.stderr


def test_compare_ends_with_0_only_within_the_tolerance(octools: Call, run: Path) -> None:
    last = run / "snap_00002.h5"
    other = run.parent / "other.h5"
    other.write_bytes(last.read_bytes())
    same = octools("compare", run, other)
    assert (same.returncode, same.stderr) == (0, "")
    assert same.stdout.startswith("identical")
    with h5py.File(other, "r+") as file:
        file["hydro/level_0/pressure"][-1, -1, -1, -1] *= 1 + 1e-6
    assert octools("compare", run, other).returncode == 1
    assert octools("compare", run, other, "--tolerance", 1e-7).returncode == 1
    assert octools("compare", run, other, "--tolerance", 2e-6).returncode == 0
    assert octools("compare", run, other, "--tolerance", 2e-6, "--relative").returncode == 0
    assert octools("compare", run, other, "--fields", "density").returncode == 0


def test_history_draws_and_prints(octools: Call, run: Path) -> None:
    rows = [f"{n},{0.1 * n},0.1,1.0,0,0,0,{1 + 1e-14 * n},0.5,64,{8 * n}" for n in range(5)]
    head = "step,time,dt,mass,momentum_x,momentum_y,momentum_z,total_energy,absolute_momentum,"
    head += "blocks_0,blocks_1"
    (run / "history.csv").write_text("\n".join([head, *rows]))
    result = octools("history", run)
    assert result.returncode == 0, result.stderr
    assert "drift of total energy:" in result.stdout
    assert (run / "history.png").is_file()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["plot", "nowhere"], "the snapshot or run directory nowhere does not exist"),
        (["plot", "RUN", "--field", "denisty"], "did you mean density?"),
        (["plot", "RUN", "--snapshot", "7"], "no snapshot 7; available snapshots: 0 to 2"),
        (["plot", "RUN", "--position", "3"], "outside the domain"),
        (["plot", "RUN", "--field", "velocity_x", "--log"], "plot it without --log"),
        (["plot", "RUN", "--colours", "viridsi"], "did you mean viridis"),
        (["plot", "RUN", "--output", "a.xyz"], "cannot write a.xyz"),
        (["profile", "RUN", "--snapshot", "0", "--exact", "sod"], "no exact sod solution at t = 0"),
        (["movie", "."], "contains no snapshots"),
        (["history", "RUN"], "the history file"),
        (["pictures", "RUN"], "run.toml cannot be read"),
    ],
)
def test_request_that_cannot_be_met_ends_with_one_line_and_2(
    octools: Call, run: Path, monkeypatch: pytest.MonkeyPatch, arguments: list, message: str
) -> None:
    empty = run.parent / "empty"
    empty.mkdir()
    monkeypatch.chdir(empty)
    result = octools(*(run if a == "RUN" else a for a in arguments))
    assert result.returncode == 2
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert result.stderr.startswith("octools: ")


def ask_for(run: Path, *commands: str) -> None:
    (run / "run.toml").write_text(f"[output]\npictures = {list(commands)}\n")


def test_pictures_makes_what_the_run_asks_for(octools: Call, run: Path) -> None:
    ask_for(run, "plot --field pressure --outlines", "profile --fields 'density, mach'")
    result = octools("pictures", run)
    assert result.returncode == 0, result.stderr
    made = ("snap_00002_pressure_slice_z.png", "snap_00002_profile_radius.png")
    for name in made:
        assert (run / name).is_file()
        assert f"wrote {run / name}" in result.stdout


def test_one_picture_that_fails_does_not_stop_the_others(octools: Call, run: Path) -> None:
    ask_for(run, "plot --field denisty", "plott", "plot")
    result = octools("pictures", run)
    assert result.returncode == 2
    assert "did you mean density?" in result.stderr
    assert "plott" in result.stderr
    assert (run / "snap_00002_density_slice_z.png").is_file()


def test_run_that_asks_for_no_pictures_gets_none(octools: Call, run: Path) -> None:
    ask_for(run)
    result = octools("pictures", run)
    assert result.returncode == 0
    assert "output.pictures is empty" in result.stdout
    assert not list(run.glob("*.png"))


@pytest.mark.parametrize(
    "command",
    [
        "",
        "plot 'density",
        "pictures",
        "convert",
        "plot --output ../a.png",
        "plot --output=/tmp/a.png",
        "plot -o../a.png",
    ],
)
def test_picture_that_is_no_command_is_refused(octools: Call, run: Path, command: str) -> None:
    ask_for(run, command)
    result = octools("pictures", run)
    assert result.returncode == 2
    assert "output.pictures" in result.stderr


@pytest.mark.parametrize(
    "text",
    [
        b"[output",
        b"\xff\xfe\x00",
        b"output = 3",
        b"[output]\npictures = 'plot'",
        b"output.pictures=[1]",
    ],
)
def test_a_damaged_parameter_file_is_named(octools: Call, run: Path, text: bytes) -> None:
    (run / "run.toml").write_bytes(text)
    result = octools("pictures", run)
    assert (result.returncode, len(result.stderr.splitlines())) == (2, 1)
    assert f"{run / 'run.toml'} is invalid" in result.stderr


def test_unknown_option_ends_with_2(octools: Call, run: Path) -> None:
    assert octools("plot", run, "--feild", "density").returncode == 2


def test_package_runs_as_a_program() -> None:
    command = [sys.executable, "-m", "octools", "plot", "nowhere"]
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert result.returncode == 2
    assert result.stderr == "octools: the snapshot or run directory nowhere does not exist\n"

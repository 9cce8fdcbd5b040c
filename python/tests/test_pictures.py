"""What pictures show: windows, formulas, gradients, particles, phases, units of cosmology."""

from pathlib import Path

import h5py
import numpy as np
import pytest
from conftest import Call, partly_refined, wave
from synthetic import Array, Synthetic, around

from octools.errors import OctoolsError
from octools.exact import Sedov
from octools.fields import as_shown, find_field
from octools.figure import Picture, picture_field, render
from octools.flow_spectra import read_spectra
from octools.gradients import GRADIENTS
from octools.phase import phase_diagram
from octools.profile import Exact, Profile, comparisons
from octools.snapshot import Snapshot

# v = MATRIX x + const: every gradient is known.
MATRIX = np.array([[1.0, 2.0, -0.5], [0.3, -2.0, 1.5], [0.7, -0.2, 0.4]])
BOX = """
[cosmology]
enabled = true
box = 50.0
omega_m = 0.3
omega_b = 0.06
"""
UNITS = {"unit_length": 3e24, "unit_mass": 2e45, "unit_time": 4e17}


def shear(component: int):
    def velocity(x: Array, y: Array, z: Array) -> Array:
        row = MATRIX[component]
        return row[0] * x + row[1] * y + row[2] * z

    return velocity


def universe(path: Path) -> Path:
    """Write a snapshot of a universe at z = 1 with particles on a lattice."""
    partly_refined(parameters=BOX).write(path)
    with h5py.File(path, "r+") as file:
        file["header"].attrs.update(scale_factor=0.5, **UNITS)
        n = 8
        lattice = (np.stack(np.meshgrid(*[np.arange(n)] * 3), axis=-1).reshape(-1, 3) + 0.5) / n
        dark = file.create_group("particles/dark")
        dark["position"] = lattice
        dark["mass"] = np.full(n**3, 0.25 / n**3)
    return path


def image_of(snapshot: Snapshot, **options: object) -> Array:
    picture = Picture(**options).of(snapshot.header)  # type: ignore[arg-type]
    return render(snapshot, picture, picture_field(snapshot, picture)).values


def test_window_is_a_part_of_the_whole_picture(snapshot_path: Path) -> None:
    with Snapshot(snapshot_path) as snapshot:
        whole = image_of(snapshot)
        picture = Picture(centre=(0.3, 0.4, 0.5), width=0.25).of(snapshot.header)
        part = render(snapshot, picture, picture_field(snapshot, picture))
    pixels = whole.shape[0]
    left, right, low, high = (round(edge * pixels) for edge in part.extent)
    assert part.values.shape == (high - low, right - left)
    assert (part.values == whole[low:high, left:right]).all()
    assert part.extent[0] <= 0.175 < part.extent[0] + 1 / 16


def test_window_is_finer_where_the_whole_would_be_too_large(
    snapshot_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("octools.raster.MAX_PIXELS", 16)
    with Snapshot(snapshot_path) as snapshot:
        assert image_of(snapshot).shape == (16, 16)
        assert image_of(snapshot, centre=(0.3, 0.4, 0.5), width=0.2).shape == (16, 16)
        with pytest.raises(OctoolsError, match="less than one cell"):
            image_of(snapshot, centre=(2.0, 0.4, 0.5), width=0.2)


def test_formulas_are_those_of_numpy(snapshot_path: Path) -> None:
    with Snapshot(snapshot_path) as snapshot:
        density = image_of(snapshot)
        for text, expected in (
            ("log10(density^2) - 1", np.log10(density**2) - 1),
            ("-density * max(pressure, 2) / gamma", -density * 2 / 1.4),
            ("(density > 3) + 2 * pi", (density > 3) + 2 * np.pi),
            ("2 * sound_speed", 2 * np.sqrt(1.4 / density)),
        ):
            assert image_of(snapshot, field=text) == pytest.approx(expected, rel=1e-14), text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("densty + 1", "did you mean.*density|density"),
        ("density +", "neither a field nor a valid expression"),
        ("eval(density)", "no function 'eval'|eval"),
        ("density.real", "cannot contain attribute"),
        ("(lambda: 1)()", "cannot contain"),
        ("'a' * density", "cannot contain"),
    ],
)
def test_bad_formulas_are_named(snapshot_path: Path, text: str, message: str) -> None:
    with Snapshot(snapshot_path) as snapshot, pytest.raises(OctoolsError, match=message):
        image_of(snapshot, field=text)


@pytest.mark.parametrize("axis", "xyz")
def test_gradients_of_a_linear_flow_are_exact(tmp_path: Path, axis: str) -> None:
    """On three levels, away from their boundaries and those of the box."""
    fields = {f"velocity_{a}": shear(n) for n, a in enumerate("xyz")}
    walls = "[mesh]\n" + "".join(f'boundary_{a} = ["outflow", "outflow"]\n' for a in "xyz")
    path = partly_refined(fields=fields, parameters=walls).write(tmp_path / "a.h5")
    g = MATRIX
    curl = np.array([g[2, 1] - g[1, 2], g[0, 2] - g[2, 0], g[1, 0] - g[0, 1]])
    strain, twist = 0.5 * (g + g.T), 0.5 * (g - g.T)
    expected = {f"vorticity_{a}": curl[n] for n, a in enumerate("xyz")}
    expected |= {"vorticity": np.sqrt((curl**2).sum()), "divergence": np.trace(g)}
    expected["q_criterion"] = 0.5 * (np.trace(g) ** 2 + (twist**2).sum() - (strain**2).sum())
    with Snapshot(path) as snapshot:
        place = {"x": 0.3, "y": 0.4, "z": 0.55}[axis]
        level = image_of(snapshot, field="level", axis=axis, position=place)
        assert len(np.unique(level)) == 3
        for name in GRADIENTS:
            values = image_of(snapshot, field=name, axis=axis, position=place)
            exact = np.abs(values - expected[name]) < 1e-10
            assert all(exact[level == each].mean() > 0.3 for each in range(3)), name
            assert np.median(values) == pytest.approx(expected[name], rel=1e-10)
        with pytest.raises(OctoolsError, match="slices"):
            image_of(snapshot, field="vorticity", kind="projection")


def test_gradients_wrap_around_where_space_does(tmp_path: Path) -> None:
    waves = {"velocity_x": lambda x, y, z: np.sin(2 * np.pi * y) + 0 * (x + z)}
    path = Synthetic(base_cells=(32, 32, 32), fields=waves).write(tmp_path / "a.h5")
    with Snapshot(path) as snapshot:
        values = image_of(snapshot, field="vorticity_z")
    y = (np.arange(32) + 0.5) / 32
    exact = -2 * np.pi * np.cos(2 * np.pi * y)
    assert np.abs(values - exact[:, None]).max() < 0.05


PARSEC, SOLAR_MASS, YEAR = 3.0856775814913673e18, 1.988409870698051e33, 3.15576e7


def with_units(path: Path, length: float, mass: float, time: float) -> Path:
    """Write a snapshot at t = 1 of a run whose units are known in cgs."""
    partly_refined().write(path)
    with h5py.File(path, "r+") as file:
        file["header"].attrs.update(time=1.0, unit_length=length, unit_mass=mass, unit_time=time)
    return path


def test_runs_with_units_are_drawn_in_those_of_astronomers(tmp_path: Path) -> None:
    kiloparsec = with_units(tmp_path / "a.h5", 1e3 * PARSEC, 1e6 * SOLAR_MASS, 1e6 * YEAR)
    with Snapshot(kiloparsec) as snapshot:
        assert snapshot.header.shown_lengths == ("kpc", pytest.approx(1.0, rel=1e-12))
        assert snapshot.header.when == "t = 1 Myr"
        stored = find_field(snapshot, "density")
        batch = next(snapshot.batches(["density"], snapshot.levels[0]))
        shown = as_shown(stored, snapshot.header)
        atoms = 1e6 * SOLAR_MASS / (1e3 * PARSEC) ** 3 / 1.67262192e-24
        assert shown.units == "m$_H$ / cm^3"
        found = shown.compute(batch, snapshot.header)
        assert found == pytest.approx(atoms * batch.values["density"])
        # 1e6 Msun per kpc^2 are one per pc^2.
        column = picture_field(snapshot, Picture("density", "projection"))
        assert column.units == "M$_\\odot$ / pc^2"
        assert column.compute(batch, snapshot.header) == pytest.approx(batch.values["density"])
    # A box of a code length of 100 pc, whose unit has no name; gas as dense as a star's.
    odd = with_units(tmp_path / "b.h5", 100 * PARSEC, SOLAR_MASS * 1e30, 3e13)
    with Snapshot(odd) as snapshot:
        assert snapshot.header.shown_lengths == ("pc", pytest.approx(100.0))
        assert as_shown(find_field(snapshot, "density"), snapshot.header).units == "g / cm^3"


def test_projections_without_units_are_columns(snapshot_path: Path) -> None:
    with Snapshot(snapshot_path) as snapshot:
        assert picture_field(snapshot, Picture("density", "projection")).units == "mass / length^2"
        assert picture_field(snapshot, Picture("pressure", "projection")).units == "mass / time^2"
        assert picture_field(snapshot, Picture("level", "projection")).units == ""


def test_cosmology_is_drawn_in_its_own_units(tmp_path: Path, octools: Call) -> None:
    path = universe(tmp_path / "snap_00000.h5")
    with Snapshot(path) as snapshot:
        header = snapshot.header
        assert (header.when, header.shown_lengths) == ("z = 1", ("comoving Mpc/h", 50.0))
        density = image_of(snapshot, field="density")
        assert image_of(snapshot) == pytest.approx(density * 5)
        part = image_of(snapshot, centre=(15.0, 20.0, 25.0), width=12.5)
        assert part.shape[0] < image_of(snapshot).shape[0]
        mean = image_of(snapshot, kind="projection").mean()
        assert mean == pytest.approx(
            5 * image_of(snapshot, field="density", kind="projection").mean()
        )
        velocity = UNITS["unit_length"] / UNITS["unit_time"]
        kelvin = velocity**2 * 1.67262192e-24 / 1.380649e-16 / density
        assert image_of(snapshot, field="temperature") == pytest.approx(kelvin)
    assert octools("plot", path, "--outlines", "--log").returncode == 0
    assert (tmp_path / "snap_00000_overdensity_slice_z.png").is_file()


def test_column_of_a_lattice_of_particles_is_even(tmp_path: Path, octools: Call) -> None:
    path = universe(tmp_path / "snap_00000.h5")
    with Snapshot(path) as snapshot:
        column = image_of(snapshot, field="dark", kind="projection")
        assert column.mean() == pytest.approx(1.0)
        with pytest.raises(OctoolsError, match="--kind projection"):
            image_of(snapshot, field="dark")
    with h5py.File(path, "r+") as file:
        file["particles/dark/mass"][...] *= np.where(np.arange(512) == 137, 100.0, 1.0)
        heavy = file["particles/dark/position"][137]
    with Snapshot(path) as snapshot:
        column = image_of(snapshot, field="dark", kind="projection")
        row, line = np.unravel_index(column.argmax(), column.shape)
        assert np.array([line, row]) / column.shape[0] == pytest.approx(heavy[:2], abs=0.05)
    assert octools("plot", path, "--field", "dark", "--kind", "projection").returncode == 0


def test_temperature_needs_units(snapshot_path: Path) -> None:
    with Snapshot(snapshot_path) as snapshot, pytest.raises(OctoolsError, match="temperature"):
        find_field(snapshot, "temperature")


@pytest.mark.parametrize("weight", ["mass", "volume"])
def test_phase_diagram_shares_out_everything(
    snapshot_path: Path, octools: Call, weight: str
) -> None:
    with Snapshot(snapshot_path) as snapshot:
        fields = (find_field(snapshot, name) for name in ("density", "internal_energy"))
        found = phase_diagram(snapshot, *fields, weight)
    (x, y), share = found.edges, found.share
    assert (share * np.diff(x) * np.diff(y)[:, None]).sum() == pytest.approx(1.0)
    # p = 1: the two lie on a line of slope -1.
    i, j = np.nonzero(share.T)
    line = 0.5 * (x[i] + x[i + 1] + y[j] + y[j + 1])
    assert np.ptp(line) < 2 * (x[1] - x[0] + y[1] - y[0]) + 0.03
    points = (np.arange(64) + 0.5) / 64
    density = wave(points, points[:, None], points[:, None, None])
    expected = (density**2).mean() / density.mean() if weight == "mass" else density.mean()
    assert found.means[0] == pytest.approx(expected, rel=2e-3)
    assert octools("phase", snapshot_path, "--weight", weight).returncode == 0


@pytest.mark.parametrize(("shift", "passes"), [(0, True), (1, True), (2, False), (5, False)])
def test_comparison_passes_within_the_tolerance_of_the_exact_solution(
    shift: int, passes: bool
) -> None:
    blast, width = Sedov(1.0, 1.0, 1.4), 1 / 256
    place = (np.arange(256) + 0.5) * width
    exact = Exact("sedov", lambda r: blast.at(np.maximum(r, 1e-6), 0.05), blast.radius(0.05))
    moved = blast.at(np.maximum(place - shift * width, 1e-6), 0.05)
    values = dict(zip(("density", "radial_velocity", "pressure"), moved, strict=True))
    profile = Profile("radius", place, place**2 * width, values, {})
    found = comparisons(profile, exact)
    assert [comparison.what for comparison in found] == [
        "shock radius", "density", "radial velocity", "pressure"
    ]  # fmt: skip
    assert all(comparison.passes == passes for comparison in found[:2]), [str(v) for v in found]
    assert found[0].cells == pytest.approx(shift, abs=1.0)
    assert all(str(v).startswith("PASS" if v.passes else "DEVIATES") for v in found)


def write_statistics(run: Path, fall: float) -> None:
    """Write statistics of a periodic box whose spectra fall by a factor from wave to wave."""
    (run / "run.toml").write_text(
        '[grid]\nsize = [2.0, 4.0, 1.0]\n[dns]\nboundary_z = ["periodic", "periodic"]\n'
    )
    with h5py.File(run / "statistics.h5", "w") as file:
        file.create_group("header").attrs["viscosity"] = 0.1
        file["grid/z"] = (np.arange(4) + 0.5) / 4
        file["grid/z_face"] = np.arange(5) / 4
        file["centres/gradients"] = np.full(4, 2.0)
        file["faces/gradients_face"] = np.full(5, 3.0)
        for component in "uvw":
            for axis in "xy":
                table = fall ** -np.arange(9.0) * np.ones((4, 1))
                file[f"spectra/spectrum_{component}_{axis}"] = table


@pytest.mark.parametrize(("fall", "word"), [(4.0, "PASS"), (2.0, "COARSE")])
def test_spectra_have_their_waves_and_dissipation(
    tmp_path: Path, octools: Call, fall: float, word: str
) -> None:
    write_statistics(tmp_path, fall)
    found = read_spectra(tmp_path)
    assert found.dissipation == pytest.approx(0.1 * 5.0)
    assert found.waves["x"] == pytest.approx(np.pi * np.arange(1, 9))
    assert found.values["u", "y"][0, 0] == pytest.approx(1 / fall / (np.pi / 2))
    result = octools("spectra", tmp_path)
    assert result.returncode == 0, result.stderr
    assert result.stdout.count(word) == 2
    assert (tmp_path / "spectra.png").is_file()


def test_spectra_without_statistics_are_refused(tmp_path: Path, octools: Call) -> None:
    result = octools("spectra", tmp_path)
    assert (result.returncode, "statistics.start" in result.stderr) == (2, True)


def test_outlines_are_seen_on_any_colours(tmp_path: Path, octools: Call) -> None:
    """Drawn over one colour, they differ from it: dark around, light inside."""
    from matplotlib.image import imread

    refine = around((0.3, 0.4, 0.55), 0.12, levels=2)
    path = Synthetic(refine=refine).write(tmp_path / "snap_00000.h5")
    for colours, limits in (("Greys", (1, 2)), ("viridis", (0.5, 1)), ("viridis", (1, 2))):
        picture = tmp_path / "picture.png"
        options = ["--outlines", "--colours", colours, "--min", limits[0], "--max", limits[1]]
        assert octools("plot", path, *options, "--output", picture).returncode == 0
        grey = imread(picture)[..., :3].mean(axis=-1)
        inside = grey[grey.shape[0] // 4 : -grey.shape[0] // 4, 200:-400]
        assert np.mean(np.abs(inside - np.median(inside)) > 0.15) > 0.005, (colours, limits)

"""Stars of white-dwarf matter and of barotropic gas, alone and in binaries."""

from math import pi
from pathlib import Path
from re import search

import h5py
import numpy as np
import pytest

from refusals import assert_refused
from running import (
    CHECKPOINT_EVERY_STEP,
    Outcome,
    assert_goes_on,
    assert_same_run,
    leaf_cells,
    run,
    run_well,
)
from star_structure import (
    ELECTRON_DENSITY,
    ELECTRON_PRESSURE,
    GRAVITY,
    SUN,
    pieces,
    star_of_mass,
    white_dwarf,
)

GAS = """
[gravity]
enabled = true
solver = "fmm"
beyond_walls = "vacuum"
constant = {constant}

[mesh]
base_cells = [16, 16, 16]
block_size = 8
lower = [-{half}, -{half}, -{half}]
upper = [{half}, {half}, {half}]
boundary_x = ["reflecting", "reflecting"]
boundary_y = ["reflecting", "reflecting"]
boundary_z = ["reflecting", "reflecting"]

[time]
subcycle = false
cfl = 0.4

[hydro]
gamma = "5/3"
scheme = "rk3"
reconstruction = "ppm"
scalars = 2
"""
# One unit of mass is 1e33 g.
COLD = """dual_energy = "on"
equation_of_state = "white_dwarf"

[units]
length = "1e9 cm"
density = "1e6 g/cm^3"
time = "1 s"
"""
LENGTH, DENSITY, MASS = 1e9, 1e6, 1e33
CONSTANT = '"6.67430e-8 cm^3/(g s^2)"'


def white_dwarf_star(half: float) -> str:
    gas = GAS.format(constant=CONSTANT, half=half)
    return gas + COLD + '[problem]\nname = "rotating_star"\naxis_ratio = 1.0\n'


def white_dwarf_binary(half: float) -> str:
    return GAS.format(constant=CONSTANT, half=half) + COLD + '[problem]\nname = "binary"\n'


def barotropic_star(densities: list[float], exponents: list[float], half: float) -> str:
    return (
        GAS.format(constant=1.0, half=half)
        + 'equation_of_state = "barotropic"\nsound_speed = 1.0\n'
        + f"barotropic_densities = {densities}\nbarotropic_exponents = {exponents}\n"
        + '[problem]\nname = "rotating_star"\naxis_ratio = 1.0\n'
    )


def model_of(directory: Path, parameters: str, *overrides: str) -> tuple[Outcome, list[dict]]:
    """Compute a model without a step; give the numbers of its stars."""
    file = directory.with_suffix(".h5")
    outcome = run_well(
        directory,
        parameters,
        "time.max_steps=0",
        "mesh.base_cells=[8,8,8]",
        "mesh.max_level=8",  # allows cells smaller than all of these stars; none is made
        f"problem.model_file={file}",
        *overrides,
    )
    with h5py.File(file) as model:
        stars = [dict(model[name].attrs) for name in sorted(model) if name.startswith("star_")]
        stars[0]["angular_velocity"] = model["model"].attrs["angular_velocity"]
    return outcome, stars


def virial_error(outcome: Outcome) -> float:
    found = search(r"virial error (\S+) after", outcome.text)
    assert found, outcome.text
    return float(found[1])


# --- models ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mass", "between"),
    [
        (0.05, (1e3, 1e6)),
        (0.2, (1e4, 1e7)),
        (0.6, (1e5, 1e8)),
        (1.0, (1e6, 1e9)),
        (1.3, (1e7, 1e10)),
        (1.4, (1e8, 1e11)),
    ],
)
def test_white_dwarfs_have_the_radii_of_chandrasekhar(
    tmp_path: Path, mass: float, between: tuple[float, float]
) -> None:
    """Compare with an integration of the structure equations."""
    outcome, (star,) = model_of(
        tmp_path / "run", white_dwarf_star(4.0), f'problem.mass="{mass} Msun"'
    )
    density, radius = star_of_mass(white_dwarf(), mass * SUN, GRAVITY, between)
    assert star["reach"] * LENGTH == pytest.approx(radius, rel=1e-3)
    assert star["central_density"] * DENSITY == pytest.approx(density, rel=1e-3)
    assert star["mass"] * MASS == pytest.approx(mass * SUN, rel=1e-9)
    assert virial_error(outcome) < 5e-5


def test_light_white_dwarfs_are_polytropes(tmp_path: Path) -> None:
    """Non-relativistic electrons: n = 3/2 with K = 8 A / (5 B^(5/3)), so that R M^(1/3) = K / N G.

    N = 0.42422 (Chandrasekhar 1939, table 4); corrections are of the order of x^2 = 1e-3.
    """
    mass = 1e-5
    _, (star,) = model_of(tmp_path / "run", white_dwarf_star(60.0), f'problem.mass="{mass} Msun"')
    constant = 8 * ELECTRON_PRESSURE / (5 * (2 * ELECTRON_DENSITY) ** (5 / 3))
    radius = constant / (0.42422 * GRAVITY * (mass * SUN) ** (1 / 3))
    assert star["reach"] * LENGTH == pytest.approx(radius, rel=1e-3)
    mean = star["mass"] / (4 / 3 * pi * star["reach"] ** 3)
    assert star["central_density"] / mean == pytest.approx(5.9907, rel=2e-3)


def test_masses_up_to_that_of_chandrasekhar_exist(tmp_path: Path) -> None:
    """Ultrarelativistic electrons: n = 3 with K = 2 A / B^(4/3), and M = 4 pi 2.01824 (K/pi G)^1.5.

    The concentration tends to that of n = 3, 54.18, and the radius to zero.
    """
    constant = 2 * ELECTRON_PRESSURE / (2 * ELECTRON_DENSITY) ** (4 / 3)
    largest = 4 * pi * 2.01824 * (constant / (pi * GRAVITY)) ** 1.5
    assert largest / SUN == pytest.approx(1.435, rel=1e-3)
    parameters = white_dwarf_star(4.0)
    _, (star,) = model_of(tmp_path / "run", parameters, f"problem.mass={0.9995 * largest / MASS}")
    mean = star["mass"] / (4 / 3 * pi * star["reach"] ** 3)
    assert star["central_density"] / mean == pytest.approx(54.18, rel=0.1)
    outcome = run(tmp_path / "heavy", parameters, f"problem.mass={1.001 * largest / MASS}")
    assert_refused(outcome, "problem.mass", "exceeds the largest mass", "Chandrasekhar mass")


def test_rotation_makes_white_dwarfs_larger(tmp_path: Path) -> None:
    at_rest = model_of(tmp_path / "rest", white_dwarf_star(3.0), 'problem.mass="0.6 Msun"')[1][0]
    # Omega^2 / (G rho_c): that of a polytrope of index 3/2 in the limit of small masses, and less
    # where the electrons are more relativistic and the star is more concentrated.
    ratio = polytropic_rotation(tmp_path)
    for mass, tolerance in ((0.001, 0.02), (0.6, None), (1.2, None)):
        outcome, (star,) = model_of(
            tmp_path / f"run_{mass:g}".replace(".", "_"),
            white_dwarf_star(20.0),
            f'problem.mass="{mass} Msun"',
            "problem.axis_ratio=0.75",
        )
        assert virial_error(outcome) < 5e-5
        last = ratio
        ratio = star["angular_velocity"] ** 2 / (GRAVITY * DENSITY * star["central_density"])
        if tolerance:
            assert ratio == pytest.approx(last, rel=tolerance)
        assert ratio < last
        if mass == 0.6:
            assert 1.25 < star["reach"] / at_rest["reach"] < 1.4
            assert 0.6 < star["central_density"] / at_rest["central_density"] < 0.8


def polytropic_rotation(directory: Path) -> float:
    """Give Omega^2 / (G rho_c) of a polytrope of index 3/2 with an axis ratio of 3/4."""
    parameters = GAS.format(constant=1.0, half=2.0) + '[problem]\nname = "rotating_star"\n'
    _, (star,) = model_of(directory / "polytrope", parameters)
    return star["angular_velocity"] ** 2 / star["central_density"]


def test_a_barotropic_star_of_one_exponent_is_a_polytrope(tmp_path: Path) -> None:
    """K = 1 at an exponent of 5/3; K = N G M^(1/3) R."""
    _, (star,) = model_of(
        tmp_path / "run", barotropic_star([1.0], [5 / 3, 5 / 3], 5.0), "problem.mass=0.7"
    )
    assert star["reach"] == pytest.approx(1.0 / (0.42422 * 0.7 ** (1 / 3)), rel=2e-4)


@pytest.mark.parametrize(
    ("exponents", "mass", "between"),
    [
        ([5 / 3, 2.0, 1.5], 12.0, (1e-3, 30.0)),
        ([5 / 3, 2.0, 1.5], 40.0, (1e-3, 30.0)),
        ([5 / 3, 2.0, 1.5], 130.0, (1e-3, 30.0)),
        ([2.0, 5 / 3, 1.4], 20.0, (1e-3, 30.0)),
        ([2.0, 5 / 3, 1.4], 50.0, (1e-3, 30.0)),
        # The isothermal piece divides two stable branches.
        ([1.5, 1.0, 5 / 3], 12.0, (1e-3, 0.08)),
        ([1.5, 1.0, 5 / 3], 25.0, (1.5, 30.0)),
    ],
)
def test_piecewise_polytropes_have_the_radii_of_their_structure(
    tmp_path: Path, exponents: list[float], mass: float, between: tuple[float, float]
) -> None:
    densities = [0.05, 0.3]
    outcome, (star,) = model_of(
        tmp_path / "run",
        barotropic_star(densities, exponents, 20.0),
        f"problem.mass={mass}",
        "hydro.gamma=2",
    )
    density, radius = star_of_mass(pieces(densities, exponents, 1.0), mass, 1.0, between)
    assert star["reach"] == pytest.approx(radius, rel=1e-3)
    assert star["central_density"] == pytest.approx(density, rel=2e-3)
    assert virial_error(outcome) < 3e-4


def test_a_binary_is_given_by_its_masses_and_separation_or_filling(tmp_path: Path) -> None:
    masses = 'problem.masses=["0.9 Msun", "0.5 Msun"]'
    full, stars = model_of(
        tmp_path / "full", white_dwarf_binary(4.0), masses, "problem.filling=[0, 0.95]"
    )
    assert virial_error(full) < 2e-4
    found = search(r"separation (\S+); filling (\S+) and (\S+)", full.text)
    assert found, full.text
    separation, first, second = (float(text) for text in found.groups())
    assert second == pytest.approx(0.95, rel=1e-6)
    assert [star["mass"] * MASS / SUN for star in stars] == pytest.approx([0.9, 0.5], rel=1e-9)
    # Tides and rotation add to the volumes of stars at rest, more to that of the full one.
    for star, mass, growth in ((stars[0], 0.9, 1.02), (stars[1], 0.5, 1.1)):
        radius = star_of_mass(white_dwarf(), mass * SUN, GRAVITY, (1e4, 1e9))[1]
        equivalent = (star["volume"] / (4 / 3 * pi)) ** (1 / 3) * LENGTH
        assert 1.0 < equivalent / radius < growth
    # Kepler's law, as far as the stars are points.
    kepler = GRAVITY * 1.4 * SUN / (separation * LENGTH) ** 3
    assert 1.0 < stars[0]["angular_velocity"] ** 2 / kepler < 1.05

    apart, _ = model_of(
        tmp_path / "apart", white_dwarf_binary(4.0), masses, f"problem.separation={separation}"
    )
    found = search(r"separation (\S+); filling (\S+) and (\S+)", apart.text)
    assert found, apart.text
    assert [float(text) for text in found.groups()] == pytest.approx(
        [separation, first, second], rel=1e-5
    )


def test_the_file_with_all_parameters_of_a_run_gives_the_same_model(tmp_path: Path) -> None:
    """It contains the radius, or separation and filling, that were found."""
    for n, (parameters, overrides) in enumerate(
        [
            (white_dwarf_star(3.0), ('problem.mass="0.6 Msun"',)),
            (
                white_dwarf_binary(6.0),
                ('problem.masses=["0.9 Msun","0.5 Msun"]', "problem.filling=[0, 0.9]"),
            ),
            (
                white_dwarf_binary(6.0),
                ('problem.masses=["0.9 Msun","0.5 Msun"]', "problem.separation=4"),
            ),
        ]
    ):
        short = ("time.max_steps=1", "mesh.base_cells=[24,24,24]")
        first = run_well(tmp_path / f"first_{n}", parameters, *overrides, *short)
        again = run_well(tmp_path / f"again_{n}", (first.directory / "run.toml").read_text())
        assert_same_run(again, first)


# --- evolution ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def evolved(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """Run a white dwarf for a few steps."""
    return run_well(
        tmp_path_factory.mktemp("white_dwarf") / "run",
        white_dwarf_star(1.2),
        'problem.mass="0.6 Msun"',
        "problem.axis_ratio=0.8",
        "time.max_steps=6",
        *CHECKPOINT_EVERY_STEP,
    )


def test_ranks_and_restarts_do_not_change_a_white_dwarf(tmp_path: Path, evolved: Outcome) -> None:
    same = ('problem.mass="0.6 Msun"', "problem.axis_ratio=0.8", "time.max_steps=6")
    for ranks in (2, 3):
        other = run_well(tmp_path / f"ranks{ranks}", evolved.parameters, *same, ranks=ranks)
        assert_same_run(other, evolved)
    assert_goes_on(tmp_path / "restart", evolved, 3, *same, ranks=2)


def thermal_fractions(snapshot: Path) -> tuple[np.ndarray, np.ndarray]:
    """Give the densities of cells, and thermal over cold pressure."""
    cells = leaf_cells(snapshot)
    density, pressure = cells["density"], cells["pressure"]
    x = (density * DENSITY / (2 * ELECTRON_DENSITY)) ** (1 / 3)
    root = np.sqrt(1 + x * x)
    unit = DENSITY * LENGTH**2
    cold = ELECTRON_PRESSURE / unit * (x * (2 * x * x - 3) * root + 3 * np.arcsinh(x))
    return density, pressure / cold - 1


def test_cells_are_cold(evolved: Outcome) -> None:
    """The thermal pressure is positive everywhere, and small inside the star."""
    density, thermal = thermal_fractions(evolved.snapshots[0])
    inside = density > 0.5 * density.max()
    assert np.all(thermal > 0.0)
    assert np.all(thermal[inside] > 1e-6)
    assert np.all(thermal[inside] < 0.05)


def test_ambient_gas_adds_its_thermal_pressure(tmp_path: Path) -> None:
    """In the centre it is the ambient density over the central one, not less by cold pressure."""
    outcome = run_well(
        tmp_path / "run",
        white_dwarf_star(1.3),
        'problem.mass="0.6 Msun"',
        "problem.ambient_density=1e-3",
        "mesh.base_cells=[48,48,48]",
        "time.max_steps=0",
    )
    density, thermal = thermal_fractions(outcome.snapshots[0])
    assert thermal[np.argmax(density)] == pytest.approx(1e-3, rel=0.1)


def test_a_white_dwarf_stays_as_it_is_like_a_polytrope(tmp_path: Path) -> None:
    """Two dynamical times; ten are in docs/stellar_validation.md."""
    cold = run_well(
        tmp_path / "cold", white_dwarf_star(1.3), 'problem.mass="0.6 Msun"', "time.end=11.8"
    ).history()
    # The ideal gas of a star of the same shape: radius 1 in a box of the same relative size.
    polytrope = GAS.format(constant=1.0, half=1.3 / 0.8699)
    polytrope += '[problem]\nname = "rotating_star"\naxis_ratio = 1.0\n'
    ideal = run_well(tmp_path / "ideal", polytrope, "time.end=4.1").history()
    for history in (cold, ideal):
        mass = history["mass"]
        assert np.abs(mass / mass[0] - 1).max() < 1e-12
        energy = history["total_energy"]
        assert np.abs(energy / energy[0] - 1).max() < 0.02
        scale = mass[0] * np.sqrt(abs(energy[0]) / mass[0])
        for axis in "xyz":
            assert np.abs(history[f"angular_momentum_{axis}"]).max() < 1e-10 * scale
    errors = [history["relative_density_error"][-1] for history in (cold, ideal)]
    # The star is more concentrated: 1.6 here, and 1.1 to 1.3 with 24^3 cells for ten of them.
    assert 0.0 < errors[0] < 2.0 * errors[1], errors


# --- refusals -------------------------------------------------------------------------------------


BAROTROPIC = barotropic_star([1.0], [5 / 3, 5 / 3], 5.0)


@pytest.mark.parametrize(
    ("parameters", "overrides", "fragments"),
    [
        (
            white_dwarf_star(3.0),
            ('problem.mass="0.6 Msun"', "problem.radius=1.1"),
            ("problem.radius = 1.1", "white_dwarf", "follows from the mass", "0.8698"),
        ),
        (white_dwarf_star(3.0), ("problem.polytropic_index=2",), ("problem.polytropic_index",)),
        (
            white_dwarf_star(3.0),
            ('problem.mass="1.5 Msun"',),
            (
                "problem.mass = 2.98",
                "(1.5 Msun)",
                "exceeds the largest mass",
                "1.43534 Msun), the Chandrasekhar mass",
            ),
        ),
        (
            white_dwarf_star(3.0),
            ('problem.mass="0.6 Msun"', "problem.axis_ratio=0.5"),
            ("problem.axis_ratio = 0.5", "shed mass", "white_dwarf"),
        ),
        (
            white_dwarf_star(3.0),
            ('problem.mass="0.6 Msun"', "problem.axis_ratio=0.1"),
            ("problem.axis_ratio = 0.1: no equilibrium", "closer to 1"),
        ),
        (
            white_dwarf_star(3.0),
            ('problem.mass="1.7 Msun"', "problem.axis_ratio=0.75"),
            ("problem.mass = 3.38", "(1.7 Msun)", "exceeds the largest mass"),
        ),
        (white_dwarf_star(3.0), ("gravity.constant=1",), ("gravity.constant = 1", "0.066743")),
        (
            white_dwarf_star(3.0),
            ('problem.mass="0.6 Msun"', "hydro.dual_energy=off"),
            ("hydro.dual_energy", "problem.thermal_pressure = 1e-06", '= "on"'),
        ),
        (
            white_dwarf_binary(6.0),
            (
                'problem.masses=["0.9 Msun","0.5 Msun"]',
                "problem.separation=3",
                "problem.thermal_pressure=5e-4",
                "hydro.dual_energy=off",
            ),
            ("hydro.dual_energy", "problem.thermal_pressure = 0.0005", '= "on"'),
        ),
        (
            white_dwarf_star(0.5),
            ('problem.mass="0.6 Msun"',),
            ("a star of radius 0.869", "does not fit"),
        ),
        (BAROTROPIC, ("problem.radius=1.1",), ("problem.radius", "barotropic")),
        (BAROTROPIC, ("problem.thermal_pressure=1e-4",), ("problem.thermal_pressure", "cold")),
        (
            BAROTROPIC,
            ("hydro.barotropic_exponents=[1.0,1.4]",),
            ("hydro.barotropic_exponents", "first exponent above 1"),
        ),
        (
            BAROTROPIC,
            ("hydro.barotropic_exponents=[1.1,1.1]",),
            ("hydro.equation_of_state", "finite radius"),
        ),
        (
            GAS.format(constant=1.0, half=2.0)
            + 'equation_of_state="isothermal"\nsound_speed=1.0\n[problem]\nname="rotating_star"\n',
            (),
            ("isothermal", "no stars with a surface"),
        ),
        (
            white_dwarf_binary(3.0),
            (),
            ("either problem.separation or problem.filling", "white_dwarf"),
        ),
        (
            white_dwarf_binary(5.0),
            (
                'problem.masses=["0.9 Msun","0.5 Msun"]',
                "problem.filling=[0,0.9]",
                "problem.separation=5",
            ),
            ("problem.separation = 5", "follows from the mass", "remove it"),
        ),
        (
            white_dwarf_binary(3.0),
            ("problem.filling=[0.9,0.9]",),
            ("problem.filling = [0.9, 0.9]", "0 for the other"),
        ),
        (
            white_dwarf_binary(3.0),
            ('problem.masses=["0.9 Msun","0.5 Msun"]', "problem.separation=1.5"),
            ("problem.separation = 1.5", "star 2", "(0.5 Msun)", "larger than its Roche lobe"),
        ),
        (
            white_dwarf_binary(3.0),
            ('problem.masses=["0.9 Msun","0.5 Msun"]', "problem.separation=1e8"),
            ("problem.separation = 1e+08", "width of the domain"),
        ),
        (
            white_dwarf_binary(5e8),
            ('problem.masses=["0.9 Msun","0.5 Msun"]', "problem.separation=1e8"),
            ("problem.separation = 1e+08", "(0.9 Msun) and", "decrease the separation"),
        ),
        (
            white_dwarf_binary(3.0),
            ('problem.masses=["0.9 Msun","1.5 Msun"]', "problem.separation=5"),
            ("problem.mass", "second star", "exceeds the largest mass"),
        ),
        (
            white_dwarf_binary(3.0),
            ('problem.masses=["0.9 Msun","0.5 Msun"]', "problem.mass=1", "problem.separation=5"),
            ("problem.masses is incompatible", "problem.mass"),
        ),
        (
            GAS.format(constant=1.0, half=2.0) + '[problem]\nname = "binary"\n',
            ("problem.filling=[0,0.9]",),
            ("problem.filling = [0, 0.9]", "positive"),
        ),
    ],
)
def test_stars_that_cannot_be_are_refused(
    tmp_path: Path, parameters: str, overrides: tuple[str, ...], fragments: tuple[str, ...]
) -> None:
    assert_refused(run(tmp_path / "run", parameters, *overrides), *fragments)

"""Parameters of ionising photons that are impossible or inconsistent are refused by name."""

from pathlib import Path

import pytest
from ionization_setups import region

from refusals import assert_refused
from running import run

SMALL = region(4, 1.0, 0.1)
OUTFLOW = [f'mesh.boundary_{axis}=["outflow", "outflow"]' for axis in "xyz"]
PERIODIC = [f'mesh.boundary_{axis}=["periodic", "periodic"]' for axis in "xyz"]
BAD_VALUES = {
    "no_groups": (["ionization.edges=[]"], ["ionization.edges has 0 values", "one to 3"]),
    "four_groups": (
        ["ionization.edges=[13.6, 15, 20, 50]"],
        ["ionization.edges has 4 values", "one to 3"],
    ),
    "overlapping_groups": (
        ["ionization.edges=[24.59, 13.6]"],
        ["ionization.edges", "overlap", "increasing"],
    ),
    "equal_edges": (["ionization.edges=[13.6, 13.6]"], ["ionization.edges", "overlap"]),
    "no_energy": (["ionization.edges=[0, 13.6]"], ["ionization.edges", "> 0"]),
    "two_ions": (["ionization.initial_ions=[0, 1]"], ["ionization.initial_ions has 2", "3"]),
    "too_much_helium": (
        ["ionization.initial_ions=[0, 0.75, 0.5]"],
        ["ionization.initial_ions", "1.25", "at most 1"],
    ),
    "fraction_above_one": (
        ["ionization.initial_ions=[1.5, 0, 0]"],
        ["ionization.initial_ions", "<= 1"],
    ),
    "missing_position": (
        ["ionization.source_z=[]"],
        ["ionization.source_x", "1, 1, 0 and 1", "equally many"],
    ),
    "missing_rate": (
        ["ionization.source_rates=[1e48, 1e48]"],
        ["source_rates", "1, 1, 1 and 2", "equally many"],
    ),
    "source_outside": (
        ["ionization.source_y=[1.5]"],
        ["ionization.source_y[0] = 1.5", "outside", "0 to 1"],
    ),
    "source_at_no_place": (["ionization.source_x=[nan]"], ["ionization.source_x"]),
    "negative_rate": (["ionization.source_rates=[-1]"], ["ionization.source_rates", ">= 0"]),
    "negative_star_rate": (["ionization.star_rate=-1"], ["ionization.star_rate", ">= 0"]),
    "no_lifetime": (["ionization.star_lifetime=0"], ["ionization.star_lifetime", "> 0"]),
    "stars_twice": (
        ["ionization.star_rate=1", "ionization.star_table=rates.txt"],
        ["ionization.star_rate", "ionization.star_table", "expected one"],
    ),
    "lifetime_beside_a_table": (
        ["ionization.star_lifetime=3", "ionization.star_table=rates.txt"],
        ["ionization.star_lifetime = 3", "no effect", "ionization.star_table", "rates.txt"],
    ),
    "lifetime_without_rate": (
        ["ionization.star_lifetime=3"],
        ["ionization.star_lifetime = 3", "requires ionization.star_rate"],
    ),
    "rate_without_stars": (
        ["ionization.star_rate=1e46"],
        ["ionization.star_rate", "requires stars", "stars.enabled"],
    ),
    "table_without_stars": (
        ["ionization.star_table=rates.txt"],
        ["ionization.star_table", "requires stars", "stars.enabled"],
    ),
    "monochromatic_photons_below_the_threshold": (
        ["ionization.edges=[13.5, 24.59]", "ionization.spectrum=monochromatic"],
        ["ionization.edges[0] = 13.5 eV", "no atom absorbs", "13.6 eV"],
    ),
    "group_below_the_threshold": (
        ["ionization.edges=[5, 10, 24.59]", "ionization.spectrum=black_body"],
        ["ionization.edges[0] = 5 eV", "no atom absorbs", "13.6 eV"],
    ),
    "cooling": (
        ["cooling.enabled=true"],
        ["ionization.enabled", "cooling.enabled", "radiative cooling", "ionization.metal_table"],
    ),
    "unknown_spectrum": (
        ["ionization.spectrum=quasar"],
        ["ionization.spectrum", "quasar", "black_body", "power_law", "monochromatic"],
    ),
    "cold_spectrum": (
        ["ionization.spectrum=black_body", "ionization.spectrum_temperature=10"],
        ["ionization.spectrum_temperature", ">= 1000"],
    ),
    "flat_spectrum": (
        ["ionization.spectrum=power_law", "ionization.spectrum_index=0"],
        ["ionization.spectrum_index", "> 1"],
    ),
    "no_hydrogen": (["ionization.hydrogen_fraction=0"], ["ionization.hydrogen_fraction", "> 0"]),
    "much_hydrogen": (
        ["ionization.hydrogen_fraction=1.1"],
        ["ionization.hydrogen_fraction", "<= 1"],
    ),
    "negative_temperature": (["ionization.temperature=-1"], ["ionization.temperature", ">= 0"]),
    "negative_floor": (
        ["ionization.temperature_floor=-1"],
        ["ionization.temperature_floor", ">= 0"],
    ),
    "floor_of_isothermal_gas": (
        ["ionization.temperature_floor=100", "ionization.temperature=1e4"],
        ["ionization.temperature_floor = 100", "no effect", "ionization.temperature = 10000"],
    ),
    "metallicity_without_table": (
        ["ionization.initial_metallicity=0.1"],
        ["ionization.initial_metallicity = 0.1", "ionization.metal_table"],
    ),
    "metals_of_isothermal_gas": (
        ["ionization.metal_table=rates.h5", "ionization.temperature=1e4"],
        ["ionization.metal_table", "no effect", "ionization.temperature = 10000"],
    ),
    "barotropic_gas": (
        ["hydro.equation_of_state=isothermal", "hydro.sound_speed=1"],
        ["[ionization]", "hydro.equation_of_state", "isothermal"],
    ),
    "one_dimension": (
        ["hydro.dimensions=1", *PERIODIC],
        ["hydro.dimensions = 1", "[ionization]"],
    ),
    "no_gas": (["hydro.enabled=false"], ["ionization.enabled", "hydro.enabled"]),
    "rotating_frame": (
        ["frame.angular_velocity=1", *OUTFLOW],
        ["ionization.enabled", "frame.angular_velocity"],
    ),
    "negative_photons": (
        ["problem.fields={photon_density_0 = '0.5 - x'}"],
        ["problem.fields", "x = 0.625", "photon_density_0", "at least 0"],
    ),
    "flux_above_that_of_a_beam": (
        ["problem.fields={photon_density_0 = '1', photon_flux_0_z = '1e4'}"],
        ["problem.fields", "flux", "photon_density_0"],
    ),
    "photons_of_no_group": (
        ["problem.fields={photon_density_1 = '1'}"],
        ["problem.fields", "photon_density_1"],
    ),
    "negative_ions": (
        ["problem.fields={ionized_hydrogen = 'x - 0.5'}"],
        ["problem.fields", "ionized_hydrogen"],
    ),
}


@pytest.mark.parametrize("case", BAD_VALUES)
def test_a_bad_value_is_refused(tmp_path: Path, case: str) -> None:
    overrides, fragments = BAD_VALUES[case]
    assert_refused(run(tmp_path / "run", SMALL, *overrides), *fragments)


def test_missing_units_are_refused(tmp_path: Path) -> None:
    begin, end = SMALL.index("[units]"), SMALL.index("[radiation]")
    outcome = run(tmp_path / "run", SMALL[:begin] + SMALL[end:], "radiation.light_speed=1")
    assert_refused(outcome, "[ionization]", "units.length", "units.density", "units.time")

"""Outputs in the forms of cuRAMSES: HDF5 and binary files, against the independent reader."""

from pathlib import Path

import h5py
import numpy as np
import pytest
from numpy.typing import NDArray
from test_curamses_files import (
    BINARY,
    DARK,
    HDF5,
    QUICKLY,
    STAR,
    assert_gas,
    assert_particles,
    assert_sinks,
    case_named,
    columns_of,
    read_output,
    reader,
)

from ramses_files import NOTHING_MORE
from refusals import assert_refused
from running import leaf_cells, run, run_well


def test_hdf5_output_is_read_by_the_independent_reader(tmp_path: Path) -> None:
    """An output in three domains from two ranks: cells, particles and sinks as in the snapshot."""
    output = case_named(HDF5)
    as_hdf5 = ('output.formats=["octant", "ramses"]', 'ramses.layout="hdf5"', "ramses.domains=3")
    how = ("gravity.enabled=true", NOTHING_MORE, *QUICKLY)
    written = run_well(
        tmp_path / "written", output.parameters, *how, *as_hdf5, restart=output.folder, ranks=2
    )
    [folder] = written.directory.glob("output_*")
    found = read_output(folder, reader().check(str(folder)))
    assert (found.codes == output.codes).all()
    assert (found.density == output.density).all()
    for name in ("leaf_cells", "leaf_volume", "scalar_masses", "max_density_position"):
        np.testing.assert_allclose(found.summary[name], output.summary[name], rtol=1e-13)
    # The output contains the half kick that the file lacked, as the snapshot beside it.
    energy = energy_of(written.last_snapshot, output.summary["gamma"])
    np.testing.assert_allclose(found.summary["energy"], energy, rtol=1e-12)
    for kind in ("dark", "star"):
        assert (
            found.summary["particles"][kind]["count"] == output.summary["particles"][kind]["count"]
        )
    found.summary["leaf_cells_by_level"] = output.summary["leaf_cells_by_level"]
    assert_gas(written.last_snapshot, found)
    assert_sinks(written.last_snapshot, found)
    assert found.particles
    assert output.particles
    for columns, type_ in ((found.particles, DARK), (output.particles, DARK)):
        columns["own"] = (columns["id"] >= 0) & (columns["t"] == type_)
    one, other = (
        columns["x"][:, columns["own"]][:, np.argsort(columns["id"][columns["own"]])]
        for columns in (found.particles, output.particles)
    )
    assert (one == other).all()
    back = run_well(tmp_path / "back", output.parameters, *how, restart=folder, ranks=3)
    assert_gas(back.last_snapshot, found)
    assert_sinks(back.last_snapshot, found)


# Attributes and datasets that cuRAMSES reads at a restart, also without stars and sinks.
READ_IN_A_RESTART = {
    "header": "ncpu time nstep nstep_coarse noutput iout ifout tout aout dtold dtnew const"
    " mass_tot_0 rho_tot omega_m omega_l omega_k omega_b h0 aexp_ini boxlen_ini aexp hexp aexp_old"
    " epot_tot_int epot_tot_old mass_sph ordering",
    "particles": "npart_total nstar_tot mstar_tot mstar_lost npart_per_cpu x_1 x_2 x_3 v_1 v_2 v_3"
    " mass identity levelp ptypep birth_epoch metallicity",
    "sinks": "nsink nindsink",
}
READ_OF_SINKS = (
    "idsink msink tsink dMsmbh dMBH_coarse dMEd_coarse Esave spinmag eps_sink"
    " xsink_1 vsink_2 jsink_3 bhspin_1 sink_stat_1_4 sink_stat_7_6"
)


@pytest.mark.parametrize("name", [HDF5, "cosmo_hdf5_hilbert_np2"])
def test_hdf5_output_has_all_that_a_restart_of_curamses_reads(name: str, tmp_path: Path) -> None:
    output = case_named(name)
    as_hdf5 = ('output.formats=["ramses"]', 'ramses.layout="hdf5"', "ramses.domains=2")
    how = ("gravity.enabled=true", NOTHING_MORE, *QUICKLY, *as_hdf5)
    unit = ("refine.mass_unit=3e-5",) if output.sinks else ()
    written = run_well(tmp_path / "run", output.parameters, *how, *unit, restart=output.folder)
    [path] = written.directory.glob("output_*/data_*.h5")
    with h5py.File(path) as file:
        for group, names in READ_IN_A_RESTART.items():
            missing = set(names.split()) - {*file[group], *file[group].attrs}
            assert not missing, group
        if output.sinks:
            assert not set(READ_OF_SINKS.split()) - set(file["sinks"])
        header = file["header"].attrs
        if output.sinks:  # the mass by which RAMSES refines; a restart takes it from the file
            assert header["mass_sph"].tolist() == [3e-5]
        # Fortran reads texts of fixed length.
        assert header["ordering"].dtype == np.dtype("S7")
        assert header["ordering"].tolist() == [b"hilbert"]
        # RAMSES stops unless the sum is 1 to the bit.
        omegas = [float(header[f"omega_{n}"][0]) for n in "mlk"]
        assert omegas[0] + omegas[1] + omegas[2] == 1.0
        births = file["particles/birth_epoch"][...]
        assert ((births != 0.0) == (file["particles/ptypep"][...] == STAR)).all()


def test_binary_output_has_the_widths_of_curamses(tmp_path: Path) -> None:
    """Two domains as its default build writes them, for the independent reader and for Octant."""
    output = case_named("cosmo_hdf5_hilbert_np2")
    how = ("gravity.enabled=true", NOTHING_MORE, *QUICKLY)
    written = run_well(
        tmp_path / "written",
        output.parameters,
        *how,
        'output.formats=["octant", "ramses"]',
        'ramses.layout="curamses"',
        "ramses.domains=2",
        restart=output.folder,
        ranks=2,
    )
    [folder] = written.directory.glob("output_*")
    found = read_output(folder, reader().check(str(folder)))
    assert found.summary["layout"]["numbtot_bytes_per_entry"] == 8
    assert found.summary["layout"]["domains"]["bytes_per_key"] == 16
    assert (found.codes == output.codes).all()
    assert (found.density == output.density).all()
    found.summary["leaf_cells_by_level"] = output.summary["leaf_cells_by_level"]
    assert_gas(written.last_snapshot, found)
    assert found.particles
    assert output.particles
    for kind, type_ in (("dark", DARK), ("stars", STAR)):  # their identities have the same order
        one, other = (
            particles_of_type(columns, type_) for columns in (found.particles, output.particles)
        )
        assert (one[[0, 1, 2, 6]] == other[[0, 1, 2, 6]]).all()  # positions and masses
        # The output contains the half kick that the file lacked, as the snapshot beside it.
        beside = columns_of(written.last_snapshot, kind)
        assert one.shape[1] == 0 or (one[3:6] == beside["velocity"].T).all()
    back = run_well(tmp_path / "back", output.parameters, *how, restart=folder, ranks=3)
    assert_gas(back.last_snapshot, found)
    assert_particles(back.last_snapshot, found)


def energy_of(snapshot: Path, gamma: float) -> float:
    """Total energy of the gas."""
    cells = leaf_cells(snapshot)
    speed2 = sum(cells[f"velocity_{axis}"] ** 2 for axis in "xyz")
    density = cells["pressure"] / (gamma - 1.0) + 0.5 * cells["density"] * speed2
    return float((density * cells.volume).sum())


def particles_of_type(columns: dict, type_: int) -> NDArray:
    """Positions, velocities and masses of particles in the order of their identities."""
    own = np.flatnonzero((columns["id"] >= 0) & (columns["t"] == type_))
    own = own[np.argsort(columns["id"][own])]
    return np.vstack([columns["x"][:, own], columns["v"][:, own], columns["m"][own]])


def test_binary_output_in_the_form_of_curamses_has_no_sinks(tmp_path: Path) -> None:
    output = case_named(BINARY)
    layout = ('output.formats=["ramses"]', 'ramses.layout="curamses"')
    outcome = run(
        tmp_path / "run",
        output.parameters,
        NOTHING_MORE,
        *QUICKLY,
        *layout,
        restart=output.folder,
    )
    assert_refused(outcome, 'ramses.layout = "curamses" does not support black holes')


def test_walls_have_no_hdf5_output(tmp_path: Path) -> None:
    output = case_named(HDF5)
    outcome = run(
        tmp_path / "run",
        output.parameters,
        NOTHING_MORE,
        'output.formats=["ramses"]',
        'ramses.layout="hdf5"',
        'mesh.boundary_x=["outflow", "outflow"]',
    )
    assert_refused(outcome, 'ramses.layout = "hdf5" requires periodic boundaries')

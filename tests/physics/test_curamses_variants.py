"""Outputs of cuRAMSES in the forms that other builds and runs of it give: read, or refused by name.

Each variant is a copy of an output that cuRAMSES wrote, changed as another build or run would have
written it: other widths of numbers, other numbers of domains and levels, without optional groups
and columns, with fewer kinds of particles. What it contains is known from the original.
"""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import curamses_variants as variants
import h5py
import numpy as np
import pytest
from curamses_variants import Contents
from test_curamses_files import (
    BINARY,
    CLOUD,
    DARK,
    HDF5,
    QUICKLY,
    STAR,
    Output,
    assert_gas,
    assert_particles,
    assert_sinks,
    case_named,
)

from ramses_files import NOTHING_MORE
from refusals import assert_refused
from running import run, run_well


def expected(output: Output, folder: Path, contents: Contents) -> Output:
    """Give what the variant contains."""
    summary = dict(output.summary)
    particles, sinks = output.particles, output.sinks
    assert particles
    types = np.where(particles["id"] < 0, CLOUD, particles["t"])
    kept = np.ones(len(types), bool) if contents.kept is None else contents.kept
    particles = {name: np.asarray(values)[..., kept] for name, values in particles.items()}
    if "birth_time" in contents.without:
        particles = {k: v for k, v in particles.items() if k not in ("birth", "metal")}
    if "metallicity" in contents.without and "metal" in particles:
        particles["metal"] = np.zeros(kept.sum())
    if contents.is_single:
        particles = {
            name: values.astype("<f4").astype(float) if values.dtype == np.float64 else values
            for name, values in particles.items()
        }
    summary["particles"] = {
        name: {
            "count": int((types[kept] == of_type).sum()),
            "id_sum": int(particles["id"][types[kept] == of_type].sum()),
            "mass": float(particles["m"][types[kept] == of_type].sum()),
        }
        for name, of_type in (("dark", DARK), ("star", STAR))
        if (types[kept] == of_type).any()
    }
    if sinks and contents.sinks is not None:
        sinks = {name: np.asarray(v)[..., contents.sinks] for name, v in sinks.items()}
        summary["sinks"] = [
            s for s, stays in zip(summary["sinks"], contents.sinks, strict=True) if stays
        ]
        if not contents.sinks.any():
            sinks = None
            del summary["sinks"]
    if not kept.any():
        del summary["particles"]
    return replace(output, folder=folder, summary=summary, particles=particles, sinks=sinks)


VARIANTS = [
    (HDF5, variants.scalars_as_attributes),
    (HDF5, variants.chunked_and_compressed),
    (HDF5, variants.narrow_identities),
    (HDF5, variants.single_precision),
    (HDF5, variants.more_domains),
    (HDF5, variants.more_levels),
    (HDF5, variants.without_gravity),
    (HDF5, variants.without_levels_of_particles),
    (HDF5, variants.one_sink),
    (HDF5, variants.no_sinks),
    (HDF5, variants.sinks_switched_off),
    (HDF5, variants.stars_alone),
    (HDF5, variants.dark_matter_alone),
    (HDF5, variants.no_particles),
    (HDF5, variants.without_types),
    (HDF5, variants.another_order_of_variables),
    (HDF5, variants.an_unknown_column),
    (HDF5, variants.one_level_lost),
    (BINARY, variants.without_potential),
    (BINARY, variants.narrow_integers),
    (BINARY, variants.keys_of_eight_bytes),
    (BINARY, variants.particles_of_single_precision),
    (BINARY, variants.masses_before_positions),
    (BINARY, variants.sinks_in_text_alone),
    (BINARY, variants.no_metals),
    (BINARY, variants.without_gravity_files),
    (BINARY, variants.one_sink_in_files),
    (BINARY, variants.dark_matter_alone_in_files),
    (BINARY, variants.a_domain_is_missing),
]


@pytest.mark.parametrize(("name", "change"), VARIANTS)
def test_variants_are_read_or_refused_by_name(
    name: str, change: Callable[[Path, Output], Contents], tmp_path: Path
) -> None:
    output = case_named(name)
    folder = tmp_path / output.folder.name
    shutil.copytree(output.folder, folder)
    for path in folder.iterdir():
        path.chmod(0o644)
    contents = change(folder, output)
    arguments = (output.parameters, NOTHING_MORE, *QUICKLY)
    if contents.words:
        outcome = run(tmp_path / "run", *arguments, restart=folder, ranks=2)
        assert_refused(outcome, *contents.words)
        assert not list(outcome.directory.rglob("*.h5"))
        return
    found = run_well(tmp_path / "run", *arguments, restart=folder, ranks=2).last_snapshot
    there = expected(output, folder, contents)
    assert_gas(found, there)
    assert_particles(found, there)
    if change is variants.sinks_in_text_alone:
        assert there.sinks
        with h5py.File(found) as file:
            np.testing.assert_allclose(file["particles/sinks/mass"], there.sinks["m"], rtol=1e-9)
    else:
        assert_sinks(found, there)

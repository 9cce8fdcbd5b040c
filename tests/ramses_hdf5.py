"""Outputs of RAMSES in the HDF5 layout of cuRAMSES, for tests that change such a file."""

import shutil
from pathlib import Path

import h5py
import numpy as np
from numpy.typing import NDArray

from ramses_files import domain_levels, file_of, last_steps, read_info, read_particles


def write_hdf5(source: Path, target: Path, ordering: str = "ksection", birth: float = 0.0) -> None:
    """Write an output as cuRAMSES does in HDF5; every fourth particle is a star if birth is not 0.

    The layout is that of its paper's figure 6 and of its program (patch/cuda/backup_hdf5.f90).
    Domains of k-section, of which there are at most three, are slabs along x.
    """
    info = read_info(source)
    ncpu, name = int(info["ncpu"]), source.name.split("_")[1]
    target.mkdir(parents=True)
    octs: dict[int, list[tuple]] = {}
    counts: dict[int, NDArray] = {}
    has_forces = file_of(source, "grav", 1).is_file()
    gamma, coarse = 0.0, np.ones(3, int)
    for number in range(1, ncpu + 1):
        forces = domain_levels(source, number, ncpu, "grav" if has_forces else "hydro")
        for own, (*_, of_gravity, _, _) in zip(
            domain_levels(source, number, ncpu), forces, strict=True
        ):
            level, centres, sons, shaped, found, grid = own
            gamma, coarse = found, grid
            rho, velocity, pressure = shaped[:, 0], shaped[:, 1:4], shaped[:, 4]
            kinetic = 0.5 * rho * (velocity**2).sum(axis=1)
            momentum = [rho * velocity[:, axis] for axis in range(3)]
            energy = pressure / (gamma - 1.0) + kinetic
            owners = np.full(len(centres), number - 1)
            if ordering == "ksection":
                across = centres[:, 0] - np.floor(centres[:, 0])
                owners = np.minimum((across * ncpu).astype(int), ncpu - 1)
            counts.setdefault(level, np.zeros(ncpu, "<i4"))
            counts[level] += np.bincount(owners, minlength=ncpu).astype("<i4")
            for owner in range(ncpu):
                here = owners == owner
                force = of_gravity[:, -3:].transpose(1, 0, 2)
                values = [value[:, here] for value in (rho, *momentum, energy, *force)]
                octs.setdefault(level, []).append((owner, centres[here], sons[here], values))
    texts = [f"info_{name}.txt", "hydro_file_descriptor.txt", f"header_{name}.txt"]
    for text in texts[: 2 if birth else 3]:
        shutil.copy(source / text, target)
    with h5py.File(target / f"data_{name}.h5", "w") as file:
        header = file.create_group("header").attrs
        for key in ("ncpu", "ndim", "levelmin", "nstep_coarse"):
            header[key] = np.array([info[key]], "<i4")
        header["nlevelmax"] = np.array([info["levelmax"]], "<i4")
        header["nvar"] = np.array([5], "<i4")
        header["dtnew"] = last_steps(source)
        for axis, n in zip(("nx", "ny", "nz"), coarse, strict=True):
            header[axis] = np.array([n], "<i4")
        for key in ("boxlen", "time", "aexp", "omega_m", "omega_l", "omega_k", "omega_b"):
            header[key] = np.array([info[key]])
        header["h0"], header["gamma"] = np.array([info["H0"]]), np.array([gamma])
        file.create_group("domain").attrs["ordering"] = np.array([ordering.encode()])
        for level, parts in octs.items():
            amr, hydro = (
                file.create_group(f"{section}/level_{level}") for section in ("amr", "hydro")
            )
            amr["ngrid_per_cpu"] = counts[level]
            parts = [part[1:] for part in sorted(parts, key=lambda part: part[0])]
            centres = np.concatenate([part[0] for part in parts])
            for axis in range(3):
                amr[f"xg_{axis + 1}"] = centres[:, axis]
            amr["son_flag"] = np.concatenate([(part[1] > 0).ravel() for part in parts]).astype(
                "<i4"
            )
            columns = [f"uold_{n + 1}" for n in range(5)] + [f"f_{n + 1}" for n in range(3)]
            for n, column in enumerate(columns):
                if column.startswith("f") and not has_forces:
                    continue
                section = hydro if n < 5 else file.require_group(f"gravity/level_{level}")
                section[column] = np.concatenate([part[2][n].T.ravel() for part in parts])
        particles = read_particles(source, ncpu).get("dark")
        if not particles:
            return
        total = len(particles["id"])
        group = file.create_group("particles")
        group["npart_per_cpu"] = np.diff(np.arange(ncpu + 1) * total // ncpu).astype("<i4")
        for axis in range(3):
            group[f"x_{axis + 1}"] = particles["position"][:, axis]
            group[f"v_{axis + 1}"] = particles["velocity"][:, axis]
        group["mass"], group["identity"] = particles["mass"], particles["id"].astype("<i8")
        group["levelp"] = particles["levelp"].astype("<i4")
        if birth:
            group["birth_epoch"] = np.where(np.arange(total) % 4 == 0, birth, 0.0)
            group["metallicity"] = np.linspace(0.0, 0.02, total)

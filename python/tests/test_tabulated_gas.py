"""States of tabulated gas between the nodes, and tables that have changed since the run."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from octools.crc32c import crc32c
from octools.eos_table import Axis, write_eos_table
from octools.equation_of_state import (
    adiabatic_modulus,
    entropy,
    tabulated_temperature,
    thermal_pressure,
)
from octools.errors import OctoolsError
from octools.gas_models import Composition, GasState, StellarGas

GAMMA = 5 / 3


def header(path: Path, checksum: str | None = None) -> SimpleNamespace:
    """Give the part of a header that a table needs."""
    values = {"hydro.equation_of_state": "table", "hydro.eos_table": str(path)}
    return SimpleNamespace(
        gamma=GAMMA,
        units={"length": 1.0, "mass": 1.0, "time": 1.0},
        data_files={} if checksum is None else {"hydro": {"eos_table": checksum}},
        parameter=lambda name, default=None: values.get(name, default),
    )


def between_nodes(axis: Axis) -> np.ndarray:
    """Return values half-way between the nodes of an axis."""
    return np.sqrt(axis.values[1:] * axis.values[:-1])


@pytest.fixture(scope="module")
def stellar(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, np.ndarray, GasState]:
    """Write a table of degenerate and other gas; give states between its nodes."""
    path = tmp_path_factory.mktemp("table") / "table.h5"
    gas = StellarGas(Composition.named("carbon-oxygen"))
    axes = Axis.of("density", (1e2, 1e8), None), Axis.of("temperature", (1e5, 1e9), None)
    write_eos_table(path, gas, *axes)
    density, kelvin = np.meshgrid(*map(between_nodes, axes), indexing="ij")
    return path, np.array([density, kelvin]), gas.state(density, kelvin)


def test_states_between_nodes_are_those_of_the_gas(
    stellar: tuple[Path, np.ndarray, GasState],
) -> None:
    path, (density, kelvin), state = stellar
    table = header(path)
    pressure = state.pressure
    found = tabulated_temperature(table, density, pressure)
    assert found is not None
    warm = kelvin > 1e6
    error = np.abs(found / kelvin - 1)
    print("temperature:", error[warm].max(), error.max())
    assert error[warm].max() < 0.01
    modulus = density * state.sound_speed**2
    np.testing.assert_allclose(adiabatic_modulus(table, density, pressure), modulus, rtol=3e-3)
    energy = thermal_pressure(table, density, pressure) / (GAMMA - 1)
    np.testing.assert_allclose(energy, density * state.energy, rtol=3e-3)
    heat = np.abs(entropy(table, density, pressure) / state.entropy - 1)
    print("entropy:", heat[warm].max(), heat.max())
    assert heat[warm].max() < 0.02


def test_states_at_nodes_are_those_of_the_table(tmp_path: Path) -> None:
    path = tmp_path / "table.h5"
    gas = StellarGas(Composition.named("helium"))
    axes = Axis("density", 1e2, 1e6, 21), Axis("temperature", 1e7, 1e9, 21)
    write_eos_table(path, gas, *axes)
    density, kelvin = np.meshgrid(axes[0].values, axes[1].values, indexing="ij")
    state = gas.state(density, kelvin)
    found = tabulated_temperature(header(path), density, state.pressure)
    np.testing.assert_allclose(found, kelvin, rtol=1e-8)
    found = entropy(header(path), density, state.pressure)
    np.testing.assert_allclose(found, state.entropy, rtol=1e-8)


def test_a_table_that_has_changed_is_refused(
    stellar: tuple[Path, np.ndarray, GasState],
) -> None:
    path = stellar[0]
    data = path.read_bytes()
    same = f"{crc32c(data):08x}, {len(data)} bytes"
    one = np.array([1e4]), np.array([1e22])
    assert tabulated_temperature(header(path, same), *one) is not None
    for other in ("00000000", "1234abcd"):
        changed = f"{other}, {len(data)} bytes"
        with pytest.raises(OctoolsError, match="have changed since the run") as refusal:
            tabulated_temperature(header(path, changed), *one)
        assert str(path) in str(refusal.value)
        assert same in str(refusal.value)


def test_checksums_are_those_of_the_program() -> None:
    assert crc32c(b"123456789") == 0xE3069283  # RFC 3720
    assert crc32c(bytes(32)) == 0x8A9136AA
    assert crc32c(b"\xff" * 32) == 0x62A8AB43
    assert crc32c(b"") == 0

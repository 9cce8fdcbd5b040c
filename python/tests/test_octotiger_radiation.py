"""Octo-Tiger's option radiation: what it becomes, and what is refused."""

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_inputs import converted, statuses

from octools.errors import OctoolsError
from octools.inputs.conversion import CARRIED, CHANGED, LOST

SOD = """
problem=sod
stop_time=1e-2
radiation=on
gravity=off
min_level=1
max_level=1
clight_retard=20
code_to_cm=7e10
code_to_g=2e33
code_to_s=1.6e3
sod_theta=0
"""
DENSITY = 2e33 / 7e10**3  # g/cm^3 of the unit


def ini(folder: Path, changes: dict[str, str]) -> tuple[Any, dict[str, Any]]:
    text = SOD
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    return converted(folder / "run.ini", text)


def test_a_tube_with_radiation_begins_in_equilibrium(tmp_path: Path) -> None:
    done, found = ini(tmp_path, {})
    assert found["units"]["density"] == pytest.approx(DENSITY)
    radiation = found["radiation"]
    assert radiation["enabled"] is True
    assert radiation["speed_ratio"] == pytest.approx(0.05)
    assert radiation["cfl"] == pytest.approx(0.1 * 3**0.5, rel=1e-3)
    # T = mu m_H p / (rho k), u = a T^4.
    kelvin = radiation["molecular_weight"] * 1.67262192e-24 / 1.380649e-16 * (7e10 / 1.6e3) ** 2
    unit = 2e33 / 7e10 / 1.6e3**2
    energy = [7.565733e-15 * (kelvin * ratio) ** 4 / unit for ratio in (1.0, 0.8)]
    text = found["problem"]["fields"]["radiation_energy"]
    assert [float(x) for x in text.removeprefix("left ? ").split(" : ")] == pytest.approx(energy)
    kinds = statuses(done)
    assert kinds["clight_retard"] == kinds["radiation"] == CHANGED
    assert kinds["code_to_cm"] == CARRIED
    assert "gas only" not in " ".join(row.now for row in done.rows if "radiation" in row.setting)


def test_opacities_are_those_of_kramers_and_of_electrons(tmp_path: Path) -> None:
    done, found = ini(tmp_path, {"sod_theta=0": "X=0.7\nZ=0.02"})
    radiation = found["radiation"]
    unit = 7e10**2 / 2e33  # cm^2/g
    at = (radiation["opacity_density"] * DENSITY, radiation["opacity_temperature"])
    assert at == pytest.approx((1.0, 1.0))
    assert radiation["opacity_density_exponent"] == 1.0
    assert radiation["opacity_temperature_exponent"] == -3.5
    assert radiation["scattering_opacity"] * unit == pytest.approx(0.34)
    assert radiation["rosseland_opacity"] * unit == pytest.approx(4e25 * 1.7 * 0.021)
    assert radiation["planck_opacity"] * unit == pytest.approx(30.262 * 4e25 * 1.7 * 0.0201)
    assert statuses(done)["X"] == statuses(done)["Z"] == CHANGED


def test_given_opacities_are_constant(tmp_path: Path) -> None:
    done, found = ini(tmp_path, {"sod_theta=0": "sigmaA=0.4\nsigmaS=0.1\nX=0.7"})
    radiation = found["radiation"]
    unit = 7e10**2 / 2e33
    names = ("planck_opacity", "rosseland_opacity", "scattering_opacity")
    assert [radiation[name] * unit for name in names] == pytest.approx([0.4, 0.4, 0.1])
    assert "opacity_density_exponent" not in radiation
    assert statuses(done)["X"] == LOST
    assert statuses(done)["sigmaA"] == CARRIED


def test_gas_may_rest(tmp_path: Path) -> None:
    done, found = ini(tmp_path, {"gravity=off": "gravity=off\nhydro=off"})
    assert found["hydro"]["moves"] is False
    assert statuses(done)["hydro"] == CHANGED


def test_a_blast_begins_without_radiation(tmp_path: Path) -> None:
    _, found = ini(tmp_path, {"problem=sod": "problem=blast"})
    assert found["problem"]["name"] == "sedov"
    assert found["radiation"]["initial_temperature"] == 0.0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"problem=sod": "problem=rotating_star"}, "radiation = on .* rotating frames"),
        ({"radiation=on": "hydro=off"}, "hydro = off has no counterpart without radiation = on"),
        ({"clight_retard=20": "clight_retard=0.5"}, "clight_retard = 0.5 .* at least 1"),
        ({"code_to_g=2e33": "code_to_g=0"}, "code_to_g = 0 .* above 0"),
    ],
)
def test_radiation_without_counterpart_is_refused(
    tmp_path: Path, changes: dict[str, str], message: str
) -> None:
    with pytest.raises(OctoolsError, match=message):
        ini(tmp_path, changes)


@pytest.mark.parametrize("problem", ["sod", "blast"])
def test_octant_runs_converted_radiation(tmp_path: Path, problem: str, program: str) -> None:
    done, _ = ini(tmp_path, {"problem=sod": f"problem={problem}"})
    (tmp_path / "run.toml").write_text(done.finish("Octo-Tiger"))
    settings = ["time.max_steps=2", "telemetry.enabled=false", "output.directory=run"]
    words = [program, "run", "run.toml", *(w for one in settings for w in ("--set", one))]
    ran = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    rows = np.genfromtxt(tmp_path / "run/history.csv", delimiter=",", names=True)
    if problem == "sod":  # the box is 2 long and 4 in section; opaque gas keeps its radiation
        text = done.tables["problem.fields"]["radiation_energy"][0]
        left, right = (float(x) for x in text.removeprefix("left ? ").split(" : "))
        assert rows["radiation_energy"][0] == pytest.approx(4 * (left + right), rel=1e-12)
        assert rows["radiation_energy"][-1] == pytest.approx(4 * (left + right), rel=0.05)

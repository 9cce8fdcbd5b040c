"""Command that writes tables of equations of state."""

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from octools.errors import OctoolsError
from octools.options import Output, console

if TYPE_CHECKING:
    from octools.gas_models import IdealGas, StellarGas

Pair = tuple[float, float] | None
Words = tuple[str, str] | None  # two numbers, or quotients such as 5/3
STELLAR = "carbon-oxygen"


def eos_table(
    composition: Annotated[
        str | None,
        typer.Option(
            help="Ions: hydrogen, helium, carbon, carbon-oxygen, oxygen-neon or iron. "
            f"(default: {STELLAR})"
        ),
    ] = None,
    ions: Annotated[
        Pair,
        typer.Option(
            metavar="ABAR ZBAR",
            help="Mean mass number and mean charge of the ions, in place of --composition.",
        ),
    ] = None,
    ideal: Annotated[
        Words,
        typer.Option(
            metavar="GAMMA MU",
            help="Ideal gas with a ratio of specific heats and a mean molecular weight, in place "
            "of stellar matter.",
        ),
    ] = None,
    gas_radiation: Annotated[
        Words,
        typer.Option(
            metavar="GAMMA MU", help="Ideal gas and black-body radiation, in place of --ideal."
        ),
    ] = None,
    radiation: Annotated[bool, typer.Option(help="Black-body radiation of stellar matter.")] = True,
    coulomb: Annotated[
        bool,
        typer.Option(
            help="Coulomb interactions of the ions, as a classical liquid; requires temperatures "
            "at which they are weak or electrons are degenerate."
        ),
    ] = False,
    density: Annotated[
        tuple[float, float],
        typer.Option(
            metavar="MIN MAX",
            help="Range of the density [g/cm^3]. (default: 1e-6 1e11)",
            show_default=False,
        ),
    ] = (1e-6, 1e11),
    temperature: Annotated[
        tuple[float, float],
        typer.Option(
            metavar="MIN MAX",
            help="Range of the temperature [K]. (default: 1e4 1e11)",
            show_default=False,
        ),
    ] = (1e4, 1e11),
    points: Annotated[
        tuple[int, int] | None,
        typer.Option(
            metavar="N M",
            help="Numbers of densities and temperatures. (default: 20 per decade)",
        ),
    ] = None,
    output: Output = None,
) -> None:
    """Write an equation-of-state table for hydro.equation_of_state = "table".

    The table contains ideal ions, electrons and positrons of any degeneracy, and radiation.
    """
    given = [name is not None for name in (composition, ions, ideal, gas_radiation)]
    if sum(given) > 1:
        raise OctoolsError(
            "choose one of --composition, --ions, --ideal and --gas-radiation, not several"
        )
    if not radiation and (ideal or gas_radiation):
        raise OctoolsError("--no-radiation requires stellar matter; use --ideal GAMMA MU instead")
    if coulomb and (ideal or gas_radiation):
        raise OctoolsError("--coulomb requires stellar matter, not an ideal gas")
    from octools.eos_table import Axis, write_eos_table

    path = output or Path("eos_table.h5")
    numbers = points or (None, None)
    axes = (
        Axis.of("density", density, numbers[0]),
        Axis.of("temperature", temperature, numbers[1]),
    )
    if ideal or gas_radiation:
        gas, attributes = _ideal_gas(ideal, gas_radiation)
    else:
        gas, attributes = _stellar_gas(composition, ions, radiation, coulomb)
    write_eos_table(path, gas, *axes, attributes)
    console.print(
        f"{attributes['description']}\n{axes[0].points} densities from {axes[0].lower:g} to "
        f"{axes[0].upper:g} g/cm^3, {axes[1].points} temperatures from {axes[1].lower:g} to "
        f"{axes[1].upper:g} K\nwrote {path}"
    )


def _ideal_gas(ideal: Words, with_radiation: Words) -> "tuple[IdealGas, dict[str, str | float]]":
    """Return the ideal gas of the options, and attributes of its table."""
    from octools.gas_models import IdealGas

    gamma, weight = map(_number, ideal or with_radiation or ())
    gas = IdealGas(gamma, weight, radiation=ideal is None)
    text = "ideal gas" if ideal else "ideal gas and black-body radiation"
    return gas, {"description": text, "gamma": gamma, "mean_molecular_weight": weight}


def _number(word: str) -> float:
    """Return a number or the quotient of two numbers."""
    try:
        return float(Fraction(word))
    except (ValueError, ZeroDivisionError, OverflowError) as cause:
        raise OctoolsError(f"{word} is not a number or a quotient such as 5/3") from cause


def _stellar_gas(
    mixture: str | None, ions: Pair, radiation: bool, coulomb: bool
) -> "tuple[StellarGas, dict[str, str | float]]":
    """Return the stellar matter of the options, and attributes of its table."""
    from octools.gas_models import Composition, StellarGas

    mixture = mixture or STELLAR
    composition = Composition(*ions) if ions else Composition.named(mixture)
    text = "ideal ions, electrons and positrons"
    text += ", black-body radiation" if radiation else ", no radiation"
    attributes: dict[str, str | float] = {
        "description": f"{text}, {'' if coulomb else 'no '}Coulomb interactions",
        "composition": "mean ions" if ions else mixture,
        "abar": composition.ion_mass,
        "zbar": composition.ion_charge,
        "mean_molecular_weight": composition.ion_mass / (1 + composition.ion_charge),
    }
    return StellarGas(composition, radiation, coulomb), attributes

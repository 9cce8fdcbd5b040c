"""Mean molecular weight of the gas in files, where parameters or stored ions determine it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from octools.snapshot import Header

Array = NDArray[np.float64]

# Stored fractions of ionised hydrogen, and of singly and doubly ionised helium.
IONS = ("ionized_hydrogen", "ionized_helium", "doubly_ionized_helium")


def is_ionized(header: Header) -> bool:
    """Return true if the ions of [ionization] determine the molecular weight of each cell."""
    return bool(header.parameter("ionization.enabled", False))


def constant_weight(header: Header) -> float | None:
    """Return the mean molecular weight that the run assumed everywhere; None if it has none.

    These are ``radiation.molecular_weight`` and, for gas with radiation in equilibrium,
    ``hydro.molecular_weight`` unless ``hydro.radiation_constant`` is given.
    """
    if header.parameter("radiation.enabled", False):
        return float(header.parameter("radiation.molecular_weight", 1.0))
    mixture = header.parameter("hydro.equation_of_state", "ideal") == "gas_radiation"
    if mixture and float(header.parameter("hydro.radiation_constant", 0.0)) == 0.0:
        return float(header.parameter("hydro.molecular_weight", 0.6))
    return None


def weight_of_ions(header: Header, fractions: Mapping[str, Array]) -> Array:
    """Return the mean mass of nuclei and electrons in proton masses; helium weighs four.

    Fractions that advection made impossible by rounding are limited, as in the program.

    Parameters
    ----------
    header
        Header of a file of a run with [ionization].
    fractions
        Values of the fields `IONS`.
    """
    hydrogen, singly, doubly = (np.clip(fractions[name], 0.0, 1.0) for name in IONS)
    excess = np.maximum(singly + doubly, 1.0)
    share = float(header.parameter("ionization.hydrogen_fraction", 0.76))
    of_helium = 1.0 + (singly + 2.0 * doubly) / excess
    return 1.0 / (share * (1.0 + hydrogen) + 0.25 * (1.0 - share) * of_helium)

"""Reference states of ions, electrons, positrons and radiation.

The package pynucastro (Smith et al. 2023, ApJ 947, 65) computes them with quadratures of its own.
Usage: python stellar_states.py > stellar_states.csv
"""

import sys

import numpy as np

POINTS = 60


def main() -> None:
    """Write states of equal masses of carbon and oxygen as CSV, in cgs units."""
    from pynucastro import Composition, Nucleus
    from pynucastro.eos import StellarEOS

    mixture = Composition([Nucleus("c12"), Nucleus("o16")])
    mixture.set_all(0.5)
    random = np.random.default_rng(7)
    sys.stdout.write("density,temperature,pressure,energy,sound_speed\n")
    for _ in range(POINTS):
        density = float(f"{10 ** random.uniform(-5, 10.5):.3g}")
        temperature = float(f"{10 ** random.uniform(4, 10.7):.3g}")
        state = StellarEOS().pe_state(density, temperature, mixture)
        speed = np.sqrt(state.gamma1 * state.p / density)
        numbers = (state.p, state.e, speed)
        words = (f"{density:g}", f"{temperature:g}", *(f"{number:.11e}" for number in numbers))
        sys.stdout.write(",".join(words) + "\n")


if __name__ == "__main__":
    main()

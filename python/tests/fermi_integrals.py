"""Reference values of generalised Fermi-Dirac integrals, with 30 digits.

Usage, with the package mpmath: python fermi_integrals.py > fermi_integrals.csv
"""

import sys
from itertools import product

ORDERS = ("-0.5", "0.5", "1.5", "2.5")
DEGENERACIES = ("-500", "-3", "0", "6.5", "30", "48", "99", "101", "1e4", "1e8")
RELATIVITIES = ("0", "1e-6", "1e-2", "1", "17", "1700")
STEPS = (-60, -30, -15, -8, -4, -2, 0, 2, 4, 8, 15, 30, 60, 100, 150)


def main() -> None:
    """Write the values as CSV. Negative degeneracies have the factor exp(-eta)."""
    from mpmath import exp, mp, mpf, nstr, quad, sqrt

    mp.dps = 36
    sys.stdout.write("k,eta,beta,integral\n")
    for words in product(ORDERS, DEGENERACIES, RELATIVITIES):
        k, eta, beta = map(mpf, words)
        surface = max(eta, mpf(0))
        points = [mpf(0)] + [surface + step for step in STEPS if surface + step > 0]
        for unit in (1, 1 / beta) if beta > 0 else (1,):
            points += [unit * mpf(8) ** n for n in range(-3, 13)]
        bounds = sorted({sqrt(point) for point in points if point <= surface + 150})
        factor = exp(min(eta, mpf(0)))
        size = max(surface ** (k + 1) * sqrt(1 + beta * surface / 2), mpf(1))

        def integrand(t, k=k, eta=eta, beta=beta, factor=factor, size=size):
            root = sqrt(1 + beta * t * t / 2)
            return 2 * t ** (2 * k + 1) * root / (exp(t * t - eta) + 1) / factor / size

        value = quad(integrand, bounds) * size
        sys.stdout.write(",".join((*words, nstr(value, 30))) + "\n")


if __name__ == "__main__":
    main()

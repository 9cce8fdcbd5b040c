"""Linear theory of structure formation: transfer function, growth, and power spectra."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from octools.snapshot import Array, Header

CMB_TEMPERATURE = 2.7255  # K
CRITICAL_DENSITY = 2.77536627e11  # today, h^2 Msun / Mpc^3


@dataclass(frozen=True)
class LinearTheory:
    """Linear theory of structure formation with matter, radiation and dark energy.

    Attributes
    ----------
    omega_m, omega_lambda, omega_b
        Densities today of matter, dark energy and baryons in units of the critical one.
    h
        H0 / (100 km/s/Mpc).
    sigma_8
        Linear rms overdensity today in spheres with a radius of 8 Mpc/h.
    spectral_index
        Slope of the primordial spectrum.
    w0, wa
        Dark energy's equation of state, w = w0 + wa (1 - a).
    omega_radiation
        Density of radiation today in units of the critical one. The curvature is
        1 - omega_m - omega_lambda - omega_radiation.
    """

    omega_m: float
    omega_lambda: float
    omega_b: float
    h: float
    sigma_8: float
    spectral_index: float
    w0: float = -1.0
    wa: float = 0.0
    omega_radiation: float = 0.0

    def growth(self, a: float) -> float:
        """Growth factor at scale factor `a`, 1 today; between a = 1e-5 and 10."""
        return self._growing_mode(a)[0] / self._growing_mode(1.0)[0]

    def rate(self, a: float) -> float:
        """Logarithmic slope of the growth factor, d ln D / d ln a."""
        value, slope = self._growing_mode(a)
        return slope / value

    def velocity_per_displacement(self, a: float) -> float:
        """Ratio a H f of linear velocities to displacements, km/s per comoving Mpc/h."""
        return 100.0 * a * float(self.hubble(np.array(a))) * self.rate(a)

    def power(self, k: Array, a: float = 1.0) -> Array:
        """P(k) at scale factor `a` in (Mpc/h)^3; k in h/Mpc, any shape."""
        return self._amplitude * self.growth(a) ** 2 * self._shape(k)

    def hubble(self, a: Array | float) -> Array | float:
        """H / H0 at scale factors `a`."""
        curvature = 1.0 - self.omega_m - self.omega_lambda - self.omega_radiation
        others = self.omega_radiation / a**4 + self.omega_m / a**3 + curvature / a**2
        return np.sqrt(others + self._dark_energy(a))

    def _dark_energy(self, a: Array | float) -> Array | float:
        decline = a ** (-3.0 * (1.0 + self.w0 + self.wa))
        return self.omega_lambda * decline * np.exp(-3.0 * self.wa * (1.0 - a))

    def _growing_mode(self, a: float) -> tuple[float, float]:
        """D and dD / d ln a, not normalised: Hermite's cubic between the nodes of a table."""
        log_a, values, slopes = self._growth_table
        x = (np.log(a) - log_a[0]) / (log_a[1] - log_a[0])
        n = int(np.clip(x, 0, len(log_a) - 2))
        if not -1e-9 <= x <= len(log_a) - 1 + 1e-9:
            raise ValueError(f"no growth factor at a = {a}: expected 1e-5 to 10")
        t, width = x - n, log_a[1] - log_a[0]
        change = values[n + 1] - values[n]
        cubic = width * (slopes[n] + slopes[n + 1]) - 2 * change
        square = change - width * slopes[n] - cubic
        value = values[n] + t * (width * slopes[n] + t * (square + t * cubic))
        slope = (width * slopes[n] + t * (2 * square + t * 3 * cubic)) / width
        return float(value), float(slope)

    @cached_property
    def _growth_table(self) -> tuple[Array, Array, Array]:
        """Integrate D'' + (2 + d ln E / d ln a) D' = 3/2 Omega_m(a) D in ln a from a = 1e-5.

        The growing mode is that of matter and radiation there, D = a + 2/3 a_equality
        (Meszaros 1974). With w0 and wa no integral for D is known, as Heath's (1977) is for a
        cosmological constant.
        """
        log_a = np.linspace(np.log(1e-5), np.log(10.0), 4001)
        width = log_a[1] - log_a[0]
        at = np.exp(np.linspace(log_a[0], log_a[-1], 2 * len(log_a) - 1))  # and halfway
        pull = 1.5 * self.omega_m / at**3 / self.hubble(at) ** 2
        friction = 2.0 + self._hubble_slope(at)
        values, slopes = np.empty_like(log_a), np.empty_like(log_a)
        value, slope = at[0] + 2.0 / 3.0 * self.omega_radiation / self.omega_m, at[0]

        def acceleration(n: int, value: float, slope: float) -> float:
            return pull[n] * value - friction[n] * slope

        for n in range(len(log_a)):
            values[n], slopes[n] = value, slope
            if n + 1 == len(log_a):
                break
            first, half = 2 * n, 0.5 * width
            v1, s1 = slope, acceleration(first, value, slope)
            v2 = slope + half * s1
            s2 = acceleration(first + 1, value + half * v1, v2)
            v3 = slope + half * s2
            s3 = acceleration(first + 1, value + half * v2, v3)
            v4 = slope + width * s3
            s4 = acceleration(first + 2, value + width * v3, v4)
            value += width / 6.0 * (v1 + 2 * v2 + 2 * v3 + v4)
            slope += width / 6.0 * (s1 + 2 * s2 + 2 * s3 + s4)
        return log_a, values, slopes

    def _hubble_slope(self, a: Array) -> Array:
        """Return d ln E / d ln a."""
        curvature = 1.0 - self.omega_m - self.omega_lambda - self.omega_radiation
        others = -4 * self.omega_radiation / a**4 - 3 * self.omega_m / a**3 - 2 * curvature / a**2
        dark = -3.0 * (1.0 + self.w0 + self.wa * (1.0 - a)) * self._dark_energy(a)
        return 0.5 * (others + dark) / self.hubble(a) ** 2

    def _shape(self, k: Array) -> Array:
        return k**self.spectral_index * self.transfer(k * self.h) ** 2

    def deviation(self, mass: Array, a: float = 1.0) -> Array:
        """Linear rms overdensity in spheres of a mean mass in Msun/h, at scale factor `a`."""
        radius = np.cbrt(3 * mass / (4 * np.pi * CRITICAL_DENSITY * self.omega_m))
        k = np.geomspace(1e-4, 1e3, 4001)
        x = k * radius[:, None]
        variance = np.trapezoid(k**3 * self.power(k, a) * _top_hat(x) ** 2, np.log(k), axis=1)
        return np.sqrt(variance / (2 * np.pi**2))

    def heavier_halos(self, mass: Array, a: float = 1.0) -> Array:
        """Return the number density of halos above a mass in Msun/h, in (h/Mpc)^3.

        Sheth & Tormen (1999), eq. 10; collapse at an overdensity of 1.686.
        """
        m = np.geomspace(mass.min(), 1e17, 400)
        sigma = self.deviation(m, a)
        nu2 = 0.707 * (1.686 / sigma) ** 2
        share = 0.3222 * np.sqrt(2 * nu2 / np.pi) * (1 + nu2**-0.3) * np.exp(-0.5 * nu2)
        slope = -np.gradient(np.log(sigma), np.log(m))
        per_log = CRITICAL_DENSITY * self.omega_m / m * share * slope
        pieces = 0.5 * (per_log[1:] + per_log[:-1]) * np.diff(np.log(m))
        above = np.concatenate([np.cumsum(pieces[::-1])[::-1], [0.0]])
        return np.interp(np.log(mass), np.log(m), above)

    @cached_property
    def _amplitude(self) -> float:
        x = np.exp(np.linspace(np.log(1e-6), np.log(100.0), 8001))
        k = x / 8.0
        window = _top_hat(x)
        variance = np.trapezoid(k**3 * self._shape(k) * window**2, np.log(k)) / (2 * np.pi**2)
        return float(self.sigma_8**2 / variance)

    def transfer(self, k: Array) -> Array:
        """Transfer function with acoustic peaks of Eisenstein & Hu (1998); k in 1/Mpc."""
        om, ob = self.omega_m * self.h**2, self.omega_b * self.h**2
        fb = self.omega_b / self.omega_m
        theta2 = (CMB_TEMPERATURE / 2.7) ** 2
        z_eq = 2.50e4 * om / theta2**2
        k_eq = 7.46e-2 * om / theta2
        b1 = 0.313 * om**-0.419 * (1 + 0.607 * om**0.674)
        z_d = 1291 * om**0.251 / (1 + 0.659 * om**0.828) * (1 + b1 * ob ** (0.238 * om**0.223))
        r_d, r_eq = (31.5 * ob / theta2**2 * 1e3 / z for z in (z_d, z_eq))
        if self.omega_b == 0.0:  # alpha_c and beta_c of eq. 11 and 12 are 1
            return _pressureless(k / (13.41 * k_eq), 1.0, 1.0)
        ratio = (np.sqrt(1 + r_d) + np.sqrt(r_d + r_eq)) / (1 + np.sqrt(r_eq))
        s = 2 / (3 * k_eq) * np.sqrt(6 / r_eq) * np.log(ratio)
        k_silk = 1.6 * ob**0.52 * om**0.73 * (1 + (10.4 * om) ** -0.95)

        a1 = (46.9 * om) ** 0.670 * (1 + (32.1 * om) ** -0.532)
        a2 = (12.0 * om) ** 0.424 * (1 + (45.0 * om) ** -0.582)
        alpha_c = a1**-fb * a2 ** -(fb**3)
        c1, c2 = 0.944 / (1 + (458 * om) ** -0.708), (0.395 * om) ** -0.0266
        beta_c = 1 / (1 + c1 * ((1 - fb) ** c2 - 1))

        y = (1 + z_eq) / (1 + z_d)
        root = np.sqrt(1 + y)
        g = y * (-6 * root + (2 + 3 * y) * np.log((root + 1) / (root - 1)))
        alpha_b = 2.07 * k_eq * s * (1 + r_d) ** -0.75 * g
        beta_b = 0.5 + fb + (3 - 2 * fb) * np.sqrt((17.2 * om) ** 2 + 1)

        q, ks = k / (13.41 * k_eq), k * s
        f = 1 / (1 + (ks / 5.4) ** 4)
        dark = f * _pressureless(q, 1.0, beta_c) + (1 - f) * _pressureless(q, alpha_c, beta_c)
        shifted = ks / np.cbrt(1 + (8.41 * om**0.435 / ks) ** 3)
        baryons = _pressureless(q, 1.0, 1.0) / (1 + (ks / 5.2) ** 2)
        baryons += alpha_b / (1 + (beta_b / ks) ** 3) * np.exp(-((k / k_silk) ** 1.4))
        return fb * baryons * np.sinc(shifted / np.pi) + (1 - fb) * dark


def other_energies(header: Header) -> dict[str, float]:
    """Read what LinearTheory takes beside matter and the density of dark energy."""
    defaults = {"w0": -1.0, "wa": 0.0, "omega_radiation": 0.0}
    return {
        name: float(header.parameter(f"cosmology.{name}", value))
        for name, value in defaults.items()
    }


def _top_hat(x: Array) -> Array:
    """Return the Fourier transform of a sphere's mean over it, at wavenumber times radius."""
    return np.where(x < 1e-2, 1 - x**2 / 10, 3 * (np.sin(x) - x * np.cos(x)) / x**3)


def _pressureless(q: Array, alpha: float, beta: float) -> Array:
    c = 14.2 / alpha + 386 / (1 + 69.9 * q**1.08)
    logarithm = np.log(np.e + 1.8 * beta * q)
    return logarithm / (logarithm + c * q**2)


@dataclass(frozen=True)
class Spectrum:
    """Power spectrum in bins of the width of the fundamental mode.

    Attributes
    ----------
    k
        Mean wavenumber of each bin's modes, shape (bins,), h/Mpc.
    power
        Mean power, shape (bins,), (Mpc/h)^3.
    modes
        Number of modes, both of each opposite pair counted, shape (bins,).
    expected
        Mean of the linear power over the same modes, shape (bins,).
    """

    k: Array
    power: Array
    modes: Array
    expected: Array


def power_spectrum(overdensity: Array, box: float, theory: LinearTheory, a: float) -> Spectrum:
    """Measure P(k) up to the Nyquist wavenumber, with the linear theory of the same modes.

    Parameters
    ----------
    overdensity
        Values on a periodic grid of cubes, shape (n, n, n).
    box
        Side of the grid, Mpc/h.
    theory
        Linear theory.
    a
        Scale factor.
    """
    n = overdensity.shape[0]
    modes = np.fft.rfftn(overdensity)
    whole = np.fft.fftfreq(n, 1 / n)
    half = np.arange(modes.shape[2])
    length = np.sqrt(whole[:, None, None] ** 2 + whole[:, None] ** 2 + half**2)
    twice = np.where((half == 0) | (2 * half == n), 1.0, 2.0)
    weight = np.broadcast_to(twice, modes.shape).ravel()
    shell = np.rint(length).astype(int).ravel()
    k = 2 * np.pi / box * length.ravel()
    expected = np.zeros_like(k)
    expected[k > 0] = theory.power(k[k > 0], a)
    power = np.abs(modes.ravel()) ** 2 * box**3 / n**6

    def binned(values: Array) -> Array:
        return np.bincount(shell, weight * values)[1 : n // 2 + 1]

    count = binned(np.ones_like(k))
    return Spectrum(binned(k) / count, binned(power) / count, count, binned(expected) / count)

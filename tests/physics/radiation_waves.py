"""Linear waves of gas and radiation, with which runs are compared.

The gas at rest, of density 1, is in equilibrium with grey radiation: E = a T^4 with T = p / rho,
and P = E / 3. The equations are those of He, Wibking & Krumholz (2024), linear in the amplitude:

    d_t rho + d_x v = 0
    d_t v + d_x p = G
    d_t p + gamma p d_x v = (gamma - 1) X
    d_t E + r d_x F = -r X
    d_t F + r c^2 d_x E / 3 = -r c^2 G
    X = c k_P (E - a T^4)',  G = k_F (F - (4/3) v E) / c

with the opacities k_P and k_F per mass, and the reduced speed of light r c. Waves of this kind:
Lowrie, Morel & Hittinger (1999), ApJ 521, 432; Johnson & Klein (2010), J. Quant. Spectrosc. Radiat.
Transfer 111, 723.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

VARIABLES = ("density", "velocity", "pressure", "radiation_energy", "radiation_flux")


@dataclass(frozen=True)
class RadiationWave:
    """Waves exp(i (k x - omega t)) of gas with density 1 and adiabatic sound speed 1.

    Parameters
    ----------
    gamma : float
        Adiabatic index of the gas.
    radiation : float
        E / p, the energy density of the radiation over the pressure of the gas. The ratio P0 of
        Lowrie & Edwards (2008), a T^4 / (rho a0^2), is E / (gamma p).
    light_speed : float
        c over the adiabatic sound speed of the gas.
    absorption, scattering : float
        Optical depths of a wavelength: k_P lambda, and k_F lambda less k_P lambda.
    wavelength : float
        Wavelength.
    speed_ratio : float
        Reduced speed of light over c.
    """

    gamma: float = 5.0 / 3.0
    radiation: float = 1.0
    light_speed: float = 1000.0
    absorption: float = 1.0
    scattering: float = 0.0
    wavelength: float = 1.0
    speed_ratio: float = 1.0

    @property
    def pressure(self) -> float:
        """Return p, and with it T = p."""
        return 1.0 / self.gamma

    @property
    def energy(self) -> float:
        """Return E."""
        return self.radiation * self.pressure

    @property
    def radiation_constant(self) -> float:
        """Return a = E / T^4."""
        return self.energy / self.pressure**4

    def matrix(self) -> NDArray[np.complex128]:
        """Return M of d_t y = M y, where y = (rho, v, p, E, F)' exp(i k x)."""
        p, e, c, r = self.pressure, self.energy, self.light_speed, self.speed_ratio
        grad = 2.0j * np.pi / self.wavelength
        k_p = self.absorption / self.wavelength
        k_f = k_p + self.scattering / self.wavelength
        heating = c * k_p * np.array([4.0 * e, 0.0, -4.0 * e / p, 1.0, 0.0])  # X
        force = k_f / c * np.array([0.0, -4.0 / 3.0 * e, 0.0, 0.0, 1.0])  # G
        matrix = np.zeros((5, 5), complex)
        matrix[0, 1] = -grad
        matrix[1, 2] = -grad
        matrix[2, 1] = -grad * self.gamma * p
        matrix[3, 4] = -grad * r
        matrix[4, 3] = -grad * r * c**2 / 3.0
        matrix[1] += force
        matrix[2] += (self.gamma - 1.0) * heating
        matrix[3] -= r * heating
        matrix[4] -= r * c**2 * force
        return matrix

    def _slow_and_fast(self) -> tuple[NDArray[np.complex128], Array]:
        """Return N and S of d_t z = N z, y = S z, where exchange is in single entries of N.

        z holds rho, the sums of momenta, v + F / (r c^2), and of energies, p / (gamma - 1) + E / r,
        and the variables that exchange damps, E - (a T^4)' and F - (4/3) v E. In optically thick
        gas, the eigenvalues of M itself are lost in rounding errors.
        """
        p, e, c, r = self.pressure, self.energy, self.light_speed, self.speed_ratio
        g = self.gamma - 1.0
        grad = 2.0j * np.pi / self.wavelength
        # Rows of S: fields of the variables z.
        to_v = np.array([0.0, 1.0, 0.0, 0.0, -1.0 / (r * c**2)]) / (
            1.0 + 4.0 / 3.0 * e / (r * c**2)
        )
        to_p = np.array([4.0 * e / r, 0.0, 1.0, -1.0 / r, 0.0]) / (1.0 / g + 4.0 * e / (p * r))
        to_rho, _, _, difference, drift = np.eye(5)
        to_energy = difference + 4.0 * e * (to_p / p - to_rho)
        to_flux = drift + 4.0 / 3.0 * e * to_v
        enthalpy = self.gamma / g * p
        rows = [
            -grad * to_v,
            -grad * (to_p + to_energy / 3.0),
            -grad * (enthalpy * to_v + to_flux),
            -grad * (r * to_flux - 4.0 * e * g * to_v),
            -grad * (r * c**2 / 3.0 * to_energy - 4.0 / 3.0 * e * to_p),
        ]
        matrix = np.array(rows)
        k_p = self.absorption / self.wavelength
        k_f = k_p + self.scattering / self.wavelength
        matrix[3, 3] -= c * k_p * (r + 4.0 * e * g / p)
        matrix[4, 4] -= k_f * (r * c + 4.0 / 3.0 * e / c)
        return matrix, np.array([to_rho, to_v, to_p, to_energy, to_flux])

    def modes(self) -> tuple[NDArray[np.complex128], NDArray[np.complex128]]:
        """Return omega of the five modes, and their vectors y, one column each.

        A mode is y exp(i (k x - omega t)): it moves at Re(omega) / k, and decays at -Im(omega). The
        largest entry of a vector is 1, where entries are in units of the fields at rest (rho, the
        sound speed, p, E and c E).
        """
        matrix, to_fields = self._slow_and_fast()
        values, vectors = np.linalg.eig(matrix)
        unit = self._units()[:, None]
        vectors = to_fields @ vectors / unit
        vectors = vectors / vectors[np.abs(vectors).argmax(axis=0), range(5)]
        return 1.0j * values, vectors * unit

    def _units(self) -> Array:
        """Return the sizes of the fields at rest, and the sound speed of the gas."""
        return np.array([1.0, 1.0, self.pressure, self.energy, self.light_speed * self.energy])

    def acoustic(self, density: float = 1.0) -> tuple[complex, NDArray[np.complex128]]:
        """Return omega and y of the sound wave along +x, with the given amplitude of density.

        Sound is the mode along +x of whose squared amplitudes, in units of the fields at rest, the
        gas has the largest fraction. ValueError if no mode moves along +x.
        """
        omega, vectors = self.modes()
        squares = np.abs(vectors / self._units()[:, None]) ** 2
        fraction = squares[:3].sum(axis=0) / squares.sum(axis=0)
        moves = omega.real > 1e-3 * 2.0 * np.pi / self.wavelength
        if not moves.any():
            raise ValueError("sound is overdamped; expected a mode that moves along +x")
        best = int(np.argmax(np.where(moves, fraction, -1.0)))
        return complex(omega[best]), vectors[:, best] * (density / vectors[0, best])

    def at(
        self, x: Array, time: float, omega: complex, vector: NDArray[np.complex128]
    ) -> dict[str, Array]:
        """Return the fields at rest with a mode of small amplitude added, by their names."""
        k = 2.0 * np.pi / self.wavelength
        wave = np.exp(1j * (k * np.asarray(x) - omega * time))
        rest = (1.0, 0.0, self.pressure, self.energy, 0.0)
        fields = zip(VARIABLES, rest, vector, strict=True)
        return {name: value + (amplitude * wave).real for name, value, amplitude in fields}

    # Speeds of sound in limits, over the adiabatic sound speed of the gas.

    @property
    def isothermal_speed(self) -> float:
        """Return the speed if radiation keeps the gas at one temperature without force on it."""
        return float(1.0 / np.sqrt(self.gamma))

    @property
    def trapped_speed(self) -> float:
        """Return the speed of gas and radiation in equilibrium without diffusion, for v << c.

        c_s^2 = p (1 + (Gamma_3 - 1) (1 + 4 alpha)) / rho with alpha = E / (3 p) and Gamma_3 - 1 =
        (1 + 4 alpha) / (1 / (gamma - 1) + 12 alpha / r); Mihalas & Mihalas (1984), sec. 101, for
        r = 1. A reduced speed of light raises the heat capacity of the radiation to 1 / r times its
        own, and slows sound. The inertia of the radiation, 4 E / (3 r c^2), is added to rho.
        """
        alpha = self.radiation / 3.0
        heating = (1.0 + 4.0 * alpha) / (1.0 / (self.gamma - 1.0) + 12.0 * alpha / self.speed_ratio)
        inertia = 4.0 / 3.0 * self.energy / (self.speed_ratio * self.light_speed**2)
        square = self.pressure * (1.0 + heating * (1.0 + 4.0 * alpha))
        return float(np.sqrt(square / (1.0 + inertia)))

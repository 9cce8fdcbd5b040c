"""Steady radiating shocks in nonequilibrium diffusion, after Lowrie & Edwards (2008).

Lowrie & Edwards, Shock Waves 18, 129. Density, temperature and sound speed of the gas upstream are
1, so p = rho T / gamma and T is in units of the temperature upstream. In the frame of the shock,
with m = rho v = M0, the energy density Theta = Trad^4 of the radiation and constants K:

    m v + p + P0 Theta / 3 = K_p
    m (v^2 / 2 + T / (gamma - 1)) + (4/3) v P0 Theta - P0 kappa dTheta/dx = K_e
    m T' / (gamma (gamma - 1)) + p v' = P0 sigma (Theta - T^4)

P0 = a T^4 / (rho a0^2) upstream, sigma = c k_P / a0 and kappa = c / (3 k_F a0) per unit length,
with the extinctions k_P and k_F per length. Two solutions, one from either side, are joined by a
shock of the gas alone. Theta is continuous in it, and so is the flux of radiation in the frame of
the shock, (4/3) v P0 Theta - P0 kappa dTheta/dx.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
State = tuple[float, float]  # v and Theta

# Coefficients of Dormand & Prince (1980).
STAGES = (
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
ERRORS = (71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40)


@dataclass(frozen=True)
class RadiatingShock:
    """Shock of Mach number `mach`, with the default parameters of Lowrie & Edwards (2008).

    `density_power` is the exponent n of sigma rho^n and kappa rho^-n: 0 in the paper, 1 for
    constant opacities per mass. ValueError if the solution is continuous, or does not exist.
    """

    mach: float
    radiation: float = 1e-4  # P0
    gamma: float = 5.0 / 3.0
    sigma: float = 1e6
    kappa: float = 1.0
    density_power: float = 0.0

    # --- States far from the shock ---

    @cached_property
    def momentum_flux(self) -> float:
        """Return K_p."""
        return self.mach**2 + 1.0 / self.gamma + self.radiation / 3.0

    @cached_property
    def energy_flux(self) -> float:
        """Return K_e."""
        gas = self.mach * (0.5 * self.mach**2 + 1.0 / (self.gamma - 1.0))
        return gas + 4.0 / 3.0 * self.mach * self.radiation

    @cached_property
    def downstream(self) -> tuple[float, float]:
        """Return density and temperature far downstream, where Trad = T.

        Newton's method on fluxes of momentum and energy, from the shock of gas alone.
        """
        m, g, radiation = self.mach, self.gamma, self.radiation
        square = m**2
        v = m * ((g - 1.0) * square + 2.0) / ((g + 1.0) * square)
        temperature = (1.0 - g + 2.0 * g * square) * (2.0 + (g - 1.0) * square)
        temperature /= (g + 1.0) ** 2 * square
        y = np.array([v, temperature])
        for _ in range(100):
            v, t = y
            theta, slope = t**4, 4.0 * t**3
            residual = [
                m * v + m * t / (g * v) + radiation * theta / 3.0 - self.momentum_flux,
                m * (0.5 * v**2 + t / (g - 1.0))
                + 4.0 / 3.0 * v * radiation * theta
                - self.energy_flux,
            ]
            jacobian = [
                [m - m * t / (g * v**2), m / (g * v) + radiation * slope / 3.0],
                [
                    m * v + 4.0 / 3.0 * radiation * theta,
                    m / (g - 1.0) + 4.0 / 3.0 * v * radiation * slope,
                ],
            ]
            step = np.linalg.solve(jacobian, residual)
            y = y - step * min(1.0, 0.3 / max(np.abs(step / y).max(), 1e-300))
            if np.abs(step / y).max() < 1e-15:
                break
        return float(m / y[0]), float(y[1])

    # --- The ordinary differential equations ---

    def temperature(self, v: float, theta: float) -> float:
        """Return T from the flux of momentum."""
        pressure = self.momentum_flux - self.radiation * theta / 3.0 - self.mach * v
        return self.gamma * v * pressure / self.mach

    def slopes(self, v: float, theta: float) -> State:
        """Return dv/dx and dTheta/dx; also of complex arguments."""
        m, g, radiation = self.mach, self.gamma, self.radiation
        t = self.temperature(v, theta)
        opaque = (m / v) ** self.density_power
        flux = m * (0.5 * v * v + t / (g - 1.0)) + 4.0 / 3.0 * v * radiation * theta
        dtheta = (flux - self.energy_flux) / (radiation * self.kappa) * opaque
        heating = radiation * self.sigma * opaque * (theta - t**4)
        force = -radiation / 3.0 * dtheta - (g - 1.0) * heating / v
        return force / (m * (1.0 - t / (v * v))), dtheta

    def mach_number(self, v: float, theta: float) -> float:
        """Return the Mach number of the gas."""
        return v / max(self.temperature(v, theta), 1e-300) ** 0.5

    def leaving(self, v: float, theta: float, sign: float) -> tuple[State, float]:
        """Return the direction in which solutions leave a state at rest, and its rate.

        `sign` is that of the eigenvalue: 1 upstream, where x increases, -1 downstream.
        """
        step = 1e-30
        columns = [self.slopes(v + 1j * step, theta), self.slopes(v, theta + 1j * step)]
        jacobian = np.array(columns).imag.T / step
        values, vectors = np.linalg.eig(jacobian)
        if np.iscomplexobj(values) or np.sum(sign * values > 0.0) != 1:
            raise ValueError(f"state v = {v}, Theta = {theta} is not a saddle point")
        n = int(np.argmax(sign * values))
        direction = vectors[:, n] / vectors[1, n]
        return (float(direction[0]), float(direction[1])), float(values[n])

    def _branch(self, v: float, theta: float, sign: float) -> Array:
        """Return x, v, Theta, dv/dx, dTheta/dx from a state far away to where the gas is sonic."""
        direction, rate = self.leaving(v, theta, sign)
        span = self.downstream[1] ** 4 - 1.0
        start = sign * 1e-8 * min(theta, span, v / abs(direction[0]))
        begin = (v + start * direction[0], theta + start)

        def is_inside(state: State) -> bool:
            supersonic = sign * (self.mach_number(*state) - 1.0) > 1e-4
            return supersonic and 0.0 < state[1] < 2.0 * (span + 1.0)

        return integrate(self.slopes, begin, 1e-2 / rate, is_inside, (self.mach, span))

    @cached_property
    def _joined(self) -> tuple[Array, Array]:
        """Return both branches up to the shock, which is at x = 0."""
        upstream = self._branch(self.mach, 1.0, 1.0)
        density, t = self.downstream
        downstream = self._branch(self.mach / density, t**4, -1.0)[:, ::-1]
        if np.any(np.diff(upstream[2]) <= 0.0) or np.any(np.diff(downstream[2]) <= 0.0):
            raise ValueError("the radiation energy does not increase through the shock")

        def mismatch(theta: float) -> float:
            ahead = at_theta(upstream, theta)[1]
            return self.behind(ahead, theta) - at_theta(downstream, theta)[1]

        low = max(upstream[2, 0], downstream[2, 0])
        high = min(upstream[2, -1], downstream[2, -1])
        if low >= high or mismatch(low) * mismatch(high) > 0.0:
            raise ValueError(f"no shock of the gas in the solution for Mach number {self.mach}")
        rising = mismatch(high) > 0.0
        for _ in range(100):
            theta = 0.5 * (low + high)
            if (mismatch(theta) > 0.0) == rising:
                high = theta
            else:
                low = theta
        front, back = (
            [*row, *self.slopes(*row[1:])]
            for row in (at_theta(upstream, low), at_theta(downstream, low))
        )
        before = np.column_stack([upstream[:, upstream[2] < low], front])
        after = np.column_stack([back, downstream[:, downstream[2] > low]])
        before[0] -= before[0, -1]
        after[0] -= after[0, 0]
        return before, after

    def behind(self, v: float, theta: float) -> float:
        """Return the velocity behind a shock of the gas, for that ahead of it."""
        square = self.mach_number(v, theta) ** 2
        return v * ((self.gamma - 1.0) * square + 2.0) / ((self.gamma + 1.0) * square)

    # --- Profiles ---

    def extinctions(self, light_speed: float) -> tuple[float, float]:
        """Return k_P and k_F per unit length upstream, for the speed of light over a0."""
        return self.sigma / light_speed, light_speed / (3.0 * self.kappa)

    def at(self, x: Array) -> dict[str, Array]:
        """Return density, velocity, temperature and Trad at `x`, of the frame of the shock.

        Gas flows along +x, and its shock is at x = 0. Also `energy_flux`: -kappa P0 dTheta/dx, the
        flux of radiation in the frame of the gas over rho a0^3 upstream, from the conservation of
        energy. In the frame of the shock,
        (4/3) v P0 Theta is added. Arrays have the shape of `x`.
        """
        x = np.asarray(x, float)
        before, after = self._joined
        v, theta = np.where(x < 0.0, hermite(before, x), hermite(after, x))
        temperature = self.temperature(v, theta)
        density = self.mach / v
        return {
            "density": density,
            "velocity": v,
            "temperature": temperature,
            "radiation_temperature": theta**0.25,
            "energy_flux": self.energy_flux
            - self.mach * (0.5 * v**2 + temperature / (self.gamma - 1.0))
            - 4.0 / 3.0 * v * self.radiation * theta,
        }

    @property
    def extent(self) -> tuple[float, float]:
        """Return the range of x where Theta differs from its limits by more than 1e-6 of them."""
        before, after = self._joined
        last = after[2, -1]
        start = before[0, np.searchsorted(before[2], 1.0 + 1e-6)]
        end = after[0, min(np.searchsorted(after[2], last * (1.0 - 1e-6)), after.shape[1] - 1)]
        return float(start), float(end)


def integrate(
    slopes: Callable[[float, float], State],
    state: State,
    step: float,
    is_inside: Callable[[State], bool],
    scale: State,
    tolerance: float = 1e-11,
) -> Array:
    """Return rows x, y_1, y_2, dy_1/dx, dy_2/dx of an autonomous system, until it is not inside.

    Dormand & Prince (1980), with steps in which y changes by at most 1/500 of its scale.
    """
    x = 0.0
    rows = [(x, *state, *slopes(*state))]
    while len(rows) < 200_000 and abs(step) > 1e-15 * (1.0 + abs(x)):
        k = [rows[-1][3:]]
        trial = state
        for weights in STAGES:
            trial = _moved(state, step, weights, k)
            if not is_inside(trial):
                break
            k.append(slopes(*trial))
        if len(k) < len(STAGES) + 1:
            step *= 0.25
            continue
        errors = _moved((0.0, 0.0), step, ERRORS, k)
        error = max(abs(e) / s for e, s in zip(errors, scale, strict=True))
        change = max(abs(b - a) / s for a, b, s in zip(state, trial, scale, strict=True))
        if error > tolerance or change > 0.004:
            step *= max(0.2, min(0.9 * (tolerance / max(error, 1e-300)) ** 0.2, 0.0025 / change))
            continue
        x, state = x + step, trial
        rows.append((x, *state, *k[-1]))
        growth = min(4.0, 0.9 * (tolerance / max(error, 1e-300)) ** 0.2)
        step *= min(growth, 0.002 / max(change, 1e-300))
    return np.array(rows).T


def _moved(state: State, step: float, weights: tuple[float, ...], k: list[State]) -> State:
    """Return the state moved by a sum of slopes."""
    first = sum(w * slope[0] for w, slope in zip(weights, k, strict=True))
    second = sum(w * slope[1] for w, slope in zip(weights, k, strict=True))
    return state[0] + step * first, state[1] + step * second


def hermite(rows: Array, x: Array) -> Array:
    """Return y_1 and y_2 at `x`, by cubic interpolation, constant beyond the ends."""
    x = np.clip(x, rows[0, 0], rows[0, -1])
    n = np.clip(np.searchsorted(rows[0], x) - 1, 0, rows.shape[1] - 2)
    h = rows[0, n + 1] - rows[0, n]
    s = (x - rows[0, n]) / h
    result = []
    for y in (1, 2):
        a, b, da, db = rows[y, n], rows[y, n + 1], h * rows[y + 2, n], h * rows[y + 2, n + 1]
        c2, c3 = 3.0 * (b - a) - 2.0 * da - db, 2.0 * (a - b) + da + db
        result.append(a + s * (da + s * (c2 + s * c3)))
    return np.stack(result)


def at_theta(rows: Array, theta: float) -> Array:
    """Return x, v and Theta of a branch at a value of Theta, which increases along it."""
    n = int(np.clip(np.searchsorted(rows[2], theta) - 1, 0, rows.shape[1] - 2))
    low, high = rows[0, n], rows[0, n + 1]
    for _ in range(60):
        x = 0.5 * (low + high)
        if hermite(rows, np.array([x]))[1, 0] < theta:
            low = x
        else:
            high = x
    return np.array([low, *hermite(rows, np.array([low]))[:, 0]])

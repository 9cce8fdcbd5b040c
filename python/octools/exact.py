"""Exact solutions: blasts, shock tubes, implosions, and a ball that gravity holds together."""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from octools.errors import OctoolsError
from octools.snapshot import Array

State = tuple[Array, Array, Array]


@dataclass(frozen=True)
class Sedov:
    """Spherical point explosion in cold uniform gas (Sedov 1959).

    Attributes
    ----------
    energy
        Energy of the whole blast, code units.
    density
        Density of the undisturbed gas.
    gamma
        Ratio of specific heats.
    """

    energy: float
    density: float
    gamma: float

    @cached_property
    def alpha(self) -> float:
        """The constant of ``energy = alpha * density * radius**5 / time**2``."""
        x, u, g, p = _sedov_profile(self.gamma)
        energy = x**2 * (0.5 * g * u**2 + p / (self.gamma - 1))
        centre = energy[0] * x[0] / 3  # the pressure is constant below the innermost point
        return 16 * np.pi / 25 * float(np.trapezoid(energy * x, np.log(x)) + centre)

    def radius(self, time: float) -> float:
        """Radius of the shock at a time."""
        return (self.energy * time**2 / (self.alpha * self.density)) ** 0.2

    def speed(self, time: float) -> float:
        """Speed of the shock at a time."""
        return 0.4 * self.radius(time) / time

    def at(self, r: Array, time: float) -> State:
        """Return density, radial velocity and pressure at radii, each of the shape of `r`."""
        x, u, g, p = _sedov_profile(self.gamma)
        radius, speed = self.radius(time), self.speed(time)
        scaled = np.maximum(np.abs(r) / radius, 1e-300)
        inside = scaled <= 1
        # Below the innermost point the solution is a power of the radius.
        centre = np.minimum(scaled / x[0], 1.0)
        log = np.log(np.maximum(scaled, x[0]))
        density = np.exp(np.interp(log, np.log(x), np.log(g)))
        density *= centre ** (3 / (self.gamma - 1))
        velocity = scaled * np.interp(log, np.log(x), u / x)
        pressure = np.interp(log, np.log(x), p)
        return (
            self.density * np.where(inside, density, 1.0),
            speed * np.where(inside, velocity, 0.0),
            self.density * speed**2 * np.where(inside, pressure, 0.0),
        )


@lru_cache
def _sedov_profile(gamma: float) -> tuple[Array, Array, Array, Array]:
    """Integrate the similarity equations from the strong shock inwards.

    With u = R' U(x), rho = rho0 G(x), p = rho0 R'^2 P(x), x = r/R and R ~ t^(2/5), the Euler
    equations become, with w = U - x,

        w G' + G U' + 2 G U / x = 0,
        w U' - 3/2 U + P' / G = 0,
        w (P'/P - gamma G'/G) - 3 = 0.

    They are integrated in ln x for U/x, ln G and ln(P/x^2), which makes them autonomous, with
    steps that are shortest behind the shock, where the profile bends most. Towards the centre the
    solution tends to U/x = 1/gamma, P = const, but an inward integration leaves that branch as
    x^-3, so it ends at x = 0.03.

    Returns
    -------
    x, U, G, P
        Each of shape (points,), in ascending order of x.
    """
    g = gamma

    def slope(y: Array) -> Array:
        v, w, c2 = y[0], y[0] - 1, np.exp(y[2] - y[1])
        du = (1.5 * v * w - c2 * (3 - 2 * g * v)) / (w * w - g * c2)
        dg = -(du + 2 * v) / w
        return np.array([du - v, dg, 3 / w + g * dg - 2])

    logs = np.log(0.03) * np.linspace(0.0, 1.0, 4001) ** 2
    y = np.array([2 / (g + 1), np.log((g + 1) / (g - 1)), np.log(2 / (g + 1))])
    states = [y]
    for h in np.diff(logs):
        k1 = slope(y)
        k2 = slope(y + 0.5 * h * k1)
        k3 = slope(y + 0.5 * h * k2)
        k4 = slope(y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        states.append(y)
    v, log_g, log_q = np.array(states[::-1]).T
    x = np.exp(logs[::-1])
    return x, v * x, np.exp(log_g), np.exp(log_q) * x**2


@dataclass(frozen=True)
class Riemann:
    """Riemann problem of an ideal gas (Toro 2009, chapter 4).

    Attributes
    ----------
    left, right
        Density, velocity and pressure on either side.
    gamma
        Ratio of specific heats.
    position
        Position of the discontinuity at time 0.
    """

    left: tuple[float, float, float]
    right: tuple[float, float, float]
    gamma: float
    position: float

    @cached_property
    def star(self) -> tuple[float, float]:
        """Pressure and velocity between the outer waves (Toro 4.5, 4.9), by Newton's method."""
        (_, ul, pl), (_, ur, pr) = self.left, self.right
        al, ar = self._sound(self.left), self._sound(self.right)
        if 2 / (self.gamma - 1) * (al + ar) <= ur - ul:
            raise OctoolsError("the two states of the Riemann problem produce a vacuum")
        # The two-rarefaction pressure (Toro 4.46) is a positive start from which Newton converges.
        z = (self.gamma - 1) / (2 * self.gamma)
        speed = al + ar - 0.5 * (self.gamma - 1) * (ur - ul)
        p = (speed / (al / pl**z + ar / pr**z)) ** (1 / z)
        for _ in range(100):
            fl, dl = self._jump(p, self.left)
            fr, dr = self._jump(p, self.right)
            step = (fl + fr + ur - ul) / (dl + dr)
            p_new = max(p - step, 1e-3 * p)
            done = abs(p_new - p) <= 1e-14 * p
            p = p_new
            if done:
                break
        fl, fr = self._jump(p, self.left)[0], self._jump(p, self.right)[0]
        return p, 0.5 * (ul + ur + fr - fl)

    def at(self, x: Array, time: float) -> State:
        """Return density, velocity and pressure along the axis, each of the shape of `x`."""
        speed = (np.asarray(x, dtype=float) - self.position) / max(time, 1e-300)
        _, u = self.star
        left = self._side(speed, self.left, 1.0)
        right = self._side(-speed, self.right, -1.0)
        rho, vel, p = (np.where(speed <= u, a, b) for a, b in zip(left, right, strict=True))
        return rho, vel, p

    def _sound(self, state: tuple[float, float, float]) -> float:
        return float(np.sqrt(self.gamma * state[2] / state[0]))

    def _jump(self, p: float, state: tuple[float, float, float]) -> tuple[float, float]:
        """Velocity change across a wave to the pressure `p`, and its slope (Toro 4.6, 4.37)."""
        rho, _, pk = state
        g = self.gamma
        if p > pk:
            a, b = 2 / ((g + 1) * rho), (g - 1) / (g + 1) * pk
            root = np.sqrt(a / (p + b))
            return float((p - pk) * root), float(root * (1 - 0.5 * (p - pk) / (p + b)))
        sound = self._sound(state)
        ratio = (p / pk) ** ((g - 1) / (2 * g))
        return 2 * sound / (g - 1) * (ratio - 1), ratio / (rho * sound) * pk / p

    def _side(self, speed: Array, state: tuple[float, float, float], sign: float) -> State:
        """Solve on one side of the contact, mirrored so that the wave runs to the left."""
        rho, u, p = state[0], sign * state[1], state[2]
        g, sound = self.gamma, self._sound(state)
        p_star, u_star = self.star[0], sign * self.star[1]
        k = (g - 1) / (g + 1)
        if p_star > p:
            ratio = p_star / p
            front = u - sound * np.sqrt((g + 1) / (2 * g) * ratio + (g - 1) / (2 * g))
            star = (rho * (ratio + k) / (k * ratio + 1), u_star, p_star)
            inner = speed > front
            values = [np.where(inner, s, o) for s, o in zip(star, (rho, u, p), strict=True)]
        else:
            head = u - sound
            tail = u_star - sound * (p_star / p) ** ((g - 1) / (2 * g))
            # Inside the fan (Toro 4.56), and its two ends.
            s = np.clip(speed, head, tail)
            ratio_s = 2 / (g + 1) + k / sound * (u - s)
            values = [
                rho * ratio_s ** (2 / (g - 1)),
                2 / (g + 1) * (sound + 0.5 * (g - 1) * u + s),
                p * ratio_s ** (2 * g / (g - 1)),
            ]
        return values[0], sign * values[1], values[2]


@dataclass(frozen=True)
class Noh:
    """Spherical implosion of cold uniform gas (Noh 1987).

    Attributes
    ----------
    gamma
        Ratio of specific heats.
    density
        Density at time 0.
    speed
        Speed towards the centre.
    """

    gamma: float
    density: float = 1.0
    speed: float = 1.0

    def radius(self, time: float) -> float:
        """Radius of the shock, which moves outwards at a constant speed."""
        return 0.5 * (self.gamma - 1) * self.speed * time

    def at(self, r: Array, time: float) -> State:
        """Return density, radial velocity and pressure at radii, each of the shape of `r`."""
        r = np.asarray(r, dtype=float)
        inside = r < self.radius(time)
        inner = self.density * ((self.gamma + 1) / (self.gamma - 1)) ** 3
        outer = self.density * (1 + self.speed * time / np.maximum(r, 1e-300)) ** 2
        return (
            np.where(inside, inner, outer),
            np.where(inside, 0.0, -self.speed),
            np.where(inside, 0.5 * (self.gamma - 1) * inner * self.speed**2, 0.0),
        )


@dataclass(frozen=True)
class IsothermalBall:
    """Isothermal sphere in hydrostatic equilibrium (Ebert 1955, Bonnor 1956).

    Attributes
    ----------
    central_density
        Density in the centre.
    radius
        Radius of the sphere.
    extent
        The radius in units of s / sqrt(4 pi G central_density), s^2 = pressure / density.
    contrast
        Density at the surface over that of the gas around.
    constant
        Newton's G.
    """

    central_density: float
    radius: float
    extent: float
    contrast: float
    constant: float = 1.0

    @cached_property
    def _potential(self) -> tuple[Array, Array]:
        """Return xi and psi of psi'' + 2 psi' / xi = exp(-psi), by Runge's and Kutta's method."""

        def slope(xi: float, y: Array) -> Array:
            return np.array([y[1], np.exp(-y[0]) - 2 * y[1] / xi])

        xi, h = np.linspace(1e-3, self.extent, 2001, retstep=True)
        y = np.array([xi[0] ** 2 / 6, xi[0] / 3])
        psi = [y[0]]
        for x in xi[:-1]:
            k1 = slope(x, y)
            k2 = slope(x + h / 2, y + h / 2 * k1)
            k3 = slope(x + h / 2, y + h / 2 * k2)
            y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + slope(x + h, y + h * k3))
            psi.append(y[0])
        return xi, np.array(psi)

    def at(self, r: Array) -> State:
        """Return density, radial velocity and pressure at radii, each of the shape of `r`."""
        xi, psi = self._potential
        scale = self.radius / self.extent
        inside = self.central_density * np.exp(-np.interp(r / scale, xi, psi))
        density = np.where(r < self.radius, inside, inside / self.contrast)
        speed2 = 4 * np.pi * self.constant * self.central_density * scale**2
        return density, np.zeros_like(density), speed2 * inside


@dataclass(frozen=True)
class Bondi:
    """Spherical transonic accretion onto a point mass M (Bondi 1952).

    Attributes
    ----------
    gamma
        Ratio of specific heats, above 1 and below 5/3.
    density, sound_speed
        Density and sound speed at infinity.
    radius
        Bondi radius, G M / sound_speed^2.
    """

    gamma: float
    density: float
    radius: float
    sound_speed: float = 1.0

    @property
    def eigenvalue(self) -> float:
        """Accretion rate in units of ``4 pi radius**2 density sound_speed`` (equation 18)."""
        g = self.gamma
        return 0.25 * (2 / (5 - 3 * g)) ** ((5 - 3 * g) / (2 * (g - 1)))

    @property
    def inflow(self) -> float:
        """Accretion rate in code mass per code time."""
        return 4 * np.pi * self.eigenvalue * self.radius**2 * self.density * self.sound_speed

    def at(self, r: Array) -> State:
        """Return density, radial velocity and pressure at radii, each of the shape of `r`.

        The density z solves u^2 / 2 + (z^(gamma - 1) - 1) / (gamma - 1) = 1 / x with
        u = eigenvalue / (x^2 z): the larger root outside the sonic point, the smaller one inside.
        """
        g = self.gamma
        x = np.maximum(np.asarray(r, dtype=float), 1e-6 * self.radius) / self.radius
        flow = self.eigenvalue / x**2
        turn = np.log(flow ** (2 / (g + 1)))  # where the left-hand side is least
        outside = x > (5 - 3 * g) / 4
        slowest = np.log((1 + (g - 1) / x) ** (1 / (g - 1)))
        fastest = np.log(flow / np.sqrt(2 / x + 2 / (g - 1)))
        low, high = np.where(outside, turn, fastest), np.where(outside, slowest, turn)
        for _ in range(60):
            middle = 0.5 * (low + high)
            z = np.exp(middle)
            too_much = 0.5 * (flow / z) ** 2 + (z ** (g - 1) - 1) / (g - 1) > 1 / x
            down = too_much == outside
            low, high = np.where(down, low, middle), np.where(down, middle, high)
        z = np.exp(0.5 * (low + high))
        pressure = self.density * self.sound_speed**2 / g * z**g
        return self.density * z, -self.sound_speed * flow / z, pressure

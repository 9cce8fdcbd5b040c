"""Exact solutions of grey radiation in gas at rest, with which runs are compared.

The gas has the internal energy density h a T^4 (Su & Olson 1996), by which its exchange with the
radiation is linear. With the emission B = a T^4, a source Q and the extinction s = s_a + s_s:

    d_t E + d_x F = c s_a (B - E) + Q
    h d_t B       = c s_a (E - B)
    d_t F + c^2 d_x P = -c s F

Su & Olson (1996), JQSRT 56, 337; Su & Olson (1997), Ann. Nucl. Energy 24, 1035.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

MARSHAK = 2.0 / np.sqrt(3.0)  # coefficient of u_x at a boundary
MARK = 1.0
DIFFUSION = 0  # order of moments in which the flux is -c / (3 s) dE/dx


@dataclass(frozen=True)
class Medium:
    """Gas at rest: extinction coefficients per length, heat capacity h, and the speed of light.

    The parameter epsilon of Su & Olson is 1 / h, their time tau is c s t / h.
    """

    absorption: float = 1.0
    scattering: float = 0.0
    heat_ratio: float = 1.0
    light_speed: float = 1.0

    @property
    def extinction(self) -> float:
        """Return the inverse of the mean free path."""
        return self.absorption + self.scattering

    @property
    def diffusivity(self) -> float:
        """Return c / (3 s)."""
        return self.light_speed / (3.0 * self.extinction)


# --- Non-equilibrium Marshak wave ---------------------------------------------------------------


def marshak_wave(
    x: Array, tau: float, epsilon: float, *, boundary: float = MARSHAK, points: int = 32
) -> tuple[Array, Array]:
    """Return u and v of the non-equilibrium Marshak wave (Su & Olson 1996).

        epsilon u_tau = u_xx + v - u,  v_tau = u - v,  u - b u_x = 1 at x = 0

    with u = v = 0 at tau = 0, and b = `boundary` = 2 / sqrt(3) in the paper. In physical units
    x = sqrt(3) s z, tau = c s t / h, epsilon = 1 / h, u = c E / (4 F_in) and v = c B / (4 F_in),
    where F_in is the incident flux. The inverse Laplace transform is integrated along the parabola
    of Weideman & Trefethen (2007, Math. Comp. 76, 1341), with an error below 1e-10; the integrals
    of the paper (eqs. 36 and 42) follow the branch cuts.
    """
    x = np.atleast_1d(np.asarray(x, float))
    s, weight = _parabola(np.full_like(x, tau), points)
    beta = np.sqrt(s * (epsilon + 1.0 / (1.0 + s)))
    u = np.exp(s * tau - beta * x[:, None]) / (s * (1.0 + boundary * beta))
    return (weight * u).sum(axis=1).real, (weight * u / (1.0 + s)).sum(axis=1).real


def marshak_wave_p1(
    x: Array, tau: float, epsilon: float, *, boundary: float = MARSHAK, points: int = 64
) -> tuple[Array, Array]:
    """Return u and v of the Marshak wave with the P1 equation of the flux instead of Fick's law.

    The scales are those of `marshak_wave`. The boundary condition is c E / 4 + F / 2 = F_in, too,
    or E + sqrt(3) b F / c = 4 F_in / c. With b = 1, nothing but isotropic radiation of the energy
    density 4 F_in / c enters along the characteristic of P1 (Mark), as in a Riemann solver with a
    ghost cell of that energy and without flux.
    The front moves at c / sqrt(3), x = tau / epsilon; u is 0 beyond it.
    """
    x = np.atleast_1d(np.asarray(x, float))
    u, v = np.zeros_like(x), np.zeros_like(x)
    lit = epsilon * x < tau * (1.0 - 1e-9)
    behind = x[lit]
    s, weight = _parabola(tau - epsilon * behind, points)
    slow = 1.0 + epsilon * s
    # Each root has its cut on the negative real axis, unlike the root of the product.
    beta = np.sqrt(s) * np.sqrt(slow) * np.sqrt(epsilon + 1.0 / (1.0 + s))
    wave = np.exp(s * tau - beta * behind[:, None])
    wave = wave / (s * (1.0 + boundary * beta / slow))
    u[lit] = (weight * wave).sum(axis=1).real
    v[lit] = (weight * wave / (1.0 + s)).sum(axis=1).real
    return u, v


def _parabola(time: Array, points: int) -> tuple[NDArray, NDArray]:
    """Return points of the contour and their weights ds / (2 pi i), one row per time."""
    angle = np.pi * (2.0 * np.arange(points) + 1.0 - points) / points
    scale = points / time[:, None]
    s = scale * (0.1309 - 0.1194 * angle**2 + 0.25j * angle)
    slope = scale * (-0.2388 * angle + 0.25j)
    return s, slope / (1j * points)


# u and v of Su & Olson (1996), tables 1-4, with errors of up to 1.5e-4 in the rows of small tau.
MARSHAK_X = np.array([0.0, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0])
MARSHAK_U = {  # by (epsilon, tau)
    (0.1, 0.1): [0.43876, 0.39240, 0.33075, 0.24629, 0.18087, 0.13089, 0.01274, 0.00005, 0, 0],
    (0.1, 1.0): [
        *(0.55182, 0.51412, 0.46198, 0.38541, 0.32046, 0.26564, 0.08147, 0.00961, 0.00097, 0.00009)
    ],
    (0.1, 10.0): [
        *(0.79420, 0.77644, 0.75004, 0.70679, 0.66458, 0.62353, 0.40703, 0.17142, 0.06123, 0.01909)
    ],
    (1.0, 1.0): [0.46599, 0.42133, 0.36020, 0.27323, 0.20332, 0.14837, 0.01441, 0.00005, 0, 0],
    (1.0, 10.0): [
        *(0.73611, 0.71338, 0.67978, 0.62523, 0.57274, 0.52255, 0.27705, 0.07075, 0.01271, 0.00167)
    ],
}
MARSHAK_V = {
    (0.1, 1.0): [
        *(0.32030, 0.29429, 0.25915, 0.20925, 0.16862, 0.13563, 0.03539, 0.00334, 0.00028, 0.00003)
    ],
    (1.0, 10.0): [
        *(0.72328, 0.69946, 0.66432, 0.60749, 0.55308, 0.50134, 0.25413, 0.05936, 0.00968, 0.00115)
    ],
}

# --- Spherical harmonics in a periodic domain ----------------------------------------------------


def moment_matrices(k: Array, medium: Medium, order: int) -> Array:
    """Return matrices A of d_t y = A y for modes exp(i k x), shape (len(k), n, n).

    y = (E, B) in diffusion, else y = (E, B, chi_1, ..., chi_order), where (-i)^l chi_l is the
    moment of the intensity with the Legendre polynomial of degree l; F / c = -i chi_1. Order 1 is
    P1; high orders converge to the equation of transfer.
    """
    c, h = medium.light_speed, medium.heat_ratio
    exchange = c * medium.absorption
    size = 2 + order
    matrices = np.zeros((len(k), size, size))
    matrices[:, 0, 0], matrices[:, 0, 1] = -exchange, exchange
    if exchange > 0.0:
        matrices[:, 1, 0], matrices[:, 1, 1] = exchange / h, -exchange / h
    if order == DIFFUSION:
        matrices[:, 0, 0] -= medium.diffusivity * k**2
        return matrices
    row = [0, *range(2, size)]  # row of the moment of degree l
    for degree, here in enumerate(row):
        if degree > 0:
            matrices[:, here, here] = -c * medium.extinction
            matrices[:, here, row[degree - 1]] = c * k * degree / (2 * degree + 1)
        if degree < order:
            matrices[:, here, row[degree + 1]] = -c * k * (degree + 1) / (2 * degree + 1)
    return matrices


def add_motion(matrices: Array, k: Array, medium: Medium, velocity: float) -> NDArray:
    """Return the matrices of P1 for gas that moves at a constant velocity v along x.

    To order v/c in the frame at rest (He, Wibking & Krumholz 2024), with G = s (F - (4/3) v E) / c:

        d_t E + d_x F = c s_a (B - E + 2 v F / c^2) - v G,  d_t F + (c^2 / 3) d_x E = -c^2 G
        h (d_t B + v d_x B) = c s_a (E - 2 v F / c^2 - B)
    """
    if matrices.shape[1] != 3:
        raise ValueError("velocity requires order = 1")
    c, beta = medium.light_speed, velocity / medium.light_speed
    s, exchange = medium.extinction, 2.0 * beta * medium.light_speed * medium.absorption
    moving = matrices.astype(complex)
    moving[:, 0, 0] += 4.0 / 3.0 * beta**2 * c * s
    moving[:, 0, 2] += -1j * (exchange - beta * c * s)  # F / c = -i chi_1
    moving[:, 1, 1] += -1j * k * velocity
    moving[:, 1, 2] += 1j * exchange / medium.heat_ratio
    moving[:, 2, 0] += 4.0j / 3.0 * beta * c * s
    return moving


def exponentials(matrices: Array) -> Array:
    """Return exp(A) of a stack of matrices, by scaling and squaring of the Taylor series.

    Rounding errors are about 1e-16 times the largest row sum of |A|.
    """
    norm = float(np.abs(matrices).sum(axis=2).max(initial=0.0))
    squarings = max(0, int(np.ceil(np.log2(max(norm, 1e-300)))) + 1)
    scaled = matrices / 2.0**squarings
    result = np.broadcast_to(np.eye(matrices.shape[1]), matrices.shape).copy()
    term = result
    for n in range(1, 17):
        term = term @ scaled / n
        result = result + term
    for _ in range(squarings):
        result = result @ result
    return result


def _forced(matrices: Array, time: float) -> tuple[Array, Array]:
    """Return exp(A t), and the response of y to a unit source of E that lasts from 0 to t."""
    modes, size, _ = matrices.shape
    larger = np.zeros((modes, size + 1, size + 1))
    larger[:, :size, :size] = matrices
    larger[:, 0, size] = 1.0
    result = exponentials(larger * time)
    return result[:, :size, :size], result[:, :size, size]


def evolve_periodic(
    energy: Array,
    flux: Array,
    emission: Array,
    length: float,
    time: float,
    medium: Medium,
    order: int = 1,
    velocity: float = 0.0,
) -> tuple[Array, Array, Array]:
    """Return E, F and B on the grid of the arguments, in a periodic domain, after `time`.

    Exact for fields whose Fourier series the grid resolves. Moments of degrees above 1 are 0 at the
    beginning. F is -c / (3 s) dE/dx in diffusion, where the argument `flux` is not used. `velocity`
    is that of the gas, in P1 alone: `add_motion`.
    """
    k = 2.0 * np.pi * np.fft.rfftfreq(len(energy), length / len(energy))
    c = medium.light_speed
    y = np.zeros((len(k), 2 + order), complex)
    y[:, 0], y[:, 1] = np.fft.rfft(energy), np.fft.rfft(emission)
    if order != DIFFUSION:
        y[:, 2] = 1j * np.fft.rfft(flux) / c
    matrices = moment_matrices(k, medium, order)
    if velocity != 0.0:
        matrices = add_motion(matrices, k, medium, velocity)
    y = (exponentials(matrices * time) @ y[:, :, None])[:, :, 0]
    f = -1j * medium.diffusivity * k * y[:, 0] if order == DIFFUSION else -1j * c * y[:, 2]
    e, f, b = (np.fft.irfft(mode, len(energy)) for mode in (y[:, 0], f, y[:, 1]))
    return e, f, b


def su_olson_source(
    x: Array,
    tau: float,
    order: int = DIFFUSION,
    *,
    medium: Medium | None = None,
    half_width: float = 0.5,
    duration: float = 10.0,
    modes: int = 1024,
    half_length: float = 0.0,
) -> tuple[Array, Array]:
    """Return E and B of the source problem of Su & Olson (1997) at `tau`.

    A source Q = 1 acts where |x| < half_width until `duration`, in cold gas. With the default
    medium (h = 1, c = 1, s = 1) E and B are u and v of the paper. `order` is that of
    `moment_matrices`. The series of cosines is periodic in 2 `half_length`; by default its images
    do not reach `x`.
    """
    medium = medium or Medium()
    size = half_length or _half_length(x, tau, order, medium, half_width)
    k = np.pi * np.arange(modes) / size
    source = np.sinc(k * half_width / np.pi) * 2.0 * half_width / size
    source[0] *= 0.5
    matrices = moment_matrices(k, medium, order)
    y = _forced(matrices, min(tau, duration))[1]
    if tau > duration:
        y = (exponentials(matrices * (tau - duration)) @ y[:, :, None])[:, :, 0]
    waves = np.cos(np.outer(np.atleast_1d(x), k))
    return waves @ (source * y[:, 0]), waves @ (source * y[:, 1])


def _half_length(x: Array, tau: float, order: int, medium: Medium, half_width: float) -> float:
    """Return the half-length of a periodic domain whose images do not reach the points `x`."""
    reach = medium.light_speed * tau
    if order == DIFFUSION:
        reach = 9.0 * float(np.sqrt(2.0 * medium.diffusivity * tau))
    outside = float(np.abs(x).max())
    return max(0.51 * (reach + half_width + outside), 1.05 * outside, 2.0 * half_width)


def hot_slab(
    x: Array,
    tau: float,
    order: int = DIFFUSION,
    *,
    medium: Medium | None = None,
    half_width: float = 0.5,
    modes: int = 1024,
    half_length: float = 0.0,
    emission: float = 0.0,
) -> tuple[Array, Array]:
    """Return E and B if E = 1 and B = `emission` where |x| < half_width at the beginning, else 0.

    The same equations as `su_olson_source`, from initial conditions alone.
    """
    medium = medium or Medium()
    size = half_length or _half_length(x, tau, order, medium, half_width)
    k = np.pi * np.arange(modes) / size
    initial = np.sinc(k * half_width / np.pi) * 2.0 * half_width / size
    initial[0] *= 0.5
    y = exponentials(moment_matrices(k, medium, order) * tau)
    waves = np.cos(np.outer(np.atleast_1d(x), k))
    e, b = (initial * (y[:, n, 0] + emission * y[:, n, 1]) for n in (0, 1))
    return waves @ e, waves @ b


# Solutions of Su & Olson (1997) for h = 1 without scattering: transport tables 1 and 2.
SU_OLSON_X = np.array(
    [0.01, 0.1, 0.17783, 0.31623, 0.45, 0.5, 0.56234, 0.75, 1.0, 1.33352, 1.77828, 3.16228, 5.62341]
)
SU_OLSON_TRANSPORT_U = {
    0.1: [
        *(0.09531, 0.09531, 0.09532, 0.09529, 0.08823, 0.04765, 0.00375, 0.0, 0.0, 0.0, 0.0, 0.0),
        0.0,
    ],
    1.0: [
        *(0.64308, 0.63585, 0.61958, 0.56187, 0.44711, 0.35801, 0.25374, 0.11430, 0.03648, 0.00291),
        *(0.0, 0.0, 0.0),
    ],
    3.16228: [
        *(1.20052, 1.18869, 1.16190, 1.07175, 0.90951, 0.79902, 0.66678, 0.44675, 0.27540, 0.14531),
        *(0.05968, 0.00123, 0.0),
    ],
    10.0: [
        *(2.23575, 2.21944, 2.18344, 2.06448, 1.86072, 1.73178, 1.57496, 1.27398, 0.98782, 0.70822),
        *(0.45016, 0.09673, 0.00375),
    ],
}
SU_OLSON_TRANSPORT_V = {
    1.0: [
        *(0.27126, 0.26839, 0.26261, 0.23978, 0.18826, 0.14187, 0.08838, 0.03014, 0.00625, 0.00017),
        *(0.0, 0.0, 0.0),
    ],
    10.0: [
        *(2.11186, 2.09585, 2.06052, 1.94365, 1.74291, 1.61536, 1.46027, 1.16591, 0.88992, 0.62521),
        *(0.38688, 0.07642, 0.00253),
    ],
}
SU_OLSON_DIFFUSION_U = {
    1.0: [
        *(0.50359, 0.49716, 0.48302, 0.43743, 0.36656, 0.33271, 0.29029, 0.18879, 0.10150, 0.04060),
        *(0.01011, 0.00003, 0.0),
    ],
    10.0: [
        *(1.86585, 1.85424, 1.82889, 1.74866, 1.62824, 1.57237, 1.50024, 1.29758, 1.06011, 0.79696),
        *(0.52980, 0.12187, 0.00445),
    ],
}

# --- Pulses of radiation --------------------------------------------------------------------------


def gaussian_pulse(
    r2: Array,
    time: float,
    medium: Medium,
    width: float,
    *,
    dimensions: int = 1,
    amplitude: float = 1.0,
) -> Array:
    """Return E of a Gaussian pulse that diffuses in optically thick gas at rest.

    E = amplitude exp(-r^2 / (2 width^2)) at the beginning; `r2` is r^2, or |x - v t|^2 in gas that
    moves at v, which advects the energy in the frame of the gas to order v/c, in static and in
    dynamic diffusion (Mihalas & Mihalas 1984, sec. 97). With absorption, E = B, and the gas stores
    h E: diffusion is slower by 1 + h.
    """
    spread = variance(time, medium, width)
    return amplitude * (width**2 / spread) ** (0.5 * dimensions) * np.exp(-0.5 * r2 / spread)


def variance(time: float, medium: Medium, width: float) -> float:
    """Return the variance per direction of the Gaussian pulse at `time`."""
    stored = medium.heat_ratio if medium.absorption > 0.0 else 0.0
    return width**2 + 2.0 * medium.diffusivity * time / (1.0 + stored)


def gaussian_flux(
    distance: Array, energy: Array, time: float, medium: Medium, width: float, velocity: float = 0.0
) -> Array:
    """Return the component of F, in the frame at rest, along which `distance` and `velocity` are.

    F = -c / (3 s) dE/dx + (4/3) v E, where `distance` is x - v t from the centre of the pulse.
    """
    gradient = -distance / variance(time, medium, width) * energy
    return -medium.diffusivity * gradient + 4.0 / 3.0 * velocity * energy

"""What every example must give under every transformation: one table.

A number is the largest difference that is allowed, over the scale of the field; 0 means the same
bits. A text is the name of a reason in `REASONS` why a transformation does not apply.
"""

from dataclasses import dataclass, fields, replace

from projections import GROWING, ROUND_OFF

REASONS = {
    "box": "the cosmological box sets the code units",
    "no mass": "an incompressible flow has no unit of mass",
    "sides": "the domain has boundaries",
    "region": "the refined region would cross a periodic boundary",
    "one block": "the periodic axes have a length of one block",
    "random forces": "random acceleration depends on the axes of the domain",
    "random stars": "random numbers of star formation depend on cell and step",
    "black holes": "an initial file cannot contain black holes",
    "seeds": "a block seeds at most one black hole per step, in its densest cell",
    "resting": "an initial file cannot contain the fixed matter of the problem",
    "axis": "the frame rotates about z",
    "axis of braking": "angular momentum is removed about z",
    "forces": "forces between the mesh and moving matter have truncation errors",
    "sources": "sources change the energy",
    "truncation": "truncation errors of advection",
    "no particles": "at most one particle",
    "one size": "gravity.solver = fmm requires blocks of 8 cells; 24 cells allow no larger ones",
    "uniform": "the grid has no blocks",
    "process grid": "the order of sums in cyclic reduction depends on the process grid",
    "light": "the speed of light refers to the frame of the mesh",
}

# Why a bound is not 0, or larger than round-off.
WHY = {
    "power": "round-off of powers of dimensional numbers (equilibria, entropies)",
    "contrast": "gas that is 10^5 to 10^8 times less dense has the round-off of adjacent dense gas",
    "limiter": "the slope limiter switches at extrema between two equal cells",
    "solver": "the residual of the Poisson equation, with gravity.tolerance = 1e-12",
    "places": "the domain size is no power of two: round-off of cell positions",
    "events": "sums over the cells around an event are rounded in another order",
}
Entry = float | str | tuple[float, str]
BITS = 0.0


@dataclass(frozen=True)
class Expected:
    """What an example must give."""

    units: Entry = BITS  # of length, mass and time, at the same density
    mass: Entry = BITS  # the unit of mass alone
    mirror: Entry = ROUND_OFF
    permute: Entry = ROUND_OFF  # axes
    translate: Entry = BITS  # by whole blocks of the base grid
    boost: Entry = ROUND_OFF  # conserved totals
    blocks: Entry = BITS  # of 4 and 8 cells, or 8 and 16
    particles: Entry = "no particles"  # in the reverse order
    schedule: Entry = BITS  # of devices, on two threads
    ranks: Entry = BITS  # 1, 2 and 3


COLUMNS = tuple(field.name for field in fields(Expected))


def grown(example: str, why: str) -> tuple[float, str]:
    """Give the bound of an example in which round-off grows."""
    return GROWING[example], why


OPEN = Expected(translate="sides", boost="sides")
TUBE = Expected(translate="one block", boost="sides")
FLOW = Expected(mass="no mass", translate=ROUND_OFF, boost="truncation", blocks="uniform")


def box(example: str) -> Expected:
    """Give what a cosmological box of dark matter and gas must give."""
    bound = grown(example, "solver")
    return Expected(
        units="box",
        mass="box",
        mirror=bound,
        permute=bound,
        translate=bound,
        boost="forces",
        particles=BITS,
    )


def transfer(example: str) -> Expected:
    """Give what a binary on a rotating mesh with dual energy must give."""
    return replace(
        OPEN,
        units=grown(example, "power"),
        mass=grown(example, "power"),
        mirror=grown(example, "contrast"),
        permute="axis",
        blocks="one size",
    )


HOLES = Expected(
    mirror="black holes",
    permute="black holes",
    translate="black holes",
    boost="forces",
    particles="black holes",
)

GALAXIES = Expected(
    units="box",
    mass="box",
    mirror="random stars",
    permute="random stars",
    translate="random stars",
    boost="forces",
    blocks=(ROUND_OFF, "events"),
    particles="random stars",
)

EXPECTED: dict[str, Expected] = {
    "binary": replace(
        OPEN,
        units=grown("binary", "power"),
        mirror=grown("binary", "contrast"),
        permute=grown("binary", "contrast"),
        blocks="one size",
    ),
    "black_hole_binary": HOLES,
    "blob": Expected(),
    "bondi": HOLES,
    "boundary_layer": FLOW,
    "cavity": replace(FLOW, translate="sides"),
    "channel": FLOW,
    "contact_binary": replace(
        OPEN,
        units=grown("binary", "power"),
        mirror=grown("binary", "contrast"),
        permute="axis of braking",
        blocks="one size",
    ),
    "cooling_cell": Expected(translate="one block", boost="sources"),
    "cosmo256_small": replace(GALAXIES, blocks="seeds"),
    "cosmological_hii": replace(OPEN, mass=(ROUND_OFF, "power")),
    "cosmology": box("cosmology"),
    "couette": FLOW,
    "developing_channel": FLOW,
    "disc_galaxy": Expected(
        mass=(ROUND_OFF, "power"),
        mirror="resting",
        permute="resting",
        translate="sides",
        boost="sides",
        blocks=(ROUND_OFF, "places"),
        particles="resting",
    ),
    "double_mach": TUBE,
    "driven_turbulence": Expected(
        mirror="random forces",
        permute="random forces",
        translate="random forces",
        boost="random forces",
    ),
    "equilibrium_star": replace(OPEN, units=(ROUND_OFF, "power"), blocks="one size"),
    "evrard": OPEN,
    "galaxies": GALAXIES,
    "gresho": Expected(),
    "half_channel": FLOW,
    "heated_cavity": FLOW,
    "implosion": replace(TUBE, blocks=(ROUND_OFF, "places")),
    "isentropic_vortex": Expected(),
    "isothermal_ball": OPEN,
    "isotropic": FLOW,
    "jeans": Expected(boost="forces"),
    "kelvin_helmholtz": Expected(permute=grown("kelvin_helmholtz", "limiter")),
    "maclaurin": replace(
        OPEN, mirror=grown("maclaurin", "contrast"), permute=grown("maclaurin", "contrast")
    ),
    "marshak": TUBE,
    "mass_transfer": transfer("mass_transfer"),
    "mass_transfer_cluster": replace(transfer("mass_transfer_cluster"), mass=BITS),
    "merger": transfer("merger"),
    "minimal_channel": FLOW,
    "moving_star": replace(OPEN, blocks="one size"),
    "noh": OPEN,
    "pancake": box("pancake"),
    "paper_channel": replace(FLOW, ranks="process grid"),
    "plummer": replace(
        OPEN,
        mirror=grown("plummer", "solver"),
        permute=grown("plummer", "solver"),
        particles=BITS,
    ),
    "radiation_shock": TUBE,
    "radiative_pulse": Expected(boost="light"),
    "radiative_shock": TUBE,
    "rayleigh_benard": FLOW,
    "rayleigh_taylor": Expected(boost="sides"),
    "rotating_star": replace(OPEN, mass=(ROUND_OFF, "power"), permute="axis", blocks="one size"),
    "sedov": Expected(),
    "sedov_octant": OPEN,
    "shadow": Expected(boost="sides"),
    "shock_cloud": Expected(boost="sides"),
    "shu_osher": TUBE,
    "single_supernova": Expected(
        mass=(ROUND_OFF, "power"),
        mirror=grown("single_supernova", "events"),
        permute=grown("single_supernova", "events"),
        translate="region",
        boost="forces",
    ),
    "sod": TUBE,
    "sound_wave": Expected(),
    "spin_up": HOLES,
    "square_duct": FLOW,
    "stromgren": replace(OPEN, mass=(ROUND_OFF, "power")),
    "taylor_green": FLOW,
    "thermal_instability": Expected(boost="sources"),
    "top_hat": box("top_hat"),
    "two_blasts": TUBE,
    "vortices": FLOW,
    "white_dwarf": replace(OPEN, units=(ROUND_OFF, "power"), blocks="one size"),
    "zoom": OPEN,
}


def bound_of(entry: Entry) -> float | None:
    """Give the bound of an entry; None where the transformation does not apply."""
    if isinstance(entry, str):
        return None
    return entry[0] if isinstance(entry, tuple) else entry


def selected(column: str, transformations: int, everything: bool) -> list[tuple[str, int]]:
    """List examples to which a transformation applies, each with one of its forms, or with all."""
    result = []
    for turn, (example, expected) in enumerate(EXPECTED.items()):
        if bound_of(getattr(expected, column)) is None:
            continue
        forms = range(transformations) if everything else [turn % transformations]
        result += [(example, form) for form in forms]
    return result

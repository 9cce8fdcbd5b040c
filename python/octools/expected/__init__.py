"""Comparison of examples with theory or literature: expected numbers, and charts.

An example is known by the name of its run directory.
"""

from collections.abc import Callable
from pathlib import Path

from octools.expected import flows, gas, gravity, radiation
from octools.expected.findings import Findings, Number

__all__ = ["EXAMPLES", "Findings", "Number"]

EXAMPLES: dict[str, Callable[[Path], Findings]] = {
    "binary": gravity.star_at_rest,
    "black_hole_binary": gravity.black_hole_binary,
    "blob": gas.blob,
    "bondi": gravity.bondi,
    "boundary_layer": flows.boundary_layer,
    "cavity": flows.cavity,
    "contact_binary": gravity.star_at_rest,
    "cosmological_hii": radiation.cosmological_hii,
    "couette": flows.couette,
    "developing_channel": flows.developing_channel,
    "double_mach": gas.double_mach,
    "driven_turbulence": gas.driven_turbulence,
    "equilibrium_star": gravity.star_at_rest,
    "evrard": gravity.evrard,
    "gresho": gas.gresho,
    "half_channel": flows.half_channel,
    "heated_cavity": flows.heated_cavity,
    "implosion": gas.implosion,
    "isentropic_vortex": gas.isentropic_vortex,
    "jeans": gravity.jeans,
    "maclaurin": gravity.maclaurin,
    "marshak": radiation.marshak,
    "merger": gravity.merger,
    "moving_star": gravity.moving_star,
    "plummer": gravity.plummer,
    "radiation_shock": radiation.radiation_shock,
    "radiative_pulse": radiation.radiative_pulse,
    "radiative_shock": gas.radiative_shock,
    "rayleigh_taylor": gas.rayleigh_taylor,
    "rotating_star": gravity.star_at_rest,
    "shadow": radiation.shadow,
    "shu_osher": gas.shu_osher,
    "sound_wave": gas.sound_wave,
    "spin_up": gravity.spin_up,
    "square_duct": flows.square_duct,
    "stromgren": radiation.stromgren,
    "taylor_green": flows.taylor_green,
    "thermal_instability": gas.thermal_instability,
    "top_hat": gravity.top_hat,
    "two_blasts": gas.two_blasts,
    "vortices": flows.vortices,
    "white_dwarf": gravity.star_at_rest,
    "zoom": gas.zoom,
}

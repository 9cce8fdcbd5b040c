"""Parameter values of Octant from the settings of RAMSES and cuRAMSES."""

# The table of rules describes each value.
# ruff: noqa: D103

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from octools.inputs.conversion import BY_HAND, CHANGED, LOST, NOT_USED
from octools.inputs.ramses_gas import UNITS, ionizes, is_barotropic, lacks_units
from octools.inputs.ramses_rules import Note, Settings

GRAMS_PER_HYDROGEN = 1.67262192369e-24 / 0.76  # gas mass per hydrogen nucleus
NO_LIMIT = 1e15  # RAMSES switches limits off by values above this one
SUPERNOVA = 1e51  # erg
COOLING_METHODS = {
    "original": "original",
    "exact": "exact",
    "implicit": "implicit",
    "compare": "original",
}

# --- cooling --------------------------------------------------------------------------------------


def grackle(s: Settings) -> bool:
    return s.flag("use_grackle")


def tabulated(s: Settings) -> bool:
    return grackle(s) or s.text("cooling_method").lower() in ("exact", "implicit")


def cools(s: Settings) -> bool:
    return not (lacks_units(s) or is_barotropic(s) or ionizes(s)) and wants_cooling(s)


def wants_cooling(s: Settings) -> bool:
    if grackle(s):
        return s.get("grackle_with_radiative_cooling") != 0
    return s.flag("cooling")


def cooling_enabled(s: Settings) -> Any:
    if is_barotropic(s):
        return Note(False, "RAMSES does not cool gas with a barotropic equation of state")
    if ionizes(s):
        reason = (
            "[ionization] always has the cooling of hydrogen and helium, as rt; metals do not cool"
        )
        return Note(False, reason)
    if wants_cooling(s) and lacks_units(s):
        return Note(False, f"cooling.enabled = true {UNITS}", BY_HAND)
    return cools(s)


def cmb_floor(s: Settings) -> Any:
    return s.flag("grackle_cmb_temperature_floor") if grackle(s) else None


def cooling_method(s: Settings) -> Any:
    if grackle(s):
        return "exact"
    method = s.choice("cooling_method", COOLING_METHODS)
    if s.text("cooling_method").lower() == "compare":
        return Note(method, "compare evolves the gas with the original method")
    return method


def cooling_table(s: Settings) -> Any:
    if not tabulated(s):
        return Note(None, "cooling_method = 'original' reads no table", NOT_USED)
    given = s.text("grackle_data_file" if grackle(s) else "grackle_table")
    if not given:
        return Note("", "set cooling.table to a Grackle table (HDF5)", BY_HAND)
    if not given.lower().endswith((".h5", ".hdf5")):
        reason = "the binary form of cuRAMSES is not read: set the Grackle file (HDF5) of the table"
        return Note(given, reason, BY_HAND)
    # RAMSES looks for the file where it runs: beside the namelist, or in the folder above.
    above = s.source.path.resolve().parents[:2]
    place = next((folder / given for folder in above if (folder / given).is_file()), None)
    return str(place) if place else Note(given, "the file does not exist here", BY_HAND)


def uv_background(s: Settings) -> Any:
    if grackle(s):
        return "table" if s.get("grackle_uvbackground") else "none"
    if tabulated(s):
        return Note("own", "the background is part of the table")
    if s.flag("haardt_madau"):
        return "courty"
    if s.number("j21") > 0:
        return Note("none", "a power-law background (J21, a_spec) is not available")
    return "none"


def self_shielding(s: Settings) -> Any:
    if grackle(s):
        return "rahmati" if s.get("grackle_self_shielding_method") else "none"
    if not s.flag("self_shielding"):
        return "none"
    if tabulated(s):
        return Note("exponential", "with a table, only the heating is reduced")
    return "exponential"


def initial_metallicity(s: Settings) -> Any:
    if s.flag("metal") and not s.flag("cosmo"):
        reason = "with metal = .true., metals start from var_region, except in cosmological runs"
        return Note(0.0, reason) if not s.has("z_ave") else Note(0.0, reason, NOT_USED)
    return s.positive("z_ave")


def solar_metallicity(s: Settings) -> Any:
    if grackle(s):
        return s.number("grackle_solarmetalfractionbymass")
    return 0.02


def maximum_temperature(s: Settings) -> Any:
    if not s.has("t2max") and tabulated(s):
        return None
    return min(s.number("t2max"), 1e50)


# --- pressure floor -------------------------------------------------------------------------------


NO_FLOOR = Note(None, "barotropic gas has no pressure floor", NOT_USED)


def floor_kind(s: Settings) -> Any:
    if is_barotropic(s):
        return NO_FLOOR
    if s.number("jeans_ncells") > 0:
        return "jeans"
    return "polytrope" if s.number("t2_star") > 0 else "none"


def of_floor(kind: str, name: str, remark: str = "") -> Any:
    def value(s: Settings) -> Any:
        if is_barotropic(s):
            return NO_FLOOR if s.has(name) else None
        if floor_kind(s) != kind:
            ignored = Note(None, f"the pressure floor is {floor_kind(s)}", NOT_USED)
            return ignored if s.has(name) else None
        if not cools(s):
            return Note(s.number(name), "Octant applies the floor only with cooling.enabled = true")
        if remark and s.flag("cosmo"):
            return Note(s.number(name), remark)
        return s.number(name)

    return value


# --- stars ----------------------------------------------------------------------------------------


def forms_stars(s: Settings) -> bool:
    """Return true if gas becomes stars."""
    return wants_stars(s) and not lacks_units(s)


def wants_stars(s: Settings) -> bool:
    return s.flag("hydro") and (s.number("eps_star") > 0 or s.number("t_star") > 0)


def stars_enabled(s: Settings) -> Any:
    if wants_stars(s) and lacks_units(s):
        return Note(False, f"stars.enabled = true {UNITS}", BY_HAND)
    if forms_stars(s) and not s.flag("poisson"):
        return Note(False, "star formation requires gravity: poisson = .true.", BY_HAND)
    return forms_stars(s)


def efficiency(s: Settings) -> Any:
    if s.number("t_star") > 0:
        # Free-fall time at n_star in Gyr over t_star: RAMSES takes 0.1635449 Gyr at 0.1 H/cm³.
        efficiency = 0.1635449 * (s.number("n_star") / 0.1) ** -0.5 / s.number("t_star")
        return Note(efficiency, "free-fall time at n_star over t_star, a time scale in Gyr")
    return s.positive("eps_star")


def star_model(s: Settings) -> str:
    if not s.flag("sf_virial"):
        return "schmidt"
    models = ("multi_freefall_km", "multi_freefall_pn", "virial", "padoan", "hopkins")
    number = int(s.number("sf_model"))
    if not 1 <= number <= len(models):
        raise ValueError(f"expected 1 to {len(models)}")
    return models[number - 1]


def star_mass(s: Settings) -> Any:
    quantum = s.number("m_star")
    if quantum <= 0:
        return 0.0
    if s.mass_sph is None:
        reason = "m_star times mass_sph (the gas mass of a cell of the initial conditions), in M☉"
        return Note(None, f"stars.mass: {reason}", BY_HAND)
    return Note(float(f"{quantum * s.mass_sph:.9g}"), "m_star times mass_sph, in M☉")


# --- supernovae -----------------------------------------------------------------------------------


def by_yield_table(s: Settings) -> bool:
    """Return true for cuRAMSES, where a table of yields replaces eta_sn."""
    return not s.has("eta_sn") and s.has("yieldtablefilename", "eps_sn2")


def explode(s: Settings) -> bool:
    return forms_stars(s) and s.flag("poisson") and (s.number("eta_sn") > 0 or by_yield_table(s))


def supernova_mode(s: Settings) -> Any:
    if not explode(s):
        return "none"
    delayed = s.flag("delayed_cooling") and cools(s)
    if s.number("momentum_feedback") > 0 and not delayed:
        return Note("mechanical", "momentum where the blast is not resolved")
    if s.number("f_w") > 0:
        return Note("kinetic", "the mass that f_w sweeps up from the star's cell stays there")
    if s.number("sn_dt2_min") > 0:
        return "stochastic"
    return "thermal"


def mode(s: Settings) -> str:
    found = supernova_mode(s)
    return found.value if isinstance(found, Note) else found


def reach(s: Settings) -> float:
    return 0.0 if mode(s) == "thermal" else s.positive("rcell")


def kinetic_fraction(s: Settings) -> Any:
    if mode(s) in ("kinetic", "mechanical"):
        return s.number("f_ek")
    return Note(None, f"supernovae.mode = {mode(s)}", NOT_USED) if s.has("f_ek") else None


def population(s: Settings) -> Any:
    if not by_yield_table(s):
        return None
    if not explode(s):
        return Note(None, "there are no supernovae", NOT_USED)
    reason = (
        "supernovae.table: write the yields as HDF5 and set supernovae.population = table; "
        "discrete has the rates of Hopkins et al. (2018) instead"
    )
    return Note("discrete", reason, BY_HAND)


def fraction(s: Settings) -> Any:
    return s.number("eta_sn") if s.number("eta_sn") > 0 else None


def metal_yield(s: Settings) -> Any:
    if by_yield_table(s):
        return None
    if not s.flag("metal") and s.has("yield"):
        return Note(0.0, "metals are not followed: metal = .false.")
    return s.number("yield") if s.flag("metal") else 0.0


def energy(s: Settings) -> float:
    if s.has("e_snii"):
        return s.positive("e_snii")
    return SUPERNOVA * s.positive("eps_sn2" if by_yield_table(s) else "f_esn")


# --- black holes ----------------------------------------------------------------------------------


def clump_sinks(s: Settings) -> bool:
    """Return true for sinks of RAMSES since 2014, which form in clumps."""
    own = ("smbh", "create_sinks", "accretion_scheme", "mass_sink_seed", "mass_smbh_seed")
    return any(s.keys.get(name, "").startswith("sink_params/") for name in own)


def black_holes(s: Settings) -> bool:
    return not lacks_units(s) and wants_black_holes(s)


def wants_black_holes(s: Settings) -> bool:
    return s.flag("sink") and (s.flag("smbh") or not clump_sinks(s))


def black_holes_enabled(s: Settings) -> Any:
    if not s.flag("sink"):
        return False
    if not wants_black_holes(s):
        reason = "sinks that stand for stars are not available; with smbh = .true. black holes form"
        return Note(False, reason, LOST)
    if lacks_units(s):
        return Note(False, f"black_holes.enabled = true {UNITS}", BY_HAND)
    if not (s.flag("poisson") and s.flag("hydro")):
        return Note(False, "black holes require gravity: poisson = .true.", BY_HAND)
    if clump_sinks(s):
        return Note(True, "black holes form in dense cells; there is no clump finder")
    return True


def seed_mass(s: Settings) -> Any:
    if not clump_sinks(s):
        return s.positive("mseed")
    if not s.flag("create_sinks"):
        return Note(0.0, "no sinks form: create_sinks = .false.")
    return s.positive("mass_smbh_seed") or s.positive("mass_sink_seed")


def seed_density(s: Settings) -> Any:
    if s.number("n_sink") > 0:
        least = s.number("n_sink")
    elif s.number("rho_sink") > 0:
        least = s.number("rho_sink") / GRAMS_PER_HYDROGEN
    elif s.number("d_sink") > 0:
        least = s.number("d_sink") * s.number("units_density") / GRAMS_PER_HYDROGEN
    elif clump_sinks(s):
        return Note(None, "black_holes.gas_density: RAMSES takes the Jeans density", BY_HAND)
    else:
        return s.number("n_star")
    if not clump_sinks(s) and s.number("n_star") > least:
        return Note(s.number("n_star"), "at least n_star")
    return least


def exclusion(s: Settings) -> Any:
    return s.positive("r_gal") if s.has("r_gal") or not clump_sinks(s) else None


def boost(s: Settings) -> Any:
    if not clump_sinks(s):
        return s.positive("boost_acc")
    if s.number("acc_sink_boost") < 0:
        return Note(2.0, "acc_sink_boost below 0: the square of the density")
    if s.number("acc_sink_boost") != 1:
        return Note(0.0, "a constant boost factor is not available")
    return 0.0


def boost_density(s: Settings) -> float:
    if clump_sinks(s):
        return s.number("boost_threshold_density")
    return s.number("d_boost") if s.has("d_boost") else s.number("n_star")


def accretion(s: Settings) -> Any:
    if not clump_sinks(s):
        return s.flag("bondi")
    scheme = s.text("accretion_scheme").lower()
    if scheme == "threshold":
        return Note(True, "threshold accretion is not available: Bondi-Hoyle accretion instead")
    return scheme == "bondi"


def merge_length(s: Settings) -> Any:
    return s.positive("rmerge") if s.has("rmerge") or not clump_sinks(s) else None


def merge_bound(s: Settings) -> bool:
    if clump_sinks(s):
        return s.number("mass_merger_vel_check") < NO_LIMIT
    return s.flag("vrel_merge")


def velocity_limit(s: Settings) -> float:
    limit = s.positive("sigmav_max")
    return 0.0 if limit >= NO_LIMIT else limit


def no_clumps(name: str) -> Any:
    """Return the switch of a model that the sinks of RAMSES since 2014 do not have."""
    return lambda s: s.flag(name) and not (clump_sinks(s) and not s.has(name))


# --- AGN feedback ---------------------------------------------------------------------------------


def agn(s: Settings) -> bool:
    return (
        black_holes(s)
        and s.flag("poisson")
        and s.flag("hydro")
        and (s.flag("agn") or s.flag("sink_agn"))
    )


def radio_threshold(s: Settings) -> Any:
    if not clump_sinks(s) or s.has("x_floor"):
        return s.positive("x_floor")
    if s.number("agn_fbk_frac_mom") == 0:
        return Note(0.0, "no jets: AGN_fbk_frac_mom = 0")
    return s.positive("agn_fbk_mode_switch_threshold")


def thermal_efficiency(s: Settings) -> Any:
    if not clump_sinks(s) or s.has("eagn_t"):
        return s.number("eagn_t")
    share = 0.15 * s.number("t2_agn") / 1e12 * s.number("agn_fbk_frac_ener")
    return Note(min(share, 1.0), "0.15 for T2_AGN = 1e12 K, times AGN_fbk_frac_ener")


def either(one: str, other: str) -> Any:
    """Return a setting of the model of cuRAMSES, or its counterpart in SINK_PARAMS."""
    return lambda s: s.number(other if clump_sinks(s) and not s.has(one) else one)


# --- run, domain decomposition, output ------------------------------------------------------------


def gravity_base(s: Settings) -> Any:
    if not (s.flag("use_fftw") or s.flag("gpu_fft")):
        return "multigrid"
    if s.number("nboundary") > 0:
        return Note("auto", "the Fourier solver requires suitable boundaries")
    return "fft"


def schedule(s: Settings) -> Any:
    on = [n for n in ("gpu_hydro", "gpu_poisson", "gpu_fft", "gpu_sink") if s.flag(n)]
    if on and s.has("gpu_auto_tune") and not s.flag("gpu_auto_tune"):
        return Note("device", "a program built for GPUs runs all of its kernels there")
    return Note("auto", "a program built for GPUs runs all of its kernels there")


def decomposition(s: Settings) -> Any:
    given = s.text("ordering").lower()
    if given in ("hilbert", "ksection"):
        return given
    return Note("ksection", f"'{given}' is not available")


def balance_cost(s: Settings) -> Any:
    if s.flag("memory_balance"):
        if s.text("ordering").lower() == "ksection":
            return "memory"
        if s.has("memory_balance"):
            return Note(None, "memory_balance requires ordering = 'ksection'", NOT_USED)
    return "time" if s.flag("cost_weighting") else "memory"


def memory_weight(name: str, default: float, *, per_oct: bool = False) -> Callable[[Settings], Any]:
    """Return the bytes of an object; the default of cuRAMSES leaves them to be computed."""

    def value(s: Settings) -> Any:
        given = s.positive(name)
        if given == default:
            return Note(None, "the default: computed from the fields of the run", CHANGED)
        if not per_oct:
            return given
        octs = s.source.tables["mesh"]["block_size"][0] ** 3 / 8
        return Note(given * octs, "bytes of a block instead of an oct", CHANGED)

    return value


def subcycle(s: Settings) -> Any:
    steps = s.numbers("nsubcycle")[: int(s.number("levelmax") - s.number("levelmin"))]
    value = not steps or any(step != 1 for step in steps)
    if len(set(steps)) > 1:
        return Note(value, "all levels, or none")
    return value


def formats(s: Settings) -> Any:
    known = {"original": ["octant", "ramses"], "hdf5": ["octant"]}
    return s.choice("outformat", known)


def control_file(s: Settings) -> Any:
    name = s.text("jobcontrolfile").replace("\\", "/").rpartition("/")[2].partition(".")[0]
    if not name:
        return None
    name = re.sub(r"[^A-Za-z0-9_-]", "_", name)
    remark = "in the output directory; its entries are stop = true or dump = true"
    return Note(f"{'control' if name == 'run' else name}.toml", remark)


def unit(name: str) -> Any:
    def value(s: Settings) -> Any:
        if s.flag("cosmo"):
            return Note(None, "cosmological runs have supercomoving units", NOT_USED)
        return s.number(name)

    return value


def transfer(s: Settings, switch: str) -> Any:
    if not s.flag(switch):
        return Note(None, "off", NOT_USED)
    return Note(None, "gravity.transfer: write the factors of the potential to a file", BY_HAND)

"""Rules for all known settings of RAMSES and cuRAMSES; the manual lists them, too.

python -m octools.inputs.ramses_table PAGE prints docs/PAGE, one of `FILES`.
"""

import sys

from octools.inputs import ramses_radiation as r
from octools.inputs import ramses_values as v
from octools.inputs.ramses_eos import EQUATION_OF_STATE
from octools.inputs.ramses_radiation_rules import RADIATION
from octools.inputs.ramses_rules import Rule, Topic, by_hand, flag, page, same, times
from octools.inputs.ramses_unsupported import OTHER

BY_TABLE = "set table by hand, with a file in the format of Octant (octools eos-table)"
BY_NAME = "set stiffened by hand for 'stiffened gas' of one material; others are not available"

# fmt: off

RUN = Topic(
    "Run",
    "run_params",
    rules=(
        Rule("hydro", "hydro.enabled", default=False),
        Rule("poisson", "gravity.enabled", "the gravitational constant is 1 in both codes",
             default=False),
        Rule("cosmo", "cosmology.enabled", "problem.name = cosmology", default=False),
        Rule("pic", "", "particles are part of the initial conditions", default=False, done=True),
        Rule("nstepmax", "time.max_steps", default=1_000_000,
             value=lambda s: int(s.positive("nstepmax"))),
        Rule("nsubcycle", "time.subcycle", "all levels, or none", default=2, value=v.subcycle),
        Rule("ncontrol", "output.history_interval", "rows of history.csv", default=1,
             value=lambda s: max(1, int(s.number("ncontrol")))),
        Rule("nrestart nrestart_quad restart_remap remap_pscalar", "",
             "octant run FILE.toml --restart output_NNNNN continues from a RAMSES output"),
        Rule("output_params/walltime_hrs run_params/walltime_hrs", "run.walltime",
             "in seconds; -1: 0, no limit", default=-1.0,
             value=lambda s: max(0.0, 3600.0 * s.number("walltime_hrs"))),
        Rule("output_params/minutes_dump run_params/minutes_dump", "run.walltime_margin",
             "in seconds", default=1.0, value=times(60.0, "minutes_dump")),
        Rule("jobcontrolfile", "run.control_file",
             "a file in the output directory with stop = true or dump = true",
             value=v.control_file),
        Rule("gpu_hydro gpu_poisson gpu_sink gpu_auto_tune", "execution.schedule",
             "auto; device without gpu_auto_tune. A program built for GPUs runs all of its kernels "
             "there (docs/gpu.md)", default=(False, False, False, True), value=v.schedule),
        Rule("n_cuda_streams", "", "kernels work on batches of blocks in one stream; "
             "execution.batch_megabytes sets the size of the batches"),
        Rule("use_fftw gpu_fft", "gravity.base", "fft, or multigrid", default=(False, False),
             value=v.gravity_base),
        Rule("dump_pk", "", "power_NNNNN.csv with every snapshot of a cosmological run", done=True),
        Rule("verbose debug", "", "log.txt, history.csv and telemetry/ are always written"),
        Rule("static static_gas", "hydro.moves", "static with rt: the gas remains at rest",
             default=(False, False), value=r.at_rest),
        Rule("static_dm static_stars", "", "particles always move"),
        Rule("rt", "ionization.enabled", default=False, value=r.enabled),
        Rule("aton", "", "ATON is replaced by [ionization], whose parameters are to be written by "
             "hand; settings of RAMSES-RT are converted"),
        Rule("tracer", "", "tracer particles are not available; a passive scalar marks gas"),
        Rule("clumpfind unbind make_mergertree", "", "octools halos finds halos in snapshots"),
        Rule("lightcone", "", "write snapshots at the epochs of the light cone"),
        Rule("stellar", "", "single stars that sinks form are not available"),
        Rule("use_proper_time convert_birth_times", "",
             "stars carry their birth time and scale factor", done=True),
        Rule("geom", "", "the mesh is Cartesian"),
        Rule("use_neutrino", "gravity.transfer", "a table of factors for the potential",
             value=lambda s: v.transfer(s, "use_neutrino")),
        Rule("de_perturb", "gravity.transfer", "a table of factors for the potential",
             value=lambda s: v.transfer(s, "de_perturb")),
        Rule("sidm use_adm use_fdm", "", "dark matter is collisionless"),
        Rule("mond use_mond use_fr use_ndgp use_symmetron use_dilaton use_galileon use_coupled_de",
             "", "gravity is Newtonian; gravity.transfer changes the growth on large scales"),
        Rule("use_ede", "", "early dark energy is not available; cosmology.w0 and .wa are"),
        Rule("use_sgs", "", "turbulence within cells is not stored; stars.model measures it"),
    ),
)

BALANCE = Topic(
    "Domain decomposition and memory",
    "run_params amr_params",
    rules=(
        Rule("ordering", "balance.decomposition", "others become ksection", default="hilbert",
             value=v.decomposition),
        Rule("nremap", "balance.interval", "in coarse steps; cuRAMSES: 5", default=0,
             value=lambda s: int(s.positive("nremap"))),
        Rule("exchange_method", "comm.exchange", default="auto", value=lambda s: s.choice(
             "exchange_method", {"auto": "auto", "p2p": "p2p", "ksection": "ksection"})),
        Rule("cost_weighting memory_balance", "balance.cost",
             "memory; time with cost_weighting, and without memory_balance",
             default=(True, False), value=v.balance_cost),
        Rule("time_balance_alpha", "balance.time_alpha", default=0.0,
             value=same("time_balance_alpha")),
        Rule("mem_weight_grid", "balance.weight_grid", "in bytes, of a block instead of an oct; "
             "the default is computed", default=0,
             value=v.memory_weight("mem_weight_grid", 0, per_oct=True)),
        Rule("mem_weight_part", "balance.weight_part", "in bytes; the default is computed",
             default=12, value=v.memory_weight("mem_weight_part", 12)),
        Rule("mem_weight_sink", "balance.weight_sink", "in bytes; the default is computed",
             default=500, value=v.memory_weight("mem_weight_sink", 500)),
        Rule("ngridmax ngridtot npartmax nparttot", "", "memory is allocated as required; octant "
             "check estimates it", done=True),
        Rule("bisec_tol", "balance.tolerance", default=0.05, value=same("bisec_tol")),
        Rule("overload remap_thresh", "", "balanced at fixed intervals as evenly as the blocks "
             "allow"),
    ),
)

MESH = Topic(
    "Mesh",
    "amr_params",
    rules=(
        Rule("levelmin", "mesh.base_cells", "2^levelmin along each axis", default=1),
        Rule("levelmax", "mesh.max_level", "counted from levelmin", default=1),
        Rule("boxlen", "mesh.upper", "1 in cosmological runs", default=1.0),
        Rule("nexpand", "refine.buffer", "in cells, on all levels", default=1),
        Rule("nlevel_collapse", "refine.holdback", "levels that are open from the beginning",
             default=3),
    ),
)

REFINEMENT = Topic(
    "Refinement",
    "refine_params",
    rules=(
        Rule("m_refine", "refine.mass", "in mass_sph, or in cosmological runs in mean masses of a "
             "base cell; refine.gas_weight gives gas the weight of dark matter"),
        Rule("mass_sph", "refine.mass_unit", default=0.0),
        Rule("q_refine_holdback", "refine.holdback", "of cuRAMSES; always on in RAMSES where gas "
             "cools in cosmological runs. The first levels are held back, too", default=True),
        Rule("jeans_refine", "refine.jeans", "times √gamma: Octant has the adiabatic sound speed; "
             "the largest number, on all levels"),
        Rule("err_grad_d err_grad_p", "refine.gradient",
             "the same in smooth flow, half the value at a jump"),
        Rule("ivar_refine", "refine.mass_scalar", "counted from 0 behind the pressure"),
        Rule("var_cut_refine", "refine.mass_scalar_above"),
        Rule("sink_refine", "", "cells around black holes are always at the finest level",
             done=True),
        Rule("mass_cut_refine", "", "regions of finer particles stay refined; heavier particles "
             "count in refine.mass"),
        Rule("err_grad_u err_grad_a err_grad_b err_grad_b2 err_grad_c err_grad_f err_grad_lor "
             "floor_u floor_a floor_b floor_b2 floor_c floor_f", "",
             "no criterion compares velocities with the sound speed; refine.curvature_fields and "
             "refine.gradient_fields take velocities by themselves"),
        Rule("floor_d floor_p", "refine.floor", "where one field only has a threshold, because "
             "refine.floor holds for all fields", default=(1e-10, 1e-10)),
        Rule("r_refine x_refine y_refine z_refine a_refine b_refine exp_refine", "",
             "regions do not limit refinement; refine.where adds refined regions"),
        Rule("interpol_var interpol_type interpol_mag_type", "",
             "new cells are interpolated with Octant's own slopes", done=True),
        Rule("d_jeans_thre", "", "the Jeans length is resolved at all densities"),
        Rule("dr_proper m_refine_effective ref_fall_rate", "", "refine.holdback keeps the proper "
             "size of the finest cells"),
        Rule("solvermhd", "", "magnetic fields are not available"),
    ),
)

INITIAL = Topic(
    "Initial conditions",
    "init_params",
    rules=(
        Rule("filetype", "initial.kind", "grafic in cosmological runs", default="ascii"),
        Rule("initfile", "initial.path, problem.particle_table", "grafic files; ic_part, which "
             "regions of gas may have beside them"),
        Rule("init_params/omega_b physics_params/omega_b cosmo_params/omega_b",
             "cosmology.omega_b", "cuRAMSES: 0", default=0.045),
        Rule("nregion region_type x_center y_center z_center length_x length_y length_z "
             "exp_region d_region u_region v_region w_region p_region", "problem.name",
             "expression with conditions for the regions; a point in gas at rest: sedov"),
        Rule("var_region", "problem.species", "metals, where metal = .true., and "
             "problem.scalars"),
        Rule("prad_region gamma_region", "", "non-thermal pressures are not available"),
        Rule("aexp_ini", "cosmology.start", "from the files"),
        Rule("multiple", "", "the files of a level are read by all ranks", done=True),
        Rule("alpha_dense_core beta_dense_core crit_dense_core delta_rho heating_dx heating_r "
             "pert_dx pert_r d1_region d2_region d3_region d4_region f1_region f2_region "
             "f3_region f4_region p1_region p2_region p3_region p4_region", "",
             "initial conditions of a patch: use problem.name = expression or file"),
        Rule("a_region b_region c_region b_ave solvermhd", "",
             "magnetic fields are not available", groups="init_params physics_params"),
    ),
)

BOUNDARIES = Topic(
    "Boundaries",
    "boundary_params",
    rules=(
        Rule("nboundary bound_type ibound_min ibound_max jbound_min jbound_max kbound_min "
             "kbound_max", "mesh.boundary_x, mesh.boundary_y, mesh.boundary_z",
             "1: reflecting, 2: outflow, 3: inflow", default=0),
        Rule("no_inflow", "mesh.boundary_x, mesh.boundary_y, mesh.boundary_z",
             "diode in place of outflow", default=False),
        Rule("d_bound u_bound v_bound w_bound p_bound var_bound", "",
             "an inflow has the gas state of the problem at the boundary"),
        Rule("prad_bound a_bound b_bound c_bound d1_bound d2_bound d3_bound d4_bound f1_bound "
             "f2_bound f3_bound f4_bound p1_bound p2_bound p3_bound p4_bound", "",
             "non-thermal pressures, magnetic fields and several materials are not available"),
    ),
)

OUTPUT = Topic(
    "Output",
    "output_params",
    rules=(
        Rule("tout", "output.snapshot_times"),
        Rule("tend", "time.end", default=0.0),
        Rule("delta_tout", "output.snapshot_interval"),
        Rule("aout delta_aout", "cosmology.snapshots"),
        Rule("aend", "cosmology.end", default=0.0),
        Rule("noutput", "output.snapshot_times, cosmology.snapshots", "their number", default=0),
        Rule("foutput fbackup", "", "snapshots are written at intervals of time, not of steps; "
             "output.checkpoint_interval is in seconds"),
        Rule("informat", "", "octant run --restart recognizes both formats", done=True),
        Rule("outformat", "output.formats", "original: octant and ramses; hdf5: octant",
             default="original", value=v.formats),
        Rule("output_params/varcpu_chunk_nfile run_params/varcpu_chunk_nfile", "io.chunk_files",
             "in files", default=0, value=lambda s: int(s.positive("varcpu_chunk_nfile"))),
        Rule("gadget_output output_mode", "", "octant convert --to writes other formats"),
    ),
)

HYDRO = Topic(
    "Gas dynamics",
    "hydro_params",
    rules=(
        Rule("gamma", "hydro.gamma", "exactly 5/3 in cosmological runs; of barotropic gas, at "
             "least its largest exponent", default=1.4),
        Rule("courant_factor", "time.cfl", default=0.5),
        Rule("riemann", "hydro.riemann", "acoustic becomes exact; of barotropic gas, "
             "llf becomes hll, and exact and acoustic become hllc", default="llf"),
        Rule("scheme", "hydro.scheme", "muscl_hancock", default="muscl"),
        Rule("slope_type", "hydro.limiter", "0 and 1: minmod; others: mc", default=1),
        Rule("smallr", "hydro.density_floor", default=1e-10),
        Rule("smallc", "hydro.pressure_floor", "smallr smallc² / gamma: a pressure, independent of "
             "the density", default=1e-10),
        Rule("pressure_fix beta_fix", "hydro.dual_energy",
             "on, or overwrite in cosmological runs, with a different criterion",
             default=(False, 0.0)),
        Rule("niter_riemann", "", "the exact solver iterates to round-off", done=True),
        Rule("difmag", "", "no artificial viscosity"),
        Rule("strict_equilibrium", "", "hydro.well_balanced keeps isothermal atmospheres"),
        Rule("eos", "hydro.equation_of_state, hydro.eos_table", BY_TABLE,
             value=by_hand(BY_TABLE)),
        Rule("eos_name", "hydro.equation_of_state, hydro.stiffening_pressure", BY_NAME,
             value=by_hand(BY_NAME)),
        Rule("smallf gamma_rad", "", "several materials and non-thermal pressures are not "
             "available"),
        Rule("riemann2d slope_mag_type physics_params/eta_mag eta_mag allow_switch_solver "
             "allow_switch_solver2d switch_solv_b switch_solv_dens switch_solv_min_dens", "",
             "magnetic fields are not available"),
    ),
)

GRAVITY = Topic(
    "Gravity",
    "poisson_params",
    rules=(
        Rule("epsilon", "gravity.tolerance", "relative to the right-hand side", default=1e-4),
        Rule("gravity_type gravity_params", "hydro.acceleration, sources.acceleration",
             "1: uniform; 2: a point mass; 3: the vertical force of a disc; others are not "
             "available", default=0),
        Rule("cg_levelmin", "", "multigrid on all levels"),
        Rule("cic_levelmax", "", "particles count at the resolution of the mesh on all levels"),
        Rule("a0 a0_ms2", "", "gravity is Newtonian"),
    ),
)

UNITS = Topic(
    "Units",
    "units_params physics_params",
    rules=(
        Rule("units_length", "units.length", "in cm; not used in cosmological runs", default=1.0,
             value=v.unit("units_length")),
        Rule("units_density", "units.density", "in g/cm³", default=1.0,
             value=v.unit("units_density")),
        Rule("units_time", "units.time", "in s", default=1.0, value=v.unit("units_time")),
    ),
)

COSMOLOGY = Topic(
    "Cosmology of cuRAMSES",
    "cosmo_params",
    rules=(
        Rule("omega_m", "cosmology.omega_m", "those of the files have priority"),
        Rule("omega_l", "cosmology.omega_lambda", "those of the files have priority"),
        Rule("h0", "cosmology.h", "in 100 km/s/Mpc; that of the files has priority"),
        Rule("w0", "cosmology.w0", default=-1.0, groups="cpl_params", value=same("w0")),
        Rule("wa", "cosmology.wa", default=0.0, groups="cpl_params", value=same("wa")),
        Rule("cpl_params/cs2_de cpl_params/de_table neutrino_params/omega_nu "
             "neutrino_params/neutrino_table", "",
             "write the factors of the potential to a file for gravity.transfer; "
             "cosmology.omega_m includes neutrinos"),
        Rule("ede_params/omega_ede ede_params/z_ede ede_params/w_ede", "",
             "early dark energy is not available"),
        Rule("sgs_c_prod sgs_c_diss sgs_c_smag sgs_floor sgs_cap sgs_e_init sgs_hydro", "",
             "turbulence within cells is not stored; stars.model measures it",
             groups="sgs_params"),
        Rule("sidm_cross_section sidm_npart_min sidm_type sidm_v0 sidm_power sidm_courant "
             "sidm_angular sidm_epsilon sidm_inelastic sidm_delta sidm_frac_excited sidm_nstates "
             "sidm_energy sidm_frac_init sidm_a_type sidm_a_transition sidm_sigma_ratio "
             "sidm_a_width sidm_fdiss sidm_baryon sidm_baryon_sigma sidm_baryon_power", "",
             "dark matter is collisionless", groups="sidm_params"),
        Rule("adm_alpha adm_mp adm_me_ratio adm_xi adm_cross_section m_axion fdm_courant "
             "fdm_nrefine_db fdm_hybrid", "", "dark matter is collisionless",
             groups="adm_params fdm_params"),
        Rule("a0_mond mond_mu_type mond_type n_iter_mond mond_eps g_ext_mond fr0 fr_n n_iter_fr "
             "fr_eps omega_rc ndgp_branch n_iter_ndgp ndgp_eps a_ssb beta_symmetron l_symmetron "
             "n_iter_symmetron symmetron_eps beta_dilaton l_dilaton a0_dilaton n_iter_dilaton "
             "dilaton_eps c2_galileon c3_galileon n_iter_galileon galileon_eps beta_cde", "",
             "gravity is Newtonian; gravity.transfer changes the linear growth on large scales",
             groups="mond_params fr_params ndgp_params symmetron_params dilaton_params "
             "galileon_params coupled_de_params"),
    ),
)


COOLING = Topic(
    "Cooling",
    "cooling_params physics_params",
    enabled=v.cools,
    off="cooling is off",
    rules=(
        Rule("cooling grackle_params/use_grackle grackle_params/grackle_with_radiative_cooling",
             "cooling.enabled", default=(False, 0, 1), value=v.cooling_enabled),
        Rule("cooling_method grackle_params/use_grackle", "cooling.method",
             "original; exact with Grackle; compare becomes original", default="original",
             value=v.cooling_method),
        Rule("grackle_table grackle_params/grackle_data_file", "cooling.table",
             "a Grackle file (HDF5), not cuRAMSES's binary form", value=v.cooling_table),
        Rule("haardt_madau grackle_params/grackle_uvbackground", "cooling.uv_background",
             "haardt_madau: courty, or none; with a table: own; grackle_uvbackground: table, or "
             "none", default=(False, 0), value=v.uv_background),
        Rule("z_reion", "cooling.reionization", default=8.5, value=same("z_reion")),
        Rule("self_shielding grackle_params/grackle_self_shielding_method",
             "cooling.self_shielding", "self_shielding: exponential; of Grackle: rahmati",
             default=(False, 0), value=v.self_shielding),
        Rule("z_ave", "cooling.initial_metallicity", "in solar units", default=0.0,
             value=v.initial_metallicity),
        Rule("metal grackle_params/grackle_solarmetalfractionbymass",
             "cooling.solar_metallicity",
             "0.02 in RAMSES. Gas has the scalar metals whenever it cools or forms stars",
             default=(False, 0.01295), value=v.solar_metallicity),
        Rule("t2max", "cooling.maximum_temperature", "in K; T/μ with the original method",
             default=1e50, value=v.maximum_temperature),
        Rule("delayed_cooling", "cooling.delayed", default=False, value=flag("delayed_cooling"),
             groups="feedback_params cooling_params physics_params"),
        Rule("t_diss", "cooling.delay_time", "in Myr", default=20.0, value=same("t_diss"),
             groups="feedback_params physics_params"),
        Rule("grackle_cmb_temperature_floor", "cooling.cmb_floor", default=1,
             value=v.cmb_floor, groups="grackle_params"),
        Rule("grackle_primordial_chemistry", "",
             "hydrogen and helium are in ionization equilibrium, as in the table", default=0,
             groups="grackle_params"),
        Rule("grackle_metal_cooling", "",
             "metals cool in proportion to their abundance; for gas without metals, set "
             "cooling.initial_metallicity = 0 and supernovae.yield = 0", groups="grackle_params"),
        Rule("j21 a_spec", "", "a power-law background is not available; use a table or courty",
             default=(0.0, 1.0)),
        Rule("cooling_ism", "", "cooling of the interstellar medium (Audit & Hennebelle 2005) is "
             "not available; use a Grackle table"),
        Rule("neq_chem", "", "[cooling] has ionization equilibrium; ionization.enabled = true "
             "without sources follows ions out of equilibrium, with rt or without"),
        Rule("ind_rsink", "agn.radius", "sets the radius of AGN feedback in cells"),
        Rule("tol eps_sn1", "", "yields of cuRAMSES by element are not available; see "
             "yieldtablefilename"),
    ),
)

FLOOR = Topic(
    "Pressure floor",
    "sf_params physics_params",
    enabled=v.cools,
    rules=(
        Rule("jeans_ncells t2_star", "floor.kind",
             "jeans where jeans_ncells > 0, otherwise polytrope where T2_star > 0, otherwise none",
             value=v.floor_kind),
        Rule("jeans_ncells", "floor.jeans_cells", "in finest cells", default=-1.0,
             value=v.of_floor("jeans", "jeans_ncells")),
        Rule("t2_star", "floor.temperature", "T/μ in K", default=0.0,
             value=v.of_floor("polytrope", "t2_star")),
        Rule("n_star", "floor.density", "in hydrogen nuclei per cm³", default=0.1,
             value=v.of_floor("polytrope", "n_star", "RAMSES takes del_star times the mean gas "
                              "density instead where that is larger")),
        Rule("g_star", "floor.index", default=1.6, value=v.of_floor("polytrope", "g_star")),
    ),
)

STARS = Topic(
    "Star formation",
    "sf_params physics_params",
    enabled=v.forms_stars,
    off="star formation is off: eps_star = 0",
    rules=(
        Rule("eps_star t_star", "stars.enabled", "where above 0", value=v.stars_enabled),
        Rule("eps_star t_star", "stars.efficiency",
             "per free-fall time; free-fall time at n_star over t_star, which is in Gyr",
             default=(0.0, 0.0), value=v.efficiency),
        Rule("n_star", "stars.density", "in hydrogen nuclei per cm³", default=0.1,
             value=same("n_star")),
        Rule("del_star", "stars.overdensity", "of cosmological runs", default=200.0,
             value=same("del_star")),
        Rule("sf_virial sf_model", "stars.model",
             "schmidt; with sf_virial: 1 multi_freefall_km, 2 multi_freefall_pn, 3 virial, 4 "
             "padoan, 5 hopkins", default=(False, 3), value=v.star_model),
        Rule("m_star", "stars.mass", "times mass_sph in M☉; below 0: of n_star in a finest cell",
             default=-1.0, value=v.star_mass),
        Rule("sf_log_properties sf_birth_properties write_stellar_densities",
             "telemetry.enabled", "stars_formed.parquet lists all stars at their birth"),
        Rule("sf_trelax", "", "star formation starts at full efficiency; raise stars.efficiency "
             "with a second run"),
        Rule("sf_tdiss sf_compressive", "", "turbulence within cells is measured from velocity "
             "gradients; it is not stored"),
        Rule("sf_imf mass_star_max mass_sne_min eta_ssn", "", "star particles are populations; "
             "supernovae.population = discrete draws single supernovae",
             groups="sf_params feedback_params physics_params"),
        Rule("star_maker t2thres_sf fstar_min star_imf n_dc n_gmc nsn2mass sf_lamjt sf_kick_kms",
             "", "stars form by stars.model, below T/μ = stars.temperature"),
    ),
)

SUPERNOVAE = Topic(
    "Supernovae",
    "feedback_params physics_params",
    enabled=v.explode,
    off="there are no supernovae",
    rules=(
        Rule("f_w momentum_feedback", "supernovae.mode",
             "f_w = 0: thermal, in the star's cell; above 0: kinetic, without swept-up mass; "
             "momentum_feedback above 0: mechanical", default=(0.0, 0), value=v.supernova_mode),
        Rule("sn_dt2_min", "supernovae.heating", "in K; supernovae.mode = stochastic", default=0.0,
             value=lambda s: s.number("sn_dt2_min") or None),
        Rule("yieldtablefilename", "supernovae.population", "single; of cuRAMSES: discrete, until "
             "the table is converted", value=v.population),
        Rule("eta_sn", "supernovae.fraction", "0: no supernovae", default=0.0, value=v.fraction),
        Rule("t_sne", "supernovae.delay", "in Myr", default=10.0, value=same("t_sne")),
        Rule("yield", "supernovae.yield", "0 where metal = .false.", default=0.0,
             value=v.metal_yield),
        Rule("f_esn eps_sn2 e_snii", "supernovae.energy",
             "in erg; f_esn, eps_sn2 in 1e51 erg (RAMSES of 2024 reads f_esn without using it)",
             default=(1.0, 0.1, v.SUPERNOVA), value=v.energy),
        Rule("m_snii", "supernovae.mass", "in M☉", default=10.0, value=same("m_snii")),
        Rule("rcell", "supernovae.radius", "in cells; 0 for thermal feedback", default=2.0,
             value=v.reach),
        Rule("rbubble", "supernovae.least_radius", "in pc", default=0.0, value=same("rbubble")),
        Rule("f_ek", "supernovae.kinetic_fraction", "of kinetic and mechanical feedback",
             default=1.0, value=v.kinetic_fraction),
        Rule("ndebris mass_gmc", "", "all supernovae of a star particle explode together, as "
             "ndebris = 1 and mass_gmc < 0 do; for rarer, larger events, raise stars.mass"),
        Rule("kappa_ir ir_feedback ir_eff", "", "infrared radiation pressure is not available"),
        Rule("sn2_real_delay a_sn expn_sn", "", "see supernovae.population = discrete and "
             "supernovae.mode = mechanical, which have fixed rates and terminal momenta"),
    ),
)

BLACK_HOLES = Topic(
    "Black holes",
    "sink_params physics_params",
    enabled=v.black_holes,
    off="there are no black holes: sink = .false.",
    rules=(
        Rule("run_params/sink physics_params/sink smbh", "black_holes.enabled",
             "smbh = .false. in SINK_PARAMS: sinks that stand for stars, which are not available",
             default=(False, False, False), value=v.black_holes_enabled),
        Rule("mseed mass_smbh_seed mass_sink_seed create_sinks", "black_holes.seed_mass",
             "in M☉; create_sinks = .false.: 0",
             default=(1e5, 0.0, 0.0, False), value=v.seed_mass),
        Rule("n_sink rho_sink d_sink", "black_holes.gas_density",
             "in hydrogen nuclei per cm³; rho_sink in g/cm³, d_sink in code units; at least n_star",
             default=(-1.0, -1.0, -1.0), value=v.seed_density),
        Rule("ns_sink", "black_holes.star_density", "in hydrogen nuclei per cm³", default=0.0,
             value=lambda s: max(s.number("ns_sink"), 0.0)),
        Rule("r_gal", "black_holes.exclusion", "in kpc", default=100.0, value=v.exclusion),
        Rule("bondi accretion_scheme", "black_holes.accretion", "'threshold' becomes Bondi-Hoyle",
             default=(True, "none"), value=v.accretion),
        Rule("boost_acc acc_sink_boost", "black_holes.boost",
             "exponent; acc_sink_boost below 0: 2, constant factors are not available",
             default=(2.0, 1.0), value=v.boost),
        Rule("d_boost boost_threshold_density", "black_holes.boost_density",
             "in hydrogen nuclei per cm³; d_boost is n_star by default", default=(None, 0.1),
             value=v.boost_density),
        Rule("sigmav_max", "black_holes.velocity_limit", "in km/s; 0: no limit", default=1e16,
             value=v.velocity_limit),
        Rule("eddington_limit", "black_holes.eddington", "always limited without SINK_PARAMS",
             default=False, value=lambda s: s.flag("eddington_limit") or not v.clump_sinks(s)),
        Rule("drag", "black_holes.drag", default=False, value=flag("drag")),
        Rule("boost_drag", "black_holes.drag_boost", "exponent", default=2.0,
             value=same("boost_drag")),
        Rule("rmerge", "black_holes.merge_length", "in finest cells", default=1.0,
             value=v.merge_length),
        Rule("vrel_merge mass_merger_vel_check", "black_holes.merge_bound",
             "a limit of mass becomes a switch", default=(True, 1e100), value=v.merge_bound),
        Rule("spin_bh", "black_holes.spin", default=True, value=v.no_clumps("spin_bh")),
        Rule("maxspin", "black_holes.largest_spin", default=0.998, value=same("maxspin")),
        Rule("sinkprops verbose_agn", "output.history_interval",
             "history.csv and octools sinks list black holes",
             groups="run_params sink_params"),
        Rule("f_bondi selfgrav bhspinmerge star_ratio_floor bondi_use_vrel agn_acc_method", "",
             "fixed in Octant: the full Bondi rate with the relative velocity, self-gravitating "
             "discs, spins that merge; see docs/black_holes.md"),
        Rule("ir_cloud ir_cloud_massive c_acc sink_soft mass_sink_direct_force nlevelmax_sink "
             "merging_timescale check_energies clump_core max_mass_nsc sink_descent "
             "gamma_grad_descent fudge_graddescent mass_halo_agn mass_clump_agn mass_star_agn", "",
             "black holes form in dense cells (black_holes.gas_density, .star_density), accrete "
             "within four cells and move as particles; there are no clumps and clouds"),
        Rule("nsinkmax", "", "memory is allocated as required",
             groups="amr_params sink_params run_params"),
    ),
)

AGN = Topic(
    "AGN feedback",
    "sink_params physics_params",
    enabled=v.agn,
    off="there is no AGN feedback",
    rules=(
        Rule("agn sink_agn", "agn.enabled", default=(False, False), value=v.agn),
        Rule("x_floor agn_fbk_mode_switch_threshold agn_fbk_frac_mom", "agn.radio_threshold",
             "Eddington ratio; AGN_fbk_frac_mom = 0: no jets", default=(0.01, 0.01, 0.0),
             value=v.radio_threshold),
        Rule("eagn_t t2_agn agn_fbk_frac_ener", "agn.thermal_efficiency",
             "0.15 stands for T2_AGN = 1e12 K", default=(0.15, 1e12, 1.0),
             value=v.thermal_efficiency),
        Rule("eagn_k epsilon_kin", "agn.jet_efficiency", default=(1.0, 1.0),
             value=v.either("eagn_k", "epsilon_kin")),
        Rule("mad_jet", "agn.mad", "requires spin_bh", default=False,
             value=lambda s: s.flag("mad_jet") and s.flag("spin_bh")),
        Rule("ragn_dx", "agn.radius", "in cells", default=1.0,
             value=lambda s: max(s.number("ragn_dx"), 1.0)),
        Rule("ragn", "agn.least_radius", "in kpc", default=0.0, value=same("ragn")),
        Rule("mloadagn kin_mass_loading", "agn.mass_loading",
             default=(100.0, 100.0), value=v.either("mloadagn", "kin_mass_loading")),
        Rule("jetfrac", "agn.jet_trigger", "fraction of the mass of the black hole", default=0.0,
             value=same("jetfrac")),
        Rule("tagn t2_min", "agn.heating_trigger", "in K", default=(0.0, 1e7),
             value=v.either("tagn", "t2_min")),
        Rule("t2maxagn t2_max", "agn.maximum_temperature", "in K", default=(1e10, 1e9),
             value=v.either("t2maxagn", "t2_max")),
        Rule("f_ekagn", "agn.kinetic_fraction", default=1.0, value=same("f_ekagn")),
        Rule("random_jet cone_opening v_max agn_inj_method", "",
             "jets are cylinders along the spin or the angular momentum of the accreted gas"),
    ),
)

TURBULENCE = Topic(
    "Driven turbulence",
    "turb_params",
    enabled=lambda s: s.flag("turb"),
    off="turbulence is not driven",
    rules=(
        Rule("turb", "turbulence.acceleration", default=False),
        Rule("turb_rms", "turbulence.acceleration", "in code units", default=1.0,
             value=lambda s: s.positive("turb_rms") if s.flag("turb") else 0.0),
        Rule("turb_t", "turbulence.correlation_time", "in code units", default=1.0,
             value=same("turb_t")),
        Rule("comp_frac", "turbulence.solenoidal", "1 - comp_frac", default=0.3333,
             value=lambda s: 1.0 - s.number("comp_frac")),
        Rule("turb_seed", "turbulence.seed", "the random phases differ", default=-1,
             value=lambda s: abs(int(s.number("turb_seed")))),
        Rule("forcing_power_spectrum", "turbulence.from, turbulence.to",
             "all modes between the two wave numbers have equal power"),
        Rule("turb_type instant_turb turb_ndt turb_min_rho", "",
             "turbulence is driven from the beginning, at every step and density"),
    ),
)

# fmt: on

BASIC = (
    RUN,
    BALANCE,
    MESH,
    REFINEMENT,
    INITIAL,
    BOUNDARIES,
    OUTPUT,
    HYDRO,
    EQUATION_OF_STATE,
    GRAVITY,
    UNITS,
    COSMOLOGY,
)
PHYSICS = (COOLING, FLOOR, STARS, SUPERNOVAE, BLACK_HOLES, AGN, TURBULENCE)
RADIATIVE = (RADIATION, *OTHER)
TOPICS = (*BASIC, *PHYSICS, *RADIATIVE)
CONTENTS = {
    "ramses_namelist.md": ("run, mesh, gas, gravity and cosmology", BASIC),
    "ramses_namelist_physics.md": ("galaxy physics", PHYSICS),
    "ramses_namelist_radiation.md": ("ionising radiation and others", RADIATIVE),
}
FILES = tuple(CONTENTS)


def pages() -> dict[str, str]:
    """Return the pages of the manual by file name."""
    found = {}
    for file, (contents, topics) in CONTENTS.items():
        title = "RAMSES namelists" + ("" if topics is BASIC else f": {contents}")
        others = {f: f"settings for {c}" for f, (c, _) in CONTENTS.items() if f != file}
        found[file] = page(title, topics, others)
    return found


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in CONTENTS:
        sys.exit(f"expected one page: {', '.join(CONTENTS)}")
    print(pages()[sys.argv[1]], end="")

"""Rules for the settings of RAMSES-RT: groups RT_PARAMS and RT_GROUPS."""

from __future__ import annotations

from octools.inputs import ramses_radiation as r
from octools.inputs.ramses_gas import ionizes
from octools.inputs.ramses_radiation import of_photons
from octools.inputs.ramses_rules import Rule, Topic, flag

DUST = "see ionization.optical_edge and ionization.dust_opacity; no molecules and infrared photons"
BY_EXPRESSIONS = (
    "initial photons, and those that enter at inflow boundaries, are expressions of problem.fields "
    "(photon_density_0, photon_flux_0_x, ...)"
)

# fmt: off

RADIATION = Topic(
    "Ionising radiation",
    "rt_params",
    enabled=ionizes,
    rules=(
        Rule("rt_c_fraction", "radiation.speed_ratio", "the largest number, on all levels",
             default=1.0, value=of_photons(r.speed_ratio)),
        Rule("rt_courant_factor", "radiation.cfl", r.CFL, default=0.8,
             value=of_photons(r.courant)),
        Rule("rt_nsubcycle", "radiation.max_substeps", "at most 4 on refined meshes", default=1,
             value=of_photons(r.substeps)),
        Rule("rt_flux_scheme", "", "photons always have local fluxes of Lax and Friedrichs, near "
             "'glf'", default="glf", value=of_photons(r.flux)),
        Rule("rt_otsa", "ionization.on_the_spot", default=True, value=of_photons(flag("rt_otsa"))),
        Rule("x y", "ionization.hydrogen_fraction", "X; the rest is helium", default=(0.76, 0.24),
             value=of_photons(r.hydrogen_fraction)),
        Rule("rt_tconst", "ionization.temperature", "in K; of the gas, in RAMSES only of its "
             "rates, without heating and cooling; below 0: 0", default=-1.0,
             value=of_photons(r.constant_temperature)),
        Rule("rt_is_init_xion", "ionization.initial_ions", ".true.: neutral gas, in RAMSES in "
             "collisional equilibrium; .false.: problem.species, from var_region", default=True,
             value=of_photons(r.initial_ions)),
        Rule("rt_pressboost", "ionization.radiation_pressure", "0: false", default=1.0,
             value=of_photons(r.pressure)),
        Rule("rt_isopress", "", "the pressure of photons follows from their flux"),
        Rule("groupl0 groupl1", "ionization.edges", "in eV; groups below 13.6 eV and more than "
             "three groups are not available, and the last one has no end",
             value=of_photons(r.edges), groups="rt_groups"),
        Rule("group_egy", "ionization.spectrum", "monochromatic, where it is the lowest energy of "
             "each group, otherwise black_body", value=of_photons(r.spectrum),
             groups="rt_groups"),
        Rule("group_egy", "ionization.spectrum_temperature", "in K; of the black body with the "
             "closest mean photon energies, 1e5 if they are not given",
             value=of_photons(r.spectrum_temperature), groups="rt_groups"),
        Rule("group_csn", "", "cross sections are averages over ionization.spectrum; the largest "
             "difference is reported", value=of_photons(r.sections("group_csn")),
             groups="rt_groups"),
        Rule("group_cse", "", "cross sections are averages over ionization.spectrum",
             value=of_photons(r.sections("group_cse")), groups="rt_groups"),
        Rule("spec2group", "", "photons of recombinations join the group that contains the "
             "ionisation energy", groups="rt_groups"),
        Rule("rt_nsource rt_source_type rt_src_x_center", "ionization.source_x", "of sources of "
             "the type 'point'; those of several groups at the same place are one",
             default=(0, "square", 0.0), value=of_photons(r.position(0))),
        Rule("rt_src_y_center", "ionization.source_y", default=0.0,
             value=of_photons(r.position(1))),
        Rule("rt_src_z_center", "ionization.source_z", default=0.0,
             value=of_photons(r.position(2))),
        Rule("rt_n_source rt_src_group", "ionization.source_rates", "in photons per second, of "
             "all groups together: ionization.spectrum distributes them", default=(0.0, 1),
             value=of_photons(r.rates)),
        Rule("rt_u_source rt_v_source rt_w_source", "", "point sources are isotropic"),
        Rule("rt_src_length_x rt_src_length_y rt_src_length_z rt_exp_source", "",
             "sources are points; " + BY_EXPRESSIONS),
        Rule("rt_star rt_esc_frac sed_dir", "ionization.star_table, ionization.star_rate",
             "to set by hand: photons per second and solar mass", default=(False, 1.0),
             value=of_photons(r.star_rate)),
        Rule("nsedgroups sed_isegy sedprops_update rt_groups/sedprops_update", "",
             "cross sections and energies of the groups do not depend on the stars"),
        Rule("rt_agn rt_sink rt_groups/group_egy_agnfrac", "",
             "see ionization.black_hole_fraction for black holes; sinks emit none"),
        Rule("uv_file nuvgroups rt_uvsrc_nhmax", "",
             "see ionization.uv_background, a Grackle file of rates"),
        Rule("rt_err_grad_xhii rt_floor_xhii", "refine.gradient_fields, refine.gradient",
             "ionized_hydrogen: the same in smooth flow, half the value at a jump",
             default=-1.0),
        Rule("rt_err_grad_n", "refine.gradient_fields, refine.gradient",
             "photon_density_0, ... of all groups: the same in smooth flow, half the value at a "
             "jump", default=-1.0),
        Rule("rt_floor_n", "refine.floor", "to set by hand: photons per volume of the code, for "
             "all fields"),
        Rule("rt_err_grad_xhi rt_floor_xhi rt_err_grad_cn rt_floor_cn rt_refine_aexp", "",
             "refine.gradient_fields has ionized_hydrogen (rt_err_grad_xHII) and photon densities "
             "(rt_err_grad_n), at all times"),
        Rule("rt_is_outflow_bound", "", "photons have the boundaries of the gas, mesh.boundary_*"),
        Rule("rt_n_bound rt_u_bound rt_v_bound rt_w_bound rt_nregion rt_region_type rt_n_region "
             "rt_u_region rt_v_region rt_w_region rt_reg_group rt_reg_length_x rt_reg_length_y "
             "rt_reg_length_z rt_reg_x_center rt_reg_y_center rt_reg_z_center rt_exp_region", "",
             BY_EXPRESSIONS),
        Rule("rt_smooth", "", "photons react after each substep of their transport"),
        Rule("rt_freeflow", "", "photons react wherever there is gas"),
        Rule("rt_vc", "", "the equations are those of gas at rest; ionization.radiation_pressure "
             "adds the momentum of absorbed photons"),
        Rule("upload_equilibrium_x", "", "coarse cells have the mean fractions of finer ones"),
        Rule("rt_output_coolstats", "", "history.csv lists the energies of photons", done=True),
        Rule("hll_evals_file", "", "photons always have local fluxes of Lax and Friedrichs"),
        Rule("ishe", "", "X = 1 is gas without helium"),
        Rule("heat_unresolved_hii", "", "unresolved H II regions get no further heating"),
        Rule("cosmic_rays", "", "no cosmic rays"),
        Rule("is_kir_t is_mu_h2 ish2 ipeh_group rt_isir rt_isirtrap rt_t_rad "
             "rt_groups/kappaabs rt_groups/kappasc", "", DUST),
    ),
)

# fmt: on

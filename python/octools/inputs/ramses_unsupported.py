"""Namelist groups and settings of RAMSES without counterpart in Octant."""

from octools.inputs.ramses_rules import Rule, Topic, by_hand

OF_STIFFENED_GAS = (
    "set by hand gamma and p_inf of the stiffened gas of one material; their places in the list "
    "depend on the version of RAMSES"
)
OF_ONE_MATERIAL = (
    "set by hand, for one material: stiffened, white_dwarf, gas_radiation or table (octools "
    "eos-table)"
)

OTHER = (
    Topic(
        "Other parameters of Grackle",
        "grackle_params",
        (
            Rule(
                "grackle_casebrecombination grackle_cie_cooling "
                "grackle_cloudy_electron_fraction_factor grackle_comoving_coordinates "
                "grackle_compton_xray_heating grackle_deuteriumtohydrogenratio "
                "grackle_dusttemperatureend grackle_dusttemperaturestart grackle_gamma "
                "grackle_h2_on_dust grackle_h2_optical_depth_approximation "
                "grackle_hydrogenfractionbymass grackle_ih2co grackle_ipiht "
                "grackle_lwbackground_intensity grackle_lwbackground_sawtooth_suppression "
                "grackle_numberofdusttemperaturebins grackle_numberoftemperaturebins "
                "grackle_photoelectric_heating grackle_photoelectric_heating_rate "
                "grackle_radiative_transfer_coupled_rate_solver "
                "grackle_radiative_transfer_hydrogen_only "
                "grackle_radiative_transfer_intermediate_step grackle_temperatureend "
                "grackle_temperaturestart grackle_three_body_rate grackle_use_radiative_transfer "
                "grackle_use_specific_heating_rate grackle_use_volumetric_heating_rate "
                "grackle_uvbackground_redshift_drop grackle_uvbackground_redshift_fullon "
                "grackle_uvbackground_redshift_off grackle_uvbackground_redshift_on",
                "",
                "rates are those of the table, for gas in ionization equilibrium without "
                "molecules and dust",
            ),
        ),
    ),
    Topic(
        "Radiative transfer of ATON",
        "radiation_params",
        (
            Rule(
                "allow_gpu_overload rad_aton_version rad_boundary_condition rad_density "
                "rad_escape_fraction rad_flux_at_x_min_boundary rad_flux_x rad_flux_y rad_flux_z "
                "rad_light_speed_factor rad_max_time_step rad_num_sources rad_source_rate "
                "rad_source_x rad_source_y rad_source_z radiation_feedback",
                "",
                "ATON is replaced by [ionization], whose parameters are to be written by hand; "
                "settings of RAMSES-RT are converted",
            ),
        ),
    ),
    Topic(
        "Movies",
        "movie_params",
        (
            Rule(
                "aendmov astartmov ddist_camera deltax_frame deltay_frame deltaz_frame "
                "dist_camera dphi_camera dtheta_camera focal_camera imov imovout ivar_frame "
                "levelmax_frame method_frame movie movie_vars movie_vars_txt nh_frame nw_frame "
                "perspective_camera phi_camera proj_axis shader_frame smooth_frame "
                "tend_phi_camera tend_theta_camera tendmov theta_camera tstart_phi_camera "
                "tstart_theta_camera tstartmov varmax_frame varmin_frame xcentre_frame "
                "ycentre_frame zcentre_frame zoom_only_frame zoom_only",
                "",
                "octools movie makes movies from snapshots; output.slices and "
                "output.coarse_level write small ones",
            ),
        ),
    ),
    Topic(
        "Light cones and spherical regions",
        "lightcone_params spherical_region_params",
        (
            Rule(
                "thetay_cone thetaz_cone zmax_cone elongated_axis_cone1 observer_cone1 "
                "minboxr_cone1 maxboxr_cone1 elongated_axis_cone2 observer_cone2 minboxr_cone2 "
                "maxboxr_cone2",
                "",
                "not written during the run; write snapshots at the epochs of the light cone "
                "(cosmology.snapshots)",
                groups="lightcone_params",
            ),
            Rule(
                "spherical_region scenter1 scenter2 scenter3 scenter4 scenter5 sradius1 sradius2 "
                "sradius3 sradius4 sradius5",
                "",
                "not written during the run; write snapshots at the epochs of the light cone "
                "(cosmology.snapshots)",
                groups="spherical_region_params",
            ),
        ),
    ),
    Topic(
        "Clumps, halos and merger trees",
        "clumpfind_params unbinding_params mergertree_params",
        (
            Rule(
                "age_cut_clfind clinfo density_threshold ivar_clump mass_threshold n_clfind "
                "output_clump_field relevance_threshold rho_clfind saddle_threshold",
                "",
                "octools halos finds halos in snapshots",
                groups="clumpfind_params",
            ),
            Rule(
                "conv_limit iter_properties logbins nmassbins particlebased_clump_output "
                "repeat_max saddle_pot",
                "",
                "octools halos finds halos in snapshots",
                groups="unbinding_params",
            ),
            Rule(
                "make_mock_galaxies max_past_snapshots nmost_bound use_exclusive_mass",
                "",
                "octools halos finds halos in snapshots",
                groups="mergertree_params",
            ),
        ),
    ),
    Topic(
        "Tracers",
        "tracer_params",
        (
            Rule(
                "mc_tracer tracer_feed tracer_feed_fmt tracer_first_balance_levelmin "
                "tracer_first_balance_part_per_cell tracer_mass",
                "",
                "tracer particles are not available; a passive scalar (hydro.scalars) marks gas",
            ),
        ),
    ),
    Topic(
        "Stellar objects",
        "stellar_params",
        (
            Rule(
                "feedback_photon_group hii_t imf_high imf_index imf_low iseed lt_a lt_b lt_m0 "
                "lt_t0 mstellarini nstellarmax sn_direct sn_e_ref sn_feedback_sink sn_p_ref "
                "sn_r_sat stellar_info stellar_msink_th stellar_strategy tsat vdisp vsat",
                "",
                "single stars that sinks form are not available",
            ),
        ),
    ),
    Topic(
        "Dust grains",
        "grain_params",
        (
            Rule(
                "accel_gr boris charge_slope charge_to_mass constant_t_stop ddex dust_to_gas "
                "grain_size ndust second_order stopping_rate supersonic_drag t_stop trajectories",
                "",
                "dust grains are not available",
            ),
        ),
    ),
    Topic(
        "Several materials and equations of state",
        "material_params eos_params",
        (
            Rule(
                "eos_params",
                "hydro.gamma, hydro.stiffening_pressure",
                OF_STIFFENED_GAS,
                value=by_hand(OF_STIFFENED_GAS),
                groups="material_params",
            ),
            Rule(
                "eos_file eos_type",
                "hydro.equation_of_state, hydro.eos_table",
                OF_ONE_MATERIAL,
                value=by_hand(OF_ONE_MATERIAL),
                groups="material_params",
            ),
            Rule(
                "eos_type nh_h_cc_threshold",
                "",
                "equations of state of the patch hydro/eos, which depend on the cell size, are not "
                "available; hydro.equation_of_state is ideal, isothermal, barotropic, white_dwarf, "
                "stiffened, gas_radiation or table",
                groups="eos_params",
            ),
        ),
    ),
    Topic(
        "Initial conditions of patches",
        "dice_params merger_params restart_params halo_params",
        (
            Rule(
                "amr_struct cosmo_add_gas_index gadget_scale_l gadget_scale_m gadget_scale_t "
                "gadget_scale_v ic_age_name ic_center ic_file ic_format ic_head_name ic_id_name "
                "ic_ifout ic_mag_axis_x ic_mag_axis_y ic_mag_axis_z ic_mag_center_x "
                "ic_mag_center_y ic_mag_center_z ic_mag_const ic_mag_scale_b ic_mag_scale_h "
                "ic_mag_scale_r ic_mask_ivar ic_mask_max ic_mask_min ic_mask_ptype ic_mass_name "
                "ic_metal_name ic_nfile ic_pos_name ic_scale_age ic_scale_mass ic_scale_metal "
                "ic_scale_pos ic_scale_u ic_scale_vel ic_skip_type ic_t_restart ic_u_name "
                "ic_vel_name ig_metal ig_rho ig_t2 rad_profile z_profile",
                "",
                "write the initial conditions with octools.write_initial and set problem.name = "
                "file; octant run --restart reads outputs of RAMSES",
                groups="dice_params",
            ),
            Rule(
                "cut_height1 cut_height2 cut_radius1 cut_radius2 gal_axis1 gal_axis2 gal_center1 "
                "gal_center2 ic_part_file_gal1 ic_part_file_gal2 ig_density_factor mag_topology "
                "mgas_disk1 mgas_disk2 rad_profile solvermhd typ_height1 typ_height2 "
                "typ_mag_height typ_mag_radius typ_radius1 typ_radius2 vcirc_dat_file1 "
                "vcirc_dat_file2 vgal1 vgal2 z_profile",
                "",
                "write the initial conditions with octools.write_initial and set problem.name = "
                "file; octant run --restart reads outputs of RAMSES",
                groups="merger_params",
            ),
            Rule(
                "ic_center ig_metal ig_rho ig_t2 restart_vars",
                "",
                "write the initial conditions with octools.write_initial and set problem.name = "
                "file; octant run --restart reads outputs of RAMSES",
                groups="restart_params",
            ),
            Rule(
                "mag_topology",
                "",
                "write the initial conditions with octools.write_initial and set problem.name = "
                "file; octant run --restart reads outputs of RAMSES",
                groups="halo_params",
            ),
        ),
    ),
)

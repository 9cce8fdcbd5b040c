"""Names of the settings of other codes, by code and group.

RAMSES (October 2024, with its patches, and cuRAMSES), CaNS, Octo-Tiger, and Athena++ with AthenaK.
A # stands for a number.
"""

NAMES = """\
RAMSES amr_params:
  boxlen levelmax levelmin nexpand ngridmax ngridtot nlevel_collapse npartmax nparttot nsinkmax
RAMSES boundary_params:
  a_bound b_bound bound_type c_bound d1_bound d2_bound d3_bound d4_bound d_bound f1_bound f2_bound
  f3_bound f4_bound ibound_max ibound_min jbound_max jbound_min kbound_max kbound_min nboundary
  no_inflow p1_bound p2_bound p3_bound p4_bound p_bound u_bound v_bound w_bound
RAMSES clumpfind_params:
  age_cut_clfind clinfo density_threshold ivar_clump mass_threshold n_clfind output_clump_field
  relevance_threshold rho_clfind saddle_threshold
RAMSES cooling_params:
  a_spec barotropic_eos barotropic_eos_form cooling cooling_ism cooling_method grackle_table
  haardt_madau ind_rsink isothermal j21 metal mu_gas neq_chem polytrope_index polytrope_rho
  self_shielding t2max t_eos z_ave z_reion
RAMSES dice_params:
  amr_struct cosmo_add_gas_index gadget_scale_l gadget_scale_m gadget_scale_t gadget_scale_v
  ic_age_name ic_center ic_file ic_format ic_head_name ic_id_name ic_ifout ic_mag_axis_x
  ic_mag_axis_y ic_mag_axis_z ic_mag_center_x ic_mag_center_y ic_mag_center_z ic_mag_const
  ic_mag_scale_b ic_mag_scale_h ic_mag_scale_r ic_mask_ivar ic_mask_max ic_mask_min ic_mask_ptype
  ic_mass_name ic_metal_name ic_nfile ic_pos_name ic_scale_age ic_scale_mass ic_scale_metal
  ic_scale_pos ic_scale_u ic_scale_vel ic_skip_type ic_t_restart ic_u_name ic_vel_name ig_metal
  ig_rho ig_t2
RAMSES eos_params:
  eos_type nh_h_cc_threshold
RAMSES feedback_params:
  delayed_cooling eta_sn eta_ssn f_ek f_esn f_w ir_eff ir_feedback kappa_ir mass_gmc mass_sne_min
  mass_star_max momentum_feedback ndebris rbubble rcell t_diss t_sne yield
RAMSES grackle_params:
  grackle_casebrecombination grackle_cie_cooling grackle_cloudy_electron_fraction_factor
  grackle_cmb_temperature_floor grackle_compton_xray_heating grackle_data_file
  grackle_deuteriumtohydrogenratio grackle_dusttemperatureend grackle_dusttemperaturestart
  grackle_gamma grackle_h2_on_dust grackle_h2_optical_depth_approximation
  grackle_hydrogenfractionbymass grackle_ih2co grackle_ipiht grackle_lwbackground_intensity
  grackle_lwbackground_sawtooth_suppression grackle_metal_cooling
  grackle_numberofdusttemperaturebins grackle_numberoftemperaturebins grackle_photoelectric_heating
  grackle_photoelectric_heating_rate grackle_primordial_chemistry
  grackle_radiative_transfer_coupled_rate_solver grackle_radiative_transfer_hydrogen_only
  grackle_radiative_transfer_intermediate_step grackle_self_shielding_method
  grackle_solarmetalfractionbymass grackle_temperatureend grackle_temperaturestart
  grackle_three_body_rate grackle_use_radiative_transfer grackle_use_specific_heating_rate
  grackle_use_volumetric_heating_rate grackle_uvbackground grackle_uvbackground_redshift_drop
  grackle_uvbackground_redshift_fullon grackle_uvbackground_redshift_off
  grackle_uvbackground_redshift_on grackle_with_radiative_cooling use_grackle
RAMSES grain_params:
  accel_gr boris charge_slope charge_to_mass constant_t_stop ddex dust_to_gas grain_size ndust
  second_order stopping_rate supersonic_drag t_stop trajectories
RAMSES halo_params:
  mag_topology
RAMSES hydro_params:
  beta_fix courant_factor difmag eos eos_name gamma niter_riemann pressure_fix riemann scheme
  slope_mag_type slope_type smallc smallf smallr
RAMSES init_params:
  aexp_ini alpha_dense_core beta_dense_core crit_dense_core d1_region d2_region d3_region d4_region
  d_region delta_rho exp_region f1_region f2_region f3_region f4_region filetype gamma_region
  heating_dx heating_r initfile length_x length_y length_z multiple nregion omega_b p1_region
  p2_region p3_region p4_region p_region pert_dx pert_r prad_region region_type solvermhd u_region
  v_region var_region w_region x_center y_center z_center
RAMSES lightcone_params:
  thetay_cone thetaz_cone zmax_cone
RAMSES material_params:
  eos_file eos_params eos_type
RAMSES merger_params:
  cut_height1 cut_height2 cut_radius1 cut_radius2 gal_axis1 gal_axis2 gal_center1 gal_center2
  ic_part_file_gal1 ic_part_file_gal2 ig_density_factor mag_topology mgas_disk1 mgas_disk2
  rad_profile solvermhd typ_height1 typ_height2 typ_mag_height typ_mag_radius typ_radius1
  typ_radius2 vcirc_dat_file1 vcirc_dat_file2 vgal1 vgal2 z_profile
RAMSES mergertree_params:
  make_mock_galaxies max_past_snapshots nmost_bound use_exclusive_mass
RAMSES movie_params:
  aendmov astartmov ddist_camera deltax_frame deltay_frame deltaz_frame dist_camera dphi_camera
  dtheta_camera focal_camera imov imovout ivar_frame levelmax_frame method_frame movie movie_vars
  movie_vars_txt nh_frame nw_frame perspective_camera phi_camera proj_axis shader_frame smooth_frame
  tend_phi_camera tend_theta_camera tendmov theta_camera tstart_phi_camera tstart_theta_camera
  tstartmov varmax_frame varmin_frame xcentre_frame ycentre_frame zcentre_frame zoom_only_frame
RAMSES output_params:
  aend aout delta_aout delta_tout foutput gadget_output minutes_dump noutput outformat tend tout
  walltime_hrs
RAMSES physics_params:
  a_spec agn b_ave bondi boost_acc boost_drag cooling cooling_method d_boost del_star
  delayed_cooling drag dummy eagn_k eagn_t eps_star eta_mag eta_sn f_ek f_ekagn f_w g_star
  grackle_table haardt_madau isothermal j21 jeans_ncells jetfrac kappa_ir m_star mad_jet mass_gmc
  metal mloadagn mseed n_sink n_star ndebris ns_sink r_gal ragn ragn_dx rbubble rcell rmerge
  self_shielding sf_birth_properties sf_model sigmav_max sink smbh spin_bh t2_star t2max t2maxagn
  t_diss t_sne t_star tagn units_density units_length units_time vrel_merge x_floor yield
  yieldtablefilename z_ave z_reion
RAMSES poisson_params:
  a0 a0_ms2 cg_levelmin cic_levelmax epsilon gravity_params gravity_type
RAMSES radiation_params:
  allow_gpu_overload rad_aton_version rad_boundary_condition rad_density rad_escape_fraction
  rad_flux_at_x_min_boundary rad_flux_x rad_flux_y rad_flux_z rad_light_speed_factor
  rad_max_time_step rad_num_sources rad_source_rate rad_source_x rad_source_y rad_source_z
  radiation_feedback
RAMSES refine_params:
  a_refine b_refine err_grad_a err_grad_b err_grad_b2 err_grad_c err_grad_d err_grad_f err_grad_lor
  err_grad_p err_grad_u exp_refine floor_a floor_b floor_b2 floor_c floor_d floor_f floor_p floor_u
  interpol_mag_type interpol_type interpol_var ivar_refine jeans_refine m_refine mass_cut_refine
  mass_sph r_refine sink_refine solvermhd var_cut_refine x_refine y_refine z_refine
RAMSES restart_params:
  ic_center ig_metal ig_rho ig_t2 restart_vars
RAMSES rt_groups:
  group_cse group_csn group_egy group_egy_agnfrac groupl0 groupl1 kappaabs kappasc spec2group
RAMSES rt_params:
  cosmic_rays heat_unresolved_hii hll_evals_file ipeh_group is_kir_t is_mu_h2 ish2 ishe nsedgroups
  nuvgroups rt_agn rt_c_fraction rt_courant_factor rt_err_grad_n rt_err_grad_xhi rt_err_grad_xhii
  rt_esc_frac rt_exp_region rt_exp_source rt_floor_n rt_floor_xhi rt_floor_xhii rt_flux_scheme
  rt_is_init_xion rt_is_outflow_bound rt_isir rt_isirtrap rt_isopress rt_n_bound rt_n_region
  rt_n_source rt_nregion rt_nsource rt_nsubcycle rt_otsa rt_output_coolstats rt_pressboost
  rt_refine_aexp rt_reg_group rt_reg_length_x rt_reg_length_y rt_reg_length_z rt_reg_x_center
  rt_reg_y_center rt_reg_z_center rt_region_type rt_sink rt_smooth rt_source_type rt_src_group
  rt_src_length_x rt_src_length_y rt_src_length_z rt_src_x_center rt_src_y_center rt_src_z_center
  rt_star rt_t_rad rt_tconst rt_u_bound rt_u_region rt_u_source rt_uvsrc_nhmax rt_v_bound
  rt_v_region rt_v_source rt_vc rt_w_bound rt_w_region rt_w_source sed_dir sed_isegy sedprops_update
  upload_equilibrium_x uv_file x y
RAMSES run_params:
  aton bisec_tol clumpfind convert_birth_times cosmo cost_weighting debug hydro lightcone
  make_mergertree mond ncontrol nremap nrestart nrestart_quad nstepmax nsubcycle ordering overload
  pic poisson remap_pscalar restart_remap rt sink static static_dm static_gas static_stars stellar
  tracer unbind use_proper_time verbose
RAMSES sf_params:
  del_star eps_star g_star jeans_ncells m_star n_star sf_compressive sf_imf sf_log_properties
  sf_model sf_tdiss sf_trelax sf_virial t2_star
RAMSES sink_params:
  acc_sink_boost accretion_scheme agn agn_acc_method agn_fbk_frac_ener agn_fbk_frac_mom
  agn_fbk_mode_switch_threshold agn_inj_method bondi_use_vrel boost_acc boost_drag
  boost_threshold_density c_acc check_energies clump_core cone_opening create_sinks d_boost d_sink
  drag eagn_k eagn_t eddington_limit epsilon_kin f_ekagn fudge_graddescent gamma_grad_descent
  ir_cloud ir_cloud_massive jetfrac kin_mass_loading mad_jet mass_clump_agn mass_halo_agn
  mass_merger_vel_check mass_sink_direct_force mass_sink_seed mass_smbh_seed mass_star_agn
  max_mass_nsc merging_timescale mloadagn mseed n_sink nlevelmax_sink ns_sink nsinkmax r_gal ragn
  ragn_dx rho_sink rmerge sigmav_max sink_descent sink_soft smbh spin_bh t2_agn t2_max t2_min
  t2maxagn tagn v_max verbose_agn vrel_merge x_floor
RAMSES stellar_params:
  feedback_photon_group hii_t imf_high imf_index imf_low iseed lt_a lt_b lt_m0 lt_t0 mstellarini
  nstellarmax sn_direct sn_e_ref sn_feedback_sink sn_p_ref sn_r_sat stellar_info stellar_msink_th
  stellar_strategy tsat vdisp vsat
RAMSES tracer_params:
  mc_tracer tracer_feed tracer_feed_fmt tracer_first_balance_levelmin
  tracer_first_balance_part_per_cell tracer_mass
RAMSES turb_params:
  comp_frac forcing_power_spectrum instant_turb turb turb_min_rho turb_ndt turb_rms turb_seed turb_t
  turb_type
RAMSES unbinding_params:
  conv_limit iter_properties logbins nmassbins particlebased_clump_output repeat_max saddle_pot
RAMSES units_params:
  units_density units_length units_time
CaNS any:
  alphai bcpre bcscal bcvel beta bforce cbcpre cbcscal cbcvel cfl dims dt_f dtmax gacc gr gtype
  icheck iniscal inivel io_backend iout0d iout1d iout2d iout3d ipencil_axis is_boussinesq_buoyancy
  is_debug is_debug_poisson is_forced is_gridpoint_natural_channel is_impdiff is_impdiff_1d
  is_mask_divergence_check is_overwrite_save is_poisson_dtdma is_sforced is_timing
  is_use_compression is_wallturb isave l ng nsaves_max nscal nstep restart scalf ssource stop_type
  time_max tw_max velf visci
Octo-Tiger any:
  X Z accretor_refine amr_boundary_kernel_type amrbnd_order atomic_mass atomic_number bench
  cdisc_detect cfl clight_retard code_to_cm code_to_g code_to_s config_file core_refine
  correct_am_grav correct_am_hydro datadir disable_analytic disable_diagnostics disable_output
  donor_refine driving_rate driving_time dt_max dual_energy_sw1 dual_energy_sw2 eblast0
  entropy_driving_rate entropy_driving_time eos executors_per_gpu experiment extra_regrid
  future_wait_time grad_rho_refine gravity hard_dt hydro hydro_device_kernel_type
  hydro_host_kernel_type idle_rates inflow_bc input_file ipr_eint_floor ipr_nr_maxiter ipr_nr_tol
  ipr_test max_gpu_executor_queue_length max_kernels_fused max_level min_level
  monopole_device_kernel_type monopole_host_kernel_type moving_star_xvelocity moving_star_yvelocity
  moving_star_zvelocity multipole_device_kernel_type multipole_host_kernel_type n_species ngrids
  number_gpus odt omega optimize_local_communication output print_times_per_timestep problem
  rad_implicit radiation refinement_floor reflect_bc restart_filename rewrite_silo rho_floor
  root_node_on_device rotating_star_amr rotating_star_x scf_output_frequency scf_rho_floor
  silo_num_groups silo_offset_x silo_offset_y silo_offset_z sod_gamma sod_phi sod_pl sod_pr sod_rhol
  sod_rhor sod_theta solid_sphere_mass solid_sphere_radius solid_sphere_rho_min solid_sphere_xcenter
  solid_sphere_ycenter solid_sphere_zcenter star_alpha star_dr star_egas_out star_n star_rho_center
  star_rho_out star_rmax star_xcenter star_ycenter star_zcenter stop_step stop_time tau_floor theta
  unigrid v1309 xscale
Athena amr_criterion#:
  location_rad location_x1 location_x2 location_x3 method value_max variable
Athena gravity:
  auto_mporigin fas fill_ghost fmg_ncycle four_pi_G full_multigrid ix1_bc ix2_bc ix3_bc
  mask_origin_x1 mask_origin_x2 mask_origin_x3 mask_radius mg_bc mg_nghost mg_verbose mgmode mporder
  mporigin_x1 mporigin_x2 mporigin_x3 niteration nodipole npostsmooth npresmooth omega output_defect
  ox1_bc ox2_bc ox3_bc root_on_host show_defect subtract_average threshold
Athena hydro:
  EOS_dens_lim_field EOS_espec_lim_field EOS_ratio_field InversionPrecision active alpha_aniso
  alpha_iso alpha_spitzer beta_min const_accel_val dens_pow dfloor efloor eos eos_egas_unit
  eos_file_name eos_file_type eos_read_ratios eos_rho_unit fofc gamma gamma_max grav_acc1 grav_acc2
  grav_acc3 iso_sound_speed k_adi nscalars nu_aniso nu_iso pfloor pgas_min pgas_pow reconstruct
  rho_min rho_pow rsolver sfloor sigma_max viscosity
Athena hydro_srcterms:
  const_accel const_accel_dir const_accel_val self_gravity
Athena job:
  basename configure problem_id
Athena loadbalancing:
  balancer interval tolerance
Athena mesh:
  derefine_count ix1_bc ix2_bc ix3_bc nghost num_threads numlevel nx1 nx2 nx3 ox1_bc ox2_bc ox3_bc
  refinement x1max x1min x1rat x2max x2min x2rat x3max x3min x3rat
Athena mesh_refinement:
  ddens_max dpres_max dvel_max
  chi_min max_nmb_per_rank ncycle_check num_levels prolong_primitives refinement refinement_interval
Athena meshblock:
  nx1 nx2 nx3
Athena output#:
  cartesian_vector data_format dcycle dt file_type ghost_zones gid id slice_x1 slice_x2 slice_x3
  user_hist user_hist_only variable vmax vmin x1_slice x2_slice x2_sum x3_slice xdmf
Athena refined_region#:
  level x1max x1min x2max x2min x3max x3min
Athena refinement#:
  level x1max x1min x2max x2min x3max x3min
Athena time:
  cfl_number correct_err correct_ic cr_xorder dt_diagnostics evolution ext_preserving floor_ppm_fast
  integrator ncycle_out ndiag nlim rad_xorder start_time sts_integrator sts_max_dt_ratio tlim xorder
Athena units:
  bhmass_msun density_cgs length_cgs mass_cgs mu time_cgs unit_system
"""

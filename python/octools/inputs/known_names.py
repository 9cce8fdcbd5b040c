"""Names of the settings of other codes, by code and group.

CaNS, Octo-Tiger, and Athena++ with AthenaK; those of RAMSES are in `ramses_table`. A # stands for a
number.
"""

NAMES = """\
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
  root_node_on_device rotating_star_amr rotating_star_x scf_output_frequency scf_rho_floor sigmaA
  sigmaS silo_num_groups silo_offset_x silo_offset_y silo_offset_z sod_gamma sod_phi sod_pl sod_pr
  sod_rhol sod_rhor sod_theta solid_sphere_mass solid_sphere_radius solid_sphere_rho_min
  solid_sphere_xcenter solid_sphere_ycenter solid_sphere_zcenter star_alpha star_dr star_egas_out
  star_n star_rho_center star_rho_out star_rmax star_xcenter star_ycenter star_zcenter stop_step
  stop_time tau_floor theta unigrid v1309 xscale
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

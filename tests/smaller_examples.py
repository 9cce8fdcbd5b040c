"""What makes the first steps of every example short."""

STEPS = 3

CUBE = "mesh.base_cells=[16,16,16]"
SLAB = "mesh.base_cells=[32,32,4]"
STATISTICS = ("statistics.start=0", "statistics.interval=2")

# What makes each example's first steps short, and lets them refine where the whole run does.
SMALLER: dict[str, tuple[str, ...]] = {
    "binary": ("mesh.base_cells=[24,24,24]", "mesh.max_level=0"),
    "black_hole_binary": (),
    "blob": (CUBE,),
    "bondi": (),
    "cavity": ("grid.cells=[16,16,12]",),
    "channel": ("grid.cells=[24,16,20]", *STATISTICS),
    "cooling_cell": (),
    "cosmology": (CUBE, "mesh.max_level=2", "refine.mass=[1.35,0.3]"),
    "couette": (),
    "developing_channel": ("grid.cells=[32,4,16]",),
    "disc_galaxy": (
        CUBE,
        "mesh.max_level=1",
        "refine.region_level=1",
        "problem.particles=4000",
        "stars.density=1e-3",
        "stars.mass=100.0",
    ),
    "equilibrium_star": ("mesh.base_cells=[24,24,24]",),
    "evrard": (CUBE, "mesh.max_level=2", "refine.density=[1e-5,0.1]"),
    "galaxies": (
        CUBE,
        "mesh.max_level=2",
        "refine.mass=[2.3,0.6]",
        "refine.holdback=false",
        "stars.density=1e-9",
        "stars.overdensity=1.0",
        "stars.efficiency=1.0",
        "stars.mass=1e6",
    ),
    "gresho": ("mesh.base_cells=[32,32,8]", "mesh.upper=[1.0,1.0,0.25]"),
    "implosion": (SLAB, "mesh.upper=[0.3,0.3,0.0375]"),
    "isentropic_vortex": ("mesh.base_cells=[32,32,8]", "mesh.upper=[10.0,10.0,2.5]"),
    "isothermal_ball": (CUBE,),
    "isotropic": ("grid.cells=[16,16,16]", *STATISTICS),
    "jeans": (CUBE,),
    "kelvin_helmholtz": (SLAB, "mesh.upper=[1.0,1.0,0.125]"),
    "maclaurin": (CUBE,),
    "minimal_channel": ("grid.cells=[16,12,24]", *STATISTICS),
    "moving_star": ("mesh.base_cells=[24,16,16]",),
    "noh": (CUBE,),
    "pancake": (
        "mesh.base_cells=[32,8,8]",
        "mesh.upper=[1.0,0.25,0.25]",
        "mesh.max_level=1",
        "refine.region_level=1",
        "problem.particles_per_cell=2",
    ),
    "paper_channel": ("grid.cells=[24,16,20]",),
    "plummer": (CUBE, "mesh.max_level=2", "problem.particles=4000", "refine.mass_unit=2.5e-4"),
    "radiative_shock": (),
    "rayleigh_benard": ("grid.cells=[24,16,16]", *STATISTICS),
    "rotating_star": ("mesh.base_cells=[24,24,24]",),
    "sedov": (CUBE,),
    "sedov_octant": (CUBE,),
    "shock_cloud": ("mesh.base_cells=[32,16,4]", "mesh.upper=[2.0,1.0,0.25]"),
    "shu_osher": ("mesh.base_cells=[80,4,4]", "mesh.upper=[5.0,0.5,0.5]"),
    "single_supernova": (CUBE,),
    "sod": ("mesh.base_cells=[64,8,8]", "mesh.upper=[1.0,0.125,0.125]"),
    "sound_wave": (CUBE,),
    "spin_up": (),
    "taylor_green": ("grid.cells=[16,16,16]",),
    "top_hat": (CUBE, "mesh.max_level=2", "refine.mass=[1.048,0.7]"),
}

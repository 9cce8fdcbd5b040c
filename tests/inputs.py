"""Small cases that several tests run."""

# A box with open ends: lines of [mesh], and overrides.
OPEN_ENDS = "\n".join(f'boundary_{axis} = ["outflow", "outflow"]' for axis in "xyz")
WITH_OPEN_ENDS = tuple(f'mesh.boundary_{axis}=["outflow", "outflow"]' for axis in "xyz")

# A ball that flies out of the domain, and what is left of it falls back meanwhile.
LEAVING_BALL = f"""
[problem]
name = "expression"
density = "0.02 + 2*exp(-8*(x^2 + y^2 + z^2))"
velocity = ["1.5", "0.5", "0"]
pressure = "0.1 + 0.2*exp(-8*(x^2 + y^2 + z^2))"

[gravity]
enabled = true
solver = "fmm"
constant = 0.3

[mesh]
base_cells = [16, 16, 16]
block_size = 8
max_level = 1
lower = [-1.0, -1.0, -1.0]
upper = [1.0, 1.0, 1.0]
{OPEN_ENDS}

[refine]
density = [0.5]

[time]
subcycle = false
end = 0.8
"""

# The work of gravity on gas from potentials, with what that needs.
BY_POTENTIAL = ("gravity.work=potential", "hydro.dual_energy=on")

# A blast that drifts through a periodic box: it refines, derefines and moves blocks between ranks.
DRIFTING_BLAST = """
[problem]
name = "sedov"
centre = [0.31, 0.44, 0.62]
velocity = [1.5, 0.7, -1.1]
energy = 0.3
radius_cells = 5
ambient_pressure = 0.1

[mesh]
base_cells = [12, 12, 12]
block_size = 4
max_level = 2

[hydro]
scalars = 1

[refine]
gradient_fields = ["pressure"]
gradient = [0.4]

[balance]
interval = 2

[time]
end = 100.0
max_steps = 12
"""

# A blast on 8^3 cells that ends after two steps.
TINY_BLAST = """
[problem]
name = "sedov"

[mesh]
base_cells = [8, 8, 8]
block_size = 4

[time]
max_steps = 2
"""

# Gas and dark matter that collapse soon, in a small and clumpy piece of the universe: two levels
# come to be, and particles change level and rank.
CLUMPY_BOX = """
[problem]
name = "cosmology"

[cosmology]
enabled = true
omega_b = 0.047
box = 6.0
start = "z = 40"
end = "z = 1"

[initial]
seed = 7
sigma_8 = 1.4

[gravity]
enabled = true

[mesh]
base_cells = [16, 16, 16]
block_size = 4
max_level = 2

[refine]
mass = [4.0, 4.0]

[hydro]
gamma = 1.6666666666666667
dual_energy = "overwrite"

[balance]
interval = 2

[time]
max_steps = 20
"""

# The same box with all that makes galaxies, soon enough for its few steps; black holes form in its
# finest cells.
GALAXIES_IN_A_BOX = (
    CLUMPY_BOX.replace("max_level = 2", "max_level = 1").replace("[4.0, 4.0]", "[4.0]")
    + """
[cooling]
enabled = true
method = "original"
self_shielding = "exponential"
initial_metallicity = 0.1

[floor]
kind = "jeans"

[stars]
enabled = true
efficiency = 2.0
density = 1e-6
overdensity = 2.0
mass = 3e6

[supernovae]
mode = "mechanical"
delay = 20.0

[black_holes]
enabled = true
seed_mass = 1e6
gas_density = 1e-4
star_density = 1e-6
exclusion = 2.0
boost_density = 1e-4

[agn]
enabled = true
"""
)

# Sweeps take most of the time: for questions about it. The blast stays in its level-1 ball for
# these few steps.
STEADY_BLAST = """
[problem]
name = "sedov"
energy = 0.1
ambient_pressure = 0.1
radius_cells = 8

[mesh]
base_cells = [32, 32, 32]
block_size = 8
max_level = 1

[refine]
gradient_fields = ["pressure"]
gradient = [0.3]
interval = 4

[time]
end = 100.0
max_steps = 24
"""


def collapsing_ball(
    centre: tuple[float, float, float], block_size: int, max_level: int, rest: str
) -> str:
    """Compose a collapsing ball of gas on 16^3 cells and finer ones, with open ends."""
    return f"""
[problem]
name = "evrard"
centre = {list(centre)}

[mesh]
base_cells = [16, 16, 16]
block_size = {block_size}
max_level = {max_level}
lower = [-2.0, -2.0, -2.0]
upper = [2.0, 2.0, 2.0]
{OPEN_ENDS}

[hydro]
gamma = 1.6666666666666667
{rest}"""


# Gas of expressions in a small box, for its initial state.
SMALL = """
[problem]
name = "expression"
[mesh]
base_cells = [8, 8, 8]
block_size = 4
[hydro]
gamma = 1.5
scalars = 1
[time]
max_steps = 0
"""

"""Plot the Sod shock tube during the run: python sod.py, or mpirun -n 2 python sod.py."""

import matplotlib.pyplot as plt
import octant
from mpi4py import MPI

sim = octant.Simulation("examples/sod.toml", communicator=MPI.COMM_WORLD, output="output/sod_py")


@sim.on_step
def draw(sim: octant.Simulation) -> None:
    """Plot the density along the tube on this rank."""
    if sim.step_count % 20 == 0:
        base = sim.level(0)
        x, density = base.centres[0][:, 0, 0], base.read("density")[:, 0, 0]
        plt.plot(x.T, density.T, "k.", ms=1)
        plt.savefig(f"output/sod_py/density_{sim.rank}.png")


sim.run()

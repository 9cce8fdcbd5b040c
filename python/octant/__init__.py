"""Simulations with Octant from Python scripts, step by step.

    import octant

    with octant.Simulation("sod.toml", {"time.end": 0.2}) as sim:
        sim.on_step(lambda sim: print(sim.time, sim.level(0).read("density").max()))
        sim.run()

`Simulation` has the same parameters, files and bitwise-identical results as ``octant run``. With
MPI, every rank runs the same script and calls the same methods.
"""

from octant.simulation import InputError, Level, RunError, Simulation

__all__ = ["InputError", "Level", "RunError", "Simulation"]
__version__ = "0.2.0"

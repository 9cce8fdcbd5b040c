"""Octant in Python: runs that a script steps, looks at and takes part in.

    import octant

    with octant.Simulation("sod.toml", {"time.end": 0.2}) as sim:
        sim.on_step(lambda sim: print(sim.time, sim.level(0).read("density").max()))
        sim.run()

`Simulation` is what ``octant run`` is, with the same files, bits and parameters. Under MPI every
rank runs the same script, and whatever asks a simulation for something is asked on all of them.
"""

from octant.simulation import InputError, Level, RunError, Simulation

__all__ = ["InputError", "Level", "RunError", "Simulation"]
__version__ = "0.2.0"

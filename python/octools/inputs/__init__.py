"""Parameter files of other codes as Octant's."""

"""Pictures, profiles, films and comparisons of Octant runs."""

__version__ = "0.2.0"

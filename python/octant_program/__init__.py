"""Program octant in a wheel: the executable, the command that starts it, and the examples.

A wheel (packaging/wheel) places the program, the library of octools and the example parameter files
into this package.
"""

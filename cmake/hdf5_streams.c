// Streams of the static HDF5 in a Python module: see octant_hdf5_for_module() in OctantHdf5.cmake.
#include <stdio.h>

FILE* octant_hdf5_stdout;
FILE* octant_hdf5_stderr;

__attribute__((constructor)) static void set_streams(void) {
  octant_hdf5_stdout = stdout;
  octant_hdf5_stderr = stderr;
}

// MPI communicator handle for libraries that need it (parallel HDF5). Available only in
// builds with OCTANT_MPI.
#pragma once

#include <mpi.h>

#include "comm/communicator.hpp"

namespace octant {

// Returns the MPI handle of a communicator, which remains its owner.
MPI_Comm native(const Communicator& communicator);

}  // namespace octant

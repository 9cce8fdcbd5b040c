// The power spectrum beside a snapshot: DIR/power_NNNNN.csv.
#pragma once

#include <string>

#include "comm/communicator.hpp"
#include "gravity/power_spectrum.hpp"

namespace octant::driver {

// Writes the file, whole or not at all, beside the snapshot DIR/snap_NNNNN.h5. Throws RunError on
// every rank if that fails. Collective.
void write_power_spectrum(const gravity::PowerSpectrum& spectrum, const Communicator& communicator,
                          const std::string& snapshot_path);

}  // namespace octant::driver

// The power spectrum beside a snapshot: DIR/power_NNNNN.csv.
#pragma once

#include <string>

#include "comm/communicator.hpp"
#include "gravity/power_spectrum.hpp"

namespace octant::driver {

// What a unit of length of the code is in the unit of the table, which the text names.
struct SpectrumUnits {
  double length = 1.0;
  std::string wave_number = "1/length", volume = "length^3";
};

// Writes the file, whole or not at all, beside the snapshot DIR/snap_NNNNN.h5: one row per bin, and
// the units in the names of the columns. Throws RunError on every rank if that fails. Collective.
void write_power_spectrum(const gravity::PowerSpectrum& spectrum, const SpectrumUnits& units,
                          const Communicator& communicator, const std::string& snapshot_path);

}  // namespace octant::driver

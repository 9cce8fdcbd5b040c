// `octant bench transpose`: cost of transposing an array between pencil orientations.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/report.hpp"
#include "pencil/transpose.hpp"

namespace octant::bench {

// Time and data of a transpose.
struct TransposeResult {
  pencil::ProcessGrid processes;
  std::string axes;  // "x-y"
  pencil::TransposeBackend backend = pencil::TransposeBackend::p2p;
  RankStatistics messages, bytes;  // sent by a rank per transpose
  double seconds = 0.0;            // fastest transpose including packing, slowest rank
  double bytes_per_second = 0.0;   // over all ranks; every entry is read and written once
};

// Transposes an array back and forth `repeats` times. Collective; every rank gets the result.
TransposeResult measure_transpose(const Communicator& communicator, const pencil::Cells& cells,
                                  pencil::ProcessGrid processes, pencil::Orientation from,
                                  pencil::Orientation to, pencil::TransposeBackend backend,
                                  int repeats);

// Runs the command. Returns an exit code; throws InputError for bad options. Collective.
int transpose_bench(const std::vector<std::string>& words);

}  // namespace octant::bench

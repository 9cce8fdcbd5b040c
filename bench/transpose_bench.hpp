// `octant bench transpose`: what it costs to turn an array from one pencil orientation to another.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/report.hpp"
#include "pencil/transpose.hpp"

namespace octant::bench {

struct TransposeResult {
  pencil::ProcessGrid processes;
  std::string axes;  // "x-y"
  pencil::TransposeBackend backend = pencil::TransposeBackend::p2p;
  RankStatistics messages, bytes;  // that a rank sends per transpose
  double seconds = 0.0;            // of the fastest one, packing included, of its slowest rank
  double bytes_per_second = 0.0;   // over all ranks: every entry is read once and written once
};

// Transposes an array to and fro `repeats` times. Collective; every rank gets the result.
TransposeResult measure_transpose(const Communicator& communicator, const pencil::Cells& cells,
                                  pencil::ProcessGrid processes, pencil::Orientation from,
                                  pencil::Orientation to, pencil::TransposeBackend backend,
                                  int repeats);

// The command. Returns an exit code; throws InputError for bad options. Collective.
int transpose_bench(const std::vector<std::string>& options);

}  // namespace octant::bench

// `octant bench transpose`: cost of transposing an array between pencil orientations.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/report.hpp"
#include "pencil/transpose.hpp"

namespace octant::bench {

// Pencils that an array passes through by one or several transposes.
using Route = std::vector<pencil::Orientation>;
// Reads a route such as "x-y" or "x-y-z". "zd" denotes z-pencils that a direct transpose within a
// column produces (Orientation::z_direct). Throws InputError for other texts.
Route route_of(const std::string& text);

// Time and data of a transpose, or of all transposes of a route.
struct TransposeResult {
  pencil::ProcessGrid processes;
  std::string axes;  // "x-y"
  pencil::TransposeBackend backend = pencil::TransposeBackend::p2p;
  RankStatistics messages, bytes;  // sent by a rank per transpose
  double seconds = 0.0;            // fastest one including packing, slowest rank
  double bytes_per_second = 0.0;   // over all ranks; every entry is read and written once
};

// Transposes an array along a route and back `repeats` times. Results are those of one direction.
// Collective; every rank gets the result.
TransposeResult measure_transpose(const Communicator& communicator, const pencil::Cells& cells,
                                  pencil::ProcessGrid processes, const Route& route,
                                  pencil::TransposeBackend backend, int repeats);

// Runs the command. Returns an exit code; throws InputError for bad options. Collective.
int transpose_bench(const std::vector<std::string>& words);

}  // namespace octant::bench

// Parameters of the exchanges: section [comm] of a parameter file.
#pragma once

#include <array>
#include <optional>

#include "core/named.hpp"

namespace octant {

class ParameterSchema;

// Communication backend of an exchange.
enum class Backend { p2p, alltoall, ksection };
// Names of the values in comm.exchange.
constexpr auto names_of(Backend) { return std::array{"p2p", "alltoall", "ksection"}; }
inline constexpr auto k_all_backends = values_of<Backend>();
inline constexpr int k_backends = k_all_backends.size();

// Memory space of the buffers of an exchange.
enum class Buffers { of_host, of_device };

// Transfer of packed messages from device memory: directly, if the MPI library accepts device
// pointers, or always through host memory.
enum class Staging { automatic, always };
// Names of the values in comm.staging.
constexpr auto names_of(Staging) { return std::array{"auto", "always"}; }

// Parameters of the section [comm].
struct CommOptions {
  std::optional<Backend> exchange;  // fixed backend; no value: automatic selection
  int trial_calls = 5;       // calls per backend before the first choice; the first is not timed
  int probe_interval = 200;  // calls between probes of the other backends
  int probe_calls = 4;       // calls per probe; the first is not timed
  bool overlap = true;       // false: an exchange is complete when its start returns
  Staging staging = Staging::automatic;
  int late_rank = -1;  // rank with artificially delayed sends, for tests; -1: none
  double late_seconds = 0.0;
};

// Declares the section [comm]. `options` must outlive all reads of the schema.
void declare(ParameterSchema& schema, CommOptions& options);

}  // namespace octant

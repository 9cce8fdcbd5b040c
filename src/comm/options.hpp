// Parameters of the exchanges: section [comm] of a parameter file.
#pragma once

#include <optional>
#include <string>

namespace octant {

class ParameterSchema;

// The ways of moving an exchange's messages.
enum class Backend { p2p, alltoall, ksection };
inline constexpr int k_backends = 3;
inline constexpr Backend k_all_backends[] = {Backend::p2p, Backend::alltoall, Backend::ksection};
std::string to_string(Backend backend);

struct CommOptions {
  std::string exchange = "auto";  // or the name of a backend
  int trial_calls = 5;       // calls per backend before the first choice; the first is not timed
  int probe_interval = 200;  // calls between probes of the other backends
  int probe_calls = 4;       // calls per probe; the first is not timed
  bool overlap = true;       // false: an exchange is complete when its start returns
  int late_rank = -1;        // a rank that posts its sends late, to test who notices; -1: none
  double late_seconds = 0.0;

  // The backend that is forced, none for "auto".
  std::optional<Backend> forced() const;
};

void declare(ParameterSchema& schema, CommOptions& options);

}  // namespace octant

// `octant bench comm`: exchanges between the blocks of random meshes under every placement
// (commbench of cplx-placement.txt, section VI-C).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "decomp/placement/locality.hpp"
#include "decomp/placement/policies.hpp"

namespace octant::bench {

struct CommCase {
  placement::PolicyOptions policy;
  std::string backend = "p2p";
  double blocks_per_rank = 2.0;  // at least
  int meshes = 10;
  int rounds = 100;      // per mesh, after
  int cold_rounds = 10;  // that do not count
  int seed = 1;
};

// Counts are of one round, in the mean over the meshes: what blocks have to say to each other, and
// the messages that ranks make of it, one for all blocks that two ranks share.
struct CommResult {
  double blocks = 0.0;
  double contacts = 0.0, contacts_off_rank = 0.0, contacts_off_node = 0.0;
  double bytes = 0.0, bytes_off_rank = 0.0, bytes_off_node = 0.0;
  double messages = 0.0, messages_off_node = 0.0;
  double makespan_over_mean = 0.0;
  double mean_seconds = 0.0, median_seconds = 0.0;  // from barrier to barrier
};

// Collective. Every rank knows all blocks: for meshes of a few blocks per rank.
CommResult measure_comm(const Communicator& communicator, const CommCase& comm_case);

// The command. Returns an exit code; throws InputError for bad options. Collective.
int comm_bench(const std::vector<std::string>& words);

}  // namespace octant::bench

// `octant bench comm`: exchanges between the blocks of random meshes with every placement policy
// (commbench of the CPLX paper, section VI-C).
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
  bool per_contact = false;      // a message per contact of blocks, without a backend
  double blocks_per_rank = 2.0;  // minimum
  int meshes = 10;
  int rounds = 100;            // measured, per mesh
  int cold_rounds = 10;        // warm-up rounds
  double most_seconds = 0.01;  // of a round; longer ones are dropped
  int seed = 1;
};

// Counts per round, averaged over the meshes: contacts of blocks, and messages of ranks, one for
// all pairs of blocks between two ranks, or for each contact. Times are those of the slowest rank;
// NaN if all rounds were dropped.
struct CommResult {
  double blocks = 0.0;
  double contacts = 0.0, contacts_off_rank = 0.0, contacts_off_node = 0.0;
  double bytes = 0.0, bytes_off_rank = 0.0, bytes_off_node = 0.0;
  double messages = 0.0, messages_off_node = 0.0;
  double makespan_over_mean = 0.0;
  int rounds = 0, rounds_dropped = 0;               // in total
  double mean_seconds = 0.0, median_seconds = 0.0;  // from barrier to barrier
};

// Collective. Every rank stores all blocks: for meshes of a few blocks per rank.
CommResult measure_comm(const Communicator& communicator, const CommCase& comm_case);

// Runs the command. Returns an exit code; throws InputError for bad options. Collective.
int comm_bench(const std::vector<std::string>& words);

}  // namespace octant::bench

// Communication volume between neighbouring blocks on different ranks and nodes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decomp/placement/placement.hpp"

namespace octant::placement {

// Two adjacent leaves, and the bytes that the first sends to the second.
struct Contact {
  std::int32_t from, to;
  std::int32_t bytes;
};

// Bytes that a leaf sends to an adjacent one across a face, an edge or a corner.
struct ContactBytes {
  std::int32_t face = 20480, edge = 2560, corner = 320;  // 16^3 cells, 2 ghosts, 5 variables
};

// Bytes that one leaf sends to another; 0 if they are not adjacent.
std::int32_t bytes_between(const Leaf& from, const Leaf& to, const ContactBytes& bytes = {});

// Returns all contacts, in both directions, of leaves in a domain without periodic boundaries.
// Adjacent leaves differ by at most one level, as in a balanced tree. O(leaves).
std::vector<Contact> contacts(Leaves leaves, const ContactBytes& bytes = {});

// Bytes over all contacts, between different ranks, and between different nodes.
struct Traffic {
  std::int64_t all = 0, off_rank = 0, off_node = 0;
};
// Computes the traffic from a list of contacts.
Traffic traffic(std::span<const Contact> contacts, const Owners& owners, int ranks_per_node);
// Computes the traffic without a list of contacts, which takes about 300 bytes per leaf.
Traffic traffic(Leaves leaves, const Owners& owners, int ranks_per_node,
                const ContactBytes& bytes = {});

}  // namespace octant::placement

// How much neighbouring blocks have to say to each other across ranks and nodes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decomp/placement/placement.hpp"

namespace octant::placement {

// Two leaves that touch, and the bytes that the first sends to the second.
struct Contact {
  std::int32_t from, to;
  std::int32_t bytes;
};

// What a leaf sends to one that it touches across a face, an edge or a corner.
struct ContactBytes {
  std::int32_t face = 20480, edge = 2560, corner = 320;  // 16^3 cells, 2 ghosts, 5 variables
};

// What one leaf sends to another one: nothing if they do not touch.
std::int32_t bytes_between(const Leaf& from, const Leaf& to, const ContactBytes& bytes = {});

// All contacts, in both directions, of leaves in a domain without periodic boundaries. Leaves of
// neighbouring levels may touch; others do not occur in a balanced tree. O(leaves).
std::vector<Contact> contacts(Leaves leaves, const ContactBytes& bytes = {});

// Bytes over all contacts, those that leave a rank, and those that leave a node.
struct Traffic {
  std::int64_t all = 0, off_rank = 0, off_node = 0;
};
Traffic traffic(std::span<const Contact> contacts, const Owners& owners, int ranks_per_node);
// The same without a list of the contacts, which takes some 300 bytes per leaf.
Traffic traffic(Leaves leaves, const Owners& owners, int ranks_per_node,
                const ContactBytes& bytes = {});

}  // namespace octant::placement

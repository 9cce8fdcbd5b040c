// The blocks of an AMR checkpoint, as they come from its file: /mesh/level_L.
#pragma once

#include <string>
#include <vector>

#include "io/hdf5_file.hpp"
#include "mesh/mesh.hpp"

namespace octant::driver {

// The group of a level within a room of the file.
std::string level_group(const char* room, int level);

// A rank's share of all levels, coarsest first.
struct StoredBlocks {
  std::vector<mesh::Mesh::BlockList> levels;
  std::vector<std::int64_t> totals;  // of each level, on all ranks
  std::vector<RowRange> ranges;      // of each level: the rows of this rank's blocks
};

// Reads even shares of the blocks and makes the mesh of them. Throws InputError on every rank
// unless they are a whole octree on the mesh's grid. Collective.
StoredBlocks restore_blocks(const Hdf5Reader& file, mesh::Mesh& mesh);

}  // namespace octant::driver

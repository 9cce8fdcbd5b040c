// The blocks of an AMR checkpoint, as they come from its file: /mesh/level_L.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "io/hdf5_file.hpp"
#include "mesh/mesh.hpp"

namespace octant::driver {

// The group of a level within a room of the file.
std::string level_group(const std::string& room, int level);

// Fields of cells are written and read in batches of about 1 MiB, so that this needs hardly more
// memory than the run itself: the blocks of a batch.
std::int64_t blocks_per_batch(int block_size);

// Values as elements T of a file: no copy where they are that already.
template <class T, class Value>
std::vector<T> as_elements(std::vector<Value>&& values) {
  if constexpr (std::is_same_v<T, Value>) return std::move(values);
  else return {values.begin(), values.end()};
}

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

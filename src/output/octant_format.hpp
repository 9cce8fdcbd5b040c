// Octant's own files, described in docs/files.md: snapshots, cut-outs and checkpoints.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "io/hdf5_file.hpp"
#include "mesh/mesh.hpp"
#include "output/contents.hpp"

namespace octant {

// Writes all contents to a new file, to which the caller may add. Collective.
void write_contents(Hdf5Writer& file, const MeshContents& contents);
// Writes all contents of a flow to a new file, to which the caller may add. Collective.
void write_contents(Hdf5Writer& file, const GridContents& contents);

// Writes "`stem`.h5" atomically and returns this path. Throws RunError on every rank. Collective.
std::string write_octant_file(const MeshContents& contents, const std::string& stem);
// Writes "`stem`.h5" and, for a snapshot, an XDMF description for ParaView, atomically; returns the
// former path. Throws RunError on every rank. Collective.
std::string write_octant_file(const GridContents& contents, const std::string& stem);

// Path of the group of a level within a group of the file.
std::string level_group(const std::string& group, int level);

// Number of blocks in a batch of about 1 MiB, so that writing and reading cell fields needs little
// extra memory.
std::int64_t blocks_per_batch(int block_size);

// Converts values to elements T of a file; no copy if they have this type.
template <class T, class Value>
std::vector<T> as_elements(std::vector<Value> values) {
  if constexpr (std::is_same_v<T, Value>) return values;
  else return {values.begin(), values.end()};
}

// Blocks of a rank on all levels, coarsest first.
struct StoredBlocks {
  std::vector<mesh::Mesh::BlockList> levels;
  std::vector<std::int64_t> totals;  // by level, on all ranks
  std::vector<RowRange> ranges;      // by level: rows of this rank's blocks
};

// Reads even parts of the blocks and creates the mesh from them. Throws InputError on every rank
// unless they are a complete octree on the mesh's grid. Collective.
StoredBlocks restore_blocks(const Hdf5Reader& file, mesh::Mesh& mesh);

}  // namespace octant

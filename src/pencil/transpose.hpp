// Moves an array from one distribution over the ranks to another one.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "pencil/buffer.hpp"
#include "pencil/grid.hpp"

namespace octant::pencil {

// How transposes move their messages: all at once through comm's backends, or pairwise: partner by
// partner, each packed while the earlier ones travel and unpacked while the later ones do.
enum class TransposeBackend { pairwise, p2p, alltoall, ksection };
inline constexpr TransposeBackend k_transpose_backends[] = {
    TransposeBackend::pairwise, TransposeBackend::p2p, TransposeBackend::alltoall,
    TransposeBackend::ksection};
std::string to_string(TransposeBackend backend);
// Throws InputError for an unknown name.
TransposeBackend transpose_backend(const std::string& name);

// Where the entries of a box lie in memory: any order of the axes, and x may be cut into blocks.
// Entry (x, y, z), counted from the box's corner, is at
//   x / block * block_stride + x % block * stride[0] + y * stride[1] + z * stride[2].
struct Layout {
  Box box;
  std::array<std::int64_t, 3> stride;
  int block;
  std::int64_t block_stride;

  // Axes from the one with contiguous entries to the one with the largest stride, without gaps:
  // {0, 1, 2} is C's array[z][y][x].
  static Layout ordered(const Box& box, std::array<int, 3> axes = {0, 1, 2});
  std::int64_t at(int x, int y, int z) const {
    return x / block * block_stride + x % block * stride[0] + y * stride[1] + z * stride[2];
  }
};

// Message buffers that several transposes may share, because only one runs at a time.
struct TransposeBuffers {
  Buffer send, receive;
};

// What this rank sent to others, over all calls.
struct TransposeTraffic {
  std::int64_t calls = 0, messages = 0, bytes = 0;
  double seconds = 0.0;
  std::int64_t kept_bytes = 0;  // that the rank would have sent to itself
};

class Transpose {
 public:
  using BoxOf = std::function<Box(int rank)>;

  // From the boxes `source_of(rank)` to the boxes `target_of(rank)`, ranks counted in
  // `communicator`. Each side's boxes are disjoint; a cell that only one side has is not moved.
  // The layouts are this rank's, whose boxes are those of the functions. Collective over the
  // communicator. Memory: the partners of this rank, and buffers as
  // large as its two boxes; of one, where a layout is that of the messages (slabs of planes).
  Transpose(std::string name, const Communicator& communicator, const BoxOf& source_of,
            const BoxOf& target_of, const Layout& source, const Layout& target,
            TransposeBackend backend, std::shared_ptr<TransposeBuffers> buffers = nullptr,
            bool overlapping = false);
  // Between two pencils of a grid with the given orders of axes: x <-> y among the ranks of a row,
  // y <-> z among those of a column, and x <-> z directly among all ranks whose boxes meet (paper's
  // appendix B).
  static Transpose between(const PencilGrid& grid, Orientation from, Orientation to,
                           TransposeBackend backend, std::array<int, 3> from_axes = {0, 1, 2},
                           std::array<int, 3> to_axes = {0, 1, 2});
  ~Transpose();
  Transpose(Transpose&&) noexcept;
  Transpose& operator=(Transpose&&) noexcept;

  // Copies every cell to where it belongs. Source and target must not overlap unless the
  // constructor was told that they do. Collective.
  void forward(const double* source, double* target);
  void backward(const double* target, double* source);

  // Entries that this rank sends to other ranks in one forward call.
  std::int64_t entries_sent() const;
  const TransposeTraffic& traffic() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace octant::pencil

#include "pencil/strips.hpp"

#include <algorithm>
#include <utility>

#include "pencil/fft.hpp"

namespace octant::pencil {

Range columns_of(int width, int parts, int index) {
  const Range pairs = part((width + 1) / 2, parts, index);
  return {2 * pairs.begin, std::min(2 * pairs.end, width)};
}

int whole_blocks(int columns) { return (columns + k_columns - 1) / k_columns; }

namespace {

// Rows of k_columns numbers: those of all blocks of a plane, strip by strip, each with room for the
// largest one. A transpose from ranges of planes to ranges of such rows takes them where they
// belong.
Transpose transpose_of(const Communicator& column, int width, int rows,
                       const std::function<Range(int)>& planes_of, TransposeBackend backend,
                       std::shared_ptr<TransposeBuffers> buffers) {
  const int ranks = column.size();
  const int most = whole_blocks(columns_of(width, ranks, 0).count()) * rows;
  const Range all_planes{planes_of(0).begin, planes_of(ranks - 1).end};
  const auto made = [=](int rank) {
    return Box{Range{0, k_columns}, Range{0, ranks * most}, planes_of(rank)};
  };
  const auto solved = [=](int rank) {
    const int own = whole_blocks(columns_of(width, ranks, rank).count()) * rows;
    return Box{Range{0, k_columns}, Range{rank * most, rank * most + own}, all_planes};
  };
  return {"tridiagonal lines",
          column,
          made,
          solved,
          Layout::ordered(made(column.rank())),
          Layout::ordered(solved(column.rank())),
          backend,
          std::move(buffers),
          true};
}

}  // namespace

Strips::Strips(const Communicator& column, int width, int rows,
               const std::function<Range(int)>& planes_of, TransposeBackend backend,
               std::shared_ptr<TransposeBuffers> buffers)
    : width_(width),
      ranks_(column.size()),
      transpose_(transpose_of(column, width, rows, planes_of, backend, std::move(buffers))) {}

bool Strips::are_worth_it(int width, int ranks) {
  int blocks = 0;
  for (int rank = 0; rank < ranks; ++rank)
    blocks += whole_blocks(columns_of(width, ranks, rank).count());
  return 4 * blocks * k_columns <= 5 * width;
}

void Strips::add_plane(int k, std::vector<Strip>& strips) const {
  for (int n = 0; n < transpose_.pieces(Transpose::End::source); ++n) {
    const Message message = transpose_.message(Transpose::End::source, n);
    strips.push_back(
        {columns_of(width_, ranks_, message.rank), message.first + k * message.plane_stride});
  }
}

}  // namespace octant::pencil

// Coefficients on their way to the ranks that solve whole lines along z. Internal to pencil/.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "pencil/transpose.hpp"

namespace octant::pencil {

// Columns of a plane that one rank solves: blocks of k_columns, [block][y][k_columns].
struct Strip {
  Range columns;
  double* first;
};

// A plane is written, and transformed along y, where its strips are solved: nothing is packed.
// Blocks have room for k_columns columns whether they are full or not.
class Strips {
 public:
  // The ranks of a column share `width` columns of `rows` rows; `planes_of` says which planes each
  // of them makes. Collective over the column.
  Strips(const Communicator& column, int width, int rows,
         const std::function<Range(int rank)>& planes_of, TransposeBackend backend,
         std::shared_ptr<TransposeBuffers> buffers);

  // Whether few enough blocks are not full when `ranks` ranks share `width` columns.
  static bool are_worth_it(int width, int ranks);

  // Those of plane k of this rank.
  void add_plane(int k, std::vector<Strip>& strips) const;
  // The planes of this rank's columns, complete after a forward exchange.
  std::vector<Slab> slabs() const { return transpose_.slabs(); }
  void exchange(Direction direction) { transpose_.exchange(direction); }

  const TransposeTraffic& traffic() const { return transpose_.traffic(); }

 private:
  int width_, ranks_;
  Transpose transpose_;
};

// A rank's share of the columns of coefficients: whole pairs, so that complex numbers stay
// together.
Range columns_of(int width, int parts, int index);
int whole_blocks(int columns);

}  // namespace octant::pencil

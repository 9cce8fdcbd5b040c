// Rows too large to be moved all at once: a dataset's way to the file in batches.
#pragma once

#include <vector>

#include "io/row_shuffle.hpp"

namespace octant {

// The part of a dataset that is moved and written, or read, in one go.
struct RowBatch {
  std::vector<std::int64_t> own;  // positions in the owner's list of the rows that belong to it
  RowRange range;                 // rows of the whole dataset that this rank writes
  RowShuffle shuffle;             // takes rows in the order of `own` and returns those of `range`
};

// Divides the rows of a dataset into batches in which no rank writes more than rows_per_batch rows.
// All batches together move every row from its owner to the rank that a RowShuffle of the whole
// would choose. `rows` are the rows that this rank owns, as for RowShuffle. Every rank gets the
// same number of batches. Collective. Throws RunError on every rank if the ranks do not own each
// row once.
std::vector<RowBatch> row_batches(const Communicator& communicator,
                                  const std::vector<std::int64_t>& rows,
                                  std::int64_t rows_per_batch);

}  // namespace octant

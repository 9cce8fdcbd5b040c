// Communication of grid cells from the ranks that computed or read them to those that need them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "comm/exchanger.hpp"
#include "pencil/pencil_grid.hpp"

namespace octant::cosmology {

// Index of a cell in the values of a box, [z][y][x].
inline std::size_t place(const pencil::Box& box, int x, int y, int z) {
  const auto [nx, ny, nz] = box.shape();
  const std::int64_t row = std::int64_t{z - box[2].begin} * ny + (y - box[1].begin);
  return static_cast<std::size_t>(row * nx + (x - box[0].begin));
}

// Distribution of the cells of a box over ranks: in parts along y and z, as an x-pencil. Ranks
// beyond the process grid hold nothing.
struct CellSpread {
  pencil::Box extent;
  pencil::ProcessGrid processes;

  pencil::Box box(int rank) const;
  // Calls visit(rank, cells) for every rank that holds some of these cells, in ascending order.
  void for_each_holder(const pencil::Box& cells,
                       const std::function<void(int rank, const pencil::Box& held)>& visit) const;
};

// Delivery of boxes of cells to this rank. Memory: the boxes, and two buffers of the same size
// during the delivery.
class CellDelivery {
 public:
  // `boxes` lie within spread.extent; they may overlap, be empty, and differ by rank. Collective.
  CellDelivery(const Communicator& communicator, const CellSpread& spread,
               std::vector<pencil::Box> boxes);

  const std::vector<pencil::Box>& boxes() const { return boxes_; }

  // `own` are the values of spread.box(rank) as [z][y][x]. Returns the values of the boxes in
  // order, each as [z][y][x]. Collective.
  std::vector<double> deliver(std::span<const double> own);

 private:
  // Cells of one box that come from one rank.
  struct Part {
    int rank;
    pencil::Box cells;
    std::size_t target;  // index of the box
  };
  std::vector<Part> parts_of_boxes(const CellSpread& spread) const;
  std::vector<pencil::Box> ask(const Communicator& communicator);
  ExchangePlan plan(const Communicator& communicator) const;

  pencil::Box own_;
  std::vector<pencil::Box> boxes_;
  std::vector<std::int64_t> starts_;  // offsets of the boxes' values, and the total
  std::vector<Part> parts_;           // by ascending rank
  std::vector<Segment> asking_;       // requesting ranks, with their numbers of parts
  std::vector<pencil::Box> asked_;    // parts requested by them
  ExchangePlan plan_;
  Exchanger exchanger_;
};

}  // namespace octant::cosmology

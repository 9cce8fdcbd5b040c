// Brings cells of a grid from the ranks that made or read them to those that ask for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "comm/exchanger.hpp"
#include "pencil/pencil_grid.hpp"

namespace octant::cosmology {

// Place of a cell in the values of a box, [z][y][x].
inline std::size_t place(const pencil::Box& box, int x, int y, int z) {
  const auto [nx, ny, nz] = box.shape();
  const std::int64_t row = std::int64_t{z - box[2].begin} * ny + (y - box[1].begin);
  return static_cast<std::size_t>(row * nx + (x - box[0].begin));
}

// How the cells of a box lie on the ranks: in parts along y and z, as an x-pencil. Ranks beyond
// those of the process grid hold nothing.
struct CellSpread {
  pencil::Box extent;
  pencil::ProcessGrid processes;

  pencil::Box box(int rank) const;
  // Every rank that holds some of these cells, by ascending rank, and which ones.
  void for_each_holder(const pencil::Box& cells,
                       const std::function<void(int rank, const pencil::Box& held)>& visit) const;
};

// The way of some boxes of cells to this rank. Memory: the boxes, and two buffers as large while
// they are delivered.
class CellDelivery {
 public:
  // `boxes` lie within spread.extent; they may overlap, be empty, and differ by rank. Collective.
  CellDelivery(const Communicator& communicator, const CellSpread& spread,
               std::vector<pencil::Box> boxes);

  const std::vector<pencil::Box>& boxes() const { return boxes_; }

  // `own` are the values of spread.box(rank) as [z][y][x]. Returns the boxes' values one box after
  // the other, each as [z][y][x]. Collective.
  std::vector<double> deliver(std::span<const double> own);

 private:
  // Cells of one box that come from one rank.
  struct Part {
    int rank;
    pencil::Box cells;
    std::size_t target;  // the box
  };
  std::vector<Part> parts_of_boxes(const CellSpread& spread) const;
  std::vector<pencil::Box> ask(const Communicator& communicator);
  ExchangePlan plan(const Communicator& communicator) const;

  pencil::Box own_;
  std::vector<pencil::Box> boxes_;
  std::vector<std::int64_t> starts_;  // of the boxes' values, and the total
  std::vector<Part> parts_;           // by ascending rank
  std::vector<Segment> asking_;       // ranks that ask, with their number of parts
  std::vector<pencil::Box> asked_;    // those parts
  ExchangePlan plan_;
  Exchanger exchanger_;
};

}  // namespace octant::cosmology

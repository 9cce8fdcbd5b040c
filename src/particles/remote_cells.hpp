// Ghost cells: cells of other ranks' blocks that this rank reads or adds to.
#pragma once

#include <memory>
#include <vector>

#include "comm/exchanger.hpp"
#include "decomp/key_table.hpp"
#include "mesh/halo.hpp"

namespace octant::particles {

template <class T>
using DeviceArray = mesh::DeviceArray<T>;

// Location of cells.
enum Source : std::int32_t { k_here, k_coarser, k_ghost, k_sources };  // this level, the coarser

// Values of cells, in the blocks of a level ([slot][component][cell] if stride_cell is 1) or in
// ghosts ([cell][component]), each of which has a slot. With null, added values are dropped.
template <class T>
struct CellArray {
  T* data = nullptr;
  std::int64_t stride_slot = 0, stride_component = 0;
  std::int64_t stride_cell = 1;
};

template <class T>
struct CellArrays {
  CellArray<T> source[k_sources];
};

// Cell of this rank that is a ghost of another rank.
struct SentCell {
  std::int32_t source, slot, cell;
};

// Ghosts of one level: boxes of cells of this level and of the coarser one. Ghost n of the plan's
// receive buffer is a copy of one cell of another rank.
class RemoteCells {
 public:
  // Requests a region of a block, in its own cells; several regions of a block are merged. Returns
  // the number of the box.
  int want(Source source, Key key, int owner, const mesh::Region& region);

  // Sends the requests to the owners and builds the exchange plan. Collective.
  void agree(const mesh::Tree& tree, int level);

  // Box and its first ghost, after agree().
  const mesh::Region& region(int box) const { return boxes_[box].region; }
  std::int64_t first_ghost(int box) const { return boxes_[box].first; }

  std::int64_t ghosts() const { return plan_->items_received(); }

  // Fetches the values of `components` from the owners into ghosts [ghost][component]. Collective.
  void fetch(const CellArrays<const double>& fields, int components, double* ghosts,
             Exchanger& exchanger) const;

  // Adds the ghosts' values to the owners' cells. Collective.
  void give_back(const std::int64_t* ghosts, const CellArrays<std::int64_t>& cells,
                 Exchanger& exchanger) const;

  std::int64_t bytes() const;

 private:
  struct Box {
    Source source;
    int owner;
    Key key;
    mesh::Region region;
    std::int64_t first = 0;
  };
  std::vector<Box> boxes_;
  KeyTable<std::int32_t> box_of_[2];  // by source
  DeviceArray<const SentCell> sent_;
  std::unique_ptr<ExchangePlan> plan_;
};

}  // namespace octant::particles

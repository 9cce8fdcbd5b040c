// Copies of boxes of a staggered field between blocks on any ranks. Only the rank of the source
// lists a copy; the constructor sends the list to the other ranks.
#pragma once

#include <memory>
#include <vector>

#include "comm/exchanger.hpp"
#include "mesh/staggered_field.hpp"
#include "mesh/tree.hpp"

namespace octant::mesh {

// Points of one component that a copy reads or writes.
struct StaggeredBox {
  std::int32_t slot, component;
  std::int32_t begin[3], extent[3];
  std::int64_t message;  // offset of the values in the message buffer, [k][j][i]

  // Number of points, which are the items of for_items_of().
  KOKKOS_FORCEINLINE_FUNCTION int items() const { return extent[0] * extent[1] * extent[2]; }
  // Sets `at` to the indices of point n.
  KOKKOS_FORCEINLINE_FUNCTION void point(int n, int (&at)[3]) const {
    at[0] = begin[0] + n % extent[0];
    at[1] = begin[1] + n / extent[0] % extent[1];
    at[2] = begin[2] + n / (extent[0] * extent[1]);
  }
};

// Box of one component in the block `target`, in indices of that block.
struct TargetBox {
  Key target;
  std::int32_t component;
  std::int32_t position;  // position of the source block among the 27 positions around the target
  std::int32_t begin[3], extent[3];
};

// Copy from a block of this rank to a block of any rank.
struct BoxCopy {
  int rank;         // rank that owns the target block
  int source_slot;  // slot of the source block on this rank
  std::int32_t source_begin[3];
  TargetBox to;
};

// Exchange for a fixed list of copies.
class BoxMessages {
 public:
  BoxMessages() = default;
  // Sends the list of copies to the ranks of the target blocks, on level `targets`. Collective.
  BoxMessages(const Communicator& communicator, const TreeLevel& targets,
              std::vector<BoxCopy> copies);

  // Copies the points from `source` to `target`. All copies to one point must carry the same value.
  // Collective.
  void run(Exchanger& exchanger, const StaggeredView& source, const StaggeredView& target) const;
  // Copies (1 - theta) * earlier + theta * source, for interpolation in time. Collective.
  void run(Exchanger& exchanger, const StaggeredView& earlier, const StaggeredView& source,
           double theta, const StaggeredView& target) const;

  // Slot of an own block that receives a copy, and position of the source block around it.
  struct Arrival {
    int slot, position;
  };
  // Arrivals on this rank, one per received copy.
  const std::vector<Arrival>& arrivals() const { return arrivals_; }

 private:
  DeviceArray<const StaggeredBox> sent_, received_;
  std::unique_ptr<ExchangePlan> plan_;
  std::vector<Arrival> arrivals_;
};

}  // namespace octant::mesh

// Halo exchange: fills the ghosts of fields, for host threads and for kernels.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "comm/exchange_plan.hpp"
#include "comm/exchanger.hpp"
#include "pencil/device_field.hpp"
#include "pencil/field.hpp"
#include "pencil/pencil_grid.hpp"

namespace octant::pencil {

// Pieces of a halo exchange along one axis. A piece fills the ghosts at one end of a neighbour; the
// pieces for one rank are adjacent, the piece for its lower end first. End 0 is the lower end of a
// pencil, end 1 the upper one.
struct HaloPieces {
  // Requires at least two `ranks` along the axis.
  HaloPieces(const Communicator& ranks, bool periodic);

  std::optional<int> neighbour[2];
  // Ends of this rank in the order of the buffers: ends from which sent pieces are read, and ends
  // whose ghosts are filled by received pieces.
  std::vector<int> send_ends, receive_ends;
  std::vector<Segment> segments;  // numbers of pieces, equal in both directions
};

// Transport of halos: messages, or memory shared by the ranks of a node.
struct HaloOptions {
  CommOptions messages;
  bool shared_memory = false;
};

// Halo exchange: fills the ghost rows and planes of x-pencils from the ranks that own those cells,
// and across periodic boundaries. Ghosts outside other boundaries are unchanged and must be set by
// the caller. One message per neighbour contains all fields of a call. fill_y() and fill_z() are
// collective over the ranks along y and z.
class Halo {
 public:
  // Prepares the exchange along the axes that are divided among ranks. Collective.
  Halo(const PencilGrid& grid, bool periodic_y, bool periodic_z, const HaloOptions& options = {});
  ~Halo();
  Halo(Halo&&) noexcept;
  Halo& operator=(Halo&&) noexcept;

  // Fills rows -1 and n_y, with their x-ghosts, of all planes.
  void fill_y(std::span<Field* const> fields, int plane_offset = 0);
  // Fills rows -1 and n_y, with their x-ghosts, of planes first .. end - 1.
  void fill_y(std::span<Field* const> fields, int first, int end, int plane_offset);
  // Fills planes -1 and n_z, with all their ghosts.
  void fill_z(std::span<Field* const> fields, int plane_offset = 0);

  // Returns bytes and messages sent to other ranks so far, or written for them in shared memory.
  std::vector<ExchangeCount> report() const;

 private:
  struct Side;
  std::unique_ptr<Side> y_, z_;
};

// Halo exchange in the memory of Kokkos' default execution space; kernels pack and unpack messages.
//
// Fills the ghosts of pencils of one grid that other ranks own. The caller sets ghosts outside
// non-periodic boundaries, and all ghosts along axes that are not divided among ranks.
class BatchedHalo {
 public:
  // Prepares the exchange along the axes that are divided among ranks, for fields in pencils of the
  // given orientation. Collective.
  BatchedHalo(const PencilGrid& grid, const std::array<bool, 3>& periodic, const CommOptions& comm,
              Orientation fields = Orientation::x);
  ~BatchedHalo();

  // Fills the first and the last ghost layer along an axis, with all its ghosts along the other
  // axes. Does nothing if the axis is not divided. Collective over the ranks along the axis. Does
  // not wait for unpacking kernels.
  void fill(std::span<const FieldView> fields, int axis);

  // Returns bytes and messages sent to other ranks so far.
  std::vector<ExchangeCount> report() const;

 private:
  struct Side;
  std::array<std::unique_ptr<Side>, 3> sides_;  // by axis; empty if it is not divided among ranks
};

}  // namespace octant::pencil

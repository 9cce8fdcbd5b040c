// Halo exchange: fills the ghosts of fields, for host threads and for kernels.
#pragma once

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

// Pieces of a halo exchange. A piece fills the ghosts at one end of a neighbour; the pieces for one
// rank are adjacent, the one for its lower end first. Ends are 0 below and 1 above.
struct HaloPieces {
  // Requires at least two `ranks` along the axis.
  HaloPieces(const Communicator& ranks, bool periodic);

  std::optional<int> neighbour[2];
  // Ends of this rank in the order of the buffers: those that pieces are read from, and those whose
  // ghosts pieces fill.
  std::vector<int> send_ends, receive_ends;
  std::vector<Segment> segments;  // numbers of pieces, equal in both directions
};

// Transport of halos: messages, or memory shared by the ranks of a node.
struct HaloOptions {
  CommOptions messages;
  bool shared_memory = false;
};

// Halo exchange: fills the ghost rows and planes of x-pencils from the ranks that hold those cells,
// and across periodic boundaries. Ghosts outside other boundaries are unchanged: the caller's
// boundary conditions set them. One message per neighbour carries all fields of a call. All calls
// except the constructor are collective over the ranks along that axis.
class Halo {
 public:
  // Takes the periodicity of the axes that are cut. Collective.
  Halo(const PencilGrid& grid, bool periodic_y, bool periodic_z, const HaloOptions& options = {});
  ~Halo();
  Halo(Halo&&) noexcept;
  Halo& operator=(Halo&&) noexcept;

  // Fills rows -1 and n_y, with their x-ghosts, of planes first .. end - 1, or of all planes.
  void fill_y(std::span<Field* const> fields, int plane_offset = 0);
  // Fills these rows of planes first .. end - 1.
  void fill_y(std::span<Field* const> fields, int first, int end, int plane_offset);
  // Fills planes -1 and n_z, with all their ghosts.
  void fill_z(std::span<Field* const> fields, int plane_offset = 0);

  // Returns bytes and messages sent to other ranks so far; in shared memory, those written for
  // them.
  std::vector<ExchangeCount> report() const;

 private:
  struct Side;
  std::unique_ptr<Side> y_, z_;
};

// Halo exchange in the memory of Kokkos' default execution space: kernels pack and unpack its
// messages.
//
// Fills the ghosts of x-pencils of one grid that other ranks hold. The caller sets ghosts outside
// boundaries that are not periodic, and all ghosts along axes that are not cut.
class BatchedHalo {
 public:
  // Takes the periodicity of the axes that are cut. Collective.
  BatchedHalo(const PencilGrid& grid, bool periodic_y, bool periodic_z, const CommOptions& comm);
  ~BatchedHalo();

  // Fills ghosts along y (axis 1): rows -1 and n_y with their ghosts, of all planes with ghosts; or
  // along z (axis 2): planes -1 and n_z with all their ghosts. Does nothing where the axis is not
  // cut. Collective over the ranks along the axis. Does not wait for the kernels that unpack.
  void fill(std::span<const FieldView> fields, int axis);

  // Returns bytes and messages sent to other ranks so far.
  std::vector<ExchangeCount> report() const;

 private:
  struct Side;
  std::unique_ptr<Side> y_, z_;  // empty where the axis is not cut
};

}  // namespace octant::pencil

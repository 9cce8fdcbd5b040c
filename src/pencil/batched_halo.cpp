#include "pencil/batched_halo.hpp"

#include <string>
#include <vector>

#include "core/observer.hpp"
#include "pencil/halo_pieces.hpp"

namespace octant::pencil {

namespace {

// Row j (axis 1) or plane j (2) of a view, with all ghosts along the other axes.
FieldView layer_of(const FieldView& field, int axis, int j) {
  const Range layer{j, j + 1};
  return part_of(field, {-1, field.nx + 1}, axis == 1 ? layer : Range{-1, field.ny + 1},
                 axis == 2 ? layer : Range{-1, field.nz + 1});
}

}  // namespace

// The exchange along one axis.
struct BatchedHalo::Side {
  Side(const std::string& name, const Communicator& ranks, bool periodic, const CommOptions& comm)
      : name(name),
        pieces(ranks, periodic),
        plan(ranks, pieces.segments, pieces.segments),
        exchanger(name, ranks, comm, -1, Buffers::of_device) {}

  void fill(std::span<const FieldView> fields, int axis) {
    const int last = (axis == 1 ? fields[0].ny : fields[0].nz) - 1;
    const Cells shape = [&, layer = layer_of(fields[0], axis, 0)] {
      return Cells{layer.nx, layer.ny, layer.nz};
    }();
    const std::size_t size = std::size_t(shape[0]) * shape[1] * shape[2];
    const std::size_t length = size * fields.size(), all = length * pieces.send_ends.size();
    if (leaving.size() < all) leaving = uninitialised<double>(name, all);
    if (arriving.size() < all) arriving = uninitialised<double>(name, all);
    {
      const Observed packing(Phase::pack, name);
      double* out = leaving.data();
      std::vector<CellCopy> copies;
      for (const int end : pieces.send_ends)
        for (const FieldView& field : fields) {
          copies.push_back({layer_of(field, axis, end == 0 ? 0 : last), dense_view(out, shape)});
          out += size;
        }
      copy_cells(copies);
    }
    exchanger.run(plan, leaving.data(), arriving.data(), static_cast<int>(length));
    const Observed unpacking(Phase::unpack, name);
    double* in = arriving.data();
    std::vector<CellCopy> copies;
    for (const int end : pieces.receive_ends)
      for (const FieldView& field : fields) {
        copies.push_back({dense_view(in, shape), layer_of(field, axis, end == 0 ? -1 : last + 1)});
        in += size;
      }
    copy_cells(copies);
  }

  std::string name;
  HaloPieces pieces;
  ExchangePlan plan;
  Exchanger exchanger;
  DeviceArray<double> leaving, arriving;
};

BatchedHalo::BatchedHalo(const PencilGrid& grid, bool periodic_y, bool periodic_z,
                         const CommOptions& comm) {
  if (grid.row().size() > 1) y_ = std::make_unique<Side>("halo y", grid.row(), periodic_y, comm);
  if (grid.column().size() > 1)
    z_ = std::make_unique<Side>("halo z", grid.column(), periodic_z, comm);
}

BatchedHalo::~BatchedHalo() = default;

void BatchedHalo::fill(std::span<const FieldView> fields, int axis) {
  Side* side = axis == 1 ? y_.get() : axis == 2 ? z_.get() : nullptr;
  if (side && !fields.empty()) side->fill(fields, axis);
}

std::vector<ExchangeCount> BatchedHalo::report() const {
  std::vector<ExchangeCount> counts;
  for (const Side* side : {y_.get(), z_.get()})
    if (side)
      for (const ExchangeCount& count : side->exchanger.report()) counts.push_back(count);
  return counts;
}

}  // namespace octant::pencil

#include "gravity/base_fourier.hpp"

#include "core/residency.hpp"

#include <algorithm>

namespace octant::gravity {

namespace {

constexpr std::int64_t k_cells_worth_a_rank = 32 * 32 * 32;

pencil::Cells base_cells(const mesh::Geometry& geometry) {
  const BlockCoordinates blocks = geometry.extent(0);
  pencil::Cells cells;
  for (int d = 0; d < 3; ++d) cells[d] = static_cast<int>(blocks[d]) * geometry.block_size();
  return cells;
}

std::int64_t product(const pencil::Cells& cells) {
  return std::int64_t{cells[0]} * cells[1] * cells[2];
}

pencil::ProcessGrid processes_for(const pencil::Cells& cells, int ranks) {
  const auto worth = std::max<std::int64_t>(1, product(cells) / k_cells_worth_a_rank);
  return pencil::fitting_process_grid(static_cast<int>(std::min<std::int64_t>(ranks, worth)),
                                      cells);
}

}  // namespace

BaseFourier::BaseFourier(const mesh::Geometry& geometry, const Communicator& communicator,
                         const CommOptions& options)
    : options_(options),
      cells_(base_cells(geometry)),
      cell_size_(geometry.cell_size(0)),
      processes_(processes_for(cells_, communicator.size())) {
  const bool takes_part = communicator.rank() < processes_.ranks();
  const Communicator part = communicator.split(takes_part ? 0 : 1);
  if (!takes_part) return;
  const pencil::PencilGrid grid(part, cells_, processes_);
  const bool periodic = geometry.periodic(0);
  fourier_.emplace(grid, pencil::TransposeBackend::p2p,
                   periodic ? pencil::Padding::none : pencil::Padding::doubled);
  pencil_.resize(static_cast<std::size_t>(grid.box(pencil::Orientation::x).cells()));
}

void BaseFourier::connect(const LevelPatches& patches) {
  transfer_.emplace(patches, cells_, processes_, options_);
}

void BaseFourier::forward(const DeviceArray<double>& field) {
  const auto host = on_host(Cargo::fields, field);
  transfer_->to_pencil(host.data(), pencil_.data());
  if (fourier_) fourier_->forward(pencil_.data());
}

void BaseFourier::for_each_mode(const Visit& visit) {
  if (fourier_) fourier_->for_each_mode(visit);
}

void BaseFourier::backward(const DeviceArray<double>& field) {
  if (fourier_) fourier_->backward(pencil_.data());
  const auto host = Kokkos::create_mirror_view(field);
  transfer_->to_patches(pencil_.data(), host.data());
  copy_to_device(Cargo::fields, field, host);
}

}  // namespace octant::gravity

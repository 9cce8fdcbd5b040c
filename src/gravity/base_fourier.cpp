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
                         const CommOptions& options, FourierSchedule schedule)
    : options_(options),
      cells_(base_cells(geometry)),
      cell_size_(geometry.cell_size(0)),
      padding_(geometry.periodic(0) ? pencil::Padding::none : pencil::Padding::doubled),
      processes_(processes_for(cells_, communicator.size())),
      schedule_(k_device_is_host ? schedule : FourierSchedule::device) {
  const bool takes_part = communicator.rank() < processes_.ranks();
  const Communicator part = communicator.split(takes_part ? 0 : 1);
  if (takes_part) grid_.emplace(part, cells_, processes_);
}

void BaseFourier::connect(const LevelPatches& patches) {
  transfer_.emplace(patches, cells_, processes_, options_);
}

void BaseFourier::solve(ModeFactors& factors, const DeviceArray<double>& f,
                        const DeviceArray<double>& phi) {
  if (schedule_ == FourierSchedule::device) solve_in_batches(factors, f, phi);
  else solve_on_host(factors.of, f, phi);
}

void BaseFourier::solve_in_batches(ModeFactors& factors, const DeviceArray<double>& f,
                                   const DeviceArray<double>& phi) {
  if (grid_ && !batches_) batches_.emplace(*grid_, padding_, options_);
  if (!batches_) {
    transfer_->to_pencil(f.data(), {});
    return transfer_->to_patches({}, phi.data());
  }
  if (factors.table.size() == 0) factors.table = batches_->factors(factors.of);
  batches_->clear();
  transfer_->to_pencil(f.data(), batches_->values());
  batches_->multiply_modes(factors.table);
  transfer_->to_patches(batches_->values(), phi.data(), batches_->scale());
}

// --- on the host -------------------------------------------------------------------------------

void BaseFourier::begin_on_host() {
  if (!grid_ || fourier_) return;
  fourier_.emplace(*grid_, pencil::TransposeBackend::p2p, padding_);
  const std::int64_t cells = grid_->box(pencil::Orientation::x).cells();
  pencil_ = DeviceArray<double>("pencil", static_cast<std::size_t>(cells));
}

pencil::FieldView BaseFourier::own_pencil() const {
  if (!grid_) return {};
  return pencil::dense_view(pencil_.data(), grid_->box(pencil::Orientation::x).shape());
}

// Where the host reads what kernels work on: a GPU would copy nothing.
void BaseFourier::solve_on_host(const ModeFactor& factor, const DeviceArray<double>& f,
                                const DeviceArray<double>& phi) {
  begin_on_host();
  transfer_->to_pencil(f.data(), own_pencil());
  if (fourier_) {
    fourier_->forward(pencil_.data());
    fourier_->for_each_mode([&](const pencil::Mode& mode, std::complex<double>& coefficient) {
      coefficient *= factor(mode);
    });
    fourier_->backward(pencil_.data());
  }
  transfer_->to_patches(own_pencil(), phi.data());
}

void BaseFourier::forward(const DeviceArray<double>& field) {
  begin_on_host();
  transfer_->to_pencil(field.data(), own_pencil());
  if (fourier_) fourier_->forward(on_host(Cargo::fields, pencil_).data());
}

void BaseFourier::for_each_mode(const Visit& visit) {
  if (fourier_) fourier_->for_each_mode(visit);
}

}  // namespace octant::gravity

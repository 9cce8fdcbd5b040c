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
                         const CommOptions& options, Solves solves)
    : options_(options),
      cells_(base_cells(geometry)),
      cell_size_(geometry.cell_size(0)),
      padding_(geometry.periodic(0) ? pencil::Padding::none : pencil::Padding::doubled),
      processes_(processes_for(cells_, communicator.size())),
      is_alone_(communicator.size() == 1) {
  const bool takes_part = communicator.rank() < processes_.ranks();
  const Communicator part = communicator.split(takes_part ? 0 : 1);
  if (takes_part) grid_.emplace(part, cells_, processes_);
  const bool wanted = !k_device_is_host || solves == Solves::where_fields_lie;
  if (wanted && is_alone_) resident_.emplace(cells_, padding_);
}

void BaseFourier::connect(const LevelPatches& patches) {
  patches_ = &patches;
  transfer_.reset();
  if (resident_) resident_->connect(patches);
}

void BaseFourier::begin_on_host() {
  if (!transfer_) transfer_.emplace(*patches_, cells_, processes_, options_);
  if (!grid_ || fourier_) return;
  fourier_.emplace(*grid_, pencil::TransposeBackend::p2p, padding_);
  pencil_.resize(static_cast<std::size_t>(grid_->box(pencil::Orientation::x).cells()));
}

void BaseFourier::solve(ModeFactors& factors, const DeviceArray<double>& f,
                        const DeviceArray<double>& phi) {
  if (resident_) return resident_->solve(factors, f, phi);
  const auto multiply = [&] {
    for_each_mode([&](const pencil::Mode& mode, std::complex<double>& coefficient) {
      coefficient *= factors.of(mode);
    });
  };
  if (is_alone_) {  // on a host: nothing that a GPU would copy
    transform(f.data());
    multiply();
    return transform_back(phi.data());
  }
  forward(f);
  multiply();
  backward(phi);
}

void BaseFourier::forward(const DeviceArray<double>& field) {
  transform(on_host(Cargo::fields, field).data());
}

void BaseFourier::for_each_mode(const Visit& visit) {
  if (fourier_) fourier_->for_each_mode(visit);
}

void BaseFourier::backward(const DeviceArray<double>& field) {
  const auto host = Kokkos::create_mirror_view(field);
  transform_back(host.data());
  copy_to_device(Cargo::fields, field, host);
}

void BaseFourier::transform(const double* patches) {
  begin_on_host();
  transfer_->to_pencil(patches, pencil_.data());
  if (fourier_) fourier_->forward(pencil_.data());
}

void BaseFourier::transform_back(double* patches) {
  if (fourier_) fourier_->backward(pencil_.data());
  transfer_->to_patches(pencil_.data(), patches);
}

}  // namespace octant::gravity

#include "gravity/base_fourier.hpp"

#include <algorithm>

#include "core/residency.hpp"
#include "mesh/device.hpp"

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

// product = factor of the mode * factor of its wave number.
void multiply_factors(const DeviceArray<double>& of_modes, const DeviceArray<std::int32_t>& places,
                      const DeviceArray<double>& of_waves, const DeviceArray<double>& product) {
  Kokkos::parallel_for(
      "gravity: multiply factors", Kokkos::RangePolicy<>(0, product.extent(0)),
      KOKKOS_LAMBDA(const std::int64_t n) { product(n) = of_modes(n) * of_waves(places(n)); });
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
  if (schedule_ == FourierSchedule::host) return solve_on_host(factors.of, f, phi);
  begin_batches(factors);
  multiply_in_batches(factors.table, f, phi);
}

void BaseFourier::solve(ModeFactors& factors, WaveNumbers& waves, const WaveFactor& of_wave,
                        const DeviceArray<double>& f, const DeviceArray<double>& phi) {
  const auto factor_of = [&](double k) { return k > 0.0 ? of_wave(k) : 0.0; };
  if (schedule_ == FourierSchedule::host)
    return solve_on_host(
        [&](const pencil::Mode& mode) { return factors.of(mode) * factor_of(waves.of(mode)); }, f,
        phi);
  if (begin_batches(factors)) {
    if (waves.numbers.empty()) find_places(waves);
    std::vector<double> of_numbers;
    for (const double k : waves.numbers) of_numbers.push_back(factor_of(k));
    multiply_factors(factors.table, waves.places,
                     on_device(Cargo::numbers, "factors of waves", of_numbers), waves.product);
  }
  multiply_in_batches(waves.product, f, phi);
}

// --- on a device -------------------------------------------------------------------------------

// Whether this rank takes part.
bool BaseFourier::begin_batches(ModeFactors& factors) {
  if (!grid_) return false;
  if (!batches_) batches_.emplace(*grid_, padding_, options_);
  if (factors.table.size() == 0) factors.table = batches_->factors(factors.of);
  return true;
}

void BaseFourier::find_places(WaveNumbers& waves) const {
  const std::vector<double> of_modes = batches_->of_modes(waves.of);
  waves.numbers = of_modes;
  std::ranges::sort(waves.numbers);
  waves.numbers.erase(std::ranges::unique(waves.numbers).begin(), waves.numbers.end());
  std::vector<std::int32_t> places;
  places.reserve(of_modes.size());
  for (const double k : of_modes)
    places.push_back(static_cast<std::int32_t>(std::ranges::lower_bound(waves.numbers, k) -
                                               waves.numbers.begin()));
  waves.places = on_device(Cargo::tables, "wave numbers", places);
  waves.product = mesh::uninitialised<double>("factors of modes", std::ssize(places));
}

void BaseFourier::multiply_in_batches(const DeviceArray<double>& factors,
                                      const DeviceArray<double>& f,
                                      const DeviceArray<double>& phi) {
  if (!batches_) {
    transfer_->to_pencil(f.data(), {});
    return transfer_->to_patches({}, phi.data());
  }
  batches_->clear();
  transfer_->to_pencil(f.data(), batches_->values());
  batches_->multiply_modes(factors);
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

#include "gravity/base_fourier.hpp"

#include <algorithm>

#include "comm/route.hpp"
#include "core/memory_transfer.hpp"
#include "mesh/device.hpp"

namespace octant::gravity {

namespace {

// Returns the index of the pencil::part() that contains a cell.
int part_of(std::int64_t cell, int cells, int parts) {
  return static_cast<int>(((cell + 1) * parts - 1) / cells);
}

// Position of row n of SharedRows in the grid and in a message.
struct SharedRow {
  int y, z;
  std::int64_t place;

  KOKKOS_FUNCTION SharedRow(const SharedRows& rows, int n)
      : y(rows.y.begin + n % (rows.y.end - rows.y.begin)),
        z(rows.z.begin + n / (rows.y.end - rows.y.begin)),
        place(rows.first + n) {}
};

// Addresses of rows of the grid in a patch and in this rank's pencil.
struct PencilRows {
  int side;
  pencil::FieldView pencil;
  int first_y, first_z;  // first row of the pencil along y and z

  KOKKOS_FUNCTION std::int64_t in_patch(const SharedRows& rows, const SharedRow& at) const {
    const std::int64_t plane = rows.patch * std::int64_t{side} + (at.z - rows.corner[2]);
    return (plane * side + (at.y - rows.corner[1])) * side;
  }
  KOKKOS_FUNCTION double* in_pencil(const SharedRows& rows, const SharedRow& at) const {
    return pencil.row(at.z - first_z, at.y - first_y) + rows.corner[0];
  }
};

// Converts a row of a patch, with even cells first, to natural order. separate() is the reverse.
KOKKOS_FUNCTION void join(const double* split, int side, double* row) {
  for (int e = 0; e < side / 2; ++e) row[2 * e] = split[e], row[2 * e + 1] = split[e + side / 2];
}
KOKKOS_FUNCTION void separate(const double* row, int side, double factor, double* split) {
  for (int e = 0; e < side / 2; ++e) {
    split[e] = factor * row[2 * e];
    split[e + side / 2] = factor * row[2 * e + 1];
  }
}
KOKKOS_FUNCTION void copy_row(const double* from, int side, double* to) {
  for (int i = 0; i < side; ++i) to[i] = from[i];
}

// Appends rows to a list with their index in the message, and counts the rows of each rank.
void append(std::vector<SharedRows>& list, std::vector<Segment>& segments, SharedRows rows,
            int rank) {
  rows.first = list.empty() ? 0 : list.back().first + list.back().rows();
  list.push_back(rows);
  count_items(segments, rank, rows.rows());
}

}  // namespace

PencilTransfer::PencilTransfer(const LevelPatches& patches, const pencil::Cells& cells,
                               const pencil::ProcessGrid& processes, const CommOptions& options)
    : side_(patches.side()),
      exchanger_("gravity pencils", patches.communicator(), options, patches.level(),
                 Buffers::of_device) {
  match(patches, cells, processes);
}

void PencilTransfer::match(const LevelPatches& patches, const pencil::Cells& cells,
                           const pencil::ProcessGrid& processes) {
  const Communicator& communicator = patches.communicator();
  const auto box_of = [&](int rank) {
    return pencil::Box{{{{0, cells[0]},
                         pencil::part(cells[1], processes.y, rank % processes.y),
                         pencil::part(cells[2], processes.z, rank / processes.y)}}};
  };
  if (communicator.rank() < processes.ranks()) pencil_ = box_of(communicator.rank());

  struct Shared {
    int rank;
    SharedRows rows;
  };
  std::vector<Shared> shared;
  for (int slot = 0; slot < patches.own(); ++slot) {
    const BlockCoordinates patch = morton_decode(patches.key(slot));
    const auto cell = [&](int axis, int end) {
      return static_cast<std::int32_t>((patch[axis] + end) * side_);
    };
    const auto part = [&](int axis, int parts, int end) {
      return part_of(cell(axis, end) - end, cells[axis], parts);
    };
    for (int z = part(2, processes.z, 0); z <= part(2, processes.z, 1); ++z)
      for (int y = part(1, processes.y, 0); y <= part(1, processes.y, 1); ++y) {
        const int rank = z * processes.y + y;
        const pencil::Box box = box_of(rank);
        shared.push_back({rank,
                          {slot,
                           {cell(0, 0), cell(1, 0), cell(2, 0)},
                           intersection(box[1], {cell(1, 0), cell(1, 1)}),
                           intersection(box[2], {cell(2, 0), cell(2, 1)})}});
      }
  }
  std::stable_sort(shared.begin(), shared.end(),
                   [](const Shared& a, const Shared& b) { return a.rank < b.rank; });
  std::vector<SharedRows> local, leaving, arriving;
  std::vector<Segment> sends, receives;
  std::vector<int> destinations;
  for (const Shared& s : shared) {
    if (s.rank == communicator.rank()) {
      local.push_back(s.rows);
      continue;
    }
    append(leaving, sends, s.rows, s.rank);
    destinations.push_back(s.rank);
  }
  const auto incoming =
      route<SharedRows>(communicator, destinations, std::span<const SharedRows>(leaving));
  for (std::size_t n = 0; n < incoming.items.size(); ++n)
    append(arriving, receives, incoming.items[n], incoming.sources[n]);
  plan_ = std::make_unique<ExchangePlan>(communicator, std::move(sends), std::move(receives));
  local_ = mesh::to_device("shared rows", local);
  leaving_ = mesh::to_device("shared rows", leaving);
  arriving_ = mesh::to_device("shared rows", arriving);
  sent_ = mesh::uninitialised<double>("rows of patches", plan_->items_sent() * side_);
  received_ = mesh::uninitialised<double>("rows of pencils", plan_->items_received() * side_);
}

void PencilTransfer::to_pencil(const double* patches, const pencil::FieldView& pencil) {
  const PencilRows places{side_, pencil, pencil_[1].begin, pencil_[2].begin};
  double *sent = sent_.data(), *received = received_.data();
  const int side = side_;
  for_items_of(
      "gravity: pack rows", leaving_, KOKKOS_LAMBDA(const SharedRows& rows, int n) {
        const SharedRow at(rows, n);
        join(patches + places.in_patch(rows, at), side, sent + at.place * side);
      });
  exchanger_.start<double>(*plan_, sent, received, side);
  for_items_of(
      "gravity: patches to pencil", local_, KOKKOS_LAMBDA(const SharedRows& rows, int n) {
        const SharedRow at(rows, n);
        join(patches + places.in_patch(rows, at), side, places.in_pencil(rows, at));
      });
  exchanger_.finish();
  for_items_of(
      "gravity: unpack rows", arriving_, KOKKOS_LAMBDA(const SharedRows& rows, int n) {
        const SharedRow at(rows, n);
        copy_row(received + at.place * side, side, places.in_pencil(rows, at));
      });
}

// The exchange is the reverse of that of to_pencil(), with the buffers exchanged.
void PencilTransfer::to_patches(const pencil::FieldView& pencil, double* patches, double factor) {
  const PencilRows places{side_, pencil, pencil_[1].begin, pencil_[2].begin};
  double *sent = sent_.data(), *received = received_.data();
  const int side = side_;
  for_items_of(
      "gravity: pack rows", arriving_, KOKKOS_LAMBDA(const SharedRows& rows, int n) {
        const SharedRow at(rows, n);
        copy_row(places.in_pencil(rows, at), side, received + at.place * side);
      });
  exchanger_.start<double>(*plan_, received, sent, side, Direction::reverse);
  for_items_of(
      "gravity: pencil to patches", local_, KOKKOS_LAMBDA(const SharedRows& rows, int n) {
        const SharedRow at(rows, n);
        separate(places.in_pencil(rows, at), side, factor, patches + places.in_patch(rows, at));
      });
  exchanger_.finish();
  for_items_of(
      "gravity: unpack rows", leaving_, KOKKOS_LAMBDA(const SharedRows& rows, int n) {
        const SharedRow at(rows, n);
        separate(sent + at.place * side, side, factor, patches + places.in_patch(rows, at));
      });
}

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

// Computes the product of the factors of each mode and of its wavenumber.
void multiply_factors(const DeviceArray<double>& of_modes, const DeviceArray<std::int32_t>& places,
                      const DeviceArray<double>& of_waves, const DeviceArray<double>& product) {
  for_items(
      "gravity: multiply factors", product.extent(0),
      KOKKOS_LAMBDA(const std::int64_t n) { product(n) = of_modes(n) * of_waves(places(n)); });
}

}  // namespace

BaseFourierSolver::BaseFourierSolver(const mesh::Geometry& geometry,
                                     const Communicator& communicator, const CommOptions& options,
                                     FourierSchedule schedule)
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

void BaseFourierSolver::connect(const LevelPatches& patches) {
  transfer_.emplace(patches, cells_, processes_, options_);
}

void BaseFourierSolver::solve(ModeFactors& factors, const DeviceArray<double>& f,
                              const DeviceArray<double>& phi) {
  if (schedule_ == FourierSchedule::host) return solve_on_host(factors.of, f, phi);
  prepare_batches(factors);
  multiply_in_batches(factors.table, f, phi);
}

void BaseFourierSolver::solve(ModeFactors& factors, WaveNumbers& waves, const WaveFactor& of_wave,
                              const DeviceArray<double>& f, const DeviceArray<double>& phi) {
  const auto factor_of = [&](double k) { return k > 0.0 ? of_wave(k) : 0.0; };
  if (schedule_ == FourierSchedule::host)
    return solve_on_host(
        [&](const pencil::Mode& mode) { return factors.of(mode) * factor_of(waves.of(mode)); }, f,
        phi);
  if (prepare_batches(factors)) {
    if (waves.numbers.empty()) find_offsets(waves);
    std::vector<double> of_numbers;
    for (const double k : waves.numbers) of_numbers.push_back(factor_of(k));
    multiply_factors(factors.table, waves.places,
                     on_device(TransferKind::numbers, "factors of waves", of_numbers),
                     waves.product);
  }
  multiply_in_batches(waves.product, f, phi);
}

// --- on a device -------------------------------------------------------------------------------

// Creates the transform and the table of factors at first use. Returns false on ranks outside the
// process grid, which have neither.
bool BaseFourierSolver::prepare_batches(ModeFactors& factors) {
  if (!grid_) return false;
  if (!batches_) batches_.emplace(*grid_, padding_, options_);
  if (factors.table.size() == 0) factors.table = batches_->factors(factors.of);
  return true;
}

void BaseFourierSolver::find_offsets(WaveNumbers& waves) const {
  const std::vector<double> of_modes = batches_->of_modes(waves.of);
  waves.numbers = of_modes;
  std::ranges::sort(waves.numbers);
  // clang 14 does not compile the std::ranges::unique of libstdc++.
  waves.numbers.erase(std::unique(waves.numbers.begin(), waves.numbers.end()), waves.numbers.end());
  std::vector<std::int32_t> places;
  places.reserve(of_modes.size());
  for (const double k : of_modes)
    places.push_back(static_cast<std::int32_t>(std::ranges::lower_bound(waves.numbers, k) -
                                               waves.numbers.begin()));
  waves.places = on_device(TransferKind::tables, "wavenumbers", places);
  waves.product = mesh::uninitialised<double>("factors of modes", std::ssize(places));
}

void BaseFourierSolver::multiply_in_batches(const DeviceArray<double>& factors,
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

void BaseFourierSolver::begin_on_host() {
  if (!grid_ || fourier_) return;
  fourier_.emplace(*grid_, pencil::TransposeBackend::p2p, padding_);
  const std::int64_t cells = grid_->box(pencil::Orientation::x).cells();
  pencil_ = DeviceArray<double>("pencil", static_cast<std::size_t>(cells));
}

pencil::FieldView BaseFourierSolver::own_pencil() const {
  if (!grid_) return {};
  return pencil::dense_view(pencil_.data(), grid_->box(pencil::Orientation::x).shape());
}

// Solves on the host, which requires that the host can access device memory.
void BaseFourierSolver::solve_on_host(const ModeFactor& factor, const DeviceArray<double>& f,
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

void BaseFourierSolver::forward(const DeviceArray<double>& field) {
  begin_on_host();
  transfer_->to_pencil(field.data(), own_pencil());
  if (fourier_) fourier_->forward(on_host(TransferKind::fields, pencil_).data());
}

void BaseFourierSolver::for_each_mode(const Visit& visit) {
  if (fourier_) fourier_->for_each_mode(visit);
}

}  // namespace octant::gravity

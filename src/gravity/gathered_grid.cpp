#include "gravity/gathered_grid.hpp"

#include <algorithm>
#include <numeric>

#include "comm/route.hpp"
#include "mesh/device.hpp"

namespace octant::gravity {

namespace {

constexpr int k_cells = 8;

std::vector<Segment> segments_of(const std::vector<int>& sources) {
  std::vector<Segment> segments;
  for (const int rank : sources) count_items(segments, rank);
  return segments;
}

std::vector<Segment> to_root(std::int64_t count) {
  return count > 0 ? std::vector<Segment>{{0, count}} : std::vector<Segment>{};
}

// to[patch] = from[place of the patch], of all cells.
void take_patches(const DeviceArray<const std::int32_t>& places, const DeviceArray<double>& from,
                  const DeviceArray<double>& to) {
  Kokkos::parallel_for(
      "gravity: take patches", Kokkos::RangePolicy<>(0, to.extent(0)),
      KOKKOS_LAMBDA(const std::int64_t n) {
        to(n) = from(std::int64_t{places(n / k_cells)} * k_cells + n % k_cells);
      });
}

}  // namespace

GatheredGrid::GatheredGrid(const LevelPatches& patches, bool finest,
                           const BottomCells& cells_of_patches, const CommOptions& options)
    : communicator_(patches.communicator()),
      alone_(communicator_.size() == 1),
      exchanger_("gravity bottom", communicator_, options, patches.level(), Buffers::of_device) {
  // A few numbers for each patch.
  const auto shares = on_host(Cargo::numbers, cells_of_patches.cover);
  const auto row_sums = on_host(Cargo::numbers, cells_of_patches.row_sums);
  std::vector<PatchCells> own(patches.own(), PatchCells{});
  std::vector<Key> slots(patches.slots());
  for (int slot = 0; slot < patches.slots(); ++slot) slots[slot] = patches.key(slot);
  for (int slot = 0; slot < patches.own(); ++slot) {
    own[slot].key = slots[slot];
    std::copy_n(shares.data() + slot * k_cells, k_cells, own[slot].cover);
    if (row_sums.size() > 0)
      std::copy_n(row_sums.data() + slot * k_cells, k_cells, own[slot].row_sums);
  }
  const std::vector<int> root_for_own(own.size(), 0), root_for_slots(slots.size(), 0);
  const auto arrived = route<PatchCells>(communicator_, root_for_own, own);
  const auto wanted = route<Key>(communicator_, root_for_slots, slots);
  gather_plan_ = std::make_unique<ExchangePlan>(communicator_, to_root(patches.own()),
                                                segments_of(arrived.sources));
  spread_plan_ = std::make_unique<ExchangePlan>(communicator_, segments_of(wanted.sources),
                                                to_root(patches.slots()));
  if (!communicator_.is_root()) return;

  std::vector<std::int32_t> order(arrived.items.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](int a, int b) { return arrived.items[a].key < arrived.items[b].key; });
  KeyTable<std::int32_t> index;
  std::vector<CoarseCell> cells;
  for (std::size_t n = 0; n < order.size(); ++n) {
    const PatchCells& patch = arrived.items[order[n]];
    index.insert(patch.key, static_cast<std::int32_t>(n));
    const BlockCoordinates corner = morton_decode(patch.key);
    for (int c = 0; c < k_cells; ++c)
      cells.push_back(
          {{2 * std::int64_t{corner[0]} + (c & 1), 2 * std::int64_t{corner[1]} + (c >> 1 & 1),
            2 * std::int64_t{corner[2]} + (c >> 2)},
           patch.cover[c],
           patch.row_sums[c]});
  }
  auto extent = patches.extent();
  for (auto& e : extent) e *= 2;
  solver_ = std::make_unique<CoarseSolver>(cells, extent, patches.periodic(), finest);
  if (alone_) return;

  std::vector<std::int32_t> places;
  for (const Key key : wanted.items) places.push_back(*index.find(key));
  arriving_ = mesh::to_device("patches that arrive", order);
  wanted_ = mesh::to_device("patches that are wanted", places);
  arrived_ = DeviceArray<double>("bottom that arrives", cells.size());
  f_ = DeviceArray<double>("bottom f", cells.size());
  phi_ = DeviceArray<double>("bottom phi", cells.size());
  sent_ = DeviceArray<double>("bottom that leaves", places.size() * k_cells);
}

const double* GatheredGrid::gather(const DeviceArray<double>& f) {
  if (alone_) return f.data();
  exchanger_.run<double>(*gather_plan_, f.data(), arrived_.data(), k_cells);
  take_patches(arriving_, arrived_, f_);
  return f_.data();
}

double* GatheredGrid::phi_at_root(const DeviceArray<double>& phi) const {
  return alone_ ? phi.data() : phi_.data();
}

void GatheredGrid::spread(const DeviceArray<double>& phi) {
  if (alone_) return;
  take_patches(wanted_, phi_, sent_);
  exchanger_.run<double>(*spread_plan_, sent_.data(), phi.data(), k_cells);
}

void GatheredGrid::solve(const DeviceArray<double>& f, const DeviceArray<double>& phi) {
  const double* all = gather(f);
  if (solver_) solver_->cycle(all, phi_at_root(phi));
  spread(phi);
}

SolveOutcome GatheredGrid::solve(const DeviceArray<double>& f, const DeviceArray<double>& phi,
                                 double target, int most) {
  const double* all = gather(f);
  SolveOutcome outcome{0, 0.0};
  if (solver_) outcome = solver_->solve(all, phi_at_root(phi), target, most);
  communicator_.broadcast(outcome);
  spread(phi);
  return outcome;
}

std::int64_t GatheredGrid::bytes() const {
  return bytes_of(arriving_) + bytes_of(wanted_) + bytes_of(arrived_) + bytes_of(sent_) +
         bytes_of(f_) + bytes_of(phi_) + (solver_ ? solver_->bytes() : 0);
}

}  // namespace octant::gravity

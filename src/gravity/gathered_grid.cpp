#include "gravity/gathered_grid.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "comm/route.hpp"
#include "core/residency.hpp"

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

}  // namespace

GatheredGrid::GatheredGrid(const LevelPatches& patches, bool finest,
                           const DeviceArray<double>& cover, const CommOptions& options)
    : communicator_(patches.communicator()),
      exchanger_("gravity bottom", communicator_, options, patches.level()) {
  const auto shares = on_host(Cargo::fields, cover);
  std::vector<PatchCells> own(patches.own());
  std::vector<Key> slots(patches.slots());
  for (int slot = 0; slot < patches.slots(); ++slot) slots[slot] = patches.key(slot);
  for (int slot = 0; slot < patches.own(); ++slot) {
    own[slot].key = slots[slot];
    std::copy_n(shares.data() + slot * k_cells, k_cells, own[slot].cover);
  }
  const std::vector<int> root_for_own(own.size(), 0), root_for_slots(slots.size(), 0);
  const auto arrived = route<PatchCells>(communicator_, root_for_own, own);
  const auto wanted = route<Key>(communicator_, root_for_slots, slots);
  gather_plan_ = std::make_unique<ExchangePlan>(communicator_, to_root(patches.own()),
                                                segments_of(arrived.sources));
  spread_plan_ = std::make_unique<ExchangePlan>(communicator_, segments_of(wanted.sources),
                                                to_root(patches.slots()));
  here_.resize(own.size() * k_cells);
  message_.resize(slots.size() * k_cells);
  if (!communicator_.is_root()) return;

  std::vector<std::int32_t> order(arrived.items.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](int a, int b) { return arrived.items[a].key < arrived.items[b].key; });
  arriving_.resize(order.size());
  KeyTable<std::int32_t> index;
  std::vector<CoarseCell> cells;
  for (std::size_t n = 0; n < order.size(); ++n) {
    const PatchCells& patch = arrived.items[order[n]];
    arriving_[order[n]] = static_cast<std::int32_t>(n);
    index.insert(patch.key, static_cast<std::int32_t>(n));
    const BlockCoordinates corner = morton_decode(patch.key);
    for (int c = 0; c < k_cells; ++c)
      cells.push_back(
          {{2 * std::int64_t{corner[0]} + (c & 1), 2 * std::int64_t{corner[1]} + (c >> 1 & 1),
            2 * std::int64_t{corner[2]} + (c >> 2)},
           patch.cover[c]});
  }
  for (const Key key : wanted.items) wanted_.push_back(*index.find(key));
  arrived_.resize(cells.size());
  f_.resize(cells.size());
  phi_.assign(cells.size(), 0.0);
  auto extent = patches.extent();
  for (auto& e : extent) e *= 2;
  solver_ = std::make_unique<CoarseSolver>(cells, extent, patches.periodic(), finest);
}

void GatheredGrid::gather(const DeviceArray<double>& f) {
  copy_to_host(Cargo::fields, host_view(here_),
               Kokkos::subview(f, std::pair<std::size_t, std::size_t>(0, here_.size())));
  exchanger_.run<double>(*gather_plan_, here_.data(), arrived_.data(), k_cells);
  for (std::size_t n = 0; n < arriving_.size(); ++n)
    std::copy_n(&arrived_[n * k_cells], k_cells, &f_[arriving_[n] * k_cells]);
}

void GatheredGrid::spread(const DeviceArray<double>& phi) {
  std::vector<double> sent(wanted_.size() * k_cells);
  for (std::size_t n = 0; n < wanted_.size(); ++n)
    std::copy_n(&phi_[wanted_[n] * k_cells], k_cells, &sent[n * k_cells]);
  exchanger_.run<double>(*spread_plan_, sent.data(), message_.data(), k_cells);
  copy_to_device(Cargo::fields, phi, host_view(message_));
}

void GatheredGrid::solve(const DeviceArray<double>& f, const DeviceArray<double>& phi) {
  gather(f);
  if (solver_) solver_->cycle(f_, phi_, true);
  spread(phi);
}

SolveOutcome GatheredGrid::solve(const DeviceArray<double>& f, const DeviceArray<double>& phi,
                                 double target, int most) {
  gather(f);
  SolveOutcome outcome{0, 0.0};
  if (solver_) {
    std::fill(phi_.begin(), phi_.end(), 0.0);
    outcome.residual = std::sqrt(solver_->residual_norm(f_, phi_));
    for (; outcome.residual > target && outcome.cycles < most; ++outcome.cycles) {
      solver_->cycle(f_, phi_, false);
      outcome.residual = std::sqrt(solver_->residual_norm(f_, phi_));
    }
  }
  communicator_.broadcast(outcome);
  spread(phi);
  return outcome;
}

std::int64_t GatheredGrid::bytes() const {
  const std::size_t doubles =
      here_.size() + message_.size() + arrived_.size() + f_.size() + phi_.size();
  const std::size_t places = arriving_.size() + wanted_.size();
  return static_cast<std::int64_t>(sizeof(double) * doubles + sizeof(std::int32_t) * places) +
         (solver_ ? solver_->bytes() : 0);
}

}  // namespace octant::gravity

#include "gravity/halo_exchange.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/observer.hpp"
#include "core/teams.hpp"
#include "mesh/device.hpp"

namespace octant::gravity {

namespace {

void copy_regions(const DeviceArray<const PatchCopy>& tasks,
                  const DeviceArray<const StripTable>& strips, int side, double* field,
                  double* message, bool pack) {
  using Policy = Kokkos::TeamPolicy<>;
  const auto count = static_cast<int>(tasks.extent(0));
  if (count == 0) return;
  Kokkos::parallel_for(
      "gravity: copy halo", Policy(count, team_threads()),
      KOKKOS_LAMBDA(const Policy::member_type& team) {
        const PatchCopy& task = tasks(team.league_rank());
        const int ni = task.end[0] - task.begin[0], nj = task.end[1] - task.begin[1],
                  nk = task.end[2] - task.begin[2];
        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, nj * nk), [&](int row) {
          double* cells = row_of(strips.data(), side, field, task.slot, row % nj + task.begin[1],
                                 row / nj + task.begin[2]);
          double* line = message + task.offset + row * ni;
          for (int i = 0; i < ni; ++i) {
            const int cell = split(i + task.begin[0], side);
            if (!pack) cells[cell] = line[i];
            else line[i] = cells ? cells[cell] : 0.0;
          }
        });
      });
}

}  // namespace

HaloExchange::HaloExchange(const LevelPatches& patches, int side, int depth,
                           const CommOptions& options)
    : side_(side),
      depth_(std::min(depth, side)),
      level_(patches.level()),
      alone_(patches.communicator().size() == 1),
      strips_(patches.strips()),
      exchanger_(fmt::format("gravity: {}^3 cells to a depth of {}", side, depth),
                 patches.communicator(), options, patches.level(), Buffers::of_device) {
  std::vector<Segment> sends, receives;
  packs_ = mesh::to_device("patch packs", plan_copies(patches.sent(), sends));
  unpacks_ = mesh::to_device("patch unpacks", plan_copies(patches.received(), receives));
  plan_ =
      std::make_unique<ExchangePlan>(patches.communicator(), std::move(sends), std::move(receives));
  send_ = mesh::uninitialised<double>("patch message", plan_->items_sent());
  receive_ = mesh::uninitialised<double>("patch message", plan_->items_received());
}

// The box around all cells of a patch that are read in any of its directions.
std::vector<PatchCopy> HaloExchange::plan_copies(const std::vector<SharedPatch>& shared,
                                                 std::vector<Segment>& segments) const {
  std::vector<PatchCopy> copies;
  std::int64_t offset = 0;
  const auto side = static_cast<std::int16_t>(side_), depth = static_cast<std::int16_t>(depth_);
  for (const SharedPatch& patch : shared) {
    PatchCopy copy{patch.slot, {side, side, side}, {0, 0, 0}, offset};
    for (int n = 0; n < 27; ++n) {
      if (!(patch.directions >> n & 1)) continue;
      const std::array<int, 3> towards{n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
      for (int d = 0; d < 3; ++d) {
        const auto begin = static_cast<std::int16_t>(towards[d] < 0 ? side - depth : 0);
        const auto end = static_cast<std::int16_t>(towards[d] > 0 ? depth : side);
        copy.begin[d] = std::min(copy.begin[d], begin);
        copy.end[d] = std::max(copy.end[d], end);
      }
    }
    std::int64_t cells = 1;
    for (int d = 0; d < 3; ++d) cells *= copy.end[d] - copy.begin[d];
    if (segments.empty() || segments.back().rank != patch.rank) segments.push_back({patch.rank, 0});
    segments.back().count += cells;
    offset += cells;
    copies.push_back(copy);
  }
  return copies;
}

void HaloExchange::start(double* field) {
  ++rounds_;
  field_ = field;
  if (alone_) return;
  {
    const Observed packing(Phase::pack, "gravity halo", level_);
    copy_regions(packs_, strips_, side_, field, send_.data(), true);
  }
  exchanger_.start<double>(*plan_, send_.data(), receive_.data(), 1);
}

void HaloExchange::finish() {
  if (alone_) return;
  exchanger_.finish();
  const Observed unpacking(Phase::unpack, "gravity halo", level_);
  copy_regions(unpacks_, strips_, side_, field_, receive_.data(), false);
}

}  // namespace octant::gravity

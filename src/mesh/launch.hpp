// Kernel launches over items, and over tasks that teams of threads process: patches, tiles, and
// lists of rows. Loops over the cells of own blocks are in mesh/cell_loop.hpp.
//
// A launch takes a KOKKOS_LAMBDA, or a plain struct, that captures plain values. The functor is
// called for all items, in any order or concurrently; without items nothing is launched.
#pragma once

#include <Kokkos_Core.hpp>

#include "core/observer.hpp"
#include "core/teams.hpp"
#include "mesh/tiles.hpp"

namespace octant::mesh {

// Name of a kernel and, for profiling, its cost per item.
struct Kernel {
  const char* name;
  KernelCost of_one{};

  Kernel(const char* title, const KernelCost& cost = {}) : name(title), of_one(cost) {}

  // Records the kernel's work for `items` items.
  void announce(std::int64_t items) const {
    if (of_one.bytes > 0.0) record_kernel_work(name, items, of_one);
  }
};

// Calls body(n) for n = 0 .. count - 1.
template <class Body>
void for_items(const Kernel& kernel, std::int64_t count, const Body& body) {
  if (count <= 0) return;
  kernel.announce(count);
  Kokkos::parallel_for(kernel.name, Kokkos::RangePolicy<>(0, count), body);
}

using Team = Kokkos::TeamPolicy<>::member_type;

// Shape of a team: scratch memory by level, and number of threads on a device (0: the default). On
// CPUs a team is one thread, or several to emulate a device.
struct TeamShape {
  std::size_t scratch = 0, near_scratch = 0;  // bytes of Kokkos scratch level 1, and of level 0
  int threads = 0;
  std::int64_t items = 1;  // number of items per team, for the recorded work

  // Kokkos policy for `count` teams.
  template <class Policy = Kokkos::TeamPolicy<>>
  Policy policy(std::int64_t count) const {
    const auto league = static_cast<int>(count);
    Policy policy = threads == 0 ? Policy(league, team_threads())
                                 : Policy(league, team_threads(k_device_is_host ? 1 : threads));
    if (near_scratch > 0) policy.set_scratch_size(0, Kokkos::PerTeam(near_scratch));
    if (scratch > 0) policy.set_scratch_size(1, Kokkos::PerTeam(scratch));
    return policy;
  }
};

// Calls body(team) for `count` teams.
template <class Body>
void for_teams(const Kernel& kernel, std::int64_t count, const TeamShape& shape, const Body& body) {
  if (count <= 0) return;
  kernel.announce(count * shape.items);
  Kokkos::parallel_for(kernel.name, shape.policy(count), body);
}

// Teams for tasks of unequal length, scheduled dynamically on CPUs, because tiles may be incomplete
// and cores may run other processes.
using TaskTeams = Kokkos::TeamPolicy<Kokkos::Schedule<Kokkos::Dynamic>>;
using TaskTeam = TaskTeams::member_type;

// Calls body(team) for `count` tasks of unequal length, one team for each.
template <class Body>
void for_tasks(const Kernel& kernel, std::int64_t count, const TeamShape& shape, const Body& body) {
  if (count <= 0) return;
  kernel.announce(count * shape.items);
  Kokkos::parallel_for(kernel.name, shape.policy<TaskTeams>(count), body);
}

// Calls body(n) for n = 0 .. count - 1 on the threads of a team, without a barrier at the end.
template <class AnyTeam, class Body>
KOKKOS_FORCEINLINE_FUNCTION void in_team(const AnyTeam& team, int count, const Body& body) {
  Kokkos::parallel_for(Kokkos::TeamThreadRange(team, count), body);
}

// Calls body(task, n) for n = 0 .. task.items() - 1 for every task, with one team per task.
template <class Task, class Body>
void for_items_of(const Kernel& kernel, const DeviceArray<const Task>& tasks, const Body& body) {
  for_teams(
      kernel, static_cast<std::int64_t>(tasks.extent(0)), {}, KOKKOS_LAMBDA(const Team& team) {
        const Task& task = tasks(team.league_rank());
        in_team(team, task.items(), [&](int n) { body(task, n); });
      });
}

}  // namespace octant::mesh

#include "pencil/team.hpp"

#include <Kokkos_Core.hpp>

#include "core/guarded_memory.hpp"

namespace octant::pencil {

namespace {

using HostSpace = Kokkos::DefaultHostExecutionSpace;
using HostTeams = Kokkos::TeamPolicy<HostSpace>;

class KokkosTeam final : public Team {
 public:
  explicit KokkosTeam(const HostTeams::member_type& member)
      : Team(member.team_size(), member.team_rank()), member_(member) {}

  void barrier() const override { member_.team_barrier(); }

 private:
  const HostTeams::member_type& member_;
};

}  // namespace

int team_size() {
  const auto nothing = [](const HostTeams::member_type&) {};
  static const int size =
      HostTeams(1, Kokkos::AUTO).team_size_max(nothing, Kokkos::ParallelForTag());
  return size;
}

// Runs one team of all threads, which share the rows of a plane, because the planes of a sweep
// depend on each other.
void in_team(const char* name, const std::function<void(const Team&)>& sweep) {
  const HostKernels here;
  Kokkos::parallel_for(name, HostTeams(1, team_size()),
                       [&](const HostTeams::member_type& member) { sweep(KokkosTeam(member)); });
  HostSpace().fence();
}

}  // namespace octant::pencil

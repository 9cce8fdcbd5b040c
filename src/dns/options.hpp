// What a run chooses about its grid and its flow: the parameters `grid.*` and `dns.*`.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "pencil/tridiagonal.hpp"

namespace octant {
class ParameterSchema;
}

namespace octant::dns {

using Vector = std::array<double, 3>;

// Which diffusion is implicit in time: none, along z (eq. 11), or all (eq. 7-10). Equations are
// those of Diez Sanhueza, Peeters & Costa, Comput. Phys. Commun. 316 (2025) 109811.
enum class Diffusion { explicit_all, implicit_z, implicit_all };

// Which schedule orders the work of a step: planes in cache, by the threads of hosts on any number
// of ranks, or batches of all planes, on a GPU or a host.
enum class ScheduleKind { automatic, planes, batches };

// What drives the flow along dns.forcing_axis.
enum class Forcing { none, pressure_gradient, bulk_velocity };

// The parameters `grid.*`. Lengths are in units of the problem's own choice, as all numbers of a
// flow are.
struct GridOptions {
  std::array<int, 3> cells{32, 32, 32};
  Vector size{1.0, 1.0, 1.0};
  std::string stretching = "uniform";
  double stretching_factor = 2.0;
  std::string stretching_file;
};

// The parameters `dns.*` as they are read.
struct FlowParameters {
  double viscosity = 1e-2;
  std::string diffusion = "explicit", poisson = "ftm", forcing = "none", forcing_axis = "x";
  std::string schedule = "auto";
  double pressure_gradient = 0.0, bulk_velocity = 1.0;
  // Below and above along x, y, z.
  std::array<std::vector<std::string>, 3> boundary{
      {{"periodic", "periodic"}, {"periodic", "periodic"}, {"wall", "wall"}}};
  std::array<std::array<Vector, 2>, 3> boundary_velocity{};

  Diffusion diffusion_kind() const;
  pencil::TridiagonalMethod tridiagonal_method() const;
  Forcing forcing_kind() const;
  ScheduleKind schedule_kind() const;
  int forcing_direction() const { return forcing_axis[0] - 'x'; }
};

void declare(ParameterSchema& schema, GridOptions& options);
void declare(ParameterSchema& schema, FlowParameters& parameters);

}  // namespace octant::dns

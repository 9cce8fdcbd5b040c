// What a run chooses about its grid and its flow: the parameters `grid.*` and `dns.*`.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "core/named.hpp"
#include "pencil/tridiagonal.hpp"

namespace octant {
class ParameterSchema;
}

namespace octant::dns {

using Vector = std::array<double, 3>;

// Which diffusion is implicit in time: none, along z (eq. 11), or all (eq. 7-10). Equations are
// those of Diez Sanhueza, Peeters & Costa, Comput. Phys. Commun. 316 (2025) 109811.
enum class Diffusion { explicit_all, implicit_z, implicit_all };
constexpr auto names_of(Diffusion) { return std::array{"explicit", "implicit_z", "implicit"}; }

// Which schedule orders the work of a step: planes in cache, by the threads of hosts, or batches of
// all planes, on a GPU or a host.
enum class ScheduleKind { planes, batches };
constexpr auto names_of(ScheduleKind) { return std::array{"planes", "batches"}; }

// What drives the flow along dns.forcing_axis.
enum class Forcing { none, pressure_gradient, bulk_velocity };
constexpr auto names_of(Forcing) {
  return std::array{"none", "pressure_gradient", "bulk_velocity"};
}

// What a side of the domain is.
enum class Side { periodic, wall, free_slip, inflow, outflow };
constexpr auto names_of(Side) {
  return std::array{"periodic", "wall", "free_slip", "inflow", "outflow"};
}

// Where the faces of the cells along z are: a mapping, or a file that lists them.
enum class Stretching { uniform, tanh, tanh_lower, tanh_upper, cosine, file };
constexpr auto names_of(Stretching) {
  return std::array{"uniform", "tanh", "tanh_lower", "tanh_upper", "cosine", "file"};
}

// The parameters `grid.*`. Lengths are in units of the problem's own choice, as all numbers of a
// flow are.
struct GridOptions {
  std::array<int, 3> cells{32, 32, 32};
  Vector size{1.0, 1.0, 1.0};
  Stretching stretching = Stretching::uniform;
  double stretching_factor = 2.0;
  std::string stretching_file;
};

// The parameters `dns.*`.
struct FlowParameters {
  double viscosity = 1e-2;
  Diffusion diffusion = Diffusion::explicit_all;
  pencil::TridiagonalMethod poisson = pencil::TridiagonalMethod::ftm;
  Forcing forcing = Forcing::none;
  Axis forcing_axis = Axis::x;
  std::optional<ScheduleKind> schedule;  // none: batches where there is a GPU
  double pressure_gradient = 0.0, bulk_velocity = 1.0;
  // Below and above along x, y, z.
  std::array<std::vector<Side>, 3> boundary{{{Side::periodic, Side::periodic},
                                             {Side::periodic, Side::periodic},
                                             {Side::wall, Side::wall}}};
  std::array<std::array<Vector, 2>, 3> boundary_velocity{};
};

void declare(ParameterSchema& schema, GridOptions& options);
void declare(ParameterSchema& schema, FlowParameters& parameters);

}  // namespace octant::dns

// Staggered grid, uniform along x and y, stretched along z, and the parameters of a flow.
//
// Cells are numbered 0 .. n - 1 along each axis. Pressure and scalars are at cell centres, velocity
// components at the centres of the faces normal to them. The component with the index of a cell is
// on the UPPER face of the cell: face n - 1 lies on the upper boundary, and face -1, a ghost, on
// the lower boundary.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "core/named.hpp"
#include "core/number_file.hpp"
#include "pencil/boundary.hpp"
#include "pencil/field.hpp"
#include "pencil/pencil_grid.hpp"
#include "pencil/tridiagonal.hpp"

namespace octant {
class ParameterSchema;
}

namespace octant::dns {

// --- parameters of the grid and the flow: `grid.*` and `dns.*` -----------------------------------

using Vector = std::array<double, 3>;

// Axes of implicit diffusion: none, z (eq. 11), or all (eq. 7-10). Equation numbers in dns/ refer
// to Diez Sanhueza, Peeters & Costa, Comput. Phys. Commun. 316 (2025) 109811.
enum class Diffusion { explicit_all, implicit_z, implicit_all };
// Names of the values in dns.diffusion.
constexpr auto names_of(Diffusion) { return std::array{"explicit", "implicit_z", "implicit"}; }

// Schedule of a time step: plane by plane in cache with host threads, or batches of all planes on a
// GPU or a host.
enum class ScheduleKind { planes, batches };
// Names of the values in dns.schedule.
constexpr auto names_of(ScheduleKind) { return std::array{"planes", "batches"}; }

// Driving force along dns.forcing_axis.
enum class Forcing { none, pressure_gradient, bulk_velocity };
// Names of the values in dns.forcing.
constexpr auto names_of(Forcing) {
  return std::array{"none", "pressure_gradient", "bulk_velocity"};
}

// Boundary condition at a side of the domain.
enum class Side { periodic, wall, free_slip, inflow, outflow };
// Names of the conditions in dns.boundary_x, dns.boundary_y and dns.boundary_z.
constexpr auto names_of(Side) {
  return std::array{"periodic", "wall", "free_slip", "inflow", "outflow"};
}

// Positions of the cell faces along z: a mapping, or a file with the positions.
enum class Stretching { uniform, tanh, tanh_lower, tanh_upper, cosine, file };
// Names of the mappings in grid.stretching.
constexpr auto names_of(Stretching) {
  return std::array{"uniform", "tanh", "tanh_lower", "tanh_upper", "cosine", "file"};
}

// Parameters `grid.*`. All units of a flow are arbitrary.
struct GridOptions {
  std::array<int, 3> cells{32, 32, 32};
  Vector size{1.0, 1.0, 1.0};
  Stretching stretching = Stretching::uniform;
  double stretching_factor = 2.0;
  std::string stretching_file;
  std::vector<double> face_positions;  // numbers of the file; set by read_stretching_file()

  // Reads the file of Stretching::file. Throws InputError if it contains anything but numbers.
  void read_stretching_file(const TextReader& read_text);
};

// Parameters `dns.*`.
struct FlowParameters {
  double viscosity = 1e-2;
  Diffusion diffusion = Diffusion::explicit_all;
  pencil::TridiagonalMethod poisson = pencil::TridiagonalMethod::ftm;
  Forcing forcing = Forcing::none;
  Axis forcing_axis = Axis::x;
  std::optional<ScheduleKind> schedule;  // unset: batches if there is a GPU or pencil_axis is z
  Axis pencil_axis = Axis::x;            // axis of the pencils in which steps store fields
  double pressure_gradient = 0.0, bulk_velocity = 1.0;
  // Lower and upper boundaries along x, y, z.
  std::array<std::vector<Side>, 3> boundary{{{Side::periodic, Side::periodic},
                                             {Side::periodic, Side::periodic},
                                             {Side::wall, Side::wall}}};
  std::array<std::array<Vector, 2>, 3> boundary_velocity{};
};

// Declares the parameters grid.*. `options` must outlive all reads of the schema.
void declare(ParameterSchema& schema, GridOptions& options);
// Declares the parameters dns.*. `parameters` must outlive all reads of the schema.
void declare(ParameterSchema& schema, FlowParameters& parameters);

// --- the grid and the domain ---------------------------------------------------------------------

// Values along z with one ghost at each end: k = -1 .. n.
class ZLine {
 public:
  ZLine() = default;
  explicit ZLine(int n) : values_(n + 2) {}
  double& operator[](int k) { return values_[k + 1]; }
  double operator[](int k) const { return values_[k + 1]; }
  // Number of values without the ghosts.
  int size() const { return static_cast<int>(values_.size()) - 2; }

  // Returns the values first - 1 .. first + count, renumbered from -1.
  ZLine part(int first, int count) const;

 private:
  std::vector<double> values_;
};

// Returns the positions of the faces 0 .. cells along z, from 0 to the extent of the domain. Throws
// InputError if face positions from a file have a wrong number, or do not ascend from 0 to the
// extent.
std::vector<double> z_faces(const GridOptions& options);

// The global grid, stored on every rank; only arrays along z are needed.
struct Grid {
  std::array<int, 3> cells;
  Vector size;
  double dx, dy;
  ZLine face;     // position of the upper face of cell k
  ZLine centre;   // position of the centre of cell k
  ZLine dz_cell;  // height of cell k
  ZLine dz_face;  // distance between the centres of the cells k and k + 1

  // Values beyond the ends of z are those of the opposite end if `z_periodic`, otherwise mirror
  // images. Throws InputError as z_faces() does, and if floating-point numbers do not resolve the
  // cell sizes.
  Grid(const GridOptions& options, bool z_periodic);

  // Spacing along x (axis 0) or y (axis 1).
  double spacing(int axis) const { return axis == 0 ? dx : dy; }
  // Volume of the domain.
  double volume() const { return size[0] * size[1] * size[2]; }
};

using pencil::Field;
using pencil::Range;
using pencil::Team;

// Condition of one quantity at a side: periodic, prescribed value, or zero normal gradient.
using pencil::Condition;

// Boundary conditions at the six sides of the domain, as tables for the solvers.
class Boundaries {
 public:
  // Throws InputError, naming the parameters, if two sides of an axis, or a side and the forcing,
  // are incompatible, or if inflows do not balance without an outflow.
  Boundaries(const FlowParameters& parameters, const Vector& size);

  // Boundary condition at a side; end 0 is the lower side, end 1 the upper one.
  Side side(int axis, int end) const { return sides_[axis][end]; }
  // True for a periodic axis.
  bool periodic(int axis) const { return sides_[axis][0] == Side::periodic; }
  // Prescribed velocity at a side.
  const Vector& velocity(int axis, int end) const { return velocities_[axis][end]; }

  // Condition of a velocity component.
  Condition velocity_condition(int component, int axis, int end) const;
  // Condition of the pressure correction. The correction is 0 on sides where the normal velocity
  // has zero gradient; the predicted velocity there (outflow_sides.hpp) is corrected, too.
  Condition pressure_condition(int axis, int end) const;

 private:
  void check_pair(int axis) const;
  void check_velocities(int axis) const;
  void check_net_inflow(const Vector& size) const;

  std::array<std::array<Side, 2>, 3> sides_;
  std::array<std::array<Vector, 2>, 3> velocities_;
};

// Indices of the velocity components.
enum Component { k_u, k_v, k_w, k_components };

// Part of the domain on this rank.
struct Domain {
  Grid grid;
  Boundaries boundaries;
  pencil::PencilGrid pencils;
  pencil::Orientation orientation = pencil::Orientation::x;  // pencils of the fields
  pencil::Box box;                                           // cells of this rank
  int nx, ny, nz;          // numbers of this rank's cells along the axes
  ZLine dz_cell, dz_face;  // this rank's part of Grid::dz_cell and dz_face

  // Distributes the grid over the ranks. Collective. Throws InputError if a rank at an upper
  // outflow has too few cells.
  Domain(const Communicator& communicator, const Grid& grid, const Boundaries& boundaries,
         pencil::ProcessGrid processes);
  // Returns the same domain on the same ranks in pencils of another orientation. Collective. Throws
  // InputError as the constructor does, and if an axis has fewer cells than ranks.
  Domain turned(pencil::Orientation to) const;

  // Returns true if this rank's cells adjoin a non-periodic side of the domain.
  bool ends(int axis, int end) const;
  // Returns the number of indices along an axis for which the momentum equation of a component is
  // solved. Faces on a non-periodic upper side are excluded.
  int unknowns(int component, int axis) const;
  // Returns the first index along an axis that is part of the state: 0, or -1 at a lower outflow
  // side for the normal component, whose values on the side are part of the state.
  int first(int quantity, int axis) const {
    return quantity == axis && ends(axis, 0) && boundaries.side(axis, 0) == Side::outflow ? -1 : 0;
  }
  // Returns true if other ranks hold parts of this rank's lines along an axis.
  bool is_cut(int axis) const { return pencils.ranks_along(orientation, axis) != nullptr; }

 private:
  void check_outflow_cells() const;
};

// Velocity and pressure of a rank, in its cells and on the lower faces from Domain::first on.
struct State {
  Field u, v, w, p;

  explicit State(const Domain& domain)
      : u(domain.box), v(domain.box), w(domain.box), p(domain.box) {}

  // Velocity component 0, 1 or 2.
  Field& velocity(int component) { return component == k_u ? u : component == k_v ? v : w; }
  // Velocity component 0, 1 or 2, for reading.
  const Field& velocity(int component) const {
    return const_cast<State*>(this)->velocity(component);
  }
};

}  // namespace octant::dns

#include "dns/domain.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/error.hpp"
#include "core/number_file.hpp"
#include "core/parameters.hpp"

namespace octant::dns {

namespace {

void declare_boundaries(ParameterSchema& schema, FlowParameters& p) {
  for (int axis = 0; axis < 3; ++axis) {
    const char name = static_cast<char>('x' + axis);
    schema.add(fmt::format("dns.boundary_{}", name), p.boundary[axis],
               {.meaning = fmt::format(
                    "Boundary conditions at the lower and upper {} boundaries: periodic, wall (no "
                    "slip), free_slip, inflow (prescribed velocity) or outflow (zero pressure)",
                    name)});
  }
  for (int axis = 0; axis < 3; ++axis)
    for (int side = 0; side < 2; ++side)
      schema.add(
          fmt::format("dns.velocity_{}_{}", static_cast<char>('x' + axis),
                      side == 0 ? "lower" : "upper"),
          p.boundary_velocity[axis][side],
          {.unit = "velocity",
           .meaning = fmt::format("Velocity of the wall or of the inflow at the {} {} boundary",
                                  side == 0 ? "lower" : "upper", static_cast<char>('x' + axis))});
}

}  // namespace

void declare(ParameterSchema& schema, GridOptions& o) {
  schema.add(
      "grid.cells", o.cells,
      {.unit = "cells", .meaning = "Number of cells along x, y, z", .min = 2, .max = 1 << 20});
  schema.add(
      "grid.size", o.size,
      {.unit = "length",
       .meaning = "Extent of the domain along x, y, z; at most 1e7 times the smallest face spacing",
       .above = 0.0});
  schema.add("grid.stretching", o.stretching,
             {.meaning = "Cell spacing along z: uniform, clustered at both walls (tanh, cosine) or "
                         "at one wall (tanh_lower, tanh_upper), or read from a file"});
  schema.add("grid.stretching_factor", o.stretching_factor,
             {.meaning = "Strength of the tanh stretching; 0: uniform", .min = 0.0, .max = 20.0});
  schema.add("grid.stretching_file", o.stretching_file,
             {.meaning = "Text file with the positions of all cell faces along z in ascending "
                         "order, cells + 1 numbers, for grid.stretching = \"file\""});
}

void declare(ParameterSchema& schema, FlowParameters& p) {
  schema.add("dns.viscosity", p.viscosity,
             {.unit = "length^2 / time", .meaning = "Kinematic viscosity", .above = 0.0});
  schema.add("dns.diffusion", p.diffusion,
             {.meaning = "Time integration of diffusion: explicit, Crank-Nicolson along z "
                         "(implicit_z), or Crank-Nicolson along all axes (implicit)"});
  schema.add(
      "dns.poisson", p.poisson,
      {.meaning =
           "Parallel tridiagonal solver along z: full transpose (ftm; bitwise-identical results on "
           "any process grid), or distributed cyclic reduction (ptdma; less communication)"});
  schema.add("dns.forcing", p.forcing,
             {.meaning = "Driving force of the flow: none, constant pressure gradient, or constant "
                         "bulk velocity"});
  schema.add(
      "dns.forcing_axis", p.forcing_axis,
      {.meaning = "Direction of the driving force; must be periodic", .choices = {"x", "y"}});
  schema.add("dns.pressure_gradient", p.pressure_gradient,
             {.unit = "velocity / time",
              .meaning = "Mean pressure-gradient force per unit mass along dns.forcing_axis, "
                         "-(1/rho) dp/dx for axis x, for dns.forcing = \"pressure_gradient\""});
  schema.add(
      "dns.bulk_velocity", p.bulk_velocity,
      {.unit = "velocity",
       .meaning = "Bulk velocity along dns.forcing_axis, for dns.forcing = \"bulk_velocity\""});
  schema.add(
      "dns.schedule", p.schedule,
      {.meaning =
           "Execution schedule of a time step: CPU threads process one plane at a time in cache "
           "(planes), or each kernel processes all planes, as on GPUs (batches); auto: batches on "
           "GPUs or with dns.pencil_axis = \"z\", planes otherwise"});
  schema.add("dns.pencil_axis", p.pencil_axis,
             {.meaning = "Axis along which each rank stores whole lines during a step: x, or z, "
                         "which makes implicit diffusion along z local but adds a transpose to the "
                         "Poisson solver and requires dns.schedule = \"batches\"; results do not "
                         "change with dns.poisson = \"ftm\"",
              .choices = {"x", "z"}});
  declare_boundaries(schema, p);
}

namespace {

// Mapping of the uniform coordinate s in [0, 1] to z / L in [0, 1]. `factor` must not be zero.
using Mapping = double (*)(double s, double factor);

double uniform(double s, double) { return s; }
double tanh_both(double s, double g) {
  return 0.5 * (1.0 + std::tanh((s - 0.5) * g) / std::tanh(0.5 * g));
}
double tanh_lower(double s, double g) { return 1.0 + std::tanh((s - 1.0) * g) / std::tanh(g); }
double tanh_upper(double s, double g) { return std::tanh(s * g) / std::tanh(g); }
double cosine(double s, double) { return 0.5 * (1.0 - std::cos(M_PI * s)); }

// One mapping for each Stretching before `file`, in the same order.
constexpr Mapping k_mappings[] = {uniform, tanh_both, tanh_lower, tanh_upper, cosine};

std::vector<double> faces_from_file(const GridOptions& options) {
  const std::string& path = options.stretching_file;
  const int expected = options.cells[2] + 1;
  const std::vector<double>& faces = options.face_positions;
  if (std::ssize(faces) != expected)
    throw InputError(
        "{}: the file has {} values, but grid.cells[2] = {} requires {} face positions", path,
        faces.size(), options.cells[2], expected);
  for (std::size_t k = 1; k < faces.size(); ++k)
    if (!(faces[k] > faces[k - 1]))
      throw InputError(
          "{}: value {} is {}, which does not exceed the previous value, {}; face positions must "
          "be strictly increasing",
          path, k + 1, faces[k], faces[k - 1]);
  const double length = options.size[2];
  if (std::abs(faces.front()) > 1e-10 * length || std::abs(faces.back() - length) > 1e-10 * length)
    throw InputError("{}: the faces extend from {} to {}; expected 0 to grid.size[2] = {}", path,
                     faces.front(), faces.back(), length);
  return faces;
}

// Range of lengths whose powers, as in flow rates and spectra, neither overflow nor underflow.
constexpr double k_shortest = 1e-50, k_longest = 1e50;
// Largest ratio of extent to spacing. At this ratio the smallest eigenvalue of the pressure
// equation is about (pi spacing / extent)^2 = 1e-13 times the largest one, and relative rounding
// errors of 2e-16 are 0.2 % of it.
constexpr double k_max_spacings = 1e7;

void require_resolved_lengths(const Grid& grid) {
  double shortest = std::min(grid.dx, grid.dy);
  for (int k = 0; k < grid.cells[2]; ++k) shortest = std::min(shortest, grid.dz_cell[k]);
  const double longest = *std::max_element(grid.size.begin(), grid.size.end());
  if (longest > k_longest || longest < k_shortest * k_max_spacings)
    throw InputError(
        "grid.size: the longest extent is {}; expected lengths between {} and {}; choose another "
        "unit of length",
        longest, k_shortest * k_max_spacings, k_longest);
  if (shortest * k_max_spacings < longest)
    throw InputError(
        "grid.size, grid.cells, grid.stretching: the longest extent is {} and the smallest face "
        "spacing is {}; expected a ratio of at most {}, beyond which round-off errors dominate the "
        "pressure equation",
        longest, shortest, k_max_spacings);
}

}  // namespace

void GridOptions::read_stretching_file(const TextReader& read_text) {
  if (stretching != Stretching::file) return;
  const std::string& path = stretching_file;
  const std::optional<std::string> text = read_text(path);
  if (!text)
    throw InputError(
        "grid.stretching_file = \"{}\": cannot be read; expected a text file with {} face "
        "positions",
        path, cells[2] + 1);
  std::istringstream numbers(*text);
  face_positions.clear();
  for (double z; numbers >> z;) face_positions.push_back(z);
  if (!numbers.eof())
    throw InputError("{}: the entry after value {} is not a number", path, face_positions.size());
}

std::vector<double> z_faces(const GridOptions& options) {
  if (options.stretching == Stretching::file) return faces_from_file(options);
  const int cells = options.cells[2];
  const bool is_mapped = options.stretching_factor > 0.0;
  const Mapping map = is_mapped ? k_mappings[static_cast<int>(options.stretching)] : uniform;
  std::vector<double> faces(cells + 1);
  for (int k = 0; k <= cells; ++k)
    faces[k] = options.size[2] * map(static_cast<double>(k) / cells, options.stretching_factor);
  return faces;
}

ZLine ZLine::part(int first, int count) const {
  ZLine line(count);
  for (int k = -1; k <= count; ++k) line[k] = (*this)[first + k];
  return line;
}

Grid::Grid(const GridOptions& options, bool z_periodic)
    : cells(options.cells),
      size(options.size),
      dx(size[0] / cells[0]),
      dy(size[1] / cells[1]),
      face(cells[2]),
      centre(cells[2]),
      dz_cell(cells[2]),
      dz_face(cells[2]) {
  const int n = cells[2];
  const std::vector<double> faces = z_faces(options);
  for (int k = 0; k < n; ++k)
    dz_cell[k] = options.stretching == Stretching::uniform ? size[2] / n : faces[k + 1] - faces[k];
  dz_cell[-1] = dz_cell[z_periodic ? n - 1 : 0];
  dz_cell[n] = dz_cell[z_periodic ? 0 : n - 1];
  for (int k = -1; k < n; ++k) dz_face[k] = 0.5 * (dz_cell[k] + dz_cell[k + 1]);
  dz_face[n] = dz_face[z_periodic ? 0 : n - 1];
  for (int k = -1; k < n; ++k) face[k] = faces[k + 1];
  face[n] = face[n - 1] + dz_cell[n];
  for (int k = -1; k <= n; ++k) centre[k] = face[k] - 0.5 * dz_cell[k];
  require_resolved_lengths(*this);
}

namespace {

constexpr const char* k_end_names[] = {"lower", "upper"};

char axis_name(int axis) { return static_cast<char>('x' + axis); }

}  // namespace

Boundaries::Boundaries(const FlowParameters& parameters, const Vector& size)
    : velocities_(parameters.boundary_velocity) {
  for (int axis = 0; axis < 3; ++axis) {
    const auto& sides = parameters.boundary[axis];
    if (sides.size() != 2)
      throw InputError("dns.boundary_{} has {} entries; expected two, such as [\"wall\", \"wall\"]",
                       axis_name(axis), sides.size());
    for (int end = 0; end < 2; ++end) sides_[axis][end] = sides[end];
  }
  for (int axis = 0; axis < 3; ++axis) {
    check_pair(axis);
    check_velocities(axis);
  }
  check_net_inflow(size);
  const int forced = index_of(parameters.forcing_axis);
  if (parameters.forcing != Forcing::none && !periodic(forced))
    throw InputError(
        "dns.forcing = \"{}\" along {} requires a periodic axis, but dns.boundary_{} is [\"{}\", "
        "\"{}\"]",
        name_of(parameters.forcing), axis_name(forced), axis_name(forced),
        name_of(sides_[forced][0]), name_of(sides_[forced][1]));
}

void Boundaries::check_pair(int axis) const {
  const auto [lower, upper] = sides_[axis];
  if ((lower == Side::periodic) != (upper == Side::periodic))
    throw InputError(
        "dns.boundary_{} = [\"{}\", \"{}\"]: either both boundaries or neither must be periodic",
        axis_name(axis), name_of(lower), name_of(upper));
}

void Boundaries::check_velocities(int axis) const {
  for (int end = 0; end < 2; ++end) {
    const Vector& v = velocities_[axis][end];
    const Side side = sides_[axis][end];
    const std::string name = fmt::format("dns.velocity_{}_{} = [{}, {}, {}]", axis_name(axis),
                                         k_end_names[end], v[0], v[1], v[2]);
    const bool moves = v[0] != 0.0 || v[1] != 0.0 || v[2] != 0.0;
    const double inwards = end == 0 ? v[axis] : -v[axis];
    if (side == Side::wall && v[axis] != 0.0)
      throw InputError(
          "{}: a wall can only move tangentially; set the {} component to 0, or use an inflow "
          "boundary",
          name, axis_name(axis));
    if (side == Side::inflow && !(inwards > 0.0))
      throw InputError("{}: an inflow must point into the domain; expected a {} velocity along {}",
                       name, end == 0 ? "positive" : "negative", axis_name(axis));
    if (moves && side != Side::wall && side != Side::inflow)
      throw InputError(
          "{}: the boundary type \"{}\" does not take a prescribed velocity; expected [0, 0, 0]",
          name, name_of(side));
  }
}

void Boundaries::check_net_inflow(const Vector& size) const {
  double entering = 0.0, gross = 0.0;
  for (int axis = 0; axis < 3; ++axis)
    for (int end = 0; end < 2; ++end) {
      if (sides_[axis][end] == Side::outflow) return;
      const double rate = velocities_[axis][end][axis] * size[0] * size[1] * size[2] / size[axis];
      entering += end == 0 ? rate : -rate;
      gross += std::abs(rate);
    }
  if (std::abs(entering) > 1e-12 * gross)
    throw InputError(
        "the inflows have a net volume flux of {}, but there is no outflow boundary; make one "
        "boundary an outflow",
        entering);
}

Condition Boundaries::velocity_condition(int component, int axis, int end) const {
  switch (sides_[axis][end]) {
    case Side::periodic: return Condition::periodic;
    case Side::wall:
    case Side::inflow: return Condition::dirichlet;
    case Side::free_slip: return component == axis ? Condition::dirichlet : Condition::neumann;
    case Side::outflow: break;
  }
  return Condition::neumann;
}

Condition Boundaries::pressure_condition(int axis, int end) const {
  switch (sides_[axis][end]) {
    case Side::periodic: return Condition::periodic;
    case Side::outflow: return Condition::dirichlet;
    default: return Condition::neumann;
  }
}

Domain::Domain(const Communicator& communicator, const Grid& grid_, const Boundaries& boundaries_,
               pencil::ProcessGrid processes)
    : grid(grid_),
      boundaries(boundaries_),
      pencils(communicator, grid.cells, processes),
      box(pencils.box(pencil::Orientation::x)),
      nx(box[0].count()),
      ny(box[1].count()),
      nz(box[2].count()),
      dz_cell(grid.dz_cell.part(box[2].begin, nz)),
      dz_face(grid.dz_face.part(box[2].begin, nz)) {
  check_outflow_cells();
}

Domain Domain::turned(pencil::Orientation to) const {
  pencil::check_process_grid(pencils.processes(), pencils.communicator().size(), grid.cells, to);
  Domain other = *this;
  other.orientation = to;
  other.box = pencils.box(to);
  other.nx = other.box[0].count();
  other.ny = other.box[1].count();
  other.nz = other.box[2].count();
  other.dz_cell = grid.dz_cell.part(other.box[2].begin, other.nz);
  other.dz_face = grid.dz_face.part(other.box[2].begin, other.nz);
  other.check_outflow_cells();
  return other;
}

void Domain::check_outflow_cells() const {
  for (int axis = 0; axis < 3; ++axis)
    OCTANT_REQUIRE(
        !ends(axis, 1) || boundaries.side(axis, 1) != Side::outflow || box[axis].count() >= 2,
        "an outflow at the upper {} boundary requires two cells along that axis, but "
        "the process grid {} leaves one",
        axis_name(axis), pencil::to_string(pencils.processes()));
}

bool Domain::ends(int axis, int end) const {
  if (boundaries.periodic(axis)) return false;
  return end == 0 ? box[axis].begin == 0 : box[axis].end == grid.cells[axis];
}

int Domain::unknowns(int component, int axis) const {
  return box[axis].count() - (component == axis && ends(axis, 1) ? 1 : 0);
}

}  // namespace octant::dns

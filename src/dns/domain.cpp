#include "dns/domain.hpp"

#include <cmath>

#include "core/error.hpp"

namespace octant::dns {

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
  check_balance(size);
  const int forced = index_of(parameters.forcing_axis);
  if (parameters.forcing != Forcing::none && !periodic(forced))
    throw InputError(
        "dns.forcing = \"{}\" along {} needs a periodic axis, but dns.boundary_{} is "
        "[\"{}\", \"{}\"]",
        name_of(parameters.forcing), axis_name(forced), axis_name(forced),
        name_of(sides_[forced][0]), name_of(sides_[forced][1]));
}

void Boundaries::check_pair(int axis) const {
  const auto [lower, upper] = sides_[axis];
  if ((lower == Side::periodic) != (upper == Side::periodic))
    throw InputError(
        "dns.boundary_{} = [\"{}\", \"{}\"]: expected both sides to be periodic, or neither",
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
          "{}: a wall can only move tangentially; expected 0 for {}, or an inflow boundary", name,
          axis_name(axis));
    if (side == Side::inflow && !(inwards > 0.0))
      throw InputError("{}: an inflow must point into the domain; expected a {} velocity along {}",
                       name, end == 0 ? "positive" : "negative", axis_name(axis));
    if (moves && side != Side::wall && side != Side::inflow)
      throw InputError("{}: a {} boundary takes no velocity; expected [0, 0, 0]", name,
                       name_of(side));
  }
}

void Boundaries::check_balance(const Vector& size) const {
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
        "the inflows have a net volume flux of {} and there is no outflow; make one side an "
        "outflow",
        entering);
}

Condition Boundaries::of_velocity(int component, int axis, int end) const {
  switch (sides_[axis][end]) {
    case Side::periodic: return Condition::periodic;
    case Side::wall:
    case Side::inflow: return Condition::dirichlet;
    case Side::free_slip: return component == axis ? Condition::dirichlet : Condition::neumann;
    case Side::outflow: break;
  }
  return Condition::neumann;
}

Condition Boundaries::of_pressure(int axis, int end) const {
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
  communicator.agree([&] {
    for (int axis = 1; axis < 3; ++axis)
      if (ends(axis, 1) && boundaries.side(axis, 1) == Side::outflow && box[axis].count() < 2)
        throw InputError(
            "an outflow at the upper side along {} needs two cells of that axis on each rank "
            "beside "
            "it, but grid.process_grid = \"{}\" leaves one; use fewer ranks along {}",
            static_cast<char>('x' + axis), pencil::to_string(processes),
            static_cast<char>('x' + axis));
  });
}

bool Domain::ends(int axis, int end) const {
  if (boundaries.periodic(axis)) return false;
  return end == 0 ? box[axis].begin == 0 : box[axis].end == grid.cells[axis];
}

int Domain::unknowns(int component, int axis) const {
  return box[axis].count() - (component == axis && ends(axis, 1) ? 1 : 0);
}

}  // namespace octant::dns

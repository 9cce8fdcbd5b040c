#include "problems/problem.hpp"

#include "core/error.hpp"
#include "hydro/gas_cell.hpp"

namespace octant::problems {

void Problem::initial_level(const mesh::Mesh& mesh, int level, const StateReceiver& receive) {
  const mesh::TreeLevel& blocks = mesh.blocks(level);
  const int N = mesh.layout().block_size;
  const double dx = mesh.geometry().cell_size(level);
  for (const int slot : blocks.own()) {
    const auto corner = mesh.geometry().origin(level, morton_decode(blocks.key(slot)));
    for (int c = 0; c < N * N * N; ++c)
      receive(slot, c,
              initial_state({corner[0] + (c % N + 0.5) * dx, corner[1] + (c / N % N + 0.5) * dx,
                             corner[2] + (c / N / N + 0.5) * dx},
                            dx));
  }
}

LatticeStates Problem::inflow_states(int axis, int side, const Lattice& centres) const {
  return [this, axis, side, centres](double time, const PointReceiver& receive) {
    for (std::int64_t point = 0; point < centres.points(); ++point)
      receive(point, inflow_state({axis, side, centres.position(point), time}));
  };
}

double ProblemSetup::require_gravity(const std::string& problem) const {
  if (G == 0.0) throw InputError("problem.name = \"{}\" requires gravity.enabled = true", problem);
  return G;
}

void store_state(const GasState& state, const hydro::HydroOptions& options, const Position& centre,
                 double* cell, std::int64_t stride) {
  const hydro::Gas gas = options.gas();
  const hydro::GasCell stored(cell, stride, gas);
  const auto& v = state.velocity;
  const double pressure = options.is_barotropic()
                              ? options.eos.barotropic_pressure(state.density, centre)
                              : state.pressure;
  stored.set(state.density, {v[0], v[1], v[2]}, pressure);
  int place = options.first_scalar();
  auto given = state.scalars.begin();
  for (const hydro::GasVariable& scalar : options.scalars) {
    const bool is_given = scalar.role == hydro::GasRole::passive && given != state.scalars.end();
    stored[place++] = state.density * (is_given ? *given++ : scalar.initial);
  }
  for (const auto& [other, concentration] : state.others)
    stored[other] = state.density * concentration;
  place = options.variable_count();
  for (const hydro::GasVariable& field : options.separate) stored[place++] = field.initial;
  for (const auto& [field, value] : state.fields) stored[field] = value;
}

void add_spin(const Problem& problem, int spin, const Position& centre, double cell_size,
              GasState& gas) {
  std::array<std::array<double, 3>, 3> across;  // [along][component], differences over two cells
  for (int axis = 0; axis < 3; ++axis) {
    Position above = centre, below = centre;
    above[axis] += cell_size;
    below[axis] -= cell_size;
    const auto upper = problem.initial_state(above, cell_size).velocity,
               lower = problem.initial_state(below, cell_size).velocity;
    for (int d = 0; d < 3; ++d) across[axis][d] = upper[d] - lower[d];
  }
  for (int d = 0; d < 3; ++d) {
    const int e = (d + 1) % 3, f = (d + 2) % 3;
    gas.others.emplace_back(spin + d, cell_size / 24.0 * (across[e][f] - across[f][e]));
  }
}

}  // namespace octant::problems

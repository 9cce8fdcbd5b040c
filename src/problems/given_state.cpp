#include "problems/given_state.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.hpp"

namespace octant::problems {

namespace {

// Maximum number of cells per call of the function, unless a single block has more.
constexpr std::size_t k_cells_at_a_time = 1 << 16;

int place_of(const std::string& name, const hydro::HydroOptions& hydro) {
  const auto place = hydro.variable_index(name);
  if (place && *place >= hydro.first_scalar()) return *place;
  throw InputError("the initial state has \"{}\", which is not a scalar of this run", name);
}

double positive(const char* what, double value, const Vectors& at, std::size_t n) {
  if (std::isfinite(value) && value > 0.0) return value;
  throw InputError("the initial {} is {} at x = {}, y = {}, z = {}; expected a positive number",
                   what, value, at[0][n], at[1][n], at[2][n]);
}

void give(const mesh::Mesh& mesh, int level, const hydro::HydroOptions& hydro,
          const StateFunction& function, std::span<const int> slots,
          const Problem::StateReceiver& receive) {
  const int N = mesh.layout().block_size, cells = N * N * N;
  const double dx = mesh.geometry().cell_size(level);
  Vectors centres;
  for (const int slot : slots) {
    const auto corner = mesh.geometry().origin(level, morton_decode(mesh.blocks(level).key(slot)));
    for (int c = 0; c < cells; ++c) {
      const int index[] = {c % N, c / N % N, c / N / N};
      for (int d = 0; d < 3; ++d) centres[d].push_back(corner[d] + (index[d] + 0.5) * dx);
    }
  }
  const GasColumns gas = function(centres, dx);
  std::vector<std::pair<int, const std::vector<double>*>> scalars;
  for (const auto& [name, values] : gas.scalars)
    scalars.emplace_back(place_of(name, hydro), &values);
  GasState state;
  for (std::size_t n = 0; n < centres[0].size(); ++n) {
    state.density = positive("density", gas.density[n], centres, n);
    state.pressure = positive("pressure", gas.pressure[n], centres, n);
    for (int d = 0; d < 3; ++d) state.velocity[d] = gas.velocity[d][n];
    state.others.clear();
    for (const auto& [place, values] : scalars) state.others.emplace_back(place, (*values)[n]);
    receive(slots[n / cells], static_cast<int>(n % cells), state);
  }
}

}  // namespace

void evaluate_level(const mesh::Mesh& mesh, int level, const hydro::HydroOptions& hydro,
                    const StateFunction& state, const Problem::StateReceiver& receive) {
  mesh.communicator().collective_try([&] {
    const auto own = mesh.blocks(level).own();
    const int N = mesh.layout().block_size;
    const std::size_t cells = std::size_t{1} * N * N * N;
    const std::size_t batch = std::max<std::size_t>(1, k_cells_at_a_time / cells);
    for (std::size_t first = 0; first < own.size(); first += batch)
      give(mesh, level, hydro, state, own.subspan(first, std::min(batch, own.size() - first)),
           receive);
  });
}

}  // namespace octant::problems

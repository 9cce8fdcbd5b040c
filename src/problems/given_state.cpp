#include "problems/given_state.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.hpp"

namespace octant::problems {

namespace {

// Cells that the function is asked for at a time, in whole blocks.
constexpr std::size_t k_cells_at_a_time = 1 << 16;

class GivenState final : public Problem {
 public:
  GivenState(std::unique_ptr<Problem> problem, const hydro::HydroOptions& hydro,
             StateFunction state)
      : problem_(std::move(problem)), hydro_(hydro), state_(std::move(state)) {}

  void declare(ParameterSchema& schema) override { problem_->declare(schema); }
  void prepare(const Setting& setting) override { problem_->prepare(setting); }
  double begin(const Communicator& communicator) override { return problem_->begin(communicator); }
  void end_of_beginning() override { problem_->end_of_beginning(); }
  GasState initial_state(const Position& centre, double cell_size) const override {
    return problem_->initial_state(centre, cell_size);
  }
  std::vector<particles::Kind> particle_kinds() const override {
    return problem_->particle_kinds();
  }
  particles::ParticleBatch initial_particles(const std::string& kind) override {
    return problem_->initial_particles(kind);
  }
  GasState inflow_state(const InflowPlace& place) const override {
    return problem_->inflow_state(place);
  }
  LatticeStates inflow_states(int axis, int side, const Lattice& centres) const override {
    return problem_->inflow_states(axis, side, centres);
  }
  bool inflow_moves() const override { return problem_->inflow_moves(); }
  void flag_cells(const mesh::Mesh& mesh, int level,
                  const mesh::DeviceArray<std::uint64_t>& masks) const override {
    problem_->flag_cells(mesh, level, masks);
  }
  void measure(const Present& present) override { problem_->measure(present); }
  void add_columns(Columns& columns) const override { problem_->add_columns(columns); }

  void initial_level(const mesh::Mesh& mesh, int level, const StateReceiver& receive) override {
    mesh.communicator().agree([&] {
      const auto own = mesh.blocks(level).own();
      const int N = mesh.layout().block_size;
      const std::size_t cells = std::size_t{1} * N * N * N;
      const std::size_t batch = std::max<std::size_t>(1, k_cells_at_a_time / cells);
      for (std::size_t first = 0; first < own.size(); first += batch)
        give(mesh, level, own.subspan(first, std::min(batch, own.size() - first)), receive);
    });
  }

 private:
  void give(const mesh::Mesh& mesh, int level, std::span<const int> slots,
            const StateReceiver& receive) const {
    const int N = mesh.layout().block_size, cells = N * N * N;
    const double dx = mesh.geometry().cell_size(level);
    Vectors centres;
    for (const int slot : slots) {
      const auto corner =
          mesh.geometry().origin(level, morton_decode(mesh.blocks(level).key(slot)));
      for (int c = 0; c < cells; ++c) {
        const int index[] = {c % N, c / N % N, c / N / N};
        for (int d = 0; d < 3; ++d) centres[d].push_back(corner[d] + (index[d] + 0.5) * dx);
      }
    }
    const GasColumns gas = state_(centres, dx);
    std::vector<std::pair<int, const std::vector<double>*>> scalars;
    for (const auto& [name, values] : gas.scalars) scalars.emplace_back(place_of(name), &values);
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

  int place_of(const std::string& name) const {
    const auto place = hydro_.place(name);
    if (place && *place >= hydro_.first_scalar()) return *place;
    throw InputError("the initial state has \"{}\", which is not a scalar of this run", name);
  }

  static double positive(const char* what, double value, const Vectors& at, std::size_t n) {
    if (std::isfinite(value) && value > 0.0) return value;
    throw InputError("the initial {} is {} at x = {}, y = {}, z = {}; expected a number above 0",
                     what, value, at[0][n], at[1][n], at[2][n]);
  }

  std::unique_ptr<Problem> problem_;
  hydro::HydroOptions hydro_;
  StateFunction state_;
};

}  // namespace

std::unique_ptr<Problem> with_state(std::unique_ptr<Problem> problem,
                                    const hydro::HydroOptions& hydro, StateFunction state) {
  return std::make_unique<GivenState>(std::move(problem), hydro, std::move(state));
}

}  // namespace octant::problems

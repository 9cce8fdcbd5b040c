// Cosmological box: gas and dark matter from initial-condition files or from the generator.
#include <algorithm>
#include <cmath>
#include <optional>

#include "core/error.hpp"
#include "core/log.hpp"
#include "core/parameters.hpp"
#include "mesh/flagging.hpp"
#include "problems/problem.hpp"

namespace octant::problems {

namespace {

using cosmology::InitialConditions;
using enum cosmology::InitialQuantity;

class Cosmology final : public Problem {
 public:
  void declare(ParameterSchema& schema) override {
    schema.add("problem.temperature", temperature_,
               {.unit = "K",
                .meaning = "Initial gas temperature; 0: temperature after adiabatic cooling since "
                           "thermal decoupling from the cosmic microwave background at z = 137",
                .min = 0});
  }

  void prepare(const ProblemSetup& setup) override {
    if (setup.universe == nullptr)
      throw InputError("problem.name = \"cosmology\" requires cosmology.enabled = true");
    universe_ = setup.universe;
    initial_options_ = setup.initial;
    const auto& options = universe_->options();
    if (setup.hydro.enabled && options.omega_b <= 0.0)
      throw InputError(
          "cosmology.omega_b = 0 is incompatible with hydro.enabled = true; set a positive value, "
          "or hydro.enabled = false");
    gas_fraction_ = setup.hydro.enabled ? options.omega_b / options.omega_m : 0.0;
    scalars_ = static_cast<int>(
        std::count_if(setup.hydro.scalars.begin(), setup.hydro.scalars.end(),
                      [](const auto& scalar) { return scalar.role == hydro::GasRole::passive; }));
    gamma_ = setup.hydro.gamma;
    const auto blocks = setup.geometry.extent(0);
    side_ = static_cast<int>(blocks[0]) * setup.geometry.block_size();
    if (blocks[1] != blocks[0] || blocks[2] != blocks[0])
      throw InputError("mesh.base_cells: expected the same number of cells along all axes");
  }

  // Opens the initial conditions.
  double begin(const Communicator& communicator) override {
    const auto& o = universe_->options();
    const double a = o.start.empty() ? 0.0 : cosmology::scale_factor_of(o.start, "cosmology.start");
    if (a == 0.0 && initial_options_.kind != cosmology::InitialKind::grafic)
      throw InputError(
          "cosmology.start is missing: generated initial conditions require the redshift at "
          "which the run starts, such as \"z = 30\"");
    communicator_.emplace(communicator);
    initial_ = cosmology::make_initial_conditions(
        communicator, initial_options_,
        {a, o.omega_m, o.omega_lambda, o.omega_b, 100.0 * o.h, o.box}, universe_->expansion(),
        side_);
    levels_ = initial_->levels();
    levels_coarser_ = coarser_levels();
    if (const int given = initial_->scalars(); given > scalars_)
      log::warn("ignored {} of {} scalars of the initial conditions: hydro.scalars = {}",
                given - scalars_, given, scalars_);
    start_ = initial_->header().scale_factor;
    return universe_->time(start_);
  }

  void end_of_beginning() override { initial_.reset(); }

  GasState initial_state(const Position&, double) const override { return {}; }

  void initial_level(const mesh::Mesh& mesh, int level, const StateReceiver& receive) override {
    const int N = mesh.layout().block_size, cells = N * N * N;
    const mesh::TreeLevel& blocks = mesh.blocks(level);
    const GasFields gas = gas_of(mesh, level);
    std::size_t n = 0;
    for (const int slot : blocks.own())
      for (int c = 0; c < cells; ++c) receive(slot, c, gas_state(gas, n++));
  }

  std::vector<particles::Kind> particle_kinds() const override {
    return {particles::dark_matter()};
  }

  particles::ParticleBatch initial_particles(const std::string&, const Communicator&) override {
    particles::ParticleBatch batch;
    std::uint64_t first_id = 0;
    for (int level = 0; level < std::ssize(levels_); ++level) {
      add_dark_matter(level, first_id, batch);
      const auto side = static_cast<std::uint64_t>(levels_[level].side);
      first_id += side * side * side;
    }
    return batch;
  }

  // Flags the whole extent of finer initial conditions, so that the mesh keeps their resolution.
  void flag_cells(const mesh::Mesh& mesh, int level,
                  const mesh::DeviceArray<std::uint64_t>& masks) const override {
    const int finer = levels_coarser_ + level + 1;
    if (finer >= std::ssize(levels_)) return;
    const cosmology::InitialLevel& cells = levels_[finer];
    mesh::DevicePosition lower, upper;
    for (int d = 0; d < 3; ++d) {
      lower[d] = static_cast<double>(cells.extent[d].begin) / cells.side;
      upper[d] = static_cast<double>(cells.extent[d].end) / cells.side;
    }
    mesh::flag_where(
        mesh, level, masks, KOKKOS_LAMBDA(const mesh::DevicePosition& x) {
          bool inside = true;
          for (int d = 0; d < 3; ++d) inside = inside && x[d] > lower[d] && x[d] < upper[d];
          return inside;
        });
  }

 private:
  struct GasFields {
    std::vector<double> overdensity, velocity[3];
    std::vector<std::vector<double>> scalars;
  };

  // Number of levels by which the base grid is finer than the coarsest initial conditions.
  int coarser_levels() const {
    int side = levels_.front().side, levels = 0;
    for (; side < side_; side *= 2) ++levels;
    if (side != side_)
      throw InputError(
          "mesh.base_cells = {}: the coarsest initial conditions have {} cells per side; use the "
          "same number of base cells, or a multiple by a power of two",
          side_, levels_.front().side);
    return levels;
  }

  // Peculiar velocity of 1 km/s in code units.
  double velocity_unit() const { return 1e5 / universe_->units(start_).velocity(); }

  // Gas of a level's own blocks, one block after the other.
  GasFields gas_of(const mesh::Mesh& mesh, int level) {
    const int N = mesh.layout().block_size;
    std::vector<pencil::Box> boxes;
    for (const int slot : mesh.blocks(level).own()) {
      const BlockCoordinates block = morton_decode(mesh.blocks(level).key(slot));
      pencil::Box& box = boxes.emplace_back();
      for (int d = 0; d < 3; ++d) {
        const int first = static_cast<int>(block[d]) * N;
        box.range[d] = {first, first + N};
      }
    }
    cosmology::InitialCells cells(*communicator_, *initial_, levels_coarser_ + level, boxes);
    GasFields gas;
    gas.overdensity = cells.get({overdensity});
    for (int d = 0; d < 3; ++d) gas.velocity[d] = cells.get({baryon_velocity, d});
    const int given = initial_->scalars();
    for (int n = 0; n < std::min(scalars_, given); ++n)
      gas.scalars.push_back(cells.get({scalar, n}));
    return gas;
  }

  GasState gas_state(const GasFields& gas, std::size_t n) const {
    const double temperature =
        temperature_ > 0.0 ? temperature_ : cosmology::adiabatic_temperature(start_);
    // Adiabatic perturbation about the mean.
    const double contrast = 1.0 + gas.overdensity[n];
    const double mean_pressure = gas_fraction_ * temperature / cosmology::k_molecular_weight /
                                 universe_->units(start_).temperature();
    GasState state;
    state.density = gas_fraction_ * contrast;
    state.pressure = mean_pressure * std::pow(contrast, gamma_);
    for (int d = 0; d < 3; ++d) state.velocity[d] = velocity_unit() * gas.velocity[d][n];
    for (const auto& values : gas.scalars) state.scalars.push_back(values[n]);
    return state;
  }

  // Adds one particle per cell that no finer level covers, displaced from the cell's centre.
  void add_dark_matter(int level, std::uint64_t first_id, particles::ParticleBatch& batch) {
    const cosmology::InitialLevel& cells = levels_[level];
    std::vector<double> shift[3], velocity[3];
    for (int d = 0; d < 3; ++d) {
      shift[d] = initial_->own(level, {displacement, d});
      velocity[d] = initial_->own(level, {dark_velocity, d});
      check_displacements(shift[d]);
    }
    const double box = initial_->header().box,
                 mass = (1.0 - gas_fraction_) / std::pow(cells.side, 3);
    const pencil::Box own = initial_->spread(level).box(communicator_->rank());
    std::size_t n = 0;
    for (int z = own[2].begin; z < own[2].end; ++z)
      for (int y = own[1].begin; y < own[1].end; ++y)
        for (int x = own[0].begin; x < own[0].end; ++x, ++n) {
          const std::array<int, 3> cell{x, y, z};
          if (initial_->is_covered(level, cell)) continue;
          auto& position = batch.position.emplace_back();
          auto& speed = batch.velocity.emplace_back();
          for (int d = 0; d < 3; ++d) {
            const double place = (cell[d] + 0.5) / cells.side + shift[d][n] / box;
            position[d] = place - std::floor(place);
            speed[d] = velocity_unit() * velocity[d][n];
          }
          batch.mass.push_back(mass);
          const auto side = static_cast<std::uint64_t>(cells.side);
          batch.id.push_back(first_id + (z * side + y) * side + x);
        }
  }

  void check_displacements(const std::vector<double>& shift) const {
    const double largest = 0.5 * initial_->header().box;
    communicator_->collective_try([&] {
      for (const double value : shift)
        if (!(std::abs(value) <= largest))
          throw InputError(
              "the initial conditions displace dark matter by {} Mpc/h in a box of {} Mpc/h; check "
              "that displacements are in comoving Mpc/h",
              value, 2.0 * largest);
    });
  }

  double temperature_ = 0.0;

  const cosmology::Universe* universe_ = nullptr;
  cosmology::InitialOptions initial_options_;
  std::optional<Communicator> communicator_;
  std::unique_ptr<InitialConditions> initial_;  // only during initialisation
  std::vector<cosmology::InitialLevel> levels_;
  int side_ = 0, levels_coarser_ = 0, scalars_ = 0;
  double gas_fraction_ = 0.0, gamma_ = 5.0 / 3.0, start_ = 1.0;
};

}  // namespace

std::unique_ptr<Problem> make_cosmology() { return std::make_unique<Cosmology>(); }

}  // namespace octant::problems

#include "problems/stars_in_gas.hpp"

#include <cmath>
#include <filesystem>
#include <span>

#include "comm/reproducible_sum.hpp"
#include "core/error.hpp"
#include "core/log.hpp"
#include "core/named.hpp"
#include "core/number_file.hpp"
#include "core/parameters.hpp"
#include "io/hdf5_file.hpp"
#include "mesh/add_totals.hpp"
#include "mesh/device.hpp"

namespace octant::problems {

namespace {

// Contributions of a cell, per volume: mass, mass times position, angular momentum about the origin
// of coordinates, and density error.
struct StarTerms {
  enum {
    mass,
    mass_moment,
    angular_momentum = mass_moment + 3,
    density_error = angular_momentum + 3,
    sums
  };
  static constexpr int count = sums, parts = 1;

  mesh::BlockLayout layout;
  const double* blocks;
  mesh::CellRange cells;
  StarsInFrame stars;
  int spin;  // variable index; -1: none

  KOKKOS_INLINE_FUNCTION void operator()(const mesh::Cell& cell, double* terms) const {
    const double* const gas = blocks + layout.offset(cell);
    const auto x = cells.centre(cell);
    double p[3];
    for (int d = 0; d < 3; ++d) p[d] = gas[(hydro::k_momentum_x + d) * layout.stride_variable];
    terms[mass] = gas[0];
    for (int d = 0; d < 3; ++d) {
      const int e = (d + 1) % 3, f = (d + 2) % 3;
      terms[mass_moment + d] = gas[0] * x[d];
      terms[angular_momentum + d] = x[e] * p[f] - x[f] * p[e];
      if (spin >= 0) terms[angular_momentum + d] += gas[(spin + d) * layout.stride_variable];
    }
    const double expected =
        stars.ambient(x[0], x[1], x[2]) + stars.mean(x[0], x[1], x[2], cells.cell_size).total();
    terms[density_error] = Kokkos::abs(gas[0] - expected);
  }
};

}  // namespace

void StarsInGas::declare(ParameterSchema& schema) {
  schema.add("problem.centre", centre_, {.unit = "length", .meaning = "Centre of mass"});
  schema.add("problem.velocity", velocity_,
             {.unit = "velocity", .meaning = "Bulk velocity of stars and ambient gas"});
  schema.add("problem.ambient_density", ambient_density_,
             {.unit = "central density of the (first) star",
              .meaning = "Density of the ambient gas at the star's surface; the ambient gas is in "
                         "hydrostatic equilibrium and has the central temperature of the star",
              .above = 0.0});
  schema.add("problem.model_file", model_file_,
             {.meaning = "HDF5 file of the equilibrium model, read if it exists and written "
                         "otherwise; empty: no file"});
  schema.add("problem.thermal_pressure", thermal_pressure_,
             {.unit = "cold pressure",
              .meaning = "Thermal pressure of the stars with the white_dwarf equation of state, in "
                         "addition to that of the ambient gas",
              .max = 0.1,
              .above = 0.0});
  schema_ = &schema;
}

StarMatter StarsInGas::matter(double index) const {
  StarMatter matter = StarMatter::of_gas(eos_, index);
  matter.solar_mass = solar_mass_;
  return matter;
}

void StarsInGas::forbid(bool is_default, const char* parameter, const char* reason) const {
  if (!is_default)
    throw InputError("{} is incompatible with hydro.equation_of_state = \"{}\": {}; remove it",
                     parameter, name_of(eos_.kind), reason);
}

void StarsInGas::require_found(const char* parameter, double given, double found) const {
  if (was_set(parameter) && !(std::abs(given / found - 1.0) < 1e-6))
    throw InputError(
        "{} = {:.6g}: with hydro.equation_of_state = \"{}\" it follows from the mass, and is "
        "{:.8g}; remove it",
        parameter, given, name_of(eos_.kind), found);
}

// White dwarfs need Newton's constant in the units of the constants of their matter.
void StarsInGas::check_matter(const ProblemSetup& setup) const {
  if (eos_.kind != hydro::EquationOfState::white_dwarf)
    return forbid(thermal_pressure_ == k_thermal_pressure, "problem.thermal_pressure",
                  "only white dwarfs have a cold pressure");
  const hydro::HydroOptions& gas = setup.hydro;
  if (!gas.has_dual_energy() && thermal_pressure_ < gas.dual_energy_threshold)
    throw InputError(
        "hydro.dual_energy = \"off\": white dwarfs with problem.thermal_pressure = {:g}, below "
        "hydro.dual_energy_threshold = {:g}, lose their thermal energy to rounding and truncation "
        "errors of the total energy; set hydro.dual_energy = \"on\"",
        thermal_pressure_, gas.dual_energy_threshold);
  const double known =
      constants::k_gravitational * setup.units.density() * setup.units.time * setup.units.time;
  if (solar_mass_ > 0.0 && std::abs(G_ / known - 1.0) > 1e-3)
    throw InputError("gravity.constant = {}: in the units of [units] Newton's constant is {:.8g}",
                     G_, known);
}

void StarsInGas::prepare(const ProblemSetup& setup) {
  G_ = setup.require_gravity(problem_);
  eos_ = setup.hydro.eos;
  if (setup.units.length != 1.0 || setup.units.mass != 1.0)
    solar_mass_ = constants::k_solar_mass / setup.units.mass;
  check_matter(setup);
  spin_ = setup.hydro.spin();
  frame_rotation_ = setup.hydro.frame.angular_velocity;
  model_ = solve(G_);
  check_size(setup.geometry);
}

// Throws InputError unless every star fits into the domain and is larger than a cell. Notes stars
// of few cells.
void StarsInGas::check_size(const mesh::Geometry& geometry) {
  constexpr double k_fewest = 3.0;  // cells per radius
  const double cell = geometry.cell_size(geometry.max_level());
  const auto lower = geometry.lower(), upper = geometry.upper();
  for (const ModelStar& star : model_.stars) {
    if (star.profile.size < cell)
      throw InputError(
          "problem.name = \"{}\": a star of radius {:.6g} is smaller than the finest cells, "
          "{:.6g}; use a smaller domain, more cells (mesh.base_cells) or more levels "
          "(mesh.max_level)",
          problem_, star.profile.size, cell);
    // Rounded down, so that the note does not state 3 cells for 2.999.
    const double cells = std::floor(100.0 * star.profile.size / cell) / 100.0;
    if (cells < k_fewest)
      notes_.push_back(fmt::format(
          "a star of radius {:.6g} has {:g} of the finest cells, {:.6g}, per radius, fewer than "
          "{:g}: it is not resolved; use more cells (mesh.base_cells) or levels (mesh.max_level)",
          star.profile.size, cells, cell, k_fewest));
    for (int axis = 0; axis < 3; ++axis) {
      const double x = centre_[axis] + (axis == 0 ? star.profile.centre : 0.0);
      const double size = star.profile.size;
      if (x - size < lower[axis] || x + size > upper[axis])
        throw InputError(
            "problem.name = \"{}\": a star of radius {:.6g} at {:.6g} does not fit into the domain "
            "along {}; enlarge the domain (mesh.lower, mesh.upper)",
            problem_, size, x, static_cast<char>('x' + axis));
    }
  }
}

double StarsInGas::begin(const Communicator& communicator) {
  if (!model_file_.empty()) read_or_write_model(communicator);
  tables_.clear();
  for (const ModelStar& star : model_.stars)
    tables_.push_back(mesh::to_device("enthalpy of a star", star.enthalpy));
  log_model();
  return 0.0;
}

void StarsInGas::log_model() const {
  for (const ModelStar& star : model_.stars) {
    const StarMatter& of_star = star.profile.matter;
    log::info("star of mass {:.6g} and volume {:.6g} at x = {:.6g}: central density {:.6g}, {}",
              star.mass, star.volume, star.profile.centre, star.central_density,
              of_star.is_given() ? fmt::format("volume-equivalent radius {:.6g}",
                                               std::cbrt(star.volume / (4.0 / 3.0 * M_PI)))
                                 : fmt::format("p = {:.6g} rho^(1 + 1/{:g})",
                                               star.polytropic_constant, of_star.index));
  }
  if (model_.stars.size() > 1 && model_.stars.front().profile.matter.is_given())
    log::info("separation {:.8g}; filling {:.6g} and {:.6g}", model_.separation, model_.filling[0],
              model_.filling[1]);
  log::info("angular velocity {:.8g}; virial error {:.2g} after {} iterations",
            model_.angular_velocity, model_.virial_error(), model_.iterations);
}

// --- the gas -----------------------------------------------------------------------------------

// Central p / rho of the first star.
double StarsInGas::specific_pressure() const {
  const ModelStar& star = model_.stars.front();
  return star.profile.matter.times_specific_pressure(1.0, star.central_enthalpy);
}

// Pressure of a cell with the mean `mean` of the stars and ambient gas of the density `ambient`.
// Degenerate electrons of the ambient gas raise the cold pressure.
double StarsInGas::pressure(const StarsInFrame::Mean& mean, double ambient) const {
  const double thermal = ambient * specific_pressure();
  if (eos_.kind != hydro::EquationOfState::white_dwarf) return mean.pressure + thermal;
  const hydro::ColdCurve cold = eos_.cold_curve();
  const double stars = mean.total() > 0.0 ? cold.at(mean.total()).pressure : 0.0;
  const double rise = cold.at(mean.total() + ambient).pressure - stars;
  return (1.0 + thermal_pressure_) * mean.pressure + rise + thermal;
}

// Returns the model at a time, with the enthalpy tables on the device, `tables`, or, if `tables` is
// null, those on the host.
StarsInFrame StarsInGas::at_time(double time, const mesh::DeviceArray<const double>* tables) const {
  StarsInFrame frame{.count = static_cast<int>(model_.stars.size()),
                     .cosine = std::cos((model_.angular_velocity - frame_rotation_) * time),
                     .sine = std::sin((model_.angular_velocity - frame_rotation_) * time)};
  for (int s = 0; s < frame.count; ++s) {
    frame.stars[s] = model_.stars[s].on_host();
    if (tables) frame.stars[s].enthalpy = tables[s].data();
    frame.attraction[s] = G_ * model_.stars[s].mass / specific_pressure();
  }
  frame.ambient_density = ambient_density_ * model_.stars.front().central_density;
  for (int d = 0; d < 3; ++d) frame.axis[d] = centre_[d] + velocity_[d] * time;
  return frame;
}

GasState StarsInGas::initial_state(const Position& centre, double cell_size) const {
  const StarsInFrame stars = at_time(0.0, nullptr);
  const auto mean = stars.mean(centre[0], centre[1], centre[2], cell_size);
  const double ambient = stars.ambient(centre[0], centre[1], centre[2]);
  GasState gas;
  gas.density = mean.total() + ambient;
  gas.pressure = pressure(mean, ambient);
  const double rotation = model_.angular_velocity * mean.total() / gas.density;
  gas.velocity = {velocity_[0] - rotation * (centre[1] - centre_[1]),
                  velocity_[1] + rotation * (centre[0] - centre_[0]), velocity_[2]};
  for (std::size_t s = 0; s < model_.stars.size(); ++s)
    gas.scalars.push_back(mean.density[s] / gas.density);
  return gas;
}

GasState StarsInGas::inflow_state(const InflowPoint& place) const {
  return initial_state(place.centre, 0.0);
}

// --- measurements -----------------------------------------------------------------------------

void StarsInGas::measure(const ProblemContext& context) {
  const mesh::Mesh& mesh = context.mesh;
  std::array<ReproducibleSum, StarTerms::sums> sums;
  for (int level = 0; level <= mesh.finest_level(); ++level) {
    const mesh::CellRange cells = mesh.leaf_cells(level);
    const StarTerms terms{.layout = mesh.layout(),
                          .blocks = mesh.fields(level).blocks(mesh::LevelFields::k_now),
                          .cells = cells,
                          .stars = at_time(context.time, tables_.data()),
                          .spin = spin_};
    const double volume = mesh.geometry().cell_volume(level);
    mesh::add_totals("measure stars", cells, terms, volume, sums);
  }
  reproducible_sum(mesh.communicator(), std::span<ReproducibleSum>(sums));
  const auto total = [&](int n) { return sums[n].to_double(); };
  double volume = 0.0;
  for (const ModelStar& star : model_.stars) volume += star.volume;
  for (int d = 0; d < 3; ++d) {
    measured_.angular_momentum[d] = total(StarTerms::angular_momentum + d);
    measured_.centre[d] = total(StarTerms::mass_moment + d) / total(StarTerms::mass);
  }
  measured_.relative_density_error =
      total(StarTerms::density_error) / (volume * model_.stars.front().central_density);
}

void StarsInGas::add_columns(Columns& columns) const {
  columns.add_vector("angular_momentum", measured_.angular_momentum);
  columns.add_vector("centre", measured_.centre);
  columns.add("relative_density_error", measured_.relative_density_error);
}

// --- files of models ---------------------------------------------------------------------------

namespace {

std::string group_of(std::size_t star) { return fmt::format("/star_{}", star + 1); }

void write_model(const Communicator& communicator, const std::string& path, const StarModel& model,
                 const std::string& description) {
  Hdf5Writer file(communicator, path);
  file.group("/model");
  file.attribute("/model", "description", description);
  file.attribute("/model", "angular_velocity", model.angular_velocity);
  file.attribute("/model", "kinetic_energy", model.kinetic_energy);
  file.attribute("/model", "potential_energy", model.potential_energy);
  file.attribute("/model", "pressure_integral", model.pressure_integral);
  file.attribute("/model", "iterations", std::int64_t{model.iterations});
  for (std::size_t s = 0; s < model.stars.size(); ++s) {
    const ModelStar& star = model.stars[s];
    const std::string group = group_of(s);
    file.group(group);
    for (const auto& [name, value] : {std::pair{"reach", star.profile.reach},
                                      {"index", star.profile.matter.index},
                                      {"scale", star.profile.matter.scale},
                                      {"centre", star.profile.centre},
                                      {"mass", star.mass},
                                      {"volume", star.volume},
                                      {"central_density", star.central_density},
                                      {"polytropic_constant", star.polytropic_constant}})
      file.attribute(group, name, value);
    const std::int64_t rows = star.profile.radii + 1;
    const std::int64_t own = communicator.is_root() ? rows : 0;
    file.dataset<double>(group + "/enthalpy", RowRange{communicator.is_root() ? 0 : rows, own},
                         {star.profile.colatitudes + 1, star.profile.azimuths + 1},
                         std::span(star.enthalpy).first(own * star.enthalpy.size() / rows),
                         {"length^2 / time^2",
                          "Enthalpy int dp / rho as a function of radius (0 to reach), colatitude "
                          "(0 to pi / 2) and azimuth (0 to pi); polytropes: rho = scale H^index"});
  }
  file.commit();
}

// Reads a star that has the same description as `expected`.
ModelStar read_star(const Hdf5Reader& file, const std::string& group, const ModelStar& expected) {
  const auto value = [&](const char* name) { return file.attribute<double>(group, name); };
  const auto shape = file.shape(group + "/enthalpy");
  ModelStar star;
  star.profile = expected.profile;
  star.profile.radii = static_cast<int>(shape.at(0)) - 1;
  star.profile.colatitudes = static_cast<int>(shape.at(1)) - 1;
  star.profile.azimuths = static_cast<int>(shape.at(2)) - 1;
  star.profile.reach = value("reach");
  star.profile.matter.index = value("index");
  star.profile.matter.scale = value("scale");
  star.profile.centre = value("centre");
  star.enthalpy = file.read_on_root<double>(group + "/enthalpy");
  star.central_enthalpy = expected.central_enthalpy;
  star.mass = value("mass");
  star.volume = value("volume");
  star.central_density = value("central_density");
  star.polytropic_constant = value("polytropic_constant");
  return star;
}

// Reads a model with the matter of `expected`, which the description determines.
StarModel read_model(const Communicator& communicator, const std::string& path,
                     const StarModel& expected, const std::string& description) {
  const Hdf5Reader file(communicator, path);
  file.require_unchanged();
  const auto found = file.attribute<std::string>("/model", "description");
  if (found != description)
    throw InputError(
        "problem.model_file = \"{}\" contains a different model: {}; expected {}; use another "
        "file, or remove this one",
        path, found, description);
  const auto value = [&](const char* name) { return file.attribute<double>("/model", name); };
  StarModel model;
  model.angular_velocity = value("angular_velocity");
  model.kinetic_energy = value("kinetic_energy");
  model.potential_energy = value("potential_energy");
  model.pressure_integral = value("pressure_integral");
  model.iterations = static_cast<int>(value("iterations"));
  model.separation = expected.separation;
  model.filling = expected.filling;
  for (std::size_t s = 0; s < expected.stars.size(); ++s)
    model.stars.push_back(read_star(file, group_of(s), expected.stars[s]));
  return model;
}

}  // namespace

void StarsInGas::read_or_write_model(const Communicator& communicator) {
  std::int32_t exists = communicator.is_root() && std::filesystem::exists(model_file_);
  communicator.broadcast(exists);
  const std::string text = fmt::format("{}, G {:.17g}", description(), G_);
  if (exists) model_ = read_model(communicator, model_file_, model_, text);
  else if (keeps_files_) return;
  else write_model(communicator, model_file_, model_, text);
  log::info("{} the equilibrium {} {}", exists ? "read" : "wrote", exists ? "from" : "to",
            model_file_);
}

}  // namespace octant::problems

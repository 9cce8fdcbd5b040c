// Gas and particles from a file written by octools.write_initial or another program:
//
//   /header            kind = "initial", lower, upper (the domain), scale_factor in an expanding
//                      box; unit_length, unit_mass and unit_time in cgs, or none: code units
//   /gas/level_L/...   stored_gas.hpp
//   /particles/KIND/   position, velocity [particle][3], mass and columns of the kind [particle]
#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/ranges.h>

#include "core/error.hpp"
#include "core/log.hpp"
#include "core/names.hpp"
#include "core/parameters.hpp"
#include "io/expectations.hpp"
#include "mesh/flagging.hpp"
#include "problems/problem.hpp"
#include "problems/stored_gas.hpp"
#include "subgrid/star_formation/stars.hpp"

namespace octant::problems {

namespace {

class FromFile final : public Problem {
 public:
  void declare(ParameterSchema& schema) override {
    schema.add("problem.path", path_,
               {.meaning = "File of initial conditions, as written by octools.write_initial"});
    schema.add(
        "problem.particles", kinds_,
        {.meaning = "Particle types to read from problem.path", .choices = {"dark", "stars"}});
    schema.add("problem.hold_levels", hold_levels_,
               {.meaning = "Permanent refinement where the file problem.path contains finer grids; "
                           "false: refinement by [refine] only"});
  }

  void prepare(const ProblemSetup& setup) override {
    require_different("problem.particles", kinds_);
    geometry_ = setup.geometry;
    hydro_ = setup.hydro;
    units_ = setup.units;
    universe_ = setup.universe;
  }

  double begin(const Communicator& communicator) override {
    if (path_.empty())
      throw InputError("problem.path is missing: specify the file with the initial state");
    file_.emplace(communicator, path_);
    if (file_->lost_checksums())
      log::warn(
          "{} has no checksums, and it was modified after Octant wrote it; its integrity cannot be "
          "verified",
          path_);
    check_kind();
    check_parts();
    file_units_ = units_of_file();
    check_box();
    if (hydro_.enabled) gas_.emplace(*file_, *geometry_, hydro_, file_units_, units_);
    check_kinds();
    if (gas_) grids_ = gas_->grids();
    if (!universe_) return 0.0;
    return universe_->time(finite_attribute(*file_, "/header", "scale_factor"));
  }

  void end_of_beginning() override {
    gas_.reset();
    file_.reset();
    if (!hold_levels_) grids_.clear();
  }

  GasState initial_state(const Position&, double) const override { return {}; }

  void initial_level(const mesh::Mesh& mesh, int level, const StateReceiver& receive) override {
    gas_->give(mesh, level, receive);
  }

  std::vector<particles::Kind> particle_kinds() const override {
    std::vector<particles::Kind> kinds;
    for (const std::string& name : kinds_)
      kinds.push_back(name == "dark" ? particles::dark_matter() : subgrid::stars());
    return kinds;
  }

  particles::ParticleBatch initial_particles(const std::string& name,
                                             const Communicator& communicator) override;

  // Flags cells for refinement to the resolution of the finer grids in the file.
  void flag_cells(const mesh::Mesh& mesh, int level,
                  const mesh::DeviceArray<std::uint64_t>& masks) const override {
    const auto lower = mesh.geometry().lower(), upper = mesh.geometry().upper();
    const double size = mesh.geometry().cell_size(level);
    for (std::size_t n = 1; n < grids_.size(); ++n) {
      mesh::DevicePosition low, high;
      bool is_finer = false;
      for (int d = 0; d < 3; ++d) {
        const GridAxis& axis = grids_[n].axes[d];
        const double cell = (upper[d] - lower[d]) / static_cast<double>(axis.cells);
        is_finer = is_finer || cell < 0.999 * size;
        // Range of centres of cells that overlap with the grid.
        low[d] = lower[d] + static_cast<double>(axis.begin) * cell - 0.499 * size;
        high[d] = lower[d] + static_cast<double>(axis.end) * cell + 0.499 * size;
      }
      if (!is_finer) continue;
      mesh::flag_where(
          mesh, level, masks, KOKKOS_LAMBDA(const mesh::DevicePosition& x) {
            bool inside = true;
            for (int d = 0; d < 3; ++d) inside = inside && x[d] > low[d] && x[d] < high[d];
            return inside;
          });
    }
  }

 private:
  void check_kind() const {
    const auto is_ours = [&] {
      return file_->exists("/header") && file_->has_attribute("/header", "kind") &&
             file_->attribute<std::string>("/header", "kind") == "initial";
    };
    if (!is_ours())
      throw InputError(
          "'{}': /header does not have kind = \"initial\": write the file with "
          "octools.write_initial",
          path_);
  }

  // Warns of ignored parts of the file.
  void check_parts() const {
    for (const std::string& part : file_->children("/"))
      if (part != "header" && part != "gas" && part != "particles")
        log::warn("'{}': ignored /{}; expected /header, /gas and /particles", path_, part);
    if (!hydro_.enabled && file_->exists("/gas"))
      log::warn("'{}': ignored /gas because hydro.enabled = false", path_);
  }

  // Units of the file in those of the run; ones if the file is in code units.
  CodeUnits units_of_file() const {
    const auto is_given = [](const CodeUnits& of) {
      return of.length != 1.0 || of.mass != 1.0 || of.time != 1.0;
    };
    if (!file_->has_attribute("/header", "unit_length")) return {};
    const CodeUnits own{finite_attribute(*file_, "/header", "unit_length"),
                        finite_attribute(*file_, "/header", "unit_mass"),
                        finite_attribute(*file_, "/header", "unit_time")};
    if (!is_given(own)) return {};
    if (universe_ != nullptr || !is_given(units_))
      throw InputError("'{}': the file has its own units, but {}", path_,
                       universe_ ? "the units of an expanding box follow from the cosmology: write "
                                   "the file in code units"
                                 : "this run has no unit system: set [units]");
    return {own.length / units_.length, own.mass / units_.mass, own.time / units_.time};
  }

  void check_box() const {
    const auto lower = finite_attributes(*file_, "/header", "lower", 3);
    const auto upper = finite_attributes(*file_, "/header", "upper", 3);
    for (int d = 0; d < 3; ++d) {
      const double low = geometry_->lower()[d], high = geometry_->upper()[d];
      const double tolerance = 1e-9 * (high - low);
      const double length = file_units_.length;
      if (!(std::abs(length * lower[d] - low) <= tolerance &&
            std::abs(length * upper[d] - high) <= tolerance))
        throw InputError(
            "'{}': the box in the file extends from {} to {} along {}, but the box of the run from "
            "{} "
            "to {}; set mesh.lower and mesh.upper to match the file",
            path_, length * lower[d], length * upper[d], "xyz"[d], low, high);
    }
  }

  void check_kinds() const {
    if (!file_->exists("/particles")) {
      if (!kinds_.empty()) throw InputError("problem.particles: '{}' contains no particles", path_);
      return;
    }
    const std::vector<std::string> found = file_->children("/particles");
    for (const std::string& kind : kinds_)
      if (std::find(found.begin(), found.end(), kind) == found.end())
        throw InputError("problem.particles: '{}' contains no \"{}\"", path_, kind);
    for (const std::string& kind : found)
      if (std::find(kinds_.begin(), kinds_.end(), kind) == kinds_.end())
        throw InputError(
            "'{}' contains particles of type \"{}\", which is not in problem.particles; add it to "
            "the list",
            path_, kind);
  }

  std::string path_;
  std::vector<std::string> kinds_;
  bool hold_levels_ = true;

  std::optional<mesh::Geometry> geometry_;
  hydro::HydroOptions hydro_;
  CodeUnits units_, file_units_;
  const cosmology::Universe* universe_ = nullptr;
  std::optional<Hdf5Reader> file_;  // only during initialisation
  std::optional<StoredGas> gas_;
  std::vector<StoredGrid> grids_;
};

// Names of the datasets that a file may have for a kind of particles.
std::vector<std::string> columns_of(const particles::Kind& kind) {
  std::vector<std::string> names{"position", "velocity", "mass"};
  for (const particles::Column& column : kind.columns) names.push_back(column.name);
  return names;
}

particles::ParticleBatch FromFile::initial_particles(const std::string& name,
                                                     const Communicator& communicator) {
  const particles::Kind kind = name == "dark" ? particles::dark_matter() : subgrid::stars();
  const std::string group = "/particles/" + name + "/";
  for (const char* column : {"position", "velocity", "mass"})
    if (!file_->exists(group + column))
      throw InputError("'{}': {}{} is missing", path_, group, column);
  for (const std::string& column : file_->children("/particles/" + name))
    if (const auto known = columns_of(kind);
        std::find(known.begin(), known.end(), column) == known.end())
      throw InputError("'{}': unknown dataset {}{}; expected {}", path_, group, column,
                       fmt::join(known, ", "));
  const std::int64_t total = file_->shape(group + "mass").at(0);
  require_shape(*file_, group + "mass", {total});
  for (const char* column : {"position", "velocity"})
    require_shape(*file_, group + column, {total, 3});

  const RowRange own = even_share(total, communicator.rank(), communicator.size());
  const auto vectors = [&](const char* column, double unit) {
    const auto values = read_finite(*file_, group + column, own);
    std::vector<std::array<double, 3>> result(values.size() / 3);
    for (std::size_t n = 0; n < values.size(); ++n) result[n / 3][n % 3] = unit * values[n];
    return result;
  };
  particles::ParticleBatch batch{.position = vectors("position", file_units_.length),
                                 .velocity = vectors("velocity", file_units_.velocity()),
                                 .mass = read_finite(*file_, group + "mass", own, 0.0),
                                 .id = {}};
  for (double& mass : batch.mass) mass *= file_units_.mass;
  for (std::int64_t n = 0; n < own.count; ++n)
    batch.id.push_back(kind.first_id() + static_cast<std::uint64_t>(own.begin + n));
  for (const particles::Column& column : kind.columns)
    if (file_->exists(group + column.name)) {
      require_shape(*file_, group + column.name, {total});
      batch.columns[column.name] = read_finite(*file_, group + column.name, own);
    }
  return batch;
}

}  // namespace

std::unique_ptr<Problem> make_file() { return std::make_unique<FromFile>(); }

}  // namespace octant::problems

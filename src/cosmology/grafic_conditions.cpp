// Initial conditions from a folder of grafic2 files, as written by MUSIC and monofonIC.
#include "cosmology/initial_conditions.hpp"

#include <algorithm>
#include <cmath>

#include "comm/reproducible_sum.hpp"
#include "core/error.hpp"
#include "core/log.hpp"
#include "cosmology/lagrangian.hpp"
#include "io/grafic.hpp"

namespace octant::cosmology {

namespace {

// Initial conditions from a folder of grafic2 files. Every rank reads some planes of each file.
// Displacements are those of the files, or follow from the velocities to first order (Zel'dovich
// 1970): psi = v / (a H f1).
//
// Levels in the files are not exactly consistent. The overdensity of a cell covered by a finer
// level is therefore replaced by the mean over the finer cells, and the mean of the whole box is
// set to 0: the gas mass then does not depend on refinement. This correction requires reading and
// storing the overdensities of all levels at once.
class GraficConditions : public InitialConditions {
 public:
  GraficConditions(const Communicator& communicator, const std::string& path,
                   const InitialHeader& expected, const Expansion& expansion);

  bool has(InitialField field) const override;
  CellSpread spread(int level) const override;

 protected:
  std::vector<double> compute(int level, InitialField field) override;
  std::string missing(InitialField field) const override;

 private:
  InitialField with_files(InitialField field) const;
  std::vector<double> read(int level, const std::string& name);
  void read_consistent_overdensities();
  // Replaces the overdensity of cells covered by the next finer level by its mean over finer cells.
  void restrict_to(int level);

  GraficFolder folder_;
  double velocity_per_displacement_ = 0.0;          // a H f1, km/s per comoving Mpc/h
  std::vector<std::vector<double>> overdensities_;  // [level], as returned by own()
};

// Relative tolerance for parameters in files, which are in single precision and may be rounded.
constexpr double k_tolerance = 1e-4;

void compare(const std::string& path, const char* name, double found, double expected) {
  if (std::abs(found - expected) <= k_tolerance * std::max(std::abs(found), std::abs(expected)))
    return;
  throw InputError(
      "the files in '{}' have {} = {:.7g}, but the parameter file has {:.7g}: correct the "
      "parameter, or use other initial conditions",
      path, name, found, expected);
}

// Returns `expected`, completed by the files, after checking that the files agree with it.
InitialHeader agreed(const GraficFolder& folder, const InitialHeader& expected) {
  const GraficLevel& base = folder.levels().front();
  const GraficHeader& file = base.header;
  const double box = static_cast<double>(file.spacing) * file.cells[0] * file.hubble / 100.0;
  compare(folder.path(), "cosmology.omega_m", file.omega_m, expected.omega_m);
  compare(folder.path(), "cosmology.omega_lambda", file.omega_lambda, expected.omega_lambda);
  compare(folder.path(), "cosmology.h", file.hubble / 100.0, expected.hubble / 100.0);
  InitialHeader header = expected;  // in double precision
  if (expected.box > 0.0) compare(folder.path(), "the box in Mpc/h", box, expected.box);
  else header.box = box;
  const double scale_factor = file.scale_factor;
  if (expected.scale_factor > 0.0)
    compare(folder.path(), "the scale factor", scale_factor, expected.scale_factor);
  else header.scale_factor = scale_factor;
  return header;
}

pencil::Box extent_of(const GraficLevel& level) {
  pencil::Box extent;
  for (int axis = 0; axis < 3; ++axis)
    extent.range[axis] = {level.origin[axis], level.origin[axis] + level.header.cells[axis]};
  return extent;
}

// The same region in cells of twice the resolution.
pencil::Box doubled(const pencil::Box& box) {
  pencil::Box fine;
  for (int axis = 0; axis < 3; ++axis) fine.range[axis] = {2 * box[axis].begin, 2 * box[axis].end};
  return fine;
}
pencil::Box halved(const pencil::Box& box) {
  pencil::Box coarse;
  for (int axis = 0; axis < 3; ++axis)
    coarse.range[axis] = {box[axis].begin / 2, box[axis].end / 2};
  return coarse;
}

}  // namespace

std::string grafic_file(InitialField field) {
  const char axis = "xyz"[field.index % 3];
  switch (field.quantity) {
    case InitialQuantity::overdensity: return "ic_deltab";
    case InitialQuantity::baryon_velocity: return fmt::format("ic_velb{}", axis);
    case InitialQuantity::displacement: return fmt::format("ic_posc{}", axis);
    case InitialQuantity::dark_velocity: return fmt::format("ic_velc{}", axis);
    case InitialQuantity::refinement: return "ic_refmap";
    case InitialQuantity::scalar: return fmt::format("ic_pvar_{:05}", field.index + 1);
  }
  return "";
}

GraficConditions::GraficConditions(const Communicator& communicator, const std::string& path,
                                   const InitialHeader& expected, const Expansion& expansion)
    : InitialConditions(communicator), folder_(communicator, path) {
  if (!has({InitialQuantity::dark_velocity}))
    throw InputError("the levels of '{}' do not contain ic_velcx, ic_velcy and ic_velcz", path);
  header_ = agreed(folder_, expected);
  velocity_per_displacement_ = velocity_rate(expansion.background(), header_.scale_factor) *
                               expansion.growth(header_.scale_factor).first_rate;
  for (const GraficLevel& level : folder_.levels())
    levels_.push_back({1 << level.number, extent_of(level)});
  while (folder_.has(grafic_file({InitialQuantity::scalar, scalars_}))) ++scalars_;
  if (folder_.has(grafic_file({InitialQuantity::overdensity})) &&
      !folder_.has(grafic_file({InitialQuantity::baryon_velocity})))
    log::info(
        "{}: ic_velbx, ic_velby and ic_velbz are missing: using the velocities of the dark matter "
        "for the gas",
        path);
}

bool GraficConditions::has(InitialField field) const {
  if (field.quantity == InitialQuantity::displacement) return true;
  return folder_.has(grafic_file(with_files(field)));
}

// Returns the field whose files are read. Velocities of dark matter replace missing velocities of
// baryons, as in RAMSES.
InitialField GraficConditions::with_files(InitialField field) const {
  if (field.quantity == InitialQuantity::baryon_velocity && !folder_.has(grafic_file(field)))
    return {InitialQuantity::dark_velocity, field.index};
  return field;
}

std::string GraficConditions::missing(InitialField field) const {
  return fmt::format("the levels of '{}' do not contain the required {}", folder_.path(),
                     grafic_file(field));
}

CellSpread GraficConditions::spread(int level) const {
  const pencil::Box& extent = levels_.at(static_cast<std::size_t>(level)).extent;
  return {extent, {1, std::min(communicator_.size(), extent[2].count())}};
}

std::vector<double> GraficConditions::compute(int level, InitialField field) {
  if (field.quantity == InitialQuantity::overdensity && levels_.size() > 1) {
    if (overdensities_.empty()) read_consistent_overdensities();
    return overdensities_.at(static_cast<std::size_t>(level));
  }
  const std::string name = grafic_file(with_files(field));
  if (folder_.has(name)) return read(level, name);
  std::vector<double> values =
      read(level, grafic_file({InitialQuantity::dark_velocity, field.index}));
  for (double& value : values) value /= velocity_per_displacement_;
  return values;
}

std::vector<double> GraficConditions::read(int level, const std::string& name) {
  const pencil::Range planes = spread(level).box(communicator_.rank())[2];
  const int first = levels_.at(static_cast<std::size_t>(level)).extent[2].begin;
  std::vector<double> values;
  communicator_.collective_try([&] {
    if (planes.count() == 0) return;
    const auto single =
        GraficFile(folder_.file(level, name)).planes({planes.begin - first, planes.count()});
    for (const float value : single)
      if (!std::isfinite(value))
        throw InputError("'{}' contains the non-finite value {}; regenerate or replace the file",
                         folder_.file(level, name), value);
    values.assign(single.begin(), single.end());
  });
  return values;
}

void GraficConditions::read_consistent_overdensities() {
  const int count = static_cast<int>(levels_.size());
  overdensities_.resize(levels_.size());
  for (int level = count - 1; level >= 0; --level) {
    overdensities_[static_cast<std::size_t>(level)] =
        read(level, grafic_file({InitialQuantity::overdensity}));
    if (level + 1 < count) restrict_to(level);
  }
  const double mean = reproducible_sum(communicator_, overdensities_.front()) /
                      static_cast<double>(levels_.front().extent.cells());
  for (auto& values : overdensities_)
    for (double& value : values) value -= mean;
}

void GraficConditions::restrict_to(int level) {
  const auto n = static_cast<std::size_t>(level);
  const pencil::Box own = spread(level).box(communicator_.rank());
  const pencil::Box held = intersection(own, halved(levels_[n + 1].extent));
  const pencil::Box fine = held.cells() > 0 ? doubled(held) : pencil::Box{};
  CellDelivery delivery(communicator_, spread(level + 1), {fine});
  const std::vector<double> values = delivery.deliver(overdensities_[n + 1]);
  for (int z = held[2].begin; z < held[2].end; ++z)
    for (int y = held[1].begin; y < held[1].end; ++y)
      for (int x = held[0].begin; x < held[0].end; ++x) {
        double sum = 0.0;
        for (int c = 0; c < 8; ++c)
          sum +=
              values[index_in_box(fine, 2 * x + (c & 1), 2 * y + (c >> 1 & 1), 2 * z + (c >> 2))];
        overdensities_[n][index_in_box(own, x, y, z)] = sum / 8.0;
      }
}

std::unique_ptr<InitialConditions> read_grafic_folder(const Communicator& communicator,
                                                      const std::string& path,
                                                      const InitialHeader& expected,
                                                      const Expansion& expansion) {
  return std::make_unique<GraficConditions>(communicator, path, expected, expansion);
}

}  // namespace octant::cosmology

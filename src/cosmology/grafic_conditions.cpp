#include "cosmology/grafic_conditions.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/error.hpp"
#include "cosmology/lagrangian.hpp"

namespace octant::cosmology {

namespace {

// Of numbers in files, which are in single precision and typed by hand.
constexpr double k_tolerance = 1e-4;

std::string file_of(InitialField field) {
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

void compare(const std::string& path, const char* name, double found, double expected) {
  if (std::abs(found - expected) <= k_tolerance * std::max(std::abs(found), std::abs(expected)))
    return;
  throw InputError(
      "the files in '{}' are of {} = {:.7g}, but the parameters say {:.7g}: correct the parameter, "
      "or use other initial conditions",
      path, name, found, expected);
}

// The box is computed in double precision from the spacing; the rest is the run's where it agrees.
InitialHeader agreed(const GraficFolder& folder, const InitialHeader& expected) {
  const GraficLevel& base = folder.levels().front();
  const GraficHeader& file = base.header;
  const double box = static_cast<double>(file.spacing) * file.cells[0] * file.hubble / 100.0;
  compare(folder.path(), "cosmology.omega_m", file.omega_m, expected.omega_m);
  compare(folder.path(), "cosmology.omega_lambda", file.omega_lambda, expected.omega_lambda);
  compare(folder.path(), "cosmology.h", file.hubble / 100.0, expected.hubble / 100.0);
  InitialHeader header = expected;
  if (expected.box > 0.0) compare(folder.path(), "cosmology.box (Mpc/h)", box, expected.box);
  else header.box = box;
  if (expected.scale_factor > 0.0)
    compare(folder.path(), "the scale factor", file.scale_factor, expected.scale_factor);
  header.scale_factor = file.scale_factor;
  return header;
}

pencil::Box extent_of(const GraficLevel& level) {
  pencil::Box extent;
  for (int axis = 0; axis < 3; ++axis)
    extent.range[axis] = {level.origin[axis], level.origin[axis] + level.header.cells[axis]};
  return extent;
}

}  // namespace

GraficConditions::GraficConditions(const Communicator& communicator, const std::string& path,
                                   const InitialHeader& expected, const Expansion& expansion)
    : InitialConditions(communicator), folder_(communicator, path) {
  if (!has({InitialQuantity::dark_velocity}))
    throw InputError("the levels of '{}' hold no ic_velcx, ic_velcy and ic_velcz", path);
  header_ = agreed(folder_, expected);
  velocity_per_displacement_ = velocity_rate(expansion.background(), header_.scale_factor) *
                               expansion.growth(header_.scale_factor).first_rate;
  for (const GraficLevel& level : folder_.levels())
    levels_.push_back({1 << level.number, extent_of(level)});
  while (folder_.has(file_of({InitialQuantity::scalar, scalars_}))) ++scalars_;
}

bool GraficConditions::has(InitialField field) const {
  if (field.quantity == InitialQuantity::displacement) return true;
  return folder_.has(file_of(field));
}

std::string GraficConditions::missing(InitialField field) const {
  return fmt::format("the levels of '{}' hold no {}, which is needed", folder_.path(),
                     file_of(field));
}

CellSpread GraficConditions::spread(int level) const {
  const pencil::Box& extent = levels_.at(static_cast<std::size_t>(level)).extent;
  return {extent, {1, std::min(communicator_.size(), extent[2].count())}};
}

std::vector<double> GraficConditions::compute(int level, InitialField field) {
  double factor = 1.0;
  if (field.quantity == InitialQuantity::displacement && !folder_.has(file_of(field))) {
    field.quantity = InitialQuantity::dark_velocity;
    factor = 1.0 / velocity_per_displacement_;
  }
  const pencil::Box extent = levels_.at(static_cast<std::size_t>(level)).extent;
  const pencil::Range planes = spread(level).box(communicator_.rank())[2];
  std::vector<double> values;
  communicator_.agree([&] {
    if (planes.count() == 0) return;
    const GraficFile file(folder_.file(level, file_of(field)));
    const auto read = file.planes({planes.begin - extent[2].begin, planes.count()});
    values.assign(read.begin(), read.end());
  });
  for (double& value : values) value *= factor;
  return values;
}

namespace {

const std::vector<InitialField>& fields_of_files() {
  using enum InitialQuantity;
  static const std::vector<InitialField> fields{
      {overdensity},      {baryon_velocity, 0}, {baryon_velocity, 1}, {baryon_velocity, 2},
      {displacement, 0},  {displacement, 1},    {displacement, 2},    {dark_velocity, 0},
      {dark_velocity, 1}, {dark_velocity, 2},   {refinement}};
  return fields;
}

GraficHeader header_of(const InitialHeader& header, const InitialLevel& level) {
  const double spacing = header.box / level.side * 100.0 / header.hubble;
  GraficHeader file;
  for (int axis = 0; axis < 3; ++axis) {
    file.cells[axis] = level.extent[axis].count();
    file.offset[axis] = static_cast<float>(spacing * level.extent[axis].begin);
  }
  file.spacing = static_cast<float>(spacing);
  file.scale_factor = static_cast<float>(header.scale_factor);
  file.omega_m = static_cast<float>(header.omega_m);
  file.omega_lambda = static_cast<float>(header.omega_lambda);
  file.hubble = static_cast<float>(header.hubble);
  return file;
}

// Level n of 2^n cells a side, as the folders are named.
int level_number(const InitialLevel& level) {
  int number = 0;
  while (1 << number < level.side) ++number;
  if (1 << number != level.side)
    throw RunError("grafic levels have a power of two of cells a side, not {}", level.side);
  return number;
}

}  // namespace

void write_grafic_folder(const Communicator& communicator, InitialConditions& from,
                         const std::string& folder) {
  std::vector<InitialField> fields = fields_of_files();
  for (int n = 0; n < from.scalars(); ++n) fields.push_back({InitialQuantity::scalar, n});
  for (int level = 0; level < std::ssize(from.levels()); ++level) {
    const InitialLevel& cells = from.levels()[static_cast<std::size_t>(level)];
    const std::string name = fmt::format("{}/level_{:03}", folder, level_number(cells));
    communicator.agree([&] {
      if (communicator.is_root()) std::filesystem::create_directories(name);
    });
    const CellSpread slabs{cells.extent,
                           {1, std::min(communicator.size(), cells.extent[2].count())}};
    const pencil::Box slab = slabs.box(communicator.rank());
    CellDelivery delivery(communicator, from.spread(level), {slab});
    for (const InitialField& field : fields) {
      if (!from.has(field)) continue;
      const std::vector<double> values = delivery.deliver(from.own(level, field));
      const std::vector<float> single(values.begin(), values.end());
      const std::int64_t first = slab[2].begin - (slab.cells() > 0 ? cells.extent[2].begin : 0);
      write_grafic(communicator, name + "/" + file_of(field), header_of(from.header(), cells),
                   {first, slab[2].count()}, single);
    }
  }
}

}  // namespace octant::cosmology

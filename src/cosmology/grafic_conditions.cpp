#include "cosmology/grafic_conditions.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "comm/reproducible_sum.hpp"
#include "core/error.hpp"
#include "core/log.hpp"
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

// The run's own numbers where the files agree with them.
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
    throw RunError("grafic levels require a power of two of cells per side, found {}", level.side);
  return number;
}

// The same region in cells of twice, or half, the resolution.
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
  if (folder_.has(file_of({InitialQuantity::overdensity})) &&
      !folder_.has(file_of({InitialQuantity::baryon_velocity})))
    log::info("{}: no ic_velbx, ic_velby and ic_velbz: gas has the velocities of dark matter",
              path);
}

bool GraficConditions::has(InitialField field) const {
  if (field.quantity == InitialQuantity::displacement) return true;
  return folder_.has(file_of(with_files(field)));
}

// Gas without velocities of its own has those of dark matter, as in RAMSES.
InitialField GraficConditions::with_files(InitialField field) const {
  if (field.quantity == InitialQuantity::baryon_velocity && !folder_.has(file_of(field)))
    return {InitialQuantity::dark_velocity, field.index};
  return field;
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
  if (field.quantity == InitialQuantity::overdensity && levels_.size() > 1) {
    if (overdensities_.empty()) read_consistent_overdensities();
    return overdensities_.at(static_cast<std::size_t>(level));
  }
  const std::string name = file_of(with_files(field));
  if (folder_.has(name)) return read(level, name);
  std::vector<double> values = read(level, file_of({InitialQuantity::dark_velocity, field.index}));
  for (double& value : values) value /= velocity_per_displacement_;
  return values;
}

std::vector<double> GraficConditions::read(int level, const std::string& name) {
  const pencil::Range planes = spread(level).box(communicator_.rank())[2];
  const int first = levels_.at(static_cast<std::size_t>(level)).extent[2].begin;
  std::vector<double> values;
  communicator_.agree([&] {
    if (planes.count() == 0) return;
    const auto single =
        GraficFile(folder_.file(level, name)).planes({planes.begin - first, planes.count()});
    for (const float value : single)
      if (!std::isfinite(value))
        throw InputError(
            "'{}' holds the value {}: expected finite numbers; generate the file again",
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
        read(level, file_of({InitialQuantity::overdensity}));
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
          sum += values[place(fine, 2 * x + (c & 1), 2 * y + (c >> 1 & 1), 2 * z + (c >> 2))];
        overdensities_[n][place(own, x, y, z)] = sum / 8.0;
      }
}

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

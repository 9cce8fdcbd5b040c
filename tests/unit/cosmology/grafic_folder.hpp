// Writes initial conditions as a folder of grafic2 files, for tests that read them back.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "cosmology/initial_conditions.hpp"
#include "io/grafic.hpp"

namespace octant::cosmology {

inline const std::vector<InitialField>& fields_of_files() {
  using enum InitialQuantity;
  static const std::vector<InitialField> fields{
      {overdensity},      {baryon_velocity, 0}, {baryon_velocity, 1}, {baryon_velocity, 2},
      {displacement, 0},  {displacement, 1},    {displacement, 2},    {dark_velocity, 0},
      {dark_velocity, 1}, {dark_velocity, 2},   {refinement}};
  return fields;
}

inline GraficHeader header_of(const InitialHeader& header, const InitialLevel& level) {
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

// Number n of a level with 2^n cells per side, as in the folder names.
inline int level_number(const InitialLevel& level) {
  int number = 0;
  while (1 << number < level.side) ++number;
  if (1 << number != level.side)
    throw RunError(
        "the number of cells per side of a grafic level must be a power of two, but it is {}",
        level.side);
  return number;
}

// All levels and fields. Collective. Throws RunError on every rank if that fails on one.
inline void write_grafic_folder(const Communicator& communicator, InitialConditions& from,
                                const std::string& folder) {
  std::vector<InitialField> fields = fields_of_files();
  for (int n = 0; n < from.scalars(); ++n) fields.push_back({InitialQuantity::scalar, n});
  for (int level = 0; level < std::ssize(from.levels()); ++level) {
    const InitialLevel& cells = from.levels()[static_cast<std::size_t>(level)];
    const std::string name = fmt::format("{}/level_{:03}", folder, level_number(cells));
    communicator.collective_try([&] {
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
      write_grafic(communicator, name + "/" + grafic_file(field), header_of(from.header(), cells),
                   {first, slab[2].count()}, single);
    }
  }
}

}  // namespace octant::cosmology

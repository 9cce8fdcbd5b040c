#include "dns/field_file.hpp"

#include <algorithm>
#include <vector>

#include <fmt/ranges.h>

#include "core/error.hpp"

namespace octant::dns {

void write_field(Hdf5Writer& file, const Domain& domain, const std::string& dataset,
                 const Field& field, const DatasetMeaning& meaning) {
  const auto& cells = domain.grid.cells;
  Hdf5Rows rows = file.create_dataset<double>(dataset, cells[2], {cells[1], cells[0]}, meaning);
  // From here on a row is one along x, of which a rank holds some neighbours in each plane.
  rows.total *= cells[1];
  rows.row_bytes /= cells[1];
  std::vector<double> plane(static_cast<std::size_t>(domain.ny) * domain.nx);
  const int most = domain.pencils.communicator().max(domain.nz);
  for (int k = 0; k < most; ++k) {
    const bool here = k < domain.nz;
    const std::int64_t at_z = domain.box[2].begin + k;
    for (int j = 0; here && j < domain.ny; ++j)
      std::copy_n(field.row(k, j), domain.nx,
                  plane.data() + static_cast<std::ptrdiff_t>(j) * domain.nx);
    const RowRange range =
        here ? RowRange{at_z * cells[1] + domain.box[1].begin, domain.ny} : RowRange{0, 0};
    file.write_rows(rows, range, here ? std::span<const double>(plane) : std::span<const double>());
  }
}

void read_field(const Hdf5Reader& file, const Domain& domain, const std::string& dataset,
                Field& field) {
  const auto& cells = domain.grid.cells;
  const std::vector<std::int64_t> expected{cells[2], cells[1], cells[0]};
  const auto shape = file.shape(dataset);
  if (shape != expected)
    throw InputError("{}: {} has the shape {}, but grid.cells asks for {} (planes, rows, cells)",
                     file.path(), dataset, shape, expected);
  const int most = domain.pencils.communicator().max(domain.nz);
  for (int k = 0; k < most; ++k) {
    const bool here = k < domain.nz;
    const std::vector<double> plane =
        file.read<double>(dataset, {here ? domain.box[2].begin + k : 0, here ? 1 : 0});
    for (int j = 0; here && j < domain.ny; ++j)
      std::copy_n(plane.data() + static_cast<std::ptrdiff_t>(domain.box[1].begin + j) * domain.nx,
                  domain.nx, field.row(k, j));
  }
}

}  // namespace octant::dns

#include "dns/field_file.hpp"

#include <algorithm>
#include <vector>

#include <fmt/ranges.h>

#include "core/error.hpp"
#include "io/expectations.hpp"

namespace octant::dns {

namespace {

// A dataset [k][j][i] and what this rank holds of it: its first entry is a field's entry `first`.
struct Part {
  pencil::Cells whole;
  pencil::Box own;
  std::array<int, 3> first;
};

Part all_cells(const Domain& domain) { return {domain.grid.cells, domain.box, {0, 0, 0}}; }

// The faces on the lower side along an axis.
Part lower_faces(const Domain& domain, int axis) {
  Part part = all_cells(domain);
  part.whole[axis] = 1;
  part.own.range[axis] = {0, domain.ends(axis, 0) ? 1 : 0};
  part.first[axis] = -1;
  return part;
}

void write_part(Hdf5Writer& file, const Domain& domain, const std::string& dataset,
                const Part& part, const Field& field, const DatasetMeaning& meaning) {
  const auto& [nx, ny, nz] = part.whole;
  Hdf5Rows rows = file.create_dataset<double>(dataset, nz, {ny, nx}, meaning);
  // From here on a row is one along x, of which a rank holds some neighbours in each plane.
  rows.total *= ny;
  rows.row_bytes /= ny;
  const int count = part.own[1].count(), width = part.own[0].count();
  std::vector<double> plane(static_cast<std::size_t>(count) * width);
  const auto [x, y, z] = part.first;
  const int most = domain.pencils.communicator().max(part.own[2].count());
  for (int k = 0; k < most; ++k) {
    const bool here = k < part.own[2].count() && !plane.empty();
    const std::int64_t at_z = part.own[2].begin + k;
    for (int j = 0; here && j < count; ++j)
      std::copy_n(field.row(z + k, y + j) + x, width,
                  plane.data() + static_cast<std::ptrdiff_t>(j) * width);
    const RowRange range = here ? RowRange{at_z * ny + part.own[1].begin, count} : RowRange{0, 0};
    file.write_rows(rows, range, here ? std::span<const double>(plane) : std::span<const double>());
  }
}

void read_part(const Hdf5Reader& file, const Domain& domain, const std::string& dataset,
               const Part& part, Field& field) {
  const auto& [nx, ny, nz] = part.whole;
  const std::vector<std::int64_t> expected{nz, ny, nx};
  const auto shape = file.shape(dataset);
  if (shape != expected)
    throw InputError("{}: {} has the shape {}, but grid.cells asks for {} (planes, rows, cells)",
                     file.path(), dataset, shape, expected);
  const auto [x, y, z] = part.first;
  const int most = domain.pencils.communicator().max(part.own[2].count());
  for (int k = 0; k < most; ++k) {
    const bool here = k < part.own[2].count();
    const std::vector<double> plane =
        read_finite(file, dataset, {here ? part.own[2].begin + k : 0, here ? 1 : 0});
    for (int j = 0; here && j < part.own[1].count(); ++j)
      std::copy_n(plane.data() + static_cast<std::ptrdiff_t>(part.own[1].begin + j) * nx,
                  part.own[0].count(), field.row(z + k, y + j) + x);
  }
}

// Gives the lower faces along an axis what the next faces inside have.
void open_lower_faces(const Part& part, int axis, Field& field) {
  const std::ptrdiff_t inside[] = {1, field.row_stride(), field.plane_stride()};
  const auto [x, y, z] = part.first;
  for (int k = 0; k < part.own[2].count(); ++k)
    for (int j = 0; j < part.own[1].count(); ++j) {
      double* row = field.row(z + k, y + j) + x;
      std::copy_n(row + inside[axis], part.own[0].count(), row);
    }
}

constexpr const char* k_lower_faces[] = {"/lower_faces/u", "/lower_faces/v", "/lower_faces/w"};

bool has_lower_faces(const Domain& domain, int axis) {
  return domain.boundaries.side(axis, 0) == Side::outflow;
}

}  // namespace

void write_field(Hdf5Writer& file, const Domain& domain, const std::string& dataset,
                 const Field& field, const DatasetMeaning& meaning) {
  write_part(file, domain, dataset, all_cells(domain), field, meaning);
}

void read_field(const Hdf5Reader& file, const Domain& domain, const std::string& dataset,
                Field& field) {
  read_part(file, domain, dataset, all_cells(domain), field);
}

void write_lower_faces(Hdf5Writer& file, const Domain& domain, const State& state) {
  for (int axis = 0; axis < 3; ++axis)
    if (has_lower_faces(domain, axis))
      write_part(file, domain, k_lower_faces[axis], lower_faces(domain, axis), state.velocity(axis),
                 {"length / time", "velocity through the lower side of the domain"});
}

void read_lower_faces(const Hdf5Reader& file, const Domain& domain, State& state) {
  for (int axis = 0; axis < 3; ++axis) {
    if (!has_lower_faces(domain, axis)) continue;
    const Part part = lower_faces(domain, axis);
    Field& field = state.velocity(axis);
    if (file.exists(k_lower_faces[axis])) read_part(file, domain, k_lower_faces[axis], part, field);
    else open_lower_faces(part, axis, field);
  }
}

}  // namespace octant::dns

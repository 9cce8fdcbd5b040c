#include "dns/field_file.hpp"

#include <algorithm>
#include <vector>

#include <fmt/ranges.h>

#include "core/error.hpp"
#include "dns/other_grid.hpp"
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

std::vector<double> plane_of(const Part& part, const Field& field, int plane) {
  const int count = part.own[1].count(), width = part.own[0].count();
  std::vector<double> values(static_cast<std::size_t>(count) * width);
  const auto [x, y, z] = part.first;
  for (int j = 0; j < count; ++j)
    std::copy_n(field.row(z + plane, y + j) + x, width,
                values.data() + static_cast<std::ptrdiff_t>(j) * width);
  return values;
}

StoredField stored(const char* room, const char* name, const DatasetMeaning& meaning, int face_axis,
                   const Part& part, const Field& field) {
  return {room, name, meaning, face_axis, part.whole, part.own, [part, &field](int plane) {
            return plane_of(part, field, plane);
          }};
}

void read_part(const Hdf5Reader& file, const Domain& domain, const std::string& dataset,
               const Part& part, Field& field) {
  const auto& [nx, ny, nz] = part.whole;
  const std::vector<std::int64_t> expected{nz, ny, nx};
  const auto shape = file.shape(dataset);
  if (shape != expected)
    throw InputError("{}: {} has the shape {}; expected {} (planes, rows, cells) from grid.cells",
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

constexpr const char* k_velocity[] = {"u", "v", "w"};

std::string lower_faces_name(int axis) { return std::string("/lower_faces/") + k_velocity[axis]; }

bool has_lower_faces(const Domain& domain, int axis) {
  return domain.boundaries.side(axis, 0) == Side::outflow;
}

}  // namespace

std::vector<StoredField> stored_fields(const Domain& domain, const State& state,
                                       const Field* scalar) {
  static const DatasetMeaning velocity[] = {
      {"length / time", "velocity along x, on the upper x faces"},
      {"length / time", "velocity along y, on the upper y faces"},
      {"length / time", "velocity along z, on the upper z faces"}};
  const Part cells = all_cells(domain);
  std::vector<StoredField> fields;
  for (int axis = 0; axis < 3; ++axis)
    fields.push_back(
        stored("fields", k_velocity[axis], velocity[axis], axis, cells, state.velocity(axis)));
  fields.push_back(
      stored("fields", "p",
             {"length^2 / time^2", "pressure over density, at the centres, up to a constant"}, -1,
             cells, state.p));
  if (scalar)
    fields.push_back(stored("fields", "t",
                            {"scalar", "the scalar that the flow carries, at the centres"}, -1,
                            cells, *scalar));
  for (int axis = 0; axis < 3; ++axis)
    if (has_lower_faces(domain, axis))
      fields.push_back(stored("lower_faces", k_velocity[axis],
                              {"length / time", "velocity through the lower side of the domain"},
                              axis, lower_faces(domain, axis), state.velocity(axis)));
  return fields;
}

void read_field(const Hdf5Reader& file, const Domain& domain, const std::string& dataset,
                Field& field) {
  read_part(file, domain, dataset, all_cells(domain), field);
}

void read_lower_faces(const Hdf5Reader& file, const Domain& domain, State& state) {
  for (int axis = 0; axis < 3; ++axis) {
    if (!has_lower_faces(domain, axis)) continue;
    const Part part = lower_faces(domain, axis);
    Field& field = state.velocity(axis);
    const std::string name = lower_faces_name(axis);
    if (file.exists(name)) read_part(file, domain, name, part, field);
    else open_lower_faces(domain, axis, state);
  }
}

}  // namespace octant::dns

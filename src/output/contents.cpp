#include "output/contents.hpp"

#include <algorithm>
#include <cmath>
#include <regex>

#include "core/error.hpp"

namespace octant {

void Attributes::set(const std::string& name, AttributeValue value) {
  const auto found = std::find_if(facts_.begin(), facts_.end(),
                                  [&](const auto& fact) { return fact.first == name; });
  if (found == facts_.end()) facts_.emplace_back(name, std::move(value));
  else found->second = std::move(value);
}

const AttributeValue* Attributes::find(const std::string& name) const {
  const auto found = std::find_if(facts_.begin(), facts_.end(),
                                  [&](const auto& fact) { return fact.first == name; });
  return found == facts_.end() ? nullptr : &found->second;
}

double Attributes::number(const std::string& name) const {
  const AttributeValue* value = find(name);
  if (value && std::holds_alternative<double>(*value)) return std::get<double>(*value);
  if (value && std::holds_alternative<std::int64_t>(*value))
    return static_cast<double>(std::get<std::int64_t>(*value));
  throw RunError("the file metadata have no numerical attribute \"{}\"", name);
}

namespace {

template <class Field, class NameOf>
void keep_fields(std::vector<Field>& fields, const std::vector<std::string>& names,
                 const NameOf& name_of_field) {
  if (names.empty()) return;
  std::erase_if(fields, [&](const Field& field) {
    return std::find(names.begin(), names.end(), name_of_field(field)) == names.end();
  });
}

void describe_slice(FileOrigin& origin, Attributes& attributes, const Plane& plane) {
  origin.kind = "slice";
  attributes.set("slice_axis", name_of(plane.axis));
  attributes.set("slice_position", plane.position);
}

}  // namespace

void select_fields(MeshContents& contents, const std::vector<std::string>& names) {
  keep_fields(contents.fields, names, [](const MeshField& field) { return field.info.name; });
}

void select_fields(GridContents& contents, const std::vector<std::string>& names) {
  keep_fields(contents.fields, names, [](const dns::StoredField& field) { return field.name; });
}

namespace {

// The means of neighbours along an axis of blocks [block][k][j][i], whose extents follow.
std::vector<double> means_along(int axis, const std::vector<double>& values,
                                std::array<int, 3>& extents) {
  const std::int64_t points = extents[axis]--;
  const std::int64_t stride = axis == 0   ? 1
                              : axis == 1 ? extents[0]
                                          : std::int64_t{extents[0]} * extents[1];
  std::vector<double> means;
  means.reserve(values.size() / points * (points - 1));
  for (std::int64_t first = 0; first < std::ssize(values); first += points * stride)
    for (std::int64_t n = first; n < first + (points - 1) * stride; ++n)
      means.push_back(0.5 * (values[n] + values[n + stride]));
  return means;
}

}  // namespace

MeshContents cell_centred(MeshContents contents) {
  for (MeshField& field : contents.fields) {
    if (field.info.centring == mesh::Centring::cell) continue;
    field.values = [whole = field.values, info = field.info, cells = contents.block_cells](
                       int level, std::span<const int> slots) {
      std::vector<double> values = whole(level, slots);
      std::array<int, 3> extents = info.extents(cells);
      for (int axis = 0; axis < 3; ++axis)
        if (extents[axis] > cells[axis]) values = means_along(axis, values, extents);
      return values;
    };
    field.info.centring = mesh::Centring::cell;
  }
  return contents;
}

MeshContents coarse_contents(MeshContents contents, int finest_level) {
  contents.origin.kind = "coarse";
  contents.particles.clear();
  if (std::ssize(contents.levels) > finest_level + 1)
    contents.levels.erase(contents.levels.begin() + finest_level + 1, contents.levels.end());
  BlockLevel& finest = contents.levels.back();
  std::fill(finest.refined.begin(), finest.refined.end(), 0);
  contents.attributes.set("finest_level", std::int64_t{finest.number});
  return contents;
}

namespace {

// Exponent of time in units such as "mass / (length time^2)".
int power_of_time(const std::string& units) {
  static const std::regex word(R"((/)|\btime\b(?:\^(-?\d+))?)");
  int power = 0, sign = 1;
  for (std::sregex_iterator at(units.begin(), units.end(), word), end; at != end; ++at) {
    const std::smatch& found = *at;
    if (found[1].matched) sign = -1;
    else power += sign * (found[2].matched ? std::stoi(found[2]) : 1);
  }
  return power;
}

// Scales the results of a function by a factor.
template <class... Arguments>
void multiply(std::function<std::vector<double>(Arguments...)>& values, double factor) {
  if (factor == 1.0) return;
  values = [whole = values, factor](Arguments... arguments) {
    std::vector<double> scaled = whole(arguments...);
    for (double& value : scaled) value *= factor;
    return scaled;
  };
}

}  // namespace

MeshContents in_unit_of_time(MeshContents contents, double factor) {
  const auto of_units = [&](const std::string& units) {
    return std::pow(factor, -power_of_time(units));
  };
  contents.origin.time /= factor;
  contents.origin.units.time *= factor;
  for (MeshField& field : contents.fields) multiply(field.values, of_units(field.info.unit));
  for (ParticleContents& particles : contents.particles)
    for (ParticleColumn& column : particles.columns)
      if (auto* values = std::get_if<ParticleColumn::Values<double>>(&column.values))
        multiply(*values, of_units(column.meaning.units));
  return contents;
}

namespace {

// Index of the cell, of `count` from `lower` on, that contains a position; the last one includes
// its upper face.
std::int64_t cell_at(double position, double lower, double cell_size, std::int64_t count) {
  const auto cell = static_cast<std::int64_t>(std::floor((position - lower) / cell_size));
  return std::clamp<std::int64_t>(cell, 0, count - 1);
}

void keep_blocks(BlockLevel& level, int axis, std::uint32_t coordinate) {
  BlockLevel kept{.number = level.number,
                  .slots = {},
                  .keys = {},
                  .refined = {},
                  .module_attributes = level.module_attributes};
  for (std::size_t n = 0; n < level.keys.size(); ++n) {
    if (static_cast<std::uint32_t>(morton_decode(level.keys[n])[axis]) != coordinate) continue;
    kept.slots.push_back(level.slots[n]);
    kept.keys.push_back(level.keys[n]);
    kept.refined.push_back(level.refined[n]);
  }
  level = std::move(kept);
}

// Returns one layer across an axis of blocks of N^3 cells, [block][k][j][i].
std::vector<double> layer_of(const std::vector<double>& blocks, int N, int axis, int layer) {
  const std::int64_t inner = axis == 0 ? 1 : axis == 1 ? N : std::int64_t{N} * N;
  const std::int64_t stride = inner * N;
  std::vector<double> cells;
  cells.reserve(blocks.size() / N);
  for (std::int64_t first = layer * inner; first < std::ssize(blocks); first += stride)
    cells.insert(cells.end(), blocks.begin() + first, blocks.begin() + first + inner);
  return cells;
}

}  // namespace

MeshContents slice_contents(MeshContents contents, const Plane& plane) {
  contents = cell_centred(std::move(contents));
  const int axis = index_of(plane.axis), N = contents.geometry.block_size();
  describe_slice(contents.origin, contents.attributes, plane);
  contents.particles.clear();
  contents.block_cells[axis] = 1;
  std::vector<int> layers;
  for (BlockLevel& level : contents.levels) {
    const std::int64_t cells = std::int64_t{N} * contents.geometry.extent(level.number)[axis];
    const std::int64_t cell = cell_at(plane.position, contents.geometry.lower()[axis],
                                      contents.geometry.cell_size(level.number), cells);
    keep_blocks(level, axis, static_cast<std::uint32_t>(cell / N));
    level.module_attributes["mesh"].set("slice_cell", cell);
    layers.push_back(static_cast<int>(cell % N));
  }
  for (MeshField& field : contents.fields)
    field.values = [whole = field.values, layers, N, axis](int level, std::span<const int> slots) {
      return layer_of(whole(level, slots), N, axis, layers[level]);
    };
  return contents;
}

namespace {

// Returns the field in one cell layer across an axis. Along z, ranks without this layer have no
// planes.
dns::StoredField layer_of(const dns::StoredField& field, int axis, int cell) {
  dns::StoredField layer = field;
  const pencil::Range own = field.own[axis];
  const int within = cell - own.begin;
  layer.whole[axis] = 1;
  layer.own.range[axis] = {0, own.contains(cell) ? 1 : 0};
  const int width = field.own[0].count();
  if (axis == 2) {
    layer.plane = [whole = field.plane, within](int) { return whole(within); };
  } else if (axis == 1) {
    layer.plane = [whole = field.plane, within, width](int plane) {
      const std::vector<double> cells = whole(plane);
      const auto row = cells.begin() + std::ptrdiff_t{within} * width;
      return std::vector<double>(row, row + width);
    };
  } else {
    layer.plane = [whole = field.plane, within, width](int plane) {
      const std::vector<double> cells = whole(plane);
      std::vector<double> column;
      for (std::size_t n = within; n < cells.size(); n += width) column.push_back(cells[n]);
      return column;
    };
  }
  return layer;
}

}  // namespace

GridContents slice_contents(GridContents contents, const Plane& plane) {
  const int axis = index_of(plane.axis);
  describe_slice(contents.origin, contents.attributes, plane);
  GridLine& line = contents.lines[axis];
  const auto upper = std::upper_bound(line.faces.begin(), line.faces.end(), plane.position);
  const auto cell =
      std::min<std::ptrdiff_t>(upper - line.faces.begin(), std::ssize(line.faces) - 1);
  line = {{line.centres[cell]}, {line.faces[cell]}};
  std::erase_if(contents.fields, [](const dns::StoredField& field) { return !field.is_inside(); });
  for (dns::StoredField& field : contents.fields)
    field = layer_of(field, axis, static_cast<int>(cell));
  return contents;
}

}  // namespace octant

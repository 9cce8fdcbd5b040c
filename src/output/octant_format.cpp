#include "output/octant_format.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <type_traits>

#include <fmt/ranges.h>

#include "core/error.hpp"
#include "core/own_files.hpp"
#include "decomp/key_order.hpp"
#include "io/expectations.hpp"
#include "io/row_shuffle.hpp"
#include "mesh/nesting.hpp"
#include "output/file_header.hpp"
#include "output/format.hpp"
#include "output/particle_file.hpp"

namespace octant {

namespace {

// Words of a Morton key in files.
constexpr std::int64_t k_key_words = std::is_same_v<Key, std::uint64_t> ? 1 : 2;

void put_facts(Hdf5Writer& file, const std::string& group, const Attributes& attributes) {
  for (const auto& [name, value] : attributes) file.attribute(group, name, value);
}

// Batch of blocks of a level, with the redistribution of its rows for writing.
struct BlockBatch {
  RowBatch rows;
  std::vector<int> slots;
};

// Writes the blocks of a level; returns the batches for its fields.
std::vector<BlockBatch> write_blocks(Hdf5Writer& file, const MeshContents& contents,
                                     const BlockLevel& level) {
  const Communicator& communicator = contents.communicator;
  std::vector<double> origins;
  for (const Key key : level.keys) {
    const auto origin = contents.geometry.origin(level.number, morton_decode(key));
    origins.insert(origins.end(), origin.begin(), origin.end());
  }
  const std::vector<std::int32_t> owners(level.keys.size(), communicator.rank());
  const auto places = rows_in_key_order(communicator, level.keys);
  RowShuffle rows(communicator, places);
  const std::string group = level_group("mesh", level.number) + "/";
  const auto put = [&]<class T>(const char* name, const std::vector<T>& values,
                                const std::vector<std::int64_t>& shape,
                                const DatasetMeaning& meaning) {
    std::int64_t width = 1;
    for (const auto extent : shape) width *= extent;
    const auto written = rows.to_writers(std::span<const T>(values), width);
    file.dataset(group + name, rows.range(), shape, std::span<const T>(written), meaning);
  };
  std::vector<std::uint64_t> words(level.keys.size() * k_key_words);
  std::memcpy(words.data(), level.keys.data(), level.keys.size() * sizeof(Key));
  put("key", words, k_key_words == 1 ? std::vector<std::int64_t>{} : std::vector<std::int64_t>{2},
      {"1", "Morton key of the block on its level"});
  put("origin", origins, {3}, {"length", "lower corner of the block"});
  put("refined", level.refined, {}, {"1", "mask of refined octants, bit ix + 2 iy + 4 iz"});
  put("owner", owners, {}, {"1", "rank that owned the block"});
  file.attribute(level_group("mesh", level.number), "cell_size",
                 contents.geometry.cell_size(level.number));
  std::vector<BlockBatch> batches;
  for (RowBatch& batch :
       row_batches(communicator, places, blocks_per_batch(contents.geometry.block_size()))) {
    std::vector<int> slots;
    for (const std::int64_t n : batch.own)
      slots.push_back(level.slots[static_cast<std::size_t>(n)]);
    batches.push_back({std::move(batch), std::move(slots)});
  }
  return batches;
}

template <class T>
void write_field(Hdf5Writer& file, const MeshContents& contents, const BlockLevel& level,
                 std::vector<BlockBatch>& batches, const MeshField& field) {
  const mesh::FieldInfo& info = field.info;
  const auto [nx, ny, nz] = info.extents(contents.block_cells);
  const std::int64_t total = contents.communicator.sum(std::ssize(level.slots));
  const std::string path = level_group(field.group, level.number) + "/" + info.name;
  const Hdf5Rows rows =
      file.create_dataset<T>(path, total, {nz, ny, nx}, {info.unit, info.description});
  if (info.centring != mesh::Centring::cell) {
    file.attribute(path, "centring", name_of(info.centring));
    file.attribute(path, "axis", name_of(static_cast<Axis>(info.vector_axis)));
  }
  for (auto& [batch, slots] : batches) {
    const std::vector<T> own = as_elements<T>(field.values(level.number, slots));
    const auto written =
        batch.shuffle.to_writers(std::span<const T>(own), std::int64_t{nx} * ny * nz);
    file.write_rows(rows, batch.range, std::span<const T>(written));
  }
}

void write_level(Hdf5Writer& file, const MeshContents& contents, const BlockLevel& level) {
  auto batches = write_blocks(file, contents, level);
  for (const MeshField& field : contents.fields) {
    if (contents.precision == Precision::float32)
      write_field<float>(file, contents, level, batches, field);
    else write_field<double>(file, contents, level, batches, field);
  }
  for (const auto& [group, attributes] : level.module_attributes)
    put_facts(file, level_group(group, level.number), attributes);
}

}  // namespace

void write_contents(Hdf5Writer& file, const MeshContents& contents) {
  write_file_header(file, contents.origin);
  put_facts(file, "/header", contents.attributes);
  for (const auto& [name, attributes] : contents.groups) {
    file.group(name);
    put_facts(file, name, attributes);
  }
  for (const BlockLevel& level : contents.levels) write_level(file, contents, level);
  for (const ParticleContents& kind : contents.particles)
    write_particles(file, contents.communicator, kind, contents.precision);
}

std::string write_octant_file(const MeshContents& contents, const std::string& stem) {
  const std::string path = stem + ".h5";
  Hdf5Writer file(contents.communicator, path, contents.compression);
  write_contents(file, contents);
  file.commit();
  return path;
}

class OctantMesh final : public MeshFormat {
 public:
  std::string name() const override { return "octant"; }
  std::string write(const MeshContents& contents, const std::string& stem) const override {
    return write_octant_file(contents, stem);
  }
};

template <>
std::unique_ptr<MeshFormat> make_mesh_format<OctantMesh>() {
  return std::make_unique<OctantMesh>();
}

// --- incompressible flows ------------------------------------------------------------------------

namespace {

void write_points(Hdf5Writer& file, const GridContents& contents, const std::string& name,
                  const std::vector<double>& values, const char* description) {
  const std::int64_t count = std::ssize(values);
  const bool root = contents.communicator.is_root();
  file.dataset("/grid/" + name, root ? RowRange{0, count} : RowRange{count, 0}, {},
               root ? std::span<const double>(values) : std::span<const double>(),
               {"length", description});
}

template <class T>
void write_field(Hdf5Writer& file, const Communicator& communicator,
                 const dns::StoredField& field) {
  const auto& [nx, ny, nz] = field.whole;
  Hdf5Rows rows =
      file.create_dataset<T>("/" + field.group + "/" + field.name, nz, {ny, nx}, field.meaning);
  // A row is now a line along x; a rank has adjacent ones in each plane.
  rows.total *= ny;
  rows.row_bytes /= ny;
  const int planes = field.own.cells() > 0 ? field.own[2].count() : 0;
  const int most = communicator.max(planes);
  for (int k = 0; k < most; ++k) {
    std::vector<T> values;
    RowRange range{0, 0};
    if (k < planes) {
      values = as_elements<T>(field.plane(k));
      const std::int64_t at_z = field.own[2].begin + k;
      range = {at_z * ny + field.own[1].begin, field.own[1].count()};
    }
    file.write_rows(rows, range, std::span<const T>(values));
  }
}

int bytes_of(Precision precision) { return precision == Precision::float32 ? 4 : 8; }

// Describes a field of a snapshot as an XDMF grid whose nodes are the points of the field, which
// may be staggered.
std::string xdmf_grid(const GridContents& contents, const std::string& file,
                      const dns::StoredField& field) {
  const auto& cells = field.whole;
  std::string text = fmt::format(
      "      <Grid Name=\"{}\" GridType=\"Uniform\">\n"
      "        <Topology TopologyType=\"3DRectMesh\" Dimensions=\"{} {} {}\"/>\n"
      "        <Geometry GeometryType=\"VXVYVZ\">\n",
      field.name, cells[2], cells[1], cells[0]);
  for (int axis = 0; axis < 3; ++axis)
    text += fmt::format(
        "          <DataItem Dimensions=\"{}\" NumberType=\"Float\" Precision=\"8\" "
        "Format=\"HDF\">{}:/grid/{}{}</DataItem>\n",
        cells[axis], file, static_cast<char>('x' + axis), axis == field.face_axis ? "_face" : "");
  text += fmt::format(
      "        </Geometry>\n"
      "        <Attribute Name=\"{}\" AttributeType=\"Scalar\" Center=\"Node\">\n"
      "          <DataItem Dimensions=\"{} {} {}\" NumberType=\"Float\" Precision=\"{}\" "
      "Format=\"HDF\">{}:/fields/{}</DataItem>\n"
      "        </Attribute>\n"
      "      </Grid>\n",
      field.name, cells[2], cells[1], cells[0], bytes_of(contents.precision), file, field.name);
  return text;
}

void write_xdmf(const GridContents& contents, const std::string& stem) {
  const std::string file = std::filesystem::path(stem).filename().string() + ".h5";
  std::string text = fmt::format(
      "<?xml version=\"1.0\"?>\n<Xdmf Version=\"3.0\">\n  <Domain>\n"
      "    <Grid Name=\"flow\" GridType=\"Collection\" CollectionType=\"Spatial\">\n"
      "      <Time Value=\"{}\"/>\n",
      contents.origin.time);
  for (const dns::StoredField& field : contents.fields)
    if (field.is_inside()) text += xdmf_grid(contents, file, field);
  text += "    </Grid>\n  </Domain>\n</Xdmf>\n";
  contents.communicator.collective_try([&] {
    if (contents.communicator.is_root()) write_own_file(stem + ".xdmf", text);
  });
}

}  // namespace

void write_contents(Hdf5Writer& file, const GridContents& contents) {
  write_file_header(file, contents.origin);
  put_facts(file, "/header", contents.attributes);
  for (int axis = 0; axis < 3; ++axis) {
    const std::string name(1, static_cast<char>('x' + axis));
    const GridLine& line = contents.lines[axis];
    write_points(file, contents, name, line.centres, "positions of the cell centres");
    write_points(file, contents, name + "_face", line.faces, "positions of the upper cell faces");
  }
  for (const dns::StoredField& field : contents.fields) {
    if (contents.precision == Precision::float32)
      write_field<float>(file, contents.communicator, field);
    else write_field<double>(file, contents.communicator, field);
  }
}

std::string write_octant_file(const GridContents& contents, const std::string& stem) {
  const std::string path = stem + ".h5";
  Hdf5Writer file(contents.communicator, path, contents.compression);
  write_contents(file, contents);
  file.commit();
  if (contents.origin.kind == "snapshot") write_xdmf(contents, stem);
  return path;
}

class OctantGrid final : public GridFormat {
 public:
  std::string name() const override { return "octant"; }
  std::string write(const GridContents& contents, const std::string& stem) const override {
    return write_octant_file(contents, stem);
  }
};

template <>
std::unique_ptr<GridFormat> make_grid_format<OctantGrid>() {
  return std::make_unique<OctantGrid>();
}

namespace {

// Throws unless the file has exactly the levels 0 to the finest.
int finest_level(const Hdf5Reader& file, const mesh::Geometry& geometry) {
  const std::int64_t finest = count_attribute(file, "/header", "finest_level");
  if (finest > geometry.max_level())
    throw InputError(
        "{}: the checkpoint has blocks on level {}, but mesh.max_level = {}; increase it",
        file.path(), finest, geometry.max_level());
  const auto levels = std::ssize(file.children("/mesh"));
  if (levels != finest + 1)
    throw InputError("'{}': /mesh has {} levels, but /header has finest_level = {}", file.path(),
                     levels, finest);
  return static_cast<int>(finest);
}

// Reads some keys of a level; they must ascend, also relative to the key before them.
std::vector<Key> read_keys(const Hdf5Reader& file, const mesh::Geometry& geometry, int level,
                           std::int64_t total, RowRange range) {
  const std::string dataset = level_group("mesh", level) + "/key";
  const auto expected = k_key_words == 1 ? std::vector{total} : std::vector{total, k_key_words};
  if (const auto shape = file.shape(dataset); shape != expected)
    throw InputError(
        "'{}': {} has shape {}; expected {}: the block size, or the key width "
        "(OCTANT_KEY128), differs from that of this build",
        file.path(), dataset, shape, expected);
  const std::int64_t before = range.begin > 0 && range.count > 0 ? 1 : 0;
  const auto words =
      file.read<std::uint64_t>(dataset, {range.begin - before, range.count + before});
  std::vector<Key> keys(words.size() / k_key_words);
  std::memcpy(keys.data(), words.data(), keys.size() * sizeof(Key));
  file.communicator().collective_try([&] {
    try {
      mesh::require_keys(geometry, level, keys);
    } catch (const InputError& error) {
      throw InputError("'{}': {}: {}", file.path(), dataset, error.what());
    }
  });
  keys.erase(keys.begin(), keys.begin() + before);
  return keys;
}

// Checks that other data of some blocks is consistent with their keys.
void check_blocks(const Hdf5Reader& file, const mesh::Geometry& geometry, int level,
                  std::int64_t total, RowRange range, const std::vector<Key>& keys) {
  const std::string group = level_group("mesh", level);
  require_shape(file, group + "/origin", {total, 3});
  require_shape(file, group + "/owner", {total});
  const auto origins = file.read<double>(group + "/origin", range);
  const auto owners = file.read<std::int32_t>(group + "/owner", range);
  const double tolerance = 1e-6 * geometry.cell_size(level);
  file.communicator().collective_try([&] {
    for (std::size_t n = 0; n < keys.size(); ++n) {
      const auto origin = geometry.origin(level, morton_decode(keys[n]));
      for (int d = 0; d < 3; ++d)
        if (!(std::abs(origins[3 * n + d] - origin[d]) <= tolerance))
          throw InputError("'{}': {}/origin: row {} is {} instead of {}", file.path(), group,
                           range.begin + static_cast<std::int64_t>(n), origins[3 * n + d],
                           origin[d]);
      if (owners[n] < 0)
        throw InputError("'{}': {}/owner: row {} is {}, which is not a rank", file.path(), group,
                         range.begin + static_cast<std::int64_t>(n), owners[n]);
    }
  });
}

}  // namespace

std::string level_group(const std::string& group, int level) {
  return fmt::format("/{}/level_{}", group, level);
}

std::int64_t blocks_per_batch(int block_size) {
  constexpr std::int64_t k_batch_bytes = 1 << 20;
  const std::int64_t block_bytes = sizeof(double) * block_size * block_size * block_size;
  return std::max<std::int64_t>(1, k_batch_bytes / block_bytes);
}

StoredBlocks restore_blocks(const Hdf5Reader& file, mesh::Mesh& mesh) {
  const Communicator& communicator = mesh.communicator();
  StoredBlocks stored;
  const int finest = finest_level(file, mesh.geometry());
  for (int level = 0; level <= finest; ++level) {
    const std::string refined = level_group("mesh", level) + "/refined";
    const std::int64_t total = file.shape(refined)[0];
    require_shape(file, refined, {total});
    const RowRange range = even_share(total, communicator.rank(), communicator.size());
    stored.totals.push_back(total);
    stored.ranges.push_back(range);
    stored.levels.push_back({read_keys(file, mesh.geometry(), level, total, range),
                             file.read<std::uint8_t>(refined, range)});
    check_blocks(file, mesh.geometry(), level, total, range, stored.levels.back().keys);
  }
  try {
    mesh.replace_blocks(stored.levels);
  } catch (const InputError& error) {
    throw InputError("'{}': /mesh: {}", file.path(), error.what());
  }
  return stored;
}

}  // namespace octant

#include "driver/octant_format.hpp"

#include <cstring>
#include <filesystem>

#include "core/error.hpp"
#include "core/own_files.hpp"
#include "decomp/key_order.hpp"
#include "driver/file_header.hpp"
#include "driver/format.hpp"
#include "driver/particle_file.hpp"
#include "driver/stored_blocks.hpp"
#include "io/row_batches.hpp"

namespace octant::driver {

namespace {

void put_facts(Hdf5Writer& file, const std::string& group, const Facts& facts) {
  for (const auto& [name, value] : facts) file.attribute(group, name, value);
}

// Some blocks of a level, and their way to the file.
struct BlockBatch {
  RowBatch rows;
  std::vector<int> slots;
};

// Writes the blocks of a level and leaves the way that its fields will take.
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
                                std::vector<std::int64_t> shape, const DatasetMeaning& meaning) {
    std::int64_t width = 1;
    for (const auto extent : shape) width *= extent;
    const auto written = rows.to_writers(std::span<const T>(values), width);
    file.dataset(group + name, rows.range(), shape, std::span<const T>(written), meaning);
  };
  const int key_words = sizeof(Key) / sizeof(std::uint64_t);
  std::vector<std::uint64_t> words(level.keys.size() * key_words);
  std::memcpy(words.data(), level.keys.data(), level.keys.size() * sizeof(Key));
  put("key", words, key_words == 1 ? std::vector<std::int64_t>{} : std::vector<std::int64_t>{2},
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
                 std::vector<BlockBatch>& batches, const CellField& field) {
  const auto [nx, ny, nz] = contents.block_cells;
  const std::int64_t total = contents.communicator.sum(std::ssize(level.slots));
  const Hdf5Rows rows = file.create_dataset<T>(
      level_group(field.room, level.number) + "/" + field.name, total, {nz, ny, nx}, field.meaning);
  for (auto& [batch, slots] : batches) {
    const std::vector<T> own = as_elements<T>(field.values(level.number, slots));
    const auto written =
        batch.shuffle.to_writers(std::span<const T>(own), std::int64_t{nx} * ny * nz);
    file.write_rows(rows, batch.range, std::span<const T>(written));
  }
}

void write_level(Hdf5Writer& file, const MeshContents& contents, const BlockLevel& level) {
  auto batches = write_blocks(file, contents, level);
  for (const CellField& field : contents.fields) {
    if (contents.precision == Precision::float32)
      write_field<float>(file, contents, level, batches, field);
    else write_field<double>(file, contents, level, batches, field);
  }
  for (const auto& [room, facts] : level.room_facts)
    put_facts(file, level_group(room, level.number), facts);
}

}  // namespace

void write_contents(Hdf5Writer& file, const MeshContents& contents) {
  write_file_header(file, contents.origin);
  put_facts(file, "/header", contents.facts);
  for (const auto& [name, facts] : contents.groups) {
    file.group(name);
    put_facts(file, name, facts);
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
      file.create_dataset<T>("/" + field.room + "/" + field.name, nz, {ny, nx}, field.meaning);
  // From here on a row is one along x, of which a rank holds some neighbours in each plane.
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

// One quantity of a snapshot as a rectilinear mesh of its own points.
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
  contents.communicator.agree([&] {
    if (contents.communicator.is_root()) write_own_file(stem + ".xdmf", text);
  });
}

}  // namespace

void write_contents(Hdf5Writer& file, const GridContents& contents) {
  write_file_header(file, contents.origin);
  put_facts(file, "/header", contents.facts);
  for (int axis = 0; axis < 3; ++axis) {
    const std::string name(1, static_cast<char>('x' + axis));
    const GridLine& line = contents.lines[axis];
    write_points(file, contents, name, line.centres, "position of the cells' centres");
    write_points(file, contents, name + "_face", line.faces, "position of the cells' upper faces");
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

}  // namespace octant::driver

// Contents of a snapshot file for conversion to other formats, or of a checkpoint as a snapshot
// would show them.
#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <memory>
#include <numeric>

#include <fmt/ranges.h>

#include "amr/snapshot.hpp"
#include "core/error.hpp"
#include "gravity/stored_potential.hpp"
#include "hydro/diagnostics.hpp"
#include "io/expectations.hpp"
#include "mesh/device.hpp"
#include "output/octant_format.hpp"
#include "run/commands.hpp"

namespace octant {

namespace {

namespace fs = std::filesystem;

constexpr const char* k_checkpoint = "checkpoint";  // kind of a file

// File that each rank opens separately.
using OwnFile = std::shared_ptr<const Hdf5Reader>;

// Returns an attribute of the header; empty if it is missing.
std::string text_of_header(const Hdf5Reader& file, const char* name) {
  return file.exists("/header") && file.has_attribute("/header", name)
             ? file.attribute<std::string>("/header", name)
             : "";
}

// Reads some rows of a dataset, which need not be contiguous.
template <class T>
std::vector<T> read_rows(const Hdf5Reader& file, const std::string& dataset, const auto& rows) {
  std::vector<T> values;
  for (std::size_t first = 0; first < rows.size();) {
    std::size_t end = first + 1;
    while (end < rows.size() && rows[end] == rows[end - 1] + 1) ++end;
    const auto some = file.read<T>(dataset, {rows[first], static_cast<std::int64_t>(end - first)});
    values.insert(values.end(), some.begin(), some.end());
    first = end;
  }
  return values;
}

DatasetMeaning meaning_of(const Hdf5Reader& file, const std::string& dataset) {
  return {file.attribute<std::string>(dataset, "units"),
          file.attribute<std::string>(dataset, "description")};
}

mesh::FieldInfo info_of(const Hdf5Reader& file, const std::string& group, const std::string& name) {
  const DatasetMeaning meaning = meaning_of(file, group + "/" + name);
  return {.name = name, .unit = meaning.units, .description = meaning.description};
}

BlockLevel read_blocks(const Hdf5Reader& file, const Communicator& ranks, int number) {
  const std::string group = level_group("mesh", number);
  const RowRange own = even_share(file.shape(group + "/refined").at(0), ranks.rank(), ranks.size());
  BlockLevel level{
      .number = number, .slots = {}, .keys = {}, .refined = {}, .module_attributes = {}};
  level.slots.resize(static_cast<std::size_t>(own.count));
  std::iota(level.slots.begin(), level.slots.end(), static_cast<int>(own.begin));
  const auto words = file.read<std::uint64_t>(group + "/key", own);
  level.keys.resize(level.slots.size());
  if (words.size() * sizeof(std::uint64_t) != level.keys.size() * sizeof(Key))
    throw InputError("'{}': {}/key: the key width differs from that of this build (OCTANT_KEY128)",
                     file.path(), group);
  std::memcpy(level.keys.data(), words.data(), level.keys.size() * sizeof(Key));
  level.refined = file.read<std::uint8_t>(group + "/refined", own);
  return level;
}

// Returns variable n of the gas in some blocks of a checkpoint, as in a snapshot.
std::vector<double> shown_in_checkpoint(const Hdf5Reader& file, const AmrOptions& options,
                                        int level, std::span<const int> rows, int n) {
  const auto variables = options.hydro.variables();
  const mesh::BlockLayout layout(options.mesh.block_size, static_cast<int>(variables.size()));
  std::vector<mesh::OwnBlock> blocks(rows.size());
  for (std::size_t row = 0; row < rows.size(); ++row)
    blocks[row].slot = static_cast<std::int32_t>(row);
  const mesh::CellRange cells{.blocks = mesh::to_device("blocks of a file", blocks),
                              .log2_block_size = std::countr_zero(unsigned(layout.block_size))};
  const auto values =
      mesh::uninitialised<double>("gas of a file", std::ssize(rows) * layout.stride_slot);
  for (int m = 0; m < layout.variables; ++m) {
    const std::string name = level_group("hydro", level) + "/" + variables[m].stored_field().name;
    hydro::write_conserved(layout, values.data(), cells, m, read_rows<double>(file, name, rows));
  }
  return hydro::read_primitive(options.hydro, layout, values.data(), cells, n);
}

void add_gas_of_checkpoint(MeshContents& contents, const OwnFile& file, const AmrOptions& options) {
  const auto variables = options.hydro.variables();
  for (int n = 0; options.hydro.enabled && n < std::ssize(variables); ++n) {
    contents.fields.push_back({"hydro", variables[n].shown_field(),
                               [file, &options, n](int level, std::span<const int> rows) {
                                 return shown_in_checkpoint(*file, options, level, rows, n);
                               }});
  }
}

// Adds the stored fields of some groups, except those that snapshots do not contain.
void add_fields(MeshContents& contents, const OwnFile& file,
                const std::vector<std::string>& groups) {
  const auto is_hidden = [](const std::string& name) {
    return std::ranges::any_of(gravity::k_stored_fields, [&](const gravity::StoredField& field) {
      return !field.is_shown && field.name == name;
    });
  };
  for (const std::string& group : groups) {
    if (!file->exists("/" + group)) continue;
    for (const std::string& name : file->children(level_group(group, 0)))
      if (!is_hidden(name))
        contents.fields.push_back({group, info_of(*file, level_group(group, 0), name),
                                   [file, group, name](int level, std::span<const int> rows) {
                                     return read_rows<double>(
                                         *file, level_group(group, level) + "/" + name, rows);
                                   }});
  }
}

void add_particles(MeshContents& contents, const OwnFile& file) {
  if (!file->exists("/particles")) return;
  const Communicator& ranks = contents.communicator;
  for (const std::string& kind : file->children("/particles")) {
    const std::string group = "/particles/" + kind;
    const RowRange own = even_share(file->shape(group + "/id").at(0), ranks.rank(), ranks.size());
    const auto rows_of = [own](std::span<const std::int64_t> numbers) {
      std::vector<std::int64_t> rows(numbers.begin(), numbers.end());
      for (auto& row : rows) row += own.begin;
      return rows;
    };
    ParticleContents particles{
        .name = kind,
        .count = own.count,
        .rows =
            [own] {
              std::vector<std::int64_t> rows(static_cast<std::size_t>(own.count));
              std::iota(rows.begin(), rows.end(), own.begin);
              return rows;
            },
        .columns = {},
        .attributes = {}};
    for (const std::string& name : file->attribute_names(group))
      particles.attributes.set(name, file->attribute_value(group, name));
    for (const std::string& name : file->children(group)) {
      const std::string dataset = fmt::format("{}/{}", group, name);
      const auto shape = file->shape(dataset);
      ParticleColumn column{name, meaning_of(*file, dataset), shape.size() > 1 ? shape[1] : 1, {}};
      if (name == "id")
        column.values = ParticleColumn::Values<std::uint64_t>([=](auto numbers) {
          return read_rows<std::uint64_t>(*file, dataset, rows_of(numbers));
        });
      else
        column.values = ParticleColumn::Values<double>(
            [=](auto numbers) { return read_rows<double>(*file, dataset, rows_of(numbers)); });
      particles.columns.push_back(std::move(column));
    }
    contents.particles.push_back(std::move(particles));
  }
}

// Parameters of the run that wrote a file, modified by `overrides`. Throws InputError on every rank
// if it is no snapshot or checkpoint of an adaptive mesh. Collective.
AmrOptions options_of_snapshot(const Communicator& communicator, const std::string& path,
                               const ParameterSchema::Overrides& overrides) {
  const Hdf5Reader file(communicator, path);
  const auto text = [&](const char* name) { return text_of_header(file, name); };
  if ((text("kind") != "snapshot" && text("kind") != k_checkpoint) || text("model") != "amr")
    throw InputError(
        "'{}': only snapshots and checkpoints of an adaptive mesh can be converted, not a {} of "
        "model \"{}\"",
        path, text("kind").empty() ? "file" : text("kind"), text("model"));
  AmrOptions options;
  InputFiles files;
  files.share(communicator,
              [&] { options = AmrOptions::from_text(text("parameters"), path, overrides, files); });
  return options;
}

// Contents of the file, divided evenly among the ranks. Each rank reads its part when values are
// requested. Particles include ids and columns of real numbers. `options` must outlive the
// contents. Collective.
MeshContents contents_of_snapshot(const Communicator& communicator, const std::string& path,
                                  const AmrOptions& options) {
  const auto file =
      std::make_shared<const Hdf5Reader>(communicator.split(communicator.rank()), path);
  const auto text = [&](const char* name) { return file->attribute<std::string>("/header", name); };
  const auto number = [&](const char* name) { return finite_attribute(*file, "/header", name); };
  const int N = options.mesh.block_size;
  MeshContents contents{
      .communicator = communicator,
      .geometry = mesh::Geometry(options.mesh),
      .origin = {.kind = "snapshot",
                 .model = text("model"),
                 .problem = text("problem"),
                 .time = number("time"),
                 .step = count_attribute(*file, "/header", "step"),
                 .units = {number("unit_length"), number("unit_mass"), number("unit_time")},
                 .parameters = text("parameters"),
                 .data_files = {}},
      .attributes = {},
      .groups = {},
      .precision = options.output.precision,
      .compression = options.output.compression,
      .block_cells = {N, N, N},
      .levels = {},
      .fields = {},
      .particles = {}};
  for (const std::string& name : file->attribute_names("/header"))
    contents.attributes.set(name, file->attribute_value("/header", name));
  // Files of version 0.2.0 and earlier contain the gravitational constant only as a parameter.
  add_gravity_constant(contents.attributes, options);
  communicator.collective_try([&] {
    const auto finest = static_cast<int>(count_attribute(*file, "/header", "finest_level"));
    for (int level = 0; level <= finest; ++level)
      contents.levels.push_back(read_blocks(*file, communicator, level));
    if (text("kind") == k_checkpoint) {
      add_gas_of_checkpoint(contents, file, options);
      add_fields(contents, file, {"gravity"});
    } else {
      add_fields(contents, file, {"hydro", "gravity"});
    }
    add_particles(contents, file);
  });
  return contents;
}

}  // namespace

std::string convert_snapshot(const Communicator& communicator, const std::string& path,
                             const std::string& format, const std::string& folder,
                             const ParameterSchema::Overrides& overrides) {
  const AmrOptions options = options_of_snapshot(communicator, path, overrides);
  const MeshContents contents = contents_of_snapshot(communicator, path, options);
  std::vector<std::string> fields, formats;
  for (const MeshField& field : contents.fields) fields.push_back(field.info.name);
  for (const auto& writer : options.formats) {
    formats.push_back(writer->name());
    if (writer->name() != format) continue;
    writer->check(contents.geometry, fields);
    const fs::path stem = fs::path(path).stem();
    const std::string kind = text_of_header(Hdf5Reader(communicator, path), "kind");
    const fs::path place = kind == k_checkpoint ? folder / stem : fs::path(folder);
    communicator.collective_try([&] {
      if (communicator.is_root()) fs::create_directories(place);
    });
    return writer->write(contents, (place / stem).string());
  }
  throw InputError("convert --to {}: unknown format; expected one of {}", format,
                   fmt::join(formats, ", "));
}

}  // namespace octant

#include "output/particle_file.hpp"

#include <algorithm>
#include <type_traits>
#include <variant>

#include "core/error.hpp"
#include "io/expectations.hpp"
#include "io/row_shuffle.hpp"
#include "output/octant_format.hpp"

namespace octant {

namespace {

// Number of particles that are moved, written or read at once.
constexpr std::int64_t k_batch = 1 << 17;

std::string group_of(const std::string& kind) { return "/particles/" + kind; }

}  // namespace

ParticleContents contents_of(const particles::Particles& particles) {
  using Numbers = std::span<const std::int64_t>;
  using Reals = ParticleColumn::Values<double>;
  ParticleContents contents{.name = particles.name(),
                            .count = particles.count(),
                            .rows = [&particles] { return particles.file_rows(); },
                            .columns = {},
                            .attributes = {}};
  auto& columns = contents.columns;
  columns.push_back({"id",
                     {"1", "id of the particle"},
                     1,
                     ParticleColumn::Values<std::uint64_t>(
                         [&particles](Numbers own) { return particles.read_ids(own); })});
  columns.push_back({"position", {"length", "position"}, 3, Reals([&particles](Numbers own) {
                       return particles.read_positions(own);
                     })});
  columns.push_back({"velocity", {"length / time", "velocity"}, 3, Reals([&particles](Numbers own) {
                       return particles.read_velocities(own);
                     })});
  if (particles.kind().has_mass)
    columns.push_back(
        {"mass", {"mass", "mass of the particle"}, 1, Reals([&particles](Numbers own) {
           return particles.read_masses(own);
         })});
  for (const particles::Column& column : particles.kind().columns)
    std::visit(
        [&](auto initial) {
          using Value = decltype(initial);
          columns.push_back({column.name,
                             {column.unit, column.description},
                             1,
                             ParticleColumn::Values<Value>([&particles, &column](Numbers own) {
                               return std::get<std::vector<Value>>(
                                   particles.read_column(column.name, own));
                             })});
        },
        column.initial);
  contents.attributes.set("description", particles.kind().description);
  contents.attributes.set("used_ids", particles.assigned_ids());
  const particles::ParticleOutflow& outflow = particles.outflow();
  contents.attributes.set("outflow_count", outflow.count);
  contents.attributes.set("outflow",
                          std::vector<double>(outflow.amount.begin(), outflow.amount.end()));
  return contents;
}

namespace {

// Writes a column of elements T batch by batch.
template <class T, class Values>
void write_column(Hdf5Writer& file, const std::string& path, std::int64_t total,
                  std::vector<RowBatch>& batches, const ParticleColumn& column,
                  const Values& values) {
  const auto shape = column.width == 1 ? std::vector<std::int64_t>{} : std::vector{column.width};
  const Hdf5Rows rows = file.create_dataset<T>(path, total, shape, column.meaning);
  for (RowBatch& batch : batches) {
    const std::vector<T> own = as_elements<T>(values(batch.own));
    const auto written = batch.shuffle.to_writers(std::span<const T>(own), column.width);
    file.write_rows(rows, batch.range, std::span<const T>(written));
  }
}

}  // namespace

void write_particles(Hdf5Writer& file, const Communicator& communicator,
                     const ParticleContents& particles, Precision precision) {
  const std::string group = group_of(particles.name);
  const std::int64_t total = communicator.sum(particles.count);
  auto batches = row_batches(communicator, particles.rows(), k_batch);
  for (const ParticleColumn& column : particles.columns)
    std::visit(
        [&]<class Value>(
            const std::function<std::vector<Value>(std::span<const std::int64_t>)>& values) {
          const std::string path = group + "/" + column.name;
          const bool real = std::is_same_v<Value, double>;
          if (real && precision == Precision::float32 && column.name != "position")
            write_column<float>(file, path, total, batches, column, values);
          else write_column<Value>(file, path, total, batches, column, values);
        },
        column.values);
  for (const auto& [name, value] : particles.attributes) file.attribute(group, name, value);
}

void require_particles(const Hdf5Reader& file, std::span<const particles::Particles> kinds) {
  for (const particles::Particles& particles : kinds) {
    const particles::Kind& kind = particles.kind();
    const std::string group = group_of(kind.name);
    if (!file.exists(group))
      throw InputError("{}: the checkpoint has no particles of type \"{}\" ({})", file.path(),
                       kind.name, kind.description);
    for (const particles::Column& column : kind.columns)
      if (!file.exists(group + "/" + column.name))
        throw InputError(
            "{}: the {} particles in the checkpoint lack the column \"{}\" ({}); start a new run, "
            "or continue with the program and parameters that wrote it",
            file.path(), kind.name, column.name, column.description);
  }
  if (!file.exists("/particles")) return;
  for (const std::string& name : file.children("/particles"))
    if (std::none_of(kinds.begin(), kinds.end(),
                     [&](const particles::Particles& kind) { return kind.name() == name; }))
      throw InputError(
          "{}: the checkpoint has particles of type \"{}\", which this run does not have; use the "
          "same parameters as the run that wrote it",
          file.path(), name);
}

namespace {

// Reads the ids of some rows, which must be strictly ascending, also relative to the row before.
std::vector<std::uint64_t> read_ids(const Hdf5Reader& file, const std::string& dataset,
                                    RowRange rows) {
  const std::int64_t before = rows.begin > 0 && rows.count > 0 ? 1 : 0;
  auto ids = file.read<std::uint64_t>(dataset, {rows.begin - before, rows.count + before});
  file.communicator().collective_try([&] {
    for (std::size_t n = 1; n < ids.size(); ++n)
      if (ids[n] <= ids[n - 1])
        throw InputError(
            "'{}': {}: row {} has the id {} after {}: expected strictly increasing ids",
            file.path(), dataset, rows.begin - before + static_cast<std::int64_t>(n), ids[n],
            ids[n - 1]);
  });
  ids.erase(ids.begin(), ids.begin() + before);
  return ids;
}

std::vector<std::array<double, 3>> read_vectors(const Hdf5Reader& file, const std::string& dataset,
                                                RowRange rows) {
  const auto values = read_finite(file, dataset, rows);
  std::vector<std::array<double, 3>> vectors(values.size() / 3);
  for (std::size_t n = 0; n < vectors.size(); ++n)
    vectors[n] = {values[3 * n], values[3 * n + 1], values[3 * n + 2]};
  return vectors;
}

particles::ColumnValues read_values(const Hdf5Reader& file, const std::string& dataset,
                                    const particles::Column& column, RowRange rows) {
  if (column.is_real()) return read_finite(file, dataset, rows);
  return file.read<std::int64_t>(dataset, rows);
}

particles::ParticleBatch read_batch(const Hdf5Reader& file, const particles::Kind& kind,
                                    RowRange rows) {
  const std::string group = group_of(kind.name) + "/";
  particles::ParticleBatch batch{.position = read_vectors(file, group + "position", rows),
                                 .velocity = read_vectors(file, group + "velocity", rows),
                                 .mass = {},
                                 .id = read_ids(file, group + "id", rows)};
  if (kind.has_mass) batch.mass = read_finite(file, group + "mass", rows, 0.0);
  for (const particles::Column& column : kind.columns)
    batch.columns[column.name] = read_values(file, group + column.name, column, rows);
  return batch;
}

// Reads the outflow, which files up to version 0.2.0 lack; it starts at zero there.
void read_outflow(const Hdf5Reader& file, const std::string& group,
                  particles::Particles& particles) {
  if (!file.has_attribute(group, "outflow")) return;
  particles::ParticleOutflow outflow{.count = count_attribute(file, group, "outflow_count")};
  const auto amount = finite_attributes(file, group, "outflow", particles::ParticleOutflow::terms);
  std::copy(amount.begin(), amount.end(), outflow.amount.begin());
  particles.set_outflow(outflow);
}

}  // namespace

void read_particles(const Hdf5Reader& file, particles::Particles& particles) {
  const Communicator& communicator = particles.communicator();
  const particles::Kind& kind = particles.kind();
  const std::string group = group_of(kind.name);
  const std::int64_t total = file.shape(group + "/id").at(0);
  std::vector<std::string> scalars{"id"};
  if (kind.has_mass) scalars.push_back("mass");
  for (const particles::Column& column : kind.columns) scalars.push_back(column.name);
  for (const std::string& column : scalars)
    require_shape(file, fmt::format("{}/{}", group, column), {total});
  for (const char* column : {"position", "velocity"})
    require_shape(file, group + "/" + column, {total, 3});
  const RowRange own = even_share(total, communicator.rank(), communicator.size());
  const std::int64_t most = communicator.max(own.count);
  for (std::int64_t first = 0; first < most; first += k_batch) {
    const std::int64_t begin = std::min(first, own.count);
    const RowRange rows{own.begin + begin, std::min(k_batch, own.count - begin)};
    const auto batch = read_batch(file, kind, rows);
    try {
      particles.add(batch);
    } catch (const InputError& error) {
      throw InputError("'{}': {}", file.path(), error.what());
    }
  }
  // Files from versions without particle creation lack this attribute; the used ids are then those
  // in the file.
  if (file.has_attribute(group, "used_ids"))
    particles.set_assigned_ids(count_attribute(file, group, "used_ids"));
  read_outflow(file, group, particles);
}

std::string describe_particles(const Hdf5Reader& file) {
  std::string out;
  if (!file.exists("/particles")) return out;
  for (const std::string& name : file.children("/particles")) {
    const std::string group = group_of(name);
    const auto what = file.has_attribute(group, "description")
                          ? file.attribute<std::string>(group, "description")
                          : name;
    out += fmt::format("{}: {} particles\n", what, file.shape(group + "/id").at(0));
  }
  return out;
}

}  // namespace octant

#include "driver/particle_file.hpp"

#include <algorithm>
#include <type_traits>
#include <variant>

#include "core/error.hpp"
#include "io/expectations.hpp"
#include "io/row_batches.hpp"

namespace octant::driver {

namespace {

// Particles that are moved, written or read in one go.
constexpr std::int64_t k_batch = 1 << 17;

std::string group_of(const std::string& kind) { return "/particles/" + kind; }

// Writes the columns of particles batch by batch.
class ColumnWriter {
 public:
  ColumnWriter(Hdf5Writer& file, const particles::Particles& particles)
      : file_(file),
        group_(group_of(particles.name()) + "/"),
        total_(particles.communicator().sum(particles.count())),
        batches_(row_batches(particles.communicator(), particles.file_rows(), k_batch)) {}

  // read(own) gives `width` values T of each of some own particles.
  template <class T, class Read>
  void put(const std::string& name, std::int64_t width, const DatasetMeaning& meaning,
           const Read& read) {
    const auto shape = width == 1 ? std::vector<std::int64_t>{} : std::vector{width};
    const Hdf5Rows rows = file_.create_dataset<T>(group_ + name, total_, shape, meaning);
    for (RowBatch& batch : batches_) {
      const std::vector<T> own = read(batch.own);
      const auto written = batch.shuffle.to_writers(std::span<const T>(own), width);
      file_.write_rows(rows, batch.range, std::span<const T>(written));
    }
  }

 private:
  Hdf5Writer& file_;
  std::string group_;
  std::int64_t total_;
  std::vector<RowBatch> batches_;
};

}  // namespace

void write_particles(Hdf5Writer& file, const particles::Particles& particles) {
  ColumnWriter columns(file, particles);
  using Numbers = std::vector<std::int64_t>;
  columns.put<std::uint64_t>("id", 1, {"1", "number of the particle"},
                             [&](const Numbers& own) { return particles.read_ids(own); });
  columns.put<double>("position", 3, {"length", "position"},
                      [&](const Numbers& own) { return particles.read_positions(own); });
  columns.put<double>("velocity", 3, {"length / time", "velocity"},
                      [&](const Numbers& own) { return particles.read_velocities(own); });
  if (particles.kind().has_mass)
    columns.put<double>("mass", 1, {"mass", "mass of the particle"},
                        [&](const Numbers& own) { return particles.read_masses(own); });
  for (const particles::Column& column : particles.kind().columns)
    std::visit(
        [&](auto initial) {
          using Value = decltype(initial);
          columns.put<Value>(
              column.name, 1, {column.unit, column.description}, [&](const Numbers& own) {
                return std::get<std::vector<Value>>(particles.read_column(column.name, own));
              });
        },
        column.initial);
  file.attribute(group_of(particles.name()), "description", particles.kind().description);
  file.attribute(group_of(particles.name()), "used_ids", particles.used_ids());
}

void require_particles(const Hdf5Reader& file, std::span<const particles::Particles> kinds) {
  for (const particles::Particles& particles : kinds) {
    const particles::Kind& kind = particles.kind();
    const std::string group = group_of(kind.name);
    if (!file.exists(group))
      throw InputError("{}: the checkpoint has no particles of the kind \"{}\" ({})", file.path(),
                       kind.name, kind.description);
    for (const particles::Column& column : kind.columns)
      if (!file.exists(group + "/" + column.name))
        throw InputError(
            "{}: the {} particles of the checkpoint have no column \"{}\" ({}); it was written "
            "without it: begin again, or go on with the program and parameters that wrote it",
            file.path(), kind.name, column.name, column.description);
  }
  if (!file.exists("/particles")) return;
  for (const std::string& name : file.children("/particles"))
    if (std::none_of(kinds.begin(), kinds.end(),
                     [&](const particles::Particles& kind) { return kind.name() == name; }))
      throw InputError(
          "{}: the checkpoint has particles of the kind \"{}\", which this run does not know; use "
          "the parameters of the run that wrote it",
          file.path(), name);
}

namespace {

// The ids of some rows, which must ascend, also from the row before them: each one is there once.
std::vector<std::uint64_t> read_ids(const Hdf5Reader& file, const std::string& dataset,
                                    RowRange rows) {
  const std::int64_t before = rows.begin > 0 && rows.count > 0 ? 1 : 0;
  auto ids = file.read<std::uint64_t>(dataset, {rows.begin - before, rows.count + before});
  file.communicator().agree([&] {
    for (std::size_t n = 1; n < ids.size(); ++n)
      if (ids[n] <= ids[n - 1])
        throw InputError("'{}': {}: row {} holds {} after {}: ids ascend, each once", file.path(),
                         dataset, rows.begin - before + static_cast<std::int64_t>(n), ids[n],
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

}  // namespace

void read_particles(const Hdf5Reader& file, particles::Particles& particles) {
  const Communicator& communicator = particles.communicator();
  const particles::Kind& kind = particles.kind();
  const std::string group = group_of(kind.name);
  const std::int64_t total = file.shape(group + "/id").at(0);
  std::vector<std::string> scalars{"id"};
  if (kind.has_mass) scalars.push_back("mass");
  for (const particles::Column& column : kind.columns) scalars.push_back(column.name);
  for (const std::string& column : scalars) require_shape(file, group + "/" + column, {total});
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
  // Files of before particles could come into being do not say: then it is the ids that are there.
  if (file.has_attribute(group, "used_ids"))
    particles.set_used_ids(count_attribute(file, group, "used_ids"));
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

}  // namespace octant::driver

#include "driver/particle_file.hpp"

#include "core/error.hpp"
#include "io/expectations.hpp"
#include "io/row_batches.hpp"

namespace octant::driver {

namespace {

// Particles that are moved, written or read in one go.
constexpr std::int64_t k_batch = 1 << 17;

std::string group_of(const particles::Particles& particles) {
  return "/particles/" + particles.kind();
}

}  // namespace

void write_particles(Hdf5Writer& file, const particles::Particles& particles) {
  const Communicator& communicator = particles.communicator();
  const std::int64_t total = communicator.sum(particles.count());
  auto batches = row_batches(communicator, particles.file_rows(), k_batch);
  const std::string group = group_of(particles) + "/";
  const auto put = [&]<class T>(const char* name, std::int64_t width, const DatasetMeaning& meaning,
                                std::vector<T> (particles::Particles::*read)(
                                    std::span<const std::int64_t>) const) {
    const auto shape = width == 1 ? std::vector<std::int64_t>{} : std::vector{width};
    const Hdf5Rows rows = file.create_dataset<T>(group + name, total, shape, meaning);
    for (RowBatch& batch : batches) {
      const std::vector<T> own = (particles.*read)(batch.own);
      const auto written = batch.shuffle.to_writers(std::span<const T>(own), width);
      file.write_rows(rows, batch.range, std::span<const T>(written));
    }
  };
  using particles::Particles;
  put("id", 1, {"1", "number of the particle"}, &Particles::read_ids);
  put("position", 3, {"length", "position"}, &Particles::read_positions);
  put("velocity", 3, {"length / time", "velocity"}, &Particles::read_velocities);
  put("mass", 1, {"mass", "mass of the particle"}, &Particles::read_masses);
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

}  // namespace

void read_particles(const Hdf5Reader& file, particles::Particles& particles) {
  const Communicator& communicator = particles.communicator();
  const std::string group = group_of(particles) + "/";
  const std::int64_t total = file.shape(group + "id").at(0);
  for (const char* column : {"id", "mass"}) require_shape(file, group + column, {total});
  for (const char* column : {"position", "velocity"})
    require_shape(file, group + column, {total, 3});
  const RowRange own = even_share(total, communicator.rank(), communicator.size());
  const std::int64_t most = communicator.max(own.count);
  for (std::int64_t first = 0; first < most; first += k_batch) {
    const std::int64_t begin = std::min(first, own.count);
    const RowRange rows{own.begin + begin, std::min(k_batch, own.count - begin)};
    const auto vectors = [&](const char* name) {
      const auto values = read_finite(file, group + name, rows);
      std::vector<std::array<double, 3>> out(values.size() / 3);
      for (std::size_t n = 0; n < out.size(); ++n)
        out[n] = {values[3 * n], values[3 * n + 1], values[3 * n + 2]};
      return out;
    };
    const particles::ParticleBatch batch{.position = vectors("position"),
                                         .velocity = vectors("velocity"),
                                         .mass = read_finite(file, group + "mass", rows, 0.0),
                                         .id = read_ids(file, group + "id", rows)};
    try {
      particles.add(batch);
    } catch (const InputError& error) {
      throw InputError("'{}': {}", file.path(), error.what());
    }
  }
}

}  // namespace octant::driver

#include "problems/particle_table.hpp"

#include <cstdint>

#include "core/error.hpp"
#include "io/input_files.hpp"
#include "io/row_range.hpp"

namespace octant::problems {

void ParticleTable::declare(ParameterSchema& schema) {
  schema.add("problem.particle_table", path_,
             {.meaning = "Text file of dark-matter particles: a line with position, velocity and "
                         "mass in code units for each; empty: no particles"});
  schema.add("problem.particle_origin", origin_,
             {.unit = "length",
              .meaning = "Position of the origin of the coordinates in problem.particle_table"});
}

std::vector<particles::Kind> ParticleTable::kinds() const {
  if (path_.empty()) return {};
  return {particles::dark_matter()};
}

particles::ParticleBatch ParticleTable::share(const Communicator& communicator) const {
  constexpr std::size_t columns = 7;
  const std::vector<NumberLine> lines =
      read_number_lines(path_, "problem.particle_table", reader_on_root(communicator));
  for (const NumberLine& line : lines)
    if (line.numbers.size() != columns)
      throw InputError(
          "{}: expected {} numbers (position, velocity and mass of a particle), found {}",
          line.location, columns, line.numbers.size());
  const auto total = static_cast<std::int64_t>(lines.size());
  const RowRange own = even_share(total, communicator.rank(), communicator.size());
  const std::uint64_t first_id = particles::dark_matter().first_id();
  particles::ParticleBatch batch;
  for (std::int64_t n = own.begin; n < own.begin + own.count; ++n) {
    const std::vector<double>& row = lines[static_cast<std::size_t>(n)].numbers;
    batch.position.push_back({origin_[0] + row[0], origin_[1] + row[1], origin_[2] + row[2]});
    batch.velocity.push_back({row[3], row[4], row[5]});
    batch.mass.push_back(row[6]);
    batch.id.push_back(first_id + static_cast<std::uint64_t>(n));
  }
  return batch;
}

}  // namespace octant::problems

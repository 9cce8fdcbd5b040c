#include "driver/ramses_particles.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <optional>
#include <ranges>

#include "comm/route.hpp"
#include "core/log.hpp"
#include "driver/ramses_octs.hpp"
#include "particles/kind.hpp"

namespace octant::driver {

namespace {

template <class T>
std::vector<T> read_column(const ParticleContents& particles, const std::string& name,
                           std::span<const std::int64_t> own) {
  for (const ParticleColumn& column : particles.columns) {
    if (column.name != name) continue;
    if (const auto* values = std::get_if<ParticleColumn::Values<T>>(&column.values))
      return (*values)(own);
  }
  return {};
}

// Calls action(numbers) with some of a kind's particles after others.
template <class Action>
void for_batches(std::int64_t count, const Action& action) {
  constexpr std::int64_t k_batch = 1 << 17;
  for (std::int64_t first = 0; first < count; first += k_batch) {
    std::vector<std::int64_t> own(static_cast<std::size_t>(std::min(k_batch, count - first)));
    std::iota(own.begin(), own.end(), first);
    action(std::span<const std::int64_t>(own));
  }
}

// The number of a particle within its kind.
std::int64_t identity_of(std::uint64_t id) {
  return static_cast<std::int64_t>(id % particles::Kind::k_ids);
}

}  // namespace

RamsesParticleWriter::RamsesParticleWriter(const MeshContents& contents,
                                           const RamsesDomains& domains, RamsesOutput& output)
    : contents_(contents), ranks_(contents.communicator), domains_(domains), output_(output) {
  find_families();
}

// Of a position, the cell of the finest level that there can be.
RamsesPlace RamsesParticleWriter::cell_at(const double* position) const {
  constexpr double k_cells = 1 << k_finest_ramses_level;
  RamsesPlace cell;
  for (int d = 0; d < 3; ++d) {
    const double inside = (position[d] - contents_.geometry.lower()[d]) / output_.facts.box_length;
    cell[d] = static_cast<std::int64_t>(std::clamp(inside * k_cells, 0.0, k_cells - 1.0));
  }
  return cell;
}

void RamsesParticleWriter::find_families() {
  std::int64_t largest = 0;
  for (const ParticleContents& particles : contents_.particles) {
    const bool dark = particles.name == "dark", stars = particles.name == "stars";
    const std::int64_t total = ranks_.sum(particles.count);
    if (particles.name == "sinks" && total > 0) {
      sinks_ = &particles;
      output_.sinks = total;
      continue;
    }
    if (!dark && !stars && total > 0)
      log::warn("{}: particles of the kind {} are left out: RAMSES has no such family",
                output_.facts.folder, particles.name);
    if ((!dark && !stars) || total == 0) continue;
    Family family{&particles, static_cast<std::int8_t>(dark ? 1 : 2), {}};
    for_batches(particles.count, [&](std::span<const std::int64_t> own) {
      const auto positions = read_column<double>(particles, "position", own);
      for (std::size_t n = 0; n < own.size(); ++n)
        family.domains.push_back(domains_.owner(k_finest_ramses_level, cell_at(&positions[3 * n])));
      for (const std::uint64_t id : read_column<std::uint64_t>(particles, "id", own))
        largest = std::max(largest, identity_of(id));
    });
    output_.facts.families[dark ? "DM" : "star"] = total;
    if (stars) stars_ = &particles;
    families_.push_back(std::move(family));
  }
  if (!has_any()) return;
  output_.long_ids = ranks_.max(largest) > std::numeric_limits<std::int32_t>::max();
  name_columns();
}

void RamsesParticleWriter::name_columns() {
  auto& names = output_.facts.particle_fields;
  for (const char* what : {"position_", "velocity_"})
    for (const char axis : {'x', 'y', 'z'}) names.push_back(std::string(what) + axis);
  names.insert(names.end(), {"mass", "identity", "levelp", "family", "tag"});
  // RAMSES reads these two, the second where there are metals, and nothing behind them.
  if (stars_ || sinks_) names.push_back("birth_time");
  if (!stars_) return;
  names.push_back("metallicity");
  for (const ParticleColumn& column : stars_->columns)
    if (std::holds_alternative<ParticleColumn::Values<double>>(column.values) &&
        column.width == 1 && std::ranges::find(names, column.name) == names.end())
      names.push_back(column.name);
}

void RamsesParticleWriter::for_masses(
    const std::function<void(double mass, bool is_star)>& visit) const {
  for (const Family& family : families_)
    for_batches(family.particles->count, [&](std::span<const std::int64_t> own) {
      for (const double mass : read_column<double>(*family.particles, "mass", own))
        visit(mass, family.particles == stars_);
    });
}

RamsesParticles RamsesParticleWriter::sinks() const {
  struct Item {
    std::int64_t identity;
    std::array<double, 8> values;  // position, velocity, mass, time of birth
  };
  std::vector<std::int64_t> own(static_cast<std::size_t>(sinks_->count));
  std::iota(own.begin(), own.end(), std::int64_t{0});
  const auto ids = read_column<std::uint64_t>(*sinks_, "id", own);
  const auto position = read_column<double>(*sinks_, "position", own);
  const auto velocity = read_column<double>(*sinks_, "velocity", own);
  const auto mass = read_column<double>(*sinks_, "mass", own);
  auto birth = read_column<double>(*sinks_, "birth_time", own);
  birth.resize(own.size(), 0.0);
  std::vector<Item> items;
  for (std::size_t n = 0; n < own.size(); ++n) {
    Item& item = items.emplace_back(Item{identity_of(ids[n]), {}});
    for (std::size_t d = 0; d < 3; ++d) {
      item.values[d] = position[3 * n + d] - contents_.geometry.lower()[d];
      item.values[3 + d] = velocity[3 * n + d];
    }
    item.values[6] = mass[n];
    item.values[7] = birth[n];
  }
  const std::vector<int> root(items.size(), 0);
  items = route(ranks_, root, std::span<const Item>(items)).items;
  std::ranges::sort(items, {}, &Item::identity);
  RamsesParticles all;
  auto& births = all.columns["birth_time"];
  for (const Item& item : items) {
    const auto& v = item.values;
    all.identity.push_back(item.identity);
    all.position.push_back({v[0], v[1], v[2]});
    all.velocity.push_back({v[3], v[4], v[5]});
    all.mass.push_back(v[6]);
    births.push_back(v[7]);
  }
  return all;
}

void RamsesParticleWriter::write(int first, int last, int domain, double mass_of_stars,
                                 const LevelAt& level_at) const {
  std::vector<std::vector<std::int64_t>> own;
  std::vector<std::vector<int>> ranks;
  for (const Family& family : families_) {
    auto& numbers = own.emplace_back();
    auto& to = ranks.emplace_back();
    for (std::int64_t n = 0; n < family.particles->count; ++n)
      if (const int d = family.domains[n]; d >= first && d < last) {
        numbers.push_back(n);
        to.push_back(d - first);
      }
  }
  // The values of a column that arrive here, kind by kind.
  const auto arriving = [&]<class T>(const auto& read) {
    std::vector<T> all;
    for (std::size_t f = 0; f < families_.size(); ++f) {
      const std::vector<T> values = read(families_[f], std::span<const std::int64_t>(own[f]));
      const auto items = route(ranks_, ranks[f], std::span<const T>(values)).items;
      all.insert(all.end(), items.begin(), items.end());
    }
    return all;
  };
  const auto family = arriving.template operator()<std::int32_t>(
      [](const Family& of, std::span<const std::int64_t> some) {
        return std::vector<std::int32_t>(some.size(), of.number);
      });
  const auto identity = arriving.template operator()<std::int64_t>(
      [&](const Family& of, std::span<const std::int64_t> some) {
        std::vector<std::int64_t> numbers;
        for (const auto id : read_column<std::uint64_t>(*of.particles, "id", some))
          numbers.push_back(identity_of(id));
        return numbers;
      });
  std::vector<std::size_t> order(family.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t n) { return std::pair(family[n], identity[n]); });
  const auto count = std::ssize(order);
  std::optional<FortranWriter> file;
  ranks_.agree([&] {
    const auto stars = output_.facts.families.find("star");
    if (domain >= 0)
      file.emplace(ramses_particle_file(output_, domain + 1, count,
                                        stars == output_.facts.families.end() ? 0 : stars->second,
                                        mass_of_stars));
  });
  // Writes a column of values To.
  const auto put = [&]<class To>(const auto& values) {
    std::vector<To> ordered;
    for (const std::size_t n : order) ordered.push_back(static_cast<To>(values[n]));
    ranks_.agree([&] {
      if (file) file->record(ordered);
    });
  };
  std::vector<std::vector<double>> position;
  for (const std::string& name : output_.facts.particle_fields) {
    if (name == "identity" && output_.long_ids) {
      put.template operator()<std::int64_t>(identity);
    } else if (name == "identity") {
      put.template operator()<std::int32_t>(identity);
    } else if (name == "levelp") {
      std::vector<int> levels;
      for (std::size_t n = 0; n < order.size(); ++n) {
        double place[3];
        for (int d = 0; d < 3; ++d) place[d] = position[d][n] + contents_.geometry.lower()[d];
        levels.push_back(level_at(cell_at(place)));
      }
      put.template operator()<std::int32_t>(levels);
      position.clear();
    } else if (name == "family") {
      put.template operator()<std::int8_t>(family);
    } else if (name == "tag") {
      put.template operator()<std::int8_t>(std::vector<int>(order.size(), 0));
    } else {
      const auto values = arriving.template operator()<double>(
          [&](const Family& of, std::span<const std::int64_t> some) {
            return reals_of(of, name, some);
          });
      put.template operator()<double>(values);
      if (name.starts_with("position_")) position.push_back(values);
    }
  }
  ranks_.agree([&] {
    if (file) file->finish();
  });
}

// A real column of some particles, or a component of one. RAMSES has places from the box's lower
// corner on.
std::vector<double> RamsesParticleWriter::reals_of(const Family& family, const std::string& name,
                                                   std::span<const std::int64_t> some) const {
  for (const std::string vector : {"position", "velocity"}) {
    if (!name.starts_with(vector + "_")) continue;
    const auto axis = static_cast<std::size_t>(name.back() - 'x');
    const double from = vector == "position" ? contents_.geometry.lower()[axis] : 0.0;
    const auto values = read_column<double>(*family.particles, vector, some);
    std::vector<double> component(some.size());
    for (std::size_t n = 0; n < some.size(); ++n) component[n] = values[3 * n + axis] - from;
    return component;
  }
  auto values = read_column<double>(*family.particles, name, some);
  values.resize(some.size(), 0.0);  // dark matter was not born
  return values;
}

}  // namespace octant::driver

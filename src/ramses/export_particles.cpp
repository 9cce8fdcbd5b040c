#include "ramses/export.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <optional>
#include <ranges>

#include "core/log.hpp"
#include "particles/kind.hpp"

namespace octant {

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

// Calls action(numbers) for a kind's particles in batches.
template <class Action>
void for_batches(std::int64_t count, const Action& action) {
  constexpr std::int64_t k_batch = 1 << 17;
  for (std::int64_t first = 0; first < count; first += k_batch) {
    std::vector<std::int64_t> own(static_cast<std::size_t>(std::min(k_batch, count - first)));
    std::iota(own.begin(), own.end(), first);
    action(std::span<const std::int64_t>(own));
  }
}

// Numbers of some particles within their kind.
std::vector<std::int64_t> numbers_of(const ParticleContents& particles,
                                     std::span<const std::int64_t> some) {
  std::vector<std::int64_t> numbers;
  for (const std::uint64_t id : read_column<std::uint64_t>(particles, "id", some))
    numbers.push_back(static_cast<std::int64_t>(id % particles::Kind::k_ids));
  return numbers;
}

// Order of particles by family, then by identity.
std::vector<std::size_t> ordered_by(const std::vector<std::int32_t>& family,
                                    const std::vector<std::int64_t>& identity) {
  std::vector<std::size_t> order(family.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t n) { return std::pair(family[n], identity[n]); });
  return order;
}

}  // namespace

RamsesParticleWriter::RamsesParticleWriter(const MeshContents& contents,
                                           const RamsesDomains& domains, RamsesOutput& output)
    : contents_(contents), ranks_(contents.communicator), domains_(domains), output_(output) {
  find_families();
}

// Cell of level k_finest_ramses_level that contains a position.
RamsesPlace RamsesParticleWriter::cell_at(const double* position) const {
  constexpr double k_cells = 1 << k_finest_ramses_level;
  RamsesPlace cell;
  for (int d = 0; d < 3; ++d) {
    const double inside =
        (position[d] - contents_.geometry.lower()[d]) / output_.attributes.box_length;
    cell[d] = static_cast<std::int64_t>(std::clamp(inside * k_cells, 0.0, k_cells - 1.0));
  }
  return cell;
}

void RamsesParticleWriter::find_families() {
  for (const ParticleContents& particles : contents_.particles) {
    const bool dark = particles.name == "dark", stars = particles.name == "stars";
    const std::int64_t total = ranks_.sum(particles.count);
    if (particles.name == "sinks" && total > 0) {
      sinks_ = &particles;
      output_.sinks = total;
      continue;
    }
    if (!dark && !stars && total > 0)
      log::warn("{}: ignored particles of type {}: RAMSES has no corresponding family",
                output_.attributes.folder, particles.name);
    if ((!dark && !stars) || total == 0) continue;
    Family family{&particles, static_cast<std::int8_t>(dark ? 1 : 2), {}, 0};
    for_batches(particles.count, [&](std::span<const std::int64_t> own) {
      const auto positions = read_column<double>(particles, "position", own);
      for (std::size_t n = 0; n < own.size(); ++n)
        family.domains.push_back(domains_.owner(k_finest_ramses_level, cell_at(&positions[3 * n])));
    });
    output_.attributes.families[dark ? "DM" : "star"] = total;
    if (stars) stars_ = &particles;
    families_.push_back(std::move(family));
  }
  if (!has_any()) return;
  find_identities();
  name_columns();
}

// Dark matter keeps its numbers; identities of stars follow all ids that dark matter has ever used.
// A particle therefore has the same identity in all outputs of a run.
void RamsesParticleWriter::find_identities() {
  std::ranges::sort(families_, {}, &Family::number);
  std::int64_t used = 0;
  for (Family& family : families_) {
    family.first_identity = used;
    std::int64_t largest = -1;
    for_batches(family.particles->count, [&](std::span<const std::int64_t> own) {
      for (const std::int64_t number : numbers_of(*family.particles, own))
        largest = std::max(largest, number);
    });
    std::int64_t of_kind = ranks_.max(largest) + 1;
    if (family.particles->attributes.has("used_ids"))
      of_kind = std::max(
          of_kind, static_cast<std::int64_t>(family.particles->attributes.number("used_ids")));
    used += of_kind;
  }
  output_.long_ids = output_.is_curamses || used - 1 > std::numeric_limits<std::int32_t>::max();
}

void RamsesParticleWriter::name_columns() {
  auto& names = output_.attributes.particle_fields;
  for (const char* what : {"position_", "velocity_"})
    for (const char axis : {'x', 'y', 'z'}) names.push_back(std::string(what) + axis);
  if (output_.is_curamses) {
    names.insert(names.end(), {"mass", "identity", "levelp", "family", "potential"});
    if (stars_)
      names.insert(names.end(),
                   {"birth_time", "metallicity", "birth_proper_time", "initial_mass", "indtab"});
    return;
  }
  names.insert(names.end(), {"mass", "identity", "levelp", "family", "tag"});
  // RAMSES reads these two columns, the second only with metals, and none after them.
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
  std::vector<std::int64_t> own(static_cast<std::size_t>(sinks_->count));
  std::iota(own.begin(), own.end(), std::int64_t{0});
  DomainRoute way;
  way.ranks.assign(own.size(), 0);
  RamsesParticles all;
  const auto identity = way.exchange_values(ranks_, numbers_of(*sinks_, own));
  way.order = ordered_by(std::vector<std::int32_t>(identity.size()), identity);
  all.identity = way.ordered(identity);
  const auto column = [&](const std::string& name) {
    return way.exchange_values(ranks_, reals_of(*sinks_, name, own));
  };
  all.mass = column("mass");
  all.columns["birth_time"] = column("birth_time");
  all.position.resize(identity.size());
  all.velocity.resize(identity.size());
  for (int d = 0; d < 3; ++d) {
    const auto x = column(std::string("position_") + "xyz"[d]),
               v = column(std::string("velocity_") + "xyz"[d]);
    for (std::size_t n = 0; n < identity.size(); ++n) {
      all.position[n][d] = x[n];
      all.velocity[n][d] = v[n];
    }
  }
  return all;
}

std::vector<std::int64_t> RamsesParticleWriter::counts() const {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(domains_.count()), 0);
  for (const Family& family : families_)
    for (const std::int32_t domain : family.domains) ++counts[static_cast<std::size_t>(domain)];
  ranks_.sum_in_place(std::span<std::int64_t>(counts));
  return counts;
}

void RamsesParticleWriter::for_columns(const DomainOcts& octs, const PutColumn& put) const {
  DomainRoute way;
  std::vector<std::vector<std::int64_t>> leaving;  // numbers of this rank's particles, by family
  for (const Family& family : families_) {
    auto& numbers = leaving.emplace_back();
    for (std::int64_t n = 0; n < family.particles->count; ++n)
      if (const int d = family.domains[n]; d >= octs.first() && d < octs.last()) {
        numbers.push_back(n);
        way.ranks.push_back(d - octs.first());
      }
  }
  // Sends a column of the particles to the ranks of their domains and returns the received values.
  // `read` returns the values of the column for given particles of a family.
  const auto exchange_values = [&](const auto& read) {
    decltype(read(families_[0], Indices())) own;
    for (std::size_t f = 0; f < families_.size(); ++f) {
      const auto values = read(families_[f], leaving[f]);
      own.insert(own.end(), values.begin(), values.end());
    }
    return way.exchange_values(ranks_, own);
  };
  auto family = exchange_values([](const Family& of, Indices some) {
    return std::vector<std::int32_t>(some.size(), of.number);
  });
  auto identity = exchange_values([](const Family& of, Indices some) {
    std::vector<std::int64_t> identities = numbers_of(*of.particles, some);
    for (auto& n : identities) n += of.first_identity;
    return identities;
  });
  way.order = ordered_by(family, identity);
  family = way.ordered(family);
  identity = way.ordered(identity);
  std::vector<std::vector<double>> position;
  for (const std::string& name : output_.attributes.particle_fields) {
    if (name == "identity" && output_.long_ids) {
      put(name, identity);
    } else if (name == "identity") {
      put(name, std::vector<std::int32_t>(identity.begin(), identity.end()));
    } else if (name == "levelp") {
      put(name, levels_at(position, octs));
      position.clear();
    } else if (name == "family") {
      // Types of cuRAMSES count from 0.
      if (output_.is_curamses)
        for (auto& type : family) type -= 1;
      put(name, std::vector<std::int8_t>(family.begin(), family.end()));
    } else if (name == "tag") {
      put(name, std::vector<std::int8_t>(family.size(), 0));
    } else {
      const auto values = exchange_values(
          [&](const Family& of, Indices some) { return reals_of(*of.particles, name, some); });
      put(name, values);
      if (name.starts_with("position_")) position.push_back(values);
    }
  }
}

// Levels of the octs that contain particles; positions are relative to the box's lower corner.
std::vector<std::int32_t> RamsesParticleWriter::levels_at(
    const std::vector<std::vector<double>>& position, const DomainOcts& octs) const {
  std::vector<std::int32_t> levels;
  for (std::size_t n = 0; n < position[0].size(); ++n) {
    double place[3];
    for (int d = 0; d < 3; ++d) place[d] = position[d][n] + contents_.geometry.lower()[d];
    levels.push_back(
        octs.finest_level_containing(cell_at(place), output_.attributes.coarsest_level));
  }
  return levels;
}

// Values of a real column, or of a vector component, of some particles. Positions are relative to
// the box's lower corner, as in RAMSES.
std::vector<double> RamsesParticleWriter::reals_of(const ParticleContents& particles,
                                                   const std::string& name, Indices some) const {
  for (const std::string vector : {"position", "velocity"}) {
    if (!name.starts_with(vector + "_")) continue;
    const auto axis = static_cast<std::size_t>(name.back() - 'x');
    const double from = vector == "position" ? contents_.geometry.lower()[axis] : 0.0;
    const auto values = read_column<double>(particles, vector, some);
    std::vector<double> component(some.size());
    for (std::size_t n = 0; n < some.size(); ++n) component[n] = values[3 * n + axis] - from;
    return component;
  }
  auto values = read_column<double>(particles, name, some);
  values.resize(some.size(), 0.0);  // dark matter has no birth time
  return values;
}

}  // namespace octant

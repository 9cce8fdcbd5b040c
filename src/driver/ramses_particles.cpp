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
std::int64_t number_of(std::uint64_t id) {
  return static_cast<std::int64_t>(id % particles::Kind::k_ids);
}

std::vector<std::int64_t> numbers_of(const ParticleContents& particles,
                                     std::span<const std::int64_t> some) {
  std::vector<std::int64_t> numbers;
  for (const std::uint64_t id : read_column<std::uint64_t>(particles, "id", some))
    numbers.push_back(number_of(id));
  return numbers;
}

// Particles by family, and by identity within one.
std::vector<std::size_t> ordered_by(const std::vector<std::int32_t>& family,
                                    const std::vector<std::int64_t>& identity) {
  std::vector<std::size_t> order(family.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t n) { return std::pair(family[n], identity[n]); });
  return order;
}

// The file of a domain's particles, or none on this rank: columns, one record each, whose rows
// have an order. What fails on one rank fails on all. Collective.
class ColumnFile {
 public:
  ColumnFile(const Communicator& ranks, std::vector<std::size_t> order)
      : ranks_(ranks), order_(std::move(order)) {}

  std::int64_t rows() const { return std::ssize(order_); }
  void begin(bool is_here, const std::function<FortranWriter()>& open) {
    ranks_.agree([&] {
      if (is_here) file_.emplace(open());
    });
  }
  // Writes a column of values To.
  template <class To, class From>
  void put(const std::vector<From>& values) {
    std::vector<To> ordered;
    for (const std::size_t n : order_) ordered.push_back(static_cast<To>(values[n]));
    ranks_.agree([&] {
      if (file_) file_->record(ordered);
    });
  }
  void finish() {
    ranks_.agree([&] {
      if (file_) file_->finish();
    });
  }

 private:
  const Communicator& ranks_;
  std::vector<std::size_t> order_;
  std::optional<FortranWriter> file_;
};

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
  for (const ParticleContents& particles : contents_.particles) {
    const bool dark = particles.name == "dark", stars = particles.name == "stars";
    const std::int64_t total = ranks_.sum(particles.count);
    if (particles.name == "sinks" && total > 0) {
      sinks_ = &particles;
      output_.sinks = total;
      continue;
    }
    if (!dark && !stars && total > 0)
      log::warn("{}: ignored particles of the kind {}: RAMSES has no corresponding family",
                output_.facts.folder, particles.name);
    if ((!dark && !stars) || total == 0) continue;
    Family family{&particles, static_cast<std::int8_t>(dark ? 1 : 2), {}, 0};
    for_batches(particles.count, [&](std::span<const std::int64_t> own) {
      const auto positions = read_column<double>(particles, "position", own);
      for (std::size_t n = 0; n < own.size(); ++n)
        family.domains.push_back(domains_.owner(k_finest_ramses_level, cell_at(&positions[3 * n])));
    });
    output_.facts.families[dark ? "DM" : "star"] = total;
    if (stars) stars_ = &particles;
    families_.push_back(std::move(family));
  }
  if (!has_any()) return;
  find_identities();
  name_columns();
}

// Dark matter keeps its numbers; those of stars follow the ids that dark matter has ever used. A
// particle has the same identity in all outputs of a run.
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
    if (family.particles->facts.has("used_ids"))
      of_kind =
          std::max(of_kind, static_cast<std::int64_t>(family.particles->facts.number("used_ids")));
    used += of_kind;
  }
  output_.long_ids = used - 1 > std::numeric_limits<std::int32_t>::max();
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
    Item& item = items.emplace_back(Item{number_of(ids[n]), {}});
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

// What of this rank's particles lies in some domains, and brings it to their ranks.
class RamsesParticleWriter::Delivery {
 public:
  Delivery(const Communicator& ranks, const std::vector<Family>& families, int first, int last)
      : ranks_(ranks), families_(families) {
    for (const Family& family : families) {
      Parcel& parcel = parcels_.emplace_back();
      for (std::int64_t n = 0; n < family.particles->count; ++n)
        if (const int d = family.domains[n]; d >= first && d < last) {
          parcel.numbers.push_back(n);
          parcel.ranks.push_back(d - first);
        }
    }
  }

  // The values of a column that arrive here, family by family; `read` gives those of some of this
  // rank's particles. Collective.
  template <class T>
  std::vector<T> bring(const std::function<std::vector<T>(const Family&, Numbers)>& read) const {
    std::vector<T> all;
    for (std::size_t f = 0; f < families_.size(); ++f) {
      const std::vector<T> values = read(families_[f], parcels_[f].numbers);
      const auto items = route(ranks_, parcels_[f].ranks, std::span<const T>(values)).items;
      all.insert(all.end(), items.begin(), items.end());
    }
    return all;
  }

 private:
  struct Parcel {
    std::vector<std::int64_t> numbers;
    std::vector<int> ranks;
  };
  const Communicator& ranks_;
  const std::vector<Family>& families_;
  std::vector<Parcel> parcels_;  // of the families
};

void RamsesParticleWriter::write(int first, int last, int domain, double mass_of_stars,
                                 const LevelAt& level_at) const {
  const Delivery delivery(ranks_, families_, first, last);
  const auto family = delivery.bring<std::int32_t>([](const Family& of, Numbers some) {
    return std::vector<std::int32_t>(some.size(), of.number);
  });
  const auto identity = delivery.bring<std::int64_t>([](const Family& of, Numbers some) {
    std::vector<std::int64_t> identities = numbers_of(*of.particles, some);
    for (auto& n : identities) n += of.first_identity;
    return identities;
  });
  ColumnFile file(ranks_, ordered_by(family, identity));
  const auto stars = output_.facts.families.find("star");
  const std::int64_t all_stars = stars == output_.facts.families.end() ? 0 : stars->second;
  file.begin(domain >= 0, [&] {
    return ramses_particle_file(output_, domain + 1, file.rows(), all_stars, mass_of_stars);
  });
  std::vector<std::vector<double>> position;
  for (const std::string& name : output_.facts.particle_fields) {
    if (name == "identity" && output_.long_ids) {
      file.put<std::int64_t>(identity);
    } else if (name == "identity") {
      file.put<std::int32_t>(identity);
    } else if (name == "levelp") {
      file.put<std::int32_t>(levels_at(position, level_at));
      position.clear();
    } else if (name == "family") {
      file.put<std::int8_t>(family);
    } else if (name == "tag") {
      file.put<std::int8_t>(std::vector<int>(family.size(), 0));
    } else {
      const auto values = delivery.bring<double>(
          [&](const Family& of, Numbers some) { return reals_of(of, name, some); });
      file.put<double>(values);
      if (name.starts_with("position_")) position.push_back(values);
    }
  }
  file.finish();
}

// The levels of the octs that hold particles at some places, from the box's lower corner on.
std::vector<std::int32_t> RamsesParticleWriter::levels_at(
    const std::vector<std::vector<double>>& position, const LevelAt& level_at) const {
  std::vector<std::int32_t> levels;
  for (std::size_t n = 0; n < position[0].size(); ++n) {
    double place[3];
    for (int d = 0; d < 3; ++d) place[d] = position[d][n] + contents_.geometry.lower()[d];
    levels.push_back(level_at(cell_at(place)));
  }
  return levels;
}

// A real column of some particles, or a component of one. RAMSES has places from the box's lower
// corner on.
std::vector<double> RamsesParticleWriter::reals_of(const Family& family, const std::string& name,
                                                   Numbers some) const {
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

#include "subgrid/black_holes/holes.hpp"

#include <string>
#include <type_traits>

namespace octant::subgrid {

namespace {

// Calls visit(name, unit, description, value) for each column of the table of black holes.
template <class HoleOrConst, class Visit>
void for_columns(HoleOrConst& hole, const Visit& visit) {
  visit("birth_time", "time", "formation time of the black hole", hole.birth_time);
  visit("birth_scale_factor", "1", "scale factor at formation", hole.birth_scale_factor);
  visit("swallowed", "mass", "gas mass accreted since formation", hole.accreted_mass);
  visit("unreleased", "mass", "accreted gas mass not yet converted to feedback energy",
        hole.unreleased);
  visit("saved_energy", "mass length^2 / time^2", "feedback energy stored for later steps",
        hole.saved_energy);
  constexpr const char* k_axes[] = {"x", "y", "z"};
  for (int d = 0; d < 3; ++d)
    visit(std::string("spin_") + k_axes[d], "1", "component of the spin vector c J / (G M^2)",
          hole.spin[d]);
  for (int d = 0; d < 3; ++d)
    visit(std::string("gas_angular_momentum_") + k_axes[d], "mass length^2 / time",
          "angular momentum, about the black hole, of the gas accreted in the last step",
          hole.gas_angular_momentum[d]);
  visit("efficiency", "1",
        "radiative efficiency: radiated energy divided by the rest energy of the accreted gas",
        hole.efficiency);
  visit("bondi_rate", "mass / time", "Bondi accretion rate", hole.bondi_rate);
  visit("eddington_rate", "mass / time", "Eddington accretion rate", hole.eddington_rate);
  visit("gas_density", "mass / length^3", "mean density of the surrounding gas", hole.gas_density);
  visit("sound_speed", "length / time", "sound speed of the surrounding gas", hole.sound_speed);
  visit("relative_speed", "length / time", "speed relative to the surrounding gas",
        hole.relative_speed);
  visit("mergers", "1",
        "number of black holes merged into this one, including earlier mergers of both",
        hole.mergers);
}

}  // namespace

particles::Kind sinks() {
  particles::Kind kind{.name = "sinks", .description = "black holes", .wants_finest_cells = true};
  const Hole none{};
  for_columns(none, [&](const std::string& name, const char* unit, const char* description,
                        const auto& initial) {
    kind.columns.push_back({name, unit, description, initial});
  });
  return kind;
}

particles::ParticleBatch batch_of(std::span<const Hole> holes) {
  particles::ParticleBatch batch;
  for (const particles::Column& column : sinks().columns)
    if (column.is_real()) batch.columns[column.name] = std::vector<double>{};
    else batch.columns[column.name] = std::vector<std::int64_t>{};
  for (const Hole& hole : holes) {
    batch.id.push_back(hole.id);
    batch.position.push_back(hole.position);
    batch.velocity.push_back(hole.velocity);
    batch.mass.push_back(hole.mass);
    for_columns(hole, [&](const std::string& name, const char*, const char*, const auto& value) {
      using Values = std::vector<std::remove_cvref_t<decltype(value)>>;
      std::get<Values>(batch.columns.at(name)).push_back(value);
    });
  }
  return batch;
}

std::vector<Hole> read_holes(const particles::Particles& sinks, int coarsest) {
  const auto all = sinks.in_order_of_id();
  const auto all_blocks = sinks.read_blocks(all);
  std::vector<std::int64_t> own;
  std::vector<particles::Particles::BlockSlot> blocks;
  for (std::size_t n = 0; n < all.size(); ++n) {
    if (all_blocks[n].level < coarsest) continue;
    own.push_back(all[n]);
    blocks.push_back(all_blocks[n]);
  }
  const particles::ParticleBatch batch = sinks.batch_of(sinks.rows(own));
  std::vector<Hole> holes(own.size());
  for (std::size_t n = 0; n < own.size(); ++n) {
    Hole& hole = holes[n];
    hole.id = batch.id[n];
    hole.position = batch.position[n];
    hole.velocity = batch.velocity[n];
    hole.mass = batch.mass[n];
    hole.level = blocks[n].level;
    hole.slot = blocks[n].slot;
    hole.number = own[n];
    for_columns(hole, [&](const std::string& name, const char*, const char*, auto& value) {
      using Values = std::vector<std::remove_cvref_t<decltype(value)>>;
      value = std::get<Values>(batch.columns.at(name))[n];
    });
  }
  return holes;
}

void write_holes(particles::Particles& sinks, std::span<const Hole> holes) {
  std::vector<std::int64_t> own;
  for (const Hole& hole : holes) own.push_back(hole.number);
  sinks.change(own, batch_of(holes));
}

EventRegion region_of(const Hole& hole, double radius) {
  EventRegion region{.id = hole.id, .radius = radius, .level = hole.level, .slot = hole.slot};
  for (int d = 0; d < 3; ++d) region.centre[d] = hole.position[d];
  return region;
}

double kinetic_energy(double mass, const std::array<double, 3>& velocity) {
  double square = 0.0;
  for (const double v : velocity) square += v * v;
  return 0.5 * mass * square;
}

}  // namespace octant::subgrid

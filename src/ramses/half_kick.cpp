// Pending half kick of RAMSES outputs.
//
// RAMSES (Teyssier 2002) completes the kicks of a step at the beginning of the next one, after its
// output: in files, velocities of particles lack half of the last step times the force, and the gas
// has received the second half step with the force at the beginning of the step instead of that at
// its end (amr_step.f90, synchro_fine.f90, synchro_hydro_fine.f90). This code computes the missing
// kick, which a restart adds before the first step.
#include <algorithm>
#include <bit>
#include <deque>
#include <memory>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "core/error.hpp"
#include "core/log.hpp"
#include "mesh/launch.hpp"
#include "particles/particles.hpp"
#include "ramses/import.hpp"

namespace octant {

namespace {

constexpr const char* k_half_step = "half_step";

// Returns a kind with the same name whose column is the duration of each particle's pending kick.
particles::Kind twin_of(const particles::Kind& kind) {
  return {.name = kind.name,
          .description = "pending half kicks of particles",
          .columns = {{k_half_step, "time", "how long the kick lasts"}},
          .has_mass = false};
}

// Creates octs of the next level in leaf cells of RAMSES that the mesh has refined, with the forces
// of these cells.
void create_finer_octs(const mesh::Mesh& mesh, int level, const ArrivedOcts& octs,
                       std::vector<OctDelivery::FurtherOct>& beyond) {
  const int N = mesh.geometry().block_size();
  const mesh::CellRange& cells = mesh.cells(level);
  for (std::size_t n = 0; n < octs.places.size(); ++n) {
    const OctPosition& place = octs.places[n];
    for (int c = 0; c < k_oct_cells; ++c) {
      const auto cell = static_cast<int>(place.cell(c, N));
      const bool is_leaf_of_mesh =
          (mesh.blocks(level).refined(place.slot) >> cells.octant_of(cell) & 1) == 0;
      if ((place.refined >> c & 1) != 0 || is_leaf_of_mesh) continue;
      BlockCoordinates block = morton_decode(mesh.blocks(level).key(place.slot));
      std::int32_t first_cell = 0;
      for (int d = 2; d >= 0; --d) {
        const std::int64_t first = 2 * (std::int64_t{block[d]} * N + cells.coordinate(cell, d));
        block[d] = static_cast<BlockCoordinate>(first / N);
        first_cell = first_cell * N + static_cast<std::int32_t>(first % N);
      }
      OctDelivery::FurtherOct& oct = beyond.emplace_back();
      oct.block = morton_encode(block);
      oct.first_cell = first_cell;
      for (int v = 0; v < k_ramses_force_fields; ++v)
        oct.values.insert(oct.values.end(), k_oct_cells,
                          octs.values[(n * k_ramses_force_fields + v) * k_oct_cells + c]);
    }
  }
}

// Computes the velocity changes that replace the old force by the present one in the second half
// step.
void find_changes(const ArrivedOcts& octs, const gravity::VectorField& now, double half_step, int N,
                  const mesh::DeviceArray<double>& changes) {
  const auto places = octs.places.on_device();
  const auto before = octs.values.on_device();
  const std::int64_t cells = std::int64_t{N} * N * N;
  mesh::for_items(
      "half kick of gas", places.size() * k_oct_cells, KOKKOS_LAMBDA(const std::int64_t index) {
        const std::int64_t oct = index / k_oct_cells, of_oct = index % k_oct_cells;
        const OctPosition& place = places(oct);
        const std::int64_t cell = place.cell(of_oct, N);
        for (int d = 0; d < 3; ++d) {
          const double g = now.x.data[place.slot * now.x.stride + d * now.stride_component + cell];
          changes((std::int64_t{place.slot} * 3 + d) * cells + cell) =
              half_step * (g - before((oct * k_ramses_force_fields + d) * k_oct_cells + of_oct));
        }
      });
}

// Adds the kicks of the twins to the particles. Both have the same particles per level on a rank.
void kick_by(const particles::Particles& twins, particles::Particles& kind) {
  using particles::Word;
  for (int level = 0; level <= kind.mesh().finest_level(); ++level) {
    particles::ParticleSet& set = kind.set(level);
    const particles::ParticleSet& of_twins = twins.set(level);
    OCTANT_REQUIRE(set.count() == of_twins.count(),
                   "{} particles moved before their pending half kick", kind.name());
    std::vector<std::int32_t> rows(static_cast<std::size_t>(set.count()));
    std::iota(rows.begin(), rows.end(), 0);
    std::vector<Word> words = set.words(rows);
    const std::vector<Word> changes = of_twins.words(rows);
    const auto width = static_cast<std::size_t>(set.row_words()),
               twin_width = static_cast<std::size_t>(of_twins.row_words());
    std::unordered_map<Word, const Word*> twin_by_id;
    for (std::size_t n = 0; n < rows.size(); ++n)
      twin_by_id[changes[(n + 1) * twin_width - 1]] = &changes[n * twin_width];
    for (std::size_t n = 0; n < rows.size(); ++n) {
      const Word* twin = twin_by_id.at(words[(n + 1) * width - 1]);
      const auto half_step = std::bit_cast<double>(twin[particles::k_real_columns]);
      for (int d = 0; d < 3; ++d) {
        Word& word = words[n * width + particles::k_velocity + d];
        const auto acceleration = std::bit_cast<double>(twin[particles::k_velocity + d]);
        word = std::bit_cast<Word>(std::bit_cast<double>(word) + half_step * acceleration);
      }
    }
    set.overwrite(rows, words);
  }
}

class HalfKick {
 public:
  HalfKick(AmrSimulation& simulation, const RamsesFacts& attributes, RamsesLevels levels,
           RamsesSource& source, int chunk_files);
  void add() const;

 private:
  void find_steps(const RamsesSource& source);
  // Duration of the pending kick of a RAMSES level.
  double half_step(int level) const { return 0.5 * last_steps_.at(level - 1); }
  std::vector<double> half_steps_of(const RamsesFacts& attributes, const RamsesParticles& some,
                                    RamsesFamily family) const;
  void find_of_particles(const RamsesFacts& attributes, RamsesSource& source);
  void find_of_gas(const RamsesFacts& attributes, RamsesSource& forces);

  AmrSimulation& simulation_;
  RamsesLevels levels_;
  std::vector<double> last_steps_;  // by RAMSES level, from 1
  // Changes of the gas velocity, by level: [slot][axis][cell]; empty without gas or forces.
  std::vector<mesh::DeviceArray<double>> gas_;
  // Twins of the run's particles, matched by kind and id: their velocities are the accelerations,
  // and their column is the duration of the kick.
  std::deque<particles::Particles> particles_;
};

HalfKick::HalfKick(AmrSimulation& simulation, const RamsesFacts& attributes, RamsesLevels levels,
                   RamsesSource& source, int chunk_files)
    : simulation_(simulation), levels_(levels) {
  find_steps(source);
  if (std::ranges::none_of(last_steps_, [](double dt) { return dt > 0.0; })) return;
  if (!simulation.gravity()) {
    if (attributes.has_forces)
      log::warn(
          "{}: the run that wrote this file had gravity, but gravity.enabled = false: velocities "
          "remain half a step behind positions",
          attributes.folder);
    return;
  }
  find_of_particles(attributes, source);
  if (!attributes.has_gas) return;
  if (attributes.has_forces)
    find_of_gas(attributes, *open_ramses(simulation.mesh().communicator(), attributes, chunk_files,
                                         RamsesCells::forces));
  else
    log::warn(
        "{}: no gravity files (grav_{}.out*): gas velocities lack the half kick that RAMSES adds "
        "in a restart",
        attributes.folder, attributes.number);
}

void HalfKick::find_steps(const RamsesSource& source) {
  const Communicator& ranks = simulation_.mesh().communicator();
  for (const RamsesHead& head : source.heads())
    if (last_steps_.size() < head.last_steps.size()) last_steps_ = head.last_steps;
  last_steps_.resize(static_cast<std::size_t>(ranks.max(std::ssize(last_steps_))), 0.0);
  ranks.max_in_place(std::span<double>(last_steps_));
}

// --- particles -----------------------------------------------------------------------------------

// The kick of a particle lasts half of its last step, even if it has moved to another level. The
// kick of sinks lasts half of the finest level's step (sink_particle.f90, update_sink).
std::vector<double> HalfKick::half_steps_of(const RamsesFacts& attributes,
                                            const RamsesParticles& some,
                                            RamsesFamily family) const {
  const int finest = levels_.base + simulation_.mesh().finest_level();
  if (family != k_ramses_cloud && some.level.size() != some.size())
    refuse_ramses(
        attributes,
        "the particles have no levels (levelp), which are required for the pending half kick");
  std::vector<double> half_steps;
  for (std::size_t n = 0; n < some.size(); ++n) {
    const std::int64_t level = family == k_ramses_cloud ? finest : some.level[n];
    if (level < 1 || level > std::ssize(last_steps_))
      refuse_ramses(
          attributes,
          fmt::format("particle {} has the level {} (levelp), but there are only {} levels",
                      some.identity[n], level, last_steps_.size()));
    half_steps.push_back(half_step(static_cast<int>(level)));
  }
  return half_steps;
}

void HalfKick::find_of_particles(const RamsesFacts& attributes, RamsesSource& source) {
  mesh::Mesh& mesh = simulation_.mesh();
  for (const particles::Kind& kind : kinds_of_families(attributes))
    particles_.emplace_back(twin_of(kind), mesh, simulation_.options().comm);
  for_families(attributes, source,
               [&](const std::string& name, RamsesParticles some, RamsesFamily family) {
                 auto& twins = *std::ranges::find(particles_, name, &particles::Particles::name);
                 mesh.communicator().collective_try(
                     [&] { some.columns[k_half_step] = half_steps_of(attributes, some, family); });
                 some.velocity.assign(some.size(), {});
                 twins.add(batch_of(some, family, twins.kind(), mesh.geometry()));
               });
  const auto force = [&](int level) -> particles::VectorField {
    const auto [x, stride] = simulation_.gravity()->stored().acceleration(level);
    return {x.data, x.stride, stride};
  };
  for (particles::Particles& twins : particles_)
    for (int level = 0; level <= mesh.finest_level(); ++level)
      twins.kick(level, twins.fetch(level, force(level), force(std::max(level - 1, 0)), 3), 1.0);
}

// --- gas -----------------------------------------------------------------------------------------

void HalfKick::find_of_gas(const RamsesFacts& attributes, RamsesSource& forces) {
  const mesh::Mesh& mesh = simulation_.mesh();
  OctDelivery delivery(mesh, attributes, forces, levels_, k_ramses_force_fields);
  for (int level = 1; level < levels_.base; ++level) forces.next_level();
  const int levels = mesh.finest_level() + 1;
  // Additional octs of the current level, by the level of their RAMSES cells.
  std::vector<std::vector<OctDelivery::FurtherOct>> beyond(levels), next(levels);
  for (int level = 0; level < levels; ++level) {
    const std::int64_t cells = mesh.cells(level).cells_per_block();
    gas_.emplace_back("half kick", 3 * cells * mesh.blocks(level).slots());
    for (int origin = 0; origin <= level; ++origin) {
      const auto store = [&](const ArrivedOcts& octs) {
        find_changes(octs, simulation_.gravity()->stored().acceleration(level),
                     half_step(origin + levels_.base), mesh.geometry().block_size(), gas_[level]);
        create_finer_octs(mesh, level, octs, next[origin]);
      };
      if (origin == level) delivery.deliver_level(level + levels_.base, store);
      else delivery.deliver(level, beyond[origin], store);
    }
    beyond = std::exchange(next, std::vector<std::vector<OctDelivery::FurtherOct>>(levels));
  }
}

void HalfKick::add() const {
  for (const particles::Particles& twins : particles_)
    kick_by(twins, *simulation_.matter().kind(twins.name()));
  const mesh::Mesh& mesh = simulation_.mesh();
  for (int level = 0; level < std::ssize(gas_); ++level) {
    const std::int64_t cells = mesh.cells(level).cells_per_block();
    simulation_.gravity()->add_velocity(level, {{gas_[level].data(), 3 * cells}, cells});
  }
  if (!gas_.empty()) simulation_.mesh().restrict_all();
  simulation_.invalidate_measurement();
}

}  // namespace

std::function<void()> find_half_kick(AmrSimulation& simulation, const RamsesFacts& attributes,
                                     RamsesLevels levels, RamsesSource& source, int chunk_files) {
  const auto kick = std::make_shared<HalfKick>(simulation, attributes, levels, source, chunk_files);
  return [kick] { kick->add(); };
}

}  // namespace octant

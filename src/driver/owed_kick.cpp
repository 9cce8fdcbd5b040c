#include "driver/owed_kick.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "core/error.hpp"
#include "core/log.hpp"
#include "driver/ramses_families.hpp"
#include "io/ramses_output.hpp"

namespace octant::driver {

namespace {

constexpr const char* k_half_step = "half_step";

// A kind with the names of another, that says how long a kick each of its particles is owed.
particles::Kind twin_of(const particles::Kind& kind) {
  return {.name = kind.name,
          .description = "pending half kicks of particles",
          .columns = {{k_half_step, "time", "how long the kick lasts"}},
          .has_mass = false};
}

// Octs of the next level in the leaf cells of octs that the mesh has refined: RAMSES's level is as
// fine there as it was, and so are its forces.
void look_beyond(const mesh::Mesh& mesh, int level, const ArrivedOcts& octs,
                 std::vector<OctDelivery::FurtherOct>& beyond) {
  const int N = mesh.geometry().block_size();
  const mesh::CellRange& cells = mesh.cells(level);
  for (std::size_t n = 0; n < octs.places.size(); ++n) {
    const OctPlace& place = octs.places[n];
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

// The force that the gas has had in the second half of its step gives way to the present one.
void find_changes(const ArrivedOcts& octs, const gravity::VectorField& now, double half_step, int N,
                  const mesh::DeviceArray<double>& changes) {
  const auto places = octs.places.on_device();
  const auto before = octs.values.on_device();
  const std::int64_t cells = std::int64_t{N} * N * N;
  Kokkos::parallel_for(
      "owed kick of gas", places.size() * k_oct_cells, KOKKOS_LAMBDA(const std::int64_t index) {
        const std::int64_t oct = index / k_oct_cells, of_oct = index % k_oct_cells;
        const OctPlace& place = places(oct);
        const std::int64_t cell = place.cell(of_oct, N);
        for (int d = 0; d < 3; ++d) {
          const double g = now.x.data[place.slot * now.x.stride + d * now.stride_component + cell];
          changes((std::int64_t{place.slot} * 3 + d) * cells + cell) =
              half_step * (g - before((oct * k_ramses_force_fields + d) * k_oct_cells + of_oct));
        }
      });
}

// Kicks particles by what their twins say. Those of a level are the same on a rank.
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

}  // namespace

OwedKick::OwedKick(AmrSimulation& simulation, const RamsesFacts& facts, RamsesLevels levels,
                   RamsesSource& source, int chunk_files)
    : simulation_(simulation), levels_(levels) {
  find_steps(source);
  if (std::ranges::none_of(last_steps_, [](double dt) { return dt > 0.0; })) return;
  if (!simulation.gravity()) {
    if (facts.has_forces)
      log::warn(
          "{}: the run of this file had gravity, but gravity.enabled = false: velocities remain "
          "half a step behind positions",
          facts.folder);
    return;
  }
  find_of_particles(facts, source);
  if (!facts.has_gas) return;
  if (facts.has_forces)
    find_of_gas(facts, *open_ramses(simulation.mesh().communicator(), facts, chunk_files,
                                    RamsesCells::forces));
  else
    log::warn(
        "{}: no forces (grav_{}.out*): gas velocities are those of the files, without the half "
        "kick that RAMSES adds",
        facts.folder, facts.number);
}

void OwedKick::find_steps(const RamsesSource& source) {
  const Communicator& ranks = simulation_.mesh().communicator();
  for (const RamsesHead& head : source.heads())
    if (last_steps_.size() < head.last_steps.size()) last_steps_ = head.last_steps;
  last_steps_.resize(static_cast<std::size_t>(ranks.max(std::ssize(last_steps_))), 0.0);
  ranks.max_in_place(std::span<double>(last_steps_));
}

// --- particles -----------------------------------------------------------------------------------

// A particle's kick lasts half of the step that it took last, whatever level it has come to; that
// of sinks half of the finest level's (sink_particle.f90, update_sink).
std::vector<double> OwedKick::half_steps_of(const RamsesFacts& facts, const RamsesParticles& some,
                                            RamsesFamily family) const {
  const int finest = levels_.base + simulation_.mesh().finest_level();
  if (family != k_ramses_cloud && some.level.size() != some.size())
    refuse_ramses(facts, "its particles have no levels (levelp), by which their last kick goes");
  std::vector<double> half_steps;
  for (std::size_t n = 0; n < some.size(); ++n) {
    const std::int64_t level = family == k_ramses_cloud ? finest : some.level[n];
    if (level < 1 || level > std::ssize(last_steps_))
      refuse_ramses(facts, fmt::format("particle {} has the level {} (levelp), of {} that there "
                                       "are",
                                       some.identity[n], level, last_steps_.size()));
    half_steps.push_back(half_step(static_cast<int>(level)));
  }
  return half_steps;
}

void OwedKick::find_of_particles(const RamsesFacts& facts, RamsesSource& source) {
  mesh::Mesh& mesh = simulation_.mesh();
  for (const particles::Kind& kind : kinds_of_families(facts))
    particles_.emplace_back(twin_of(kind), mesh, simulation_.options().comm);
  for_families(facts, source,
               [&](const std::string& name, RamsesParticles some, RamsesFamily family) {
                 auto& twins = *std::ranges::find(particles_, name, &particles::Particles::name);
                 mesh.communicator().agree(
                     [&] { some.columns[k_half_step] = half_steps_of(facts, some, family); });
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

void OwedKick::find_of_gas(const RamsesFacts& facts, RamsesSource& forces) {
  const mesh::Mesh& mesh = simulation_.mesh();
  OctDelivery delivery(mesh, facts, forces, levels_, k_ramses_force_fields);
  for (int level = 1; level < levels_.base; ++level) forces.next_level();
  const int levels = mesh.finest_level() + 1;
  // Octs of the present level, by the level that RAMSES has them on.
  std::vector<std::vector<OctDelivery::FurtherOct>> beyond(levels), next(levels);
  for (int level = 0; level < levels; ++level) {
    const std::int64_t cells = mesh.cells(level).cells_per_block();
    gas_.emplace_back("owed kick", 3 * cells * mesh.blocks(level).slots());
    for (int origin = 0; origin <= level; ++origin) {
      const auto store = [&](const ArrivedOcts& octs) {
        find_changes(octs, simulation_.gravity()->stored().acceleration(level),
                     half_step(origin + levels_.base), mesh.geometry().block_size(), gas_[level]);
        look_beyond(mesh, level, octs, next[origin]);
      };
      if (origin == level) delivery.deliver_level(level + levels_.base, store);
      else delivery.deliver(level, beyond[origin], store);
    }
    beyond = std::exchange(next, std::vector<std::vector<OctDelivery::FurtherOct>>(levels));
  }
}

void OwedKick::give() const {
  for (const particles::Particles& twins : particles_)
    kick_by(twins, *simulation_.matter().kind(twins.name()));
  const mesh::Mesh& mesh = simulation_.mesh();
  for (int level = 0; level < std::ssize(gas_); ++level) {
    const std::int64_t cells = mesh.cells(level).cells_per_block();
    simulation_.gravity()->push(level, {{gas_[level].data(), 3 * cells}, cells});
  }
  if (!gas_.empty()) simulation_.mesh().restrict_all();
  simulation_.measure_anew();
}

}  // namespace octant::driver

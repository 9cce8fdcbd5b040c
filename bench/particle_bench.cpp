#include "bench/particle_bench.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "bench/command.hpp"
#include "bench/kernel_time.hpp"
#include "bench/nested_mesh.hpp"
#include "bench/report.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/random.hpp"
#include "particles/particles.hpp"

namespace octant::bench {

namespace {

using particles::Particles;

constexpr double k_courant = 0.4;

mesh::Mesh make_mesh(const Communicator& communicator, const ParticleCase& c) {
  mesh::MeshOptions options;
  options.base_cells.fill(c.cells);
  options.block_size = c.block_size;
  options.max_level = c.name == "clustered" ? c.levels : 0;
  return {mesh::Geometry(options),
          communicator,
          CommOptions{},
          {.variables = {{"density"}}, .ghosts = {2}},
          std::make_unique<mesh::LimitedLinear<mesh::NoLimit>>()};
}

// Refines octants around the centre, each level within half the radius of the coarser one.
void refine_centre(mesh::Mesh& mesh, Particles& particles) {
  const auto in_ball = [](int level, const std::array<double, 3>& centre) {
    double square = 0.0;
    for (const double x : centre) square += (x - 0.5) * (x - 0.5);
    return std::sqrt(square) < 0.25 / (1 << level);
  };
  while (mesh.regrid(flag_octants(mesh, in_ball)))
    Particles::adapt_to_mesh(std::span(&particles, 1));
}

void distribute(mesh::Mesh& mesh, Particles& particles) {
  const auto owners = equal_parts(mesh);
  particles.migrate(owners);
  mesh.migrate(owners);
  Particles::adapt_to_mesh(std::span(&particles, 1));
}

// Particles distributed over the box; every second one in the clump, if there is one.
particles::ParticleBatch make_particles(const Communicator& communicator, const ParticleCase& c) {
  particles::ParticleBatch batch;
  const std::int64_t ranks = communicator.size(), rank = communicator.rank();
  for (std::int64_t id = c.particles * rank / ranks; id < c.particles * (rank + 1) / ranks; ++id) {
    const RandomStream random(1, static_cast<std::uint64_t>(id), 0);
    std::array<double, 3> x{random.uniform(0), random.uniform(1), random.uniform(2)};
    if (c.name == "clustered" && id % 2 == 1) {
      const auto a = random.normal_pair(4), b = random.normal_pair(5);
      const double radius = 0.2 * std::pow(random.uniform(12), 2) /
                            std::sqrt(a.first * a.first + a.second * a.second + b.first * b.first);
      x = {0.5 + radius * a.first, 0.5 + radius * a.second, 0.5 + radius * b.first};
    }
    batch.position.push_back(x);
    batch.velocity.push_back({2.0 * random.uniform(14) - 1.0, 2.0 * random.uniform(15) - 1.0,
                              2.0 * random.uniform(16) - 1.0});
    batch.mass.push_back(1.0);
    batch.id.push_back(static_cast<std::uint64_t>(id));
  }
  return batch;
}

struct Fields {
  std::vector<mesh::DeviceArray<double>> values;
  std::int64_t cells;

  explicit Fields(const mesh::Mesh& mesh) {
    const std::int64_t N = mesh.geometry().block_size();
    cells = N * N * N;
    for (int l = 0; l <= mesh.finest_level(); ++l)
      values.emplace_back("accelerations", 3 * cells * mesh.blocks(l).slots());
  }
  particles::VectorField at(int level) const {
    if (level < 0) return {};
    return {values[level].data(), 3 * cells, cells};
  }
};

// Executes a phase on every level, with the step that its cell size allows.
void run_phase(ParticlePhase phase, Particles& particles, const mesh::Mesh& mesh,
               const Fields& fields) {
  const std::span kinds(&particles, 1);
  if (phase == k_deposit) return Particles::deposit(kinds, 0);
  if (phase == k_synchronise) return Particles::synchronise(kinds, 0);
  for (int l = 0; l <= mesh.finest_level(); ++l) {
    const double dt = k_courant * mesh.geometry().cell_size(l);
    if (phase == k_kick)
      particles.kick(l, particles.fetch(l, fields.at(l), fields.at(l - 1), 3), dt);
    else Particles::drift(kinds, l, dt);
  }
}

// Total seconds of deposit, kick and drift.
double seconds_of_step(const double (&seconds)[k_phases]) {
  return seconds[k_deposit] + seconds[k_kick] + seconds[k_drift];
}

JsonObject json(const ParticleResult& r) {
  JsonObject object;
  const ParticleCase& c = r.particle_case;
  object.add("case", c.name)
      .add("particles", c.particles)
      .add("cells", c.cells)
      .add("block_size", c.block_size)
      .add("ranks", r.ranks)
      .add("threads", r.threads);
  for (int phase = 0; phase < k_phases; ++phase) {
    const std::string name = k_phase_names[phase];
    object.add(name + "_seconds", r.seconds[phase])
        .add(name + "_cpu_seconds", r.cpu_seconds[phase]);
  }
  return object
      .add("particles_per_second", static_cast<double>(c.particles) / seconds_of_step(r.seconds))
      .add("particles_per_cpu_second",
           static_cast<double>(c.particles) / seconds_of_step(r.cpu_seconds));
}

constexpr const char* k_particle_row = "{:<10} {:>5} {:<6} {:>8} {:>8} {:>8} {:>12} {:>16}  {}";

std::string particle_heading() {
  return fmt::format(k_particle_row, "case", "block", "", "deposit", "kick", "drift", "synchronise",
                     "first three", "particles by level");
}

std::string row(const ParticleResult& r, const char* unit, const double (&seconds)[k_phases]) {
  const ParticleCase& c = r.particle_case;
  const auto million = [&](double s) {
    return fmt::format("{:.1f}", 1e-6 * static_cast<double>(c.particles) / s);
  };
  return fmt::format(k_particle_row, c.name, c.block_size, unit, million(seconds[k_deposit]),
                     million(seconds[k_kick]), million(seconds[k_drift]),
                     million(seconds[k_synchronise]), million(seconds_of_step(seconds)),
                     fmt::join(r.by_level, " "));
}

struct ParticleRequest {
  Choice cases{{"uniform", "clustered"}, "all"};
  std::vector<int> block_sizes{8};
  ParticleCase common;
  int repeats = 7;
};

void declare(Options& options, ParticleRequest& request) {
  options.choice("--case", request.cases, "Mesh: one level, or refined levels around a clump");
  options.count("--particles", request.common.particles,
                "Total number of particles over all ranks");
  options.count("--cells", request.common.cells, "Number of base cells along each axis");
  options.number("--levels", request.common.levels, 1, 8,
                 "Number of refined levels in the clustered case");
  options.counts("--block-size", request.block_sizes,
                 "Number of cells along each side of a block, one or several");
  options.count("--repeats", request.repeats, "Number of steps; the shortest times are reported");
}

void measure_all(const ParticleRequest& request, const Communicator& communicator, Report& report) {
  report.line(fmt::format(
      "{} rank(s) of {} thread(s), {} particles, base {}^3; shortest of {} steps\nmillion "
      "particles per second of wall-clock time, and of processor time summed over all cores\n",
      communicator.size(), Kokkos::DefaultHostExecutionSpace().concurrency(),
      request.common.particles, request.common.cells, request.repeats));
  report.line(particle_heading());
  for (const std::string& name : request.cases.selected())
    for (const int block_size : request.block_sizes) {
      ParticleCase particle_case = request.common;
      particle_case.name = name;
      particle_case.block_size = block_size;
      const auto result = measure_particles(communicator, particle_case, request.repeats);
      report.line(row(result, "M/s", result.seconds));
      report.line(row(result, "M/cpu s", result.cpu_seconds));
      report.add(json(result));
    }
}

}  // namespace

ParticleResult measure_particles(const Communicator& communicator,
                                 const ParticleCase& particle_case, int repeats) {
  mesh::Mesh mesh = make_mesh(communicator, particle_case);
  Particles particles(particles::dark_matter(), mesh, CommOptions{});
  refine_centre(mesh, particles);
  particles.add(make_particles(communicator, particle_case));
  distribute(mesh, particles);

  ParticleResult result;
  result.particle_case = particle_case;
  result.ranks = communicator.size();
  result.threads = Kokkos::DefaultHostExecutionSpace().concurrency();
  result.by_level = particles.global_counts();
  const Fields fields(mesh);
  std::fill_n(result.seconds, k_phases, std::numeric_limits<double>::infinity());
  std::fill_n(result.cpu_seconds, k_phases, std::numeric_limits<double>::infinity());
  for (int step = 0; step < repeats; ++step)
    for (int n = 0; n < k_phases; ++n) {
      communicator.barrier();
      const std::int64_t cpu_before = process_cpu_ns();
      const Clock clock;
      run_phase(static_cast<ParticlePhase>(n), particles, mesh, fields);
      result.seconds[n] =
          std::min(result.seconds[n], communicator.max(seconds_with_kernels(clock)));
      const auto cpu = static_cast<double>(communicator.sum(process_cpu_ns() - cpu_before));
      result.cpu_seconds[n] = std::min(result.cpu_seconds[n], 1e-9 * cpu);
    }
  return result;
}

int particle_bench(const std::vector<std::string>& words) {
  return run_command<ParticleRequest>("particles", "Deposit, kick and drift of particles", declare,
                                      measure_all, words);
}

}  // namespace octant::bench

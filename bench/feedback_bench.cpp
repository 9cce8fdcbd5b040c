#include "bench/feedback_bench.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <span>

#include <fmt/format.h>

#include "bench/command.hpp"
#include "bench/kernel_time.hpp"
#include "bench/nested_mesh.hpp"
#include "bench/report.hpp"
#include "core/clock.hpp"
#include "core/random.hpp"
#include "mesh/cell_loop.hpp"
#include "subgrid/black_holes/nucleus.hpp"
#include "subgrid/events/grant_requests.hpp"
#include "subgrid/supernovae/blasts.hpp"

namespace octant::bench {

namespace {

using namespace subgrid;

constexpr hydro::Gas k_monatomic{.gamma = 5.0 / 3.0};
// Radii of supernovae and of AGN, in cells of the finest level.
constexpr double k_blast_radius = 2.0, k_jet_reach = 1.0;

const std::map<std::string, EventSearch> k_searches{
    {"blocks", EventSearch::blocks}, {"bins", EventSearch::bins}, {"brute", EventSearch::brute}};

struct FeedbackRequest {
  Choice cases{{"supernovae", "nuclei"}, "all"};
  Choice methods{{"blocks", "bins", "brute"}, "all"};
  std::vector<int> cells{64};
  int block_size = 8, levels = 1, supernovae = 2000, nuclei = 32000;
  std::int64_t most_for_brute = 20'000'000'000;
  int repeats = 5;
};

// Gas of density 1, with each level refining the central half of the width of the coarser one.
mesh::Mesh make_gas(const Communicator& communicator, const FeedbackRequest& request, int cells) {
  mesh::MeshOptions options;
  options.base_cells.fill(cells);
  options.block_size = request.block_size;
  options.max_level = request.levels;
  mesh::Mesh mesh(mesh::Geometry(options), communicator, CommOptions{},
                  {.variables = {{"density"},
                                 {.name = "x", .vector_axis = 0},
                                 {.name = "y", .vector_axis = 1},
                                 {.name = "z", .vector_axis = 2},
                                 {"energy"}}},
                  std::make_unique<mesh::LimitedLinear<mesh::NoLimit>>());
  const auto in_cube = [](int level, const std::array<double, 3>& centre) {
    return std::all_of(centre.begin(), centre.end(),
                       [level](double x) { return std::abs(x - 0.5) < 0.25 / (1 << level); });
  };
  for (int level = 0; level < request.levels; ++level) mesh.regrid(flag_octants(mesh, in_cube));
  mesh.migrate(equal_parts(mesh));
  return mesh;
}

void fill(mesh::Mesh& mesh) {
  for (int level = 0; level <= mesh.finest_level(); ++level) {
    const GasLevel gas(mesh, level, k_monatomic);
    mesh::for_cells(
        "fill", mesh.cells(level), KOKKOS_LAMBDA(const mesh::Cell& cell) {
          const hydro::GasCell at = gas.at(cell);
          for (int n = 0; n < hydro::k_hydro_variables; ++n) at[n] = n == hydro::k_mass ? 1.0 : 0.0;
          at[hydro::k_energy] = 1.0;
        });
  }
}

// Finds the own leaf octant that contains a position. Returns false if another rank has it.
bool find_leaf(const mesh::Mesh& mesh, EventRegion& region) {
  const mesh::Geometry& geometry = mesh.geometry();
  for (int level = 0; level <= mesh.finest_level(); ++level) {
    const double side = geometry.cell_size(level) * geometry.block_size();
    BlockCoordinates block;
    int octant = 0;
    for (int d = 0; d < 3; ++d) {
      const double x = (region.centre[d] - geometry.lower()[d]) / side;
      block[d] = static_cast<BlockCoordinate>(x);
      octant |= (x - block[d] >= 0.5) << d;
    }
    const mesh::Node* node = mesh.blocks(level).find(morton_encode(block));
    if (node == nullptr) return false;
    if (node->slot < 0 || mesh.blocks(level).refined(node->slot) >> octant & 1) continue;
    region.level = level, region.slot = node->slot;
    return true;
  }
  return false;
}

// Position of event n in the refined centre, which has the same number of cells for any mesh size.
EventRegion region_of(const mesh::Mesh& mesh, std::uint64_t n) {
  constexpr double k_base_cells = 32.0;  // along each axis
  const double width = std::min(0.5, k_base_cells * mesh.geometry().cell_size(0));
  const RandomStream random(5, n, 0);
  EventRegion region{.id = n};
  for (int d = 0; d < 3; ++d) region.centre[d] = 0.5 + width * (random.uniform(d) - 0.5);
  return region;
}

std::vector<KineticBlast::Event> make_events(const mesh::Mesh& mesh, const KineticBlast&,
                                             int count) {
  const double dx = mesh.geometry().cell_size(mesh.geometry().max_level());
  std::vector<KineticBlast::Event> events;
  for (int n = 0; n < count; ++n) {
    KineticBlast::Event event{region_of(mesh, n), {0.1, 0.0, -0.1}, 1e-9, 1e-9, 0.02};
    event.region.radius = k_blast_radius * dx;
    if (find_leaf(mesh, event.region)) events.push_back(event);
  }
  return events;
}

// Every second AGN has a jet, the others heat.
std::vector<JetLaw::Event> make_events(const mesh::Mesh& mesh, const JetLaw&, int count) {
  const double dx = mesh.geometry().cell_size(mesh.geometry().max_level());
  std::vector<JetLaw::Event> events;
  for (int n = 0; n < count; n += 2) {
    JetLaw::Event event{};
    event.region = region_of(mesh, n);
    event.reach = k_jet_reach * dx;
    event.region.radius = JetLaw::radius(event.reach);
    event.direction[n / 2 % 3] = 1.0;
    event.mass = event.energy = 1e-10;
    event.kinetic_energy_fraction = 1.0;
    if (find_leaf(mesh, event.region)) events.push_back(event);
  }
  return events;
}

std::vector<HeatLaw::Event> make_events(const mesh::Mesh& mesh, const HeatLaw&, int count) {
  const double dx = mesh.geometry().cell_size(mesh.geometry().max_level());
  std::vector<HeatLaw::Event> events;
  for (int n = 1; n < count; n += 2) {
    HeatLaw::Event event{region_of(mesh, n), 0.0, 1e-10, 0.0};
    event.region.radius = k_jet_reach * dx;
    if (find_leaf(mesh, event.region)) events.push_back(event);
  }
  return events;
}

struct FeedbackResult {
  double seconds = std::numeric_limits<double>::infinity(), cpu_seconds = seconds;
  double energy = 0.0;  // received by all cells
};

// Measures a function that changes gas and returns the energy received by this rank's gas.
template <class Change>
FeedbackResult measure(mesh::Mesh& mesh, int repeats, const Change& change) {
  const Communicator& communicator = mesh.communicator();
  FeedbackResult result;
  for (int n = 0; n < repeats; ++n) {
    fill(mesh);
    communicator.barrier();
    const std::int64_t cpu = process_cpu_ns();
    const Clock clock;
    ReproducibleSum energy = change();
    result.seconds = std::min(result.seconds, communicator.max(seconds_with_kernels(clock)));
    result.cpu_seconds = std::min(
        result.cpu_seconds, 1e-9 * static_cast<double>(communicator.sum(process_cpu_ns() - cpu)));
    reproducible_sum(communicator, std::span(&energy, 1));
    result.energy = energy.to_double();
  }
  return result;
}

FeedbackResult measure_supernovae(mesh::Mesh& mesh, EventSearch search, int count, int repeats) {
  const auto blasts = make_events(mesh, KineticBlast{}, count);
  return measure(mesh, repeats, [&] {
    return apply_events(mesh, KineticBlast{}, {k_monatomic},
                        std::span<const KineticBlast::Event>(blasts), search)
        .sums[InjectedSums::k_energy];
  });
}

FeedbackResult measure_nuclei(mesh::Mesh& mesh, EventSearch search, int count, int repeats) {
  constexpr double k_hot = 1e30;
  const auto jets = make_events(mesh, JetLaw{}, count);
  const auto heats = make_events(mesh, HeatLaw{k_hot}, count);
  return measure(mesh, repeats, [&] {
    ReproducibleSum energy =
        apply_events(mesh, JetLaw{}, {k_monatomic}, std::span<const JetLaw::Event>(jets), search)
            .sums[InjectedSums::k_energy];
    for (const auto& of_event : grant_requests(mesh, HeatLaw{k_hot}, {k_monatomic},
                                               std::span<const HeatLaw::Event>(heats), search))
      energy += of_event.sums[HeatLaw::k_given];
    return energy;
  });
}

std::int64_t leaf_cells(const mesh::Mesh& mesh) {
  const std::int64_t per_octant =
      mesh.geometry().octant_size() * mesh.geometry().octant_size() * mesh.geometry().octant_size();
  std::int64_t octants = 0;
  for (int level = 0; level <= mesh.finest_level(); ++level)
    for (const int slot : mesh.blocks(level).own())
      octants += 8 - __builtin_popcount(mesh.blocks(level).refined(slot));
  return mesh.communicator().sum(per_octant * octants);
}

void declare(Options& options, FeedbackRequest& request) {
  options.choice("--case", request.cases, "Kind of feedback: supernovae, or AGN jets and heating");
  options.choice("--method", request.methods, "Search method that pairs cells with events");
  options.counts("--cells", request.cells, "Number of base cells along each axis, one or several");
  options.number("--levels", request.levels, 0, 8, "Number of refined levels around the centre");
  options.count("--block-size", request.block_size, "Number of cells along each side of a block");
  options.count("--supernovae", request.supernovae, "Total number over all ranks");
  options.count("--nuclei", request.nuclei, "Total number over all ranks");
  options.count("--brute", request.most_for_brute,
                "Maximum number of pairs for the brute-force search");
  options.count("--repeats", request.repeats, "Number of repeats; the shortest time is reported");
}

void measure_all(const FeedbackRequest& request, const Communicator& communicator, Report& report) {
  constexpr const char* k_row = "{:<11} {:>7} {:>6} {:>10} {:<7} {:>10} {:>10} {:>9}";
  const int threads = Kokkos::DefaultHostExecutionSpace().concurrency();
  report.line(fmt::format("{} rank(s) of {} thread(s); shortest of {} repeats\n",
                          communicator.size(), threads, request.repeats));
  report.line(fmt::format(k_row, "case", "events", "base", "leaf cells", "method", "ms", "ms cpu",
                          "brute/it"));
  for (const int cells : request.cells) {
    mesh::Mesh mesh = make_gas(communicator, request, cells);
    const std::int64_t leaves = leaf_cells(mesh);
    for (const std::string& name : request.cases.selected()) {
      const int count = name == "supernovae" ? request.supernovae : request.nuclei;
      std::map<std::string, FeedbackResult> results;
      for (const auto& [method, search] : k_searches) {
        const auto chosen = request.methods.selected();
        if (std::find(chosen.begin(), chosen.end(), method) == chosen.end()) continue;
        const bool is_brute = search == EventSearch::brute;
        if (is_brute && leaves * count > request.most_for_brute) continue;
        const int repeats = is_brute ? 1 : request.repeats;
        results[method] = name == "supernovae" ? measure_supernovae(mesh, search, count, repeats)
                                               : measure_nuclei(mesh, search, count, repeats);
      }
      for (const auto& [method, result] : results) {
        JsonObject object;
        object.add("case", name)
            .add("method", method)
            .add("events", count)
            .add("base_cells", cells)
            .add("leaf_cells", leaves)
            .add("ranks", communicator.size())
            .add("threads", threads)
            .add("seconds", result.seconds)
            .add("cpu_seconds", result.cpu_seconds)
            .add("energy", result.energy);
        std::string ratio;
        if (results.count("brute") > 0) {
          object.add("brute_over_this", results["brute"].seconds / result.seconds);
          ratio = fmt::format("{:.0f}", results["brute"].seconds / result.seconds);
        }
        report.line(fmt::format(k_row, name, count, cells, leaves, method,
                                fmt::format("{:.2f}", 1e3 * result.seconds),
                                fmt::format("{:.2f}", 1e3 * result.cpu_seconds), ratio));
        report.add(object);
      }
    }
  }
}

}  // namespace

int feedback_bench(const std::vector<std::string>& words) {
  return run_command<FeedbackRequest>("feedback", "Supernova and AGN feedback on the gas", declare,
                                      measure_all, words);
}

}  // namespace octant::bench

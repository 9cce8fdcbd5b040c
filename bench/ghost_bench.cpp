#include "bench/ghost_bench.hpp"

#include <set>

#include <fmt/format.h>

#include "bench/command.hpp"
#include "bench/kernel_time.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "mesh/mesh.hpp"

namespace octant::bench {

namespace {

mesh::Geometry geometry_of(const GhostGrid& grid) {
  mesh::MeshOptions options;
  options.base_cells.fill(grid.cells);
  options.block_size = grid.block_size;
  return mesh::Geometry(options);
}

mesh::Mesh make_mesh(const Communicator& communicator, const GhostGrid& grid, Backend backend) {
  CommOptions comm;
  comm.exchange = backend;
  mesh::FieldSetup setup;
  setup.ghosts.reach = grid.ghosts;
  setup.patch = grid.block_size >= 16 ? 16 : 8;
  for (int n = 0; n < grid.variables; ++n) setup.variables.push_back({fmt::format("field_{}", n)});
  return {geometry_of(grid), communicator, comm, std::move(setup),
          std::make_unique<mesh::LimitedLinear<mesh::NoLimit>>()};
}

void set_fields(mesh::Mesh& mesh) {
  const std::int64_t doubles = mesh.blocks(0).slots() * mesh.layout().stride_slot;
  const Kokkos::View<double*, mesh::DeviceSpace, Kokkos::MemoryUnmanaged> values(
      mesh.fields(0).blocks(mesh::LevelFields::k_now), doubles);
  Kokkos::deep_copy(values, 1.0);
}

void distribute(mesh::Mesh& mesh, Decomposition decomposition) {
  std::vector<CostItem> items;
  for (const int slot : mesh.blocks(0).own())
    items.push_back({morton_decode(mesh.blocks(0).key(slot)), 0, 1.0});
  mesh.migrate({partition(decomposition, mesh.communicator(), {mesh.geometry().extent(0)}, items)});
}

// Neighbouring ranks across the faces of own blocks.
struct Border {
  std::int64_t block_faces = 0;
  std::set<int> ranks;
};

Border border_of(const mesh::Mesh& mesh) {
  Border border;
  for (const int slot : mesh.blocks(0).own())
    for (int face = 0; face < 6; ++face) {
      BlockCoordinates beside = morton_decode(mesh.blocks(0).key(slot));
      beside[face / 2] += face % 2 == 0 ? -1 : 1;
      mesh.geometry().wrap(0, beside);
      const int owner = mesh.blocks(0).find(morton_encode(beside))->owner;
      if (owner == mesh.communicator().rank()) continue;
      ++border.block_faces;
      border.ranks.insert(owner);
    }
  return border;
}

std::int64_t neighbours_of(const mesh::Mesh& mesh) {
  std::int64_t count = 0;
  for (const Segment& segment : mesh.halo(0).whole.plan->receives())
    if (segment.rank != mesh.communicator().rank() && segment.count > 0) ++count;
  return count;
}

// Data sent from this rank in one exchange of ghost cells; all exchanges are equal.
ExchangeCount one_exchange(const mesh::Mesh& mesh) {
  for (ExchangeCount count : mesh.exchange_counts())
    if (count.component == "ghosts level 0" && count.exchanges > 0) {
      count.messages /= count.exchanges;
      count.bytes /= count.exchanges;
      return count;
    }
  throw RunError("no ghost-cell exchange has been counted");
}

double median_seconds(mesh::Mesh& mesh, int exchanges) {
  std::vector<double> seconds;
  for (int n = 0; n <= exchanges; ++n) {
    mesh.communicator().barrier();
    const Clock clock;
    mesh.fill_ghosts(0, mesh::LevelFields::k_now, 1.0);
    const double slowest = mesh.communicator().max(seconds_with_kernels(clock));
    if (n > 0) seconds.push_back(slowest);  // the first one is a warm-up
  }
  return seconds[median_index(seconds)];
}

void add(JsonObject& object, const std::string& name, const RankStatistics& statistics) {
  object.add(name + "_min", statistics.least)
      .add(name + "_mean", statistics.mean)
      .add(name + "_max", statistics.most);
}

JsonObject json(const GhostResult& r, const GhostGrid& grid, int ranks) {
  JsonObject object;
  object.add("decomposition", name_of(r.decomposition))
      .add("backend", name_of(r.backend))
      .add("ranks", ranks)
      .add("cells", grid.cells)
      .add("block_size", grid.block_size)
      .add("variables", grid.variables)
      .add("ghosts", grid.ghosts);
  add(object, "blocks", r.blocks);
  add(object, "neighbours", r.neighbours);
  add(object, "face_neighbours", r.face_neighbours);
  add(object, "partners", r.partners);
  add(object, "messages", r.messages);
  add(object, "bytes", r.bytes);
  object.add("surface_to_volume", r.surface_to_volume())
      .add("build_seconds", r.build_seconds)
      .add("seconds", r.seconds);
  return object;
}

constexpr const char* k_ghost_row =
    "{:<13} {:<8} {:>11} {:>10} {:>12} {:>10} {:>10} {:>14} {:>8} {:>9}";

std::string ghost_heading() {
  return fmt::format(k_ghost_row, "decomposition", "backend", "blocks", "neighbours",
                     "across faces", "partners", "messages", "kB", "surf/vol", "seconds");
}

std::string row(const GhostResult& r) {
  const auto spread = [](const RankStatistics& s) {
    return fmt::format("{}/{:.1f}/{}", s.least, s.mean, s.most);
  };
  return fmt::format(
      k_ghost_row, name_of(r.decomposition), name_of(r.backend), spread(r.blocks),
      spread(r.neighbours), spread(r.face_neighbours), spread(r.partners), spread(r.messages),
      fmt::format("{}/{:.0f}/{}", r.bytes.least / 1000, 1e-3 * r.bytes.mean, r.bytes.most / 1000),
      fmt::format("{:.4f}", r.surface_to_volume()), fmt::format("{:.2e}", r.seconds));
}

struct GhostRequest {
  GhostGrid grid;
  Choice decompositions{names_of_all<Decomposition>(), "all"};
  Choice backends{names_of_all<Backend>(), "all"};
  int exchanges = 20;
};

void declare(Options& options, GhostRequest& request) {
  options.count("--cells", request.grid.cells, "Number of cells along each axis");
  options.count("--block-size", request.grid.block_size,
                "Number of cells along each side of a block");
  options.number("--variables", request.grid.variables, 1, mesh::k_max_variables,
                 "Number of variables per cell");
  options.count("--ghosts", request.grid.ghosts, "Number of ghost-cell layers");
  options.choice("--decomposition", request.decompositions, "Domain decomposition");
  options.choice("--backend", request.backends, "Communication backend");
  options.count("--exchanges", request.exchanges,
                "Number of timed exchanges; the median is reported");
}

void measure_all(const GhostRequest& request, const Communicator& communicator, Report& report) {
  const GhostGrid& grid = request.grid;
  geometry_of(grid);  // throws before any output
  report.line(
      fmt::format("{0}^3 cells in blocks of {1}^3, {2} values per cell, {3} ghost cells, {4} "
                  "rank(s)\nminimum/mean/maximum over the ranks, per exchange; median of {5}\n",
                  grid.cells, grid.block_size, grid.variables, grid.ghosts, communicator.size(),
                  request.exchanges));
  report.line(ghost_heading());
  for (const std::string& decomposition : request.decompositions.selected())
    for (const std::string& backend : request.backends.selected()) {
      const GhostResult result =
          measure_ghosts(communicator, grid, value_named<Decomposition>(decomposition).value(),
                         value_named<Backend>(backend).value(), request.exchanges);
      report.line(row(result));
      report.add(json(result, grid, communicator.size()));
    }
}

}  // namespace

GhostResult measure_ghosts(const Communicator& communicator, const GhostGrid& grid,
                           Decomposition decomposition, Backend backend, int exchanges) {
  mesh::Mesh mesh = make_mesh(communicator, grid, backend);
  set_fields(mesh);
  communicator.barrier();
  const Clock clock;
  distribute(mesh, decomposition);

  GhostResult result;
  result.decomposition = decomposition;
  result.backend = backend;
  result.build_seconds = communicator.max(seconds_with_kernels(clock));
  result.seconds = median_seconds(mesh, exchanges);

  const auto over_ranks = [&](std::int64_t value) { return rank_statistics(communicator, value); };
  const Border border = border_of(mesh);
  const ExchangeCount sent = one_exchange(mesh);
  const std::int64_t face_cells = std::int64_t{grid.block_size} * grid.block_size;
  result.blocks = over_ranks(mesh.blocks(0).count());
  result.neighbours = over_ranks(neighbours_of(mesh));
  result.face_neighbours = over_ranks(static_cast<std::int64_t>(border.ranks.size()));
  result.partners = over_ranks(sent.partners);
  result.messages = over_ranks(sent.messages);
  result.bytes = over_ranks(sent.bytes);
  result.surface = over_ranks(border.block_faces * face_cells);
  result.volume = over_ranks(mesh.blocks(0).count() * face_cells * grid.block_size);
  return result;
}

int ghost_bench(const std::vector<std::string>& words) {
  return run_command<GhostRequest>("ghost", "Ghost-cell exchange on a uniform periodic grid",
                                   declare, measure_all, words);
}

}  // namespace octant::bench

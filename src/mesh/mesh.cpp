#include "mesh/mesh.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "core/error.hpp"
#include "mesh/device.hpp"
#include "mesh/domain_faces.hpp"

namespace octant::mesh {

namespace {

void check_setup(const Geometry& geometry, const FieldSetup& setup) {
  if (setup.ghosts.reach > geometry.block_size())
    throw InputError(
        "mesh.block_size = {}: the hydrodynamics reads {} cells beyond a block; use blocks of at "
        "least that size or a shorter stencil (hydro.reconstruction = \"plm\")",
        geometry.block_size(), setup.ghosts.reach);
  if (setup.variables.size() > static_cast<std::size_t>(k_max_variables))
    throw InputError("{} variables per cell; at most {} are possible", setup.variables.size(),
                     k_max_variables);
}

VectorAxes upload_vector_axes(const std::vector<Variable>& variables) {
  std::vector<std::int32_t> axes;
  for (const Variable& variable : variables) axes.push_back(variable.vector_axis);
  return to_device("vector axes", axes);
}

std::int64_t base_block_count(const Geometry& geometry) {
  const BlockCoordinates extent = geometry.extent(0);
  return std::int64_t{extent[0]} * extent[1] * extent[2];
}

}  // namespace

Mesh::Mesh(const Geometry& geometry, const Communicator& communicator,
           const CommOptions& comm_options, FieldSetup setup,
           std::unique_ptr<Interpolation> interpolation)
    : setup_((check_setup(geometry, setup), std::move(setup))),
      layout_(geometry.block_size(), static_cast<int>(setup_.variables.size())),
      tree_(std::make_unique<Tree>(geometry, communicator)),
      interpolation_(std::move(interpolation)),
      halos_(*tree_, layout_, setup_.ghosts, setup_.patch),
      jumps_(geometry.max_level() + 1),
      child_owners_(geometry.max_level() + 1),
      registers_(geometry.max_level() + 1),
      send_buffers_(geometry.max_level() + 1),
      refreshed_(geometry.max_level() + 1, -1),
      migration_("migration", communicator, comm_options),
      vector_axes_(upload_vector_axes(setup_.variables)),
      inflow_("inflow states", setup_.variables.size()) {
  for (int l = 0; l <= geometry.max_level(); ++l) {
    fields_.emplace_back(layout_, setup_.spares);
    ghost_exchangers_.emplace_back("ghosts", communicator, comm_options, l);
    octant_exchangers_.emplace_back("octants", communicator, comm_options, l);
    face_exchangers_.emplace_back("fluxes", communicator, comm_options, l);
  }
  const BlockCoordinates extent = geometry.extent(0);
  const std::int64_t blocks = base_block_count(geometry);
  const int ranks = communicator.size(), rank = communicator.rank();
  for (std::int64_t n = blocks * rank / ranks; n < blocks * (rank + 1) / ranks; ++n) {
    const auto x = static_cast<BlockCoordinate>(n % extent[0]);
    const auto y = static_cast<BlockCoordinate>(n / extent[0] % extent[1]);
    const auto z = static_cast<BlockCoordinate>(n / extent[0] / extent[1]);
    tree_->level(0).insert(morton_encode({x, y, z}), 0, rank);
  }
  fields_[0].reserve(tree_->level(0).slots(), 0);
  rebuild();
}

void Mesh::rebuild() {
  tree_->discover();
  build_tables();
}

// Of a tree that has been discovered.
void Mesh::build_tables() {
  const int levels = tree_->max_level() + 1;
  const auto counts = tree_->global_counts();
  finest_level_ = levels - 1;
  while (counts[finest_level_] == 0) --finest_level_;

  cells_.clear();
  for (int l = 0; l < levels; ++l) cells_.push_back(cells(l, tree_->level(l).own()));

  for (auto* group : {&ghost_exchangers_, &octant_exchangers_, &face_exchangers_})
    for (Exchanger& exchanger : *group) exchanger.drain();
  std::vector<LevelRegisters> registers(levels);
  for (int l = 0; l < levels; ++l) {
    child_owners_[l].assign(tree_->level(l).slots(), {-1, -1, -1, -1, -1, -1, -1, -1});
  }
  for (int l = 0; l < levels; ++l) request_domain_fluxes(*tree_, l, layout_, registers[l]);
  for (int l = 1; l < levels; ++l)
    jumps_[l] = std::make_unique<LevelJump>(*tree_, l, layout_, registers[l], registers[l - 1],
                                            child_owners_[l - 1]);
  flux_requests_.clear();
  for (int l = 0; l < levels; ++l) {
    registers_[l] = DeviceArray<double>("flux registers", registers[l].doubles);
    flux_requests_.emplace_back(tree_->level(l).slots(), registers[l].requests);
  }
  halos_.follow(flux_requests_);

  std::int64_t scratch = 0;
  for (int l = 0; l < levels; ++l) {
    fields_[l].resize_halo(halos_[l].halo_doubles);
    scratch = std::max(scratch, halos_[l].scratch_doubles);
    send_buffers_[l] = SendBuffers(halos_[l].sent_cells * layout_.variables);
  }
  if (static_cast<std::int64_t>(scratch_.size()) < scratch + 2 * k_margin ||
      static_cast<std::int64_t>(scratch_.size()) > 2 * scratch + 4 * k_margin) {
    scratch_ = {};
    scratch_ = allocate_with_margin("scratch", scratch);
  }
  tree_->clear_changes();
}

CellRange Mesh::cells(int level, std::span<const int> slots) const {
  const TreeLevel& level_blocks = blocks(level);
  std::vector<OwnBlock> chosen;
  chosen.reserve(slots.size());
  for (const int slot : slots) {
    const auto [x, y, z] = geometry().origin(level, morton_decode(level_blocks.key(slot)));
    chosen.push_back({slot, level_blocks.refined(slot), {x, y, z}});
  }
  return {to_device("own blocks", chosen),
          std::countr_zero(static_cast<unsigned>(layout_.block_size)), geometry().cell_size(level),
          false};
}

FieldPointers Mesh::pointers(int level, int state) const {
  const LevelFields& fields = fields_[level];
  FieldPointers p;
  p.buffer[k_own] = p.buffer[k_borrowed] = fields.blocks(state);
  p.buffer[k_halo] = fields.halo(state);
  p.buffer[k_scratch] = scratch_.data() + k_margin;
  return p;
}

void Mesh::set_inflow(int boundary, const std::vector<double>& state) {
  auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, inflow_);
  for (std::size_t n = 0; n < state.size(); ++n) host(n, boundary) = state[n];
  Kokkos::deep_copy(inflow_, host);
}

void Mesh::exchange_start(int level, int state) {
  finish_refresh(level);
  const LevelHalo& halo = halos_[level];
  double* message = send_buffers_[level].take_free(ghost_exchangers_[level]);
  pack(halo.packs, halo.tiles.boxes, fields_[level].blocks(state), message, layout_.variables);
  Kokkos::fence();
  ghost_exchangers_[level].start<double>(*halo.plan, message, fields_[level].halo(state),
                                         layout_.variables);
}

void Mesh::fill_level_boundaries(int level, int state,
                                 const DeviceArray<const BoundaryTask>& tasks) {
  double* const buffer[k_buffers] = {fields_[level].blocks(state), fields_[level].blocks(state),
                                     fields_[level].halo(state), scratch_.data() + k_margin};
  fill_boundaries(tasks, halos_[level].tiles.boxes, buffer, vector_axes_, inflow_,
                  layout_.variables);
}

void Mesh::interpolate_ghosts(int level, double theta,
                              const DeviceArray<const InterpolationTask>& tasks) {
  if (tasks.extent(0) == 0) return;
  const LevelFields& coarse = fields_[level - 1];
  const bool present = theta == 1.0;
  const CoarseState state{
      .earlier = pointers(level - 1, present ? LevelFields::k_now : coarse.old()),
      .later = pointers(level - 1, LevelFields::k_now),
      .theta = present ? 0.0 : theta,
      .block_size = layout_.block_size,
      .boxes = halos_[level - 1].tiles.boxes};
  FineTarget target{};
  target.buffer[k_scratch] = scratch_.data() + k_margin;
  target.boxes = halos_[level].tiles.boxes;
  interpolation_->interpolate(tasks, state, target, layout_.variables);
}

void Mesh::start_ghosts(int level, int state, double theta) {
  start_ghosts(level, state, theta, halos_[level].interpolations);
}

void Mesh::start_ghosts(int level, int state, double theta,
                        const DeviceArray<const InterpolationTask>& interpolations) {
  exchange_start(level, state);
  if (level > 0) finish_refresh(level - 1);
  interpolate_ghosts(level, theta, interpolations);
  fill_level_boundaries(level, state, halos_[level].scratch_boundaries);
  fill_level_boundaries(level, state, halos_[level].halo_boundaries);
}

void Mesh::finish_ghosts(int level, int state) {
  Kokkos::fence();
  ghost_exchangers_[level].finish_receives();
  // Those that mirror received cells come out right only now.
  if (halos_[level].received_cells > 0)
    fill_level_boundaries(level, state, halos_[level].halo_boundaries);
}

void Mesh::fill_ghosts(int level, int state, double theta) {
  start_ghosts(level, state, theta);
  finish_ghosts(level, state);
}

void Mesh::refresh_halo(int level, int state) {
  exchange_start(level, state);
  refreshed_[level] = state;
}

void Mesh::finish_refresh(int level) {
  const int state = std::exchange(refreshed_[level], -1);
  if (state < 0) return;
  ghost_exchangers_[level].finish_receives();
  fill_level_boundaries(level, state, halos_[level].halo_boundaries);
}

void Mesh::clear_registers(int fine_level) {
  face_exchangers_[fine_level].drain();
  jumps_[fine_level]->clear_registers(registers_[fine_level], registers_[fine_level - 1]);
}

// Fluxes and means change different coarse cells.
void Mesh::synchronise(int fine_level) {
  LevelJump& jump = *jumps_[fine_level];
  Exchanger &fluxes = face_exchangers_[fine_level], &octants = octant_exchangers_[fine_level];
  const LevelJump::Registers registers{registers_[fine_level].data(),
                                       registers_[fine_level - 1].data()};
  const double* children = fields_[fine_level].blocks(LevelFields::k_now);
  double* parents = fields_[fine_level - 1].blocks(LevelFields::k_now);
  jump.send_fluxes(registers, fluxes);
  jump.send_octants(children, octants);
  jump.correct_own(registers, parents);
  jump.restrict_own(children, parents);
  jump.receive_fluxes(registers, parents, fluxes);
  jump.receive_octants(parents, octants);
}

void Mesh::restrict_all(int coarsest) {
  for (int l = finest_level_; l > coarsest; --l) {
    const double* children = fields_[l].blocks(LevelFields::k_now);
    double* parents = fields_[l - 1].blocks(LevelFields::k_now);
    jumps_[l]->send_octants(children, octant_exchangers_[l]);
    jumps_[l]->restrict_own(children, parents);
    jumps_[l]->receive_octants(parents, octant_exchangers_[l]);
  }
}

std::int64_t Mesh::bytes() const {
  std::int64_t total = static_cast<std::int64_t>(scratch_.size() * sizeof(double));
  for (int l = 0; l <= tree_->max_level(); ++l) {
    total += fields_[l].bytes_in_use(tree_->level(l).slots());
    total += static_cast<std::int64_t>(registers_[l].size() * sizeof(double));
    total += static_cast<std::int64_t>(tree_->level(l).bytes());
    total += cells_[l].count() * static_cast<std::int64_t>(sizeof(OwnBlock));
  }
  return total;
}

std::vector<ExchangeCount> Mesh::exchange_counts() const {
  std::vector<ExchangeCount> counts;
  const auto append = [&](const Exchanger& exchanger) {
    const auto rows = exchanger.report();
    counts.insert(counts.end(), rows.begin(), rows.end());
  };
  for (const auto* group : {&ghost_exchangers_, &octant_exchangers_, &face_exchangers_})
    for (const Exchanger& exchanger : *group) append(exchanger);
  append(migration_);
  return counts;
}

}  // namespace octant::mesh

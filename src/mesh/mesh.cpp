#include "mesh/mesh.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "core/error.hpp"
#include "mesh/device.hpp"
#include "mesh/interpolation.hpp"

namespace octant::mesh {

namespace {

void check_setup(const Geometry& geometry, const FieldSetup& setup) {
  if (setup.ghosts.reach > geometry.block_size())
    throw InputError(
        "mesh.block_size = {}: the hydrodynamics scheme requires {} ghost cells; use larger blocks "
        "or a shorter stencil (hydro.reconstruction = \"plm\")",
        geometry.block_size(), setup.ghosts.reach);
  if (setup.variables.size() > static_cast<std::size_t>(k_max_variables))
    throw InputError("{} variables per cell are required; at most {} are supported",
                     setup.variables.size(), k_max_variables);
}

// Reflections that change the sign of each variable.
SignChanges upload_sign_changes(const std::vector<FieldInfo>& variables, const Spin& spin) {
  std::vector<std::int32_t> axes;
  for (int n = 0; n < std::ssize(variables); ++n) {
    const int axis = variables[n].vector_axis, component = spin.component(n);
    axes.push_back(component >= 0 ? 7 & ~(1 << component) : axis >= 0 ? 1 << axis : 0);
  }
  return to_device("sign changes", axes);
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
      layout_(geometry.block_size(), static_cast<int>(setup_.variables.size()), setup_.others),
      tree_(std::make_unique<Tree>(geometry, communicator)),
      interpolation_(std::move(interpolation)),
      halos_(*tree_, layout_, setup_.ghosts, setup_.patch),
      level_boundaries_(geometry.max_level() + 1),
      registers_(geometry.max_level() + 1),
      domain_faces_(geometry.max_level() + 1),
      send_buffers_(geometry.max_level() + 1),
      refresh_buffers_(geometry.max_level() + 1),
      refreshes_(geometry.max_level() + 1),
      migration_("migration", communicator, comm_options, -1, Buffers::of_device),
      sign_changes_(upload_sign_changes(setup_.variables, setup_.spin)),
      inflow_values_(geometry.max_level() + 1) {
  for (int l = 0; l <= geometry.max_level(); ++l) {
    fields_.emplace_back(layout_, setup_.spares);
    own_blocks_.emplace_back("own blocks");
    former_blocks_.emplace_back("own blocks");
    cells_.push_back({{},
                      std::countr_zero(static_cast<unsigned>(layout_.block_size)),
                      geometry.cell_size(l),
                      false});
    if (l > 0)
      level_boundaries_[l] = std::make_unique<CoarseFineBoundary>(*tree_, l, layout_, setup_.spin);
    ghost_exchangers_.emplace_back("ghosts", communicator, comm_options, l, Buffers::of_device);
    refresh_exchangers_.emplace_back("coarse ghosts", communicator, comm_options, l,
                                     Buffers::of_device);
    octant_exchangers_.emplace_back("octants", communicator, comm_options, l, Buffers::of_device);
    face_exchangers_.emplace_back("fluxes", communicator, comm_options, l, Buffers::of_device);
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

// Rebuilds what depends on the blocks of the tree, after Tree::discover(): cell lists, coarse-fine
// boundaries, ghost plans and buffers. Collective.
void Mesh::build_tables() {
  const int levels = tree_->max_level() + 1;
  const auto counts = tree_->global_counts();
  finest_level_ = levels - 1;
  while (counts[finest_level_] == 0) --finest_level_;

  for (int l = 0; l < levels; ++l) update_cells(l);
  for (auto* group :
       {&ghost_exchangers_, &refresh_exchangers_, &octant_exchangers_, &face_exchangers_})
    for (Exchanger& exchanger : *group) exchanger.wait_sends();
  update_boundaries();
  std::vector<FluxRequests> requests;
  for (int l = 0; l < levels; ++l) requests.push_back(changed_flux_registers(l));
  halos_.follow(requests);

  release_ghosts();
  scratch_doubles_ = 0;
  for (int l = 0; l < levels; ++l) {
    fields_[l].resize_halo(halos_[l].halo_doubles);
    scratch_doubles_ = std::max(scratch_doubles_, halos_[l].scratch_doubles);
    send_buffers_[l] = SendBuffers(halos_[l].whole.sent_cells * layout_.variables);
    refresh_buffers_[l] = SendBuffers(halos_[l].for_finer_level.sent_cells * layout_.variables);
  }
  for (InflowValues& inflow : inflow_values_) {
    inflow.known = false;
    inflow.states.clear();
  }
  tree_->clear_changes();
  for (const auto& follow : followers_) follow();
}

void Mesh::update_boundaries() {
  const int levels = tree_->max_level() + 1;
  for (int l = 1; l < levels; ++l)
    level_boundaries_[l]->follow(l > 1 ? level_boundaries_[l - 1]->fine_doubles() : 0);
  for (int l = 0; l < levels; ++l) {
    std::int64_t doubles = l > 0 ? level_boundaries_[l]->fine_doubles() : 0;
    if (l + 1 < levels) doubles += level_boundaries_[l + 1]->coarse_doubles();
    DomainFaces& outward = domain_faces_[l];
    outward.update(*tree_, l, layout_, doubles);
    const std::pair outwards(doubles, doubles + outward.doubles());
    if (outwards.second > static_cast<std::int64_t>(registers_[l].size()))
      registers_[l] = DeviceArray<double>("flux registers", outwards.second);
    fill(Kokkos::subview(registers_[l], outwards), 0.0);
  }
}

// Appends the requests for fluxes at boundaries to the coarser level, to the finer level, and of
// the domain.
void Mesh::append_flux_requests(int level, int slot,
                                std::vector<FluxRegisterFaces>& requests) const {
  if (level > 0) level_boundaries_[level]->append_fine_requests(slot, requests);
  if (level < tree_->max_level())
    level_boundaries_[level + 1]->append_coarse_requests(slot, requests);
  domain_faces_[level].append_requests(slot, requests);
}

std::vector<FluxRegisterFaces> Mesh::flux_requests(int level, int slot) const {
  std::vector<FluxRegisterFaces> requests;
  append_flux_requests(level, slot, requests);
  return requests;
}

FluxRequests Mesh::changed_flux_registers(int level) const {
  FluxRequests requests;
  requests.append = [this, level](int slot, std::vector<FluxRegisterFaces>& list) {
    append_flux_requests(level, slot, list);
  };
  const auto add = [&](const std::vector<int>& slots) {
    requests.changed.insert(requests.changed.end(), slots.begin(), slots.end());
  };
  if (level > 0) add(level_boundaries_[level]->rewritten_fine());
  if (level < tree_->max_level()) add(level_boundaries_[level + 1]->rewritten_coarse());
  add(domain_faces_[level].rewritten());
  return requests;
}

namespace {

OwnBlock own_block(const Geometry& geometry, const TreeLevel& blocks, int level, int slot) {
  const auto [x, y, z] = geometry.origin(level, morton_decode(blocks.key(slot)));
  return {slot, blocks.refined(slot), {x, y, z}};
}

}  // namespace

void Mesh::update_cells(int level) {
  const TreeLevel& level_blocks = blocks(level);
  DeviceTable<OwnBlock>&now = own_blocks_[level], &former = former_blocks_[level];
  if (level_blocks.changed().empty()) {
    for (std::size_t n = 0; n < now.size(); ++n)
      if (const unsigned refined = level_blocks.refined(now[n].slot); refined != now[n].refined)
        now.at(n).refined = refined;
    now.upload();
    return;
  }
  std::swap(now, former);
  now.clear();
  now.resize(level_blocks.own().size());
  OwnBlock* block = now.write(0, now.size());
  std::size_t f = 0;
  for (const int slot : level_blocks.own()) {
    if (level_blocks.is_new(slot)) {
      *block++ = own_block(geometry(), level_blocks, level, slot);
      continue;
    }
    while (former[f].slot != slot) ++f;
    *block = former[f];
    block++->refined = level_blocks.refined(slot);
  }
  now.upload();
  cells_[level].blocks = now.on_device();
}

CellRange Mesh::cells(int level, std::span<const int> slots) const {
  std::vector<OwnBlock> chosen;
  chosen.reserve(slots.size());
  for (const int slot : slots) chosen.push_back(own_block(geometry(), blocks(level), level, slot));
  CellRange range = cells_[level];
  range.blocks = to_device("own blocks", chosen);
  return range;
}

// Allocates scratch memory. Kernels may load the margins around boxes, which must therefore hold
// finite, positive values.
void Mesh::allocate_scratch() {
  if (scratch_.size() > 0) return;
  scratch_ = pool_.allocate("scratch", scratch_doubles_ + 2 * k_margin);
  for (const std::int64_t margin : {std::int64_t{0}, k_margin + scratch_doubles_})
    fill(Kokkos::subview(scratch_, std::pair(margin, margin + k_margin)), 1.0);
}

double* Mesh::scratch() const { return scratch_.size() > 0 ? scratch_.data() + k_margin : nullptr; }

FieldPointers Mesh::pointers(int level, int state) const {
  const LevelFields& fields = fields_[level];
  FieldPointers p;
  p.buffer[k_own] = p.buffer[k_borrowed] = fields.blocks(state);
  p.buffer[k_halo] = fields.halo(state);
  p.buffer[k_scratch] = scratch();
  return p;
}

void Mesh::set_inflow_time(int level, double time) {
  finish_refresh(level);
  InflowValues& inflow = inflow_values_[level];
  inflow.known = inflow.known && (!inflow_.moves || time == inflow.time);
  inflow.time = time;
}

// Returns the inflow states of a box. Cell centres are computed from the lower corner of the
// domain, so that they do not depend on the block size.
Inflow::States Mesh::inflow_states(int level, const InflowBox& box) const {
  const std::array<double, 3> lower = geometry().lower();
  const double N = layout_.block_size, dx = geometry().cell_size(level);
  Lattice centres;
  for (int d = 0; d < 3; ++d)
    for (int i = box.region.begin[d]; i < box.region.end[d]; ++i)
      centres.along[d].push_back(lower[d] + (static_cast<double>(box.block[d]) * N + i + 0.5) * dx);
  return inflow_.states(box.boundary, centres);
}

void Mesh::evaluate_inflow(int level) {
  const LevelHalo& halo = halos_[level];
  InflowValues& inflow = inflow_values_[level];
  const std::int64_t doubles = halo.inflow_cells * layout_.variables;
  if (static_cast<std::int64_t>(inflow.values.size()) != doubles)
    inflow.values = uninitialised<double>("inflow", doubles);
  if (inflow.states.empty())
    for (const InflowBox& box : halo.inflow_boxes)
      inflow.states.push_back(inflow_states(level, box));
  const auto values = Kokkos::create_mirror_view(Kokkos::HostSpace{}, inflow.values);
  for (std::size_t n = 0; n < inflow.states.size(); ++n)
    inflow.states[n](inflow.time, values.data() + halo.inflow_boxes[n].first * layout_.variables);
  copy_to_device(TransferKind::numbers, inflow.values, values);
  inflow.known = true;
  if (!inflow_.moves) inflow.states.clear();
}

// Packs cells of a level's state and starts the exchange.
void Mesh::start_messages(int level, int state, const HaloMessages& messages, SendBuffers& buffers,
                          Exchanger& exchanger, double* received) {
  double* message = buffers.free_buffer(exchanger);
  pack(messages.pack_tasks.on_device(), halos_[level].tiles.boxes, fields_[level].blocks(state),
       message, layout_.variables);
  exchanger.start<double>(*messages.plan, message, received, layout_.variables);
}

void Mesh::fill_level_boundaries(int level, int state,
                                 const DeviceArray<const BoundaryTask>& tasks) {
  double* const buffer[k_buffers] = {fields_[level].blocks(state), fields_[level].blocks(state),
                                     fields_[level].halo(state), scratch()};
  if (halos_[level].inflow_cells > 0 && !inflow_values_[level].known) evaluate_inflow(level);
  fill_boundaries(tasks, halos_[level].tiles.boxes, buffer, sign_changes_,
                  inflow_values_[level].values, layout_.variables);
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
      .cell_size = geometry().cell_size(level - 1),
      .boxes = halos_[level - 1].tiles.boxes};
  FineTarget target{};
  target.buffer[k_scratch] = scratch();
  target.boxes = halos_[level].tiles.boxes;
  interpolation_->interpolate(tasks, state, target, layout_.variables);
}

void Mesh::start_ghosts(int level, int state, double theta) {
  record_interpolation(halos_[level].interpolations, layout_.variables, theta != 1.0);
  start_ghosts(level, state, theta, halos_[level].interpolations.on_device());
}

void Mesh::start_ghosts(int level, int state, double theta,
                        const DeviceArray<const InterpolationTask>& interpolations) {
  finish_refresh(level);
  allocate_scratch();
  start_messages(level, state, halos_[level].whole, send_buffers_[level], ghost_exchangers_[level],
                 fields_[level].halo(state));
  if (level > 0) finish_refresh(level - 1);
  interpolate_ghosts(level, theta, interpolations);
  fill_level_boundaries(level, state, halos_[level].scratch_boundaries.on_device());
  fill_level_boundaries(level, state, halos_[level].halo_boundaries.on_device());
}

void Mesh::finish_ghosts(int level, int state) {
  ghost_exchangers_[level].finish_receives();
  // Mirrors of received cells can only be filled after the cells have arrived.
  if (halos_[level].received_cells > 0)
    fill_level_boundaries(level, state, halos_[level].halo_boundaries.on_device());
}

void Mesh::fill_ghosts(int level, int state, double theta) {
  start_ghosts(level, state, theta);
  finish_ghosts(level, state);
}

void Mesh::refresh_halo(int level, int state) {
  finish_refresh(level);
  const HaloMessages& for_finer_level = halos_[level].for_finer_level;
  Refresh& refresh = refreshes_[level];
  refresh.state = state;
  const std::int64_t doubles = for_finer_level.plan->items_received() * layout_.variables;
  // The buffer is reused, because an allocation would take longer than the copy.
  if (static_cast<std::int64_t>(refresh.received.size()) < doubles)
    refresh.received = uninitialised<double>("received coarse ghosts", doubles + doubles / 4);
  start_messages(level, state, for_finer_level, refresh_buffers_[level], refresh_exchangers_[level],
                 refresh.received.data());
}

void Mesh::finish_refresh(int level) {
  Refresh& refresh = refreshes_[level];
  const int state = std::exchange(refresh.state, -1);
  if (state < 0) return;
  refresh_exchangers_[level].finish_receives();
  const LevelHalo& halo = halos_[level];
  unpack(halo.unpack_tasks.on_device(), halo.tiles.boxes, refresh.received.data(),
         fields_[level].halo(state), layout_.variables);
  fill_level_boundaries(level, state, halo.halo_boundaries.on_device());
}

void Mesh::clear_registers(int fine_level) {
  face_exchangers_[fine_level].wait_sends();
  level_boundaries_[fine_level]->clear_registers(registers_[fine_level],
                                                 registers_[fine_level - 1]);
}

// Synchronises two levels. Refluxing and restriction change different coarse cells, so that both
// exchanges can overlap.
void Mesh::synchronise(int fine_level, const FaceFlow& flow) {
  CoarseFineBoundary& jump = *level_boundaries_[fine_level];
  Exchanger &fluxes = face_exchangers_[fine_level], &octants = octant_exchangers_[fine_level];
  const CoarseFineBoundary::Registers registers{registers_[fine_level].data(),
                                                registers_[fine_level - 1].data()};
  const double* children = fields_[fine_level].blocks(LevelFields::k_now);
  double* parents = fields_[fine_level - 1].blocks(LevelFields::k_now);
  jump.send_fluxes(registers, fluxes);
  jump.send_octants(children, octants);
  jump.correct_own(registers, parents, flow);
  jump.restrict_own(children, parents);
  jump.receive_fluxes(registers, parents, flow, fluxes);
  jump.receive_octants(parents, octants);
}

void Mesh::restrict_all(int coarsest) {
  for (int l = finest_level_; l > coarsest; --l) {
    const double* children = fields_[l].blocks(LevelFields::k_now);
    double* parents = fields_[l - 1].blocks(LevelFields::k_now);
    level_boundaries_[l]->send_octants(children, octant_exchangers_[l]);
    level_boundaries_[l]->restrict_own(children, parents);
    level_boundaries_[l]->receive_octants(parents, octant_exchangers_[l]);
  }
}

std::int64_t Mesh::bytes() const {
  std::int64_t total = scratch_doubles_ * static_cast<std::int64_t>(sizeof(double));
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
  for (const auto* group :
       {&ghost_exchangers_, &refresh_exchangers_, &octant_exchangers_, &face_exchangers_})
    for (const Exchanger& exchanger : *group) append(exchanger);
  append(migration_);
  return counts;
}

}  // namespace octant::mesh

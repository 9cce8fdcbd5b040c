#include "mesh/coarse_fine_boundary.hpp"

#include <algorithm>
#include <utility>

#include "comm/route.hpp"
#include "core/error.hpp"
#include "core/observer.hpp"
#include "mesh/domain_faces.hpp"

namespace octant::mesh {

namespace {

// Capacity with a margin, so that small changes rarely move the registers that follow.
std::int64_t with_spare_capacity(std::size_t count) {
  return static_cast<std::int64_t>(count + count / 4 + 8);
}

void record_corrections(const DeviceTable<CorrectedBlock>& blocks, bool remote, int face_values) {
  std::int64_t faces = 0;
  for (std::size_t n = 0; n < blocks.size(); ++n)
    if ((blocks[n].has_remote_fluxes != 0) == remote) faces += blocks[n].end - blocks[n].begin;
  // Cost: each value reads both fluxes, and reads and writes the cell.
  record_kernel_work("correct fluxes", faces * face_values, {32.0, 3.0});
}

}  // namespace

void CoarseFineBoundary::SlotSet::add(int slot) {
  if (slot >= std::ssize(has_)) has_.resize(slot + 1);
  if (has_[slot]) return;
  has_[slot] = true;
  slots_.push_back(slot);
}

void CoarseFineBoundary::SlotSet::clear() {
  std::fill(has_.begin(), has_.end(), false);
  slots_.clear();
}

CoarseFineBoundary::CoarseFineBoundary(const Tree& tree, int fine_level, const BlockLayout& layout,
                                       const Spin& spin)
    : tree_(tree),
      fine_level_(fine_level),
      layout_(layout),
      inverse_cell_size_(1.0 / tree.geometry().cell_size(fine_level - 1)),
      alone_(tree.communicator().size() == 1),
      sent_restrictions_("restriction tasks"),
      own_restrictions_("restriction tasks"),
      octant_tasks_("octant tasks"),
      blocks_("corrected blocks"),
      tasks_("correction tasks"),
      spin_(spin) {
  const int half = layout.block_size / 2;
  face_values_ = half * half * layout.variables;
  octant_values_ = face_values_ * half;
}

void CoarseFineBoundary::follow(std::int64_t coarse_begin) {
  changed_fine_.clear();
  changed_coarse_.clear();
  rewritten_fine_.clear();
  find_changed_blocks();
  clear_received();
  for (const int slot : changed_fine_.slots()) release(slot);
  for_changed_faces([this](int slot, int face) {
    if (fine_blocks_[slot].faces[face] != -1 && !is_coarse_fine_face(slot, face))
      release_face(slot, face);
  });
  sent_faces_.clear();
  sent_children_.clear();
  const auto slots = static_cast<std::size_t>(fine().slots());
  for (std::size_t slot = own_restrictions_.size(); slot < slots; ++slot)
    own_restrictions_.push_back({-1, -1, 0, 0});
  for (const int slot : changed_fine_.slots())
    if (has_block(slot)) connect(slot);
  for_changed_faces([this](int slot, int face) {
    if (fine_blocks_[slot].faces[face] == -1 && is_coarse_fine_face(slot, face))
      connect_face(slot, face);
  });
  send_list_of_children();
  send_list_of_faces();
  reserve_registers();
  if (coarse_begin != coarse_begin_)
    for (const CoarseBlock& block : coarse_blocks_)
      if (block.slot >= 0) changed_coarse_.add(block.slot);
  coarse_begin_ = coarse_begin;
  for (const int slot : changed_coarse_.slots()) write_corrections(slot);
  own_restrictions_.upload();
  blocks_.upload();
  tasks_.upload();
}

bool CoarseFineBoundary::has_block(int slot) const {
  return slot < fine().slots() && fine().key(slot) != k_no_key;
}

// Returns true if a face of a fine block lies on the coarse-fine boundary, so that only coarse
// cells adjoin the face.
bool CoarseFineBoundary::is_coarse_fine_face(int slot, int face) const {
  if (fine().neighbours(slot)[k_face_neighbours[face]] != k_nobody) return false;
  const Geometry& geometry = tree_.geometry();
  const int axis = face / 2;
  if (geometry.periodic(axis)) return true;
  const BlockCoordinate last = geometry.extent(fine_level_)[axis] - 1;
  return morton_decode(fine().key(slot))[axis] != (face % 2 == 0 ? 0 : last);
}

// Calls work(slot, face) for changed neighbours across faces of blocks that are not in
// changed_fine_.
template <class Work>
void CoarseFineBoundary::for_changed_faces(const Work& work) {
  for (const int slot : fine().touched()) {
    if (changed_fine_.has(slot)) continue;
    const Positions changed = fine().changed_around(slot);
    for (int face = 0; face < 6; ++face)
      if (changed >> k_face_neighbours[face] & 1) work(slot, face);
  }
}

// Finds fine blocks that were created or removed, or whose parent or coarse neighbour was created
// or removed, and those that share a face or octant with another rank: messages are rebuilt.
void CoarseFineBoundary::find_changed_blocks() {
  fine_blocks_.resize(std::max(fine_blocks_.size(), static_cast<std::size_t>(fine().slots())));
  const auto coarse_slots =
      std::max(child_owners_.size(), static_cast<std::size_t>(coarse().slots()));
  child_owners_.resize(coarse_slots, {-1, -1, -1, -1, -1, -1, -1, -1});
  block_of_slot_.resize(coarse_slots, -1);
  for (const int slot : fine().touched())
    if (fine().is_new(slot)) changed_fine_.add(slot);
  for (const Key key : coarse().changed()) {
    const Node* node = coarse().find(key);
    if (node == nullptr || (node->slot >= 0 && coarse().refined(node->slot) == 0)) continue;
    for (int octant = 0; octant < 8; ++octant)
      if (const Node* child = fine().find(child_key(key, octant)); child && child->slot >= 0)
        changed_fine_.add(child->slot);
  }
  for (const int slot : coarse().touched()) {
    if (!coarse().is_new(slot) || slot >= std::ssize(block_of_slot_) || block_of_slot_[slot] < 0)
      continue;
    const CoarseBlock& block = coarse_blocks_[block_of_slot_[slot]];
    for (int n = 0; n < block.count; ++n)
      if (!block.faces[n].is_received) changed_fine_.add(own_faces_[block.faces[n].number].fine);
  }
  for (const SentFace& face : sent_faces_) changed_fine_.add(face.fine);
  for (const SentChild& child : sent_children_) changed_fine_.add(child.slot);
}

void CoarseFineBoundary::clear_received() {
  for (std::size_t n = 0; n < octant_tasks_.size(); ++n)
    child_owners_[octant_tasks_[n].parent][octant_tasks_[n].octant] = -1;
  for (const ReceivedFace& face : received_faces_) remove_face(face.coarse, face.side);
  octant_tasks_.clear();
  received_faces_.clear();
}

void CoarseFineBoundary::release(int slot) {
  if (slot >= std::ssize(fine_blocks_) || fine_blocks_[slot].key == k_no_key) return;
  FineBlock& block = fine_blocks_[slot];
  if (block.parent >= 0) {
    child_owners_[block.parent][octant_of(block.key)] = -1;
    own_restrictions_.at(slot).child = -1;
  }
  for (int face = 0; face < 6; ++face)
    if (block.faces[face] != -1) release_face(slot, face);
  block = {};
}

void CoarseFineBoundary::release_face(int slot, int face) {
  rewritten_fine_.add(slot);
  const std::int32_t number = std::exchange(fine_blocks_[slot].faces[face], -1);
  if (number < 0) return;
  remove_face(own_faces_[number].coarse, own_faces_[number].side);
  free_faces_.push_back(number);
}

void CoarseFineBoundary::connect(int slot) {
  FineBlock& block = fine_blocks_[slot];
  block.key = fine().key(slot);
  block.faces.fill(-1);
  const Node* parent = coarse().find(parent_key(block.key));
  OCTANT_REQUIRE(parent, "mesh: a block of level {} has no parent", fine_level_);
  const int octant = octant_of(block.key);
  block.parent = parent->slot;
  if (parent->slot >= 0) {
    own_restrictions_.at(slot) = {slot, parent->slot, octant, 0};
    child_owners_[parent->slot][octant] = parent->owner;
  } else {
    sent_children_.push_back({parent->owner, block.key, slot});
  }
  for (int face = 0; face < 6; ++face)
    if (is_coarse_fine_face(slot, face)) connect_face(slot, face);
}

void CoarseFineBoundary::connect_face(int slot, int face) {
  FineBlock& block = fine_blocks_[slot];
  const int axis = face / 2, side = face % 2, octant = octant_of(block.key);
  // The octant beyond the face belongs to the parent or to a neighbour of the parent.
  Holder holder = block.parent;
  if ((octant >> axis & 1) == side && is_own(holder))
    holder = coarse().neighbours(holder)[k_face_neighbours[face]];
  const Side seen{static_cast<std::int8_t>(axis), static_cast<std::int8_t>(side),
                  static_cast<std::int8_t>(octant ^ 1 << axis)};
  rewritten_fine_.add(slot);
  if (!is_own(holder)) {
    const auto around = tree_.geometry().keys_around(fine_level_, block.key);
    const Key beside = parent_key(around[k_face_neighbours[face]]);
    const Node* node = coarse().find(beside);
    OCTANT_REQUIRE(node, "mesh: a block of level {} has no adjacent block of level {}", fine_level_,
                   fine_level_ - 1);
    if (node->slot < 0) {
      sent_faces_.push_back({node->owner, beside, seen, slot, face});
      return;
    }
    holder = node->slot;
  }
  auto number = static_cast<std::int32_t>(own_faces_.size());
  if (free_faces_.empty()) {
    own_faces_.emplace_back();
  } else {
    number = free_faces_.back();
    free_faces_.pop_back();
  }
  own_faces_[number] = {slot, holder, seen};
  block.faces[face] = number;
  add_face(holder, {seen, false, number});
}

void CoarseFineBoundary::add_face(int coarse_slot, const CoarseFace& face) {
  changed_coarse_.add(coarse_slot);
  std::int32_t& number = block_of_slot_[coarse_slot];
  if (number < 0) {
    if (free_blocks_.empty()) {
      number = static_cast<std::int32_t>(coarse_blocks_.size());
      coarse_blocks_.emplace_back();
    } else {
      number = free_blocks_.back();
      free_blocks_.pop_back();
    }
    coarse_blocks_[number].slot = coarse_slot;
  }
  CoarseBlock& block = coarse_blocks_[number];
  OCTANT_REQUIRE(block.count < k_max_faces, "mesh: a block of level {} has too many level jumps",
                 fine_level_ - 1);
  int n = block.count++;
  for (; n > 0 && face.side < block.faces[n - 1].side; --n) block.faces[n] = block.faces[n - 1];
  block.faces[n] = face;
}

void CoarseFineBoundary::remove_face(int coarse_slot, const Side& side) {
  changed_coarse_.add(coarse_slot);
  CoarseBlock& block = coarse_blocks_[block_of_slot_[coarse_slot]];
  const auto end = block.faces.begin() + block.count;
  const auto found = std::find_if(block.faces.begin(), end,
                                  [&](const CoarseFace& face) { return face.side == side; });
  std::copy(found + 1, end, found);
  --block.count;
}

// Sends the list of restricted octants to the owners of the parents.
void CoarseFineBoundary::send_list_of_children() {
  const auto before = [](const SentChild& a, const SentChild& b) { return a.order() < b.order(); };
  std::sort(sent_children_.begin(), sent_children_.end(), before);
  std::vector<Segment> sends, receives;
  std::vector<int> owners;
  std::vector<Key> keys;
  sent_restrictions_.clear();
  for (const SentChild& child : sent_children_) {
    const auto index = static_cast<std::int64_t>(keys.size());
    sent_restrictions_.push_back({child.slot, -1, octant_of(child.key), index * octant_values_});
    owners.push_back(child.owner);
    keys.push_back(child.key);
    count_items(sends, child.owner);
  }
  const auto announced = route<Key>(tree_.communicator(), owners, keys);
  for (std::size_t n = 0; n < announced.items.size(); ++n) {
    const Key key = announced.items[n];
    const int parent = coarse().find(parent_key(key))->slot, octant = octant_of(key);
    octant_tasks_.push_back({parent, octant, static_cast<std::int64_t>(n) * octant_values_});
    child_owners_[parent][octant] = announced.sources[n];
    count_items(receives, announced.sources[n]);
  }
  sent_restrictions_.upload();
  octant_tasks_.upload();
  octant_plan_ =
      std::make_unique<ExchangePlan>(tree_.communicator(), std::move(sends), std::move(receives));
  octant_buffers_ = SendBuffers(octant_plan_->items_sent() * octant_values_);
}

// Sends the list of fluxes to the owners of the coarse blocks.
void CoarseFineBoundary::send_list_of_faces() {
  struct Message {
    Key coarse;
    Side side;
  };
  const auto before = [](const SentFace& a, const SentFace& b) { return a.order() < b.order(); };
  std::sort(sent_faces_.begin(), sent_faces_.end(), before);
  std::vector<Segment> sends, receives;
  std::vector<int> owners;
  std::vector<Message> messages;
  for (const SentFace& face : sent_faces_) {
    fine_blocks_[face.fine].faces[face.face] = sent_face(static_cast<int>(messages.size()));
    owners.push_back(face.owner);
    messages.push_back({face.coarse, face.side});
    count_items(sends, face.owner);
  }
  const auto announced = route<Message>(tree_.communicator(), owners, messages);
  for (std::size_t n = 0; n < announced.items.size(); ++n) {
    const auto& [key, side] = announced.items[n];
    const int slot = coarse().find(key)->slot;
    received_faces_.push_back({slot, side});
    add_face(slot, {side, true, static_cast<std::int32_t>(n)});
    count_items(receives, announced.sources[n]);
  }
  face_plan_ =
      std::make_unique<ExchangePlan>(tree_.communicator(), std::move(sends), std::move(receives));
}

// Reserves registers. Registers of faces shared with other ranks follow those of own faces and are
// renumbered at every change.
void CoarseFineBoundary::reserve_registers() {
  if (std::ssize(own_faces_) > own_capacity_)
    own_capacity_ = with_spare_capacity(own_faces_.size());
  if (std::ssize(sent_faces_) > sent_capacity_)
    sent_capacity_ = with_spare_capacity(sent_faces_.size());
  if (std::ssize(received_faces_) > received_capacity_)
    received_capacity_ = with_spare_capacity(received_faces_.size());
}

std::int64_t CoarseFineBoundary::fine_register_offset(std::int32_t face) const {
  return (face >= 0 ? face : own_capacity_ + sent_face(face)) * face_values_;
}

// Returns the index of a face's register among the registers of the coarse level.
std::int32_t CoarseFineBoundary::coarse_register_index(const CoarseFace& face) const {
  return face.is_received ? static_cast<std::int32_t>(own_capacity_) + face.number : face.number;
}

void CoarseFineBoundary::write_corrections(int coarse_slot) {
  const std::int32_t number = block_of_slot_[coarse_slot];
  if (number < 0) return;
  CoarseBlock& block = coarse_blocks_[number];
  blocks_.resize(std::max(blocks_.size(), coarse_blocks_.size()));
  tasks_.resize(blocks_.size() * k_max_faces);
  const std::int32_t begin = number * k_max_faces;
  CorrectedBlock& corrected = blocks_.at(number) = {begin, begin + block.count, 0};
  for (int n = 0; n < block.count; ++n) {
    const CoarseFace& face = block.faces[n];
    const FluxRegisterFaces request = coarse_request(face.side);
    const bool is_above = face.side.side == 1;  // true if the cells lie above the face
    tasks_.at(begin + n) = {
        .slot = coarse_slot,
        .axis = face.side.axis,
        .sign = static_cast<std::int8_t>(is_above ? 1 : -1),
        .cell = static_cast<std::int16_t>(is_above ? request.plane : request.plane - 1),
        .a_begin = request.a_begin,
        .b_begin = request.b_begin,
        .fine = face.number,
        .coarse = coarse_register_index(face),
        .is_received = face.is_received};
    if (face.is_received) corrected.has_remote_fluxes = 1;
  }
  if (block.count > 0) {
    block.key = coarse().key(coarse_slot);
    return;
  }
  block = {};
  block_of_slot_[coarse_slot] = -1;
  free_blocks_.push_back(number);
}

void CoarseFineBoundary::append_fine_requests(int slot,
                                              std::vector<FluxRegisterFaces>& requests) const {
  if (slot >= std::ssize(fine_blocks_) || fine_blocks_[slot].key == k_no_key) return;
  const auto half = static_cast<std::int16_t>(layout_.block_size / 2);
  const auto full = static_cast<std::int16_t>(layout_.block_size);
  for (int f = 0; f < 6; ++f) {
    const std::int32_t face = fine_blocks_[slot].faces[f];
    if (face == -1) continue;
    requests.push_back({.axis = static_cast<std::int8_t>(f / 2),
                        .average = 1,
                        .plane = static_cast<std::int16_t>(f % 2 == 0 ? 0 : full),
                        .a_begin = 0,
                        .a_end = full,
                        .b_begin = 0,
                        .b_end = full,
                        .stride_b = half,
                        .stride_variable = half * half,
                        .base = fine_register_offset(face)});
  }
}

void CoarseFineBoundary::append_coarse_requests(int slot,
                                                std::vector<FluxRegisterFaces>& requests) const {
  if (slot >= std::ssize(block_of_slot_) || block_of_slot_[slot] < 0) return;
  const CoarseBlock& block = coarse_blocks_[block_of_slot_[slot]];
  for (int n = 0; n < block.count; ++n) {
    requests.push_back(coarse_request(block.faces[n].side));
    requests.back().base =
        coarse_begin_ + std::int64_t{coarse_register_index(block.faces[n])} * face_values_;
  }
}

// Request for the coarse fluxes of a side, without register. The faces are those at the octant's
// lower end if the fine block lies below, and at its upper end otherwise.
FluxRegisterFaces CoarseFineBoundary::coarse_request(const Side& side) const {
  return quarter_face(layout_, side.axis, side.octant, 1 - side.side);
}

void CoarseFineBoundary::clear_registers(const DeviceArray<double>& fine,
                                         const DeviceArray<double>& coarse) const {
  fill(Kokkos::subview(fine, std::pair<std::int64_t, std::int64_t>(0, fine_doubles())), 0.0);
  fill(Kokkos::subview(coarse, std::pair(coarse_begin_, coarse_begin_ + coarse_doubles())), 0.0);
}

void CoarseFineBoundary::send_octants(const double* children, Exchanger& exchanger) {
  if (alone_) return;
  double* message = octant_buffers_.free_buffer(exchanger);
  restrict_children(sent_restrictions_.on_device(), layout_, spin_, 1.0 / inverse_cell_size_,
                    children, nullptr, message);
  received_octants_ =
      uninitialised<double>("received octants", octant_plan_->items_received() * octant_values_);
  exchanger.start<double>(*octant_plan_, message, received_octants_.data(), octant_values_);
}

void CoarseFineBoundary::restrict_own(const double* children, double* parents) const {
  restrict_children(own_restrictions_.on_device(), layout_, spin_, 1.0 / inverse_cell_size_,
                    children, parents, nullptr);
}

void CoarseFineBoundary::receive_octants(double* parents, Exchanger& exchanger) {
  if (alone_) return;
  exchanger.finish_receives();
  unpack_octants(octant_tasks_.on_device(), layout_, received_octants_.data(), parents);
  received_octants_ = {};
}

void CoarseFineBoundary::send_fluxes(const Registers& registers, Exchanger& fluxes) {
  if (alone_) return;
  received_fluxes_ =
      uninitialised<double>("received registers", face_plan_->items_received() * face_values_);
  fluxes.start<double>(*face_plan_, registers.fine + own_capacity_ * face_values_,
                       received_fluxes_.data(), face_values_);
}

void CoarseFineBoundary::correct_own(const Registers& registers, double* coarse_blocks,
                                     const FaceFlow& flow) const {
  record_corrections(blocks_, false, face_values_);
  correct_fluxes(corrections(), false, layout_, spin_,
                 {registers.fine, nullptr, registers.coarse + coarse_begin_}, inverse_cell_size_,
                 coarse_blocks, flow);
}

void CoarseFineBoundary::receive_fluxes(const Registers& registers, double* coarse_blocks,
                                        const FaceFlow& flow, Exchanger& fluxes) {
  if (alone_) return;
  fluxes.finish_receives();
  record_corrections(blocks_, true, face_values_);
  correct_fluxes(corrections(), true, layout_, spin_,
                 {registers.fine, received_fluxes_.data(), registers.coarse + coarse_begin_},
                 inverse_cell_size_, coarse_blocks, flow);
  received_fluxes_ = {};
}

}  // namespace octant::mesh

#include "mesh/level_jump.hpp"

#include <algorithm>
#include <tuple>

#include "comm/route.hpp"
#include "core/error.hpp"
#include "mesh/device.hpp"

namespace octant::mesh {

namespace {

// A face of a fine block with a coarser block behind it.
struct JumpFace {
  int owner;                // of the coarse block
  Key coarse;               // the coarse block
  std::int32_t axis, side;  // of the fine block's face
  std::int32_t octant;      // of the coarse block, next to the face
  int fine_slot;

  auto order() const { return std::tuple(owner, coarse, axis, side, octant); }
};

// What the coarse block's owner is told of it.
struct JumpMessage {
  Key coarse;
  std::int32_t axis, side, octant;
};

std::vector<JumpFace> find_jump_faces(const Tree& tree, int level) {
  const TreeLevel& fine = tree.level(level);
  std::vector<JumpFace> faces;
  for (const int slot : fine.own()) {
    const Neighbours& holders = fine.neighbours(slot);
    for (int f = 0; f < 6; ++f) {
      const int axis = f / 2, side = f % 2;
      if (holders[k_face_neighbours[f]] != k_nobody) continue;
      const Key key = tree.geometry().keys_around(level, fine.key(slot))[k_face_neighbours[f]];
      if (key == k_no_key) continue;
      const Node* coarse = tree.level(level - 1).find(parent_key(key));
      OCTANT_REQUIRE(coarse, "mesh: a block of level {} has no block of level {} beside it", level,
                     level - 1);
      faces.push_back({coarse->owner, parent_key(key), axis, side, octant_of(key), slot});
    }
  }
  std::sort(faces.begin(), faces.end(),
            [](const JumpFace& a, const JumpFace& b) { return a.order() < b.order(); });
  return faces;
}

}  // namespace

LevelJump::LevelJump(const Tree& tree, int fine_level, const BlockLayout& layout,
                     LevelRegisters& fine, LevelRegisters& coarse,
                     std::vector<std::array<std::int32_t, 8>>& child_owners)
    : layout_(layout),
      inverse_cell_size_(1.0 / tree.geometry().cell_size(fine_level - 1)),
      alone_(tree.communicator().size() == 1) {
  const int half = layout.block_size / 2;
  face_values_ = half * half * layout.variables;
  octant_values_ = face_values_ * half;
  plan_restriction(tree, fine_level, child_owners);
  plan_correction(tree, fine_level, fine, coarse);
}

void LevelJump::plan_restriction(const Tree& tree, int fine_level,
                                 std::vector<std::array<std::int32_t, 8>>& child_owners) {
  const TreeLevel& fine = tree.level(fine_level);
  const TreeLevel& coarse = tree.level(fine_level - 1);
  const int rank = tree.communicator().rank();

  struct Child {
    int owner, parent;  // of the parent, and its slot
    Key key;
    int slot;
  };
  std::vector<Child> children;
  Key last_parent = k_no_key;  // siblings follow each other
  const Node* parent = nullptr;
  for (const int slot : fine.own()) {
    const Key key = fine.key(slot);
    if (parent_key(key) != last_parent) parent = coarse.find(last_parent = parent_key(key));
    OCTANT_REQUIRE(parent, "mesh: a block of level {} has no parent", fine_level);
    children.push_back({parent->owner, parent->slot, key, slot});
  }
  const auto by_owner = [](const Child& a, const Child& b) { return a.owner < b.owner; };
  if (!std::is_sorted(children.begin(), children.end(), by_owner))
    std::stable_sort(children.begin(), children.end(), by_owner);

  std::vector<RestrictionTask> sent_restrictions, own_restrictions;
  std::vector<Segment> sends, receives;
  std::vector<int> owners;
  std::vector<Key> keys;
  std::int64_t sent = 0;
  child_owners.assign(coarse.slots(), {-1, -1, -1, -1, -1, -1, -1, -1});
  for (const Child& child : children) {
    const int octant = octant_of(child.key);
    if (child.owner == rank) {
      own_restrictions.push_back({child.slot, child.parent, octant, 0});
      child_owners[child.parent][octant] = rank;
      continue;
    }
    sent_restrictions.push_back({child.slot, -1, octant, sent++ * octant_values_});
    owners.push_back(child.owner);
    keys.push_back(child.key);
    count_items(sends, child.owner);
  }
  const auto announced = route<Key>(tree.communicator(), owners, keys);
  std::vector<OctantTask> octants;
  for (std::size_t n = 0; n < announced.items.size(); ++n) {
    const Key key = announced.items[n];
    const int parent = coarse.find(parent_key(key))->slot, octant = octant_of(key);
    octants.push_back({parent, octant, static_cast<std::int64_t>(n) * octant_values_});
    child_owners[parent][octant] = announced.sources[n];
    count_items(receives, announced.sources[n]);
  }
  sent_restrictions_ = to_device("restriction tasks", sent_restrictions);
  own_restrictions_ = to_device("restriction tasks", own_restrictions);
  octants_ = to_device("octant tasks", octants);
  octant_plan_ =
      std::make_unique<ExchangePlan>(tree.communicator(), std::move(sends), std::move(receives));
  octant_buffers_ = SendBuffers(octant_plan_->items_sent() * octant_values_);
}

void LevelJump::plan_correction(const Tree& tree, int fine_level, LevelRegisters& fine,
                                LevelRegisters& coarse) {
  const TreeLevel& coarse_blocks = tree.level(fine_level - 1);
  const auto half = static_cast<std::int16_t>(layout_.block_size / 2);
  const auto full = static_cast<std::int16_t>(layout_.block_size);
  const std::vector<JumpFace> faces = find_jump_faces(tree, fine_level);
  fine_begin_ = fine.doubles;
  coarse_begin_ = coarse.doubles;

  std::vector<int> owners;
  std::vector<JumpMessage> messages;
  std::vector<Segment> sends, receives;
  for (std::size_t n = 0; n < faces.size(); ++n) {
    const JumpFace& face = faces[n];
    fine.requests.push_back({face.fine_slot,
                             {.axis = static_cast<std::int8_t>(face.axis),
                              .average = 1,
                              .plane = static_cast<std::int16_t>(face.side == 0 ? 0 : full),
                              .a_begin = 0,
                              .a_end = full,
                              .b_begin = 0,
                              .b_end = full,
                              .stride_b = half,
                              .stride_variable = half * half,
                              .base = fine_begin_ + static_cast<std::int64_t>(n) * face_values_}});
    owners.push_back(face.owner);
    messages.push_back({face.coarse, face.axis, face.side, face.octant});
    count_items(sends, face.owner);
  }
  const auto announced = route<JumpMessage>(tree.communicator(), owners, messages);

  // A coarse block's faces, those of blocks that touch own fine blocks alone first.
  struct Ordered {
    JumpMessage face;
    std::int64_t received, own;  // its index among arrivals; among own faces, or -1
    bool is_own;                 // all faces of the block are

    auto order() const {
      return std::tuple(!is_own, face.coarse, face.axis, face.side, face.octant);
    }
  };
  const int rank = tree.communicator().rank();
  auto next_own = std::find(owners.begin(), owners.end(), rank) - owners.begin();
  KeyTable<bool> others;  // coarse blocks with a face of another rank
  std::vector<Ordered> jumps;
  for (std::size_t n = 0; n < announced.items.size(); ++n) {
    const bool is_own = announced.sources[n] == rank;
    if (!is_own && !others.contains(announced.items[n].coarse))
      others.insert(announced.items[n].coarse, true);
    jumps.push_back(
        {announced.items[n], static_cast<std::int64_t>(n), is_own ? next_own++ : -1, false});
    count_items(receives, announced.sources[n]);
  }
  for (Ordered& jump : jumps) jump.is_own = !others.contains(jump.face.coarse);
  std::sort(jumps.begin(), jumps.end(),
            [](const Ordered& a, const Ordered& b) { return a.order() < b.order(); });
  std::vector<std::int32_t> begin{0};
  std::size_t own_blocks = 0;
  std::vector<CorrectionTask> corrections;
  for (std::size_t n = 0; n < jumps.size(); ++n) {
    const JumpMessage& face = jumps[n].face;
    const int slot = coarse_blocks.find(face.coarse)->slot;
    const auto corner = [&](int axis) {
      return static_cast<std::int16_t>((face.octant >> axis & 1) * half);
    };
    const int a = face.axis == 0 ? 1 : 0, b = face.axis == 2 ? 1 : 2;
    // The face is the octant's lower one if the fine block lies below (its upper side), and vice
    // versa.
    const auto plane = static_cast<std::int16_t>(corner(face.axis) + (face.side == 1 ? 0 : half));
    coarse.requests.push_back(
        {slot,
         {.axis = static_cast<std::int8_t>(face.axis),
          .average = 0,
          .plane = plane,
          .a_begin = corner(a),
          .a_end = static_cast<std::int16_t>(corner(a) + half),
          .b_begin = corner(b),
          .b_end = static_cast<std::int16_t>(corner(b) + half),
          .stride_b = half,
          .stride_variable = half * half,
          .base = coarse_begin_ + static_cast<std::int64_t>(n) * face_values_}});
    if (n > 0 && face.coarse != jumps[n - 1].face.coarse)
      begin.push_back(static_cast<std::int32_t>(n));
    if (jumps[n].is_own) own_blocks = begin.size();
    corrections.push_back(
        {.slot = slot,
         .axis = static_cast<std::int8_t>(face.axis),
         .sign = static_cast<std::int8_t>(face.side == 1 ? 1 : -1),
         .cell = static_cast<std::int16_t>(face.side == 1 ? plane : plane - 1),
         .a_begin = corner(a),
         .b_begin = corner(b),
         .fine = (jumps[n].is_own ? jumps[n].own : jumps[n].received) * face_values_,
         .coarse = static_cast<std::int64_t>(n) * face_values_});
  }
  if (!jumps.empty()) begin.push_back(static_cast<std::int32_t>(jumps.size()));
  const auto own_end = begin.begin() + static_cast<std::ptrdiff_t>(own_blocks);
  corrections_ = {to_device("corrected blocks", begin), to_device("correction tasks", corrections)};
  own_corrections_ = {to_device("corrected blocks", std::vector(begin.begin(), own_end + 1)),
                      corrections_.tasks};
  late_corrections_ = {to_device("corrected blocks", std::vector(own_end, begin.end())),
                       corrections_.tasks};
  face_plan_ =
      std::make_unique<ExchangePlan>(tree.communicator(), std::move(sends), std::move(receives));
  fine_end_ = fine.doubles += static_cast<std::int64_t>(faces.size()) * face_values_;
  coarse_end_ = coarse.doubles += static_cast<std::int64_t>(jumps.size()) * face_values_;
}

void LevelJump::clear_registers(const DeviceArray<double>& fine,
                                const DeviceArray<double>& coarse) const {
  fill(Kokkos::subview(fine, std::pair(fine_begin_, fine_end_)), 0.0);
  fill(Kokkos::subview(coarse, std::pair(coarse_begin_, coarse_end_)), 0.0);
}

void LevelJump::send_octants(const double* children, Exchanger& octants) {
  if (alone_) return;
  double* message = octant_buffers_.take_free(octants);
  restrict_children(sent_restrictions_, layout_, children, nullptr, message);
  received_octants_ =
      uninitialised<double>("received octants", octant_plan_->items_received() * octant_values_);
  Kokkos::fence();
  octants.start<double>(*octant_plan_, message, received_octants_.data(), octant_values_);
}

void LevelJump::restrict_own(const double* children, double* parents) const {
  restrict_children(own_restrictions_, layout_, children, parents, nullptr);
}

void LevelJump::receive_octants(double* parents, Exchanger& octants) {
  if (alone_) return;
  octants.finish_receives();
  unpack_octants(octants_, layout_, received_octants_.data(), parents);
  received_octants_ = {};
}

void LevelJump::send_fluxes(const Registers& registers, Exchanger& fluxes) {
  if (alone_) return;
  received_fluxes_ =
      uninitialised<double>("received registers", face_plan_->items_received() * face_values_);
  Kokkos::fence();
  fluxes.start<double>(*face_plan_, registers.fine + fine_begin_, received_fluxes_.data(),
                       face_values_);
}

void LevelJump::correct_own(const Registers& registers, double* coarse_blocks) const {
  correct_fluxes(own_corrections_, layout_, registers.fine + fine_begin_,
                 registers.coarse + coarse_begin_, inverse_cell_size_, coarse_blocks);
}

void LevelJump::receive_fluxes(const Registers& registers, double* coarse_blocks,
                               Exchanger& fluxes) {
  if (alone_) return;
  fluxes.finish_receives();
  correct_fluxes(late_corrections_, layout_, received_fluxes_.data(),
                 registers.coarse + coarse_begin_, inverse_cell_size_, coarse_blocks);
  received_fluxes_ = {};
}

}  // namespace octant::mesh

#include "mesh/fields.hpp"

#include <algorithm>

#include "mesh/device.hpp"

namespace octant::mesh {

namespace {

// Padding in doubles between two variables of a block. Without padding, the same cell of every
// variable of an 8^3 block would map to the same set of the L1 cache.
constexpr int padding(int block_size) { return block_size >= 8 ? 8 : 0; }

// Capacity with a margin, so that few regrids reallocate a level.
int with_spare_capacity(int slots) { return slots + slots / 4 + 8; }

}  // namespace

BlockLayout::BlockLayout(int block_size, int variables, int others)
    : block_size(block_size),
      variables(variables),
      swept(variables - others),
      stride_variable(block_size * block_size * block_size + padding(block_size)),
      stride_slot(static_cast<std::int64_t>(stride_variable) * variables) {}

CellBox BlockLayout::box(std::int64_t slot) const {
  return {slot * stride_slot, block_size, block_size * block_size, stride_variable, k_own};
}

DeviceArray<double> allocate_with_margin(const std::string& label, std::int64_t doubles) {
  auto memory = uninitialised<double>(label, doubles + 2 * k_margin);
  fill(memory, 1.0);
  return memory;
}

LevelFields::LevelFields(BlockLayout layout, int spares) : layout_(layout), states_(1 + spares) {}

void LevelFields::commit(int spare) {
  std::swap(states_[k_now], states_[spare]);
  old_ = spare;
}

void LevelFields::reserve(int slots, int slots_in_use) {
  if (slots <= capacity_) return;
  capacity_ = with_spare_capacity(slots);
  const std::int64_t doubles = capacity_ * layout_.stride_slot + k_margin;
  for (std::size_t s = 1; s < states_.size(); ++s) states_[s].blocks = {};
  move_current_state(doubles, slots_in_use);
  for (std::size_t s = 1; s < states_.size(); ++s)
    states_[s].blocks = uninitialised<double>("blocks", doubles);
}

void LevelFields::move_current_state(std::int64_t doubles, int slots_in_use) {
  auto moved = uninitialised<double>("blocks", doubles);
  if (slots_in_use > 0) {
    const auto used = std::make_pair(std::int64_t{0}, slots_in_use * layout_.stride_slot);
    copy_within(Kokkos::subview(moved, used), Kokkos::subview(states_[k_now].blocks, used));
  }
  states_[k_now].blocks = moved;
}

void LevelFields::leave_shared(int slots_in_use) {
  const auto doubles = static_cast<std::int64_t>(present().extent(0));
  if (present().use_count() > 1) move_current_state(doubles, slots_in_use);
}

void LevelFields::resize_halo(std::int64_t doubles) {
  if (doubles <= halo_doubles_ && 2 * doubles >= halo_doubles_) return;
  halo_doubles_ = doubles;
  for (State& state : states_) {
    state.halo = {};
    state.halo = allocate_with_margin("halo", doubles);
  }
}

std::int64_t LevelFields::bytes_in_use(int slots) const {
  const std::int64_t doubles = slots * layout_.stride_slot + halo_doubles_;
  return states() * doubles * static_cast<std::int64_t>(sizeof(double));
}

}  // namespace octant::mesh

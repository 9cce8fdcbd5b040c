// KeyTable: values of blocks by Morton key.
//
// Open-addressing hash table with linear probing (cuRAMSES paper, appendix B): a power of two of
// slots, at most 70 % of them filled, doubled when that is reached. A mesh has one table per level.
// Erasing moves the following entries back instead of leaving a tombstone, so repeated refinement
// does not slow the table down.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "decomp/morton.hpp"

namespace octant {

// Maps keys to small values. Look-up, insertion and removal take O(1). Pointers and iterators are
// valid until the next insertion or removal. The order of iteration depends on the table's history:
// sort by key where the order can affect a result. Not thread-safe, except for concurrent look-ups.
template <class Value>
class KeyTable {
  static_assert(std::is_trivially_copyable_v<Value>);

 public:
  // Filled slot.
  struct Entry {
    Key key = k_no_key;
    Value value{};
  };

  // Visits the filled slots.
  class Iterator {
   public:
    Iterator(const Entry* at, const Entry* end) : at_(at), end_(end) { skip_empty(); }
    const Entry& operator*() const { return *at_; }
    const Entry* operator->() const { return at_; }
    Iterator& operator++() {
      ++at_;
      skip_empty();
      return *this;
    }
    bool operator==(const Iterator& other) const { return at_ == other.at_; }

   private:
    void skip_empty() {
      while (at_ != end_ && at_->key == k_no_key) ++at_;
    }
    const Entry* at_;
    const Entry* end_;
  };

  // Number of keys.
  std::size_t size() const { return size_; }
  // True if there are no keys.
  bool empty() const { return size_ == 0; }

  // Number of slots, 0 or a power of two.
  std::size_t capacity() const { return slots_.size(); }

  // Bytes of memory held.
  std::size_t size_bytes() const { return slots_.capacity() * sizeof(Entry); }

  // Iterator to the first filled slot.
  Iterator begin() const { return {slots_.data(), slots_.data() + slots_.size()}; }
  // Iterator past the last slot.
  Iterator end() const {
    const Entry* last = slots_.data() + slots_.size();
    return {last, last};
  }

  // Returns the value stored for `key`, or nullptr.
  const Value* find(Key key) const {
    if (slots_.empty()) return nullptr;
    const Entry& slot = slots_[slot_of(key)];
    return slot.key == key ? &slot.value : nullptr;
  }
  // Returns the value stored for `key`, for writing, or nullptr.
  Value* find(Key key) { return const_cast<Value*>(std::as_const(*this).find(key)); }

  // True if the key is stored.
  bool contains(Key key) const { return find(key) != nullptr; }

  // Stores `value` for `key`, replacing an earlier value. `key` must not be k_no_key.
  void insert(Key key, const Value& value) {
    reserve(size_ + 1);
    Entry& slot = slots_[slot_of(key)];
    size_ += slot.key == k_no_key;
    slot = {key, value};
  }

  // Removes `key`; returns false if it was not stored.
  bool erase(Key key) {
    if (slots_.empty()) return false;
    std::size_t hole = slot_of(key);
    if (slots_[hole].key == k_no_key) return false;
    close(hole);
    --size_;
    return true;
  }

  // Removes all keys and frees the memory.
  void clear() {
    slots_ = std::vector<Entry>();
    size_ = 0;
  }

  // Reserves space for `count` keys, so that insertions up to this number move no entries.
  void reserve(std::size_t count) {
    std::size_t wanted = slots_.empty() ? k_smallest_capacity : slots_.size();
    while (too_full(count, wanted)) wanted *= 2;
    if (wanted != slots_.size()) rehash(wanted);
  }

 private:
  static constexpr std::size_t k_smallest_capacity = 16;

  static bool too_full(std::size_t count, std::size_t capacity) {
    return 10 * count > 7 * capacity;
  }

  // Multiplicative hash. The leading bits of the product are the slot, because they depend on all
  // bits of the key. The upper half of wide keys is first combined with the lower half.
  std::size_t home_of(Key key) const {
    const auto upper = static_cast<std::uint64_t>(key >> 32 >> 32);  // 0 for a 64-bit key
    std::uint64_t h = static_cast<std::uint64_t>(key) ^ upper * 0xd6e8feb86659fd93;
    h ^= h >> 32;
    return static_cast<std::size_t>((h * 0x9e3779b97f4a7c15) >> shift_);
  }

  // Slot that holds `key`, or the empty one for its insertion.
  std::size_t slot_of(Key key) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t s = home_of(key);
    while (slots_[s].key != key && slots_[s].key != k_no_key) s = (s + 1) & mask;
    return s;
  }

  // Empties the slot `hole`. Moves back each later entry of the run that was probed past the hole.
  void close(std::size_t hole) {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t s = (hole + 1) & mask; slots_[s].key != k_no_key; s = (s + 1) & mask) {
      const std::size_t probed = (s - home_of(slots_[s].key)) & mask;
      if (probed >= ((s - hole) & mask)) {
        slots_[hole] = slots_[s];
        hole = s;
      }
    }
    slots_[hole] = Entry{};
  }

  void rehash(std::size_t capacity) {
    std::vector<Entry> old = std::exchange(slots_, std::vector<Entry>(capacity));
    shift_ = 64 - std::countr_zero(capacity);
    for (const Entry& entry : old) {
      if (entry.key != k_no_key) slots_[slot_of(entry.key)] = entry;
    }
  }

  std::vector<Entry> slots_;
  std::size_t size_ = 0;
  int shift_ = 64;
};

}  // namespace octant

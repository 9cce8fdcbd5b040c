#include "core/memory_account.hpp"

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <mutex>
#include <numeric>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/memory.hpp"

namespace octant {

namespace {

// Arrays of fewer bytes count in full; the pages of larger ones are looked at.
constexpr std::int64_t k_large = std::int64_t{1} << 20;

std::int64_t resident_bytes(const void* memory, std::int64_t bytes) {
  if (bytes < k_large) return bytes;
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = (reinterpret_cast<std::uintptr_t>(memory) + page - 1) / page * page;
  const auto pages = (reinterpret_cast<std::uintptr_t>(memory) + bytes - begin) / page;
  std::vector<unsigned char> state(pages);
  if (mincore(reinterpret_cast<void*>(begin), pages * page, state.data()) != 0) return bytes;
  return static_cast<std::int64_t>(page) *
         std::count_if(state.begin(), state.end(), [](unsigned char s) { return (s & 1) != 0; });
}

struct Heap {
  std::int64_t used = 0, unused = 0;
};

Heap heap() {
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
  const auto info = mallinfo2();
  return {static_cast<std::int64_t>(info.uordblks + info.hblkhd),
          static_cast<std::int64_t>(info.fordblks)};
#else
  return {};
#endif
}

class Ledger {
 public:
  void start() {
    const std::scoped_lock lock(mutex_);
    at_start_ = memory_use().current;
    heap_at_start_ = heap().used;
    has_started_ = true;
  }
  void add(const char* label, const void* memory, std::int64_t bytes, bool on_device) {
    const std::scoped_lock lock(mutex_);
    if (!has_started_) return;
    arrays_[memory] = {&*labels_.emplace(Label{on_device, label}, 0).first, bytes};
    total(on_device) += bytes;
    device_.peak = std::max(device_.peak, device_.current);
  }
  // What has just been made is not touched yet; when something goes, the rest is.
  void remove(const void* memory) {
    const std::scoped_lock lock(mutex_);
    const auto found = arrays_.find(memory);
    if (found == arrays_.end()) return;
    const std::int64_t all = total_ + device_.current;
    if (all > most_ + most_ / 100) take_account();
    total(found->second.labelled->first.on_device) -= found->second.bytes;
    arrays_.erase(found);
  }
  MemoryAccount at_peak() {
    const std::scoped_lock lock(mutex_);
    // Arrays may have been touched since.
    const bool is_new = total_ + device_.current > most_ || memory_use().current > peak_.resident;
    if (has_started_ && is_new) take_account();
    return peak_;
  }
  MemoryUse of_device() {
    const std::scoped_lock lock(mutex_);
    return device_;
  }

 private:
  struct Label {
    bool on_device;
    std::string text;
    auto operator<=>(const Label&) const = default;
  };
  using Labels = std::map<Label, std::int64_t>;
  struct Array {
    Labels::value_type* labelled;
    std::int64_t bytes;
  };

  std::int64_t& total(bool on_device) { return on_device ? device_.current : total_; }

  void take_account() {
    most_ = std::max(most_, total_ + device_.current);
    for (auto& labelled : labels_) labelled.second = 0;
    for (const auto& [memory, array] : arrays_)
      array.labelled->second +=
          array.labelled->first.on_device ? array.bytes : resident_bytes(memory, array.bytes);
    const Heap now = heap();
    peak_ = {.resident = memory_use().current,
             .at_start = at_start_,
             .arrays = {},
             .lists = now.used - heap_at_start_ - total_,
             .unused_heap = now.unused};
    for (const auto& [label, bytes] : labels_)
      if (bytes > 0) peak_.arrays.push_back({label.text, bytes, label.on_device});
    std::sort(peak_.arrays.begin(), peak_.arrays.end(),
              [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  }

  std::mutex mutex_;
  bool has_started_ = false;
  std::int64_t at_start_ = 0, heap_at_start_ = 0, total_ = 0, most_ = 0;
  MemoryUse device_;
  Labels labels_;
  std::unordered_map<const void*, Array> arrays_;
  MemoryAccount peak_;
};

// Hooks of libraries, from which arrays are counted, pass nothing that we could give them.
Ledger& ledger() {
  static Ledger the_ledger;
  return the_ledger;
}

}  // namespace

std::int64_t MemoryAccount::others() const {
  const std::int64_t of_arrays = std::accumulate(
      arrays.begin(), arrays.end(), std::int64_t{0},
      [](std::int64_t sum, const Arrays& a) { return a.on_device ? sum : sum + a.bytes; });
  return resident - at_start - of_arrays - lists - unused_heap;
}

void start_memory_account() { ledger().start(); }

void count_array(const char* label, const void* memory, std::int64_t bytes, bool on_device) {
  ledger().add(label, memory, bytes, on_device);
}

void forget_array(const void* memory) { ledger().remove(memory); }

MemoryAccount memory_account_at_peak() { return ledger().at_peak(); }

MemoryUse device_memory_use() { return ledger().of_device(); }

}  // namespace octant

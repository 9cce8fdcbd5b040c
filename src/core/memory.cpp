#include "core/memory.hpp"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

namespace octant {

namespace {

constexpr std::int64_t k_unlimited = std::numeric_limits<std::int64_t>::max();

// Returns the number at the start of a file; unlimited if there is no such file or number.
std::int64_t limit_in(const std::filesystem::path& path) {
  std::int64_t bytes = k_unlimited;
  std::ifstream file(path);
  return file >> bytes ? bytes : k_unlimited;
}

std::int64_t machine_memory(const std::string& root) {
  std::ifstream info(root + "/proc/meminfo");
  for (std::string line; std::getline(info, line);) {
    std::istringstream words(line);
    std::string name;
    std::int64_t kilobytes = 0;
    if (words >> name >> kilobytes && name == "MemTotal:") return kilobytes * 1024;
  }
  return k_unlimited;
}

// Minimum limit of a control group and its parents, of which containers may show the outermost.
std::int64_t group_limit(const std::filesystem::path& hierarchy, const std::string& group,
                         const char* file) {
  std::int64_t least = limit_in(hierarchy / file);
  std::filesystem::path directory = hierarchy;
  for (const auto& part : std::filesystem::path(group).relative_path())
    least = std::min(least, limit_in((directory /= part) / file));
  return least;
}

}  // namespace

std::int64_t memory_limit(const std::string& root) {
  std::int64_t least = machine_memory(root);
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {  // number:controllers:group
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    if (controllers.empty())
      least = std::min(least, group_limit(root + "/sys/fs/cgroup", group, "memory.max"));
    else if (("," + controllers + ",").find(",memory,") != std::string::npos)
      least = std::min(least,
                       group_limit(root + "/sys/fs/cgroup/memory", group, "memory.limit_in_bytes"));
  }
  return least;
}

MemoryUse memory_use() {
  MemoryUse use;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with("Vm")) continue;
    std::istringstream words(line);
    std::string name;
    std::int64_t kilobytes = 0;
    words >> name >> kilobytes;
    if (name == "VmRSS:") use.current = kilobytes * 1024;
    if (name == "VmHWM:") use.peak = kilobytes * 1024;
  }
  return use;
}

void return_freed_memory_to_system() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 256 * 1024);  // a fixed threshold, because the default one grows
  mallopt(M_TRIM_THRESHOLD, 1024 * 1024);
#endif
}

void trim_heap() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

namespace {

// Minimum size of arrays whose resident pages are counted; smaller ones count in full.
constexpr std::int64_t k_large = std::int64_t{1} << 20;

std::int64_t resident_bytes(const void* memory, std::int64_t bytes) {
  if (bytes < k_large) return bytes;
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  auto space = static_cast<std::size_t>(bytes);
  void* begin = const_cast<void*>(memory);  // mincore() does not change the array
  if (std::align(page, page, begin, space) == nullptr) return bytes;
  const std::size_t pages = space / page;
  std::vector<unsigned char> state(pages);
  if (mincore(begin, pages * page, state.data()) != 0) return bytes;
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
  // Updates peak_ before an array is removed, because new arrays are not resident until they are
  // touched.
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
    // More pages of the arrays may have become resident since the last update of peak_.
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

// Global, because Kokkos' allocation hooks pass no user data.
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

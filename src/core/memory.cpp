#include "core/memory.hpp"

#include <malloc.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

namespace octant {

namespace {

constexpr std::int64_t k_unlimited = std::numeric_limits<std::int64_t>::max();

// The number that a file begins with; unlimited where there is no such file or number.
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

// The least limit of a control group and of those around it; a container may see no more than the
// outermost one.
std::int64_t group_limit(const std::filesystem::path& hierarchy, const std::string& group,
                         const char* file) {
  std::int64_t least = limit_in(hierarchy / file);
  std::filesystem::path place = hierarchy;
  for (const auto& part : std::filesystem::path(group).relative_path())
    least = std::min(least, limit_in((place /= part) / file));
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
  mallopt(M_MMAP_THRESHOLD, 256 * 1024);  // setting it ends its automatic growth
  mallopt(M_TRIM_THRESHOLD, 1024 * 1024);
#endif
}

void trim_heap() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

}  // namespace octant

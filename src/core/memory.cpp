#include "core/memory.hpp"

#include <malloc.h>

#include <fstream>
#include <sstream>
#include <string>

namespace octant {

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

}  // namespace octant

#include "core/clock.hpp"

#include <fstream>
#include <sstream>
#include <string>

namespace octant {

MemoryUse memory_use() {
  MemoryUse use;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    std::istringstream words(line);
    std::string name;
    std::int64_t kilobytes = 0;
    words >> name >> kilobytes;
    if (name == "VmRSS:") use.current = kilobytes * 1024;
    if (name == "VmHWM:") use.peak = kilobytes * 1024;
  }
  return use;
}

}  // namespace octant

#include "core/observer.hpp"

#include <array>
#include <chrono>

namespace octant {

std::string_view to_string(Phase phase) {
  constexpr std::array<std::string_view, k_phases> k_names{
      "compute",    "pack",   "send",      "wait", "unpack",
      "collective", "regrid", "rebalance", "io",   "other"};
  return k_names[static_cast<std::size_t>(phase)];
}

std::string_view to_string(Cargo cargo) {
  constexpr std::array<std::string_view, k_cargoes> k_names{
      "fields", "particles", "messages", "lists", "numbers", "tables", "files"};
  return k_names[static_cast<std::size_t>(cargo)];
}

std::string_view to_string(Way way) { return way == Way::to_host ? "to_host" : "to_device"; }

std::int64_t Observer::now() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

}  // namespace octant

// Copies of exchanged bytes: the one place that has to know in which memory the buffers lie.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

namespace octant {

// The buffers must not overlap. Null pointers are allowed with 0 bytes.
inline void copy_payload(std::byte* to, const std::byte* from, std::size_t bytes) {
  if (bytes > 0) std::memcpy(to, from, bytes);
}

// The items whose bytes these are.
template <class T>
requires std::is_trivially_copyable_v<T> std::vector<T> items_of(std::span<const std::byte> bytes) {
  std::vector<T> items(bytes.size() / sizeof(T));
  copy_payload(reinterpret_cast<std::byte*>(items.data()), bytes.data(), bytes.size());
  return items;
}

}  // namespace octant

// The one place where comm/ copies exchanged data, so that it can learn about device memory.
#pragma once

#include <cstddef>
#include <cstring>

namespace octant {

// The buffers must not overlap; no bytes may come with null pointers.
inline void copy_payload(std::byte* to, const std::byte* from, std::size_t bytes) {
  if (bytes > 0) std::memcpy(to, from, bytes);
}

}  // namespace octant

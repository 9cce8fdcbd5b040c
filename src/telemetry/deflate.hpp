// Bytes made fewer by zlib, in gzip's format.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace octant::telemetry {

// Whether this program was built with zlib (OCTANT_ZLIB). Without it, the functions throw RunError.
bool deflate_is_available();

// `effort` from 1 (fast) to 9 (small).
std::vector<std::byte> deflated(std::span<const std::byte> bytes, int effort);

// `size`: how many bytes there were. Throws RunError if the bytes are damaged.
std::vector<std::byte> inflated(std::span<const std::byte> bytes, std::size_t size);

}  // namespace octant::telemetry

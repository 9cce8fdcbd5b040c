// CRC-32C (Castagnoli), the checksum of iSCSI, ext4 and others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace octant {

// The CRC of these bytes; 0 of none. Any single flipped bit changes it.
std::uint32_t crc32c(std::span<const std::byte> bytes);

// What bytes with the CRC `crc` contribute to that of a longer text, in which `count` more bytes
// follow them: crc32c(a + b) = crc32c_followed(crc32c(a), size of b) ^ crc32c(b). Parts of a text
// may therefore be summed anywhere, in any order.
std::uint32_t crc32c_followed(std::uint32_t crc, std::int64_t count);

}  // namespace octant

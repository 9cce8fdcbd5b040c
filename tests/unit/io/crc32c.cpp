#include "io/checksums.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string_view>
#include <vector>

namespace octant {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

std::vector<std::byte> random_bytes(std::size_t count) {
  std::mt19937 random;
  std::vector<std::byte> bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

// RFC 3720, appendix B.4, and the check value of the catalogues of CRCs.
TEST(Crc32c, is_the_published_one) {
  EXPECT_EQ(crc32c({}), 0u);
  EXPECT_EQ(crc32c(bytes_of("123456789")), 0xe3069283u);
  EXPECT_EQ(crc32c(std::vector<std::byte>(32)), 0x8a9136aau);
  EXPECT_EQ(crc32c(std::vector<std::byte>(32, std::byte{0xff})), 0x62a8ab43u);
}

// Lanes of 21840 and 680 bytes, words and single bytes take part in turn.
TEST(Crc32c, of_a_whole_is_the_sum_of_what_its_parts_contribute) {
  const auto bytes = random_bytes(150'001);
  const std::span<const std::byte> whole(bytes);
  for (const std::size_t cut : {0, 1, 8, 17, 2039, 2040, 65535, 65536, 131072, 150'000, 150'001}) {
    const auto first = whole.first(cut), second = whole.subspan(cut);
    EXPECT_EQ(crc32c(whole), crc32c_followed(crc32c(first), std::ssize(second)) ^ crc32c(second));
  }
}

TEST(Crc32c, tells_every_single_flipped_bit) {
  auto bytes = random_bytes(70'000);
  const std::uint32_t whole = crc32c(bytes);
  for (std::size_t bit = 0; bit < 8 * bytes.size(); bit += 1009) {
    bytes[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    EXPECT_NE(crc32c(bytes), whole);
    bytes[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
  }
}

}  // namespace
}  // namespace octant

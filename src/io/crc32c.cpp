#include "io/crc32c.hpp"

#include <array>
#include <cstring>

#ifdef __x86_64__
#include <nmmintrin.h>
#endif

// CRCs are polynomials over GF(2) modulo P, the coefficient of x^0 in the highest bit. To append a
// byte is to multiply by x^8.
namespace octant {
namespace {

constexpr std::uint32_t k_polynomial = 0x82f63b78;
constexpr std::uint32_t k_one = std::uint32_t{1} << 31;

constexpr std::uint32_t times_x(std::uint32_t a) { return a >> 1 ^ (a & 1 ? k_polynomial : 0); }

constexpr std::uint32_t product(std::uint32_t a, std::uint32_t b) {
  std::uint32_t sum = 0;
  for (std::uint32_t term = k_one; term != 0; term >>= 1, b = times_x(b)) sum ^= a & term ? b : 0;
  return sum;
}

// x^8, x^16, x^32, ...
constexpr std::array<std::uint32_t, 63> k_powers = [] {
  std::array<std::uint32_t, 63> powers{k_one >> 8};
  for (std::size_t n = 1; n < powers.size(); ++n) powers[n] = product(powers[n - 1], powers[n - 1]);
  return powers;
}();

constexpr std::uint32_t power_of_bytes(std::int64_t count) {
  std::uint32_t power = k_one;
  for (std::size_t n = 0; count != 0; ++n, count >>= 1)
    if (count & 1) power = product(power, k_powers[n]);
  return power;
}

// What each value of a register's lowest byte becomes when it is shifted out.
constexpr std::array<std::uint32_t, 256> k_bytes = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t n = 0; n < table.size(); ++n) {
    table[n] = n;
    for (int bit = 0; bit < 8; ++bit) table[n] = times_x(table[n]);
  }
  return table;
}();

std::uint32_t append_bytes(std::uint32_t state, const std::byte* at, const std::byte* end) {
  for (; at != end; ++at)
    state = state >> 8 ^ k_bytes[(state ^ static_cast<std::uint32_t>(*at)) & 0xff];
  return state;
}

#ifdef __x86_64__

std::uint64_t word(const std::byte* at) {
  std::uint64_t value;
  std::memcpy(&value, at, sizeof(value));
  return value;
}

// Three lanes side by side, because the instruction takes three cycles and one can start in each.
// Returns where less than three lanes are left.
template <std::int64_t lane>
__attribute__((target("sse4.2"))) const std::byte* append_lanes(std::uint32_t& state,
                                                                const std::byte* at,
                                                                const std::byte* end) {
  constexpr std::uint32_t k_lane = power_of_bytes(lane);
  for (; end - at >= 3 * lane; at += 3 * lane) {
    std::uint64_t a = state, b = 0, c = 0;
    for (std::int64_t n = 0; n < lane; n += 8) {
      a = _mm_crc32_u64(a, word(at + n));
      b = _mm_crc32_u64(b, word(at + lane + n));
      c = _mm_crc32_u64(c, word(at + 2 * lane + n));
    }
    state = product(k_lane, static_cast<std::uint32_t>(a)) ^ static_cast<std::uint32_t>(b);
    state = product(k_lane, state) ^ static_cast<std::uint32_t>(c);
  }
  return at;
}

__attribute__((target("sse4.2"))) std::uint32_t append_words(std::uint32_t state,
                                                             const std::byte* at,
                                                             const std::byte* end) {
  at = append_lanes<21840>(state, at, end);  // of 64 KiB, all but 16 bytes
  at = append_lanes<680>(state, at, end);
  for (; end - at >= 8; at += 8) state = static_cast<std::uint32_t>(_mm_crc32_u64(state, word(at)));
  return append_bytes(state, at, end);
}

std::uint32_t append(std::uint32_t state, const std::byte* at, const std::byte* end) {
  static const bool has_instruction = __builtin_cpu_supports("sse4.2");
  return has_instruction ? append_words(state, at, end) : append_bytes(state, at, end);
}

#else

std::uint32_t append(std::uint32_t state, const std::byte* at, const std::byte* end) {
  return append_bytes(state, at, end);
}

#endif

}  // namespace

std::uint32_t crc32c(std::span<const std::byte> bytes) {
  return ~append(~std::uint32_t{0}, bytes.data(), bytes.data() + bytes.size());
}

std::uint32_t crc32c_followed(std::uint32_t crc, std::int64_t count) {
  return product(power_of_bytes(count), crc);
}

}  // namespace octant

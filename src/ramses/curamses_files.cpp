// Binary outputs in the form of cuRAMSES (version of 2026, built with -DLONGINT, -DQUADHILBERT and
// -DOUTPUT_PARTICLE_POTENTIAL), where it differs from RAMSES: keys of domains with 16 bytes,
// counters of octs and stars and identities with 8, a byte with the type of a particle instead of
// family and tag, and the older forms of the texts.
#include <bit>
#include <cmath>

#include "ramses/export.hpp"

namespace octant {

std::vector<std::uint64_t> quadruple_precision(std::span<const double> values) {
  constexpr int k_bits = 52, k_more_bits = 112 - k_bits;  // bits of the fractions
  constexpr std::uint64_t k_bias = 16383 - 1023;
  std::vector<std::uint64_t> words;  // the lower one first
  for (const double value : values) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    const std::uint64_t fraction = bits & ((std::uint64_t{1} << k_bits) - 1);
    const std::uint64_t exponent = bits >> k_bits & 0x7ff, sign = bits >> 63;
    const std::uint64_t upper = fraction >> (64 - k_more_bits);
    words.push_back(fraction << k_more_bits);
    words.push_back(value == 0.0 ? 0 : sign << 63 | (exponent + k_bias) << 48 | upper);
  }
  return words;
}

std::string curamses_header_text(const RamsesOutput& output) {
  const auto& families = output.attributes.families;
  const auto count_of = [&](const char* family) {
    const auto found = families.find(family);
    return found == families.end() ? 0 : found->second;
  };
  const std::int64_t dark = count_of("DM"), stars = count_of("star");
  std::string text;
  const std::pair<const char*, std::int64_t> totals[] = {{"particles", dark + stars},
                                                         {"dark matter particles", dark},
                                                         {"star particles", stars},
                                                         {"sink particles", 0},
                                                         {"cloud particles (including sinks)", 0}};
  for (const auto& [of_what, total] : totals)
    text += fmt::format(" Total number of {}\n{:21d}\n", of_what, total);
  text += " Particle fields\npos vel mass iord level phi";
  return text + (stars > 0 ? " tform metal propertime initialmass\n" : "\n");
}

std::string curamses_descriptor_text(const std::vector<std::string>& names) {
  std::string text = fmt::format("nvar        ={:11d}\n", names.size());
  std::size_t scalars = 0;
  for (std::size_t n = 0; n < names.size(); ++n) {
    const bool is_scalar = n >= std::size(k_ramses_gas);
    const std::string name = is_scalar                ? fmt::format("passive_scalar_{}", ++scalars)
                             : names[n] == "pressure" ? "thermal_pressure"
                                                      : names[n];
    text += fmt::format("variable #{:2d}: {}\n", n + 1, name);
  }
  return text;
}

}  // namespace octant

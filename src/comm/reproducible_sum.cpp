#include "comm/reproducible_sum.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "comm/parallel_sums.hpp"

namespace octant {

namespace {

constexpr std::int64_t k_digit_mask = 0xffffffff;
constexpr int k_lowest_exponent = -1074;  // exponent of the smallest subnormal double
constexpr int k_mantissa_bits = 53;

}  // namespace

ReproducibleSum& ReproducibleSum::operator+=(double term) {
  if (std::isfinite(term)) add_finite(term);
  else add_special(term);
  return *this;
}

void ReproducibleSum::add_finite(double term) {
  const SplitTerm split_term = split(term);
  for (int n = 0; n < 3; ++n) words_[split_term.first + n] += split_term.parts[n];
  if (++terms_ == k_terms_before_carry) carry();
}

void ReproducibleSum::add_special(double term) {
  ++words_[std::isnan(term) ? k_nan : term > 0 ? k_plus_infinity : k_minus_infinity];
}

ReproducibleSum& ReproducibleSum::operator+=(const ReproducibleSum& other) {
  ReproducibleSum carried = other;
  carried.carry();
  for (int n = 0; n < k_words; ++n) words_[n] += carried.words_[n];
  if (++terms_ == k_terms_before_carry) carry();
  return *this;
}

void ReproducibleSum::carry() {
  for (int n = 0; n + 1 < k_digits; ++n) {
    words_[n + 1] += words_[n] >> 32;  // rounds down, so that the rest is not negative
    words_[n] &= k_digit_mask;
  }
  terms_ = 0;
}

void ReproducibleSum::negate() {
  for (int n = 0; n < k_digits; ++n) words_[n] = -words_[n];
  carry();
}

double ReproducibleSum::to_double() const {
  const bool plus = words_[k_plus_infinity] > 0, minus = words_[k_minus_infinity] > 0;
  if (words_[k_nan] > 0 || (plus && minus)) return std::numeric_limits<double>::quiet_NaN();
  if (plus) return std::numeric_limits<double>::infinity();
  if (minus) return -std::numeric_limits<double>::infinity();

  ReproducibleSum magnitude = *this;
  magnitude.carry();
  if (!magnitude.is_negative()) return magnitude.magnitude_to_double();
  magnitude.negate();
  return -magnitude.magnitude_to_double();
}

// Returns the nearest double. The sum must not be negative, and its digits must be carried.
double ReproducibleSum::magnitude_to_double() const {
  int top = k_digits - 1;
  while (top > 0 && words_[top] == 0) --top;
  const auto digit = [&](int n) { return static_cast<std::uint64_t>(words_[n]); };
  const int leading_bit = 32 * top + static_cast<int>(std::bit_width(digit(top))) - 1;
  const int lowest_bit = leading_bit - (k_mantissa_bits - 1);
  if (lowest_bit <= 0)
    return std::ldexp(static_cast<double>(digit(1) << 32 | digit(0)), k_lowest_exponent);
  if (leading_bit + k_lowest_exponent > std::numeric_limits<double>::max_exponent - 1)
    return std::numeric_limits<double>::infinity();

  const int first = lowest_bit / 32, shift = lowest_bit % 32;
  std::uint64_t mantissa = digit(first) >> shift | digit(first + 1) << (32 - shift);
  if (shift > 0) mantissa |= digit(first + 2) << (64 - shift);

  // Round to nearest by the first omitted bit, and to even if no bit after it is set.
  const int half_bit = lowest_bit - 1;
  const auto bit = [&](int n) { return (digit(n / 32) >> (n % 32) & 1) != 0; };
  const std::uint64_t below_half = digit(half_bit / 32) & ((std::uint64_t{1} << half_bit % 32) - 1);
  const bool more = below_half != 0 || std::any_of(words_.begin(), words_.begin() + half_bit / 32,
                                                   [](std::int64_t word) { return word != 0; });
  if (bit(half_bit) && (more || (mantissa & 1) != 0)) ++mantissa;
  return std::ldexp(static_cast<double>(mantissa), lowest_bit + k_lowest_exponent);
}

double reproducible_sum(const Communicator& communicator, std::span<const double> terms) {
  ReproducibleSum sum;
  for (const double term : terms) sum += term;
  reproducible_sum(communicator, std::span(&sum, 1));
  return sum.to_double();
}

void reproducible_sum(const Communicator& communicator, std::span<ReproducibleSum> sums,
                      std::span<std::int64_t> counts) {
  std::vector<std::int64_t> words(counts.begin(), counts.end());
  words.reserve(counts.size() + sums.size() * ReproducibleSum::k_words);
  for (ReproducibleSum& sum : sums) {
    sum.carry();  // so that the digits of 2^31 ranks can be added
    words.insert(words.end(), sum.words_.begin(), sum.words_.end());
  }
  communicator.sum_in_place(std::span(words));
  std::copy_n(words.begin(), counts.size(), counts.begin());
  auto from = words.begin() + static_cast<std::ptrdiff_t>(counts.size());
  for (ReproducibleSum& sum : sums) {
    std::copy_n(from, ReproducibleSum::k_words, sum.words_.begin());
    sum.carry();
    from += ReproducibleSum::k_words;
  }
}

}  // namespace octant

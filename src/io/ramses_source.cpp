#include "io/ramses_source.hpp"

#include <algorithm>
#include <cmath>

namespace octant {

void RamsesOcts::resize(std::int64_t count, std::int64_t values_of_oct) {
  places.resize(static_cast<std::size_t>(count));
  refined.assign(static_cast<std::size_t>(count), 0);
  values.resize(static_cast<std::size_t>(count * values_of_oct));
}

RamsesSource::RamsesSource(const Communicator& communicator, const RamsesFacts& facts, int chunk)
    : communicator_(communicator), facts_(facts) {
  const int most = (facts.domains + communicator.size() - 1) / communicator.size();
  chunk_ = chunk > 0 ? std::min(chunk, most) : most;
  rounds_ = (most + chunk_ - 1) / chunk_;
}

std::vector<int> RamsesSource::domains(int round) const {
  std::vector<int> numbers;
  for (int n = round * chunk_; n < (round + 1) * chunk_; ++n)
    if (const int number = 1 + communicator_.rank() + n * communicator_.size();
        number <= facts_.domains)
      numbers.push_back(number);
  return numbers;
}

std::int64_t RamsesSource::count(int round) const {
  std::int64_t octs = 0;
  for (const int domain : domains(round)) octs += octs_of(domain);
  return octs;
}

std::vector<RamsesSource::Piece> RamsesSource::pieces(int round, RowRange some) const {
  std::vector<Piece> pieces;
  std::int64_t before = 0;  // octs of the round's domains that come first
  for (const int domain : domains(round)) {
    const std::int64_t octs = octs_of(domain);
    const std::int64_t begin = std::max(some.begin, before),
                       end = std::min(some.end(), before + octs);
    if (begin < end) pieces.push_back({domain, {begin - before, end - begin}, begin - some.begin});
    before += octs;
  }
  return pieces;
}

std::int64_t ramses_oct_place(int level, double centre) {
  // One coarse cell is the box; walls are beside it.
  const double across = std::ldexp(centre - std::floor(centre), level - 1);
  const double place = std::floor(across);
  return std::abs(across - place - 0.5) < 1e-3 ? static_cast<std::int64_t>(place) : -1;
}

}  // namespace octant

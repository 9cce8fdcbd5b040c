#include "bench/triad.hpp"

#include <algorithm>

#include <Kokkos_Core.hpp>

#include "core/clock.hpp"

namespace octant::bench {

namespace {

constexpr int k_passes = 10;
constexpr std::int64_t k_min_elements = std::int64_t{1} << 20;  // per rank

using Array = Kokkos::View<double*>;

void add_scaled(const Array& a, const Array& b, const Array& c) {
  const double s = 3.0;
  Kokkos::parallel_for(
      "triad", a.size(), KOKKOS_LAMBDA(const std::int64_t n) { a(n) = b(n) + s * c(n); });
  Kokkos::fence();
}

}  // namespace

double triad_bytes_per_second(const Communicator& communicator, std::int64_t elements) {
  const std::int64_t own = std::max(elements / communicator.size(), k_min_elements);
  const Array a("a", own), b("b", own), c("c", own);
  double fastest = 0.0;
  for (int pass = 0; pass <= k_passes; ++pass) {
    communicator.barrier();
    const Clock clock;
    add_scaled(a, b, c);
    const double seconds = communicator.max(clock.seconds());
    if (pass == 0) continue;  // warm-up
    fastest = std::max(fastest, 24.0 * static_cast<double>(own) * communicator.size() / seconds);
  }
  return fastest;
}

}  // namespace octant::bench

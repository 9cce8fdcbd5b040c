#include "particles/particle_halo.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <vector>

#include "mesh/reach.hpp"

namespace octant::particles {

ParticleHalo::ParticleHalo(const Particles& particles, std::span<const std::int64_t> own,
                           double radius) {
  const std::size_t width = particles.row_words();
  const std::vector<Word> rows = particles.rows(own);
  std::vector<mesh::Sphere> spheres(own.size());
  for (std::size_t n = 0; n < own.size(); ++n) {
    spheres[n].radius = radius;
    for (int d = 0; d < 3; ++d)
      spheres[n].centre[d] = std::bit_cast<double>(rows[n * width + k_position + d]);
  }
  const mesh::ReachedBytes reached = mesh::reach_bytes(
      particles.mesh(), spheres, std::as_bytes(std::span(rows)), width * sizeof(Word));
  const std::vector<Word> words = items_of<Word>(reached.items);
  std::vector<std::size_t> order(reached.sources.size());
  std::iota(order.begin(), order.end(), 0);
  const auto id = [&](std::size_t n) { return words[(n + 1) * width - 1]; };  // a row's last word
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return id(a) < id(b); });
  std::vector<Word> in_order;
  for (const std::size_t n : order)
    in_order.insert(in_order.end(), words.begin() + n * width, words.begin() + (n + 1) * width);
  particles_ = particles.batch_of(in_order);
}

}  // namespace octant::particles

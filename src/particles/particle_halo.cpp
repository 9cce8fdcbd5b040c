#include "particles/particle_halo.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "comm/route.hpp"
#include "core/error.hpp"

namespace octant::particles {

namespace {

using Point = std::array<double, 3>;

// A block that a copy is on its way to.
struct Stop {
  int level;
  Key key;
};

// Copies for other ranks: level and key of the block, then the words of the row.
struct Copies {
  std::vector<int> ranks;
  std::vector<Word> words;
};

constexpr int k_stop_words = 1 + sizeof(Key) / sizeof(Word);

void send(Copies& copies, int rank, const Stop& stop, std::span<const Word> row) {
  copies.ranks.push_back(rank);
  const std::size_t begin = copies.words.size();
  copies.words.resize(begin + k_stop_words);
  copies.words[begin] = static_cast<Word>(stop.level);
  std::memcpy(&copies.words[begin + 1], &stop.key, sizeof(Key));
  copies.words.insert(copies.words.end(), row.begin(), row.end());
}

Point point_of(std::span<const Word> row) {
  Point x;
  for (int d = 0; d < 3; ++d) x[d] = std::bit_cast<double>(row[k_position + d]);
  return x;
}

// For rounding, on the way to leaves.
constexpr double k_slack = 1.0 + 1e-9;

// The sphere around a copy, among the blocks of a mesh.
class Reach {
 public:
  Reach(const mesh::Geometry& geometry, double radius) : geometry_(geometry), radius_(radius) {}

  // Whether the sphere, or one that is larger by a slack, meets an octant of a block.
  bool meets(const Stop& block, int octant, const Point& x, double slack = 1.0) const {
    const double side = geometry_.cell_size(block.level) * geometry_.octant_size();
    const Point corner = geometry_.origin(block.level, morton_decode(block.key));
    Point centre;
    for (int d = 0; d < 3; ++d) centre[d] = corner[d] + ((octant >> d & 1) + 0.5) * side;
    const Point way = nearest_image(geometry_, x, centre);
    double square = 0.0;
    for (const double w : way) square += std::pow(std::max(0.0, std::abs(w) - 0.5 * side), 2);
    return square <= slack * slack * radius_ * radius_;
  }

  // The keys of all base blocks that the sphere may meet, each once.
  std::vector<Key> base_blocks(const Point& x) const {
    const double side = geometry_.cell_size(0) * geometry_.block_size();
    const BlockCoordinates extent = geometry_.extent(0);
    BlockCoordinates first, last;
    for (int d = 0; d < 3; ++d) {
      const auto at = [&](double position) {
        return static_cast<BlockCoordinate>(std::floor((position - geometry_.lower()[d]) / side));
      };
      first[d] = at(x[d] - k_slack * radius_);
      last[d] = at(x[d] + k_slack * radius_);
      if (geometry_.periodic(d)) last[d] = std::min(last[d], first[d] + extent[d] - 1);
    }
    std::vector<Key> keys;
    BlockCoordinates n;
    for (n[2] = first[2]; n[2] <= last[2]; ++n[2])
      for (n[1] = first[1]; n[1] <= last[1]; ++n[1])
        for (n[0] = first[0]; n[0] <= last[0]; ++n[0]) {
          BlockCoordinates block = n;
          if (geometry_.wrap(0, block)) keys.push_back(morton_encode(block));
        }
    return keys;
  }

 private:
  const mesh::Geometry& geometry_;
  double radius_;
};

// From coarse blocks to their octants, own and others'.
class Descent {
 public:
  Descent(const mesh::Mesh& mesh, const Reach& reach) : mesh_(mesh), reach_(reach) {}

  // Follows a copy from an own block down. Returns whether it meets a leaf octant of this rank's;
  // those of other ranks are left in `onward`.
  bool follow(const Stop& stop, std::span<const Word> row, Copies& onward) const {
    const mesh::TreeLevel& blocks = mesh_.blocks(stop.level);
    const mesh::Node* node = blocks.find(stop.key);
    OCTANT_REQUIRE(node && node->slot >= 0,
                   "a copy of a particle came to a rank that does not have its block");
    bool meets = false;
    for (int octant = 0; octant < 8; ++octant) {
      const bool refined = (blocks.refined(node->slot) >> octant & 1) != 0;
      if (!reach_.meets(stop, octant, point_of(row), refined ? k_slack : 1.0)) continue;
      if (!refined) {
        meets = true;
        continue;
      }
      const int owner = mesh_.child_owners(stop.level, node->slot)[octant];
      const Stop finer{stop.level + 1, child_key(stop.key, octant)};
      if (owner == mesh_.communicator().rank()) meets = follow(finer, row, onward) || meets;
      else send(onward, owner, finer, row);
    }
    return meets;
  }

 private:
  const mesh::Mesh& mesh_;
  const Reach& reach_;
};

// The way of all copies to the owners of the base blocks around them.
Copies to_base_blocks(const mesh::Mesh& mesh, const Reach& reach, std::span<const Word> rows,
                      std::size_t width) {
  std::vector<std::vector<Key>> wanted;
  std::vector<Key> blocks;
  for (std::size_t n = 0; n < rows.size(); n += width) {
    wanted.push_back(reach.base_blocks(point_of(rows.subspan(n, width))));
    blocks.insert(blocks.end(), wanted.back().begin(), wanted.back().end());
  }
  std::sort(blocks.begin(), blocks.end());
  blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
  const auto owners = mesh.tree().owners(0, blocks);
  Copies copies;
  for (std::size_t n = 0; n < wanted.size(); ++n)
    for (const Key key : wanted[n]) {
      const auto block = std::lower_bound(blocks.begin(), blocks.end(), key) - blocks.begin();
      send(copies, owners[block], {0, key}, rows.subspan(n * width, width));
    }
  return copies;
}

// Each row once, in the order of ids, which are their last words.
std::vector<Word> unique_rows(const std::vector<Word>& rows, std::size_t width) {
  std::vector<std::size_t> order(rows.size() / width);
  std::iota(order.begin(), order.end(), 0);
  const auto id = [&](std::size_t n) { return rows[(n + 1) * width - 1]; };
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return id(a) < id(b); });
  std::vector<Word> unique;
  for (std::size_t n = 0; n < order.size(); ++n)
    if (n == 0 || id(order[n]) != id(order[n - 1]))
      unique.insert(unique.end(), rows.begin() + order[n] * width,
                    rows.begin() + (order[n] + 1) * width);
  return unique;
}

}  // namespace

std::array<double, 3> nearest_image(const mesh::Geometry& geometry,
                                    const std::array<double, 3>& from,
                                    const std::array<double, 3>& to) {
  std::array<double, 3> way;
  for (int d = 0; d < 3; ++d) {
    way[d] = to[d] - from[d];
    if (!geometry.periodic(d)) continue;
    const double size = geometry.upper()[d] - geometry.lower()[d];
    way[d] -= size * std::round(way[d] / size);
  }
  return way;
}

ParticleHalo::ParticleHalo(const Particles& particles, std::span<const std::int64_t> own,
                           double radius) {
  const mesh::Mesh& mesh = particles.mesh();
  const mesh::Geometry& geometry = mesh.geometry();
  for (int d = 0; d < 3; ++d)
    OCTANT_REQUIRE(
        !geometry.periodic(d) || radius <= 0.5 * (geometry.upper()[d] - geometry.lower()[d]),
        "a radius of {} around {} particles is more than half of the periodic domain", radius,
        particles.name());
  const Reach reach(geometry, radius);
  const Descent descent(mesh, reach);
  const std::size_t row_words = particles.row_words(), width = k_stop_words + row_words;
  Copies travelling = to_base_blocks(mesh, reach, particles.rows(own), row_words);
  std::vector<Word> here;
  while (mesh.communicator().any(!travelling.ranks.empty())) {
    const auto arrived =
        route_bytes(mesh.communicator(), travelling.ranks,
                    std::as_bytes(std::span(travelling.words)), width * sizeof(Word));
    const auto words = items_of<Word>(arrived.items);
    travelling = {};
    for (std::size_t n = 0; n < words.size(); n += width) {
      Stop stop{static_cast<int>(words[n]), 0};
      std::memcpy(&stop.key, &words[n + 1], sizeof(Key));
      const auto row = std::span(words).subspan(n + k_stop_words, row_words);
      if (descent.follow(stop, row, travelling)) here.insert(here.end(), row.begin(), row.end());
    }
  }
  particles_ = particles.batch_of(unique_rows(here, row_words));
}

}  // namespace octant::particles

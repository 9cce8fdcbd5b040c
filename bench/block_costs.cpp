#include "bench/block_costs.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <random>
#include <set>

#include "bench/number_rows.hpp"
#include "core/error.hpp"
#include "decomp/morton.hpp"

namespace octant::bench {

using placement::Leaf;

namespace {

// Block tree that is refined block by block.
class RandomTree {
 public:
  explicit RandomTree(int roots) : roots_(roots) {
    for (std::int32_t n = 0; n < roots * roots * roots; ++n)
      leaves_.insert({0, {n % roots, n / roots % roots, n / roots / roots}});
  }

  std::size_t size() const { return leaves_.size(); }
  std::vector<Leaf> leaves() const {
    std::vector<Leaf> all;
    for (const auto& [level, place] : leaves_) all.push_back({level, place});
    return all;
  }

  // Refines coarser neighbours first.
  void refine(const Leaf& leaf) {
    if (leaves_.erase({leaf.level, leaf.position}) == 0) return;
    for (int s = 0; s < 27 && leaf.level > 0; ++s) {
      Leaf coarse{leaf.level - 1, leaf.position};
      for (int d = 0; d < 3; ++d) coarse.position[d] = (leaf.position[d] + k_steps[s][d]) >> 1;
      if (leaves_.contains({coarse.level, coarse.position})) refine(coarse);
    }
    for (int octant = 0; octant < 8; ++octant) {
      Leaf child{leaf.level + 1, leaf.position};
      for (int d = 0; d < 3; ++d) child.position[d] = 2 * leaf.position[d] + (octant >> d & 1);
      leaves_.insert({child.level, child.position});
    }
  }

 private:
  static constexpr auto k_steps = [] {
    std::array<std::array<int, 3>, 27> steps{};
    for (int s = 0; s < 27; ++s) steps[s] = {s % 3 - 1, s / 3 % 3 - 1, s / 9 - 1};
    return steps;
  }();
  int roots_;
  std::set<std::pair<int, std::array<std::int32_t, 3>>> leaves_;
};

double centre(const Leaf& leaf, int axis) {
  return std::ldexp(leaf.position[axis] + 0.5, -leaf.level);
}

void sort_by_morton_key(std::vector<Leaf>& leaves) {
  int depth = 0;
  for (const Leaf& leaf : leaves) depth = std::max(depth, leaf.level);
  const auto key = [&](const Leaf& leaf) {
    const int shift = depth - leaf.level;
    return morton_encode(
        {leaf.position[0] << shift, leaf.position[1] << shift, leaf.position[2] << shift});
  };
  std::sort(leaves.begin(), leaves.end(),
            [&](const Leaf& a, const Leaf& b) { return key(a) < key(b); });
}

}  // namespace

const std::vector<std::string>& cost_distributions() {
  static const std::vector<std::string> k_names{"exponential", "gauss60_5", "powerlaw"};
  return k_names;
}

std::vector<double> draw_costs(const std::string& distribution, std::int64_t blocks,
                               std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::exponential_distribution<double> exponential(0.1);
  std::normal_distribution<double> normal(60.0, 5.0);
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  const auto draw = [&] {
    if (distribution == "exponential") return 50.0 + std::floor(exponential(random));
    if (distribution == "gauss60_5") return std::clamp(std::round(normal(random)), 50.0, 75.0);
    // Discrete power law P(k) ~ k^-3 for 50 <= k <= 100, sampled by inverting the cumulative
    // distribution of the continuous power law.
    const double low = std::pow(50.0, -2.0), high = std::pow(100.0, -2.0);
    return std::floor(std::pow(low - uniform(random) * (low - high), -0.5));
  };
  std::vector<double> costs;
  for (std::int64_t n = 0; n < blocks; ++n) costs.push_back(std::min(100.0, draw()));
  return costs;
}

std::vector<double> read_costs(const std::string& path) {
  std::vector<double> costs;
  for (const auto& row : read_rows(path, 1)) costs.push_back(row[0]);
  return costs;
}

std::vector<Leaf> read_leaves(const std::string& path) {
  std::vector<Leaf> leaves;
  for (const auto& row : read_rows(path, 4)) {
    const auto whole = [&](int n) { return static_cast<std::int32_t>(row[n]); };
    leaves.push_back({whole(0), {whole(1), whole(2), whole(3)}});
  }
  return leaves;
}

placement::Owners read_owners(const std::string& path) {
  placement::Owners owners;
  for (const auto& row : read_rows(path, 1)) {
    if (!(row[0] >= 0.0 && row[0] < 1e9 && row[0] == std::floor(row[0])))
      throw InputError("{}: {} is not a valid rank", path, row[0]);
    owners.push_back(static_cast<std::int32_t>(row[0]));
  }
  return owners;
}

void write_owners(const std::string& path, const placement::Owners& owners) {
  std::ofstream file(path);
  for (const std::int32_t owner : owners) file << owner << '\n';
  file.flush();
  if (!file) throw InputError("cannot write {}; check the directory and its permissions", path);
}

std::vector<Leaf> random_leaves(int roots, std::int64_t blocks, std::uint64_t seed) {
  if (std::int64_t{roots} * roots * roots > blocks)
    throw InputError("a random mesh of {} blocks cannot start from {}^3 base blocks", blocks,
                     roots);
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(0.0, roots);
  RandomTree tree(roots);
  const std::array<double, 3> point{uniform(random), uniform(random), uniform(random)};
  while (static_cast<std::int64_t>(tree.size()) < blocks) {
    // Refines coarse leaves near the point first, so that levels form shells around it.
    const auto leaves = tree.leaves();
    const auto rank = [&](const Leaf& leaf) {
      double distance = 0.0;
      for (int d = 0; d < 3; ++d) distance += std::pow(centre(leaf, d) - point[d], 2);
      return std::sqrt(distance) + 0.25 * roots * leaf.level;
    };
    tree.refine(*std::min_element(leaves.begin(), leaves.end(),
                                  [&](const Leaf& a, const Leaf& b) { return rank(a) < rank(b); }));
  }
  auto leaves = tree.leaves();
  sort_by_morton_key(leaves);
  return leaves;
}

}  // namespace octant::bench

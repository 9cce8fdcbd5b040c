#include "decomp/placement/locality.hpp"

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "decomp/key_table.hpp"
#include "decomp/morton.hpp"

namespace octant::placement {

namespace {

using LeafPosition = std::array<std::int32_t, 3>;

// Leaves by level and position.
class LeafTable {
 public:
  explicit LeafTable(Leaves leaves) {
    for (std::size_t n = 0; n < leaves.size(); ++n) {
      const Leaf& leaf = leaves[n];
      if (leaf.level < 0 || *std::min_element(leaf.position.begin(), leaf.position.end()) < 0)
        throw InputError("leaf {}: the level and block indices must be non-negative", n);
      if (std::ssize(levels_) <= leaf.level) levels_.resize(leaf.level + 1);
      levels_[leaf.level].insert(key(leaf.position), static_cast<std::int32_t>(n));
    }
  }

  // Returns the leaf at a position of a level, or -1.
  std::int32_t at(int level, const LeafPosition& position) const {
    if (level < 0 || level >= std::ssize(levels_)) return -1;
    if (*std::min_element(position.begin(), position.end()) < 0) return -1;
    const std::int32_t* found = levels_[level].find(key(position));
    return found ? *found : -1;
  }

 private:
  static Key key(const LeafPosition& position) {
    return morton_encode({position[0], position[1], position[2]});
  }
  std::vector<KeyTable<std::int32_t>> levels_;
};

// Bytes sent between leaves that are offset along this number of axes.
std::int32_t bytes_across(int axes, const ContactBytes& bytes) {
  return axes == 1 ? bytes.face : axes == 2 ? bytes.edge : bytes.corner;
}

std::int32_t bytes_across(const LeafPosition& step, const ContactBytes& bytes) {
  return bytes_across(std::abs(step[0]) + std::abs(step[1]) + std::abs(step[2]), bytes);
}

// Direction from a finer to an adjacent coarser leaf: -1, 0 or 1 along each axis.
LeafPosition step_to_coarser(const LeafPosition& fine, const LeafPosition& coarse) {
  LeafPosition step;
  for (int d = 0; d < 3; ++d)
    step[d] = fine[d] < 2 * coarse[d] ? 1 : fine[d] > 2 * coarse[d] + 1 ? -1 : 0;
  return step;
}

// Calls visit(contact) for every contact.
template <class Visit>
void for_each_contact(Leaves leaves, const ContactBytes& bytes, const Visit& visit) {
  const LeafTable table(leaves);
  std::vector<std::int32_t> coarser;
  for (std::int32_t n = 0; n < std::ssize(leaves); ++n) {
    const Leaf& leaf = leaves[n];
    coarser.clear();
    for (int s = 0; s < 27; ++s) {
      const LeafPosition step{s % 3 - 1, s / 3 % 3 - 1, s / 9 - 1};
      if (s == 13) continue;
      LeafPosition beside = leaf.position;
      for (int d = 0; d < 3; ++d) beside[d] += step[d];
      if (const auto same = table.at(leaf.level, beside); same >= 0) {
        visit(Contact{n, same, bytes_across(step, bytes)});
        continue;
      }
      if (*std::min_element(beside.begin(), beside.end()) < 0) continue;
      const LeafPosition above{beside[0] / 2, beside[1] / 2, beside[2] / 2};
      const auto coarse = table.at(leaf.level - 1, above);
      if (coarse < 0 || std::find(coarser.begin(), coarser.end(), coarse) != coarser.end())
        continue;
      coarser.push_back(coarse);
      const auto across = bytes_across(step_to_coarser(leaf.position, above), bytes);
      visit(Contact{n, coarse, across});
      visit(Contact{coarse, n, across});
    }
  }
}

void add(Traffic& sum, const Contact& contact, const Owners& owners, int ranks_per_node) {
  const int from = owners[contact.from], to = owners[contact.to];
  sum.all += contact.bytes;
  if (from != to) sum.off_rank += contact.bytes;
  if (from / ranks_per_node != to / ranks_per_node) sum.off_node += contact.bytes;
}

}  // namespace

std::int32_t bytes_between(const Leaf& from, const Leaf& to, const ContactBytes& bytes) {
  const int level = std::max(from.level, to.level);
  const int from_shift = level - from.level, to_shift = level - to.level;
  int axes = 0;
  for (int d = 0; d < 3; ++d) {
    const std::int64_t a = std::int64_t{from.position[d]} << from_shift;
    const std::int64_t b = std::int64_t{to.position[d]} << to_shift;
    const std::int64_t a_end = a + (1 << from_shift), b_end = b + (1 << to_shift);
    if (a > b_end || b > a_end) return 0;
    axes += a == b_end || b == a_end;
  }
  return axes == 0 ? 0 : bytes_across(axes, bytes);
}

std::vector<Contact> contacts(Leaves leaves, const ContactBytes& bytes) {
  std::vector<Contact> result;
  for_each_contact(leaves, bytes, [&](const Contact& contact) { result.push_back(contact); });
  return result;
}

Traffic traffic(std::span<const Contact> contacts, const Owners& owners, int ranks_per_node) {
  Traffic sum;
  for (const Contact& contact : contacts) add(sum, contact, owners, ranks_per_node);
  return sum;
}

Traffic traffic(Leaves leaves, const Owners& owners, int ranks_per_node,
                const ContactBytes& bytes) {
  Traffic sum;
  for_each_contact(leaves, bytes,
                   [&](const Contact& contact) { add(sum, contact, owners, ranks_per_node); });
  return sum;
}

}  // namespace octant::placement

#include "gravity/fmm_tree.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "comm/route.hpp"

namespace octant::gravity::fmm {

namespace {

struct Near {
  double bound;
  bool operator()(int x, int y, int z) const { return x * x + y * y + z * z < bound; }
};

// Sets potential and force at the origin due to a mass at (x, y, z).
void set_field(double mass, double x, double y, double z, double* field) {
  const double r2 = x * x + y * y + z * z, u = mass / std::sqrt(r2), cube = u / r2;
  field[0] = u;
  field[1] = x * cube;
  field[2] = y * cube;
  field[3] = z * cube;
}

}  // namespace

Lists make_lists(double theta) {
  const Near near{(1.0 - 1e-12) / (theta * theta)}, close{k_close * k_close * near.bound};
  Lists lists;
  lists.reach = lists.near = near(2, 0, 0) ? 2 : 1;
  const int H = lists.reach, E = lists.edge();
  std::vector<FarSource> far;
  std::vector<std::int32_t> far_begin{0};
  std::vector<std::vector<PointSource>> points(8);
  for (int s = 0; s < 8; ++s)
    for (int dx = -H; dx <= H; ++dx)
      for (int t = 0; t < 8; ++t) {
        for (int dk = -H; dk <= H; ++dk)
          for (int dj = -H; dj <= H; ++dj) {
            if (!near(dx, dj, dk)) continue;
            const int x = 2 * dx + (s & 1) - (t & 1), y = 2 * dj + (s >> 1 & 1) - (t >> 1 & 1),
                      z = 2 * dk + (s >> 2) - (t >> 2);
            const int row = dk * E + dj;
            if (!near(x, y, z))
              far.push_back({row, close(x, y, z), double(x), double(y), double(z)});
            if (x == 0 && y == 0 && z == 0) continue;
            PointSource point{(s * lists.span() + dx + H) * patch_stride(H) + row * k_parents, {}};
            const bool are_face_neighbours = x * x + y * y + z * z == 1;
            set_field(are_face_neighbours ? k_contact : 1.0, x, y, z, point.field);
            points[t].push_back(point);
          }
        far_begin.push_back(static_cast<std::int32_t>(far.size()));
      }
  std::vector<PointSource> all_points;
  std::vector<std::int32_t> point_begin{0};
  for (const auto& list : points) {
    all_points.insert(all_points.end(), list.begin(), list.end());
    point_begin.push_back(static_cast<std::int32_t>(all_points.size()));
  }
  std::vector<NearCell> near_cells;
  for (int z = -H; z <= H; ++z)
    for (int y = -H; y <= H; ++y)
      for (int x = -H; x <= H; ++x) {
        if (!near(x, y, z) || (x == 0 && y == 0 && z == 0)) continue;
        NearCell cell{x, y, z, {}};
        for (int s = 0; s < 8; ++s) {
          const double u = x + 0.5 * (s & 1) - 0.25, v = y + 0.5 * (s >> 1 & 1) - 0.25,
                       w = z + 0.5 * (s >> 2) - 0.25;
          // true if |u|, |v|, |w| are 3/4, 1/4, 1/4 in any order
          const bool are_face_neighbours = u * u + v * v + w * w == 0.6875;
          set_field(are_face_neighbours ? k_contact_across : 1.0, u, v, w, cell.field[s]);
        }
        near_cells.push_back(cell);
      }
  lists.far_pairs = std::int64_t{k_octet} * std::ssize(far);
  lists.point_pairs = std::int64_t{k_octet} * std::ssize(all_points);
  lists.far = mesh::to_device("far sources", far);
  lists.far_begin = mesh::to_device("far sources", far_begin);
  lists.points = mesh::to_device("points", all_points);
  lists.point_begin = mesh::to_device("points", point_begin);
  lists.near_cells = mesh::to_device("near cells", near_cells);
  return lists;
}

namespace {

std::int64_t halved(std::int64_t cells, int times) {
  return (cells + (std::int64_t{1} << times) - 1) >> times;
}

}  // namespace

bool is_top(const mesh::Geometry& geometry, int level) {
  if (level >= 0) return false;
  for (const auto blocks : geometry.extent(0))
    if (halved(std::int64_t{blocks} * geometry.block_size(), -level) > 4) return false;
  return true;
}

BrickLevel::BrickLevel(const mesh::Tree& tree, int level)
    : CubeGrid(tree.communicator(), level), tree_(&tree) {
  const int block_size = tree.geometry().block_size();
  const mesh::Cubes cubes(block_size, k_side);
  const int parts = cubes.cubes_per_block();
  shift_ = std::countr_zero(static_cast<unsigned>(parts));
  const BlockCoordinates extent = tree.geometry().extent(level);
  for (int d = 0; d < 3; ++d) extent_[d] = std::int64_t{extent[d]} * (block_size / k_side);
  const mesh::TreeLevel& blocks = tree.level(level);
  for (const int slot : blocks.own())
    for (int n = 0; n < parts; ++n) {
      // A brick inside a larger block lies in one octant of the block.
      const unsigned mask = blocks.refined(slot);
      const unsigned refined = shift_ == 0 ? mask : mask >> (n >> (shift_ - 3)) & 1 ? 0xffu : 0u;
      keys_.push_back(cubes.key_of(blocks.key(slot), n));
      cells_.push_back(
          {static_cast<std::uint8_t>(~refined & 0xff), static_cast<std::uint8_t>(refined)});
      if (level > 0)
        parent_owners_.push_back(tree.level(level - 1).find(parent_key(blocks.key(slot)))->owner);
    }
  own_ = static_cast<int>(keys_.size());
}

BrickLevel BrickLevel::above(BrickLevel& finer) {
  BrickLevel coarser(finer.communicator_, finer.level_ - 1);
  for (int d = 0; d < 3; ++d) coarser.extent_[d] = (finer.extent_[d] + 1) / 2;
  const Communicator& communicator = finer.communicator_;
  std::vector<PatchDirectory::Registration> registrations;
  std::vector<Key> parents;
  for (int slot = 0; slot < finer.own_; ++slot) {
    const Key parent = parent_key(finer.keys_[slot]);
    parents.push_back(parent);
    if (registrations.empty() || registrations.back().patch != parent)
      registrations.push_back({parent, finer.keys_[slot], 1});
  }
  coarser.directory_ = std::make_unique<PatchDirectory>(communicator, registrations);
  finer.parent_owners_.clear();
  for (const PatchFacts& attributes : coarser.directory_->find_owners(parents))
    finer.parent_owners_.push_back(attributes.owner);
  for (std::size_t n = 0; n < parents.size(); ++n)
    if (finer.parent_owners_[n] == communicator.rank() &&
        (coarser.keys_.empty() || coarser.keys_.back() != parents[n]))
      coarser.keys_.push_back(parents[n]);
  coarser.own_ = static_cast<int>(coarser.keys_.size());
  coarser.cells_.resize(coarser.own_);
  return coarser;
}

void BrickLevel::join(BrickLevel& coarser) {
  leaving_.resize(own_);
  std::iota(leaving_.begin(), leaving_.end(), 0);
  std::stable_sort(leaving_.begin(), leaving_.end(),
                   [&](int a, int b) { return parent_owners_[a] < parent_owners_[b]; });
  std::vector<int> owners;
  std::vector<Key> keys;
  std::vector<Segment> sends, receives;
  for (const int slot : leaving_) {
    owners.push_back(parent_owners_[slot]);
    keys.push_back(keys_[slot]);
    count_items(sends, owners.back());
  }
  const auto arrived = route<Key>(communicator_, owners, keys);
  for (std::size_t n = 0; n < arrived.items.size(); ++n) {
    const Key key = arrived.items[n];
    const int parent = coarser.find(parent_key(key));
    coarser.children_.push_back({parent, octant_of(key)});
    if (!coarser.tree_)
      coarser.cells_[parent].refined |= static_cast<std::uint8_t>(1 << octant_of(key));
    count_items(receives, arrived.sources[n]);
  }
  upward_ = std::make_unique<ExchangePlan>(communicator_, std::move(sends), std::move(receives));
}

std::vector<PatchFacts> BrickLevel::facts_of(const std::vector<Key>& keys) const {
  if (!tree_) return directory_->find_owners(keys);
  std::vector<PatchFacts> attributes;
  for (const Key key : keys) {
    const mesh::Node* node = tree_->level(level_).find(key >> shift_);
    attributes.push_back({.owner = node ? node->owner : -1});
  }
  return attributes;
}

std::int64_t BrickLevel::shared_doubles(BrickCells cells) const {
  if (cells.refined == 0) return 8;
  return 8 * (k_moments + (has_coarse_fine_boundary() ? k_child_fields : 0));
}

std::vector<PatchCopy> BrickLevel::plan_copies(const std::vector<SharedPatch>& shared, int reach,
                                               std::vector<Segment>& segments) const {
  std::vector<PatchCopy> copies;
  std::int64_t offset = 0;
  for (const SharedPatch& brick : shared) {
    const PatchCopy& copy = copies.emplace_back(brick.part(k_parents, reach, offset));
    const std::int64_t octets = std::int64_t{copy.rows()} * copy.length();
    const std::int64_t doubles = octets * shared_doubles(cells_[brick.slot]);
    count_items(segments, brick.rank, doubles);
    offset += doubles;
  }
  return copies;
}

void BrickLevel::connect(int reach) {
  bool leaves = false, refined = false;
  for (const BrickCells& c : cells_) leaves |= c.leaves != 0, refined |= c.refined != 0;
  has_leaves_ = communicator_.any(leaves);
  has_refined_ = communicator_.any(refined);
  find_neighbours([this](const std::vector<Key>& keys) { return facts_of(keys); });
  std::vector<int> ranks;
  std::vector<BrickCells> answers;
  for (const SharedPatch& brick : sent_) {
    ranks.push_back(brick.rank);
    answers.push_back(cells_[brick.slot]);
  }
  // Answers arrive in the order of owners, as the requests.
  const auto cells = route<BrickCells>(communicator_, ranks, answers);
  cells_.insert(cells_.end(), cells.items.begin(), cells.items.end());
  std::vector<Segment> sends, receives;
  sent_regions_ = plan_copies(sent_, reach, sends);
  received_regions_ = plan_copies(received_, reach, receives);
  copies_ = std::make_unique<ExchangePlan>(communicator_, std::move(sends), std::move(receives));
}

}  // namespace octant::gravity::fmm

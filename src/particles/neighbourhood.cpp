#include "particles/neighbourhood.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

#include "comm/route.hpp"
#include "core/error.hpp"
#include "mesh/device.hpp"
#include "mesh/launch.hpp"
#include "particles/masses.hpp"

namespace octant::particles {

using mesh::Region;

namespace {

struct Request {
  std::int32_t source;
  Region region;
  Key key;
};

}  // namespace

int RemoteCells::request(Source source, Key key, int owner, const Region& region) {
  if (const std::int32_t* known = box_of_[source].find(key)) {
    boxes_[*known].region.merge(region);
    return *known;
  }
  const auto box = static_cast<std::int32_t>(boxes_.size());
  box_of_[source].insert(key, box);
  boxes_.push_back({source, owner, key, region});
  return box;
}

void RemoteCells::exchange_requests(const mesh::Tree& tree, int level) {
  std::vector<int> order(boxes_.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [this](int a, int b) {
    const Box &p = boxes_[a], &q = boxes_[b];
    return std::tuple(p.owner, p.source, p.key) < std::tuple(q.owner, q.source, q.key);
  });

  std::vector<Request> requests;
  std::vector<int> owners;
  std::vector<Segment> sends, receives;
  std::int64_t ghosts = 0;
  for (const int n : order) {
    Box& box = boxes_[n];
    box.first = ghosts;
    ghosts += box.region.volume();
    requests.push_back({box.source, box.region, box.key});
    owners.push_back(box.owner);
    count_items(receives, box.owner, box.region.volume());
  }
  const auto received = route<Request>(tree.communicator(), owners, requests);
  std::vector<SentCell> sent;
  const int N = tree.geometry().block_size();
  for (std::size_t n = 0; n < received.items.size(); ++n) {
    const Request& request = received.items[n];
    const auto* node = tree.level(level - request.source).find(request.key);
    OCTANT_REQUIRE(node && node->slot >= 0,
                   "particles: cells of level {} are requested from a rank that does not own them",
                   level - request.source);
    const Region& r = request.region;
    for (int k = r.begin[2]; k < r.end[2]; ++k)
      for (int j = r.begin[1]; j < r.end[1]; ++j)
        for (int i = r.begin[0]; i < r.end[0]; ++i)
          sent.push_back({request.source, node->slot, (k * N + j) * N + i});
    count_items(sends, received.sources[n], r.volume());
  }
  sent_ = mesh::to_device("sent cells", sent);
  plan_ =
      std::make_unique<ExchangePlan>(tree.communicator(), std::move(sends), std::move(receives));
  for (auto& table : box_of_) table.clear();
}

void RemoteCells::fetch(const CellArrays<const double>& fields, int components, double* ghosts,
                        Exchanger& exchanger) const {
  if (plan_->communicator().size() == 1) return;
  const auto message =
      mesh::uninitialised<double>("leaving cells", plan_->items_sent() * components);
  const auto sent = sent_;
  mesh::for_items(
      "pack cells", sent.extent(0), KOKKOS_LAMBDA(int n) {
        const SentCell cell = sent(n);
        const CellArray<const double>& field = fields.source[cell.source];
        const double* from =
            field.data + cell.slot * field.stride_slot + cell.cell * field.stride_cell;
        for (int c = 0; c < components; ++c)
          message(std::int64_t{n} * components + c) = from[c * field.stride_component];
      });
  exchanger.run<double>(*plan_, message.data(), ghosts, components);
}

void RemoteCells::add_to_owners(const std::int64_t* ghosts, const CellArrays<std::int64_t>& cells,
                                Exchanger& exchanger) const {
  if (plan_->communicator().size() == 1) return;
  const auto message = mesh::uninitialised<std::int64_t>("arriving masses", plan_->items_sent());
  exchanger.run<std::int64_t>(*plan_, ghosts, message.data(), 1, Direction::reverse);
  const auto sent = sent_;
  mesh::for_items(
      "add masses", sent.extent(0), KOKKOS_LAMBDA(int n) {
        const SentCell cell = sent(n);
        const CellArray<std::int64_t>& array = cells.source[cell.source];
        if (array.data == nullptr || message(n) == 0) return;
        add_mass(array.data + cell.slot * array.stride_slot + cell.cell * array.stride_cell,
                 message(n));
      });
}

std::int64_t RemoteCells::bytes() const {
  return static_cast<std::int64_t>(boxes_.capacity() * sizeof(Box) +
                                   sent_.extent(0) * sizeof(SentCell));
}

using mesh::Node;

// Finds the cells of every position. Ghost boxes may grow until all positions are known; the
// locations are written afterwards.
class Neighbourhood::Builder {
 public:
  // Reserves memory for this many positions.
  Builder(const mesh::Tree& tree, int level, int positions)
      : tree_(tree), level_(level), N_(tree.geometry().block_size()) {
    findings_.reserve(positions);
  }

  // Finds the blocks at the 27 positions around a block.
  void find_neighbours(int slot, RemoteCells& remote) {
    const mesh::Neighbours& holders = tree_.level(level_).neighbours(slot);
    const auto keys = tree_.geometry().keys_around(level_, tree_.level(level_).key(slot));
    for (int n = 0; n < 27; ++n) {
      const Region near = part_near({n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1});
      if (keys[n] == k_no_key) findings_.emplace_back();
      else if (holders[n] != mesh::k_nobody)
        findings_.push_back(here(holders[n], keys[n], near, remote));
      else findings_.push_back(coarser(keys[n], near, remote));
    }
  }

  // Finds the coarser cells in a block and the 26 positions beside it, as far as clouds of the
  // coarser level reach.
  void find_coarser_cells(int slot, RemoteCells& remote) {
    const auto keys = tree_.geometry().keys_around(level_, tree_.level(level_).key(slot));
    for (int n = 0; n < 27; ++n) {
      if (keys[n] == k_no_key) findings_.emplace_back();
      else
        findings_.push_back(coarser(
            keys[n], part_near({n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1}, 2 * k_depth), remote));
    }
  }

  std::vector<CellLocation> locations(const RemoteCells& remote) const {
    std::vector<CellLocation> locations;
    locations.reserve(findings_.size());
    for (const Finding& found : findings_) locations.push_back(location(found, remote));
    return locations;
  }

  void skip(int positions) { findings_.resize(findings_.size() + positions); }

 private:
  struct Finding {
    unsigned source = CellLocation::k_none, shift = 0;
    std::array<std::int16_t, 3> corner{0, 0, 0};  // lower corner in the coarser block
    std::int32_t slot = 0, box = 0;
  };

  // Returns the cells of the block at `offset` that are within `depth`.
  Region part_near(const std::array<int, 3>& offset, int depth = k_depth) const {
    Region r;
    const int reach = std::min(depth, N_);
    for (int d = 0; d < 3; ++d) {
      r.begin[d] = static_cast<std::int16_t>(offset[d] < 0 ? N_ - reach : 0);
      r.end[d] = static_cast<std::int16_t>(offset[d] > 0 ? reach : N_);
    }
    return r;
  }

  Finding here(mesh::Holder holder, Key key, const Region& near, RemoteCells& remote) const {
    Finding found;
    found.source = mesh::is_own(holder) ? k_here : k_ghost;
    if (mesh::is_own(holder)) found.slot = holder;
    else found.box = remote.request(k_here, key, mesh::rank_of(holder), near);
    return found;
  }

  Finding coarser(Key key, const Region& near, RemoteCells& remote) const {
    const Node* node = level_ > 0 ? tree_.level(level_ - 1).find(parent_key(key)) : nullptr;
    OCTANT_REQUIRE(node, "particles: a block of level {} has no adjacent block of level {}", level_,
                   level_ - 1);
    Finding found;
    found.shift = 1;
    for (int d = 0; d < 3; ++d)
      found.corner[d] = static_cast<std::int16_t>((octant_of(key) >> d & 1) * N_ / 2);
    found.source = node->slot >= 0 ? k_coarser : k_ghost;
    if (node->slot >= 0) {
      found.slot = node->slot;
      return found;
    }
    Region region;
    for (int d = 0; d < 3; ++d) {
      region.begin[d] = static_cast<std::int16_t>(found.corner[d] + near.begin[d] / 2);
      region.end[d] = static_cast<std::int16_t>(found.corner[d] + (near.end[d] + 1) / 2);
    }
    found.box = remote.request(k_coarser, parent_key(key), node->owner, region);
    return found;
  }

  CellLocation location(const Finding& found, const RemoteCells& remote) const {
    if (found.source == CellLocation::k_none) return {};
    Region r;
    r.end.fill(static_cast<std::int16_t>(N_));
    std::int64_t first = found.slot;
    if (found.source == k_ghost) {
      r = remote.region(found.box);
      first = remote.first_ghost(found.box);
    }
    OCTANT_REQUIRE(first <= std::numeric_limits<std::int32_t>::max(),
                   "particles: level {} has more than 2^31 ghosts on a rank", level_);
    const int cells = r.end[0] - r.begin[0], rows = r.end[1] - r.begin[1];
    const auto& c = found.corner;
    return {.slot = static_cast<std::int32_t>(first),
            .origin = static_cast<std::int16_t>(
                ((c[2] - r.begin[2]) * rows + c[1] - r.begin[1]) * cells + c[0] - r.begin[0]),
            .source = static_cast<std::uint16_t>(found.source),
            .shift = static_cast<std::uint16_t>(found.shift),
            .cells = static_cast<std::uint16_t>(cells),
            .rows = static_cast<std::uint16_t>(rows)};
  }

  const mesh::Tree& tree_;
  int level_, N_;
  std::vector<Finding> findings_;
};

namespace {

// Returns a mask of those of the 27 positions around a block where the level continues or the
// domain ends. Blocks of 2^3 cells are smaller than k_margin, and count as if the level continued.
std::uint32_t level_at(const mesh::Tree& tree, int level, int slot) {
  std::uint32_t open_positions = (1u << 27) - 1;
  if (tree.geometry().block_size() < k_margin) return open_positions;
  const mesh::Neighbours& holders = tree.level(level).neighbours(slot);
  const auto keys = tree.geometry().keys_around(level, tree.level(level).key(slot));
  for (int n = 0; n < 27; ++n)
    if (keys[n] != k_no_key && holders[n] == mesh::k_nobody) open_positions &= ~(1u << n);
  return open_positions;
}

}  // namespace

Neighbourhood::Neighbourhood(const mesh::Tree& tree, int level) {
  const mesh::TreeLevel& level_blocks = tree.level(level);
  const int N = tree.geometry().block_size();
  std::vector<HomeBlock> homes(level_blocks.slots());
  Builder sides(tree, level, 27 * level_blocks.slots()),
      coarse_location_finder(tree, level, level > 0 ? 27 * level_blocks.slots() : 0);
  for (int slot = 0; slot < level_blocks.slots(); ++slot) {
    const Key key = level_blocks.key(slot);
    if (key == k_no_key) {
      sides.skip(27);
      if (level > 0) coarse_location_finder.skip(27);
      continue;
    }
    const BlockCoordinates block = morton_decode(key);
    for (int d = 0; d < 3; ++d) homes[slot].first_cell[d] = block[d] * N;
    homes[slot].refined = level_blocks.refined(slot);
    sides.find_neighbours(slot, around);
    if (level == 0) continue;
    homes[slot].level_continues = level_at(tree, level, slot);
    coarse_location_finder.find_coarser_cells(slot, coarse);
  }
  around.exchange_requests(tree, level);
  coarse.exchange_requests(tree, level);
  blocks = mesh::to_device("home blocks", homes);
  locations = mesh::to_device("cell locations", sides.locations(around));
  coarse_locations =
      mesh::to_device("coarse cell locations", coarse_location_finder.locations(coarse));
}

std::int64_t Neighbourhood::bytes() const {
  return static_cast<std::int64_t>(blocks.extent(0) * sizeof(HomeBlock) +
                                   (locations.extent(0) + coarse_locations.extent(0)) *
                                       sizeof(CellLocation)) +
         around.bytes() + coarse.bytes();
}

}  // namespace octant::particles

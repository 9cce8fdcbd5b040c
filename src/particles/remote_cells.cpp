#include "particles/remote_cells.hpp"

#include <algorithm>
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

int RemoteCells::want(Source source, Key key, int owner, const Region& region) {
  if (const std::int32_t* known = box_of_[source].find(key)) {
    boxes_[*known].region.merge(region);
    return *known;
  }
  const auto box = static_cast<std::int32_t>(boxes_.size());
  box_of_[source].insert(key, box);
  boxes_.push_back({source, owner, key, region});
  return box;
}

void RemoteCells::agree(const mesh::Tree& tree, int level) {
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
  const auto asked = route<Request>(tree.communicator(), owners, requests);
  std::vector<SentCell> sent;
  const int N = tree.geometry().block_size();
  for (std::size_t n = 0; n < asked.items.size(); ++n) {
    const Request& request = asked.items[n];
    const auto* node = tree.level(level - request.source).find(request.key);
    OCTANT_REQUIRE(node && node->slot >= 0,
                   "particles: cells of level {} are requested from a rank that does not own them",
                   level - request.source);
    const Region& r = request.region;
    for (int k = r.begin[2]; k < r.end[2]; ++k)
      for (int j = r.begin[1]; j < r.end[1]; ++j)
        for (int i = r.begin[0]; i < r.end[0]; ++i)
          sent.push_back({request.source, node->slot, (k * N + j) * N + i});
    count_items(sends, asked.sources[n], r.volume());
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

void RemoteCells::give_back(const std::int64_t* ghosts, const CellArrays<std::int64_t>& cells,
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

}  // namespace octant::particles

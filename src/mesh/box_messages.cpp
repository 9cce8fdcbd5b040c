#include "mesh/box_messages.hpp"

#include <algorithm>

#include "comm/route.hpp"
#include "mesh/launch.hpp"

namespace octant::mesh {

namespace {

void pack_boxes(const DeviceArray<const StaggeredBox>& boxes, const StaggeredView& earlier,
                const StaggeredView& later, double theta, double* message) {
  for_items_of(
      {"pack faces"}, boxes, KOKKOS_LAMBDA(const StaggeredBox& box, int n) {
        int at[3];
        box.point(n, at);
        const double now = later(box.slot, box.component, at);
        message[box.message + n] =
            theta == 1.0 ? now : (1.0 - theta) * earlier(box.slot, box.component, at) + theta * now;
      });
}

void unpack_boxes(const DeviceArray<const StaggeredBox>& boxes, const double* message,
                  const StaggeredView& target) {
  for_items_of(
      {"unpack faces"}, boxes, KOKKOS_LAMBDA(const StaggeredBox& box, int n) {
        int at[3];
        box.point(n, at);
        target(box.slot, box.component, at) = message[box.message + n];
      });
}

StaggeredBox placed(int slot, const std::int32_t (&begin)[3], const TargetBox& to,
                    std::int64_t& doubles) {
  StaggeredBox box{slot,
                   to.component,
                   {begin[0], begin[1], begin[2]},
                   {to.extent[0], to.extent[1], to.extent[2]},
                   doubles};
  doubles += box.items();
  return box;
}

}  // namespace

BoxMessages::BoxMessages(const Communicator& communicator, const TreeLevel& targets,
                         std::vector<BoxCopy> copies) {
  std::ranges::stable_sort(copies, {}, &BoxCopy::rank);
  std::vector<Segment> sends;
  std::vector<int> ranks;
  std::vector<TargetBox> leaving;
  std::vector<StaggeredBox> sent, received;
  std::int64_t doubles = 0;
  for (const BoxCopy& copy : copies) {
    sent.push_back(placed(copy.source_slot, copy.source_begin, copy.to, doubles));
    count_items(sends, copy.rank, sent.back().items());
    ranks.push_back(copy.rank);
    leaving.push_back(copy.to);
  }
  const auto arriving = route<TargetBox>(communicator, ranks, leaving);
  doubles = 0;
  for (const TargetBox& to : arriving.items) {
    const int slot = targets.find(to.target)->slot;
    received.push_back(placed(slot, to.begin, to, doubles));
    arrivals_.push_back({slot, to.position});
  }
  sent_ = to_device("sent faces", sent);
  received_ = to_device("received faces", received);
  plan_ = std::make_unique<ExchangePlan>(ExchangePlan::from_sends(communicator, std::move(sends)));
}

void BoxMessages::run(Exchanger& exchanger, const StaggeredView& source,
                      const StaggeredView& target) const {
  run(exchanger, source, source, 1.0, target);
}

void BoxMessages::run(Exchanger& exchanger, const StaggeredView& earlier,
                      const StaggeredView& source, double theta,
                      const StaggeredView& target) const {
  const auto leaving = uninitialised<double>("sent faces", plan_->items_sent());
  const auto arriving = uninitialised<double>("received faces", plan_->items_received());
  pack_boxes(sent_, earlier, source, theta, leaving.data());
  exchanger.run<double>(*plan_, leaving.data(), arriving.data(), 1);
  unpack_boxes(received_, arriving.data(), target);
}

}  // namespace octant::mesh

#include "telemetry/window.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>
#include <type_traits>
#include <utility>

namespace octant::telemetry {

namespace {

class Packer {
 public:
  template <class T>
  void add(const std::vector<T>& items) {
    static_assert(std::is_trivially_copyable_v<T>);
    const std::uint64_t count = items.size();
    add_bytes(&count, sizeof count);
    add_bytes(items.data(), items.size() * sizeof(T));
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  void add_bytes(const void* from, std::size_t count) {
    const auto* begin = static_cast<const std::byte*>(from);
    bytes_.insert(bytes_.end(), begin, begin + count);
  }
  std::vector<std::byte> bytes_;
};

class Unpacker {
 public:
  explicit Unpacker(std::span<const std::byte> bytes) : bytes_(bytes) {}
  template <class T>
  std::vector<T> next() {
    std::uint64_t count = 0;
    copy(&count, sizeof count);
    std::vector<T> items(count);
    copy(items.data(), count * sizeof(T));
    return items;
  }
  bool is_empty() const { return bytes_.empty(); }

 private:
  void copy(void* to, std::size_t count) {
    if (count > 0) std::memcpy(to, bytes_.data(), count);
    bytes_ = bytes_.subspan(count);
  }
  std::span<const std::byte> bytes_;
};

template <class Row>
std::vector<Row> between(const std::vector<Row>& rows, std::int64_t first, std::int64_t last) {
  std::vector<Row> some;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(some),
               [&](const Row& row) { return row.step >= first && row.step <= last; });
  return some;
}

template <class Row>
std::int64_t bytes_of(const std::vector<Row>& rows) {
  return static_cast<std::int64_t>(rows.size() * sizeof(Row));
}

template <class Row>
void add(std::vector<Row>& to, const std::vector<Row>& rows) {
  to.insert(to.end(), rows.begin(), rows.end());
}

// The same, for rows whose `names` count in another list of names.
template <class Row, class... Name>
void add(std::vector<Row>& to, std::vector<Row> rows, const std::vector<std::int32_t>& numbers,
         Name Row::*... names) {
  for (Row& row : rows) ((row.*names = numbers[static_cast<std::size_t>(row.*names)]), ...);
  add(to, rows);
}

}  // namespace

void Window::clear() {
  steps.clear();
  ranks.clear();
  phases.clear();
  kernels.clear();
  launches.clear();
  messages.clear();
  copies.clear();
  blocks.clear();
  placement.clear();
  events.clear();
  events_dropped = 0;
}

void Window::append(const Window& other) {
  add(steps, other.steps);
  add(ranks, other.ranks);
  add(phases, other.phases);
  add(kernels, other.kernels);
  add(launches, other.launches);
  add(messages, other.messages);
  add(copies, other.copies);
  add(blocks, other.blocks);
  add(placement, other.placement);
  add(events, other.events);
  events_dropped += other.events_dropped;
}

Window Window::between(std::int64_t first, std::int64_t last) const {
  return {.names = names,
          .steps = telemetry::between(steps, first, last),
          .ranks = telemetry::between(ranks, first, last),
          .phases = telemetry::between(phases, first, last),
          .kernels = telemetry::between(kernels, first, last),
          .launches = telemetry::between(launches, first, last),
          .messages = telemetry::between(messages, first, last),
          .copies = telemetry::between(copies, first, last),
          .blocks = telemetry::between(blocks, first, last),
          .placement = telemetry::between(placement, first, last),
          .events = telemetry::between(events, first, last),
          .events_dropped = events_dropped};
}

std::int64_t Window::bytes() const {
  return bytes_of(steps) + bytes_of(ranks) + bytes_of(phases) + bytes_of(kernels) +
         bytes_of(launches) + bytes_of(messages) + bytes_of(copies) + bytes_of(blocks) +
         bytes_of(placement) + bytes_of(events);
}

std::vector<std::byte> Window::packed() const {
  std::vector<char> text;
  for (const std::string& name : names.names()) {
    text.insert(text.end(), name.begin(), name.end());
    text.push_back('\0');
  }
  Packer packer;
  packer.add(text);
  packer.add(steps);
  packer.add(ranks);
  packer.add(phases);
  packer.add(kernels);
  packer.add(launches);
  packer.add(messages);
  packer.add(copies);
  packer.add(blocks);
  packer.add(placement);
  packer.add(events);
  packer.add(std::vector{events_dropped});
  return packer.take();
}

void Window::append_packed(std::span<const std::byte> bytes) {
  Unpacker unpacker(bytes);
  while (!unpacker.is_empty()) {
    const auto text = unpacker.next<char>();
    std::vector<std::int32_t> numbers;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::string_view name(text.data() + begin);
      numbers.push_back(names.number(name));
      begin += name.size() + 1;
    }
    add(steps, unpacker.next<StepRow>());
    add(ranks, unpacker.next<RankRow>());
    add(phases, unpacker.next<PhaseRow>(), numbers, &PhaseRow::name);
    add(kernels, unpacker.next<KernelRow>(), numbers, &KernelRow::name, &KernelRow::part);
    add(launches, unpacker.next<LaunchRow>(), numbers, &LaunchRow::name, &LaunchRow::part);
    add(messages, unpacker.next<MessageRow>(), numbers, &MessageRow::component);
    add(copies, unpacker.next<CopyRow>(), numbers, &CopyRow::name);
    add(blocks, unpacker.next<BlockRow>());
    add(placement, unpacker.next<PlacementRow>(), numbers, &PlacementRow::policy);
    add(events, unpacker.next<EventRow>(), numbers, &EventRow::name);
    events_dropped += unpacker.next<std::int64_t>().front();
  }
}

}  // namespace octant::telemetry

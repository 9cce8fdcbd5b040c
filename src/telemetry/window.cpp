#include "telemetry/window.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>
#include <tuple>
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

// All tables of a window, sorted by name.
template <class AnyWindow>
auto tables_of(AnyWindow& window) {
  return std::tie(window.steps, window.ranks, window.phases, window.kernels, window.launches,
                  window.samples, window.messages, window.copies, window.blocks, window.placement,
                  window.events);
}
constexpr const char* k_tables[] = {"steps",    "ranks",     "phases",   "kernels",
                                    "launches", "samples",   "messages", "copies",
                                    "blocks",   "placement", "events"};

template <class AnyWindow, class Visit>
void for_each_table(AnyWindow& window, const Visit& visit) {
  std::apply([&](auto&... rows) { (visit(rows), ...); }, tables_of(window));
}

// Calls visit(rows, rows of the other window) for every table of two windows.
template <class Visit>
void for_each_pair(Window& window, const Window& other, const Visit& visit) {
  const auto tables = tables_of(window);
  const auto others = tables_of(other);
  [&]<std::size_t... n>(std::index_sequence<n...>) {
    (visit(std::get<n>(tables), std::get<n>(others)), ...);
  }
  (std::make_index_sequence<std::size(k_tables)>());
}

// Converts the name indices of a row from another list of names.
template <class Row>
void renumber(Row& row, const std::vector<std::int32_t>& numbers) {
  const auto set = [&](std::int32_t& name) { name = numbers[static_cast<std::size_t>(name)]; };
  if constexpr (requires { row.name; }) set(row.name);
  if constexpr (requires { row.part; }) set(row.part);
  if constexpr (requires { row.component; }) set(row.component);
  if constexpr (requires { row.policy; }) set(row.policy);
}

using Names = std::vector<std::string>;  // names that the rows refer to

template <class Row, class Value>
Column column(const char* name, const std::vector<Row>& rows, Value Row::*field) {
  std::vector<Value> values;
  values.reserve(rows.size());
  for (const Row& row : rows) values.push_back(row.*field);
  return {name, std::move(values)};
}

template <class Row>
Column text_column(const char* name, const std::vector<Row>& rows, std::int32_t Row::*field,
                   const Names& names) {
  return {name,
          Texts{std::get<std::vector<std::int32_t>>(column(name, rows, field).values), names}};
}

// Column of an enumeration with `count` values, named by to_string().
template <class Kind, int count, class Row>
Column kind_column(const char* name, const std::vector<Row>& rows, Kind Row::*field) {
  static const Names k_names = [] {
    Names names;
    for (int n = 0; n < count; ++n) names.emplace_back(to_string(static_cast<Kind>(n)));
    return names;
  }();
  Texts texts{{}, k_names};
  for (const Row& row : rows) texts.numbers.push_back(static_cast<std::int32_t>(row.*field));
  return {name, std::move(texts)};
}

template <class Row>
Column phase_column(const std::vector<Row>& rows) {
  return kind_column<Phase, k_phases>("phase", rows, &Row::phase);
}

// Column of a condition, with the names of false and true.
template <class Row>
Column yes_no_column(const char* name, const std::vector<Row>& rows, bool Row::*field,
                     const Names& names) {
  Texts texts{{}, names};
  for (const Row& row : rows) texts.numbers.push_back(row.*field ? 1 : 0);
  return {name, std::move(texts)};
}

std::vector<Column> columns(const std::vector<StepRow>& rows, const Names&) {
  return {column("step", rows, &StepRow::step),
          column("time", rows, &StepRow::time),
          column("dt", rows, &StepRow::dt),
          column("start_ns", rows, &StepRow::start_ns),
          column("end_ns", rows, &StepRow::end_ns),
          column("blocks", rows, &StepRow::blocks),
          column("leaf_cells", rows, &StepRow::leaf_cells),
          column("updates", rows, &StepRow::updates),
          column("finest_level", rows, &StepRow::finest_level),
          column("regridded", rows, &StepRow::regridded),
          column("rebalanced", rows, &StepRow::rebalanced)};
}

std::vector<Column> columns(const std::vector<RankRow>& rows, const Names&) {
  return {column("step", rows, &RankRow::step),
          column("rank", rows, &RankRow::rank),
          column("node", rows, &RankRow::node),
          column("start_ns", rows, &RankRow::start_ns),
          column("end_ns", rows, &RankRow::end_ns),
          column("cpu_ns", rows, &RankRow::cpu_ns),
          column("memory_bytes", rows, &RankRow::memory_bytes),
          column("memory_peak_bytes", rows, &RankRow::memory_peak_bytes),
          column("data_bytes", rows, &RankRow::data_bytes),
          column("device_bytes", rows, &RankRow::device_bytes),
          column("blocks", rows, &RankRow::blocks),
          column("leaf_cells", rows, &RankRow::leaf_cells),
          column("updates", rows, &RankRow::updates),
          column("work", rows, &RankRow::work)};
}

std::vector<Column> columns(const std::vector<PhaseRow>& rows, const Names& names) {
  return {column("step", rows, &PhaseRow::step),
          column("rank", rows, &PhaseRow::rank),
          column("level", rows, &PhaseRow::level),
          phase_column(rows),
          text_column("name", rows, &PhaseRow::name, names),
          column("task", rows, &PhaseRow::task),
          column("parent", rows, &PhaseRow::parent),
          column("calls", rows, &PhaseRow::calls),
          column("start_ns", rows, &PhaseRow::start_ns),
          column("total_ns", rows, &PhaseRow::total_ns),
          column("self_ns", rows, &PhaseRow::self_ns),
          column("cpu_ns", rows, &PhaseRow::cpu_ns),
          column("cells", rows, &PhaseRow::cells),
          column("bytes", rows, &PhaseRow::bytes)};
}

std::vector<Column> columns(const std::vector<KernelRow>& rows, const Names& names) {
  return {column("step", rows, &KernelRow::step),
          column("rank", rows, &KernelRow::rank),
          column("level", rows, &KernelRow::level),
          text_column("name", rows, &KernelRow::name, names),
          text_column("part", rows, &KernelRow::part, names),
          column("task", rows, &KernelRow::task),
          column("calls", rows, &KernelRow::calls),
          column("start_ns", rows, &KernelRow::start_ns),
          column("duration_ns", rows, &KernelRow::duration_ns),
          column("items", rows, &KernelRow::items),
          column("bytes", rows, &KernelRow::bytes),
          column("operations", rows, &KernelRow::operations)};
}

std::vector<Column> columns(const std::vector<LaunchRow>& rows, const Names& names) {
  return {column("step", rows, &LaunchRow::step),
          column("rank", rows, &LaunchRow::rank),
          column("level", rows, &LaunchRow::level),
          text_column("name", rows, &LaunchRow::name, names),
          text_column("part", rows, &LaunchRow::part, names),
          column("task", rows, &LaunchRow::task),
          column("start_ns", rows, &LaunchRow::start_ns),
          column("duration_ns", rows, &LaunchRow::duration_ns)};
}

std::vector<Column> columns(const std::vector<SampleRow>& rows, const Names& names) {
  return {column("step", rows, &SampleRow::step),
          column("rank", rows, &SampleRow::rank),
          column("level", rows, &SampleRow::level),
          yes_no_column("kind", rows, &SampleRow::is_kernel, {"task", "kernel"}),
          text_column("name", rows, &SampleRow::name, names),
          column("task", rows, &SampleRow::task),
          column("start_ns", rows, &SampleRow::start_ns),
          column("duration_ns", rows, &SampleRow::duration_ns)};
}

std::vector<Column> columns(const std::vector<MessageRow>& rows, const Names& names) {
  return {column("step", rows, &MessageRow::step),
          column("rank", rows, &MessageRow::rank),
          column("peer", rows, &MessageRow::peer),
          text_column("component", rows, &MessageRow::component, names),
          yes_no_column("direction", rows, &MessageRow::received, {"send", "receive"}),
          column("messages", rows, &MessageRow::messages),
          column("bytes", rows, &MessageRow::bytes),
          column("wait_ns", rows, &MessageRow::wait_ns),
          column("post_ns", rows, &MessageRow::post_ns)};
}

std::vector<Column> columns(const std::vector<CopyRow>& rows, const Names& names) {
  return {column("step", rows, &CopyRow::step),
          column("rank", rows, &CopyRow::rank),
          column("level", rows, &CopyRow::level),
          text_column("name", rows, &CopyRow::name, names),
          kind_column<TransferKind, k_transfer_kinds>("cargo", rows, &CopyRow::transfer),
          kind_column<TransferDirection, k_transfer_directions>("way", rows, &CopyRow::direction),
          column("copies", rows, &CopyRow::copies),
          column("bytes", rows, &CopyRow::bytes)};
}

std::vector<Column> columns(const std::vector<BlockRow>& rows, const Names&) {
  return {column("step", rows, &BlockRow::step),
          column("rank", rows, &BlockRow::rank),
          column("level", rows, &BlockRow::level),
          column("key", rows, &BlockRow::key),
          column("updates", rows, &BlockRow::updates),
          column("cost_ns", rows, &BlockRow::cost_ns),
          column("work", rows, &BlockRow::work),
          column("gravity_ns", rows, &BlockRow::gravity_ns),
          column("cells_ns", rows, &BlockRow::cells_ns),
          column("particles_ns", rows, &BlockRow::particles_ns),
          column("interactions_ns", rows, &BlockRow::interactions_ns)};
}

std::vector<Column> columns(const std::vector<PlacementRow>& rows, const Names& names) {
  return {column("step", rows, &PlacementRow::step),
          column("level", rows, &PlacementRow::level),
          text_column("policy", rows, &PlacementRow::policy, names),
          column("cplx_x", rows, &PlacementRow::cplx_x),
          column("makespan_before", rows, &PlacementRow::makespan_before),
          column("makespan_after", rows, &PlacementRow::makespan_after),
          column("blocks_moved", rows, &PlacementRow::blocks_moved),
          column("bytes_moved", rows, &PlacementRow::bytes_moved),
          column("off_rank_share", rows, &PlacementRow::off_rank_share),
          column("off_node_share", rows, &PlacementRow::off_node_share),
          column("duration_ns", rows, &PlacementRow::duration_ns)};
}

std::vector<Column> columns(const std::vector<EventRow>& rows, const Names& names) {
  return {column("step", rows, &EventRow::step),
          column("rank", rows, &EventRow::rank),
          column("level", rows, &EventRow::level),
          phase_column(rows),
          text_column("name", rows, &EventRow::name, names),
          column("start_ns", rows, &EventRow::start_ns),
          column("duration_ns", rows, &EventRow::duration_ns),
          column("peer", rows, &EventRow::peer),
          column("sequence", rows, &EventRow::sequence),
          column("bytes", rows, &EventRow::bytes)};
}

}  // namespace

void Window::clear() {
  telemetry::for_each_table(*this, [](auto& rows) { rows.clear(); });
  events_dropped = 0;
}

void Window::append(const Window& other) {
  for_each_pair(*this, other, [](auto& rows, const auto& more) {
    rows.insert(rows.end(), more.begin(), more.end());
  });
  events_dropped += other.events_dropped;
}

Window Window::between(std::int64_t first, std::int64_t last) const {
  Window some;
  some.names = names;
  some.events_dropped = events_dropped;
  for_each_pair(some, *this, [&](auto& rows, const auto& all) {
    std::copy_if(all.begin(), all.end(), std::back_inserter(rows),
                 [&](const auto& row) { return row.step >= first && row.step <= last; });
  });
  return some;
}

std::int64_t Window::bytes() const {
  std::size_t bytes = 0;
  telemetry::for_each_table(*this,
                            [&](const auto& rows) { bytes += rows.size() * sizeof(rows[0]); });
  return static_cast<std::int64_t>(bytes);
}

std::vector<std::byte> Window::packed() const {
  std::vector<char> text;
  for (const std::string& name : names.names()) {
    text.insert(text.end(), name.begin(), name.end());
    text.push_back('\0');
  }
  Packer packer;
  packer.add(text);
  telemetry::for_each_table(*this, [&](const auto& rows) { packer.add(rows); });
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
    telemetry::for_each_table(*this, [&]<class Row>(std::vector<Row>& rows) {
      for (Row row : unpacker.next<Row>()) {
        renumber(row, numbers);
        rows.push_back(row);
      }
    });
    events_dropped += unpacker.next<std::int64_t>().front();
  }
}

void Window::for_each_table(const VisitTable& visit) const {
  const char* const* name = k_tables;
  telemetry::for_each_table(
      *this, [&](const auto& rows) { visit(*name++, rows.size(), columns(rows, names.names())); });
}

}  // namespace octant::telemetry

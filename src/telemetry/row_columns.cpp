#include "telemetry/row_columns.hpp"

#include <utility>

namespace octant::telemetry {

namespace {

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

// Of an enumeration with so many values, which to_string() names.
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

Column direction_column(const std::vector<MessageRow>& rows) {
  static const Names k_names{"send", "receive"};
  Texts texts{{}, k_names};
  for (const MessageRow& row : rows) texts.numbers.push_back(row.received ? 1 : 0);
  return {"direction", std::move(texts)};
}

}  // namespace

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
          column("start_ns", rows, &LaunchRow::start_ns),
          column("duration_ns", rows, &LaunchRow::duration_ns)};
}

std::vector<Column> columns(const std::vector<MessageRow>& rows, const Names& names) {
  return {column("step", rows, &MessageRow::step),
          column("rank", rows, &MessageRow::rank),
          column("peer", rows, &MessageRow::peer),
          text_column("component", rows, &MessageRow::component, names),
          direction_column(rows),
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
          kind_column<Cargo, k_cargoes>("cargo", rows, &CopyRow::cargo),
          kind_column<Way, k_ways>("way", rows, &CopyRow::way),
          column("copies", rows, &CopyRow::copies),
          column("bytes", rows, &CopyRow::bytes)};
}

std::vector<Column> columns(const std::vector<BlockRow>& rows, const Names&) {
  return {column("step", rows, &BlockRow::step),       column("rank", rows, &BlockRow::rank),
          column("level", rows, &BlockRow::level),     column("key", rows, &BlockRow::key),
          column("updates", rows, &BlockRow::updates), column("cost_ns", rows, &BlockRow::cost_ns),
          column("work", rows, &BlockRow::work)};
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

}  // namespace octant::telemetry

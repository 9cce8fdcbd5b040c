// The columns of every table, after `segment`: names and types as in docs/telemetry.md.
#pragma once

#include <string>
#include <vector>

#include "telemetry/measured_rows.hpp"
#include "telemetry/parquet_file.hpp"

namespace octant::telemetry {

// `names` is what the rows' names count in.
using Names = std::vector<std::string>;

std::vector<Column> columns(const std::vector<StepRow>& rows, const Names& names);
std::vector<Column> columns(const std::vector<RankRow>& rows, const Names& names);
std::vector<Column> columns(const std::vector<PhaseRow>& rows, const Names& names);
std::vector<Column> columns(const std::vector<KernelRow>& rows, const Names& names);
std::vector<Column> columns(const std::vector<LaunchRow>& rows, const Names& names);
std::vector<Column> columns(const std::vector<MessageRow>& rows, const Names& names);
std::vector<Column> columns(const std::vector<CopyRow>& rows, const Names& names);
std::vector<Column> columns(const std::vector<BlockRow>& rows, const Names& names);
std::vector<Column> columns(const std::vector<PlacementRow>& rows, const Names& names);
std::vector<Column> columns(const std::vector<EventRow>& rows, const Names& names);

}  // namespace octant::telemetry

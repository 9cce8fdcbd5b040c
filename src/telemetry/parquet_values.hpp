// Columns of values as the bytes of Parquet's pages.
// github.com/apache/parquet-format/blob/master/Encodings.md
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "telemetry/parquet_file.hpp"

namespace octant::telemetry::parquet {

std::int64_t rows_of(const Column& column);

// A column without rows, of the type at this place of Column::values.
Column empty_column(const std::string& name, std::size_t type);

// The rows of a column: numbers as they are, texts as numbers in their list.
std::vector<std::byte> value_bytes(const Column& column);
std::vector<std::byte> list_bytes(const std::vector<std::string>& list);

// Append to a column what the functions above made. Throw RunError if bytes are missing.
void append_values(Column& column, std::span<const std::byte> bytes, std::int64_t count);
std::vector<std::string> list_in(std::span<const std::byte> bytes, std::int64_t count);

// Appends rows of a column of the same type.
void append_rows(Column& to, const Column& from, std::int64_t count);

}  // namespace octant::telemetry::parquet

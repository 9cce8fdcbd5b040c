#include "telemetry/parquet_output.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/error.hpp"
#include "telemetry/deflate.hpp"
#include "telemetry/parquet_layout.hpp"
#include "telemetry/parquet_values.hpp"

namespace octant::telemetry::parquet {

namespace {

constexpr std::int64_t k_rows_per_group = 1 << 20;

std::string hidden_beside(const std::string& path) {
  const std::filesystem::path whole(path);
  return (whole.parent_path() / fmt::format(".{}.part", whole.filename().string())).string();
}

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

int codec() { return deflate_is_available() ? k_gzip : k_uncompressed; }

// What a file's description calls its table, and what is in it.
Thrift::List schema_of(std::span<const Column> columns) {
  const auto count = static_cast<std::int32_t>(columns.size());
  Thrift::List schema{
      {Thrift::Structure{{element::name, {std::string("table")}}, {element::children, {count}}}}};
  for (const Column& column : columns) {
    const Type type = k_types.at(column.values.index());
    Thrift::Structure fields{{element::type, {type.physical}},
                             {element::repetition, {k_required}},
                             {element::name, {column.name}}};
    if (type.converted >= 0) fields.push_back({element::converted, {type.converted}});
    schema.push_back({std::move(fields)});
  }
  return schema;
}

Thrift::List pairs_of(const Metadata& metadata) {
  Thrift::List pairs;
  for (const auto& [key, value] : metadata)
    pairs.push_back({Thrift::Structure{{pair::key, {key}}, {pair::value, {value}}}});
  return pairs;
}

}  // namespace

Output::Output(const std::string& path, int effort)
    : path_(path), part_(hidden_beside(path)), effort_(effort), file_(part_, std::ios::binary) {
  write_bytes(bytes_of(k_magic));
}

Output::~Output() {
  if (!done_) std::remove(part_.c_str());
}

void Output::write_bytes(std::span<const std::byte> bytes) {
  file_.write(reinterpret_cast<const char*>(bytes.data()),
              static_cast<std::streamsize>(bytes.size()));
  if (!file_) throw RunError("{}", std::strerror(errno));
  bytes_ += static_cast<std::int64_t>(bytes.size());
}

void Output::write(std::span<const Column> columns) {
  if (schema_.empty()) schema_ = schema_of(columns);
  const std::int64_t rows = rows_of(columns.front());
  for (std::int64_t first = 0; first < rows; first += k_rows_per_group)
    write_group(columns, first, std::min(k_rows_per_group, rows - first));
}

void Output::write_group(std::span<const Column> columns, std::int64_t first, std::int64_t rows) {
  const std::int64_t before = uncompressed_;
  Thrift::List chunks;
  for (const Column& column : columns) {
    const std::int64_t offset = bytes_;
    chunks.push_back({Thrift::Structure{{chunk::offset, {offset}},
                                        {chunk::contents, {write_chunk(column, first, rows)}}}});
  }
  groups_.push_back({Thrift::Structure{{group::columns, {std::move(chunks)}},
                                       {group::bytes, {uncompressed_ - before}},
                                       {group::rows, {rows}}}});
  rows_ += rows;
}

// A page with the list, where there is one, and a page with all values.
Thrift::Structure Output::write_chunk(const Column& column, std::int64_t first, std::int64_t rows) {
  const std::int64_t begin = bytes_, uncompressed = uncompressed_;
  const Texts* texts = std::get_if<Texts>(&column.values);
  if (texts)
    write_page(k_dictionary_page, k_plain, static_cast<std::int64_t>(texts->list.size()),
               list_bytes(texts->list));
  const std::int64_t values = bytes_;
  const int encoding = texts ? k_dictionary : k_plain;
  write_page(k_data_page, encoding, rows, value_bytes(column, first, rows));
  Thrift::List encodings{{encoding}};
  if (texts) encodings.push_back({k_plain});
  Thrift::Structure fields{{contents::type, {k_types.at(column.values.index()).physical}},
                           {contents::encodings, {std::move(encodings)}},
                           {contents::path, {Thrift::List{{column.name}}}},
                           {contents::codec, {codec()}},
                           {contents::values, {rows}},
                           {contents::bytes, {uncompressed_ - uncompressed}},
                           {contents::compressed_bytes, {bytes_ - begin}},
                           {contents::data_page, {values}}};
  if (texts) fields.push_back({contents::dictionary_page, {begin}});
  return fields;
}

void Output::write_page(int type, int encoding, std::int64_t count,
                        std::span<const std::byte> values) {
  const auto fewer = deflate_is_available() ? deflated(values, effort_) : std::vector<std::byte>();
  const std::span<const std::byte> stored = deflate_is_available() ? fewer : values;
  Thrift::Structure about{{page_values::count, {static_cast<std::int32_t>(count)}},
                          {page_values::encoding, {encoding}}};
  if (type == k_data_page)
    for (const int levels : {page_values::definition_levels, page_values::repetition_levels})
      about.push_back({levels, {k_levels}});
  const auto header =
      thrift_bytes({{page::type, {type}},
                    {page::bytes, {static_cast<std::int32_t>(values.size())}},
                    {page::compressed_bytes, {static_cast<std::int32_t>(stored.size())}},
                    {type == k_data_page ? page::data : page::dictionary, {std::move(about)}}});
  write_bytes(header);
  write_bytes(stored);
  uncompressed_ += static_cast<std::int64_t>(header.size() + values.size());
}

void Output::finish(const Metadata& metadata) {
  const auto description = thrift_bytes({{file::version, {k_version}},
                                         {file::schema, {std::move(schema_)}},
                                         {file::rows, {rows_}},
                                         {file::groups, {std::move(groups_)}},
                                         {file::metadata, {pairs_of(metadata)}},
                                         {file::created_by, {std::string("Octant")}}});
  const auto length = static_cast<std::uint32_t>(description.size());
  write_bytes(description);
  write_bytes(std::as_bytes(std::span(&length, 1)));
  write_bytes(bytes_of(k_magic));
  file_.close();
  if (!file_) throw RunError("{}", std::strerror(errno));
  std::error_code failed;
  std::filesystem::rename(part_, path_, failed);
  if (failed) throw RunError("{}", failed.message());
  done_ = true;
}

}  // namespace octant::telemetry::parquet

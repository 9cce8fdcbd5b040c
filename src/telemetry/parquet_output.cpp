#include "telemetry/parquet_output.hpp"

#include <algorithm>
#include <cstdio>
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

std::string hidden_beside(const std::string& path) {
  const std::filesystem::path whole(path);
  return (whole.parent_path() / fmt::format(".{}.part", whole.filename().string())).string();
}

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

int codec() { return deflate_is_available() ? k_gzip : k_uncompressed; }

// How a file's description says what is in a column.
Thrift element_of(const Column& column) {
  const Type type = k_types.at(column.values.index());
  Thrift::Structure fields{{element::type, {type.physical}},
                           {element::repetition, {k_required}},
                           {element::name, {column.name}}};
  if (type.converted >= 0) fields.push_back({element::converted, {type.converted}});
  return {std::move(fields)};
}

Thrift::List pairs_of(const Metadata& metadata) {
  Thrift::List pairs;
  for (const auto& [key, value] : metadata)
    pairs.push_back({Thrift::Structure{{pair::key, {key}}, {pair::value, {value}}}});
  return pairs;
}

}  // namespace

Output::Output(const std::string& path, int effort)
    : path_(path), part_(hidden_beside(path)), effort_(effort), file_(part_) {
  write_bytes(bytes_of(k_magic));
}

Output::~Output() {
  if (!done_) std::remove(part_.c_str());
}

void Output::write_bytes(std::span<const std::byte> bytes) {
  file_.append(bytes);
  bytes_ += static_cast<std::int64_t>(bytes.size());
}

void Output::begin_group(std::int64_t rows) {
  group_rows_ = rows;
  uncompressed_ = 0;
  chunks_.clear();
}

void Output::add(const Column& column) {
  OCTANT_REQUIRE(rows_of(column) == group_rows_, "{} rows of {}, not {}", rows_of(column),
                 column.name, group_rows_);
  describe_chunk(column, write_chunk(column));
}

void Output::add(const Column& schema, const StoredChunk& stored) {
  const std::int64_t begin = bytes_;
  write_bytes(stored.bytes);
  uncompressed_ += stored.uncompressed;
  describe_chunk(schema, {.begin = begin,
                          .values = begin + stored.bytes_of_list,
                          .bytes = std::ssize(stored.bytes),
                          .uncompressed = stored.uncompressed,
                          .codec = static_cast<int>(stored.codec)});
}

void Output::end_group() {
  groups_.push_back({Thrift::Structure{{group::columns, {std::move(chunks_)}},
                                       {group::bytes, {uncompressed_}},
                                       {group::rows, {group_rows_}}}});
  rows_ += group_rows_;
}

// A page with the list, where there is one, and a page with all values.
Output::ChunkFacts Output::write_chunk(const Column& column) {
  const std::int64_t begin = bytes_, uncompressed = uncompressed_;
  const Texts* texts = std::get_if<Texts>(&column.values);
  if (texts)
    write_page(k_dictionary_page, k_plain, static_cast<std::int64_t>(texts->list.size()),
               list_bytes(texts->list));
  const std::int64_t values = bytes_;
  const int encoding = texts ? k_dictionary : k_plain;
  write_page(k_data_page, encoding, group_rows_, value_bytes(column));
  return {.begin = begin,
          .values = values,
          .bytes = bytes_ - begin,
          .uncompressed = uncompressed_ - uncompressed,
          .codec = codec()};
}

void Output::describe_chunk(const Column& column, const ChunkFacts& facts) {
  if (groups_.empty()) schema_.push_back(element_of(column));
  const bool has_list = std::holds_alternative<Texts>(column.values);
  Thrift::List encodings{{has_list ? k_dictionary : k_plain}};
  if (has_list) encodings.push_back({k_plain});
  Thrift::Structure fields{{contents::type, {k_types.at(column.values.index()).physical}},
                           {contents::encodings, {std::move(encodings)}},
                           {contents::path, {Thrift::List{{column.name}}}},
                           {contents::codec, {facts.codec}},
                           {contents::values, {group_rows_}},
                           {contents::bytes, {facts.uncompressed}},
                           {contents::compressed_bytes, {facts.bytes}},
                           {contents::data_page, {facts.values}}};
  if (has_list) fields.push_back({contents::dictionary_page, {facts.begin}});
  chunks_.push_back(
      {Thrift::Structure{{chunk::offset, {facts.begin}}, {chunk::contents, {std::move(fields)}}}});
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

void Output::finish(const Metadata& metadata, Storage storage) {
  // The root of the schema comes first.
  const auto count = static_cast<std::int32_t>(schema_.size());
  schema_.insert(schema_.begin(), {Thrift::Structure{{element::name, {std::string("table")}},
                                                     {element::children, {count}}}});
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
  if (storage == Storage::on_disk) file_.sync();
  file_.close();
  std::error_code failed;
  std::filesystem::rename(part_, path_, failed);
  if (failed) throw RunError("{}", system_reason(failed.value()));
  done_ = true;
  if (storage == Storage::on_disk) sync_directory_of(path_);
}

}  // namespace octant::telemetry::parquet

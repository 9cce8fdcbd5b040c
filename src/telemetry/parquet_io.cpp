#include "telemetry/parquet_io.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/own_files.hpp"
#include "telemetry/parquet_values.hpp"

namespace octant::telemetry::parquet {

namespace {

constexpr std::int64_t k_most_rows = std::int64_t{1} << 40;  // of a group

std::ifstream opened(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw RunError("{}", system_reason());
  return file;
}

std::vector<std::byte> bytes_at(std::ifstream& file, std::int64_t offset, std::int64_t count) {
  const std::int64_t size = file.seekg(0, std::ios::end).tellg();
  if (offset < 0 || count < 0 || count > size || offset > size - count)
    throw RunError("this is not a Parquet file, or the file is incomplete");
  std::vector<std::byte> bytes(static_cast<std::size_t>(count));
  file.seekg(offset).read(reinterpret_cast<char*>(bytes.data()), count);
  if (!file) throw RunError("{}", system_reason());
  return bytes;
}

// Metadata of a file, stored at its end.
Thrift description_of(const std::string& path) {
  std::ifstream file = opened(path);
  const std::int64_t size = file.seekg(0, std::ios::end).tellg();
  constexpr auto k_end = static_cast<std::int64_t>(sizeof(std::uint32_t) + k_magic.size());
  const auto end = bytes_at(file, size - k_end, k_end);
  if (std::memcmp(end.data() + sizeof(std::uint32_t), k_magic.data(), k_magic.size()) != 0)
    throw RunError("this is not a Parquet file, or the file is incomplete");
  std::uint32_t length = 0;
  std::memcpy(&length, end.data(), sizeof length);
  const auto bytes = bytes_at(file, size - k_end - length, length);
  std::span<const std::byte> left = bytes;
  return read_thrift(left);
}

// Page of a chunk, parsed from its bytes.
struct PageInFile {
  Thrift header;
  std::vector<std::byte> values;
};

PageInFile next_page(std::span<const std::byte>& chunk, std::int64_t codec) {
  Thrift header = read_thrift(chunk);
  const auto stored = static_cast<std::size_t>(header.at(page::compressed_bytes).integer());
  if (stored > chunk.size()) throw RunError("the data are corrupt (unexpected end of data)");
  const auto bytes = chunk.first(stored);
  chunk = chunk.subspan(stored);
  if (codec == k_uncompressed) return {std::move(header), {bytes.begin(), bytes.end()}};
  const auto size = static_cast<std::size_t>(header.at(page::bytes).integer());
  constexpr std::size_t k_most_per_byte = 1100;  // deflate gains at most a factor of 1032
  if (size / k_most_per_byte > stored)
    throw RunError("the data are corrupt ({} compressed bytes of {})", stored, size);
  return {std::move(header), inflated(bytes, size)};
}

// Returns an empty column for an element of the schema.
Column column_of(const Thrift& element) {
  Type type{static_cast<int>(element.at(element::type).integer())};
  if (const Thrift* converted = element.find(element::converted))
    type.converted = static_cast<int>(converted->integer());
  const std::string& name = element.at(element::name).text();
  const auto known = std::find(k_types.begin(), k_types.end(), type);
  if (known == k_types.end()) throw RunError("the column {} has an unsupported type", name);
  return empty_column(name, known - k_types.begin());
}

}  // namespace

Input::Input(const std::string& path) : path_(path) {
  const Thrift description = description_of(path);
  const Thrift::List& schema = description.at(file::schema).list();
  for (std::size_t n = 1; n < schema.size(); ++n) schema_.push_back(column_of(schema[n]));
  for (const Thrift& in_file : description.at(file::groups).list()) {
    Group group{in_file.at(group::rows).integer(), {}};
    if (group.rows < 0 || group.rows > k_most_rows)
      throw RunError("the Parquet metadata are corrupt ({} rows in a group)", group.rows);
    for (const Thrift& chunk : in_file.at(group::columns).list())
      group.chunks.push_back(chunk_of(chunk.at(chunk::contents)));
    groups_.push_back(std::move(group));
  }
  if (const Thrift* pairs = description.find(file::metadata))
    for (const Thrift& pair : pairs->list())
      metadata_[pair.at(pair::key).text()] = pair.at(pair::value).text();
}

Input::Chunk Input::chunk_of(const Thrift& contents) {
  const std::int64_t values = contents.at(contents::data_page).integer();
  const Thrift* list = contents.find(contents::dictionary_page);
  const std::int64_t offset = list ? list->integer() : values;
  if (values < 0 || offset < 0)
    throw RunError("the Parquet metadata are corrupt (a page begins at byte {})",
                   std::min(values, offset));
  return {.offset = offset,
          .bytes = contents.at(contents::compressed_bytes).integer(),
          .codec = contents.at(contents::codec).integer(),
          .uncompressed = contents.at(contents::bytes).integer(),
          .bytes_of_list = values - offset};
}

StoredChunk Input::stored(std::size_t number, std::size_t group) const {
  const Chunk& chunk = groups_.at(group).chunks.at(number);
  std::ifstream file = opened(path_);
  return {.bytes = bytes_at(file, chunk.offset, chunk.bytes),
          .codec = chunk.codec,
          .uncompressed = chunk.uncompressed,
          .bytes_of_list = chunk.bytes_of_list};
}

Column Input::column(const std::string& name) const {
  const auto found = std::find_if(schema_.begin(), schema_.end(),
                                  [&](const Column& column) { return column.name == name; });
  if (found == schema_.end()) throw RunError("the file has no column {}", name);
  Column column = *found;
  for (std::size_t n = 0; n < groups(); ++n) append(column, found - schema_.begin(), n, rows(n));
  return column;
}

void Input::append(Column& column, std::size_t number, std::size_t group, std::int64_t rows) const {
  const Chunk& chunk = groups_.at(group).chunks.at(number);
  if (chunk.codec != k_uncompressed && chunk.codec != k_gzip)
    throw RunError("the compression codec is not supported; expected gzip");
  std::ifstream file = opened(path_);
  const auto bytes = bytes_at(file, chunk.offset, chunk.bytes);
  std::span<const std::byte> left = bytes;
  Column all = schema_.at(number);
  const bool has_list = chunk.bytes_of_list != 0;
  if (has_list) {
    const auto [header, values] = next_page(left, chunk.codec);
    const std::int64_t count = header.at(page::dictionary).at(page_values::count).integer();
    std::get<Texts>(all.values).list = list_in(values, count);
  }
  const auto [header, values] = next_page(left, chunk.codec);
  const Thrift& about = header.at(page::data);
  const int encoding = has_list ? k_dictionary : k_plain;
  if (about.at(page_values::encoding).integer() != encoding ||
      about.at(page_values::count).integer() != this->rows(group))
    throw RunError("the encoding of the column is not supported");
  append_values(all, values, this->rows(group));
  append_rows(column, all, rows);
}

namespace {

std::string hidden_beside(const std::string& path) {
  const std::filesystem::path whole(path);
  return (whole.parent_path() / fmt::format(".{}.part", whole.filename().string())).string();
}

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

int codec() { return deflate_is_available() ? k_gzip : k_uncompressed; }

// Returns the schema element of a column.
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

Output::Output(const std::string& path, int compression_level)
    : path_(path), part_(hidden_beside(path)), compression_level_(compression_level), file_(part_) {
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

// Writes a page with the dictionary, if any, and a page with all values.
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

void Output::describe_chunk(const Column& column, const ChunkFacts& attributes) {
  if (groups_.empty()) schema_.push_back(element_of(column));
  const bool has_list = std::holds_alternative<Texts>(column.values);
  Thrift::List encodings{{has_list ? k_dictionary : k_plain}};
  if (has_list) encodings.push_back({k_plain});
  Thrift::Structure fields{{contents::type, {k_types.at(column.values.index()).physical}},
                           {contents::encodings, {std::move(encodings)}},
                           {contents::path, {Thrift::List{{column.name}}}},
                           {contents::codec, {attributes.codec}},
                           {contents::values, {group_rows_}},
                           {contents::bytes, {attributes.uncompressed}},
                           {contents::compressed_bytes, {attributes.bytes}},
                           {contents::data_page, {attributes.values}}};
  if (has_list) fields.push_back({contents::dictionary_page, {attributes.begin}});
  chunks_.push_back({Thrift::Structure{{chunk::offset, {attributes.begin}},
                                       {chunk::contents, {std::move(fields)}}}});
}

void Output::write_page(int type, int encoding, std::int64_t count,
                        std::span<const std::byte> values) {
  const auto fewer =
      deflate_is_available() ? deflated(values, compression_level_) : std::vector<std::byte>();
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

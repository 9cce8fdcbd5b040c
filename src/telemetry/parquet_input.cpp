#include "telemetry/parquet_input.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <span>
#include <utility>

#include "core/error.hpp"
#include "core/own_files.hpp"
#include "telemetry/deflate.hpp"
#include "telemetry/parquet_layout.hpp"
#include "telemetry/parquet_values.hpp"

namespace octant::telemetry::parquet {

namespace {

std::ifstream opened(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw RunError("{}", system_reason());
  return file;
}

std::vector<std::byte> bytes_at(std::ifstream& file, std::int64_t offset, std::int64_t count) {
  const std::int64_t size = file.seekg(0, std::ios::end).tellg();
  if (offset < 0 || count < 0 || offset > size - count)
    throw RunError("it is not a Parquet file, or it is incomplete");
  std::vector<std::byte> bytes(static_cast<std::size_t>(count));
  file.seekg(offset).read(reinterpret_cast<char*>(bytes.data()), count);
  if (!file) throw RunError("{}", system_reason());
  return bytes;
}

// What a file says about itself, at its end.
Thrift description_of(const std::string& path) {
  std::ifstream file = opened(path);
  const std::int64_t size = file.seekg(0, std::ios::end).tellg();
  constexpr auto k_end = static_cast<std::int64_t>(sizeof(std::uint32_t) + k_magic.size());
  const auto end = bytes_at(file, size - k_end, k_end);
  if (std::memcmp(end.data() + sizeof(std::uint32_t), k_magic.data(), k_magic.size()) != 0)
    throw RunError("it is not a Parquet file, or it is incomplete");
  std::uint32_t length = 0;
  std::memcpy(&length, end.data(), sizeof length);
  const auto bytes = bytes_at(file, size - k_end - length, length);
  std::span<const std::byte> left = bytes;
  return read_thrift(left);
}

// A page of a chunk, whose bytes it is taken from.
struct PageInFile {
  Thrift header;
  std::vector<std::byte> values;
};

PageInFile next_page(std::span<const std::byte>& chunk, std::int64_t codec) {
  Thrift header = read_thrift(chunk);
  const auto stored = static_cast<std::size_t>(header.at(page::compressed_bytes).integer());
  if (stored > chunk.size()) throw RunError("its data are damaged (they end too early)");
  const auto bytes = chunk.first(stored);
  chunk = chunk.subspan(stored);
  if (codec == k_uncompressed) return {std::move(header), {bytes.begin(), bytes.end()}};
  const auto size = static_cast<std::size_t>(header.at(page::bytes).integer());
  return {std::move(header), inflated(bytes, size)};
}

// The column that an element of the schema describes, without rows.
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
  return {.offset = offset,
          .bytes = contents.at(contents::compressed_bytes).integer(),
          .codec = contents.at(contents::codec).integer(),
          .uncompressed = contents.at(contents::bytes).integer(),
          .bytes_of_list = values - offset};
}

StoredChunk Input::stored(std::size_t place, std::size_t group) const {
  const Chunk& chunk = groups_.at(group).chunks.at(place);
  std::ifstream file = opened(path_);
  return {.bytes = bytes_at(file, chunk.offset, chunk.bytes),
          .codec = chunk.codec,
          .uncompressed = chunk.uncompressed,
          .bytes_of_list = chunk.bytes_of_list};
}

Column Input::column(const std::string& name) const {
  const auto found = std::find_if(schema_.begin(), schema_.end(),
                                  [&](const Column& column) { return column.name == name; });
  if (found == schema_.end()) throw RunError("it has no column {}", name);
  Column column = *found;
  for (std::size_t n = 0; n < groups(); ++n) append(column, found - schema_.begin(), n, rows(n));
  return column;
}

void Input::append(Column& column, std::size_t place, std::size_t group, std::int64_t rows) const {
  const Chunk& chunk = groups_.at(group).chunks.at(place);
  if (chunk.codec != k_uncompressed && chunk.codec != k_gzip)
    throw RunError("its compression is not supported; expected gzip");
  std::ifstream file = opened(path_);
  const auto bytes = bytes_at(file, chunk.offset, chunk.bytes);
  std::span<const std::byte> left = bytes;
  Column all = schema_.at(place);
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
    throw RunError("its encoding is not supported");
  append_values(all, values, this->rows(group));
  append_rows(column, all, rows);
}

}  // namespace octant::telemetry::parquet

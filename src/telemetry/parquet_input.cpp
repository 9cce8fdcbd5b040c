#include "telemetry/parquet_input.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

#include "core/error.hpp"
#include "telemetry/deflate.hpp"
#include "telemetry/parquet_layout.hpp"
#include "telemetry/parquet_values.hpp"

namespace octant::telemetry::parquet {

namespace {

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
  if (known == k_types.end()) throw RunError("the column {} has a type of other programs", name);
  return empty_column(name, known - k_types.begin());
}

}  // namespace

Input::Input(const std::string& path) : file_(path, std::ios::binary) {
  if (!file_) throw RunError("{}", std::strerror(errno));
  size_ = file_.seekg(0, std::ios::end).tellg();
  constexpr auto k_end = static_cast<std::int64_t>(sizeof(std::uint32_t) + k_magic.size());
  const auto end = bytes_at(size_ - k_end, k_end);
  if (std::memcmp(end.data() + sizeof(std::uint32_t), k_magic.data(), k_magic.size()) != 0)
    throw RunError("it is no Parquet file, or not whole");
  std::uint32_t length = 0;
  std::memcpy(&length, end.data(), sizeof length);
  const auto bytes = bytes_at(size_ - k_end - length, length);
  std::span<const std::byte> left = bytes;
  description_ = read_thrift(left);
  const Thrift::List& schema = description_.at(file::schema).list();
  for (std::size_t n = 1; n < schema.size(); ++n) schema_.push_back(column_of(schema[n]));
}

std::vector<std::byte> Input::bytes_at(std::int64_t offset, std::int64_t count) {
  if (offset < 0 || count < 0 || offset + count > size_)
    throw RunError("it is no Parquet file, or not whole");
  std::vector<std::byte> bytes(static_cast<std::size_t>(count));
  file_.seekg(offset).read(reinterpret_cast<char*>(bytes.data()), count);
  if (!file_) throw RunError("{}", std::strerror(errno));
  return bytes;
}

Metadata Input::metadata() const {
  Metadata metadata;
  if (const Thrift* pairs = description_.find(file::metadata))
    for (const Thrift& pair : pairs->list())
      metadata[pair.at(pair::key).text()] = pair.at(pair::value).text();
  return metadata;
}

std::size_t Input::groups() const { return description_.at(file::groups).list().size(); }

std::vector<Column> Input::columns(std::size_t group) {
  std::vector<Column> columns = schema_;
  for (std::size_t n = 0; n < columns.size(); ++n) append_chunk(columns[n], group, n);
  return columns;
}

Column Input::column(const std::string& name) {
  const auto found = std::find_if(schema_.begin(), schema_.end(),
                                  [&](const Column& column) { return column.name == name; });
  if (found == schema_.end()) throw RunError("it has no column {}", name);
  Column column = *found;
  for (std::size_t n = 0; n < groups(); ++n) append_chunk(column, n, found - schema_.begin());
  return column;
}

void Input::append_chunk(Column& column, std::size_t group, std::size_t place) {
  const Thrift& all = description_.at(file::groups).list().at(group);
  const Thrift& about = all.at(group::columns).list().at(place).at(chunk::contents);
  const std::int64_t codec = about.at(contents::codec).integer();
  if (codec != k_uncompressed && codec != k_gzip)
    throw RunError("it is compressed in a way that this program does not read (not by gzip)");
  const Thrift* list = about.find(contents::dictionary_page);
  const std::int64_t begin = (list ? *list : about.at(contents::data_page)).integer();
  const auto bytes = bytes_at(begin, about.at(contents::compressed_bytes).integer());
  std::span<const std::byte> left = bytes;
  Column chunk = empty_column(column.name, column.values.index());
  if (list) {
    const auto [header, values] = next_page(left, codec);
    const std::int64_t count = header.at(page::dictionary).at(page_values::count).integer();
    std::get<Texts>(chunk.values).list = list_in(values, count);
  }
  const auto [header, values] = next_page(left, codec);
  const Thrift& of_values = header.at(page::data);
  const std::int64_t rows = all.at(group::rows).integer();
  if (of_values.at(page_values::encoding).integer() != (list ? k_dictionary : k_plain) ||
      of_values.at(page_values::count).integer() != rows)
    throw RunError("it is encoded in a way that this program does not read");
  append_values(chunk, values, rows);
  append_rows(column, chunk, rows);
}

}  // namespace octant::telemetry::parquet

#include "telemetry/parquet_values.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "core/error.hpp"

namespace octant::telemetry::parquet {

namespace {

static_assert(std::endian::native == std::endian::little,
              "values are written without byte swapping");

using Bytes = std::vector<std::byte>;

// Integers of fewer than 32 bits are stored in 32 bits.
template <class T>
using Stored = std::conditional_t<std::is_integral_v<T> && sizeof(T) < 4, std::int32_t, T>;

void append(Bytes& bytes, const void* from, std::size_t count) {
  const auto* begin = static_cast<const std::byte*>(from);
  bytes.insert(bytes.end(), begin, begin + count);
}

std::span<const std::byte> take(std::span<const std::byte>& bytes, std::size_t count) {
  if (count > bytes.size()) throw RunError("the data are corrupt (unexpected end of data)");
  const auto taken = bytes.first(count);
  bytes = bytes.subspan(count);
  return taken;
}

template <class T>
Bytes plain_bytes(const std::vector<T>& values) {
  Bytes bytes(values.size() * sizeof(Stored<T>));
  for (std::size_t n = 0; n < values.size(); ++n) {
    // NOLINTNEXTLINE(bugprone-signed-char-misuse): int8 is signed in Parquet
    const Stored<T> value = values[n];
    std::memcpy(bytes.data() + n * sizeof value, &value, sizeof value);
  }
  return bytes;
}

Bytes plain_bytes(const std::vector<bool>& values) {
  Bytes bytes((values.size() + 7) / 8);
  for (std::size_t n = 0; n < values.size(); ++n)
    if (values[n]) bytes[n / 8] |= std::byte{1} << (n % 8);
  return bytes;
}

// Dictionary indices have 32 bits, in one run whose header gives their number divided by eight.
constexpr std::byte k_number_bits{32};

std::size_t rounded_up(std::int64_t count) { return (count + 7) / 8 * 8; }

Bytes plain_bytes(const Texts& texts) {
  const auto count = static_cast<std::int64_t>(texts.numbers.size());
  Bytes bytes{k_number_bits};
  std::uint64_t header = rounded_up(count) / 8 << 1 | 1;
  for (; header >= 128; header >>= 7) bytes.push_back(static_cast<std::byte>(header | 128));
  bytes.push_back(static_cast<std::byte>(header));
  append(bytes, texts.numbers.data(), count * sizeof(std::int32_t));
  bytes.resize(bytes.size() + (rounded_up(count) - count) * sizeof(std::int32_t));
  return bytes;
}

template <class T>
void append_plain(std::vector<T>& values, std::span<const std::byte> bytes, std::int64_t count) {
  const auto stored = take(bytes, count * sizeof(Stored<T>));
  const std::size_t there = values.size();
  values.resize(there + count);
  for (std::int64_t n = 0; n < count; ++n) {
    Stored<T> value;
    std::memcpy(&value, stored.data() + n * sizeof value, sizeof value);
    values[there + n] = static_cast<T>(value);
  }
}

void append_plain(std::vector<bool>& values, std::span<const std::byte> bytes, std::int64_t count) {
  const auto stored = take(bytes, (count + 7) / 8);
  for (std::int64_t n = 0; n < count; ++n)
    values.push_back((stored[n / 8] >> (n % 8) & std::byte{1}) != std::byte{0});
}

void append_plain(Texts& texts, std::span<const std::byte> bytes, std::int64_t count) {
  const bool is_ours = take(bytes, 1).front() == k_number_bits;
  std::uint64_t header = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    const auto next = static_cast<std::uint64_t>(take(bytes, 1).front());
    header |= (next & 127U) << shift;
    if (next < 128) break;
  }
  if (!is_ours || header != (rounded_up(count) / 8 << 1 | 1))
    throw RunError("the string encoding is not supported; expected the encoding written by Octant");
  append_plain(texts.numbers, bytes, count);
}

template <class T>
std::int64_t size_of(const std::vector<T>& values) {
  return static_cast<std::int64_t>(values.size());
}
std::int64_t size_of(const Texts& texts) { return size_of(texts.numbers); }

template <class T>
void append_first(std::vector<T>& to, const std::vector<T>& from, std::int64_t count) {
  to.insert(to.end(), from.begin(), from.begin() + count);
}

// Appends rows of texts; the list entries are shared, so each text has one index.
void append_first(Texts& to, const Texts& from, std::int64_t count) {
  std::vector<std::int32_t> numbers;
  for (const std::string& text : from.list) {
    const auto found = std::find(to.list.begin(), to.list.end(), text);
    numbers.push_back(static_cast<std::int32_t>(found - to.list.begin()));
    if (found == to.list.end()) to.list.push_back(text);
  }
  std::transform(from.numbers.begin(), from.numbers.begin() + count, std::back_inserter(to.numbers),
                 [&](std::int32_t number) { return numbers.at(number); });
}

template <std::size_t... types>
Column empty(const std::string& name, std::size_t type, std::index_sequence<types...>) {
  Column column{name, {}};
  ((types == type ? static_cast<void>(column.values.emplace<types>()) : void()), ...);
  return column;
}

}  // namespace

std::int64_t rows_of(const Column& column) {
  return std::visit([](const auto& values) { return size_of(values); }, column.values);
}

Column empty_column(const std::string& name, std::size_t type) {
  return empty(name, type,
               std::make_index_sequence<std::variant_size_v<decltype(Column::values)>>());
}

std::vector<std::byte> value_bytes(const Column& column) {
  return std::visit([](const auto& values) { return plain_bytes(values); }, column.values);
}

std::vector<std::byte> list_bytes(const std::vector<std::string>& list) {
  Bytes bytes;
  for (const std::string& text : list) {
    const auto length = static_cast<std::uint32_t>(text.size());
    append(bytes, &length, sizeof length);
    append(bytes, text.data(), text.size());
  }
  return bytes;
}

void append_values(Column& column, std::span<const std::byte> bytes, std::int64_t count) {
  // At least a bit for each value.
  if (count < 0 || count / 8 > std::ssize(bytes))
    throw RunError("the data are corrupt ({} values in {} bytes)", count, bytes.size());
  std::visit([&](auto& values) { append_plain(values, bytes, count); }, column.values);
}

std::vector<std::string> list_in(std::span<const std::byte> bytes, std::int64_t count) {
  std::vector<std::string> list;
  for (std::int64_t n = 0; n < count; ++n) {
    std::uint32_t length = 0;
    std::memcpy(&length, take(bytes, sizeof length).data(), sizeof length);
    const auto text = take(bytes, length);
    list.emplace_back(reinterpret_cast<const char*>(text.data()), text.size());
  }
  if (!bytes.empty()) throw RunError("the data are corrupt (unexpected data at the end)");
  return list;
}

void append_rows(Column& to, const Column& from, std::int64_t count) {
  std::visit(
      [&](auto& values) {
        const auto* same = std::get_if<std::decay_t<decltype(values)>>(&from.values);
        if (!same || from.name != to.name)
          throw RunError("column {} does not match column {} of the previous file in name or type",
                         from.name, to.name);
        append_first(values, *same, std::min(count, size_of(*same)));
      },
      to.values);
}

}  // namespace octant::telemetry::parquet

#ifdef OCTANT_ZLIB
#include <zlib.h>
#endif

namespace octant::telemetry {

#ifdef OCTANT_ZLIB

namespace {

constexpr int k_gzip = 16;  // added to the window size to select gzip

// Returns the level of memory for which data of this size are a single block of symbols. Clearing
// more memory would take longer than compressing a short column.
int memory_level(std::size_t bytes) {
  constexpr int bits_of_first = 6, most = 8;
  return std::clamp(static_cast<int>(std::bit_width(bytes)) - bits_of_first, 1, most);
}

// zlib counts in 32 bits, and declares its input as non-const.
void set_input(z_stream& stream, std::span<const std::byte> bytes) {
  OCTANT_REQUIRE(bytes.size() <= std::numeric_limits<uInt>::max(), "{} bytes", bytes.size());
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
}

void set_output(z_stream& stream, std::span<std::byte> bytes) {
  OCTANT_REQUIRE(bytes.size() <= std::numeric_limits<uInt>::max(), "{} bytes", bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_out = static_cast<uInt>(bytes.size());
}

}  // namespace

bool deflate_is_available() { return true; }

std::vector<std::byte> deflated(std::span<const std::byte> bytes, int level) {
  z_stream stream{};
  if (deflateInit2(&stream, level, Z_DEFLATED, MAX_WBITS + k_gzip, memory_level(bytes.size()),
                   Z_DEFAULT_STRATEGY) != Z_OK)
    throw RunError("zlib could not be initialized");
  std::vector<std::byte> fewer(deflateBound(&stream, static_cast<uLong>(bytes.size())));
  set_input(stream, bytes);
  set_output(stream, fewer);
  const bool done = deflate(&stream, Z_FINISH) == Z_STREAM_END;
  fewer.resize(stream.total_out);
  deflateEnd(&stream);
  OCTANT_REQUIRE(done, "zlib stopped after {} of {} bytes", stream.total_in, bytes.size());
  return fewer;
}

std::vector<std::byte> inflated(std::span<const std::byte> bytes, std::size_t size) {
  z_stream stream{};
  if (inflateInit2(&stream, MAX_WBITS + k_gzip) != Z_OK)
    throw RunError("zlib could not be initialized");
  std::vector<std::byte> all(size + 1);  // zlib requires an output buffer even for empty results
  set_input(stream, bytes);
  set_output(stream, all);
  const bool whole = inflate(&stream, Z_FINISH) == Z_STREAM_END && stream.total_out == size;
  inflateEnd(&stream);
  if (!whole) throw RunError("the data are corrupt (zlib cannot decompress them)");
  all.resize(size);
  return all;
}

#else

bool deflate_is_available() { return false; }

std::vector<std::byte> deflated(std::span<const std::byte>, int) {
  throw RunError("this program was built without zlib (OCTANT_ZLIB)");
}

std::vector<std::byte> inflated(std::span<const std::byte>, std::size_t) {
  throw RunError("the data are compressed, but this program was built without zlib (OCTANT_ZLIB)");
}

#endif

}  // namespace octant::telemetry

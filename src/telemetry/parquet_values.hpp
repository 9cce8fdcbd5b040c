// Conversion of columns to the bytes of Parquet pages.
// github.com/apache/parquet-format/blob/master/Encodings.md
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "telemetry/parquet_file.hpp"

namespace octant::telemetry::parquet {

// Numbers defined by Parquet: types of columns, and fields of the metadata of a file.
// github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift

// Magic number at both ends of a file; at its end after the description and its 4-byte length.
constexpr std::string_view k_magic = "PAR1";
constexpr int k_version = 2;

// Physical and converted type of values; converted -1: same as the physical type.
struct Type {
  int physical = 0, converted = -1;
  bool operator==(const Type&) const = default;
};
// Types by the alternative in Column::values.
constexpr std::array<Type, 9> k_types{Type{0},                            // bool
                                      Type{1, 15},                        // 8 bits, stored as 32
                                      Type{1, 16},                        // 16 bits, stored as 32
                                      Type{1},     Type{2}, Type{2, 14},  // unsigned
                                      Type{4},     Type{5}, Type{6, 0}};  // UTF-8

constexpr int k_plain = 0, k_levels = 3, k_dictionary = 8;
constexpr int k_uncompressed = 0, k_gzip = 2;
constexpr int k_data_page = 0, k_dictionary_page = 2;
constexpr int k_required = 0;  // values are never missing

// Thrift field identifiers of the Parquet metadata, with a namespace for each Thrift structure.
namespace file {
constexpr int version = 1, schema = 2, rows = 3, groups = 4, metadata = 5, created_by = 6;
}
namespace element {
constexpr int type = 1, repetition = 3, name = 4, children = 5, converted = 6;
}
namespace group {
constexpr int columns = 1, bytes = 2, rows = 3;
}
namespace chunk {
constexpr int offset = 2, contents = 3;
}
namespace contents {
constexpr int type = 1, encodings = 2, path = 3, codec = 4, values = 5, bytes = 6,
              compressed_bytes = 7, data_page = 9, dictionary_page = 11;
}
namespace page {
constexpr int type = 1, bytes = 2, compressed_bytes = 3, data = 5, dictionary = 7;
}
namespace page_values {
constexpr int count = 1, encoding = 2, definition_levels = 3, repetition_levels = 4;
}
namespace pair {
constexpr int key = 1, value = 2;
}

// Number of rows of a column.
std::int64_t rows_of(const Column& column);

// Returns a column without rows, with the type of this index in Column::values.
Column empty_column(const std::string& name, std::size_t type);

// Encodes the rows of a column: numbers as they are, texts as indices into their list.
std::vector<std::byte> value_bytes(const Column& column);
// Encodes a list of texts.
std::vector<std::byte> list_bytes(const std::vector<std::string>& list);

// Appends rows encoded by value_bytes() to a column. Throws RunError if bytes are missing.
void append_values(Column& column, std::span<const std::byte> bytes, std::int64_t count);
// Decodes a list of `count` texts. Throws RunError if bytes are missing.
std::vector<std::string> list_in(std::span<const std::byte> bytes, std::int64_t count);

// Appends rows of a column of the same type.
void append_rows(Column& to, const Column& from, std::int64_t count);

}  // namespace octant::telemetry::parquet

namespace octant::telemetry {

// Compression by zlib in gzip format.

// Returns true if this program was built with zlib (OCTANT_ZLIB). Without it, the functions below
// throw RunError.
bool deflate_is_available();

// Compresses bytes; `level` is from 1 (fast) to 9 (small).
std::vector<std::byte> deflated(std::span<const std::byte> bytes, int level);

// Decompresses bytes to `size` bytes. Throws RunError if they are damaged.
std::vector<std::byte> inflated(std::span<const std::byte> bytes, std::size_t size);

}  // namespace octant::telemetry

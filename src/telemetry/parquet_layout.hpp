// What Parquet numbers: the types of columns, and the fields of what a file says about itself.
// github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift
#pragma once

#include <array>
#include <string_view>

namespace octant::telemetry::parquet {

// At both ends of a file; at its end after the description and its length of 4 bytes.
constexpr std::string_view k_magic = "PAR1";
constexpr int k_version = 2;

// How values are stored, and what they stand for; -1: what they are stored as.
struct Type {
  int physical = 0, converted = -1;
  bool operator==(const Type&) const = default;
};
// By the place of the alternative in Column::values.
constexpr std::array<Type, 9> k_types{Type{0},                            // bool
                                      Type{1, 15},                        // 8 bits, stored as 32
                                      Type{1, 16},                        // 16 bits, stored as 32
                                      Type{1},     Type{2}, Type{2, 14},  // without sign
                                      Type{4},     Type{5}, Type{6, 0}};  // UTF-8

constexpr int k_plain = 0, k_levels = 3, k_dictionary = 8;
constexpr int k_uncompressed = 0, k_gzip = 2;
constexpr int k_data_page = 0, k_dictionary_page = 2;
constexpr int k_required = 0;  // values are never missing

// Fields, by what they are in.
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

}  // namespace octant::telemetry::parquet

// Metadata of Parquet in Thrift's compact protocol: trees of numbered fields.
// github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace octant::telemetry {

struct ThriftField;

struct Thrift {
  using List = std::vector<Thrift>;            // elements of one type
  using Structure = std::vector<ThriftField>;  // by field number
  std::variant<bool, std::int8_t, std::int16_t, std::int32_t, std::int64_t, double, std::string,
               List, Structure>
      value;

  // Returns a field of a structure. Throws RunError if there is no such field, or this is no
  // structure.
  const Thrift& at(int number) const;
  const Thrift* find(int number) const;  // null: no such field

  // Value accessors; they throw RunError for other types.
  std::int64_t integer() const;  // 8 to 64 bits
  const std::string& text() const;
  const List& list() const;
};

struct ThriftField {
  int number;
  Thrift content;
};

std::vector<std::byte> thrift_bytes(const Thrift::Structure& structure);

// Reads a structure from the front of `bytes` and removes it. Throws RunError if there is none.
Thrift read_thrift(std::span<const std::byte>& bytes);

}  // namespace octant::telemetry

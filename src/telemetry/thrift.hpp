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

// Value of a field.
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

  // Value of an integer of 8 to 64 bits. Throws RunError for another type.
  std::int64_t integer() const;  // 8 to 64 bits
  // Value of a text. Throws RunError for another type.
  const std::string& text() const;
  // Value of a list. Throws RunError for another type.
  const List& list() const;
};

// Numbered field of a structure.
struct ThriftField {
  int number;
  Thrift content;
};

// Encodes a structure.
std::vector<std::byte> thrift_bytes(const Thrift::Structure& structure);

// Reads a structure from the front of `bytes` and removes it. Throws RunError if there is none.
Thrift read_thrift(std::span<const std::byte>& bytes);

}  // namespace octant::telemetry

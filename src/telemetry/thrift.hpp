// What Parquet says about itself, in Thrift's compact protocol: trees of numbered fields.
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
  using List = std::vector<Thrift>;            // of one type
  using Structure = std::vector<ThriftField>;  // by number
  std::variant<bool, std::int8_t, std::int16_t, std::int32_t, std::int64_t, double, std::string,
               List, Structure>
      value;

  // Of a structure. Throws RunError where it has no such field, or this is none.
  const Thrift& at(int number) const;
  const Thrift* find(int number) const;  // null: it has no such field

  // Throw RunError where this is something else.
  std::int64_t integer() const;  // of 8 to 64 bits
  const std::string& text() const;
  const List& list() const;
};

struct ThriftField {
  int number;
  Thrift content;
};

std::vector<std::byte> thrift_bytes(const Thrift::Structure& structure);

// The structure that bytes begin with; the rest stays. Throws RunError where there is none.
Thrift read_thrift(std::span<const std::byte>& bytes);

}  // namespace octant::telemetry

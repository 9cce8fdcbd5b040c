#include "telemetry/thrift.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "core/error.hpp"

namespace octant::telemetry {

namespace {

// Type numbers; boolean fields are stored as their type.
enum Type : std::uint8_t {
  k_stop = 0,
  k_true = 1,
  k_false = 2,
  k_int8 = 3,
  k_int16 = 4,
  k_int32 = 5,
  k_int64 = 6,
  k_double = 7,
  k_text = 8,
  k_list = 9,
  k_set = 10,
  k_structure = 12
};

// Types by the alternative in Thrift::value.
constexpr Type k_types[] = {k_true,   k_int8, k_int16, k_int32,    k_int64,
                            k_double, k_text, k_list,  k_structure};

constexpr int k_long_list = 15;  // lists of at least this length have a longer header
constexpr int k_deepest = 32;    // maximum nesting of structures and lists; Parquet has fewer
constexpr std::int64_t k_largest_field = 1 << 15;  // field numbers have 16 bits

class Writer {
 public:
  void add(const Thrift::Structure& structure) {
    int last = 0;
    for (const ThriftField& field : structure) {
      Type type = type_of(field.content);
      if (const bool* truth = std::get_if<bool>(&field.content.value); truth && !*truth)
        type = k_false;
      const int step = field.number - last;
      OCTANT_REQUIRE(step > 0 && step < 16, "Parquet field {} follows field {}", field.number,
                     last);
      byte(step << 4 | type);
      if (type != k_true && type != k_false) add(field.content);
      last = field.number;
    }
    byte(k_stop);
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  static Type type_of(const Thrift& content) { return k_types[content.value.index()]; }

  void byte(int value) { bytes_.push_back(static_cast<std::byte>(value)); }
  void unsigned_number(std::uint64_t value) {
    for (; value >= 128; value >>= 7) byte(static_cast<int>(value & 127U) | 128);
    byte(static_cast<int>(value));
  }
  void number(std::int64_t value) {  // zigzag: small numbers of either sign are short
    unsigned_number(static_cast<std::uint64_t>(value) << 1 ^
                    static_cast<std::uint64_t>(value >> 63));
  }
  void add(const Thrift& content) {
    std::visit([&](const auto& value) { add(value); }, content.value);
  }
  void add(bool value) { byte(value ? k_true : k_false); }
  void add(std::int8_t value) { byte(value); }
  void add(std::int16_t value) { number(value); }
  void add(std::int32_t value) { number(value); }
  void add(std::int64_t value) { number(value); }
  void add(double value) { raw(&value, sizeof value); }
  void add(const std::string& text) {
    unsigned_number(text.size());
    raw(text.data(), text.size());
  }
  void add(const Thrift::List& list) {
    const Type type = list.empty() ? k_structure : type_of(list.front());
    const auto size = static_cast<int>(std::min<std::size_t>(list.size(), k_long_list));
    byte(size << 4 | type);
    if (size == k_long_list) unsigned_number(list.size());
    for (const Thrift& content : list) add(content);
  }
  void raw(const void* from, std::size_t count) {
    const auto* begin = static_cast<const std::byte*>(from);
    bytes_.insert(bytes_.end(), begin, begin + count);
  }
  std::vector<std::byte> bytes_;
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte>& bytes) : bytes_(bytes) {}

  Thrift::Structure structure() {
    descend();
    Thrift::Structure fields;
    std::int64_t number = 0;
    for (int head = byte(); (head & 15) != k_stop; head = byte()) {
      const int step = head >> 4;
      number = step > 0 ? number + step : this->number();
      if (number < 0 || number > k_largest_field)
        throw RunError("the Parquet metadata are corrupt (field {})", number);
      const int type = head & 15;
      const auto field = static_cast<int>(number);
      if (type == k_true || type == k_false) fields.push_back({field, {type == k_true}});
      else fields.push_back({field, content(type)});
    }
    --depth_;
    return fields;
  }

 private:
  // Counts a level of structures and lists, which are read by recursion.
  void descend() {
    if (++depth_ > k_deepest)
      throw RunError("the Parquet metadata are corrupt (nested too deeply)");
  }
  Thrift content(int type) {
    switch (type) {
      case k_true:
      case k_false: return {byte() == k_true};
      case k_int8: return {static_cast<std::int8_t>(byte())};
      case k_int16: return {static_cast<std::int16_t>(number())};
      case k_int32: return {static_cast<std::int32_t>(number())};
      case k_int64: return {number()};
      case k_double: return {real()};
      case k_text: return {text()};
      case k_list:
      case k_set: return {list()};
      case k_structure: return {structure()};
      default: throw RunError("the Parquet metadata are corrupt (unknown type {})", type);
    }
  }
  Thrift::List list() {
    descend();
    const int head = byte();
    const int size = head >> 4;
    Thrift::List contents;
    const std::uint64_t count = size == k_long_list ? unsigned_number() : size;
    for (std::uint64_t n = 0; n < count; ++n) contents.push_back(content(head & 15));
    --depth_;
    return contents;
  }
  std::string text() {
    const auto raw = take(unsigned_number());
    return {reinterpret_cast<const char*>(raw.data()), raw.size()};
  }
  double real() {
    double value = 0.0;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::int64_t number() {
    const std::uint64_t zigzag = unsigned_number();
    return static_cast<std::int64_t>(zigzag >> 1 ^ -(zigzag & 1));
  }
  std::uint64_t unsigned_number() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto next = static_cast<std::uint64_t>(byte());
      value |= (next & 127U) << shift;
      if (next < 128) return value;
    }
    throw RunError("the Parquet metadata are corrupt (unterminated number)");
  }
  int byte() { return static_cast<int>(take(1).front()); }
  std::span<const std::byte> take(std::uint64_t count) {
    if (count > bytes_.size()) throw RunError("the Parquet metadata are corrupt (unexpected end)");
    const auto taken = bytes_.first(count);
    bytes_ = bytes_.subspan(count);
    return taken;
  }
  std::span<const std::byte>& bytes_;
  int depth_ = 0;
};

template <class T>
const T& expect(const Thrift& content, const char* what) {
  if (const T* value = std::get_if<T>(&content.value)) return *value;
  throw RunError("the Parquet metadata are corrupt (expected {})", what);
}

}  // namespace

const Thrift* Thrift::find(int number) const {
  for (const ThriftField& field : expect<Structure>(*this, "structure"))
    if (field.number == number) return &field.content;
  return nullptr;
}

const Thrift& Thrift::at(int number) const {
  if (const Thrift* content = find(number)) return *content;
  throw RunError("the Parquet metadata are corrupt (field {} is missing)", number);
}

std::int64_t Thrift::integer() const {
  return std::visit(
      [](const auto& number) -> std::int64_t {
        using T = std::decay_t<decltype(number)>;
        if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) return number;
        else throw RunError("the Parquet metadata are corrupt (expected a number)");
      },
      value);
}

const std::string& Thrift::text() const { return expect<std::string>(*this, "text"); }
const Thrift::List& Thrift::list() const { return expect<List>(*this, "list"); }

std::vector<std::byte> thrift_bytes(const Thrift::Structure& structure) {
  Writer writer;
  writer.add(structure);
  return writer.take();
}

Thrift read_thrift(std::span<const std::byte>& bytes) { return {Reader(bytes).structure()}; }

}  // namespace octant::telemetry

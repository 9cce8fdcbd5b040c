// The registered targets, their mutations, and the functions that libFuzzer calls.
#include "fuzz.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <random>
#include <vector>

#include "comm/runtime.hpp"
#include "core/error.hpp"
#include "core/log.hpp"
#include "targets.hpp"

namespace octant::fuzz {

std::vector<Target>& targets() {
  static std::vector<Target> all;
  return all;
}

bool add_target(const char* name, Form form, Read* read) {
  targets().push_back({name, form, read});
  return true;
}

const Target& target_named(std::string_view name) {
  for (const Target& target : targets())
    if (target.name == name) return target;
  std::fprintf(stderr, "no fuzz target is named \"%.*s\"\n", static_cast<int>(name.size()),
               name.data());
  std::exit(2);
}

bool read_one(const Target& target, std::string_view input) {
  const auto fail = [&](const char* what) {
    std::fprintf(stderr, "%s: unexpected error: %s\n", target.name.data(), what);
    std::abort();
  };
  static const bool shows = std::getenv("FUZZ_SHOW") != nullptr;
  try {
    target.read(input);
    return true;
  } catch (const InputError& error) {
    if (shows) std::fprintf(stderr, "%s\n", error.what());
  } catch (const RunError& error) {
    if (shows) std::fprintf(stderr, "%s\n", error.what());
    // A failed OCTANT_REQUIRE is a fault of the program, not of the input.
    if (std::strstr(error.what(), " requires ") != nullptr &&
        std::strstr(error.what(), "[src/") != nullptr)
      fail(error.what());
  } catch (const std::exception& error) {
    fail(error.what());
  }
  return false;
}

namespace {

using Random = std::minstd_rand;

std::size_t below(Random& random, std::size_t bound) {
  return random() % std::max<std::size_t>(bound, 1);
}

constexpr const char* k_numbers[] = {"0",
                                     "-1",
                                     "1",
                                     "2",
                                     "3",
                                     "7",
                                     "8",
                                     "64",
                                     "255",
                                     "1000",
                                     "2147483647",
                                     "-2147483648",
                                     "4294967296",
                                     "1e9",
                                     "1e15",
                                     "9223372036854775807",
                                     "-9223372036854775808",
                                     "4611686018427387904",
                                     "nan",
                                     "inf",
                                     "-inf",
                                     "1e300",
                                     "-1e300",
                                     "1e-300",
                                     "0.5",
                                     "-0.0"};

bool is_of_number(char c) { return std::strchr("0123456789+-.eE", c) != nullptr && c != '\0'; }

// Replaces a number in the text, or duplicates, removes or moves a line.
void mutate_text(std::string& text, Random& random) {
  const std::size_t at = below(random, text.size());
  const auto line_begin = text.rfind('\n', at) == std::string::npos ? 0 : text.rfind('\n', at) + 1;
  auto line_end = text.find('\n', std::max(at, line_begin));
  line_end = line_end == std::string::npos ? text.size() : line_end + 1;
  switch (below(random, 8)) {
    case 0: text.insert(line_begin, text.substr(line_begin, line_end - line_begin)); return;
    case 1: text.erase(line_begin, line_end - line_begin); return;
    case 2: {
      const std::string line = text.substr(line_begin, line_end - line_begin);
      text.erase(line_begin, line.size());
      auto to = text.find('\n', below(random, text.size()));
      text.insert(to == std::string::npos ? text.size() : to + 1, line);
      return;
    }
    default: break;
  }
  auto begin = at;
  while (begin < text.size() && !is_of_number(text[begin])) ++begin;
  auto end = begin;
  while (end < text.size() && is_of_number(text[end])) ++end;
  while (begin > 0 && is_of_number(text[begin - 1])) --begin;
  if (begin == end) return;
  std::string number = k_numbers[below(random, std::size(k_numbers))];
  if (below(random, 3) == 0)  // near half of the present one
    number = std::to_string(integer_of(text.substr(begin, end - begin)) / 2 +
                            static_cast<int>(below(random, 5)) - 2);
  text.replace(begin, end - begin, number);
}

// Overwrites a word.
void mutate_word(std::string& bytes, Random& random) {
  const std::size_t size = std::size_t{1} << below(random, 4);
  if (bytes.size() < size) return;
  const std::uint64_t words[] = {0,
                                 1,
                                 7,
                                 8,
                                 0x7f,
                                 0x80,
                                 0xff,
                                 0x7fff,
                                 0xffff,
                                 0x7fffffff,
                                 0x80000000,
                                 0xffffffff,
                                 0x7fffffffffffffff,
                                 0x8000000000000000,
                                 0xffffffffffffffff,
                                 0x7ff0000000000000,
                                 0x7ff8000000000000,
                                 bytes.size(),
                                 bytes.size() / 8,
                                 std::uint64_t{random()}};
  std::uint64_t word = words[below(random, std::size(words))];
  const std::size_t at = below(random, bytes.size() - size + 1);
  if (below(random, 3) == 0) {
    word = 0;
    std::memcpy(&word, bytes.data() + at, size);
    word += below(random, 2) == 0 ? 1 : -1;
  }
  std::memcpy(bytes.data() + at, &word, size);
}

}  // namespace

std::string mutated(const Target& target, std::string input, std::size_t most, unsigned seed,
                    Mutate* any) {
  Random random(seed % 0x7ffffffe + 1);
  for (std::size_t n = below(random, 3) + 1; n > 0; --n) {
    if (input.empty() || below(random, 3) == 0) {
      const std::size_t size = std::min(input.size(), most);
      input.resize(most);
      input.resize(any(reinterpret_cast<std::uint8_t*>(input.data()), size, most));
    } else if (target.form == Form::binary) {
      mutate_word(input, random);
    } else {
      mutate_text(input, random);
    }
  }
  if (input.size() > most) input.resize(most);
  return input;
}

void start(int& argc, char**& argv) {
  static const Runtime runtime(argc, argv);
  log::start(0, "", log::Level::off);
}

}  // namespace octant::fuzz

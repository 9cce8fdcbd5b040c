// Output of a benchmark: text lines, and JSON for programs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "comm/communicator.hpp"

namespace octant::bench {

// JSON object that is written member by member. Numbers that JSON cannot represent become null.
class JsonObject {
 public:
  // Adds a string.
  JsonObject& add(const std::string& key, const std::string& value);
  // Adds a number.
  JsonObject& add(const std::string& key, double value);
  // Adds an integer.
  JsonObject& add(const std::string& key, std::int64_t value);
  // Adds an integer.
  JsonObject& add(const std::string& key, int value) { return add(key, std::int64_t{value}); }
  // Adds an object.
  JsonObject& add(const std::string& key, const JsonObject& value);

  // The object as JSON text.
  std::string text() const { return "{" + members_ + "}"; }

 private:
  JsonObject& add_member(const std::string& key, const std::string& value);
  std::string members_;
};

// Only the root writes. Lines go to stdout, or to stderr if stdout is used for JSON.
class Report {
 public:
  // `json_file` is the result of Options::json. Throws InputError on every rank if the file cannot
  // be written, before the measurement. Collective.
  Report(const Communicator& communicator, std::string json_file);

  // Prints a line.
  void line(const std::string& text) const;
  // Adds an object to the array that finish() writes.
  void add(const JsonObject& object) { objects_.push_back(object); }

  // Writes the array of all objects, if JSON was requested, replacing the file. Throws RunError on
  // every rank if the disk is full. Collective.
  void finish() const;

 private:
  Communicator communicator_;
  std::string json_file_;
  std::vector<JsonObject> objects_;
};

// Statistics of an integer over the ranks.
struct RankStatistics {
  std::int64_t least = 0, most = 0;
  double mean = 0.0;
};
RankStatistics rank_statistics(const Communicator& communicator, std::int64_t value);  // collective

// Index of the median element; for an even number, of the lower one.
std::size_t median_index(const std::vector<double>& values);

}  // namespace octant::bench

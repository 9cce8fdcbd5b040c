// What a benchmark says: lines to read, and JSON for programs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "comm/communicator.hpp"

namespace octant::bench {

// A JSON object that is written member by member. Numbers that JSON cannot hold become null.
class JsonObject {
 public:
  JsonObject& add(const std::string& key, const std::string& value);
  JsonObject& add(const std::string& key, double value);
  JsonObject& add(const std::string& key, std::int64_t value);
  JsonObject& add(const std::string& key, int value) { return add(key, std::int64_t{value}); }
  JsonObject& add(const std::string& key, const JsonObject& value);

  std::string text() const { return "{" + members_ + "}"; }

 private:
  JsonObject& add_member(const std::string& key, const std::string& value);
  std::string members_;
};

// Only the root writes. Lines go to stdout, or to stderr where stdout is kept for JSON.
class Report {
 public:
  // `json_file` as Options::json leaves it. Throws InputError on every rank if the file cannot be
  // written, before anything is measured. Collective.
  Report(const Communicator& communicator, std::string json_file);

  void line(const std::string& text) const;
  void add(const JsonObject& object) { objects_.push_back(object); }

  // Writes the array of all objects, if JSON was asked for, in place of what the file held. Throws
  // RunError on every rank if it does not fit on the disk. Collective.
  void finish() const;

 private:
  Communicator communicator_;
  std::string json_file_;
  std::vector<JsonObject> objects_;
};

// A whole number of every rank.
struct RankStatistics {
  std::int64_t least = 0, most = 0;
  double mean = 0.0;
};
RankStatistics rank_statistics(const Communicator& communicator, std::int64_t value);  // collective

// Index of the median element; of the lower one of two.
std::size_t median_index(const std::vector<double>& values);

}  // namespace octant::bench

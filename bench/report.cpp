#include "bench/report.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <numeric>

#include <fmt/format.h>

#include "core/error.hpp"

namespace octant::bench {

namespace {

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

}  // namespace

JsonObject& JsonObject::add_member(const std::string& key, const std::string& value) {
  if (!members_.empty()) members_ += ", ";
  members_ += quoted(key) + ": " + value;
  return *this;
}

JsonObject& JsonObject::add(const std::string& key, const std::string& value) {
  return add_member(key, quoted(value));
}

JsonObject& JsonObject::add(const std::string& key, double value) {
  return add_member(key, std::isfinite(value) ? fmt::format("{}", value) : "null");
}

JsonObject& JsonObject::add(const std::string& key, std::int64_t value) {
  return add_member(key, fmt::format("{}", value));
}

JsonObject& JsonObject::add(const std::string& key, const JsonObject& value) {
  return add_member(key, value.text());
}

Report::Report(const Communicator& communicator, std::string json_file)
    : communicator_(communicator), json_file_(std::move(json_file)) {
  if (json_file_.empty() || json_file_ == "-") return;
  communicator_.collective_try([&] {
    // Opened in append mode, so that the old content remains until it is replaced.
    if (communicator_.is_root() && !std::ofstream(json_file_, std::ios::app))
      throw InputError(
          "--json {}: the file cannot be written; check the directory and its permissions",
          json_file_);
  });
}

void Report::line(const std::string& text) const {
  if (!communicator_.is_root()) return;
  std::FILE* out = json_file_ == "-" ? stderr : stdout;
  fmt::print(out, "{}\n", text);
  std::fflush(out);
}

void Report::finish() const {
  if (json_file_.empty()) return;
  std::string text;
  for (const JsonObject& object : objects_) text += (text.empty() ? "[\n" : ",\n") + object.text();
  text += "\n]\n";
  communicator_.collective_try([&] {
    if (!communicator_.is_root()) return;
    if (json_file_ == "-") {
      fmt::print("{}", text);
      return;
    }
    std::ofstream file(json_file_);
    file << text << std::flush;
    if (!file) throw RunError("--json {}: the file could not be written completely", json_file_);
  });
}

RankStatistics rank_statistics(const Communicator& communicator, std::int64_t value) {
  const auto total = static_cast<double>(communicator.sum(value));
  return {communicator.min(value), communicator.max(value), total / communicator.size()};
}

std::size_t median_index(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto middle = order.begin() + (static_cast<std::ptrdiff_t>(values.size()) - 1) / 2;
  std::nth_element(order.begin(), middle, order.end(),
                   [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  return *middle;
}

}  // namespace octant::bench

// Output of `octant check`: a summary of at most 30 lines whose last one is the answer, or with
// --all the resolved parameters, the details of the estimate and the same summary as comments.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "comm/communicator.hpp"
#include "driver/output_options.hpp"
#include "driver/run_request.hpp"

namespace octant::driver {

// Bytes as "12 MB" or "3.4 GB".
std::string size_text(double bytes);
// Seconds as "0.4 s" or "3 min 20 s".
std::string duration_text(double seconds);

class CheckReport {
 public:
  std::string answer;  // cost and memory in few words
  std::string table;   // of memory by purpose

  // A line of the summary.
  template <class... Args>
  void add(const std::string& label, fmt::format_string<Args...> format, Args&&... args) {
    lines_.push_back({label, fmt::format(format, std::forward<Args>(args)...)});
  }
  // The time or the step at which the run ends; `name` is the parameter that says so.
  void add_end(const std::string& name, double end, std::int64_t max_steps);
  // Files that the run writes between two times. A snapshot and a checkpoint take so many
  // bytes; 0: not known.
  struct Files {
    double begin, end;
    std::vector<double> snapshot_times;
    double snapshot_bytes = 0.0, checkpoint_bytes = 0.0;
  };
  void add_files(const OutputOptions& output, const Files& files);
  // A limit of the estimate or a warning.
  void note(const std::string& text) { notes_.push_back(text); }
  // Adds a line about how the estimate was made.
  template <class... Args>
  void detail(fmt::format_string<Args...> format, Args&&... args) {
    details_.push_back(fmt::format(format, std::forward<Args>(args)...));
  }

  // Prints the report on the root. The answer comes after `verify`, which may throw InputError.
  void print(const Communicator& communicator, const RunRequest& request,
             const std::string& resolved, const std::function<void()>& verify = {}) const;

 private:
  struct Line {
    std::string label, text;
  };
  std::vector<std::string> summary() const;

  std::vector<Line> lines_;
  std::vector<std::string> notes_, details_;
};

}  // namespace octant::driver

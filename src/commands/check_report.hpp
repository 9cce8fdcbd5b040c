// Output of `octant check`: a summary of at most 30 lines with the result in the last one, or with
// --all the resolved parameters, the details of the estimate and the summary as comments.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "comm/communicator.hpp"
#include "output/output_options.hpp"
#include "run/run_request.hpp"

namespace octant {

// Formats bytes as "12 MB" or "3.4 GB".
std::string size_text(double bytes);
// Formats seconds as "0.4 s" or "3 min 20 s".
std::string duration_text(double seconds);

// Report during its composition.
class CheckReport {
 public:
  std::string answer;  // cost and memory in few words
  std::string table;   // memory by purpose

  // Adds a line to the summary.
  template <class... Args>
  void add(const std::string& label, fmt::format_string<Args...> format, Args&&... args) {
    lines_.push_back({label, fmt::format(format, std::forward<Args>(args)...)});
  }
  // Adds the end of the run by time or steps; `name` is the parameter that sets it.
  void add_end(const std::string& name, const std::string& end, std::int64_t max_steps);
  // Files that the run writes between two times, and the size of a snapshot and a checkpoint in
  // bytes; 0: unknown.
  struct Files {
    double begin, end;
    std::vector<double> snapshot_times;
    double snapshot_bytes = 0.0, checkpoint_bytes = 0.0;
  };
  // Adds these files to the summary.
  void add_files(const OutputOptions& output, const Files& files);
  // Sets the memory line and the result if only the bytes per rank of `fields` are known.
  void answer_least_memory(const std::string& fields, double bytes);
  // Adds a limit of the estimate or a warning.
  void note(const std::string& text) { notes_.push_back(text); }
  // Adds a line about how the estimate was made.
  template <class... Args>
  void detail(fmt::format_string<Args...> format, Args&&... args) {
    details_.push_back(fmt::format(format, std::forward<Args>(args)...));
  }

  // Prints the report on the root. The result is printed after `verify`, which may throw
  // InputError.
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

}  // namespace octant

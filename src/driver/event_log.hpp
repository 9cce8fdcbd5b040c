// Logs of what processes do once: Parquet files with a row for each event of a run, such as
// stars_formed.parquet for the births of stars.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "subgrid/scene.hpp"

namespace octant::driver {

// `Event` is StarBirth or HoleMerger; what their files are is said in event_log.cpp.
template <class Event>
class EventLog {
 public:
  // Events of this rank's in a coarse step.
  void add(const std::vector<Event>& events, std::int64_t step, double time, double scale_factor);

  // Brings the file in a directory up to date: it holds all events so far, in the order of time and
  // ids. A run without events has none. Throws RunError on all ranks if it cannot be written.
  // Collective.
  void write(const Communicator& communicator, const std::string& directory);

  // A restart: what was in coarse steps before `step` is in the file in this directory. What came
  // later will come again. Collective.
  void go_on(const Communicator& communicator, const std::string& directory, std::int64_t step);

 private:
  struct Row {
    Event event;
    std::int64_t step;
    double time, scale_factor;
  };
  static constexpr auto k_all_rows = std::numeric_limits<std::int64_t>::max();
  void write_rows(const std::string& path, std::vector<Row> rows) const;
  void merge(const std::vector<std::string>& parts, const std::string& path);

  std::vector<Row> rows_;                      // on this rank, since the file was written
  std::string earlier_;                        // the file with those before; "": there are none
  std::int64_t rows_of_earlier_ = k_all_rows;  // which count, the first ones
};

extern template class EventLog<subgrid::StarBirth>;
extern template class EventLog<subgrid::HoleMerger>;

}  // namespace octant::driver

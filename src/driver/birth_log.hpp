// The log of births: stars_formed.parquet, a row for every star that ever formed in a run, in the
// order of ids, which is that of time.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "subgrid/scene.hpp"

namespace octant::driver {

class BirthLog {
 public:
  // Stars of this rank's that formed in a coarse step.
  void add(const std::vector<subgrid::StarBirth>& births, std::int64_t step, double time,
           double scale_factor);

  // Brings the file in a directory up to date: it holds all births so far. A run without births has
  // none. Throws RunError on all ranks if it cannot be written. Collective.
  void write(const Communicator& communicator, const std::string& directory);

  // A restart: what formed in coarse steps before `step` is in the file in this directory. What
  // formed later will form again. Collective.
  void go_on(const Communicator& communicator, const std::string& directory, std::int64_t step);

 private:
  struct Row {
    subgrid::StarBirth star;
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

}  // namespace octant::driver

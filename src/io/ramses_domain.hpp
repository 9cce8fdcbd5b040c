// One domain of an output folder of RAMSES: the files of its octs and of the values in their cells.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "io/fortran_file.hpp"
#include "io/ramses_source.hpp"

namespace octant {

inline constexpr int k_cells_of_ramses_oct = 8;

// Where the texts of an output lie, and the path of a domain's file of a kind ("amr"). Files may
// lie in groups, of which the first has the texts.
std::string ramses_text_folder(const RamsesFacts& facts);
std::string ramses_file(const RamsesFacts& facts, const char* kind, int domain);

// An oct of the present level as the files of a domain hold it: its own, or a copy of another
// domain's. Copies have the values of the original.
struct RamsesOctImage {
  int owner = 0, holder = 0;            // domains, from 1
  std::array<std::int64_t, 3> place{};  // in octs of the level
  // In the oct's cells: density, or the force along x.
  std::array<double, k_cells_of_ramses_oct> first_variable{};
};

// The octs that one domain owns, level by level, coarsest first. Local.
class RamsesDomain {
 public:
  RamsesDomain(const RamsesFacts& facts, RamsesCells cells, int number);  // from 1

  const RamsesHead& head() const { return head_; }
  void next_level();
  std::int64_t count() const { return octs_in_list(number_ - 1); }  // of the present level
  // Some of them, to where `octs` have room from `at` on.
  void read(RowRange some, RamsesOcts& octs, std::int64_t at) const;
  // Adds the octs of the present level that the domain owns, or the copies that it holds; of the
  // level before, both.
  enum class Images { own, copies, of_level_before };
  void add_images(Images which, std::vector<RamsesOctImage>& images) const;
  int level() const { return level_; }
  const std::string& values_path() const { return values_path_; }

 private:
  void read_amr_head(const RamsesFacts& facts);
  std::int64_t read_sizes(FortranFile& amr);
  void read_times(FortranFile& amr, const RamsesFacts& facts);
  void read_lists(FortranFile& amr, std::int64_t boundaries);
  void read_gas_head(const RamsesFacts& facts);
  void read_force_head();
  void expect(FortranFile& values, const char* what, std::int64_t expected) const;
  void next_level_of_values();
  std::int64_t octs_in_list(int list, int level) const;
  std::int64_t octs_in_list(int list) const { return octs_in_list(list, level_); }
  void read_tree(RowRange some, RamsesOcts& octs, std::int64_t at) const;
  void read_values(RowRange some, RamsesOcts& octs, std::int64_t at) const;

  RamsesCells cells_;
  std::string amr_path_, values_path_;  // the latter empty without gas
  RamsesHead head_;
  int passed_ = 0;                                // variables of a cell before those wanted
  int number_, domains_, lists_ = 0, level_ = 0;  // the present level
  std::vector<std::int64_t> in_lists_;            // octs, [level - 1][list]
  RecordPlace amr_before_, values_before_;        // where the level before begins
  RecordPlace amr_begin_, values_begin_;          // where the present level does
  RecordPlace amr_place_, values_place_;          // where the next one does
  RecordPlace own_octs_, own_values_;             // of the present level
  RecordPlace end_of_octs_, end_of_values_;
};

}  // namespace octant

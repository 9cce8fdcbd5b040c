// Writes output folders of RAMSES (ramses_folder.cpp): texts about the whole, and of every domain a
// file of its octs, one for each kind of values in their cells, and one of its particles.
//
// What is written is all that RAMSES needs to go on with the same number of domains: octs are
// numbered from 1 in the order of the file, level by level and within a level by the domain that
// owns them; those beyond walls come last, by region. A cell's index is
// coarse cells + (cell of oct - 1) * ngridmax + number of the oct.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "io/fortran_file.hpp"
#include "io/ramses_source.hpp"

namespace octant {

// What is the same in the files of all domains.
struct RamsesOutput {
  RamsesFacts facts;  // `folder` is where files are written
  int levels = 1;     // RAMSES's levelmax
  double gamma = 1.0;
  double mass = 0.0, gas_mass = 0.0;   // of everything, of the gas
  double box_megaparsecs_per_h = 0.0;  // of a universe
  // By axis, cells of the coarse grid: 1, and one more for each wall; and those below the box.
  std::array<int, 3> coarse_cells{1, 1, 1}, cells_below{0, 0, 0};
  // Where the curve passes from domain to domain, 0 and its end included, in cells of half the
  // finest size.
  std::vector<double> bounds;
  std::vector<std::vector<std::int64_t>> octs;  // that each domain owns, [level - 1][domain]
  bool long_ids = false;
  std::int64_t sinks = 0;

  int central_cell() const;      // the index of the coarse cell that is the box, from 1
  int boundary_regions() const;  // two for each axis with walls
};

// Local. Throws RunError.
void write_ramses_texts(const RamsesOutput& output, std::int64_t most_octs);

// The text of all sinks, in the columns and widths in which RAMSES reads it: numbers have fifteen
// digits. Local; throws RunError.
void write_ramses_sinks(const RamsesOutput& output, const RamsesParticles& sinks);

// Octs of a level that a domain holds, its own and those beside them, in the order of its lists.
struct RamsesTreeLevel {
  std::array<std::vector<double>, 3> centre;  // of the oct, in coarse cells
  std::vector<std::int32_t> father;           // cell; 0, here and below, for what is not held
  std::array<std::vector<std::int32_t>, 6> neighbour;  // cells beside the father: -x, +x, -y, ...
  std::array<std::vector<std::int32_t>, 8> son, owner, flag;  // of the oct's cells
};

// How many octs of each domain and boundary region a domain's files hold: [level - 1][domain], then
// the regions.
using RamsesLists = std::vector<std::vector<std::int64_t>>;

// The file of a domain's octs. Local; throws RunError.
class RamsesTreeFile {
 public:
  // `sons` are the octs that divide the coarse cells, `root_owner` owns that in the box.
  RamsesTreeFile(const RamsesOutput& output, int domain, const RamsesLists& lists,
                 const std::vector<std::int32_t>& sons, int root_owner);
  void write_level(int level, const RamsesTreeLevel& octs);  // in ascending order
  void finish() { file_.finish(); }

  static std::int64_t most_octs(std::int64_t held) { return held + 1; }  // ngridmax

 private:
  void write_sizes(const RamsesOutput& output, std::int32_t held, std::int32_t most);
  void write_times(const RamsesOutput& output);
  void write_cosmology(const RamsesOutput& output);
  void write_lists(const RamsesOutput& output);
  void write_coarse_cells(const RamsesOutput& output, const std::vector<std::int32_t>& sons,
                          int root_owner);

  FortranWriter file_;
  const RamsesLists& lists_;
  std::int64_t first_ = 1;  // number of the level's first oct
};

// A file of `variables` values in each cell of a domain's octs: of the gas, or of gravity. Local;
// throws RunError.
class RamsesCellFile {
 public:
  enum class Kind { gas, gravity };
  RamsesCellFile(const RamsesOutput& output, Kind kind, int domain, const RamsesLists& lists,
                 int variables);
  // Variable n, from 0, of a level: values[oct][cell], octs in the order of the tree's file.
  void write(int level, int n, std::span<const double> values);
  void finish() { file_.finish(); }

 private:
  FortranWriter file_;
  const RamsesLists& lists_;
  int variables_;
  std::vector<std::vector<std::int64_t>> places_;  // of each list's first record of values
};

// Begins the file of a domain's particles: the columns follow, one record each, as
// facts.particle_fields names them.
FortranWriter ramses_particle_file(const RamsesOutput& output, int domain, std::int64_t count,
                                   std::int64_t all_stars, double mass_of_stars);

}  // namespace octant

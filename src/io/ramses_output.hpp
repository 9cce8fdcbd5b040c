// Output folders of RAMSES (Teyssier 2002): output_NNNNN with text about the run and, of every
// domain (a rank of the run that wrote it), one binary file of its octs, one of their gas, and one
// of its particles.
//
// Octs of level l divide cells of level l - 1 into eight, ix + 2 iy + 4 iz; the cells of level l
// are as wide as the box over 2^l. Files hold the octs level by level, of each level first those of
// domain 1, then of 2, ...: beside its own a domain keeps copies of its neighbours'. Variables are
// primitive: density, velocity, pressure, concentrations.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "io/fortran_file.hpp"

namespace octant {

// What the texts of a folder say about the whole output.
struct RamsesFacts {
  std::string folder, number;  // number: "00080"
  int domains = 0, coarsest_level = 0;
  std::int64_t coarse_steps = 0;
  double box_length = 0.0, time = 0.0;  // in code units
  double scale_factor = 1.0, hubble = 1.0;
  double unit_length = 1.0, unit_density = 1.0, unit_time = 1.0;  // cgs
  std::vector<std::string> variables;        // of the gas, in order; empty if no text names them
  std::vector<std::string> particle_fields;  // columns of particles, in order; empty without some
  std::map<std::string, std::int64_t> families;  // of particles that there are: "DM", "star", ...

  bool is_cosmological() const { return scale_factor != 1.0 || hubble != 1.0; }
};

// Whether a path is a folder that RAMSES would call an output. Collective.
bool is_ramses_output(const Communicator& communicator, const std::string& path);

// Reads the texts. Throws InputError on every rank, naming the file, if one is missing or is not
// what RAMSES writes. Collective.
RamsesFacts read_ramses_facts(const Communicator& communicator, const std::string& path);

// Octs of one level and domain.
struct RamsesOcts {
  std::vector<std::array<std::int64_t, 3>> places;  // in octs of the level, 0 .. 2^(level - 1) - 1
  std::vector<std::uint8_t> refined;                // masks of cells with an oct of their own
  std::vector<double> values;                       // [variable][cell of oct][oct]
};

// The octs that one domain owns, read level by level, coarsest first. Local; throws InputError that
// names file and record.
class RamsesDomain {
 public:
  RamsesDomain(const RamsesFacts& facts, int number);  // from 1

  int levels() const { return levels_; }  // RAMSES's levelmax
  int variables() const { return variables_; }
  double gamma() const { return gamma_; }
  double time() const { return time_; }
  // By axis, cells of the coarse grid: 1, and one more for each wall.
  const std::array<std::int64_t, 3>& coarse_cells() const { return coarse_cells_; }

  RamsesOcts next_level();
  void skip_level();

 private:
  void read_amr_head();
  void read_gas_head(const RamsesFacts& facts);
  std::int64_t octs_in_list(int list) const;
  void walk_level(RamsesOcts* octs);
  void read_tree(FortranFile& amr, std::int64_t count, RamsesOcts& octs) const;
  void read_values(FortranFile& gas, std::int64_t count, RamsesOcts& octs) const;

  std::string amr_path_, gas_path_;
  int number_, domains_, level_ = 0;  // the level that was read last
  int levels_ = 0, lists_ = 0, variables_ = 0;
  double gamma_ = 0.0, time_ = 0.0;
  std::array<std::int64_t, 3> coarse_cells_{};
  std::vector<std::int64_t> in_lists_;  // octs, [level - 1][list]
  RecordPlace amr_place_, gas_place_;
};

// The particles of one domain, one entry each.
struct RamsesParticles {
  std::vector<std::array<double, 3>> position, velocity;  // position in the box, from 0 on
  std::vector<double> mass, birth_time, metallicity;      // the last two may be empty
  std::vector<std::int64_t> identity;
  std::vector<std::int8_t> family;  // 1 dark matter, 2 stars, ...

  std::size_t size() const { return mass.size(); }
};

// Reads the particles of a domain, from 1. Local; throws InputError that names file and record.
RamsesParticles read_ramses_particles(const RamsesFacts& facts, int number);

}  // namespace octant

// Reader of RAMSES outputs, output_NNNNN: metadata, octs level by level, and particles. An output
// consists of binary files of every domain (binary_source.cpp, binary_particles.cpp), or of the
// HDF5 file of cuRAMSES (hdf5_source.cpp). Both have the same texts (texts.cpp).
//
// Octs of level l divide cells of level l - 1 into eight, ix + 2 iy + 4 iz; cells of level l are
// 2^-l of the box wide.
#pragma once

#include <array>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "comm/communicator.hpp"
#include "io/row_range.hpp"

namespace octant {

inline constexpr int k_oct_cells = 8;

using RamsesPlace = std::array<std::int64_t, 3>;  // position of a cell on its level, or of its oct

// Metadata of an output from its texts.
struct RamsesFacts {
  std::string folder, number;  // number: "00080"
  std::string hdf5_file;       // path of the HDF5 file; empty for binary outputs
  int domains_of_group = 0;    // files per directory group_GGGGG; 0: no groups
  int domains = 0, coarsest_level = 0;
  std::int64_t coarse_steps = 0;
  double box_length = 0.0, time = 0.0;  // in code units
  double scale_factor = 1.0, hubble = 1.0;
  double omega_m = 1.0, omega_lambda = 0.0, omega_curvature = 0.0, omega_b = 0.045;
  double unit_length = 1.0, unit_density = 1.0, unit_time = 1.0;  // cgs
  std::vector<std::string> variables;            // of the gas, in order; empty if unknown
  std::vector<std::string> particle_fields;      // columns in order; empty without particles
  std::map<std::string, std::int64_t> families;  // particles per family: "DM", "star", ...
  // True if the header lists families, or (older form) total numbers and the columns of particles.
  bool has_families = false, has_totals = false;
  bool has_gas = true, has_sinks = false;
  bool has_forces = false;  // contains gravitational forces

  // True for a cosmological run.
  bool is_cosmological() const { return scale_factor != 1.0 || hubble != 1.0; }
};

// Names of numbers of RamsesFacts in the files, in file order.
inline constexpr std::pair<const char*, double RamsesFacts::*> k_ramses_numbers[] = {
    {"boxlen", &RamsesFacts::box_length},       {"time", &RamsesFacts::time},
    {"aexp", &RamsesFacts::scale_factor},       {"H0", &RamsesFacts::hubble},
    {"omega_m", &RamsesFacts::omega_m},         {"omega_l", &RamsesFacts::omega_lambda},
    {"omega_k", &RamsesFacts::omega_curvature}, {"omega_b", &RamsesFacts::omega_b},
    {"unit_l", &RamsesFacts::unit_length},      {"unit_d", &RamsesFacts::unit_density},
    {"unit_t", &RamsesFacts::unit_time}};

// Header of a file.
struct RamsesHead {
  int levels = 0;     // levelmax of RAMSES
  int variables = 0;  // number of variables of the gas
  double gamma = 0.0;
  // Cells of the coarse grid by axis: 1, plus one for each wall.
  std::array<std::int64_t, 3> coarse_cells{};
  // Last step of each level, from 1 on (dtnew of RAMSES); empty if not in the file.
  std::vector<double> last_steps;
};

// Cell values to read: gas variables, or gravitational force.
enum class RamsesCells { gas, forces };
inline constexpr int k_ramses_force_fields = 3;

// First variables of the gas, in order.
inline constexpr const char* k_ramses_gas[] = {"density", "velocity_x", "velocity_y", "velocity_z",
                                               "pressure"};
inline constexpr int k_ramses_gas_fields = std::size(k_ramses_gas);

// Octs of one level.
struct RamsesOcts {
  std::vector<RamsesPlace> places;    // in octs of the level, 0 .. 2^(level - 1) - 1
  std::vector<std::uint8_t> refined;  // masks of cells that contain an oct
  std::vector<double> values;         // [variable][cell of oct][oct]

  // Number of octs.
  std::int64_t size() const { return std::ssize(places); }
  // Resizes to `count` octs and marks all cells as unrefined.
  void resize(std::int64_t count, std::int64_t values_of_oct);
};

// Particles, one entry each.
struct RamsesParticles {
  std::vector<std::array<double, 3>> position, velocity;  // position relative to the lower corner
  std::vector<double> mass;
  std::map<std::string, std::vector<double>> columns;  // additional columns: "birth_time", ...
  std::vector<std::int64_t> identity;
  std::vector<std::int8_t> family;  // 1: dark matter, 2: stars, ...
  std::vector<std::int64_t> level;  // level of the last step; empty if not in the file

  // Number of particles.
  std::size_t size() const { return mass.size(); }
};

// Families of particles, as numbered in files.
enum RamsesFamily : std::int8_t { k_ramses_dark = 1, k_ramses_star = 2, k_ramses_cloud = 3 };

// Cells and particles of an output, read by all ranks together: domains are distributed cyclically
// over the ranks, and a rank reads `chunk` of its own at a time (0: all). Throws InputError on
// every rank, naming file and record or dataset.
class RamsesSource {
 public:
  virtual ~RamsesSource() = default;

  // Headers of the files that this rank reads; the headers must agree.
  virtual std::vector<RamsesHead> heads() const = 0;
  // Number of rounds of read() on each level, and of particles() in total; called in order from 0.
  int rounds() const { return rounds_; }
  // Returns true if the variables are conserved ones.
  virtual bool is_conserved() const = 0;

  // Advances to the next level, first to level 1. Collective.
  virtual void next_level() = 0;
  // Number of octs of the current level in the domains of a round. Local.
  std::int64_t count(int round) const;
  // Reads the octs `some` of a round. Collective: ranks without further octs pass an empty range.
  virtual void read(int round, RowRange some, RamsesOcts& octs) = 0;
  virtual RamsesParticles particles(int round) = 0;  // particles of a round; collective
  virtual RamsesParticles sinks() = 0;               // all sinks, on the root; collective

 protected:
  RamsesSource(const Communicator& communicator, const RamsesFacts& attributes, int chunk);

  // Octs of one domain, and their offset among the requested ones.
  struct Piece {
    int domain;
    RowRange octs;
    std::int64_t at;
  };
  std::vector<Piece> pieces(int round, RowRange some) const;  // non-empty pieces only

  // Domains of this rank in a round, from 1.
  std::vector<int> domains(int round) const;

  Communicator communicator_;
  const RamsesFacts& facts_;

 private:
  // Number of octs of the current level in a domain of this rank.
  virtual std::int64_t octs_of(int domain) const = 0;

  int chunk_, rounds_;
};

// Position along an axis of an oct of a level, from its centre in coarse cells; -1 if no oct has
// this centre.
std::int64_t ramses_oct_place(int level, double centre);

// Reads the metadata of an output. Throws InputError on every rank, naming the file, if one is
// missing or invalid. Collective.
RamsesFacts read_ramses_facts(const Communicator& communicator, const std::string& path);

// Opens an output. `attributes` must outlive the result. Collective.
std::unique_ptr<RamsesSource> open_ramses(const Communicator& communicator,
                                          const RamsesFacts& attributes, int chunk,
                                          RamsesCells cells = RamsesCells::gas);

// --- texts common to binary and HDF5 outputs (texts.cpp) -----------------------------------------

// Adds the contents of info_NNNNN.txt, header_NNNNN.txt and hydro_file_descriptor.txt. Collective.
void read_ramses_texts(const Communicator& communicator, RamsesFacts& attributes);

// Path of a text file of this name.
std::string ramses_text_path(const RamsesFacts& attributes, const std::string& name);
// Path of a text file, composed of kind, number and ending.
std::string ramses_text_path(const RamsesFacts& attributes, const char* kind, const char* ending);

// Text without blanks at both ends.
std::string trimmed_text(const std::string& text);

// --- binary and HDF5 outputs ---------------------------------------------------------------------

// Adds metadata specific to binary outputs: columns of particles, existing files. Collective.
void read_folder_facts(const Communicator& communicator, RamsesFacts& attributes);
// Adds metadata specific to HDF5 outputs: the header of attributes.hdf5_file, with all digits.
// Collective.
void read_hdf5_facts(const Communicator& communicator, RamsesFacts& attributes);

using OpenRamses = std::unique_ptr<RamsesSource>(const Communicator& communicator,
                                                 const RamsesFacts& attributes, int chunk,
                                                 RamsesCells cells);
OpenRamses open_folder, open_hdf5;

// Path of a domain's file of a kind ("amr"). If files lie in groups, the first group has the texts.
std::string ramses_file(const RamsesFacts& attributes, const char* kind, int domain);

// Families of particles in files without them: by the types of cuRAMSES or, without types, by the
// birth time, which is 0 for dark matter; clouds of sinks have negative identities. `types` and
// `births` may be empty. Throws InputError that names an unknown type.
std::vector<std::int8_t> ramses_families(const std::string& path,
                                         std::span<const std::int64_t> identities,
                                         std::span<const std::int8_t> types,
                                         std::span<const double> births);

// Adds the particles in the file of a domain to `all`. Returns the numbers of stars and sinks that
// the run has formed, which are the same in the files of all domains. Local.
std::array<std::int64_t, 2> read_domain_particles(const RamsesFacts& attributes, int domain,
                                                  RamsesParticles& all);
// Reads the sinks of sink_NNNNN.csv on the root. Collective.
RamsesParticles read_sinks_of_text(const Communicator& communicator, const RamsesFacts& attributes);

}  // namespace octant

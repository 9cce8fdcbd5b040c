// What every reader of RAMSES's outputs gives: facts about the whole, octs of one level after the
// other, and particles.
//
// Octs of level l divide cells of level l - 1 into eight, ix + 2 iy + 4 iz; the cells of level l
// are as wide as the box over 2^l.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "comm/communicator.hpp"
#include "io/row_range.hpp"

namespace octant {

// What the texts of a folder say about the whole output.
struct RamsesFacts {
  std::string folder, number;  // number: "00080"
  std::string hdf5_file;       // where the output is one; else empty
  int domains_of_group = 0;    // whose files share a folder group_GGGGG; 0: there are none
  int domains = 0, coarsest_level = 0;
  std::int64_t coarse_steps = 0;
  double box_length = 0.0, time = 0.0;  // in code units
  double scale_factor = 1.0, hubble = 1.0;
  double omega_m = 1.0, omega_lambda = 0.0, omega_curvature = 0.0, omega_b = 0.045;
  double unit_length = 1.0, unit_density = 1.0, unit_time = 1.0;  // cgs
  std::vector<std::string> variables;        // of the gas, in order; empty if no text names them
  std::vector<std::string> particle_fields;  // columns of particles, in order; empty without some
  std::map<std::string, std::int64_t> families;  // of particles that there are: "DM", "star", ...
  bool has_gas = true, has_sinks = false;
  bool has_forces = false;  // of gravity

  bool is_cosmological() const { return scale_factor != 1.0 || hubble != 1.0; }
};

// What files call the numbers among these, in the order in which they have them.
inline constexpr std::pair<const char*, double RamsesFacts::*> k_ramses_numbers[] = {
    {"boxlen", &RamsesFacts::box_length},       {"time", &RamsesFacts::time},
    {"aexp", &RamsesFacts::scale_factor},       {"H0", &RamsesFacts::hubble},
    {"omega_m", &RamsesFacts::omega_m},         {"omega_l", &RamsesFacts::omega_lambda},
    {"omega_k", &RamsesFacts::omega_curvature}, {"omega_b", &RamsesFacts::omega_b},
    {"unit_l", &RamsesFacts::unit_length},      {"unit_d", &RamsesFacts::unit_density},
    {"unit_t", &RamsesFacts::unit_time}};

// What the head of a file says of the run that wrote it.
struct RamsesHead {
  int levels = 0;     // RAMSES's levelmax
  int variables = 0;  // of the gas
  double gamma = 0.0;
  // By axis, cells of the coarse grid: 1, and one more for each wall.
  std::array<std::int64_t, 3> coarse_cells{};
  // The last step of every level, from 1 on (RAMSES's dtnew); none if the file does not say.
  std::vector<double> last_steps;
};

// What is read of the cells: the gas's variables, or the force of gravity.
enum class RamsesCells { gas, forces };
inline constexpr int k_ramses_force_fields = 3;

// Octs of one level.
struct RamsesOcts {
  std::vector<std::array<std::int64_t, 3>> places;  // in octs of the level, 0 .. 2^(level - 1) - 1
  std::vector<std::uint8_t> refined;                // masks of cells with an oct of their own
  std::vector<double> values;                       // [variable][cell of oct][oct]

  std::int64_t size() const { return std::ssize(places); }
  // Makes room for so many, none of whose cells is refined yet.
  void resize(std::int64_t count, std::int64_t values_of_oct);
};

// Particles, one entry each.
struct RamsesParticles {
  std::vector<std::array<double, 3>> position, velocity;  // position in the box, from 0 on
  std::vector<double> mass;
  std::map<std::string, std::vector<double>> columns;  // further ones: "birth_time", ...
  std::vector<std::int64_t> identity;
  std::vector<std::int8_t> family;  // 1 dark matter, 2 stars, ...
  std::vector<std::int64_t> level;  // that they stepped on last; none if the file does not say

  std::size_t size() const { return mass.size(); }
};

enum RamsesFamily : std::int8_t { k_ramses_dark = 1, k_ramses_star = 2, k_ramses_cloud = 3 };

// The cells and particles of an output, which the ranks read together: the domains are dealt out to
// them in turn, and a rank takes `chunk` of its own at a time (0: all). Throws InputError on every
// rank, naming file and record or dataset.
class RamsesSource {
 public:
  virtual ~RamsesSource() = default;

  // Of the files that this rank reads; they must agree.
  virtual std::vector<RamsesHead> heads() const = 0;
  // How often octs() and particles() are called, for each level and in all: 0, 1, ... in turn.
  int rounds() const { return rounds_; }
  // Whether variables are conserved ones.
  virtual bool is_conserved() const = 0;

  // Goes to the next level, first to level 1. Collective.
  virtual void next_level() = 0;
  // How many octs of the level the domains of a round own. Local.
  std::int64_t count(int round) const;
  // Some of these. Collective: a rank that has no more of them asks for none.
  virtual void read(int round, RowRange some, RamsesOcts& octs) = 0;
  virtual RamsesParticles particles(int round) = 0;  // of some domains; collective
  virtual RamsesParticles sinks() = 0;               // all of them, on the root; collective

 protected:
  RamsesSource(const Communicator& communicator, const RamsesFacts& facts, int chunk);

  // Octs of one domain, and where they come among those that were asked for.
  struct Piece {
    int domain;
    RowRange octs;
    std::int64_t at;
  };
  std::vector<Piece> pieces(int round, RowRange some) const;  // none is empty

  // The domains of this rank in a round, from 1.
  std::vector<int> domains(int round) const;

  Communicator communicator_;
  const RamsesFacts& facts_;

 private:
  // How many octs of the present level a domain of this rank owns.
  virtual std::int64_t octs_of(int domain) const = 0;

  int chunk_, rounds_;
};

// The place of an oct of a level along an axis, whose centre is given in coarse cells; -1 if no oct
// can be there.
std::int64_t ramses_oct_place(int level, double centre);

}  // namespace octant

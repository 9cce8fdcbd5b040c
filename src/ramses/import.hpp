// Conversion of a RAMSES output to the state of a simulation: checks of parameters, distribution of
// octs to the owners of their blocks, particles, and the pending half kick.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "amr/amr_simulation.hpp"
#include "comm/route.hpp"
#include "mesh/device.hpp"
#include "ramses/source.hpp"

namespace octant {

// Correspondence between levels of the file and of the mesh.
struct RamsesLevels {
  int base = 0;  // RAMSES level of the mesh's level 0
  // Level of the mesh that corresponds to a RAMSES level.
  int of_mesh(int level) const { return level - base; }
};

// Throws InputError: the output is inconsistent, in itself or with the parameters.
[[noreturn]] void refuse_ramses(const RamsesFacts& attributes, const std::string& what);

// Start time of the run. In cosmological runs it follows from the scale factor, since the time
// tables of RAMSES are less accurate; the file's time is used unchanged if it agrees to rounding.
double ramses_time(const RamsesFacts& attributes, const cosmology::Universe* universe);

// --- octs (import_octs.cpp) ----------------------------------------------------------------------

// Position of an oct on the rank that owns its block.
struct OctPosition {
  std::int32_t slot, first_cell;  // slot of the block, and the oct's lower corner cell in it
  std::uint32_t refined;          // mask of its cells, as in the file

  // Index of a cell of the oct within the block of N^3 cells.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t cell(std::int64_t of_oct, int N) const {
    return first_cell + ((of_oct >> 2) * N + (of_oct >> 1 & 1)) * N + (of_oct & 1);
  }
};

// Octs received by the rank that owns their blocks, also on the device.
struct ArrivedOcts {
  mesh::DeviceTable<OctPosition> places{"octs"};
  mesh::DeviceTable<double> values{"values of octs"};  // [oct][variable][cell]
};

// Distribution of octs.
class OctDelivery {
 public:
  // `variables` is the number of variables per cell. All arguments must outlive the object.
  OctDelivery(const mesh::Mesh& mesh, const RamsesFacts& attributes, RamsesSource& source,
              RamsesLevels levels, int variables);

  using Store = std::function<void(const ArrivedOcts&)>;
  // Reads the octs of the next RAMSES level and passes those received by this rank to `store`.
  // Returns the number of octs that this rank has read. All functions are collective.
  std::int64_t deliver_level(int level, const Store& store);

  // Oct that the file does not contain.
  struct FurtherOct {
    Key block;
    std::int32_t first_cell;
    std::vector<double> values;
  };
  // Passes octs that the file does not contain to the owners of their blocks.
  void deliver(int level, std::span<const FurtherOct> octs, const Store& store);

 private:
  struct Head;
  // Copies the values of an oct, [variable][cell].
  using CopyValues = std::function<void(std::size_t oct, double* to)>;

  std::size_t item_bytes() const;
  std::int64_t batch_size() const;
  Head head_of(std::size_t oct) const;
  void send(int level, std::span<const Head> heads, const CopyValues& copy_values,
            const Store& store);
  std::vector<int> owners_of(int level, std::span<const Head> heads) const;
  void unpack(int level, std::span<const std::byte> items);

  const mesh::Mesh& mesh_;
  const RamsesFacts& facts_;
  RamsesSource& source_;
  RamsesLevels levels_;
  std::size_t variables_;
  // Reused buffers.
  RamsesOcts octs_;
  std::vector<std::byte> leaving_;
  Router router_;
  ArrivedOcts arrived_;
};

// Stores the variables of received octs in the blocks of a level.
void write_gas(AmrSimulation& simulation, int level, const ArrivedOcts& octs, bool is_conserved);

// Sets the pressure of cells whose total energy is not positive to the pressure floor, or to 1e-14
// of the kinetic energy density if that is larger. RAMSES applies its floor when it reads cells, so
// its files may contain such cells. Negative internal energies with positive total energy are kept.
// Returns the number of changed cells on this rank.
std::int64_t apply_pressure_floor(AmrSimulation& simulation);

// --- particles and sinks (import_particles.cpp) --------------------------------------------------

// Kinds of particles in an output.
std::vector<particles::Kind> kinds_of_families(const RamsesFacts& attributes);

// Function that receives a batch of particles of a family, with the name of their kind.
using VisitFamily =
    std::function<void(const std::string& kind, const RamsesParticles& some, RamsesFamily family)>;
// Visits all particles that this rank reads, for each family that becomes a kind, and for sinks.
// Collective.
void for_families(const RamsesFacts& attributes, RamsesSource& source, const VisitFamily& visit);

// Particles of one family, as a batch of a kind.
particles::ParticleBatch batch_of(const RamsesParticles& some, RamsesFamily family,
                                  const particles::Kind& kind, const mesh::Geometry& geometry);

// Adds all particles of an output to the run. Throws InputError on every rank, also if their number
// differs from that in the header. Collective.
void read_ramses_particles(AmrSimulation& simulation, const RamsesFacts& attributes,
                           RamsesSource& source);

// --- kicks (half_kick.cpp) -----------------------------------------------------------------------

// Computes the half kick that the state of an output lacks. Gravity must be up to date, and nothing
// may have moved since. Reads the output's forces and particles again. Returns a function that adds
// the kick to gas and particles, whose positions must not have changed. Throws InputError on every
// rank. Both functions are collective.
std::function<void()> find_half_kick(AmrSimulation& simulation, const RamsesFacts& attributes,
                                     RamsesLevels levels, RamsesSource& source, int chunk_files);

}  // namespace octant

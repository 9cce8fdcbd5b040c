// Particles in an output of RAMSES: dark matter and stars, each in the file of the domain that it
// lies in.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "driver/contents.hpp"
#include "driver/ramses_domains.hpp"
#include "io/ramses_writer.hpp"

namespace octant::driver {

class RamsesParticleWriter {
 public:
  // Finds out where this rank's particles belong, and adds to `output` what its texts say of them;
  // warns of kinds that RAMSES does not know. Collective.
  RamsesParticleWriter(const MeshContents& contents, const RamsesDomains& domains,
                       RamsesOutput& output);

  // Also of none, but for sinks, RAMSES wants files.
  bool has_any() const { return !families_.empty() || has_sinks(); }

  bool has_sinks() const { return sinks_ != nullptr; }
  // All of them in the order of their identities, on the root. Collective.
  RamsesParticles sinks() const;

  // Of the masses of this rank's particles, one after the other.
  void for_masses(const std::function<void(double mass, bool is_star)>& visit) const;

  // The level of the finest oct in a cell of level k_finest_ramses_level.
  using LevelAt = std::function<int(const RamsesPlace& cell)>;
  // Writes those of domains `first` to `last`, one on each rank, `domain` here (-1: none), in
  // the order of family and identity. Collective.
  void write(int first, int last, int domain, double mass_of_stars, const LevelAt& level_at) const;

 private:
  // A kind of particles that RAMSES has as a family, and the domain of each of this rank's.
  struct Family {
    const ParticleContents* particles;
    std::int8_t number;
    std::vector<std::int32_t> domains;
    // Added to the number of a particle within its kind: families follow each other, so that no
    // identity occurs twice.
    std::int64_t first_identity = 0;
  };

  using Numbers = std::span<const std::int64_t>;  // of this rank's particles of a family
  class Delivery;

  RamsesPlace cell_at(const double* position) const;
  void find_families();
  void find_identities();
  void name_columns();
  std::vector<double> reals_of(const Family& family, const std::string& name, Numbers some) const;
  std::vector<std::int32_t> levels_at(const std::vector<std::vector<double>>& position,
                                      const LevelAt& level_at) const;

  const MeshContents& contents_;
  const Communicator& ranks_;
  const RamsesDomains& domains_;
  RamsesOutput& output_;
  std::vector<Family> families_;
  const ParticleContents *stars_ = nullptr, *sinks_ = nullptr;
};

}  // namespace octant::driver

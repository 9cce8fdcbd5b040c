// The mesh as RAMSES's tree: this rank's octs, what their cells hold, and the domains that their
// files are for.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "driver/contents.hpp"
#include "driver/ramses_domains.hpp"

namespace octant::driver {

inline constexpr int k_octants = 8;
inline constexpr int k_finest_ramses_level = 20;  // whose places have Morton keys, and more

Key key_of(const RamsesPlace& place);
RamsesPlace place_of(Key key);

// The level of RAMSES's tree that the mesh's base grid is.
int ramses_base(const mesh::Geometry& geometry);

inline constexpr const char* k_ramses_gas[] = {"density", "velocity_x", "velocity_y", "velocity_z",
                                               "pressure"};

// The variables of the files, in their order.
struct RamsesVariables {
  std::vector<const CellField*> all;  // of the gas, then of gravity
  int gas = 0, gravity = 0;

  // Throws RunError if there is no gas.
  explicit RamsesVariables(const MeshContents& contents);

  const CellField& density() const { return *all[0]; }
  // The axis along which a variable is the component of a vector; -1: it is none.
  int vector_axis(int variable) const;
  // What a cell holds that is divided into eight of these values, [variable][cell]: it has their
  // mass, momentum and energy.
  std::vector<double> mean(const std::vector<double>& cells, double gamma) const;
};

using OctValues = std::array<double, k_octants>;  // of an oct's cells

// This rank's octs of a level of RAMSES's tree.
struct OctLevel {
  std::vector<Key> keys;              // of the oct's place, that of the cell which it divides
  std::vector<std::uint8_t> refined;  // masks of cells with an oct of their own
  std::vector<std::int32_t> owners;   // domains
  std::vector<std::int64_t> first_holder{0};  // in `holders`, and the end
  std::vector<std::int32_t> holders;          // domains
  // Octs of blocks take their values from there; those above them have their own, [variable][oct].
  const BlockLevel* blocks = nullptr;
  std::vector<std::vector<OctValues>> values;
};

// All levels. `contents` and `domains` must outlive it.
class OctTree {
 public:
  // Collective. `levels` counts those of RAMSES's tree, also above and below the mesh's.
  OctTree(const MeshContents& contents, const RamsesDomains& domains, int levels, double gamma);

  const RamsesVariables& variables() const { return variables_; }
  const std::vector<OctLevel>& levels() const { return octs_; }  // from level 1 on
  // How many octs each domain owns, [level - 1][domain].
  const std::vector<std::vector<std::int64_t>>& counts() const { return counts_; }

  // Values of one variable in all of a level's octs. Local.
  std::vector<OctValues> values(const OctLevel& octs, int variable) const;

 private:
  OctLevel& level(int number) { return octs_[number - 1]; }
  void add_blocks();
  std::uint8_t refined_cells(std::uint8_t octants, const std::array<int, 3>& oct) const;
  std::vector<OctValues> values_in(const BlockLevel& blocks, std::span<const int> slots,
                                   int variable) const;
  void add_coarse_levels();
  void append_means(const OctLevel& octs, std::vector<Key>& cells,
                    std::vector<double>& means) const;
  void assemble(const std::vector<Key>& cells, const std::vector<double>& means,
                OctLevel& octs) const;
  void find_holders();

  const MeshContents& contents_;
  const Communicator& ranks_;
  const RamsesDomains& domains_;
  RamsesVariables variables_;
  int base_;
  double gamma_;
  std::vector<OctLevel> octs_;
  std::vector<std::vector<std::int64_t>> counts_;
};

}  // namespace octant::driver

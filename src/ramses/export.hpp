// Snapshots as outputs of RAMSES: the mesh as octs, divided into domains, and their files.
//
// The box is divided along the Hilbert curve of RAMSES, which is that of Octant
// (decomp/hilbert.hpp) with y and z exchanged. There are 2^l cells of level l along each axis. A
// cell belongs to the domain that contains its centre, an oct to that of the cell it divides.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "comm/route.hpp"
#include "decomp/key_table.hpp"
#include "io/fortran_file.hpp"
#include "output/contents.hpp"
#include "ramses/source.hpp"

namespace octant {

// --- the tree (oct_tree.cpp) ---------------------------------------------------------------------

// Domains of an output: consecutive segments of a space-filling curve, by which readers choose the
// files of a region.
class RamsesDomains {
 public:
  // Divides the mesh into `count` domains with equal numbers of octs with leaves. No domain
  // boundary cuts an octant of leaf cells, or a block of 2^3 cells. Level 0 of the mesh is level
  // `base`. Collective.
  RamsesDomains(const MeshContents& contents, int base, int count);

  // Number of domains.
  int count() const { return static_cast<int>(walls_.size()) + 1; }

  // Boundaries of the domains on the curve, including both ends, as exact keys of 3 `bits` bits.
  std::vector<double> bounds(int bits) const;

  // Domain that owns a cell.
  int owner(int level, const RamsesPlace& cell) const;

  // Domains that store a copy of the oct in this cell, including its owner, in ascending order: all
  // that overlap the cell or one of the 26 cells around it. A domain thus stores the octs around
  // its own octs, all octs that contain these, and all octs that divide cells of its own octs.
  std::vector<int> holders(int level, const RamsesPlace& cell) const;

 private:
  struct Piece {
    Key begin, end;  // `end` is the last key
  };
  Piece piece(int level, const RamsesPlace& cell) const;
  int domain_at(Key key) const;

  int bits_;  // per coordinate on the curve
  std::array<bool, 3> periodic_;
  std::vector<Key> walls_;  // first keys of domains 1, 2, ...
};

inline constexpr int k_finest_ramses_level = 20;  // Morton keys cover its positions

// Morton key of a position.
Key key_of(const RamsesPlace& place);
// Position of a Morton key.
RamsesPlace place_of(Key key);

// Level of the RAMSES tree that corresponds to the mesh's base grid.
int ramses_base(const mesh::Geometry& geometry);

// Variables of the files, in order.
struct RamsesVariables {
  std::vector<const MeshField*> all;  // gas, then gravity
  int gas = 0, gravity = 0;

  // Throws RunError if there is no gas.
  explicit RamsesVariables(const MeshContents& contents);

  // Density of the gas.
  const MeshField& density() const { return *all[0]; }
  // Axis of a variable that is a vector component; otherwise -1.
  int vector_axis(int variable) const;
  // Averages the values of eight cells, [variable][cell], to those of their parent cell; conserves
  // mass, momentum and energy.
  std::vector<double> mean(const std::vector<double>& cells, double gamma) const;
};

using OctValues = std::array<double, k_oct_cells>;  // cells of an oct

// Octs of one level of the RAMSES tree on this rank.
struct OctLevel {
  std::vector<Key> keys;              // position of the oct, i.e. of the cell that it divides
  std::vector<std::uint8_t> refined;  // masks of cells that contain an oct
  std::vector<std::int32_t> owners;   // domains
  std::vector<std::int64_t> first_holder{0};  // offsets in `holders`, and the end
  std::vector<std::int32_t> holders;          // domains
  // Octs of blocks take their values from `blocks`; coarser octs have their own, [variable][oct].
  const BlockLevel* blocks = nullptr;
  std::vector<std::vector<OctValues>> values;
};

// All levels of the tree. `contents` and `domains` must outlive the object.
class OctTree {
 public:
  // `levels` is the number of levels of the RAMSES tree, including levels coarser and finer than
  // those of the mesh. Collective.
  OctTree(const MeshContents& contents, const RamsesDomains& domains, int levels, double gamma);

  // Variables of the files.
  const RamsesVariables& variables() const { return variables_; }
  const std::vector<OctLevel>& levels() const { return octs_; }  // from level 1 on
  // Number of octs that each domain owns, [level - 1][domain].
  const std::vector<std::vector<std::int64_t>>& counts() const { return counts_; }

  // Values of one variable in all octs of a level. Local.
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

// --- files (output_files.cpp) --------------------------------------------------------------------

// Data common to the files of all domains.
struct RamsesOutput {
  RamsesFacts attributes;  // `folder` is the output directory
  int levels = 1;          // levelmax of RAMSES
  double gamma = 1.0;
  double mass = 0.0, gas_mass = 0.0, star_mass = 0.0;  // star_mass and gas_mass: parts of mass
  double box_megaparsecs_per_h = 0.0;                  // cosmological runs only
  // Cells of the coarse grid by axis (1, plus one for each wall), and those of them below the box.
  std::array<int, 3> coarse_cells{1, 1, 1}, cells_below{0, 0, 0};
  // Domain boundaries on the curve, including 0 and its end, in cells of half the finest size.
  std::vector<double> bounds;
  std::vector<std::vector<std::int64_t>> octs;  // owned by each domain, [level - 1][domain]
  // mass_sph of RAMSES, which a restart reads from the files: refine.mass_unit, or 0. In an
  // expanding box, mass_sph follows from the base level.
  double mass_unit = 0.0;
  bool long_ids = false;
  bool is_curamses = false;  // binary files in the form of cuRAMSES
  std::int64_t sinks = 0;

  int central_cell() const;      // index of the coarse cell that contains the box, from 1
  int boundary_regions() const;  // two per axis with walls
};

// Writes the text files. Local. Throws RunError.
void write_ramses_texts(const RamsesOutput& output, std::int64_t most_octs);

// Returns numbers of the run by their names in the files of octs, or in /header of an HDF5 file.
std::map<std::string, double> ramses_run_numbers(const RamsesOutput& output);

// Writes the text file of all sinks in the columns and widths that RAMSES reads, with fifteen
// digits. Local; throws RunError.
void write_ramses_sinks(const RamsesOutput& output, const RamsesParticles& sinks);

// Octs of a level in the files of a domain, including copies and images, in the order of its lists.
struct RamsesTreeLevel {
  std::array<std::vector<double>, 3> centre;  // centre of the oct, in coarse cells
  std::vector<std::int32_t> father;           // cell; 0, here and below, if not in the file
  std::array<std::vector<std::int32_t>, 6> neighbour;  // cells beside the father: -x, +x, ...
  std::array<std::vector<std::int32_t>, 8> son, owner, flag;  // values of the oct's cells
};

// Numbers of octs of each domain and boundary region in a domain's files: [level - 1][domain],
// followed by the regions.
using RamsesLists = std::vector<std::vector<std::int64_t>>;

// File of a domain's octs. Local; throws RunError.
class RamsesTreeFile {
 public:
  // `sons` are the octs that divide the coarse cells; `root_owner` owns the one in the box.
  RamsesTreeFile(const RamsesOutput& output, int domain, const RamsesLists& lists,
                 const std::vector<std::int32_t>& sons, int root_owner);
  void write_level(int level, const RamsesTreeLevel& octs);  // levels in ascending order
  // Writes the rest of the file.
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
  std::int64_t first_ = 1;  // number of the first oct of the level
};

// File of `variables` values in each cell of a domain's octs: gas or gravity. Local; throws
// RunError.
class RamsesCellFile {
 public:
  // Contents of the file.
  enum class Kind { gas, gravity };
  RamsesCellFile(const RamsesOutput& output, Kind kind, int domain, const RamsesLists& lists,
                 int variables);
  // Writes variable n, from 0, of a level: values[oct][cell], octs in the order of the tree file.
  void write(int level, int n, std::span<const double> values);
  // Writes the rest of the file.
  void finish() { file_.finish(); }

 private:
  FortranWriter file_;
  const RamsesLists& lists_;
  int variables_;
  std::vector<std::vector<std::int64_t>> places_;  // position of the first record of each list
};

// Opens the file of a domain's particles and writes its header. The caller then writes the columns
// of attributes.particle_fields, one record each.
FortranWriter ramses_particle_file(const RamsesOutput& output, int domain, std::int64_t count,
                                   std::int64_t all_stars);

// Converts numbers to quadruple precision (IEEE 754), two words each.
std::vector<std::uint64_t> quadruple_precision(std::span<const double> values);
// Return the texts of header_NNNNN.txt and hydro_file_descriptor.txt of cuRAMSES.
std::string curamses_header_text(const RamsesOutput& output);
std::string curamses_descriptor_text(const std::vector<std::string>& names);

// Route of this rank's octs or particles to the ranks that write domains, one domain on each rank.
struct DomainRoute {
  std::vector<int> ranks;          // destinations of each item, one for each domain that lists it
  std::vector<std::size_t> order;  // arrived items in file order; empty: not determined yet

  // Arrived values in file order.
  template <class T>
  std::vector<T> ordered(std::vector<T> arrived) const {
    if (order.empty()) return arrived;
    std::vector<T> values;
    values.reserve(order.size());
    for (const std::size_t n : order) values.push_back(arrived[n]);
    return values;
  }
  // Sends one value of each item and returns the arrived values. Collective.
  template <class T>
  std::vector<T> exchange_values(const Communicator& communicator,
                                 const std::vector<T>& values) const {
    return ordered(route(communicator, ranks, std::span<const T>(values)).items);
  }
};

// Octs of a level in the files of a domain, and their links.
//
// RAMSES stores images of octs adjacent to walls, in regions with lists of their own (its
// &BOUNDARY_PARAMS): two for each axis with walls, below and above, in the order of axes. Images
// beyond several walls are in the region of the last axis.

// An oct in the box, as sent to the writer of a domain.
struct OctItem {
  Key key;
  std::int32_t owner;
  std::uint32_t refined;
};

// Image of an oct beyond walls: `of` is the index of the oct in the box; bit d of `mirrored` is set
// if it is mirrored along axis d.
struct OctImage {
  RamsesPlace place;
  std::int32_t region;
  std::uint32_t mirrored;
  std::int64_t of;
};

// Octs of one level in file order: by owner, then by key; then the images, by region.
struct HeldLevel {
  int number = 1;
  std::vector<OctItem> octs;
  std::vector<OctImage> images;
  std::int64_t first_oct = 1;  // number of the first oct in the files

  // Number of octs and images.
  std::int64_t size() const { return std::ssize(octs) + std::ssize(images); }
};

// Octs of some domains, one domain on each rank, in file order (domain_octs.cpp).
class DomainOcts {
 public:
  // Octs to include: those that the domain owns, or also its copies of other domains' octs.
  enum class Share { own, with_copies };
  // Receives the octs of domains >= `first`. Arguments must outlive the object. Collective.
  DomainOcts(const Communicator& ranks, const OctTree& tree, int first, Share share);

  // First domain of this round, in which each rank has at most one domain.
  int first() const { return first_; }
  int last() const { return last_; }      // one past the last domain
  int domain() const { return domain_; }  // domain of this rank, from 0; -1: none
  // Levels of the domain on this rank, from 1.
  std::vector<HeldLevel>& levels() { return held_; }
  // Levels of the domain on this rank, for reading.
  const std::vector<HeldLevel>& levels() const { return held_; }

  // Values of a variable on the level with this index in levels(), [oct][cell]. Collective.
  std::vector<double> values(std::size_t level, int variable) const;
  // Returns the level of the finest oct of the domain that contains `cell`, a cell of level
  // k_finest_ramses_level; `min_level` if there is no finer one.
  int finest_level_containing(const RamsesPlace& cell, int min_level) const;

 private:
  // Octs of a level that this rank sends, with their destinations.
  struct OctRoute : DomainRoute {
    std::vector<std::int64_t> octs;
  };
  OctRoute route_of(const OctLevel& octs, Share share) const;
  std::vector<OctItem> exchange(const OctLevel& octs, OctRoute& way) const;

  const Communicator& ranks_;
  const OctTree& tree_;
  int first_, last_, domain_;
  std::vector<OctRoute> routes_;
  std::vector<HeldLevel> held_;
};

// Sets the images of the level's octs beyond walls.
void add_images(const RamsesOutput& output, HeldLevel& level);

// Numbers of octs and images, by position.
class OctNumbers {
 public:
  OctNumbers() = default;
  explicit OctNumbers(const HeldLevel& level);

  // Number of the oct at a position; 0 if there is none.
  std::int32_t at(const RamsesPlace& place) const;

 private:
  KeyTable<std::int32_t> numbers_;
};

// Links of a level's octs, from the numbers of octs on the adjacent levels. `most` is ngridmax of
// the file.
RamsesTreeLevel linked(const RamsesOutput& output, const RamsesDomains& domains,
                       const HeldLevel& level, const OctNumbers& coarser, const OctNumbers& finer,
                       std::int64_t most);

// Octs that divide the coarse cells, by cell.
std::vector<std::int32_t> sons_of_coarse_cells(const RamsesOutput& output, const HeldLevel& first);

// --- particles (export_particles.cpp) ------------------------------------------------------------

// A column of all or some particles.
using RamsesColumn = std::variant<std::vector<double>, std::vector<std::int64_t>,
                                  std::vector<std::int32_t>, std::vector<std::int8_t>>;

// Writer of particles: dark matter and stars, each in the file of the domain that contains it.
class RamsesParticleWriter {
 public:
  // Finds the domains of this rank's particles and adds the particle data of the text files to
  // `output`. Warns about kinds without a RAMSES family. Collective.
  RamsesParticleWriter(const MeshContents& contents, const RamsesDomains& domains,
                       RamsesOutput& output);

  // True if there are particle files; sinks require them even without particles.
  bool has_any() const { return !families_.empty() || has_sinks(); }

  // True if there are sinks.
  bool has_sinks() const { return sinks_ != nullptr; }
  // All sinks, ordered by identity, on the root. Collective.
  RamsesParticles sinks() const;

  // Visits the masses of this rank's particles one by one.
  void for_masses(const std::function<void(double mass, bool is_star)>& visit) const;

  // Number of particles in each domain. Collective.
  std::vector<std::int64_t> counts() const;

  // Function that receives a column of particles by name; it may be collective.
  using PutColumn = std::function<void(const std::string& name, const RamsesColumn& values)>;
  // Calls put(name, values) for the columns of attributes.particle_fields, with the particles of
  // this rank's domain ordered by family and identity. Collective.
  void for_columns(const DomainOcts& octs, const PutColumn& put) const;

 private:
  // A kind of particles with a RAMSES family, and the domain of each of this rank's particles.
  struct Family {
    const ParticleContents* particles;
    std::int8_t number;
    std::vector<std::int32_t> domains;
    // Offset of identities from numbers within the kind; identities of families are consecutive, so
    // that all identities are unique.
    std::int64_t first_identity = 0;
  };

  using Indices = std::span<const std::int64_t>;  // of this rank's particles of a family

  RamsesPlace cell_at(const double* position) const;
  void find_families();
  void find_identities();
  void name_columns();
  std::vector<double> reals_of(const ParticleContents& particles, const std::string& name,
                               Indices some) const;
  std::vector<std::int32_t> levels_at(const std::vector<std::vector<double>>& position,
                                      const DomainOcts& octs) const;

  const MeshContents& contents_;
  const Communicator& ranks_;
  const RamsesDomains& domains_;
  RamsesOutput& output_;
  std::vector<Family> families_;
  const ParticleContents *stars_ = nullptr, *sinks_ = nullptr;
};

// --- HDF5 (export_hdf5.cpp) ----------------------------------------------------------------------

// Writes octs, gas, gravity, particles and sinks to data_NNNNN.h5 in the layout of cuRAMSES
// (hdf5_source.cpp). Collective; throws RunError.
void write_ramses_hdf5(const Communicator& ranks, const OctTree& tree, const RamsesDomains& domains,
                       const RamsesParticleWriter& particles, const RamsesOutput& output);

}  // namespace octant

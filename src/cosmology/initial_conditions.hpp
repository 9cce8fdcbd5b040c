// Initial conditions of a cosmological run: gas and dark matter on one or several levels of cells,
// from a folder of files or from the generator, for whoever fills the mesh and makes the particles.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "core/parameters.hpp"
#include "cosmology/cell_delivery.hpp"
#include "cosmology/expansion.hpp"
#include "cosmology/linear_power.hpp"

namespace octant::cosmology {

enum class InitialQuantity {
  overdensity,      // of baryons, rho / mean - 1
  baryon_velocity,  // proper peculiar, km/s
  displacement,     // of dark matter from the cell's centre, comoving Mpc/h
  dark_velocity,    // proper peculiar, km/s
  refinement,       // 1 where a cell is to be refined, 0 elsewhere
  scalar,           // passive, of the gas
};

struct InitialField {
  InitialQuantity quantity;
  int index = 0;  // axis of vectors, 0 to 2; number of a scalar from 0 on
};

// What the initial conditions are of, and when.
struct InitialHeader {
  double scale_factor = 0.0;
  double omega_m = 0.0, omega_lambda = 0.0, omega_b = 0.0;
  double hubble = 0.0;  // H0 in km/s/Mpc
  double box = 0.0;     // side in comoving Mpc/h
};

// Cells of one size. Level 0 is the whole periodic box, each further one has cells half as large.
struct InitialLevel {
  int side = 0;        // cells of this size along a side of the whole box
  pencil::Box extent;  // those that the level holds, whole cells of the coarser level
};

// The functions that read or compute are collective.
class InitialConditions {
 public:
  virtual ~InitialConditions() = default;

  const InitialHeader& header() const { return header_; }
  const std::vector<InitialLevel>& levels() const { return levels_; }
  // Passive scalars.
  int scalars() const { return scalars_; }
  // Whether every level holds this field.
  virtual bool has(InitialField field) const = 0;
  // Where the cells of a level are made or read.
  virtual CellSpread spread(int level) const = 0;
  // The values of spread(level).box(rank) as [z][y][x]. Files are read here, each plane by one
  // rank: ask for all cells of a field at once (InitialCells). Throws InputError on every rank if
  // there is no such field or an overdensity is below -1.
  std::vector<double> own(int level, InitialField field);

  // Whether a cell of a level lies in the extent of the next finer one: dark matter of each place
  // has one particle, in the cell of the finest level that holds it.
  bool is_covered(int level, const std::array<int, 3>& cell) const;

 protected:
  explicit InitialConditions(const Communicator& communicator) : communicator_(communicator) {}

  virtual std::vector<double> compute(int level, InitialField field) = 0;
  // In the user's terms, with what would be needed to have it.
  virtual std::string missing(InitialField field) const = 0;

  Communicator communicator_;
  InitialHeader header_;
  std::vector<InitialLevel> levels_;
  int scalars_ = 0;
};

// Some cells of one size, which this rank asks for: blocks of a mesh, say. Memory: the cells.
class InitialCells {
 public:
  // `boxes` in cells of `level`, which may be finer than all levels there are. They may be any
  // boxes of the whole box, overlap, and differ by rank. Collective.
  InitialCells(const Communicator& communicator, InitialConditions& from, int level,
               std::vector<pencil::Box> boxes);

  // The boxes' values one box after the other, each as [z][y][x]. A cell that its level does not
  // hold has the value of the finest coarser cell that contains it. Collective; throws as
  // InitialConditions::own.
  std::vector<double> get(InitialField field);

 private:
  // What one level contributes: the parts of some boxes that lie in its extent.
  struct Contribution {
    int level;
    std::vector<std::size_t> targets;  // box of each part
    CellDelivery delivery;
  };
  Contribution contribution(const Communicator& communicator, int level);
  void paint(const Contribution& part, const std::vector<double>& from,
             std::vector<double>& values) const;

  InitialConditions& from_;
  int level_;
  std::vector<pencil::Box> boxes_;
  std::vector<std::int64_t> starts_;
  std::vector<Contribution> contributions_;  // from the coarsest to the finest
};

// Where initial conditions come from.
enum class InitialKind { generate, grafic };
constexpr auto names_of(InitialKind) { return std::array{"generate", "grafic"}; }

// Section [initial] of a parameter file; see declare for what each means.
struct InitialOptions {
  InitialKind kind = InitialKind::generate;
  std::string path;
  int cells = 0;
  std::int64_t seed = 1;
  int order = 2;
  Transfer transfer = Transfer::eisenstein_hu;
  std::string table;
  double sigma_8 = 0.81, spectral_index = 0.967;
};

void declare(ParameterSchema& schema, InitialOptions& options);

// The initial conditions that the options ask for, of the universe that `header` and `expansion`
// describe. With initial.kind = "grafic" a scale factor or box of 0 in the header is taken from the
// files. base_cells is the side of the generator's grid where initial.cells is 0. Collective.
// Throws InputError on every rank.
std::unique_ptr<InitialConditions> make_initial_conditions(const Communicator& communicator,
                                                           const InitialOptions& options,
                                                           const InitialHeader& header,
                                                           const Expansion& expansion,
                                                           int base_cells);

// Writes all levels and fields as a folder of grafic2 files that `kind = "grafic"` reads.
// Collective. Throws RunError on every rank if that fails on one.
void write_grafic_folder(const Communicator& communicator, InitialConditions& from,
                         const std::string& folder);

}  // namespace octant::cosmology

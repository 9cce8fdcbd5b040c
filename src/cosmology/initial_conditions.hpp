// Initial conditions of a cosmological run: gas and dark matter on one or several levels of cells,
// from a folder of files or from the generator.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "comm/exchanger.hpp"
#include "core/parameters.hpp"
#include "cosmology/expansion.hpp"
#include "cosmology/linear_power.hpp"
#include "pencil/pencil_grid.hpp"

namespace octant::cosmology {

// Communication of grid cells from the ranks that compute or read them to the ranks that need them.

// Index of a cell in the values of a box, [z][y][x].
inline std::size_t index_in_box(const pencil::Box& box, int x, int y, int z) {
  const auto [nx, ny, nz] = box.shape();
  const std::int64_t row = std::int64_t{z - box[2].begin} * ny + (y - box[1].begin);
  return static_cast<std::size_t>(row * nx + (x - box[0].begin));
}

// Distribution of the cells of a box over ranks: in parts along y and z, as an x-pencil. Ranks
// beyond the process grid hold nothing.
struct CellSpread {
  pencil::Box extent;
  pencil::ProcessGrid processes;

  // Cells of a rank; empty beyond the process grid.
  pencil::Box box(int rank) const;
  // Calls visit(rank, cells) for every rank that holds some of these cells, in ascending order.
  void for_each_holder(const pencil::Box& cells,
                       const std::function<void(int rank, const pencil::Box& held)>& visit) const;
};

// Delivery of boxes of cells to this rank. Memory: the boxes, and two buffers of the same size
// during the delivery.
class CellDelivery {
 public:
  // `boxes` are the cells that this rank requests, within spread.extent; they may overlap, be
  // empty, and differ by rank. Collective.
  CellDelivery(const Communicator& communicator, const CellSpread& spread,
               std::vector<pencil::Box> boxes);

  // Boxes requested by this rank.
  const std::vector<pencil::Box>& boxes() const { return boxes_; }

  // Delivers the values. `own` are the values of spread.box(rank) as [z][y][x]. Returns the values
  // of the boxes in order, each as [z][y][x]. Collective.
  std::vector<double> deliver(std::span<const double> own);

 private:
  // Cells of one box that come from one rank.
  struct Part {
    int rank;
    pencil::Box cells;
    std::size_t target;  // index of the box
  };
  std::vector<Part> parts_of_boxes(const CellSpread& spread) const;
  std::vector<pencil::Box> exchange_requests(const Communicator& communicator);
  ExchangePlan plan(const Communicator& communicator) const;

  pencil::Box own_;
  std::vector<pencil::Box> boxes_;
  std::vector<std::int64_t> starts_;       // offsets of the boxes' values, and the total
  std::vector<Part> parts_;                // by ascending rank
  std::vector<Segment> request_segments_;  // requesting ranks, with their numbers of parts
  std::vector<pencil::Box> requested_;     // parts that these ranks request
  ExchangePlan plan_;
  Exchanger exchanger_;
};

// Quantity of the initial conditions.
enum class InitialQuantity {
  overdensity,      // overdensity of the baryons, rho / mean - 1
  baryon_velocity,  // proper peculiar, km/s
  displacement,     // dark matter, relative to the cell's centre, comoving Mpc/h
  dark_velocity,    // proper peculiar, km/s
  refinement,       // 1 in cells to be refined, else 0
  scalar,           // passive scalar of the gas
};

// Quantity and, for vectors and scalars, its component or number.
struct InitialField {
  InitialQuantity quantity;
  int index = 0;  // axis of vectors, 0 to 2; number of a scalar from 0 on
};

// Cosmology and epoch of the initial conditions.
struct InitialHeader {
  double scale_factor = 0.0;
  double omega_m = 0.0, omega_lambda = 0.0, omega_b = 0.0;
  double hubble = 0.0;  // H0 in km/s/Mpc
  double box = 0.0;     // side in comoving Mpc/h
};

// Level of cells of one size. Level 0 is the whole periodic box; cells of each finer level are half
// as large.
struct InitialLevel {
  int side = 0;        // number of cells of this size along a side of the whole box
  pencil::Box extent;  // cells of the level, aligned with the coarser level
};

// Initial conditions on all levels. Functions that read or compute are collective.
class InitialConditions {
 public:
  virtual ~InitialConditions() = default;

  // Cosmology and epoch.
  const InitialHeader& header() const { return header_; }
  // Levels, from the coarsest to the finest.
  const std::vector<InitialLevel>& levels() const { return levels_; }
  // Number of passive scalars.
  int scalars() const { return scalars_; }
  // Returns true if every level has this field.
  virtual bool has(InitialField field) const = 0;
  // Distribution of the cells of a level over the ranks that compute or read them.
  virtual CellSpread spread(int level) const = 0;
  // Returns the values of spread(level).box(rank) as [z][y][x]. Files are read here, each plane by
  // one rank, so all cells of a field should be requested at once (InitialCells). Throws InputError
  // on every rank if there is no such field or an overdensity is not above -1. Collective.
  std::vector<double> own(int level, InitialField field);

  // Returns true if a cell lies in the extent of the next finer level. Dark matter has one particle
  // per cell of the finest level at each position.
  bool is_covered(int level, const std::array<int, 3>& cell) const;

 protected:
  explicit InitialConditions(const Communicator& communicator) : communicator_(communicator) {}

  virtual std::vector<double> compute(int level, InitialField field) = 0;
  // Returns the error message for a missing field, which says how to provide the field.
  virtual std::string missing(InitialField field) const = 0;

  Communicator communicator_;
  InitialHeader header_;
  std::vector<InitialLevel> levels_;
  int scalars_ = 0;
};

// Cells of one size requested by this rank, such as blocks of a mesh. Memory: the cells.
class InitialCells {
 public:
  // `boxes` are in cells of `level`, which may be finer than all existing levels. Boxes may lie
  // anywhere in the domain, overlap, and differ by rank. Collective.
  InitialCells(const Communicator& communicator, InitialConditions& from, int level,
               std::vector<pencil::Box> boxes);

  // Values of the boxes in order, each as [z][y][x]. Cells outside of the extent of their level
  // have the value of the finest coarser cell that contains them. Collective; throws as
  // InitialConditions::own.
  std::vector<double> get(InitialField field);

 private:
  // Contribution of one level: the parts of boxes that lie in its extent.
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

// Source of the initial conditions.
enum class InitialKind { generate, grafic };
// Names of the values in initial.kind.
constexpr auto names_of(InitialKind) { return std::array{"generate", "grafic"}; }

// Parameters of the section [initial]; see declare() for the meaning of each member.
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

// Declares the section [initial]. `options` must outlive all reads of the schema.
void declare(ParameterSchema& schema, InitialOptions& options);

// Creates the initial conditions for the options, with the cosmology of `header` and `expansion`.
// With initial.kind = "grafic" a scale factor or box of 0 in the header is taken from the files.
// base_cells is the side of the generator's grid if initial.cells is 0. Collective. Throws
// InputError on every rank.
std::unique_ptr<InitialConditions> make_initial_conditions(const Communicator& communicator,
                                                           const InitialOptions& options,
                                                           const InitialHeader& header,
                                                           const Expansion& expansion,
                                                           int base_cells);

// Name of the grafic2 file of a field, such as ic_deltab.
std::string grafic_file(InitialField field);

// Reads initial conditions from a folder of grafic2 files. `expected` has the cosmology, epoch and
// box of the run; a scale factor or box of 0 is taken from the files. Throws InputError on every
// rank: as GraficFolder, for missing velocities of dark matter, and if scale factor, box or
// cosmology of the files differ from the expected ones. Collective.
std::unique_ptr<InitialConditions> read_grafic_folder(const Communicator& communicator,
                                                      const std::string& path,
                                                      const InitialHeader& expected,
                                                      const Expansion& expansion);

}  // namespace octant::cosmology

// Fourier transforms of a field on the base level and multiplication of its modes by factors.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "gravity/gravity_options.hpp"
#include "gravity/patches.hpp"
#include "mesh/geometry.hpp"
#include "pencil/batched_fourier.hpp"
#include "pencil/device_field.hpp"

namespace octant::gravity {

// Rows along x that a patch and a rank's pencil have in common, in cell indices of the grid.
struct SharedRows {
  std::int32_t patch;                  // slot of the patch; unused by the owner of the pencil
  std::array<std::int32_t, 3> corner;  // first cell of the patch along each axis
  pencil::Range y, z;
  std::int64_t first = 0;  // index of the first row in a message

  // Number of rows.
  KOKKOS_FUNCTION int rows() const { return (y.end - y.begin) * (z.end - z.begin); }
  // Number of items of mesh::for_items_of(), which are rows.
  KOKKOS_FUNCTION int items() const { return rows(); }
};

// Exchange between patches and pencils. Fields of own patches are [slot][k][j][split i]. All fields
// lie in the memory of Kokkos' default execution space, whose kernels pack and unpack messages.
//
// Memory: two buffers for the rows that this rank sends or receives. Ranks outside the process grid
// have no pencil, and their views are empty. All functions are collective.
class PencilTransfer {
 public:
  PencilTransfer(const LevelPatches& patches, const pencil::Cells& cells,
                 const pencil::ProcessGrid& processes, const CommOptions& options);

  // Copies the values of all patches to the pencils. Returns before the unpacking kernels have
  // finished.
  void to_pencil(const double* patches, const pencil::FieldView& pencil);
  // Copies the pencils to the patches, multiplied by `factor`. Returns before the unpacking kernels
  // have finished.
  void to_patches(const pencil::FieldView& pencil, double* patches, double factor = 1.0);

 private:
  void match(const LevelPatches& patches, const pencil::Cells& cells,
             const pencil::ProcessGrid& processes);

  int side_;
  pencil::Box pencil_;
  // Rows of own patches in the own pencil (local), rows of own patches in other ranks' pencils
  // (leaving), and rows of other ranks' patches in the own pencil (arriving).
  DeviceArray<const SharedRows> local_, leaving_, arriving_;
  std::unique_ptr<ExchangePlan> plan_;  // exchange of rows
  DeviceArray<double> sent_, received_;
  Exchanger exchanger_;
};

// Factor by which a mode of f is multiplied to give the mode of phi.
using ModeFactor = std::function<double(const pencil::Mode&)>;

// Factors of modes: a function, and a table of its values.
struct ModeFactors {
  ModeFactor of;
  DeviceArray<double> table{};  // for this rank's modes; filled at first use on a device
};

// Wavenumbers of modes, for factors that change from solve to solve. The members but `of` are for
// this rank's modes and filled at first use on a device.
struct WaveNumbers {
  ModeFactor of;
  std::vector<double> numbers{};       // distinct wavenumbers, ascending
  DeviceArray<std::int32_t> places{};  // index in `numbers` for each mode
  DeviceArray<double> product{};       // product of all factors of each mode
};
using WaveFactor = std::function<double(double k)>;

// Base-level solver by Fourier transforms. In a non-periodic domain, the transformed array is twice
// as long along each axis and padded with zeros (pencil::Padding::doubled).
//
// With the host FFT library all values have the same bits on any number of ranks and with either
// schedule; a GPU library may add in another order if the number of lines per rank differs. Grids
// are distributed with at least 32^3 cells per rank, because transforms move all cells four times.
class BaseFourierSolver {
 public:
  // Fields must lie in the memory of Kokkos' default execution space. All functions are collective.
  BaseFourierSolver(const mesh::Geometry& geometry, const Communicator& communicator,
                    const CommOptions& options, FourierSchedule schedule = FourierSchedule::host);

  // Number of cells of the grid along each axis.
  const pencil::Cells& cells() const { return cells_; }
  // Cell size in code length.
  double cell_size() const { return cell_size_; }

  // Sets the patches of all later fields. Must be called before the first transform and whenever
  // blocks of the base level have moved.
  void connect(const LevelPatches& patches);

  // Computes phi by multiplying the modes of f by `factors`. f and phi are fields of own patches.
  void solve(ModeFactors& factors, const DeviceArray<double>& f, const DeviceArray<double>& phi);
  // Computes phi by multiplying modes of f by `factors` and of_wave(wavenumber). Sets the mean to
  // 0.
  void solve(ModeFactors& factors, WaveNumbers& waves, const WaveFactor& of_wave,
             const DeviceArray<double>& f, const DeviceArray<double>& phi);

  // Computes the unscaled transform, the sum over all cells of field exp(-2 pi i (x i/n_x + y j/n_y
  // + z k/n_z)), where n_x, n_y, n_z are the lengths of the transformed array. Runs on the host.
  void forward(const DeviceArray<double>& field);
  // Function that receives a mode and may change its coefficient.
  using Visit = std::function<void(const pencil::Mode&, std::complex<double>&)>;
  // Calls `visit` for each of this rank's modes, if any, after forward(), in a fixed order.
  void for_each_mode(const Visit& visit);

 private:
  bool prepare_batches(ModeFactors& factors);
  void find_offsets(WaveNumbers& waves) const;
  void multiply_in_batches(const DeviceArray<double>& factors, const DeviceArray<double>& f,
                           const DeviceArray<double>& phi);
  void solve_on_host(const ModeFactor& factor, const DeviceArray<double>& f,
                     const DeviceArray<double>& phi);
  void begin_on_host();
  pencil::FieldView own_pencil() const;  // empty on ranks outside the process grid

  CommOptions options_;
  pencil::Cells cells_;
  double cell_size_;
  pencil::Padding padding_;
  pencil::ProcessGrid processes_;
  FourierSchedule schedule_;
  std::optional<PencilTransfer> transfer_;
  // Members that exist only on ranks of the process grid; all but grid_ are created at first use.
  std::optional<pencil::PencilGrid> grid_;
  std::optional<pencil::BatchedFourier> batches_;
  std::optional<pencil::PeriodicFourier> fourier_;
  DeviceArray<double> pencil_;
};

}  // namespace octant::gravity

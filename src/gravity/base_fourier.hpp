// The Fourier transform of a field that fills the domain: the base level, mode by mode.
#pragma once

#include <functional>
#include <optional>

#include "gravity/gravity_options.hpp"
#include "gravity/pencil_transfer.hpp"
#include "mesh/geometry.hpp"
#include "pencil/batched_fourier.hpp"

namespace octant::gravity {

// What a mode of f is multiplied by to become that of phi.
using ModeFactor = std::function<double(const pencil::Mode&)>;

struct ModeFactors {
  ModeFactor of;
  DeviceArray<double> table{};  // of this rank's modes, after a device first needed them
};

// The wave numbers of modes, by which a function multiplies them that changes from solve to solve.
// Many modes have the same one.
struct WaveNumbers {
  ModeFactor of;
  // Of this rank's modes, after a device first needed them: each once, and where a mode's is.
  std::vector<double> numbers{};
  DeviceArray<std::int32_t> places{};
  DeviceArray<double> product{};  // of all factors of each mode
};
using WaveFactor = std::function<double(double k)>;

// Where the domain is not periodic, modes are those of an array twice as long along each axis, of
// which the field is the lower corner and the rest is 0 (pencil::Padding::doubled).
//
// With the library of hosts all values have the same bits on any number of ranks, by either
// schedule; that of a GPU may add up in another order where a rank has other numbers of lines. A
// small grid is gathered on one rank, larger ones are spread over more (at least 32^3 cells each),
// because a transform moves all of its cells four times.
class BaseFourier {
 public:
  // Collective, as all functions. Fields lie in the memory of Kokkos' default execution space.
  BaseFourier(const mesh::Geometry& geometry, const Communicator& communicator,
              const CommOptions& options, FourierSchedule schedule = FourierSchedule::host);

  const pencil::Cells& cells() const { return cells_; }
  double cell_size() const { return cell_size_; }

  // Fields are those of these patches from now on. To be called before the first transform, and
  // whenever the base level's blocks have moved.
  void connect(const LevelPatches& patches);

  // Sets phi of own patches from f, mode by mode.
  void solve(ModeFactors& factors, const DeviceArray<double>& f, const DeviceArray<double>& phi);
  // Multiplies all modes but the mean by a factor of their wave number, too.
  void solve(ModeFactors& factors, WaveNumbers& waves, const WaveFactor& of_wave,
             const DeviceArray<double>& f, const DeviceArray<double>& phi);

  // sum over cells of value exp(-2 pi i (x i/n_x + y j/n_y + z k/n_z)), unscaled, of own patches; n
  // are the lengths of the array that is transformed, on the host.
  void forward(const DeviceArray<double>& field);
  // Visits this rank's modes in a fixed order; the coefficient may be changed. A rank may have
  // none.
  using Visit = std::function<void(const pencil::Mode&, std::complex<double>&)>;
  void for_each_mode(const Visit& visit);

 private:
  bool begin_batches(ModeFactors& factors);
  void find_places(WaveNumbers& waves) const;
  void multiply_in_batches(const DeviceArray<double>& factors, const DeviceArray<double>& f,
                           const DeviceArray<double>& phi);
  void solve_on_host(const ModeFactor& factor, const DeviceArray<double>& f,
                     const DeviceArray<double>& phi);
  void begin_on_host();
  pencil::FieldView own_pencil() const;  // on the host's way; empty where this rank takes no part

  CommOptions options_;
  pencil::Cells cells_;
  double cell_size_;
  pencil::Padding padding_;
  pencil::ProcessGrid processes_;
  FourierSchedule schedule_;
  std::optional<PencilTransfer> transfer_;
  // On the ranks that take part; what is not used yet is not there.
  std::optional<pencil::PencilGrid> grid_;
  std::optional<pencil::BatchedFourier> batches_;
  std::optional<pencil::PeriodicFourier> fourier_;
  DeviceArray<double> pencil_;
};

}  // namespace octant::gravity

// The Fourier transform of a field that fills the domain: the base level, mode by mode.
#pragma once

#include <functional>
#include <optional>

#include "gravity/pencil_transfer.hpp"
#include "gravity/resident_fourier.hpp"
#include "mesh/geometry.hpp"
#include "pencil/fourier.hpp"

namespace octant::gravity {

// Where the domain is not periodic, modes are those of an array twice as long along each axis, of
// which the field is the lower corner and the rest is 0 (pencil::Padding::doubled).
//
// The bits of all values are the same on any number of ranks of hosts. A small grid is gathered on
// one rank, larger ones are spread over more (at least 32^3 cells each), because a transform moves
// all of its cells four times. On one rank with a GPU, fields are solved for where they lie.
class BaseFourier {
 public:
  enum class Solves { where_fields_are_fast, where_fields_lie };

  // Collective, as all functions. Fields lie in the memory of Kokkos' default execution space;
  // to be transformed there on a host, too, on one rank, is for tests.
  BaseFourier(const mesh::Geometry& geometry, const Communicator& communicator,
              const CommOptions& options, Solves solves = Solves::where_fields_are_fast);

  const pencil::Cells& cells() const { return cells_; }
  double cell_size() const { return cell_size_; }

  // Fields are those of these patches from now on. To be called before the first transform, and
  // whenever the base level's blocks have moved.
  void connect(const LevelPatches& patches);

  // Sets phi of own patches from f, mode by mode.
  void solve(ModeFactors& factors, const DeviceArray<double>& f, const DeviceArray<double>& phi);

  // sum over cells of value exp(-2 pi i (x i/n_x + y j/n_y + z k/n_z)), unscaled, of own patches; n
  // are the lengths of the array that is transformed.
  void forward(const DeviceArray<double>& field);
  // The inverse, scaled by 1 / (n_x n_y n_z), in own patches. Destroys the coefficients.
  void backward(const DeviceArray<double>& field);

  // Visits this rank's modes in a fixed order; the coefficient may be changed. A rank may have
  // none.
  using Visit = std::function<void(const pencil::Mode&, std::complex<double>&)>;
  void for_each_mode(const Visit& visit);

 private:
  // Of fields in memory of the host.
  void begin_on_host();
  void transform(const double* patches);
  void transform_back(double* patches);

  CommOptions options_;
  pencil::Cells cells_;
  double cell_size_;
  pencil::Padding padding_;
  pencil::ProcessGrid processes_;
  bool is_alone_;  // one rank has the whole level
  const LevelPatches* patches_ = nullptr;
  std::optional<ResidentFourier> resident_;

  std::optional<pencil::PencilGrid> grid_;  // on the ranks that take part
  std::optional<pencil::PeriodicFourier> fourier_;
  std::optional<PencilTransfer> transfer_;
  std::vector<double> pencil_;
};

}  // namespace octant::gravity

// Three-dimensional Fourier transform of a periodic real array on pencils, with access to its
// modes.
#pragma once

#include <complex>
#include <functional>
#include <memory>

#include "pencil/pencil_grid.hpp"
#include "pencil/transpose.hpp"

namespace octant::pencil {

// A Fourier mode. A mode and its mirror image count as one: only 0 <= x <= n_x / 2 are visited.
// `weight` is 2 where the mirror image is not visited, else 1: sums over all modes multiply by it.
struct Mode {
  int x;     // 0 .. n_x / 2
  int y, z;  // -n/2 < y <= n/2
  int weight;
};

// Array that is transformed: the given one, or one of twice the length along each axis, filled with
// zeros. A product of padded transforms is a convolution that is not periodic (Hockney & Eastwood,
// Computer Simulation Using Particles, 1981, section 6-5-4).
enum class Padding { none, doubled };

// Returns the lengths of the transformed array.
Cells padded(Cells cells, Padding padding);
// Returns the mode with index (x, y, z) of an array of these lengths; only the lower half along x
// exists.
Mode mode_at(int x, int y, int z, const Cells& lengths);

// Fourier transform of this rank's x-pencil without ghosts, in C order [z][y][x].
class PeriodicFourier {
 public:
  // Prepares the transform of the grid's cells. A small array need not be distributed over all
  // ranks: see fitting_process_grid. Collective.
  explicit PeriodicFourier(const PencilGrid& grid, TransposeBackend backend = TransposeBackend::p2p,
                           Padding padding = Padding::none);
  ~PeriodicFourier();
  PeriodicFourier(PeriodicFourier&&) noexcept;
  PeriodicFourier& operator=(PeriodicFourier&&) noexcept;

  // Computes the sum over cells of value exp(-2 pi i (x i/n_x + y j/n_y + z k/n_z)), unscaled. Here
  // and below, n are the lengths of the transformed array. Collective.
  void forward(const double* values);
  // Visits this rank's modes in a fixed order; the coefficient may be changed.
  void for_each_mode(const std::function<void(const Mode&, std::complex<double>&)>& visit);
  // Computes the inverse, scaled by 1 / (n_x n_y n_z), in the cells that are not padding. Destroys
  // the coefficients. Collective.
  void backward(double* values);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Returns the process grid with the most ranks, at most `ranks`, and at least `least` cells along
// each cut axis; the most square one of several. Other ranks take no part.
ProcessGrid fitting_process_grid(int ranks, const Cells& cells, int least = 4);

}  // namespace octant::pencil

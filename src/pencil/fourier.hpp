// Three-dimensional Fourier transform of a periodic real array on pencils, with access to its
// modes.
#pragma once

#include <complex>
#include <functional>
#include <memory>

#include "pencil/pencil_grid.hpp"
#include "pencil/transpose.hpp"

namespace octant::pencil {

// A Fourier mode. Only modes with 0 <= x <= n_x / 2 are visited; the others are their complex
// conjugates. `weight` is 2 if the conjugate mode is not visited, else 1: terms of sums over all
// modes must be multiplied by it.
struct Mode {
  int x;     // 0 .. n_x / 2
  int y, z;  // -n/2 < y, z <= n/2
  int weight;
};

// Padding of the transformed array: none, or zeros up to twice the length along each axis. A
// product of padded transforms is a non-periodic convolution (Hockney & Eastwood, Computer
// Simulation Using Particles, 1981, section 6-5-4).
enum class Padding { none, doubled };

// Returns the lengths of the transformed array.
Cells padded(Cells cells, Padding padding);
// Returns the mode with index (x, y, z) of an array with the given lengths; x <= n_x / 2.
Mode mode_at(int x, int y, int z, const Cells& lengths);

// Fourier transform of this rank's x-pencil without ghosts, in C order [z][y][x].
class PeriodicFourier {
 public:
  // Prepares the transform of the grid's cells. fitting_process_grid() finds a grid of fewer ranks
  // for small arrays. Collective.
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
  // Computes the inverse, scaled by 1 / (n_x n_y n_z), in the cells outside the padding. Destroys
  // the coefficients. Collective.
  void backward(double* values);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Returns the process grid with the most ranks, at most `ranks`, that has at least `least` cells
// per rank along each divided axis; of several grids, the most nearly square one.
ProcessGrid fitting_process_grid(int ranks, const Cells& cells, int least = 4);

}  // namespace octant::pencil

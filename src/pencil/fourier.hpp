// Three-dimensional Fourier transform of a periodic real array on pencils, mode by mode.
#pragma once

#include <complex>
#include <functional>
#include <memory>

#include "pencil/pencil_grid.hpp"
#include "pencil/transpose.hpp"

namespace octant::pencil {

// A mode and its mirror image are one: only 0 <= x <= n_x / 2 are visited. `weight` is 2 where the
// mirror image is not visited, else 1: sums over all modes multiply by it.
struct Mode {
  int x;     // 0 .. n_x / 2
  int y, z;  // -n/2 < y <= n/2
  int weight;
};

// What is transformed: the array itself, or one twice as long along each axis, of which it is the
// lower corner and the rest is 0. A product of such transforms is a convolution that does not wrap
// around (Hockney & Eastwood, Computer Simulation Using Particles, 1981, section 6-5-4).
enum class Padding { none, doubled };

// The lengths of the array that is transformed.
Cells padded(Cells cells, Padding padding);
// The mode in that place of all modes of an array of these lengths, along x of half of them.
Mode mode_at(int x, int y, int z, const Cells& lengths);

// Values are an x-pencil without ghosts, C order [z][y][x], of this rank's box.
class PeriodicFourier {
 public:
  // Collective. A small array need not be spread over all ranks: see fitting_process_grid.
  explicit PeriodicFourier(const PencilGrid& grid, TransposeBackend backend = TransposeBackend::p2p,
                           Padding padding = Padding::none);
  ~PeriodicFourier();
  PeriodicFourier(PeriodicFourier&&) noexcept;
  PeriodicFourier& operator=(PeriodicFourier&&) noexcept;

  // sum over cells of value exp(-2 pi i (x i/n_x + y j/n_y + z k/n_z)), unscaled. Here and below, n
  // are the lengths of the array that is transformed. Collective.
  void forward(const double* values);
  // Visits this rank's modes in a fixed order; the coefficient may be changed.
  void for_each_mode(const std::function<void(const Mode&, std::complex<double>&)>& visit);
  // The inverse, scaled by 1 / (n_x n_y n_z), in the cells that are not padding. Destroys the
  // coefficients. Collective.
  void backward(double* values);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The ranks that a periodic array of this size is worth spreading over: the most square grid of at
// most `ranks` ranks with at least `least` cells along each cut axis. Ranks beyond take no part.
ProcessGrid fitting_process_grid(int ranks, const Cells& cells, int least = 4);

}  // namespace octant::pencil

// The base level's potential by Fourier transforms that leave the memory of Kokkos' default
// execution space neither on a GPU nor elsewhere: where one rank has all of the level.
#pragma once

#include <functional>

#include "gravity/patches.hpp"
#include "pencil/batched_fourier.hpp"

namespace octant::gravity {

// What a mode of f is multiplied by to become that of phi.
using ModeFactor = std::function<double(const pencil::Mode&)>;

struct ModeFactors {
  ModeFactor of;
  DeviceArray<double> table{};  // of all modes, after they were first needed on a device
};

class ResidentFourier {
 public:
  ResidentFourier(const pencil::Cells& cells, pencil::Padding padding) : fourier_(cells, padding) {}

  // Fields are those of these patches from now on.
  void connect(const LevelPatches& patches);

  // Sets phi from f, both of own patches.
  void solve(ModeFactors& factors, const DeviceArray<double>& f, const DeviceArray<double>& phi);

 private:
  pencil::BatchedFourier fourier_;
  int side_ = 0;
  DeviceArray<std::array<std::int32_t, 3>> corners_;  // of own patches: their first cells
};

}  // namespace octant::gravity

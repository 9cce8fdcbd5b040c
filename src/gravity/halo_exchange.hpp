// Copies of other ranks' patches: brings the cells near the own patches up to date.
#pragma once

#include <memory>

#include "gravity/patches.hpp"

namespace octant::gravity {

// Place of cell i of a row of `side` cells: even cells come first, then odd ones, so that red and
// black cells are contiguous in every row.
KOKKOS_FORCEINLINE_FUNCTION int split(int i, int side) { return (i >> 1) + (i & 1) * (side >> 1); }

// Copies a region of a patch to or from contiguous memory in a message.
struct PatchCopy {
  std::int32_t slot;
  std::array<std::int16_t, 3> begin, end;
  std::int64_t offset;  // in the message
};

// The exchange of one grid (patches of `side`^3 cells) for stencils that reach `depth` cells beyond
// a patch, along axes and diagonals.
class HaloExchange {
 public:
  HaloExchange(const LevelPatches& patches, int side, int depth, const CommOptions& options);

  // `field` may be read, not written, until finish. Collective, as all functions.
  void start(double* field);
  void finish();
  void run(double* field) {
    start(field);
    finish();
  }
  std::int64_t rounds() const { return rounds_; }  // exchanges so far

 private:
  std::vector<PatchCopy> plan_copies(const std::vector<SharedPatch>& shared,
                                     std::vector<Segment>& segments) const;

  int side_, depth_, level_;
  bool alone_;
  DeviceArray<const StripTable> strips_;
  std::unique_ptr<ExchangePlan> plan_;
  DeviceArray<const PatchCopy> packs_, unpacks_;
  DeviceArray<double> send_, receive_;
  Exchanger exchanger_;
  double* field_ = nullptr;
  std::int64_t rounds_ = 0;
};

}  // namespace octant::gravity

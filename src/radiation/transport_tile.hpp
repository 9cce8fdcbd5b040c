// Common part of the transport schemes of radiation: one stage on the cells of a tile, which are
// read into scratch memory with their ghost cells.
#pragma once

#include <cstddef>

#include "core/wide_simd.hpp"
#include "mesh/launch.hpp"
#include "mesh/tile_cells.hpp"
#include "radiation/closure.hpp"
#include "radiation/moment_transport.hpp"

namespace octant::radiation {

// Scratch memory of a tile of M^3 cells with `Reach` ghost cells on all sides: `Variables` numbers
// per cell, and `Changes` numbers per cell without ghost cells.
template <int M, int Reach, int Variables, int Changes>
class TransportScratch {
 public:
  static constexpr int reach = Reach, across = M + 2 * reach, plane = across * across;
  static constexpr int stride = plane * across;

  static constexpr std::size_t bytes() { return sizeof(double) * doubles + alignment; }

  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION explicit TransportScratch(const Team& team)
      : base_(static_cast<double*>(
            team.team_scratch(1).get_shmem_aligned(sizeof(double) * doubles, alignment))) {}

  // Address of variable 0 of cell (i, j, k); variable n is n * stride further.
  KOKKOS_FORCEINLINE_FUNCTION double* cell(int i, int j, int k) const {
    return base_ + (k + reach) * plane + (j + reach) * across + i + reach;
  }
  // Address of change n in row (j, k).
  KOKKOS_FORCEINLINE_FUNCTION double* change(int n, int j, int k) const {
    return base_ + Variables * stride + margin + ((n * M + k) * M + j) * M;
  }

 private:
  static constexpr int alignment = 64;
  // Packs along x may begin in the last cell of a row.
  static constexpr int margin = 2 * SimdTraits<SimdDouble>::width;
  static constexpr int doubles = Variables * stride + margin + Changes * M * M * M;
  double* base_;
};

// Cells of a tile in a stage. `Scheme` derives from it and has
//   read_pack<V>(from, cell, dark, to)        reads cells; those in the dark have no radiation
//   flux_below<Axis>(q)                       flux through the lower face of the cell at q
//   update_pack<V>(offset, stride, i, j, k)   writes the new moments of own cells
//   act_on_pack<V>(offset, stride)            acts on own cells afterwards
template <class Scheme, int M, class Scratch>
class TransportTile {
 public:
  // NOLINTNEXTLINE(bugprone-crtp-constructor-accessibility): `Scheme` inherits the constructor
  KOKKOS_FORCEINLINE_FUNCTION TransportTile(const TransportStage& stage, const mesh::TaskTeam& team)
      : a_(stage), team_(team), view_(stage.tiles, team.league_rank()), scratch_(team) {}

 protected:
  // Distance in scratch memory between neighbours along an axis.
  static constexpr int step_along(int axis) {
    return axis == 0 ? 1 : axis == 1 ? Scratch::across : Scratch::plane;
  }
  // Factor from the moments in scratch memory to the variables: F is stored there as F / c.
  KOKKOS_FORCEINLINE_FUNCTION double unit_of(int moment) const {
    return moment == k_energy_density ? 1.0 : a_.matter.light.c;
  }

  // Reads the cells of the tile and the ghost cells across its faces.
  KOKKOS_INLINE_FUNCTION void gather() const {
    constexpr int across = Scratch::across, reach = Scratch::reach;
    const int run = run_of_cells();
    mesh::in_team(team_, across * across, [&](int n) {
      prefetch_row(n + k_rows_ahead);
      const int j = n % across - reach, k = n / across - reach;
      const bool beyond_j = j < 0 || j >= M, beyond_k = k < 0 || k >= M;
      if (beyond_j && beyond_k) return;
      const mesh::BlockRow row = view_.block_row(j, k);
      for (int i = 0; i < M; i += run) read_cells(row, i, j, k, run);
      if (beyond_j || beyond_k) return;
      for (int i = 1; i <= reach; ++i) {
        read_cells(row, -i, j, k, 1);
        read_cells(row, M - 1 + i, j, k, 1);
      }
    });
  }

  // Adds fluxes to the registers of coarse-fine boundaries and of the domain's boundaries.
  KOKKOS_INLINE_FUNCTION void add_to_registers() const {
    if (!a_.registers) return;
    for (int r = view_.tile().request_begin; r < view_.tile().request_end; ++r) {
      const mesh::FluxRegisterFaces& request = a_.tiles.requests(r);
      const int step = request.average ? 2 : 1;
      const int along_a = (request.a_end - request.a_begin) / step;
      const int faces = along_a * ((request.b_end - request.b_begin) / step);
      mesh::in_team(team_, faces, [&](int n) {
        const int a = n % along_a, b = n / along_a;
        const Moments<double> flux =
            mean_flux(request, request.a_begin + a * step, request.b_begin + b * step, step);
        double* const to = a_.registers + request.base + std::int64_t{b} * request.stride_b + a +
                           static_cast<std::int64_t>(a_.first) * request.stride_variable;
        for (int m = 0; m < k_moments; ++m)
          to[static_cast<std::int64_t>(m) * request.stride_variable] +=
              a_.flux_weight * a_.matter.light.reduced * unit_of(m) * flux[m];
      });
    }
  }

  // Writes the new states of the cells that this rank owns.
  KOKKOS_INLINE_FUNCTION void update() const {
    const int run = run_of_cells();
    mesh::in_team(team_, M * M, [&](int n) {
      const int j = n % M, k = n / M;
      const mesh::BlockRow row = view_.block_row(j, k);
      for (int i = 0; i < M; i += run) {
        const int holder = view_.entry(row, i);
        if (holder < 0 || view_.box(holder).buffer != mesh::k_own) continue;
        update_cells(view_.offset(row, holder, i), view_.box(holder).stride_variable, i, j, k, run);
      }
    });
  }

  const TransportStage& a_;
  const mesh::TaskTeam& team_;
  mesh::TileCells view_;
  Scratch scratch_;

 private:
  KOKKOS_FORCEINLINE_FUNCTION const Scheme& scheme() const {
    return static_cast<const Scheme&>(*this);
  }

  // Number of consecutive cells along x in one box.
  KOKKOS_FORCEINLINE_FUNCTION int run_of_cells() const {
    return a_.tiles.block_size < M ? a_.tiles.block_size : M;
  }

  // Number of rows by which prefetches precede reads.
  static constexpr int k_rows_ahead = 8;

  // Prefetches the moments of a row of gather().
  KOKKOS_FORCEINLINE_FUNCTION void prefetch_row([[maybe_unused]] int n) const {
#if !defined(OCTANT_GPU_COMPILER)
    constexpr int across = Scratch::across, reach = Scratch::reach, line = 8;
    const int j = n % across - reach, k = n / across - reach;
    const bool beyond_j = j < 0 || j >= M, beyond_k = k < 0 || k >= M;
    if ((beyond_j && beyond_k) || k >= M + reach) return;
    const mesh::BlockRow row = view_.block_row(j, k);
    const auto prefetch = [&](int i, int cells) OCTANT_INLINE_LAMBDA {
      const mesh::CellPointer from = view_.cell(a_.current, row, i);
      if (!from.from) return;
      const double* at = from.from + static_cast<std::int64_t>(a_.first) * from.stride;
      for (int m = 0; m < k_moments; ++m, at += from.stride)
        for (int c = 0; c < cells; c += line) __builtin_prefetch(at + c);
    };
    const int run = run_of_cells();
    for (int i = 0; i < M; i += run) prefetch(i, run);
    if (beyond_j || beyond_k) return;
    prefetch(-1, 1);
    prefetch(M, 1);
#endif
  }

  // Calls body(V(0), c) for the packs V of consecutive cells that begin at cell c: the widest ones
  // that divide their number.
  template <class Body>
  KOKKOS_FORCEINLINE_FUNCTION static void in_packs(int cells, const Body& body) {
    if (cells % SimdTraits<WideDouble>::width == 0)
      for (int c = 0; c < cells; c += SimdTraits<WideDouble>::width) body(WideDouble(0.0), c);
    else if (cells % SimdTraits<SimdDouble>::width == 0)
      for (int c = 0; c < cells; c += SimdTraits<SimdDouble>::width) body(SimdDouble(0.0), c);
    else
      for (int c = 0; c < cells; ++c) body(0.0, c);
  }

  KOKKOS_FORCEINLINE_FUNCTION void read_cells(const mesh::BlockRow& row, int i, int j, int k,
                                              int cells) const {
    const mesh::CellPointer from = view_.cell(a_.current, row, i);
    const bool dark = !from.from || is_vacuum(0, i) || is_vacuum(1, j) || is_vacuum(2, k);
    double* const to = scratch_.cell(i, j, k);
    in_packs(cells, [&](auto pack, int c) OCTANT_INLINE_LAMBDA {
      scheme().template read_pack<decltype(pack)>(from, c, dark, to + c);
    });
  }

  // True if a cell with this index along an axis lies beyond a side without radiation.
  KOKKOS_FORCEINLINE_FUNCTION bool is_vacuum(int axis, int index) const {
    const std::int64_t cell = view_.tile().first[axis] + index;
    return cell < a_.vacuum.lower[axis] || cell >= a_.vacuum.upper[axis];
  }

  // Mean flux through the `step`^2 faces that begin at (a, b).
  KOKKOS_INLINE_FUNCTION Moments<double> mean_flux(const mesh::FluxRegisterFaces& request, int a,
                                                   int b, int step) const {
    const auto face = [&](int da, int db) {
      const int x = a + da, y = b + db, p = request.plane;
      if (request.axis == 0) return scheme().template flux_below<0>(scratch_.cell(p, x, y));
      if (request.axis == 1) return scheme().template flux_below<1>(scratch_.cell(x, p, y));
      return scheme().template flux_below<2>(scratch_.cell(x, y, p));
    };
    if (step == 1) return face(0, 0);
    const Moments<double> f[4] = {face(0, 0), face(1, 0), face(0, 1), face(1, 1)};
    Moments<double> mean;
    for (int n = 0; n < k_moments; ++n)
      mean[n] = ((f[0][n] + f[1][n]) + (f[2][n] + f[3][n])) * 0.25;
    return mean;
  }

  KOKKOS_FORCEINLINE_FUNCTION void update_cells(std::int64_t offset, int stride, int i, int j,
                                                int k, int cells) const {
    in_packs(cells, [&](auto pack, int c) OCTANT_INLINE_LAMBDA {
      scheme().template update_pack<decltype(pack)>(offset + c, stride, i + c, j, k);
      scheme().template act_on_pack<decltype(pack)>(offset + c, stride);
    });
  }
};

}  // namespace octant::radiation

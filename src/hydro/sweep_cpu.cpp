#include "hydro/sweep_cpu.hpp"

namespace octant::hydro {

template <int M>
void FacePlanes<M>::leave_frame(const KernelArguments& a, TileView view, Faces faces,
                                const ActiveCells<M>& active, int axis, int k) {
  const auto leave = [&]<int Axis>() {
    for (int j = 0; j < M + (Axis == 1); ++j)
      for_packs<0, M + (Axis == 0)>(active.with_fluxes(Axis, k, j), [&](int i) {
        hydro::leave_frame<Axis, SimdDouble>(a, view, faces, k, j, i);
      });
  };
  if (axis == 0) leave.template operator()<0>();
  else if (axis == 1) leave.template operator()<1>();
  else leave.template operator()<2>();
}

template <int M>
void FacePlanes<M>::update(const KernelArguments& a, TileView view, Faces faces,
                           const ActiveCells<M>& active, int k, UpdateResult<SimdDouble>& result) {
  with_type_of(a.gas, [&]<class G>() { update_as<G>(a, view, faces, active, k, result); });
}

template <int M>
template <class G>
void FacePlanes<M>::update_as(const KernelArguments& a, TileView view, Faces faces,
                              const ActiveCells<M>& active, int k,
                              UpdateResult<SimdDouble>& result) {
  const CellUpdate<Faces, G> cells(a, view, faces);
  for (int j = 0; j < M; ++j)
    for_packs<0, M>(active.own(k, j), [&](int i) OCTANT_INLINE_LAMBDA { cells(k, j, i, result); });
}

template <int M>
void FacePlanes<M>::update_others(const KernelArguments& a, TileView view, Faces faces,
                                  const ActiveCells<M>& active, int dimensions,
                                  UpdateResult<SimdDouble>& result) {
  with_type_of(a.gas,
               [&]<class G>() { update_others_as<G>(a, view, faces, active, dimensions, result); });
}

template <int M>
template <class G>
void FacePlanes<M>::update_others_as(const KernelArguments& a, TileView view, Faces faces,
                                     const ActiveCells<M>& active, int dimensions,
                                     UpdateResult<SimdDouble>& result) {
  const CellUpdate<Faces, G> cells(a, view, faces);
  for (int j = 0; j < M; ++j)
    for_packs<0, M>(active.own(0, j), [&](int i) { cells.others(dimensions, j, i, result); });
}

template <int M>
void FacePlanes<M>::accumulate_registers(const CoreTeam& team, const KernelArguments& a,
                                         TileView view, Faces faces, int dimensions, int k) {
  FluxRegisterSums<Faces>(a, view, faces, dimensions).plane(team, k);
}

template struct CellPlanes<8, k_star_2>;
template struct CellPlanes<8, k_star_3>;
template struct CellPlanes<8, k_cube_3>;
template struct CellPlanes<16, k_star_2>;
template struct CellPlanes<16, k_star_3>;
template struct CellPlanes<16, k_cube_3>;
template struct FacePlanes<8>;
template struct FacePlanes<16>;

}  // namespace octant::hydro

// The predicted velocity of a Runge-Kutta stage, plane by plane (eq. 3, 7).
#pragma once

#include <array>
#include <vector>

#include "comm/reproducible_sum.hpp"
#include "dns/domain.hpp"
#include "dns/flow_parameters.hpp"
#include "dns/kernels.hpp"

namespace octant::dns {

class MomentumSweep {
 public:
  // `force` is per mass.
  MomentumSweep(const Domain& domain, double viscosity, Diffusion diffusion, const Vector& force);

  // Call it for the planes 0 .. nz - 1 in this order, with a barrier after each. Reads the state at
  // home with its ghosts, and writes the unknowns of this thread's rows of plane k one place lower.
  void plane(const Team& team, State& state, int k, int n, const Stage& stage);

  // The sum over this thread's cells of a predicted component times the height of its cell: add it
  // up over the planes.
  void add_to_mean(const Team& team, const State& state, int k, int component,
                   ReproducibleSum& sum) const;

 private:
  using RowKernel = void (*)(int, std::ptrdiff_t, std::ptrdiff_t, const PlaneOperator&,
                             const Transport&, const Stage&, const MomentumRows&);
  const Domain& domain_;
  std::array<std::vector<PlaneOperator>, k_components> operators_;  // by plane
  double* rhs_row(int component, int k, int j) {
    return rhs_[component].data() + (std::ptrdiff_t{k} * domain_.ny + j) * rhs_stride_;
  }
  double* edge_of(const Team& team) { return edges_.data() + team.rank() * edge_stride_; }
  void keep_edge(const Team& team, const State& state, int k);

  std::ptrdiff_t rhs_stride_, edge_stride_;
  std::array<pencil::Buffer, k_components> rhs_;  // cells alone
  // Of each thread, the row of w below the first one of the next thread, who overwrites it.
  pencil::Buffer edges_;
  std::array<RowKernel, k_stages> kernels_;
};

}  // namespace octant::dns

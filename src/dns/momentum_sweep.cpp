#include "dns/momentum_sweep.hpp"

#include <algorithm>

#include "dns/operators.hpp"

namespace octant::dns {

namespace {

template <Diffusion diffusion>
constexpr std::array kernels_of{&momentum_row<diffusion, false, true>,
                                &momentum_row<diffusion, true, true>,
                                &momentum_row<diffusion, true, false>};

}  // namespace

MomentumSweep::MomentumSweep(const Domain& domain, double viscosity, Diffusion diffusion,
                             const Vector& force)
    : domain_(domain),
      rhs_stride_((domain.nx + 3) / 4 * 4),
      edge_stride_((domain.nx + 15) / 16 * 16),
      edges_(static_cast<std::size_t>(edge_stride_) * pencil::team_size()) {
  for (pencil::Buffer& rhs : rhs_)
    rhs = pencil::Buffer(static_cast<std::size_t>(rhs_stride_) * domain.ny * domain.nz);
  for (int c = 0; c < k_components; ++c)
    for (int k = 0; k < domain.nz; ++k)
      operators_[c].push_back(plane_operator(domain, viscosity, force[c], c, k));
  switch (diffusion) {
    case Diffusion::explicit_all: kernels_ = kernels_of<Diffusion::explicit_all>; break;
    case Diffusion::implicit_z: kernels_ = kernels_of<Diffusion::implicit_z>; break;
    case Diffusion::implicit_all: kernels_ = kernels_of<Diffusion::implicit_all>; break;
  }
}

// The one row that is read below and beside a thread's own: for v, between two rows of w.
void MomentumSweep::keep_edge(const Team& team, const State& state, int k) {
  if (team.is_last()) return;
  std::copy_n(state.w.row(k - 1, team.share(domain_.ny).end), domain_.nx, edge_of(team));
}

void MomentumSweep::plane(const Team& team, State& state, int k, int n, const Stage& stage) {
  if (k == 0) {
    keep_edge(team, state, 0);
    team.barrier();
  }
  const auto& [u, v, w, p] = state;
  const std::ptrdiff_t row = u.row_stride(), plane = u.plane_stride();
  const int nx = domain_.nx, u_cells = domain_.unknowns(k_u, 0);
  const int v_rows = domain_.unknowns(k_v, 1), w_planes = domain_.unknowns(k_w, 2);
  const RowKernel kernel = kernels_[n];
  const Range own = team.share(domain_.ny);
  for (int j = own.begin; j < own.end; ++j) {
    const double *uc = u.row(k, j), *vc = v.row(k, j), *wc = w.row(k, j), *pc = p.row(k, j);
    const bool at_edge = j == own.end - 1 && !team.is_last();
    const VelocityRows at{uc,       vc,         wc,
                          vc - row, wc - plane, at_edge ? edge_of(team) : wc - plane + row};
    kernel(u_cells, row, plane, operators_[k_u][k], transport_of(k_u, at, row, plane), stage,
           {uc, pc, pc + 1, rhs_row(k_u, k, j), state.u.row(k, j, -1)});
    if (j < v_rows)
      kernel(nx, row, plane, operators_[k_v][k], transport_of(k_v, at, row, plane), stage,
             {vc, pc, pc + row, rhs_row(k_v, k, j), state.v.row(k, j, -1)});
    if (k < w_planes)
      kernel(nx, row, plane, operators_[k_w][k], transport_of(k_w, at, row, plane), stage,
             {wc, pc, pc + plane, rhs_row(k_w, k, j), state.w.row(k, j, -1)});
  }
  keep_edge(team, state, k + 1);
}

void MomentumSweep::add_to_mean(const Team& team, const State& state, int k, int component,
                                ReproducibleSum& sum) const {
  const Range own = team.share(domain_.ny);
  for (int j = own.begin; j < own.end; ++j)
    sum += row_sum(state.velocity(component).row(k, j, -1), domain_.nx) * domain_.dz_cell[k];
}

}  // namespace octant::dns

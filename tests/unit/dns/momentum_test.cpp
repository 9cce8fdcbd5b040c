// One row of the momentum equation against the formula written out cell by cell.
#include <array>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "dns/kernels.hpp"

namespace octant::dns {

namespace {

constexpr int k_n = 13, k_row = 16, k_plane = 5 * k_row;

// A small box of values with ghosts; (i, j, k) from -1.
struct Box {
  std::vector<double> values;
  explicit Box(double seed) : values(4 * k_plane) {
    for (std::size_t n = 0; n < values.size(); ++n)
      values[n] = std::sin(seed * (1.0 + static_cast<double>(n)));
  }
  const double* row(int j = 0, int k = 0) const {
    return values.data() + (k + 1) * k_plane + (j + 1) * k_row + 1;
  }
};

PlaneOperator some_operator() {
  PlaneOperator o{};
  o.transport_x = 0.3;
  o.transport_y = 0.7;
  o.transport_z = 0.9;
  o.diffusion_x = 0.11;
  o.diffusion_y = 0.13;
  o.diffusion_below = 0.17;
  o.diffusion_above = 0.19;
  o.gradient = 1.7;
  o.force = 0.4;
  return o;
}

TEST(MomentumRow, is_the_symmetry_preserving_form_with_explicit_diffusion) {
  const Box u(1.1), v(1.3), w(1.7), p(1.9);
  const PlaneOperator o = some_operator();
  const Stage stage{0.5, -0.25, 0.25};
  std::vector<double> before(k_n, 2.0), rhs = before, result(k_n);
  const double *uc = u.row(), *vc = v.row(), *vs = v.row(-1), *wc = w.row(), *wb = w.row(0, -1);
  momentum_row<Diffusion::explicit_all, true, true>(
      k_n, k_row, k_plane, o,
      {{uc, uc + 1}, {vc, vc + 1}, {vs, vs + 1}, {wc, wc + 1}, {wb, wb + 1}}, stage,
      {uc, p.row(), p.row() + 1, rhs.data(), result.data()});
  for (int i = 0; i < k_n; ++i) {
    const double c = uc[i], north = u.row(1)[i], south = u.row(-1)[i], top = u.row(0, 1)[i],
                 bottom = u.row(0, -1)[i];
    const double advection =
        -o.transport_x * ((c + uc[i + 1]) * uc[i + 1] - (c + uc[i - 1]) * uc[i - 1]) -
        o.transport_y * ((vc[i] + vc[i + 1]) * north - (vs[i] + vs[i + 1]) * south) -
        o.transport_z * ((wc[i] + wc[i + 1]) * top - (wb[i] + wb[i + 1]) * bottom);
    const double diffusion = o.diffusion_x * (uc[i + 1] - 2.0 * c + uc[i - 1]) +
                             o.diffusion_y * (north - 2.0 * c + south) +
                             o.diffusion_above * (top - c) - o.diffusion_below * (c - bottom);
    const double r = advection + diffusion;
    EXPECT_NEAR(rhs[i], r, 1e-14);
    EXPECT_NEAR(result[i],
                c + stage.alpha * r + stage.beta * before[i] +
                    stage.gamma * (o.force - o.gradient * (p.row()[i + 1] - p.row()[i])),
                1e-14);
  }
}

TEST(MomentumRow, takes_half_of_the_implicit_diffusion_from_the_present) {
  const Box u(1.1), nothing(0.0);
  PlaneOperator o = some_operator();
  o.transport_x = o.transport_y = o.transport_z = o.force = 0.0;
  const Stage stage{0.5, 0.0, 0.5};
  const double *uc = u.row(), *none = nothing.row();
  const AdvectingVelocities still{
      {none, none}, {none, none}, {none, none}, {none, none}, {none, none}};
  std::vector<double> rhs(k_n), along_z(k_n), along_all(k_n);
  momentum_row<Diffusion::implicit_z, false, true>(k_n, k_row, k_plane, o, still, stage,
                                                   {uc, none, none, rhs.data(), along_z.data()});
  momentum_row<Diffusion::implicit_all, false, true>(
      k_n, k_row, k_plane, o, still, stage, {uc, none, none, rhs.data(), along_all.data()});
  for (int i = 0; i < k_n; ++i) {
    const double c = uc[i];
    const double xy = o.diffusion_x * (uc[i + 1] - 2.0 * c + uc[i - 1]) +
                      o.diffusion_y * (u.row(1)[i] - 2.0 * c + u.row(-1)[i]);
    const double z =
        o.diffusion_above * (u.row(0, 1)[i] - c) - o.diffusion_below * (c - u.row(0, -1)[i]);
    EXPECT_NEAR(along_z[i], c + stage.alpha * xy + 0.5 * stage.gamma * z, 1e-14);
    EXPECT_NEAR(along_all[i], c + 0.5 * stage.gamma * (xy + z), 1e-14);
    EXPECT_NEAR(rhs[i], 0.0, 1e-14);
  }
}

}  // namespace

}  // namespace octant::dns

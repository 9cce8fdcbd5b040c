#include "amr/outflow.hpp"

#include <span>

#include "hydro/hydro_options.hpp"
#include "mesh/device.hpp"
#include "mesh/launch.hpp"

namespace octant {

void Outflow::add_columns(Columns& columns) const {
  const auto vector = [&](int first) { return std::span(amount).subspan(first).first<3>(); };
  columns.add("outflow_mass", amount[mass]);
  columns.add_vector("outflow_momentum", vector(momentum));
  columns.add_vector("outflow_angular_momentum", vector(angular_momentum));
  columns.add("outflow_energy", amount[energy]);
}

namespace {

using FaceTotals = Kokkos::Array<double, Outflow::terms>;

// Potential at the centre of a boundary face, extrapolated linearly from the cell and its inner
// neighbour and averaged over both times. With the forces at both times, which define the work on
// the flow, this is second order.
KOKKOS_INLINE_FUNCTION double potential_at(const PotentialsOfStep& potentials,
                                           const mesh::DomainFace& face, int block_size, int a,
                                           int b) {
  const int stride[3] = {1, block_size, block_size * block_size};
  const int along_a = stride[face.axis == 0 ? 1 : 0], along_b = stride[face.axis == 2 ? 1 : 2];
  const int inwards = (face.side == 0 ? 1 : -1) * stride[face.axis];
  const mesh::Cell last{0, face.slot, face.first + a * along_a + b * along_b};
  const mesh::Cell inner{0, face.slot, last.index + inwards};
  const auto on_face = [&](const mesh::BlockField& potential) {
    return 1.5 * *potential.at(last) - 0.5 * *potential.at(inner);
  };
  return 0.5 * (on_face(potentials.before) + on_face(potentials.after));
}

// Sums the fluxes of one face after the other, each in the order of its cells.
struct SumOfFaces {
  mesh::DeviceArray<const mesh::DomainFace> faces;
  mesh::DeviceArray<FaceTotals> totals;
  double* registers;
  PotentialsOfStep potentials;
  int half, variables, spin;
  double dx;

  KOKKOS_INLINE_FUNCTION void operator()(int n) const {
    const mesh::DomainFace& face = faces(n);
    const int a = face.axis == 0 ? 1 : 0, b = face.axis == 2 ? 1 : 2;
    const double outward = (face.side == 0 ? -1.0 : 1.0) * dx * dx;
    FaceTotals sum{};
    for (int cell = 0; cell < half * half; ++cell) {
      double* const flux = registers + face.base + cell;
      const auto of = [&](int variable) { return flux[variable * half * half]; };
      double x[3] = {face.corner[0], face.corner[1], face.corner[2]};
      const int column = cell % half, row = cell / half;
      x[a] += (column + 0.5) * dx;
      x[b] += (row + 0.5) * dx;
      sum[Outflow::mass] += of(hydro::k_mass);
      sum[Outflow::energy] += of(hydro::k_energy);
      if (potentials.after.data)
        sum[Outflow::potential] +=
            of(hydro::k_mass) * potential_at(potentials, face, 2 * half, cell % half, cell / half);
      for (int d = 0; d < 3; ++d) {
        const int e = (d + 1) % 3, f = (d + 2) % 3;
        sum[Outflow::momentum + d] += of(hydro::k_momentum_x + d);
        sum[Outflow::angular_momentum + d] +=
            x[e] * of(hydro::k_momentum_x + f) - x[f] * of(hydro::k_momentum_x + e);
        if (spin >= 0) sum[Outflow::angular_momentum + d] += of(spin + d);
      }
      for (int v = 0; v < variables; ++v) flux[v * half * half] = 0.0;
    }
    for (int t = 0; t < Outflow::terms; ++t) totals(n)[t] = outward * sum[t];
  }
};

}  // namespace

void collect_outflow(mesh::Mesh& mesh, int level, int spin, const PotentialsOfStep& potentials,
                     std::array<ReproducibleSum, Outflow::terms>& terms) {
  const auto faces = mesh::to_device("domain faces", mesh.domain_faces(level));
  const int count = static_cast<int>(faces.extent(0));
  if (count == 0) return;
  const auto totals = mesh::uninitialised<FaceTotals>("outflow", count);
  mesh::for_items(
      "outflow", count,
      SumOfFaces{faces, totals, mesh.registers(level), potentials, mesh.layout().block_size / 2,
                 mesh.layout().variables, spin, mesh.geometry().cell_size(level)});
  const auto of_faces = on_host(TransferKind::numbers, totals);
  for (int n = 0; n < count; ++n)
    for (int t = 0; t < Outflow::terms; ++t) terms[t] += of_faces(n)[t];
}

}  // namespace octant

// Ghost cells, filled from other ranks and by boundary conditions of the domain.
#pragma once

#include <array>
#include <span>

#include "dns/outflow_sides.hpp"
#include "pencil/field_halo.hpp"

namespace octant::dns {

// Field on the host and its quantity.
struct Ghosted {
  Field* field;
  int quantity;
};

// Indices of quantities after the velocity components: pressure or its correction, and a scalar.
inline constexpr int k_pressure = k_components, k_scalar = k_pressure + 1;
inline constexpr int k_quantities = k_scalar + 1;

// Boundary condition of the scalar at one side.
struct ScalarSide {
  Condition condition = Condition::neumann;
  double value = 0.0;
};
using ScalarSides = std::array<std::array<ScalarSide, 2>, 3>;

// Boundary condition of a quantity at a side. `on_face` is true if values lie on the side.
struct GhostRule {
  Condition condition = Condition::periodic;
  double value = 0.0;
  bool on_face = false;
};
// Rules by quantity, axis and end.
using GhostRules = std::array<std::array<std::array<GhostRule, 2>, 3>, k_quantities>;
// Returns the rules for the given boundaries.
GhostRules ghost_rules(const Boundaries& boundaries, const ScalarSides& scalar);

// Ghosts of host fields.
class Ghosts {
 public:
  // Prepares the halo exchanges. `outflow` must outlive this object. Collective.
  Ghosts(const Domain& domain, const pencil::HaloOptions& options,
         const Outflow<Place::host>& outflow, const ScalarSides& scalar = {});

  // Fills all ghosts of the given fields, whose planes must not be shifted (offset 0), and sets
  // prescribed normal velocities on boundary faces. Collective.
  void fill(std::span<const Ghosted> all);
  // Fills the ghosts of one field. Collective.
  void fill(Field& field, int quantity) {
    const Ghosted one[] = {{&field, quantity}};
    fill(one);
  }
  // Fills ghosts along y and z. fill_x() must have been called for every row. Collective.
  void fill_y_and_z(std::span<const Ghosted> all);

  // Exchanges the faces below the first row of v and the first plane of w, which the divergence of
  // the predicted velocity needs. Collective.
  void exchange_prediction(State& state, int plane_offset);
  // Fills the ghost rows of a field from other ranks, or from the opposite side of a periodic
  // domain. Collective.
  void exchange_y(Field& field);
  // Fills the ghost planes of a field in the same way as exchange_y(). Collective.
  void exchange_z(Field& field);

  // Fills the ghosts along x of a row. Local.
  void fill_x(int quantity, double* row) const;
  // Fills the ghost row at one end along y of plane k, unless it comes from another rank. Local.
  void fill_y(int quantity, Field& field, int k, int end) const;
  // Sets the faces of u on boundaries, which the divergence needs: prescribed values, or on outflow
  // sides the value on the next interior face plus the predicted offset. Local.
  void close_x(Field& u, int k, int j, int plane_offset) const;
  // Sets the faces of v on a boundary in the same way as close_x(). Local.
  void close_y(Field& v, int k, int plane_offset, int end) const;
  // Sets the faces of w on a boundary in the same way; called at the ends of z only. Local.
  void close_z(Field& w, int end, int plane_offset, Range rows) const;

  // Messages and bytes of halo exchanges so far.
  std::vector<ExchangeCount> report() const { return halo_.report(); }

 private:
  const GhostRule& rule(int quantity, int axis, int end) const {
    return rules_[quantity][axis][end];
  }
  void fill_y_side(int quantity, Field& field, int k, int end) const;
  void fill_z_sides(int quantity, Field& field) const;

  const Domain& domain_;
  pencil::Halo halo_;
  GhostRules rules_;
  const Outflow<Place::host>& outflow_;
};

// Batched counterparts in the memory of Kokkos' default execution space, all planes at once, with
// bitwise equal results on a host.

// A field in device memory and its quantity.
struct GhostedView {
  FieldView field;
  int quantity;
};

// Batched Ghosts. All calls are collective.
class BatchGhosts {
 public:
  // Prepares the halo exchanges. `outflow` must outlive this object.
  BatchGhosts(const Domain& domain, const CommOptions& comm, const Outflow<Place::device>& outflow,
              const ScalarSides& scalar = {});

  // Fills all ghosts of at most four quantities, and sets prescribed velocities on boundary faces.
  void fill(std::span<const GhostedView> all);
  // Fills the ghosts of one field.
  void fill(const DeviceField& field, int quantity) {
    const GhostedView one[] = {{field.view(), quantity}};
    fill(one);
  }
  // Sets, for the divergence, the faces of each predicted component on the boundaries normal to it
  // and below the first cells.
  void close(const VelocityViews& velocity);

  // Messages and bytes of halo exchanges so far.
  std::vector<ExchangeCount> report() const { return halo_.report(); }

 private:
  const Domain& domain_;
  GhostRules rules_;
  pencil::BatchedHalo halo_;
  const Outflow<Place::device>& outflow_;
};

}  // namespace octant::dns

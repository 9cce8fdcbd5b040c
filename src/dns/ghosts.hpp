// Ghost cells: what other ranks hold, and what the boundaries of the domain prescribe.
#pragma once

#include <array>
#include <span>

#include "dns/outflow_sides.hpp"

namespace octant::dns {

// A field and which quantity it is.
struct Ghosted {
  Field* field;
  int quantity;
};

// Quantities beyond the velocity components: the pressure, or its correction, and a scalar.
inline constexpr int k_pressure = k_components, k_scalar = k_pressure + 1;
inline constexpr int k_quantities = k_scalar + 1;

// What holds for the scalar at each side, by axis and end.
struct ScalarSide {
  Condition condition = Condition::neumann;
  double value = 0.0;
};
using ScalarSides = std::array<std::array<ScalarSide, 2>, 3>;

// What a side of the domain prescribes for a quantity. `on_face`: whose values lie on that side.
struct GhostRule {
  Condition condition = Condition::periodic;
  double value = 0.0;
  bool on_face = false;
};
// By quantity, axis and end.
using GhostRules = std::array<std::array<std::array<GhostRule, 2>, 3>, k_quantities>;
GhostRules ghost_rules(const Boundaries& boundaries, const ScalarSides& scalar);

class Ghosts {
 public:
  // Collective. `outflow` must outlive this.
  Ghosts(const Domain& domain, const pencil::HaloOptions& options,
         const Outflow<Place::host>& outflow, const ScalarSides& scalar = {});

  // All ghosts of some quantities, at home, and the faces of velocities that lie on a boundary
  // which prescribes them. Collective.
  void fill(std::span<const Ghosted> all);
  // The same where all_x has been called for every row.
  void fill_y_and_z(std::span<const Ghosted> all);

  // What the divergence of the predicted velocity needs from other ranks, or planes: the faces
  // below the first row of v and the first plane of w. Collective.
  void exchange_prediction(State& state, int slide);
  // The rows, or planes, of a field beside this rank's own, where other ranks or the other side of
  // the domain have them, as they are. Collective.
  void exchange_y(Field& field);
  void exchange_z(Field& field);

  // What one rank can do alone, row by row and plane by plane: ghosts of a row and of a plane, as
  // far as no other rank holds them, and the faces on the boundaries that the divergence needs:
  // prescribed, or where fluid leaves, those on the next face inside and the predicted offset.
  void fill_x(int quantity, double* row) const;
  void fill_y(int quantity, Field& field, int k, int end) const;
  void close_x(Field& u, int k, int j, int slide) const;
  void close_y(Field& v, int k, int slide, int end) const;
  void close_z(Field& w, int end, int slide, Range rows) const;  // nothing where z continues there

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

}  // namespace octant::dns

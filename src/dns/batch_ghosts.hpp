// Ghosts of fields that are worked on in batches: those of ghosts.hpp for a rank that is alone.
#pragma once

#include <span>

#include "dns/ghosts.hpp"
#include "pencil/field_view.hpp"

namespace octant::dns {

using pencil::FieldView;

// A field and which quantity it is.
struct GhostedView {
  FieldView field;
  int quantity;
};

class BatchGhosts {
 public:
  explicit BatchGhosts(const Domain& domain, const ScalarSides& scalar = {});

  // All ghosts of at most four quantities, and the faces of velocities that lie on a boundary.
  void fill(std::span<const GhostedView> all) const;
  // The faces of a predicted component on the boundaries that it is normal to, and below the first
  // cells: what the divergence needs.
  void close(const FieldView& field, int component) const;

 private:
  GhostRules rules_;
};

}  // namespace octant::dns

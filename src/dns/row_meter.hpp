// Sums and extremes of rows, taken where the fields lie: what travels is a few numbers per row.
#pragma once

#include "dns/field_views.hpp"
#include "dns/rows.hpp"

namespace octant::dns {

struct RowFigures {
  double sum[k_components], squares[k_components];  // of the velocities, and of their squares
  double scalar;                                    // sum
  double largest[k_components];                     // absolute values
  double divergence;                                // largest absolute value
  double rate;                                      // largest |u|/dx + |v|/dy + |w|/dz
};

// Figures of the rows j = 0 .. ny - 1 of the planes k = -1 .. nz; of the ghost planes sums alone.
struct MeasuredRows {
  const RowFigures* first;
  int ny;
  const RowFigures& operator()(int k, int j) const { return first[std::ptrdiff_t{k + 1} * ny + j]; }
};

// Sums of the rows j = -1 .. ny of the planes k = -1 .. nz.
struct RowSums {
  const double* first;
  int ny;
  double operator()(int k, int j) const {
    return first[std::ptrdiff_t{k + 1} * (ny + 2) + (j + 1)];
  }
};

// Whose memory holds the fields, and whose threads work on them.
enum class Place { host, device };

// Whether a component has faces of its own on the lower side that it is normal to (Domain::first).
struct LowerFaces {
  bool u, v, w;
};

template <Place place>
class RowMeter {
 public:
  explicit RowMeter(const Domain& domain);

  // Results are valid until the next call. A scalar whose view has no memory is left out.
  MeasuredRows measure(const VelocityViews& velocity, const FieldView& scalar);
  RowSums sums(const FieldView& field);

 private:
  using Space = std::conditional_t<place == Place::host, HostSpace, DeviceSpace>;
  template <class Value>
  using View = Kokkos::View<Value*, typename Space::memory_space>;

  double reciprocal_dx_, reciprocal_dy_;
  LowerFaces lower_faces_;
  View<double> reciprocal_dz_;  // by plane
  View<RowFigures> figures_;
  View<double> sums_;
  typename View<RowFigures>::HostMirror figures_on_host_;
  typename View<double>::HostMirror sums_on_host_;
};

extern template class RowMeter<Place::host>;
extern template class RowMeter<Place::device>;

}  // namespace octant::dns

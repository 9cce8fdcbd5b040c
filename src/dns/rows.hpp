// How kernels run over cells: their bodies, one cell each, are written for any device; on a host, a
// thread works on rows, whose cells fill the machine's vectors.
#pragma once

#include <Kokkos_Macros.hpp>

namespace octant::dns {

// body(0) ... body(n - 1), in any order or at once.
template <class Body>
void for_each_cell(int n, const Body body) {
#pragma GCC ivdep
  for (int i = 0; i < n; ++i) body(i);
}

}  // namespace octant::dns

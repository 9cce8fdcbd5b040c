#include "problems/problem.hpp"

namespace octant::problems {

void Problem::initial_level(const mesh::Mesh& mesh, int level, const StateReceiver& receive) {
  const mesh::TreeLevel& blocks = mesh.blocks(level);
  const int N = mesh.layout().block_size;
  const double dx = mesh.geometry().cell_size(level);
  for (const int slot : blocks.own()) {
    const auto corner = mesh.geometry().origin(level, morton_decode(blocks.key(slot)));
    for (int c = 0; c < N * N * N; ++c)
      receive(slot, c,
              initial_state({corner[0] + (c % N + 0.5) * dx, corner[1] + (c / N % N + 0.5) * dx,
                             corner[2] + (c / N / N + 0.5) * dx},
                            dx));
  }
}

}  // namespace octant::problems

#include "gravity/fmm_lists.hpp"

#include <cmath>

namespace octant::gravity::fmm {

namespace {

struct Near {
  double bound;
  bool operator()(int x, int y, int z) const { return x * x + y * y + z * z < bound; }
};

// The potential and force of a mass, from where it is.
void set_field(double mass, double x, double y, double z, double* field) {
  const double r2 = x * x + y * y + z * z, u = mass / std::sqrt(r2), cube = u / r2;
  field[0] = u;
  field[1] = x * cube;
  field[2] = y * cube;
  field[3] = z * cube;
}

}  // namespace

Lists make_lists(double theta) {
  const Near near{(1.0 - 1e-12) / (theta * theta)}, close{k_close * k_close * near.bound};
  Lists lists;
  lists.reach = lists.near = near(2, 0, 0) ? 2 : 1;
  const int H = lists.reach, E = lists.edge();
  std::vector<FarSource> far;
  std::vector<std::int32_t> far_begin{0};
  std::vector<std::vector<PointSource>> points(8);
  for (int s = 0; s < 8; ++s)
    for (int dx = -H; dx <= H; ++dx)
      for (int t = 0; t < 8; ++t) {
        for (int dk = -H; dk <= H; ++dk)
          for (int dj = -H; dj <= H; ++dj) {
            if (!near(dx, dj, dk)) continue;
            const int x = 2 * dx + (s & 1) - (t & 1), y = 2 * dj + (s >> 1 & 1) - (t >> 1 & 1),
                      z = 2 * dk + (s >> 2) - (t >> 2);
            const int row = dk * E + dj;
            if (!near(x, y, z))
              far.push_back({row, close(x, y, z), double(x), double(y), double(z)});
            if (x == 0 && y == 0 && z == 0) continue;
            PointSource point{(s * lists.span() + dx + H) * patch_stride(H) + row * k_parents, {}};
            const bool share_a_face = x * x + y * y + z * z == 1;
            set_field(share_a_face ? k_contact : 1.0, x, y, z, point.field);
            points[t].push_back(point);
          }
        far_begin.push_back(static_cast<std::int32_t>(far.size()));
      }
  std::vector<PointSource> all_points;
  std::vector<std::int32_t> point_begin{0};
  for (const auto& list : points) {
    all_points.insert(all_points.end(), list.begin(), list.end());
    point_begin.push_back(static_cast<std::int32_t>(all_points.size()));
  }
  std::vector<NearCell> near_cells;
  for (int z = -H; z <= H; ++z)
    for (int y = -H; y <= H; ++y)
      for (int x = -H; x <= H; ++x) {
        if (!near(x, y, z) || (x == 0 && y == 0 && z == 0)) continue;
        NearCell cell{x, y, z, {}};
        for (int s = 0; s < 8; ++s) {
          const double u = x + 0.5 * (s & 1) - 0.25, v = y + 0.5 * (s >> 1 & 1) - 0.25,
                       w = z + 0.5 * (s >> 2) - 0.25;
          const bool share_a_face = u * u + v * v + w * w == 0.6875;  // (3/4, 1/4, 1/4)
          set_field(share_a_face ? k_contact_across : 1.0, u, v, w, cell.field[s]);
        }
        near_cells.push_back(cell);
      }
  lists.far_pairs = std::int64_t{k_octet} * std::ssize(far);
  lists.point_pairs = std::int64_t{k_octet} * std::ssize(all_points);
  lists.far = mesh::to_device("far sources", far);
  lists.far_begin = mesh::to_device("far sources", far_begin);
  lists.points = mesh::to_device("points", all_points);
  lists.point_begin = mesh::to_device("points", point_begin);
  lists.near_cells = mesh::to_device("near cells", near_cells);
  return lists;
}

}  // namespace octant::gravity::fmm

#include "dns/statistics.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/parameters.hpp"
#include "dns/kernel_launch.hpp"
#include "io/expectations.hpp"

namespace octant::dns {

namespace {

constexpr const char* k_velocity = "length / time";
constexpr const char* k_squared = "length^2 / time^2";
constexpr const char* k_cubed = "length^3 / time^3";
constexpr const char* k_fourth = "length^4 / time^4";
constexpr const char* k_rate = "1 / time";
constexpr const char* k_rate_squared = "1 / time^2";

enum Index {
  i_u,
  i_v,
  i_w,
  i_p,
  i_uu,
  i_vv,
  i_ww,
  i_pp,
  i_uv,
  i_uw,
  i_vw,
  i_uuu,
  i_vvv,
  i_www,
  i_uuuu,
  i_vvvv,
  i_wwww,
  i_vorticity_x,
  i_vorticity_y,
  i_vorticity_z,
  i_enstrophy_x,
  i_enstrophy_y,
  i_enstrophy_z,
  i_gradients,
  i_gradients_face,
  i_wuu,
  i_wvv,
  i_pw,
  i_t,
  i_tt,
  i_wt,
  i_count
};

constexpr Quantity k_quantities_sampled[i_count] = {
    {"u", false, k_velocity, "u"},
    {"v", false, k_velocity, "v"},
    {"w", true, k_velocity, "w"},
    {"p", false, k_squared, "pressure divided by density"},
    {"uu", false, k_squared, "u^2"},
    {"vv", false, k_squared, "v^2"},
    {"ww", true, k_squared, "w^2"},
    {"pp", false, k_fourth, "square of the pressure divided by density"},
    {"uv", false, k_squared, "u v, on the edges along z"},
    {"uw", true, k_squared, "u w, on the edges along y, as transported by the scheme"},
    {"vw", true, k_squared, "v w, on the edges along x, as transported by the scheme"},
    {"uuu", false, k_cubed, "u^3"},
    {"vvv", false, k_cubed, "v^3"},
    {"www", true, k_cubed, "w^3"},
    {"uuuu", false, k_fourth, "u^4"},
    {"vvvv", false, k_fourth, "v^4"},
    {"wwww", true, k_fourth, "w^4"},
    {"vorticity_x", true, k_rate, "dw/dy - dv/dz"},
    {"vorticity_y", true, k_rate, "du/dz - dw/dx"},
    {"vorticity_z", false, k_rate, "dv/dx - du/dy"},
    {"enstrophy_x", true, k_rate_squared, "square of vorticity_x"},
    {"enstrophy_y", true, k_rate_squared, "square of vorticity_y"},
    {"enstrophy_z", false, k_rate_squared, "square of vorticity_z"},
    {"gradients", false, k_rate_squared, "sum of the squares of u_x, u_y, v_x, v_y and w_z"},
    {"gradients_face", true, k_rate_squared, "sum of the squares of u_z, v_z, w_x and w_y"},
    {"wuu", true, k_cubed, "w u^2"},
    {"wvv", true, k_cubed, "w v^2"},
    {"pw", true, k_cubed, "p w"},
    {"t", false, "scalar", "scalar; 0 if the run has none"},
    {"tt", false, "scalar^2", "square of the scalar"},
    {"wt", true, "scalar length / time", "w times the scalar"},
};

// Returns the sum of expression(i) over i = 0 .. n - 1, in an order that depends only on n.
template <class Expression>
double row_sum_of(int n, const Expression& expression) {
  constexpr int lanes = 8;
  double sums[lanes] = {};
  int i = 0;
  for (; i + lanes <= n; i += lanes)
    for (int l = 0; l < lanes; ++l) sums[l] += expression(i + l);
  for (int l = 0; i < n; ++i, ++l) sums[l] += expression(i);
  return row_sum(sums, lanes);
}

double square(double a) { return a * a; }

}  // namespace

void declare(ParameterSchema& schema, StatisticsOptions& o) {
  schema.add("statistics.interval", o.interval,
             {.unit = "steps",
              .meaning = "Number of steps between samples of the statistics; 0: no statistics",
              .min = 0});
  schema.add("statistics.start", o.start,
             {.unit = "time", .meaning = "Time of the first sample of the statistics", .min = 0.0});
  schema.add("statistics.spectra", o.spectra,
             {.meaning = "Energy spectra along the periodic axes as part of the statistics"});
}

Means::Means(std::vector<double> values) : values_(std::move(values)) {}

double Means::operator()(const char* name, int k) const {
  for (int q = 0; q < i_count; ++q)
    if (std::strcmp(k_quantities_sampled[q].name, name) == 0)
      return values_[static_cast<std::size_t>(k + 1) * i_count + q];
  throw RunError("the statistics do not contain the quantity {}", name);
}

Statistics::Statistics(const Domain& domain, const StatisticsOptions& options, double viscosity)
    : domain_(domain),
      options_(options),
      viscosity_(viscosity),
      sums_(static_cast<std::size_t>(options.interval > 0 ? (domain.nz + 1) * i_count : 0)),
      rows_(sums_.size()),
      spectra_(domain, options.interval > 0 && options.spectra) {}

bool Statistics::is_due(std::int64_t step, double time) const {
  return is_on() && time >= options_.start && step % options_.interval == 0;
}

void Statistics::sample(const State& state, const Field* scalar, double time) {
  std::fill(rows_.begin(), rows_.end(), ReproducibleSum());
  // In plane -1 only quantities on the faces at the lower side of the domain are sampled.
  for (int k = domain_.box[2].begin == 0 ? -1 : 0; k < domain_.nz; ++k) {
    sample_plane(state, k);
    if (scalar != nullptr) sample_scalar(*scalar, state.w, k);
  }
  reproducible_sum(domain_.pencils.row(), rows_);
  const double cells = static_cast<double>(domain_.grid.cells[0]) * domain_.grid.cells[1];
  for (std::size_t n = 0; n < sums_.size(); ++n) sums_[n] += rows_[n].to_double() / cells;
  spectra_.sample(state);
  if (samples_ == 0) first_time_ = time;
  last_time_ = time;
  ++samples_;
}

void Statistics::sample_plane(const State& state, int k) {
  const std::ptrdiff_t row = state.u.row_stride(), plane = state.u.plane_stride();
  const double xi = 1.0 / domain_.grid.dx, yi = 1.0 / domain_.grid.dy;
  const double zi = 1.0 / domain_.dz_cell[k], fi = 1.0 / domain_.dz_face[k];
  ReproducibleSum* sums = rows_.data() + static_cast<std::size_t>(k + 1) * i_count;
  for (int j = 0; j < domain_.ny; ++j) {
    const double *u = state.u.row(k, j), *v = state.v.row(k, j), *w = state.w.row(k, j),
                 *p = state.p.row(k, j);
    const double *ut = u + plane, *vt = v + plane, *pt = p + plane, *wb = w - plane;
    const double *un = u + row, *us = u - row, *vs = v - row, *wn = w + row;
    const auto add = [&](Index q, const auto& expression) {
      sums[q] += row_sum_of(domain_.nx, expression);
    };
    const auto omega_x = [&](int i) { return (wn[i] - w[i]) * yi - (vt[i] - v[i]) * fi; };
    const auto omega_y = [&](int i) { return (ut[i] - u[i]) * fi - (w[i + 1] - w[i]) * xi; };
    const auto omega_z = [&](int i) { return (v[i + 1] - v[i]) * xi - (un[i] - u[i]) * yi; };
    const auto u_face = [&](int i) { return 0.5 * (u[i] + ut[i]); };
    const auto v_face = [&](int i) { return 0.5 * (v[i] + vt[i]); };
    add(i_w, [&](int i) { return w[i]; });
    add(i_ww, [&](int i) { return w[i] * w[i]; });
    add(i_www, [&](int i) { return w[i] * w[i] * w[i]; });
    add(i_wwww, [&](int i) { return square(w[i] * w[i]); });
    add(i_uw, [&](int i) { return 0.5 * (w[i] + w[i + 1]) * u_face(i); });
    add(i_vw, [&](int i) { return 0.5 * (w[i] + wn[i]) * v_face(i); });
    add(i_vorticity_x, omega_x);
    add(i_vorticity_y, omega_y);
    add(i_enstrophy_x, [&](int i) { return square(omega_x(i)); });
    add(i_enstrophy_y, [&](int i) { return square(omega_y(i)); });
    add(i_gradients_face, [&](int i) {
      return square((ut[i] - u[i]) * fi) + square((vt[i] - v[i]) * fi) +
             square((w[i + 1] - w[i]) * xi) + square((wn[i] - w[i]) * yi);
    });
    add(i_wuu, [&](int i) { return 0.5 * (w[i] + w[i + 1]) * square(u_face(i)); });
    add(i_wvv, [&](int i) { return 0.5 * (w[i] + wn[i]) * square(v_face(i)); });
    add(i_pw, [&](int i) { return 0.5 * (p[i] + pt[i]) * w[i]; });
    if (k < 0) continue;
    add(i_u, [&](int i) { return u[i]; });
    add(i_v, [&](int i) { return v[i]; });
    add(i_p, [&](int i) { return p[i]; });
    add(i_uu, [&](int i) { return u[i] * u[i]; });
    add(i_vv, [&](int i) { return v[i] * v[i]; });
    add(i_pp, [&](int i) { return p[i] * p[i]; });
    add(i_uv, [&](int i) { return 0.25 * (u[i] + un[i]) * (v[i] + v[i + 1]); });
    add(i_uuu, [&](int i) { return u[i] * u[i] * u[i]; });
    add(i_vvv, [&](int i) { return v[i] * v[i] * v[i]; });
    add(i_uuuu, [&](int i) { return square(u[i] * u[i]); });
    add(i_vvvv, [&](int i) { return square(v[i] * v[i]); });
    add(i_vorticity_z, omega_z);
    add(i_enstrophy_z, [&](int i) { return square(omega_z(i)); });
    add(i_gradients, [&](int i) {
      return square((u[i] - u[i - 1]) * xi) + square((u[i] - us[i]) * yi) +
             square((v[i] - v[i - 1]) * xi) + square((v[i] - vs[i]) * yi) +
             square((w[i] - wb[i]) * zi);
    });
  }
}

void Statistics::sample_scalar(const Field& scalar, const Field& w_field, int k) {
  ReproducibleSum* sums = rows_.data() + static_cast<std::size_t>(k + 1) * i_count;
  for (int j = 0; j < domain_.ny; ++j) {
    const double *t = scalar.row(k, j), *above = scalar.row(k + 1, j), *w = w_field.row(k, j);
    sums[i_wt] += row_sum_of(domain_.nx, [&](int i) { return 0.5 * w[i] * (t[i] + above[i]); });
    if (k < 0) continue;
    sums[i_t] += row_sum_of(domain_.nx, [&](int i) { return t[i]; });
    sums[i_tt] += row_sum_of(domain_.nx, [&](int i) { return t[i] * t[i]; });
  }
}

std::vector<double> Statistics::gather_means() const {
  const std::size_t skipped = domain_.box[2].begin == 0 ? 0 : i_count;
  std::vector<double> own;
  if (domain_.pencils.y_index() == 0)
    for (std::size_t n = skipped; n < sums_.size(); ++n)
      own.push_back(sums_[n] / static_cast<double>(samples_));
  std::vector<double> all =
      domain_.pencils.communicator().gather_to_root(std::span<const double>(own));
  domain_.pencils.communicator().broadcast(all);
  return all;
}

void Statistics::write(const std::string& directory) const {
  if (samples_ == 0) return;
  const Communicator& communicator = domain_.pencils.communicator();
  const Means means(gather_means());
  const int planes = domain_.grid.cells[2];
  Hdf5Writer file(communicator, directory + "/statistics.h5");
  file.group("/header");
  file.attribute("/header", "samples", samples_);
  file.attribute("/header", "first_time", first_time_);
  file.attribute("/header", "last_time", last_time_);
  file.attribute("/header", "viscosity", viscosity_);
  const auto put = [&](const std::string& name, const std::vector<double>& values,
                       const DatasetMeaning& meaning) {
    const auto rows = std::ssize(values);
    const bool root = communicator.is_root();
    file.dataset(name, root ? RowRange{0, rows} : RowRange{rows, 0}, {},
                 root ? std::span<const double>(values) : std::span<const double>(), meaning);
  };
  const auto along_z = [&](bool faces, const auto& value) {
    std::vector<double> values;
    for (int k = faces ? -1 : 0; k < planes; ++k) values.push_back(value(k));
    return values;
  };
  put("/grid/z", along_z(false, [&](int k) { return domain_.grid.centre[k]; }),
      {"length", "positions of the plane centres"});
  put("/grid/z_face", along_z(true, [&](int k) { return domain_.grid.face[k]; }),
      {"length", "positions of the plane faces, starting at the lower boundary"});
  for (const Quantity& q : k_quantities_sampled)
    put(fmt::format("/{}/{}", q.on_face ? "faces" : "centres", q.name),
        along_z(q.on_face, [&](int k) { return means(q.name, k); }),
        {q.units, fmt::format("mean of {}", q.description)});
  std::vector<std::vector<double>> velocity;
  for (const char* name : {"u", "v", "w"})
    velocity.push_back(along_z(false, [&](int k) { return means(name, k); }));
  spectra_.write(file, "/spectra", samples_, velocity);
  file.commit();
  write_profiles(communicator, domain_, means, viscosity_, directory + "/profiles.csv");
}

void Statistics::store(Hdf5Writer& file) const {
  if (!is_on()) return;
  file.group("/statistics");
  file.attribute("/statistics", "samples", samples_);
  file.attribute("/statistics", "first_time", first_time_);
  file.attribute("/statistics", "last_time", last_time_);
  // Row 0 contains the quantities on the lower side of the domain.
  const bool lowest = domain_.box[2].begin == 0, writes = domain_.pencils.y_index() == 0;
  const std::int64_t begin = lowest ? 0 : domain_.box[2].begin + 1;
  const std::int64_t count = domain_.nz + (lowest ? 1 : 0);
  file.dataset("/statistics/sums", {begin, writes ? count : 0}, {i_count},
               writes ? std::span(sums_).subspan(lowest ? 0 : i_count) : std::span<const double>(),
               {"mixed", "sums of the plane means of all quantities over the samples"});
  spectra_.store(file);
}

void Statistics::restore(const Hdf5Reader& file) {
  if (!is_on() || !file.exists("/statistics")) return;
  samples_ = count_attribute(file, "/statistics", "samples");
  first_time_ = finite_attribute(file, "/statistics", "first_time");
  last_time_ = finite_attribute(file, "/statistics", "last_time");
  require_shape(file, "/statistics/sums", {domain_.grid.cells[2] + 1, i_count});
  sums_ = read_finite(file, "/statistics/sums", {domain_.box[2].begin, domain_.nz + 1});
  spectra_.restore(file);
}

}  // namespace octant::dns

// Driven turbulence: a random acceleration by Fourier modes of long wavelength that evolves as an
// Ornstein-Uhlenbeck process (Eswaran & Pope 1988; Federrath et al. 2010).
//
// The complex amplitude of each mode follows a(n + 1) = f a(n) + sqrt(1 - f^2) b(n + 1) with f =
// exp(-s / T) at intervals s = T / 16, and is linear in between. The independent normal numbers b
// are functions of seed, mode and n. Projections parallel and perpendicular to the wave vector set
// the fractions of compressive and solenoidal driving. The acceleration depends only on seed,
// position and time, so checkpoints do not store it and a restart reproduces the same bits.
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "core/error.hpp"
#include "core/parameters.hpp"
#include "core/random.hpp"
#include "subgrid/process.hpp"

namespace octant::subgrid {

namespace {

constexpr int k_updates = 16;   // updates per correlation time
constexpr int k_max_waves = 8;  // maximum wave number along an axis
using Amplitude = std::array<std::complex<double>, 3>;

struct DrivenWave {
  int number[3];
  double re[3], im[3];
};

// Acceleration at the centre of a cell.
struct Driving {
  mesh::DeviceArray<const DrivenWave> waves;
  double lower[3], wave_number[3];  // wave_number: 2 pi / domain size
  int most[3];                      // maximum mode number along each axis

  // Cell centre relative to the domain's lower corner, with the same bits for any block size.
  KOKKOS_INLINE_FUNCTION double centre(const mesh::CellRange& cells, const mesh::Cell& cell,
                                       int axis) const {
    const double first = Kokkos::round((cells.blocks(cell.block_index).corner[axis] - lower[axis]) /
                                       cells.cell_size);
    return (first + cells.coordinate(cell.index, axis) + 0.5) * cells.cell_size;
  }

  KOKKOS_INLINE_FUNCTION void operator()(const mesh::CellRange& cells, const mesh::Cell& cell,
                                         double (&g)[3]) const {
    double cosine[3][k_max_waves + 1], sine[3][k_max_waves + 1];
    for (int d = 0; d < 3; ++d) {
      const double angle = wave_number[d] * centre(cells, cell, d);
      const double c = Kokkos::cos(angle), s = Kokkos::sin(angle);
      cosine[d][0] = 1.0, sine[d][0] = 0.0;
      for (int n = 1; n <= most[d]; ++n) {
        cosine[d][n] = cosine[d][n - 1] * c - sine[d][n - 1] * s;
        sine[d][n] = sine[d][n - 1] * c + cosine[d][n - 1] * s;
      }
      g[d] = 0.0;
    }
    for (std::size_t w = 0; w < waves.extent(0); ++w) {
      const DrivenWave& wave = waves(w);
      double c = 1.0, s = 0.0;
      for (int d = 0; d < 3; ++d) {
        const int n = wave.number[d] < 0 ? -wave.number[d] : wave.number[d];
        const double cd = cosine[d][n], sd = wave.number[d] < 0 ? -sine[d][n] : sine[d][n];
        const double both = c * cd - s * sd;
        s = s * cd + c * sd;
        c = both;
      }
      for (int d = 0; d < 3; ++d) g[d] += wave.re[d] * c - wave.im[d] * s;
    }
  }
};

// Accelerates a cell and stores the work as the cell's term in the sum over the block.
struct DrivenCell {
  static constexpr int count = 1, sums = 1, parts = 1;
  GasLevel level;
  Driving driving;
  double dt;

  KOKKOS_INLINE_FUNCTION void operator()(const mesh::Cell& cell, double* term) const {
    double g[3];
    driving(level.cells, cell, g);
    const hydro::GasCell gas = level.at(cell);
    double work = 0.0;
    for (int d = 0; d < 3; ++d) {
      double& momentum = gas[hydro::k_momentum_x + d];
      work += dt * g[d] * (momentum + 0.5 * dt * g[d] * gas.density());
      momentum += dt * g[d] * gas.density();
    }
    const double before = gas[hydro::k_energy];
    gas[hydro::k_energy] = before + work;
    *term = gas[hydro::k_energy] - before;
  }
};

}  // namespace

class Turbulence final : public Process {
 public:
  const char* name() const override { return "turbulence"; }

  void declare(ParameterSchema& schema) override {
    schema.add("turbulence.acceleration", strength_,
               {.unit = "length / time^2",
                .meaning = "Root-mean-square amplitude of the random acceleration that drives "
                           "turbulence; 0: no driving",
                .min = 0});
    schema.add(
        "turbulence.from", from_,
        {.meaning =
             "Smallest driven wavenumber, in units of 2 pi over the longest side of the domain",
         .above = 0.0});
    schema.add(
        "turbulence.to", to_,
        {.meaning =
             "Largest driven wavenumber, in units of 2 pi over the longest side of the domain",
         .max = k_max_waves});
    schema.add("turbulence.correlation_time", correlation_time_,
               {.unit = "time",
                .meaning = "Autocorrelation time (e-folding) of the driving acceleration, which is "
                           "an Ornstein-Uhlenbeck process",
                .above = 0.0});
    schema.add("turbulence.solenoidal", solenoidal_,
               {.meaning = "Solenoidal weight of the driving; 1: divergence-free; 0: curl-free; "
                           "0.5: natural mixture with two solenoidal modes per compressive mode",
                .min = 0,
                .max = 1});
    schema.add("turbulence.seed", seed_, {.meaning = "Random seed for the driving", .min = 0});
  }

  bool is_wanted() const override { return strength_ > 0.0; }
  bool needs_heat() const override { return false; }
  std::vector<std::string> accounts() const override { return {"energy"}; }
  double added_energy(const Ledger& ledger) const override { return ledger.total("energy"); }

  void prepare(const ProcessSetup& setup) override {
    if (!setup.has_gas) throw InputError("[turbulence] requires hydro.enabled = true");
    if (setup.expands)
      throw InputError("[turbulence] is not supported with cosmology.enabled = true");
    const mesh::Geometry& geometry = setup.geometry;
    for (int d = 0; d < 3; ++d) {
      if (!geometry.periodic(d))
        throw InputError(
            "[turbulence] requires a periodic domain, but mesh.boundary_{} is not periodic",
            "xyz"[d]);
      lower_[d] = geometry.lower()[d];
      wave_number_[d] = 2.0 * M_PI / (geometry.upper()[d] - geometry.lower()[d]);
    }
    add_waves();
    if (numbers_.empty())
      throw InputError(
          "turbulence.from = {} and turbulence.to = {}: the domain has no modes in this range of "
          "wavenumbers",
          from_, to_);
  }

  // Limits the displacement of gas that is accelerated from rest to an eighth of a cell, and the
  // step to one update of the acceleration.
  double longest_step(const GasLevel& level) const override {
    return std::min(correlation_time_ / k_updates,
                    std::sqrt(0.25 * level.cells.cell_size / strength_));
  }

  bool acts_around_coarse_steps() const override { return true; }
  void advance(const GasLevel& level, double dt, Ledger& ledger) const override {
    const DrivenCell driven{level, driving_at(level.step_time.time), dt};
    mesh::add_totals("turbulence", level.cells, driven, level.cell_volume, {&ledger["energy"], 1});
  }

 private:
  // Adds one mode of each pair k, -k.
  void add_waves() {
    const double longest = *std::ranges::min_element(wave_number_);
    std::array<int, 3> most;
    for (int d = 0; d < 3; ++d) most[d] = static_cast<int>(to_ * longest / wave_number_[d] + 1e-9);
    for (int z = 0; z <= most[2]; ++z)
      for (int y = z == 0 ? 0 : -most[1]; y <= most[1]; ++y)
        for (int x = z == 0 && y == 0 ? 1 : -most[0]; x <= most[0]; ++x) {
          const double k =
              std::hypot(x * wave_number_[0], y * wave_number_[1], z * wave_number_[2]) / longest;
          if (k >= from_ - 1e-9 && k <= to_ + 1e-9) numbers_.push_back({x, y, z});
        }
    amplitudes_.resize(numbers_.size());
    for (std::size_t w = 0; w < numbers_.size(); ++w) amplitudes_[w] = normal(w, 0);
  }

  Amplitude normal(std::size_t wave, std::int64_t update) const {
    Amplitude amplitude;
    const RandomStream random(static_cast<std::uint64_t>(seed_), wave,
                              static_cast<std::uint32_t>(update));
    for (int d = 0; d < 3; ++d) {
      const auto [re, im] = random.normal_pair(static_cast<std::uint32_t>(d));
      amplitude[d] = {re, im};
    }
    return amplitude;
  }

  // Advances the amplitudes to an update number, again from number 0 if `update` < `update_`.
  void advance_to(std::int64_t update) const {
    if (update < update_) {
      update_ = 0;
      for (std::size_t w = 0; w < numbers_.size(); ++w) amplitudes_[w] = normal(w, 0);
    }
    for (; update_ < update; ++update_)
      for (std::size_t w = 0; w < numbers_.size(); ++w)
        amplitudes_[w] = after(w, amplitudes_[w], update_);
  }

  Amplitude after(std::size_t wave, Amplitude amplitude, std::int64_t update) const {
    const double kept = std::exp(-1.0 / k_updates), fresh = std::sqrt(1.0 - kept * kept);
    const Amplitude random = normal(wave, update + 1);
    for (int d = 0; d < 3; ++d) amplitude[d] = kept * amplitude[d] + fresh * random[d];
    return amplitude;
  }

  Driving driving_at(double time) const {
    const double updates = std::max(0.0, time / correlation_time_ * k_updates);
    const double begun = std::floor(updates), share = updates - begun;
    advance_to(static_cast<std::int64_t>(begun));
    // Amplitudes have six real components: four transverse to the wave vector, two parallel.
    const double s = solenoidal_, c = 1.0 - s;
    const double norm =
        strength_ / std::sqrt(0.5 * static_cast<double>(numbers_.size()) * (4 * s * s + 2 * c * c));
    std::vector<DrivenWave> waves(numbers_.size());
    Driving driving{.waves = {}, .lower = {}, .wave_number = {}, .most = {}};
    for (std::size_t w = 0; w < numbers_.size(); ++w) {
      const Amplitude& now = amplitudes_[w];
      const Amplitude next = after(w, now, update_);
      Amplitude mean;
      std::complex<double> along = 0.0;
      double square = 0.0;
      for (int d = 0; d < 3; ++d) {
        const double k = numbers_[w][d] * wave_number_[d];
        mean[d] = norm * ((1.0 - share) * now[d] + share * next[d]);
        along += k * mean[d];
        square += k * k;
      }
      for (int d = 0; d < 3; ++d) {
        const std::complex<double> compressive = numbers_[w][d] * wave_number_[d] / square * along;
        const std::complex<double> mixed = s * (mean[d] - compressive) + c * compressive;
        waves[w].number[d] = numbers_[w][d];
        waves[w].re[d] = mixed.real();
        waves[w].im[d] = mixed.imag();
        driving.most[d] = std::max(driving.most[d], std::abs(numbers_[w][d]));
      }
    }
    for (int d = 0; d < 3; ++d)
      driving.lower[d] = lower_[d], driving.wave_number[d] = wave_number_[d];
    driving.waves = mesh::to_device("driven waves", waves);
    return driving;
  }

  double strength_ = 0.0, from_ = 1.0, to_ = 2.0, correlation_time_ = 1.0, solenoidal_ = 1.0;
  std::int64_t seed_ = 1;

  std::array<double, 3> lower_{}, wave_number_{};
  std::vector<std::array<int, 3>> numbers_;
  // Amplitudes at update number `update_`, on which alone they depend.
  mutable std::vector<Amplitude> amplitudes_;
  mutable std::int64_t update_ = 0;
};

template <>
std::unique_ptr<Process> make_process<Turbulence>() {
  return std::make_unique<Turbulence>();
}

}  // namespace octant::subgrid

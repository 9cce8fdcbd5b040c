#include "gravity/base_grid.hpp"

#include <algorithm>
#include <cmath>

#include "comm/reproducible_sum.hpp"
#include "core/error.hpp"
#include "gravity/green_function.hpp"

namespace octant::gravity {

namespace {

// Window function of cloud-in-cell deposition along one axis, sinc^2(k h / 2), for modes 0 .. n/2.
std::vector<double> cloud_windows(int cells) {
  std::vector<double> windows(1, 1.0);
  for (int n = 1; n <= cells / 2; ++n) {
    const double phase = M_PI * n / cells;
    windows.push_back(std::pow(std::sin(phase) / phase, 2));
  }
  return windows;
}

enum Quantity { k_wave_number, k_power, k_corrected, k_quantities };

}  // namespace

PowerSpectrum measure_power_spectrum(BaseFourierSolver& fourier, const Communicator& communicator,
                                     const DeviceArray<double>& density,
                                     const DeviceArray<double>& means) {
  const pencil::Cells& n = fourier.cells();
  const double cell_size = fourier.cell_size();
  const int longest = std::max({n[0], n[1], n[2]}), bins = longest / 2;
  const std::vector<double> windows[3] = {cloud_windows(n[0]), cloud_windows(n[1]),
                                          cloud_windows(n[2])};
  std::vector<ReproducibleSum> sums(k_quantities * bins);
  std::vector<std::int64_t> modes(bins, 0);
  double total = 0.0;  // coefficient of mode 0: sum over all cells
  // coefficients of `means` for this rank's modes
  std::vector<std::complex<double>> held;
  if (communicator.any(means.extent(0) > 0)) {
    fourier.forward(means);
    fourier.for_each_mode([&](const pencil::Mode&, std::complex<double>& coefficient) {
      held.push_back(coefficient);
    });
  }
  auto next_held = held.begin();
  fourier.forward(density);
  fourier.for_each_mode([&](const pencil::Mode& mode, std::complex<double>& coefficient) {
    const int index[3] = {mode.x, std::abs(mode.y), std::abs(mode.z)};
    double squared = 0.0, window = 1.0;
    for (int axis = 0; axis < 3; ++axis) {
      squared += std::pow(static_cast<double>(index[axis]) * longest / n[axis], 2);
      window *= windows[axis][index[axis]];
    }
    const std::complex<double> unsmoothed = next_held == held.end() ? 0.0 : *next_held++;
    const double k = std::sqrt(squared);  // wavenumber in units of the fundamental wavenumber
    if (k == 0.0) total = coefficient.real();
    const auto bin = std::lround(k) - 1;
    if (bin < 0 || bin >= bins) return;
    const auto corrected = unsmoothed + (coefficient - unsmoothed) / window;
    sums[k_quantities * bin + k_wave_number] += mode.weight * k;
    sums[k_quantities * bin + k_power] += mode.weight * std::norm(coefficient);
    sums[k_quantities * bin + k_corrected] += mode.weight * std::norm(corrected);
    modes[bin] += mode.weight;
  });
  reproducible_sum(communicator, std::span<ReproducibleSum>(sums));
  communicator.sum_in_place(std::span<std::int64_t>(modes));
  total = communicator.max(total);

  const double volume = std::pow(cell_size, 3) * n[0] * n[1] * n[2];
  const double scale = total > 0.0 ? volume / (total * total) : 0.0;
  const double fundamental = 2.0 * M_PI / (longest * cell_size);
  PowerSpectrum spectrum;
  for (int bin = 0; bin < bins; ++bin) {
    const auto mean = [&](Quantity quantity) {
      return sums[k_quantities * bin + quantity].to_double() / static_cast<double>(modes[bin]);
    };
    spectrum.bins.push_back({.k = fundamental * mean(k_wave_number),
                             .power = scale * mean(k_power),
                             .corrected = scale * mean(k_corrected),
                             .modes = modes[bin]});
  }
  return spectrum;
}

double shot_noise(double volume, std::int64_t masses, double share) {
  return masses > 0 ? share * share * volume / static_cast<double>(masses) : 0.0;
}

BaseGrid::BaseGrid(const mesh::Mesh& mesh, const CommOptions& options, PatchLevels& levels,
                   FourierSchedule schedule)
    : mesh_(mesh), options_(options), levels_(levels), schedule_(schedule) {}

double BaseGrid::cells() const {
  double cells = 1.0;
  for (const auto blocks : mesh_.geometry().extent(0))
    cells *= static_cast<double>(blocks) * mesh_.geometry().block_size();
  return cells;
}

double BaseGrid::mean(const BlockField& density) {
  return level().sum(level().make_field("density", {.x = density})) / cells();
}

BaseFourierSolver& BaseGrid::fourier() {
  if (!fourier_)
    fourier_ = std::make_unique<BaseFourierSolver>(mesh_.geometry(), mesh_.communicator(), options_,
                                                   schedule_);
  if (!connected_) fourier_->connect(level().patches());
  connected_ = true;
  return *fourier_;
}

ModeFactors& BaseGrid::green(Laplacian laplacian) {
  ModeFactors& green = greens_[laplacian];
  if (green.of) return green;
  const pencil::Cells& cells = fourier().cells();
  if (mesh_.geometry().periodic(0)) {
    green.of = GreenFunction(cells, fourier().cell_size(), laplacian);
  } else {
    green.of = [isolated = std::make_shared<IsolatedGreen>(cells)](const pencil::Mode& mode) {
      return (*isolated)(mode);
    };
  }
  return green;
}

void BaseGrid::solve(Laplacian laplacian, const WaveFactor& factor, const DeviceArray<double>& f,
                     const DeviceArray<double>& phi) {
  if (!factor) return fourier().solve(green(laplacian), f, phi);
  if (!waves_.of)
    waves_.of = [waves = GreenFunction(fourier().cells(), fourier().cell_size(), laplacian)](
                    const pencil::Mode& mode) { return waves.wave_number(mode); };
  fourier().solve(green(laplacian), waves_, factor, f, phi);
}

PowerSpectrum BaseGrid::power_spectrum(const BlockField& density, const BlockField* means) {
  OCTANT_REQUIRE(mesh_.geometry().periodic(0), "gravity: spectra require a periodic domain");
  const auto field = [&](const BlockField& of) { return level().make_field("density", {.x = of}); };
  return measure_power_spectrum(fourier(), mesh_.communicator(), field(density),
                                means ? field(*means) : DeviceArray<double>{});
}

}  // namespace octant::gravity

#include "gravity/base_grid.hpp"

#include "core/error.hpp"
#include "gravity/green_function.hpp"
#include "gravity/isolated_green.hpp"

namespace octant::gravity {

BaseGrid::BaseGrid(const mesh::Mesh& mesh, const CommOptions& options, FieldPool& pool,
                   FourierSchedule schedule)
    : mesh_(mesh), options_(options), pool_(pool), schedule_(schedule) {}

void BaseGrid::connect() {
  level_.reset();
  connected_ = false;
}

PatchLevel& BaseGrid::level() {
  if (!level_) level_ = std::make_unique<PatchLevel>(mesh_.tree(), 0, options_, pool_);
  return *level_;
}

double BaseGrid::cells() const {
  double cells = 1.0;
  for (const auto blocks : mesh_.geometry().extent(0))
    cells *= static_cast<double>(blocks) * mesh_.geometry().block_size();
  return cells;
}

double BaseGrid::mean(const BlockField& density) {
  return level().sum(level().make_field("density", {.x = density})) / cells();
}

BaseFourier& BaseGrid::fourier() {
  if (!fourier_)
    fourier_ =
        std::make_unique<BaseFourier>(mesh_.geometry(), mesh_.communicator(), options_, schedule_);
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
  OCTANT_REQUIRE(mesh_.geometry().periodic(0), "gravity: a spectrum needs a periodic domain");
  const auto field = [&](const BlockField& of) { return level().make_field("density", {.x = of}); };
  return measure_power_spectrum(fourier(), mesh_.communicator(), field(density),
                                means ? field(*means) : DeviceArray<double>{});
}

}  // namespace octant::gravity

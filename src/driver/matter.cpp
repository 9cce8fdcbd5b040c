#include "driver/matter.hpp"

#include <cmath>

#include "hydro/options.hpp"
#include "mesh/cell_loop.hpp"

namespace octant::driver {

using gravity::BlockField;

Matter::Matter(mesh::Mesh& mesh, const AmrOptions& options)
    : mesh_(mesh), has_gas_(options.hydro.enabled), density_(mesh.geometry().max_level() + 1) {
  if (options.problem->has_dark_matter())
    dark_ = std::make_unique<particles::Particles>("dark", mesh, options.comm);
}

BlockField Matter::gas_density(int level) const {
  if (!has_gas_) return {};
  return {mesh_.fields(level).blocks(mesh::LevelFields::k_now) +
              std::int64_t{hydro::k_mass} * mesh_.layout().stride_variable,
          mesh_.layout().stride_slot};
}

BlockField Matter::density(int level) const {
  const std::int64_t N = mesh_.geometry().block_size();
  return dark_ ? BlockField{density_[level].data(), N * N * N} : gas_density(level);
}

void Matter::update_density(int coarsest) {
  if (!dark_) return;
  dark_->deposit(coarsest);
  const std::int64_t N = mesh_.geometry().block_size();
  for (int level = coarsest; level <= mesh_.finest_level(); ++level) {
    const auto doubles = static_cast<std::size_t>(mesh_.blocks(level).slots() * N * N * N);
    if (density_[level].extent(0) != doubles)
      density_[level] = mesh::uninitialised<double>("density", static_cast<std::int64_t>(doubles));
    const BlockField field = density(level);
    if (has_gas_) gravity::copy_blocks(mesh_.cells(level), gas_density(level), field);
    else gravity::clear_blocks(mesh_.cells(level), field);
    dark_->add_density(level, field);
  }
}

std::vector<double> Matter::densest() const {
  std::vector<double> densest(density_.size(), 0.0);
  for (int level = 0; level <= mesh_.finest_level(); ++level) {
    const BlockField field = density(level);
    const double most = mesh::largest(
        "densest cell", mesh_.cells(level),
        KOKKOS_LAMBDA(const mesh::Cell& cell) { return *field.at(cell); });
    densest[level] = std::max(most, 0.0);
  }
  mesh_.communicator().max_in_place(std::span<double>(densest));
  return densest;
}

}  // namespace octant::driver

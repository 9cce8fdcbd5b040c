#include "amr/matter.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.hpp"
#include "hydro/hydro_options.hpp"
#include "mesh/cell_loop.hpp"
#include "mesh/cell_range.hpp"

namespace octant {

using gravity::BlockField;

std::vector<particles::Kind> particle_kinds(const AmrOptions& options) {
  std::vector<particles::Kind> kinds = options.problem->particle_kinds();
  const auto add = [&](const std::vector<particles::Kind>& more) {
    for (const particles::Kind& kind : more) {
      const auto same = [&](const particles::Kind& other) { return other.name == kind.name; };
      if (std::none_of(kinds.begin(), kinds.end(), same)) kinds.push_back(kind);
    }
  };
  for (const auto& process : options.processes) add(process->particle_kinds());
  add(options.further_kinds);
  return particles::in_order(std::move(kinds));
}

Matter::Matter(mesh::Mesh& mesh, const AmrOptions& options)
    : mesh_(mesh), has_gas_(options.hydro.enabled) {
  for (particles::Kind& kind : particle_kinds(options)) {
    if (kind.motion == particles::Motion::flows && !has_gas_)
      throw InputError("{} particles are advected by the gas and require hydro.enabled = true",
                       kind.name);
    particles_attract_ = particles_attract_ || kind.has_mass;
    kinds_.emplace_back(std::move(kind), mesh, options.comm);
  }
  if (!has_gas_ && kinds_.empty())
    throw InputError(
        "hydro.enabled = false, and problem.name = \"{}\" has no particles: expected gas or "
        "particles",
        options.problem_name);
}

const particles::Particles* Matter::kind(const std::string& name) const {
  const auto found =
      std::find_if(kinds_.begin(), kinds_.end(),
                   [&](const particles::Particles& kind) { return kind.name() == name; });
  return found == kinds_.end() ? nullptr : &*found;
}

particles::Particles* Matter::kind(const std::string& name) {
  return const_cast<particles::Particles*>(std::as_const(*this).kind(name));
}

void Matter::adapt_to_mesh() { particles::Particles::adapt_to_mesh(kinds_); }

void Matter::migrate(const std::vector<std::vector<int>>& owners) {
  for (particles::Particles& kind : kinds_) kind.migrate(owners);
}

BlockField Matter::gas_density(int level) const {
  if (!has_gas_) return {};
  return {mesh_.fields(level).blocks(mesh::LevelFields::k_now) +
              std::int64_t{hydro::k_mass} * mesh_.layout().stride_variable,
          mesh_.layout().stride_slot};
}

void Matter::update_density(int coarsest) {
  if (!std::exchange(has_deposit_maxima_, false)) {
    deposit_maxima_ = deposit_reduction_terms();
    if (!deposit_maxima_.empty()) mesh_.communicator().max_in_place(std::span(deposit_maxima_));
  }
  particles::Particles::deposit(kinds_, coarsest, deposit_maxima_);
}

mesh::OptionallyOwnedField Matter::density(int level) const {
  if (!particles_attract_) return gas_density(level);
  const mesh::OptionallyOwnedField density = gas_in_new_field(level);
  for (const particles::Particles& kind : kinds_)
    if (kind.kind().has_mass) kind.add_density(level, density.field);
  return density;
}

mesh::OptionallyOwnedField Matter::density_of_equal_clouds() const {
  if (!particles_attract_) return gas_density(0);
  const mesh::OptionallyOwnedField density = gas_in_new_field(0);
  for (const particles::Particles& kind : kinds_)
    if (kind.kind().has_mass) kind.add_base_clouds(density.field);
  return density;
}

// Returns a field of this rank's blocks that holds the gas density; zeros in runs without gas.
mesh::OptionallyOwnedField Matter::gas_in_new_field(int level) const {
  const std::int64_t N = mesh_.geometry().block_size(), cells = N * N * N;
  const auto memory =
      mesh_.working_memory().allocate("density", mesh_.blocks(level).slots() * cells);
  const BlockField field{memory.data(), cells};
  if (has_gas_) gravity::copy_blocks(mesh_.cells(level), gas_density(level), field);
  else gravity::clear_blocks(mesh_.cells(level), field);
  return {field, memory};
}

void Matter::kick(int level, const particles::VectorField& here,
                  const particles::VectorField& coarser, double dt) {
  const auto falls = [](const particles::Particles& kind) {
    return kind.kind().motion == particles::Motion::falls;
  };
  if (std::ranges::none_of(kinds_, falls)) return;
  const particles::FieldNearby force = kinds_.front().fetch(level, here, coarser, 3);
  for (particles::Particles& kind : kinds_)
    if (falls(kind)) kind.kick(level, force, dt);
  if (!levels_are_separate_ || level == mesh_.finest_level()) return;
  const particles::FieldNearby of_finer = kinds_.front().fetch_coarser(level + 1, here, 3);
  for (particles::Particles& kind : kinds_)
    if (falls(kind)) kind.kick_by_coarser_level(level + 1, of_finer, dt);
}

void Matter::set_separate_levels(bool apart) {
  levels_are_separate_ = apart;
  for (particles::Particles& kind : kinds_) kind.set_separate_levels(apart);
}

void Matter::choose_force_levels(int coarsest) {
  for (particles::Particles& kind : kinds_) kind.choose_force_levels(coarsest);
}

std::vector<particles::Particles::MassSums> Matter::mass_sums(
    const std::function<particles::VectorField(int level)>& field, int coarsest) {
  std::vector<particles::Particles::MassSums> sums;
  if (!particles_attract_) return sums;
  std::vector<particles::FieldNearby> fields(mesh_.finest_level() + 1), coarser_fields = fields;
  for (int level = coarsest; level <= mesh_.finest_level(); ++level) {
    const particles::VectorField coarser = field(std::max(level - 1, 0));
    fields[level] = kinds_.front().fetch(level, field(level), coarser, 1);
    coarser_fields[level] = kinds_.front().fetch_coarser(level, coarser, 1);
  }
  for (const particles::Particles& kind : kinds_)
    if (kind.kind().has_mass) sums.push_back(kind.mass_sums(fields, coarser_fields, coarsest));
  return sums;
}

std::vector<double> Matter::densest() const {
  std::vector<double> densest(mesh_.geometry().max_level() + 1, 0.0);
  for (int level = 0; level <= mesh_.finest_level(); ++level) {
    const mesh::OptionallyOwnedField density = this->density(level);
    const BlockField field = density.field;
    mesh::record_cells("densest cell", mesh_.cells(level), {8.0, 0.0});
    const double most = mesh::largest(
        "densest cell", mesh_.cells(level),
        KOKKOS_LAMBDA(const mesh::Cell& cell) { return *field.at(cell); });
    densest[level] = std::max(most, 0.0);
  }
  return densest;
}

}  // namespace octant

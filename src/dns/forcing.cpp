#include "dns/forcing.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/parameters.hpp"

namespace octant::dns {

void BodyForce::declare(ParameterSchema& schema) {
  schema.add("sources.acceleration", texts_,
             {.unit = "velocity / time",
              .meaning = "Body force per unit mass: three expressions for the components along x, "
                         "y, z, in x, y, z, r and t"});
  schema.add(
      "sources.centre", centre_,
      {.unit = "length", .meaning = "Origin of the radius r in the expressions in [sources]"});
  definitions_.declare(schema, "sources");
}

void BodyForce::prepare(const Grid& grid, double viscosity, const TextReader& read_text) {
  if (!is_wanted()) return;
  if (texts_.size() != k_components)
    throw InputError("sources.acceleration: expected 3 expressions, found {}", texts_.size());
  ExpressionNames names = point_.names();
  names.add_constant("sources", "viscosity", viscosity);
  for (int axis = 0; axis < 3; ++axis)
    names.add_constant("sources", std::string("size_") + "xyz"[axis], grid.size[axis]);
  definitions_.compile(names, read_text);
  for (std::size_t n = 0; n < texts_.size(); ++n)
    force_.emplace_back(fmt::format("sources.acceleration[{}]", n), texts_[n], names);
}

bool BodyForce::uses(const std::string& variable) const {
  return definitions_.uses(variable) ||
         std::ranges::any_of(force_, [&](const Expression& e) { return e.uses(variable); });
}

bool BodyForce::vanishes(int component) const {
  return force_[component].is_constant() && force_[component].value() == 0.0;
}

double BodyForce::at(int component, const Vector& place, double time) const {
  point_.set(place, centre_, time);
  definitions_.evaluate();
  const double value = force_[component].value();
  if (std::isfinite(value)) return value;
  throw RunError("{} is {} at x = {}, y = {}, z = {}, t = {}; expected a finite number",
                 force_[component].description(), value, place[0], place[1], place[2], time);
}

ForceFields::ForceFields(const Domain& domain, const BodyForce& force)
    : domain_(domain), force_(force) {
  for (int c = 0; c < k_components; ++c)
    if (!force.vanishes(c)) values_[c].emplace(domain.box);
}

bool ForceFields::set_time(double time) {
  if (is_filled_ && !force_.changes_with_time()) return false;
  domain_.pencils.communicator().collective_try([&] {
    for (int c = 0; c < k_components; ++c)
      if (values_[c]) fill(c, time);
  });
  return is_filled_ = true;
}

void ForceFields::fill(int c, double time) {
  const Grid& grid = domain_.grid;
  const bool is_uniform = force_.is_uniform_along_x();
  const int cells = domain_.unknowns(c, 0);
  const double half[] = {c == k_u ? 1.0 : 0.5, c == k_v ? 1.0 : 0.5};
  largest_[c] = 0.0;
  for (int k = 0; k < domain_.unknowns(c, 2); ++k)
    for (int j = 0; j < domain_.unknowns(c, 1); ++j) {
      const int at_z = domain_.box[2].begin + k;
      const double y = (domain_.box[1].begin + j + half[1]) * grid.dy;
      const double z = c == k_w ? grid.face[at_z] : grid.centre[at_z];
      double* row = values_[c]->row(k, j);
      for (int i = 0; i < cells; ++i) {
        row[i] = is_uniform && i > 0 ? row[0] : force_.at(c, {(i + half[0]) * grid.dx, y, z}, time);
        largest_[c] = std::max(largest_[c], std::abs(row[i]));
      }
    }
}

void ForceFields::add_force(const Team& team, State& state, int k, const Stage& stage) const {
  const Range own = team.share(domain_.ny);
  for (int c = 0; c < k_components; ++c) {
    if (!values_[c] || k >= domain_.unknowns(c, 2)) continue;
    const int end = std::min(own.end, domain_.unknowns(c, 1));
    for (int j = own.begin; j < end; ++j)
      for_each_cell(domain_.unknowns(c, 0),
                    ForcePush{values_[c]->row(k, j), stage.gamma, state.velocity(c).row(k, j, -1)});
  }
}

}  // namespace octant::dns

#include "subgrid/integrals.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "core/names.hpp"
#include "core/parameters.hpp"
#include "subgrid/cell_expressions.hpp"

namespace octant::subgrid {

struct Integrals::Compiled {
  CellNames cell;
  std::vector<Expression> expressions;
};

Integrals::Integrals() = default;
Integrals::Integrals(Integrals&&) noexcept = default;
Integrals& Integrals::operator=(Integrals&&) noexcept = default;
Integrals::~Integrals() = default;

void Integrals::declare(ParameterSchema& schema) {
  schema.add(
      "output.integrals", definitions_,
      {.meaning = "Volume integrals in history.csv, a table of column names and expressions of x, "
                  "y, z, r, t, density, velocity_x, velocity_y, velocity_z, pressure and scalars"});
}

void Integrals::compile(const mesh::Geometry& geometry, const hydro::Gas& gas,
                        const std::vector<std::string>& scalars) {
  if (definitions_.empty()) return;
  compiled_.reset(new Compiled{{gas, scalars, geometry.lower(), {}}, {}});
  const ExpressionNames names = compiled_->cell.names();
  for (const std::string& definition : definitions_) {
    const auto [name, text] = split_definition("output.integrals", definition);
    require_name("output.integrals", name);
    if (std::ranges::find(names_, name) != names_.end())
      throw InputError("output.integrals: the name \"{}\" is given twice", name);
    names_.push_back(name);
    compiled_->expressions.emplace_back("output.integrals." + name, text, names);
  }
}

void Integrals::add(const GasLevel& level, std::vector<ReproducibleSum>& sums) const {
  if (!compiled_) return;
  compiled_->cell.for_leaf_cells(level, [&](const hydro::GasCell&) {
    for (std::size_t n = 0; n < sums.size(); ++n)
      sums[n] += level.cell_volume * compiled_->expressions[n].value();
  });
}

}  // namespace octant::subgrid

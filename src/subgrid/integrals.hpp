// Integrals of expressions over the gas: columns of history.csv that a user asks for.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "comm/reproducible_sum.hpp"
#include "subgrid/leaf_cells.hpp"

namespace octant {
class ParameterSchema;
}

namespace octant::subgrid {

class CellNames;

// `output.integrals`: a table of expressions by name.
class Integrals {
 public:
  Integrals();
  Integrals(Integrals&&) noexcept;
  Integrals& operator=(Integrals&&) noexcept;
  ~Integrals();

  void declare(ParameterSchema& schema);

  // To be called once before the others. Throws InputError for what is no expression.
  void compile(const mesh::Geometry& geometry, const hydro::Gas& gas,
               const std::vector<std::string>& scalars);

  const std::vector<std::string>& names() const { return names_; }

  // Adds the volume integrals over the leaf cells of a level's own blocks to `sums`, one per name.
  void add(const GasLevel& level, std::vector<ReproducibleSum>& sums) const;

 private:
  std::vector<std::string> definitions_, names_;
  struct Compiled;
  std::unique_ptr<Compiled> compiled_;
};

}  // namespace octant::subgrid

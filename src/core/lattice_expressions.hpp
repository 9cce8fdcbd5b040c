// Expressions of position and time at all points of a lattice.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/expression.hpp"
#include "core/lattice.hpp"

namespace octant {

// Values of expressions at the points of a lattice, at their last evaluation.
class LatticeValues {
 public:
  explicit LatticeValues(Lattice lattice) : lattice_(std::move(lattice)) {}

  // The lattice.
  const Lattice& lattice() const { return lattice_; }
  // Distinct values of an expression on the lattice. The stride is 0 along an axis on which the
  // expression does not depend.
  struct Table {
    std::vector<double> values;
    std::array<std::size_t, 3> stride{};

    // Address of the value at these indices.
    const double* from(const std::array<std::size_t, 3>& index) const {
      return &values[index[0] * stride[0] + index[1] * stride[1] + index[2] * stride[2]];
    }
  };
  const Table& operator[](int expression) const { return tables_[expression]; }

 private:
  friend class LatticeExpressions;
  Lattice lattice_;
  std::vector<Table> tables_;
};

// Expressions of x, y, z, the distance r from a centre, the time t, pi and defined names. Each
// expression, and each part in parentheses, is evaluated once for every combination of the
// variables that it uses: sin(y - t), for example, once per y. Values that do not depend on t are
// kept for later times. The arithmetic is as written. Not thread-safe; must not move.
class LatticeExpressions {
 public:
  LatticeExpressions() = default;
  LatticeExpressions(const LatticeExpressions&) = delete;

  // Names for expressions, to which definitions may be added.
  ExpressionNames& names() { return names_; }
  // Sets the point from which the distance r is measured.
  void set_centre(const std::array<double, 3>& centre) { centre_ = centre; }

  // Function of position.
  using PositionFunction = std::function<double(const std::array<double, 3>& position)>;
  // Adds a function of position as a variable. Throws InputError if the name is in use.
  void add_function(const std::string& parameter, const std::string& name, PositionFunction value);
  // Adds the terms of definitions, which must have been compiled with names() and must not move; no
  // names may be added afterwards.
  void add_terms(const Definitions& definitions);
  // Adds an expression, after the terms, and returns its index. Throws InputError with a caret at
  // the error.
  int add(const std::string& parameter, const std::string& text);

  // Returns the expression with this index.
  const Expression& operator[](int expression) const { return *nodes_[expression].whole; }
  // True if the expression depends on time.
  bool moves(int expression) const { return nodes_[expression].dependence.with_time; }
  // Evaluates all expressions; in later calls for the same values, only those that depend on time.
  void evaluate(LatticeValues& values, double time) const;

 private:
  // Variables on which a value depends.
  struct Dependence {
    std::array<bool, 3> along{};
    bool with_time = false;

    void add(const Dependence& other);
    bool is_proper_subset_of(const Dependence& other) const;
  };
  // Quantity with a value at every point: a function, a term, an expression, or a part of one.
  struct Node {
    std::string name;  // name in later nodes, or empty
    std::function<double()> value;
    double* result;  // address read by later nodes
    Dependence dependence;
    bool uses_distance = false;
    std::vector<int> uses = {};         // indices of the nodes on which this one depends
    const Expression* whole = nullptr;  // for expressions
  };
  Dependence dependence_of(const std::string& text) const;
  void add_node(const std::string& name, const std::string& text, double* result);
  std::string without_parts(const std::string& text, const Dependence& whole);
  std::string add_part(const std::string& text);
  void evaluate(const Node& node, LatticeValues& values, LatticeValues::Table& table) const;

  mutable ExpressionPoint point_;  // values of the names
  ExpressionNames names_ = point_.names(), names_and_parts_;
  std::array<double, 3> centre_{};
  std::deque<Expression> expressions_, remainders_;
  std::deque<double> results_;
  std::vector<Node> nodes_;
  std::map<std::string, int> numbers_;  // indices of the nodes with a name
};

}  // namespace octant

// Expressions of a place and a moment at all points of a lattice.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/definitions.hpp"
#include "core/expression.hpp"
#include "core/lattice.hpp"

namespace octant {

// The values of some expressions at the points of a lattice, as they were found last.
class LatticeValues {
 public:
  explicit LatticeValues(Lattice lattice) : lattice_(std::move(lattice)) {}

  const Lattice& lattice() const { return lattice_; }
  // Of an expression, by its number: as many values as differ. A stride is 0 along an axis that
  // does not matter.
  struct Table {
    std::vector<double> values;
    std::array<std::size_t, 3> stride{};

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

// Expressions that may use x, y, z, the distance r from a centre, the time t, pi and what is
// defined by name. They, and what in them is in parentheses, are asked once for every combination
// of what they use: sin(y - t), say, once per y. What does not use t is kept from one time to the
// next. The arithmetic is the one that is written. Not for several threads at once; must stay where
// it is.
class LatticeExpressions {
 public:
  LatticeExpressions() = default;
  LatticeExpressions(const LatticeExpressions&) = delete;

  // What expressions may use, for definitions to add to.
  ExpressionNames& names() { return names_; }
  void set_centre(const std::array<double, 3>& centre) { centre_ = centre; }

  // A function of the place, by a name that expressions use. Throws InputError if that is taken.
  using PlaceFunction = std::function<double(const std::array<double, 3>& place)>;
  void add_function(const std::string& parameter, const std::string& name, PlaceFunction value);
  // The terms of definitions that were compiled with names(), and stay where they are; no names
  // are added from now on.
  void add_terms(const Definitions& definitions);
  // Then expressions. Returns the number of this one. Throws InputError, with a caret under the
  // fault.
  int add(const std::string& parameter, const std::string& text);

  // An expression as it was given; whether it changes with time.
  const Expression& operator[](int expression) const { return *nodes_[expression].whole; }
  bool moves(int expression) const { return nodes_[expression].change.with_time; }
  // Sets all values. With the same LatticeValues again, those that change with time.
  void evaluate(LatticeValues& values, double time) const;

 private:
  // On what a value depends.
  struct Change {
    std::array<bool, 3> along{};
    bool with_time = false;

    void add(const Change& other);
    bool is_less_than(const Change& other) const;
  };
  // What has a value at every point: a function, a term, an expression, a part of one.
  struct Node {
    std::string name;  // by which later ones use it; or none
    std::function<double()> value;
    double* result;  // where later ones read it
    Change change;
    bool uses_distance = false;
    std::vector<int> uses = {};         // nodes
    const Expression* whole = nullptr;  // of an expression
  };
  Change change_of(const std::string& text) const;
  void add_node(const std::string& name, const std::string& text, double* result);
  std::string without_parts(const std::string& text, const Change& whole);
  std::string add_part(const std::string& text);
  void evaluate(const Node& node, LatticeValues& values, LatticeValues::Table& table) const;

  mutable ExpressionPoint point_;  // what names stand for
  ExpressionNames names_ = point_.names(), names_and_parts_;
  std::array<double, 3> centre_{};
  std::deque<Expression> wholes_, rests_;
  std::deque<double> results_;
  std::vector<Node> nodes_;
  std::map<std::string, int> numbers_;  // of nodes that have a name
};

}  // namespace octant

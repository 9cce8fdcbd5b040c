// What a process has moved since the run began: energy that it added, mass that it took away.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "comm/reproducible_sum.hpp"
#include "core/columns.hpp"

namespace octant::subgrid {

// Named accounts, which a process adds to on every rank. Their totals, the same bits on any number
// of ranks, are columns of history.csv and go with checkpoints.
class Ledger {
 public:
  // `owner` is the name of the process.
  Ledger(std::string owner, const std::vector<std::string>& accounts);

  // This rank's terms since the last settle(). Throws RunError if there is no such account.
  ReproducibleSum& operator[](std::string_view account);

  // Adds the terms of all ranks to the totals. Throws RunError, on all ranks, if one is not finite.
  // Collective.
  void settle(const Communicator& communicator);

  // What the account has come to, as of the last settle(). Throws RunError if there is none such.
  double total(std::string_view account) const { return totals_[place_of(account)].value; }

  struct Total {
    std::string name;
    double value = 0.0;
  };
  const std::string& owner() const { return owner_; }
  const std::vector<Total>& totals() const { return totals_; }

  // The account goes on from this total.
  void restore(std::string_view account, double total);

  // owner_account for every account.
  void add_columns(Columns& columns) const;

 private:
  std::size_t place_of(std::string_view account) const;

  std::string owner_;
  std::vector<Total> totals_;
  std::vector<ReproducibleSum> terms_;  // in the order of totals_
};

}  // namespace octant::subgrid

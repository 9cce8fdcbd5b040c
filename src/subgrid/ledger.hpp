// Cumulative budget of a process since the start of the run: energy added, mass removed.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "comm/joint_sums.hpp"
#include "comm/reproducible_sum.hpp"
#include "core/number_file.hpp"

namespace octant::subgrid {

// Named accounts to which a process adds on every rank. The totals have the same bits on any number
// of ranks, are columns of history.csv and are saved in checkpoints.
class Ledger {
 public:
  // `owner` is the name of the process.
  Ledger(std::string owner, const std::vector<std::string>& accounts);

  // Returns this rank's terms of an account since the last add_terms(). Throws RunError if there is
  // no such account.
  ReproducibleSum& operator[](std::string_view account);

  // Passes the terms of several ledgers to `joint`, whose reduction adds those of all ranks to the
  // totals. It throws RunError, on all ranks, for a total that is not finite. The ledgers must not
  // move before it. Local.
  static void add_terms(std::span<Ledger> ledgers, JointSums& joint);

  // Returns the total after the last reduction. Throws RunError if there is no such account.
  double total(std::string_view account) const { return totals_[index_of(account)].value; }

  // Name of an account, and its total over all ranks.
  struct Total {
    std::string name;
    double value = 0.0;
  };
  // Name of the process.
  const std::string& owner() const { return owner_; }
  // All accounts, in the order of the constructor's argument.
  const std::vector<Total>& totals() const { return totals_; }

  // Sets the total of an account after a restart.
  void restore(std::string_view account, double total);

  // Adds a column owner_account for every account.
  void add_columns(Columns& columns) const;

 private:
  std::size_t index_of(std::string_view account) const;
  void add_to_totals(std::span<const ReproducibleSum> sums);

  std::string owner_;
  std::vector<Total> totals_;
  std::vector<ReproducibleSum> terms_;  // in the order of totals_
};

}  // namespace octant::subgrid

#include "subgrid/ledger.hpp"

#include <algorithm>
#include <cmath>

#include "core/error.hpp"

namespace octant::subgrid {

Ledger::Ledger(std::string owner, const std::vector<std::string>& accounts)
    : owner_(std::move(owner)), terms_(accounts.size()) {
  for (const std::string& account : accounts) totals_.push_back({account});
}

std::size_t Ledger::index_of(std::string_view account) const {
  const auto found = std::find_if(totals_.begin(), totals_.end(),
                                  [&](const Total& total) { return total.name == account; });
  OCTANT_REQUIRE(found != totals_.end(), "the ledger of {} has no account \"{}\"", owner_, account);
  return static_cast<std::size_t>(found - totals_.begin());
}

ReproducibleSum& Ledger::operator[](std::string_view account) { return terms_[index_of(account)]; }

void Ledger::restore(std::string_view account, double total) {
  totals_[index_of(account)].value = total;
}

void Ledger::add_terms(std::span<Ledger> ledgers, JointSums& joint) {
  for (Ledger& ledger : ledgers) {
    joint.add(ledger.terms_, {},
              [&ledger](auto sums, auto /*counts*/) { ledger.add_to_totals(sums); });
    std::fill(ledger.terms_.begin(), ledger.terms_.end(), ReproducibleSum());
  }
}

void Ledger::add_to_totals(std::span<const ReproducibleSum> sums) {
  for (std::size_t n = 0; n < sums.size(); ++n) {
    Total& total = totals_[n];
    total.value += sums[n].to_double();
    if (!std::isfinite(total.value))
      throw RunError(
          "{}: {} is {}; expected a finite number; inspect the gas and particles in the last "
          "checkpoint",
          owner_, total.name, total.value);
  }
}

void Ledger::add_columns(Columns& columns) const {
  for (const Total& total : totals_) columns.add(owner_ + "_" + total.name, total.value);
}

}  // namespace octant::subgrid

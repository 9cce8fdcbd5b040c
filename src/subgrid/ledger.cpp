#include "subgrid/ledger.hpp"

#include <algorithm>
#include <cmath>

#include "core/error.hpp"

namespace octant::subgrid {

Ledger::Ledger(std::string owner, const std::vector<std::string>& accounts)
    : owner_(std::move(owner)), terms_(accounts.size()) {
  for (const std::string& account : accounts) totals_.push_back({account});
}

std::size_t Ledger::place_of(std::string_view account) const {
  const auto found = std::find_if(totals_.begin(), totals_.end(),
                                  [&](const Total& total) { return total.name == account; });
  OCTANT_REQUIRE(found != totals_.end(), "the ledger of {} has no account \"{}\"", owner_, account);
  return static_cast<std::size_t>(found - totals_.begin());
}

ReproducibleSum& Ledger::operator[](std::string_view account) { return terms_[place_of(account)]; }

void Ledger::restore(std::string_view account, double total) {
  totals_[place_of(account)].value = total;
}

void Ledger::sum_over_ranks(std::span<Ledger> ledgers, const Communicator& communicator) {
  std::vector<ReproducibleSum> sums;
  for (const Ledger& ledger : ledgers)
    sums.insert(sums.end(), ledger.terms_.begin(), ledger.terms_.end());
  if (sums.empty()) return;
  reproducible_sum(communicator, std::span(sums));
  std::size_t first = 0;
  for (Ledger& ledger : ledgers) {
    const std::size_t count = ledger.terms_.size();
    ledger.add_to_totals(std::span(sums).subspan(first, count));
    std::fill(ledger.terms_.begin(), ledger.terms_.end(), ReproducibleSum());
    first += count;
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

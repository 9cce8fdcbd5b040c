// Names, each with a number.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace octant::telemetry {

class NameList {
 public:
  // The number of a name, which is added if it is new.
  std::int32_t number(std::string_view name) {
    const auto known = numbers_.find(name);
    if (known != numbers_.end()) return known->second;
    names_.emplace_back(name);
    return numbers_.emplace(name, static_cast<std::int32_t>(names_.size()) - 1).first->second;
  }
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::map<std::string, std::int32_t, std::less<>> numbers_;
  std::vector<std::string> names_;
};

}  // namespace octant::telemetry

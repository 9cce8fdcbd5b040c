// What a TOML file and the overrides give, as a flat list of names (private to core/).
#pragma once

#include <deque>
#include <string>
#include <vector>

#include <toml++/toml.h>

namespace octant {

// One value, and where it was given ("sedov.toml:12", or the --set option).
struct GivenValue {
  std::string name;
  const toml::node* value;
  std::string where;
};

// A section of the file, to find misspelt sections that hold nothing.
struct GivenSection {
  std::string name;
  std::string where;
};

class ParameterInput {
 public:
  using Overrides = std::vector<std::string>;

  // Throws InputError for a missing file, a syntax error or a malformed override.
  static ParameterInput from_file(const std::string& path, const Overrides& overrides);
  static ParameterInput from_text(const std::string& text, const std::string& source,
                                  const Overrides& overrides);

  // In the order of the file, then the overrides; an override replaces the value of the file.
  const std::vector<GivenValue>& values() const { return values_; }
  const std::vector<GivenSection>& sections() const { return sections_; }
  const GivenValue* find(const std::string& name) const;
  const std::string& source() const { return source_; }

 private:
  void collect_file(const std::string& text);
  void add_override(const std::string& assignment);
  std::string place(const toml::source_region& region) const;

  std::string source_;
  std::deque<toml::table> tables_;  // a deque: values_ points into them
  std::vector<GivenValue> values_;
  std::vector<GivenSection> sections_;
};

}  // namespace octant

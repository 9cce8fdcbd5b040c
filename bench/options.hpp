// Options of one benchmark's command line.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace octant::bench {

// Reads the options that `app` declares. False if help was asked for: it has then been printed.
// Throws InputError for anything that is not an option.
bool parse(CLI::App& app, std::vector<std::string> options);

// Declares --json [FILE]: `file` becomes "-" where only the flag is given, and stays empty without.
void add_json_option(CLI::App& app, std::string& file);

// A choice among names, or "all" of them.
struct Choice {
  std::vector<std::string> names;
  std::string chosen;

  std::vector<std::string> selected() const {
    return chosen == "all" ? names : std::vector<std::string>{chosen};
  }
};
void add_choice(CLI::App& app, const std::string& option, Choice& choice,
                const std::string& meaning);

}  // namespace octant::bench

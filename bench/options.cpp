#include "bench/options.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "comm/communicator.hpp"
#include "core/error.hpp"

namespace octant::bench {

bool parse(CLI::App& app, std::vector<std::string> options) {
  std::reverse(options.begin(), options.end());  // as CLI11 takes them
  try {
    app.parse(options);
  } catch (const CLI::CallForHelp&) {
    if (Communicator::world().is_root()) fmt::print("{}", app.help());
    return false;
  } catch (const CLI::ParseError& error) {
    throw InputError("{}: {} (--help lists the options)", app.get_name(), error.what());
  }
  return true;
}

void add_json_option(CLI::App& app, std::string& file) {
  app.add_option("--json", file, "Write an array of JSON objects to FILE, or alone to stdout")
      ->expected(0, 1)
      ->default_str("-")
      ->type_name("[FILE]");
}

void add_choice(CLI::App& app, const std::string& option, Choice& choice,
                const std::string& meaning) {
  std::vector<std::string> allowed = choice.names;
  allowed.emplace_back("all");
  app.add_option(option, choice.chosen, meaning)
      ->capture_default_str()
      ->check(CLI::IsMember(allowed));
}

}  // namespace octant::bench

#include "bench/bench_options.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "comm/communicator.hpp"
#include "core/error.hpp"

namespace octant::bench {

namespace {

template <class Number>
void declare(CLI::App& app, const std::string& option, Number& value, const std::string& meaning,
             const CLI::Validator& range) {
  CLI::Option* declared = app.add_option(option, value, meaning)->check(range);
  if (range(std::to_string(value)).empty()) declared->capture_default_str();
}

}  // namespace

Options::Options(const std::string& command, const std::string& meaning)
    : app_(std::make_unique<CLI::App>(meaning, "octant bench " + command)) {}

Options::~Options() = default;

void Options::count(const std::string& option, int& value, const std::string& meaning) {
  declare(*app_, option, value, meaning, CLI::PositiveNumber);
}

void Options::count(const std::string& option, std::int64_t& value, const std::string& meaning) {
  declare(*app_, option, value, meaning, CLI::PositiveNumber);
}

void Options::counts(const std::string& option, std::vector<int>& values,
                     const std::string& meaning) {
  app_->add_option(option, values, meaning)
      ->delimiter(',')
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
}

void Options::shape(const std::string& option, std::vector<int>& cells, int least) {
  app_->add_option(option, cells, "Cells along x, y and z")
      ->delimiter(',')
      ->expected(3)
      ->capture_default_str()
      ->check(CLI::Range(least, 1 << 20));
}

void Options::number(const std::string& option, int& value, int least, int most,
                     const std::string& meaning) {
  declare(*app_, option, value, meaning, CLI::Range(least, most));
}

void Options::number(const std::string& option, double& value, double least, double most,
                     const std::string& meaning) {
  declare(*app_, option, value, meaning, CLI::Range(least, most));
}

void Options::numbers(const std::string& option, std::vector<double>& values, double least,
                      double most, const std::string& meaning) {
  app_->add_option(option, values, meaning)
      ->delimiter(',')
      ->capture_default_str()
      ->check(CLI::Range(least, most));
}

void Options::text(const std::string& option, std::string& value, const std::string& meaning) {
  app_->add_option(option, value, meaning)->capture_default_str();
}

void Options::file(const std::string& option, std::string& path, const std::string& meaning) {
  app_->add_option(option, path, meaning)->type_name("FILE");
}

void Options::flag(const std::string& option, bool& value, const std::string& meaning) {
  app_->add_flag(option, value, meaning);
}

void Options::choice(const std::string& option, Choice& choice, const std::string& meaning) {
  std::vector<std::string> allowed = choice.names;
  allowed.emplace_back("all");
  one_of(option, choice.chosen, allowed, meaning);
}

void Options::one_of(const std::string& option, std::string& value,
                     const std::vector<std::string>& names, const std::string& meaning) {
  app_->add_option(option, value, meaning)->capture_default_str()->check(CLI::IsMember(names));
}

void Options::json(std::string& path) {
  app_->add_option("--json", path, "Write an array of JSON objects to FILE, or alone to stdout")
      ->expected(0, 1)
      ->default_str("-")
      ->type_name("[FILE]");
}

bool Options::read(std::vector<std::string> words) {
  std::reverse(words.begin(), words.end());  // order expected by CLI11
  try {
    app_->parse(words);
  } catch (const CLI::CallForHelp&) {
    if (Communicator::world().is_root()) fmt::print("{}", app_->help());
    return false;
  } catch (const CLI::ParseError& error) {
    throw InputError("{}: {} (--help lists the options)", app_->get_name(), error.what());
  }
  return true;
}

}  // namespace octant::bench

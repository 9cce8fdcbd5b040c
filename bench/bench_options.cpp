#include "bench/bench_options.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string>
#include <type_traits>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "comm/communicator.hpp"
#include "core/error.hpp"

namespace octant::bench {

namespace {

// Accepts a number from `least` to `most`, which is not named if it is the largest one of the type.
template <class Number>
CLI::Validator between(Number least, Number most) {
  const bool is_bounded = most < std::numeric_limits<Number>::max();
  const std::string range =
      is_bounded ? fmt::format("{} to {}", least, most) : fmt::format("at least {}", least);
  const auto error = [=](const std::string& text) -> std::string {
    Number value{};
    const char* const end = text.data() + text.size();
    const auto [last, failure] = std::from_chars(text.data(), end, value);
    const bool is_number = failure == std::errc() && last == end;
    if (is_number && least <= value && value <= most) return "";  // not for nan
    return fmt::format("\"{}\": expected {}, {}", text,
                       std::is_integral_v<Number> ? "an integer" : "a number", range);
  };
  return {error, range};
}

template <class Number>
CLI::Validator at_least(Number least) {
  return between(least, std::numeric_limits<Number>::max());
}

template <class Number>
void declare(CLI::App& app, const std::string& option, Number& value, const std::string& meaning,
             const CLI::Validator& range) {
  CLI::Option* declared = app.add_option(option, value, meaning)->check(range);
  if (range(fmt::format("{}", value)).empty()) declared->capture_default_str();
}

}  // namespace

Options::Options(const std::string& command, const std::string& meaning)
    : app_(std::make_unique<CLI::App>(meaning, "octant bench " + command)) {}

Options::~Options() = default;

void Options::count(const std::string& option, int& value, const std::string& meaning) {
  declare(*app_, option, value, meaning, at_least(1));
}

void Options::count(const std::string& option, std::int64_t& value, const std::string& meaning) {
  declare(*app_, option, value, meaning, at_least(std::int64_t{1}));
}

void Options::counts(const std::string& option, std::vector<int>& values,
                     const std::string& meaning) {
  app_->add_option(option, values, meaning)
      ->delimiter(',')
      ->capture_default_str()
      ->check(at_least(1));
}

void Options::shape(const std::string& option, std::vector<int>& cells, int least) {
  app_->add_option(option, cells, "Cells along x, y and z")
      ->delimiter(',')
      ->expected(3)
      ->capture_default_str()
      ->check(between(least, 1 << 20));
}

void Options::number(const std::string& option, int& value, int least, int most,
                     const std::string& meaning) {
  declare(*app_, option, value, meaning, between(least, most));
}

void Options::number(const std::string& option, double& value, double least, double most,
                     const std::string& meaning) {
  declare(*app_, option, value, meaning, between(least, most));
}

void Options::numbers(const std::string& option, std::vector<double>& values, double least,
                      double most, const std::string& meaning) {
  app_->add_option(option, values, meaning)
      ->delimiter(',')
      ->capture_default_str()
      ->check(between(least, most));
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

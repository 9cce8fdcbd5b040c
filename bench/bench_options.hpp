// Command line of a benchmark.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace octant::bench {

// One of several names, or "all".
struct Choice {
  std::vector<std::string> names;
  std::string chosen;

  // The selected name, or all names.
  std::vector<std::string> selected() const {
    return chosen == "all" ? names : std::vector<std::string>{chosen};
  }
};

// Options are declared with a variable each, and then read. The initial value of a variable is the
// default, which the help shows if it is in range.
class Options {
 public:
  Options(const std::string& command, const std::string& meaning);
  ~Options();

  // Declares an integer of at least 1.
  void count(const std::string& option, int& value, const std::string& meaning);
  // Declares an integer of at least 1.
  void count(const std::string& option, std::int64_t& value, const std::string& meaning);
  // Declares a list of integers of at least 1.
  void counts(const std::string& option, std::vector<int>& values, const std::string& meaning);
  // Declares numbers of cells along x, y and z, at least `least` each.
  void shape(const std::string& option, std::vector<int>& cells, int least = 1);

  // Declares an integer from `least` to `most`.
  void number(const std::string& option, int& value, int least, int most,
              const std::string& meaning);
  // Declares a number from `least` to `most`.
  void number(const std::string& option, double& value, double least, double most,
              const std::string& meaning);
  // Declares a list of numbers from `least` to `most`, separated by commas.
  void numbers(const std::string& option, std::vector<double>& values, double least, double most,
               const std::string& meaning);
  // Declares a string.
  void text(const std::string& option, std::string& value, const std::string& meaning);
  // Declares the path of a file.
  void file(const std::string& option, std::string& path, const std::string& meaning);
  // Declares an option without value, which sets `value`.
  void flag(const std::string& option, bool& value, const std::string& meaning);
  // Declares an option for one of several names, or "all".
  void choice(const std::string& option, Choice& choice, const std::string& meaning);
  // Declares an option for one of several names.
  void one_of(const std::string& option, std::string& value, const std::vector<std::string>& names,
              const std::string& meaning);
  // Declares --json [FILE]: `path` becomes "-" for the flag without a file, and stays empty without
  // the flag.
  void json(std::string& path);

  // Returns false after printing the help, if it was requested. Throws InputError for undeclared
  // options and values out of range.
  bool read(std::vector<std::string> words);

 private:
  std::unique_ptr<CLI::App> app_;
};

}  // namespace octant::bench

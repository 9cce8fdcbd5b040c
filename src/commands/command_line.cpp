#include "commands/command_line.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <iterator>
#include <new>
#include <optional>
#include <string_view>

#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "comm/communicator.hpp"
#include "comm/runtime.hpp"
#include "core/error.hpp"
#include "core/log.hpp"
#include "core/names.hpp"
#include "core/version.hpp"
#include "run/commands.hpp"
#include "run/memory_need.hpp"
#include "run/run_control.hpp"

namespace octant {

namespace {

struct Arguments {
  std::string file, section, bench_name, format;
  bool verify = false;
  int check_ranks = 0;
  std::string process_grid;
  RunRequest run;
  std::vector<std::string> bench_options;
};

void print_on_root(const std::string& text) {
  if (Communicator::world().is_root()) fmt::print("{}", text);
}

bool is_dns(const RunRequest& request) {
  return model_of(request, Communicator::world()) == ModelKind::dns;
}

// Runs an action that may exhaust the memory; `advice` suggests how to reduce it. Allocation fails
// on one rank alone, which then ends the others.
int within_memory(const char* advice, const std::function<int()>& action) {
  try {
    return action();
  } catch (const std::exception& error) {
    const auto missing = missing_memory(error);
    if (!missing) throw;
    fmt::print(stderr, "rank {}: out of memory{}; use {} (octant check estimates the need)\n",
               Communicator::world().rank(), missing->empty() ? "" : ": " + *missing, advice);
    end_all_ranks(k_failed_run);
  }
}

constexpr const char* k_smaller_amr =
    "more nodes, a lower mesh.max_level, or a smaller mesh.base_cells";
constexpr const char* k_smaller_dns = "more nodes, or a smaller grid.cells";

int run_model(const RunRequest& request) {
  ignore_signals_of_writes();
  require_kernels();
  return is_dns(request) ? within_memory(k_smaller_dns, [&] { return run_dns(request); })
                         : within_memory(k_smaller_amr, [&] { return run_amr(request); });
}

int check_model(const RunRequest& request, int ranks = 0) {
  if (is_dns(request))
    return within_memory(k_smaller_dns, [&] { return check_dns(request, ranks); });
  if (ranks > 0)
    throw InputError(
        "{}: octant check --ranks requires model = \"dns\"; use octant -n {} check FILE on as many "
        "ranks",
        request.file, ranks);
  return within_memory(k_smaller_amr, [&] { return check_amr(request); });
}

int print_plan(const RunRequest& request) {
  if (is_dns(request))
    throw InputError("{}: octant run --plan requires model = \"amr\"", request.file);
  print_on_root(amr_plan(request));
  return k_done;
}

// Parameter tables of both models, or of one section in the models that have it.
std::string manual(const std::string& section) {
  const auto amr = amr_sections(), dns = dns_sections();
  const auto has = [&](const std::vector<std::string>& sections) {
    return section.empty() || std::ranges::find(sections, section) != sections.end();
  };
  if (!has(amr) && !has(dns)) {
    std::vector<std::string> all = amr;
    std::ranges::copy_if(dns, std::back_inserter(all), [&](const std::string& name) {
      return std::ranges::find(amr, name) == amr.end();
    });
    std::erase(all, "");
    const std::string help = suggestion(section, all, "did you mean ");
    throw InputError("unknown parameter section [{}]; {}{}expected one of {}", section, help,
                     help.empty() ? "" : "; ", fmt::join(all, ", "));
  }
  std::string of_amr = has(amr) ? amr_manual(section) : "";
  const std::string of_dns = has(dns) ? dns_manual(section) : "";
  if (of_amr.empty() || of_dns.empty()) return of_amr + of_dns;
  if (of_amr == of_dns) return of_amr;
  return fmt::format("# model = \"amr\"\n\n{}\n# model = \"dns\"\n\n{}", of_amr, of_dns);
}

std::string describe(const std::string& path) {
  const Communicator world = Communicator::world();
  const Hdf5Reader file(world, path);
  const bool dns = file.exists("/header") && file.has_attribute("/header", "model") &&
                   file.attribute<std::string>("/header", "model") == name_of(ModelKind::dns);
  return dns ? describe_dns_snapshot(file) : describe_snapshot(world, path);
}

// Verifies a file against its checksums and reports damaged parts.
ExitCode verify(const std::string& path) {
  constexpr std::size_t k_max_lines = 100;
  const FileCheck check = check_file(Communicator::world(), path);
  if (!check.has_checksums)
    throw InputError(
        "'{}' has no checksums and cannot be verified: it was written by an older version of "
        "Octant or by another program",
        path);
  if (check.is_whole) {
    print_on_root(
        fmt::format("{}: the checksums of all {} batches of rows and of the metadata match\n", path,
                    check.batches));
    return k_done;
  }
  std::string text = fmt::format("{} is corrupt:\n", path);
  for (std::size_t n = 0; n < std::min(check.damaged.size(), k_max_lines); ++n)
    text += fmt::format("  {}\n", check.damaged[n]);
  if (check.damaged.size() > k_max_lines)
    text += fmt::format("  and {} more\n", check.damaged.size() - k_max_lines);
  print_on_root(text);
  return k_failed_run;
}

std::string version() {
  return fmt::format("Octant {} ({})\nbuilt with {}\nfor {}", k_version, k_git_revision, k_tools,
                     k_processor);
}

// Returns an error message for an empty option value, which scripts may pass; otherwise empty.
std::string complaint_if_empty(const std::string& value) {
  return value.empty() ? "the name is missing" : "";
}

// Returns an error message unless an option value is a positive integer; otherwise empty.
std::string complaint_unless_positive(const std::string& value) {
  int number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error == std::errc::result_out_of_range) return fmt::format("{} is too large", value);
  const bool is_number = error == std::errc() && end == value.data() + value.size();
  if (is_number && number > 0) return "";
  return fmt::format("\"{}\": expected a positive integer", value);
}

// Takes one value per option: following words, such as the file, are not values.
void add_overrides(CLI::App& command, Arguments& arguments, const std::string& meaning) {
  command.add_option("--set", arguments.run.overrides, meaning)->allow_extra_args(false);
}

// Declares the commands; the selected one stores its function in `action`.
void declare_commands(CLI::App& app, Arguments& arguments, const BenchRunner& bench,
                      std::function<int()>& action) {
  app.require_subcommand(1);
  app.set_version_flag("--version", version);

  auto* run = app.add_subcommand("run", "Run a simulation");
  run->add_option("file", arguments.run.file, "Parameter file")->required();
  add_overrides(*run, arguments, "Override of a parameter: section.key=value");
  run->add_option("--output", arguments.run.output, "Output directory")->check(complaint_if_empty);
  run->add_option("--restart", arguments.run.restart,
                  "Restart point: latest, a checkpoint, or a RAMSES directory output_NNNNN")
      ->check(complaint_if_empty);
  run->add_flag("--overwrite", arguments.run.overwrite,
                "Move an existing run in the output directory to DIRECTORY.old-N");
  run->add_flag("--dry-run", arguments.run.dry_run,
                "Check the input and estimate memory and cost, without running");
  run->add_flag("--plan", arguments.run.plan,
                "Print the tasks of a coarse step in their order, without running");
  run->callback([&] {
    action = [&] {
      if (arguments.run.plan) return print_plan(arguments.run);
      return arguments.run.dry_run ? check_model(arguments.run) : run_model(arguments.run);
    };
  });

  auto* check_command =
      app.add_subcommand("check", "Check a parameter file; estimate memory and cost");
  check_command->add_option("file", arguments.run.file, "Parameter file")->required();
  add_overrides(*check_command, arguments, "section.key=value");
  check_command->add_flag("--all", arguments.run.all,
                          "Also print the resolved parameters and the details of the estimate");
  auto* ranks = check_command->add_option("--ranks", arguments.check_ranks,
                                          "Number of ranks of the estimate, for model = \"dns\"");
  ranks->check(complaint_unless_positive);
  check_command
      ->add_option("--process-grid", arguments.process_grid,
                   "Numbers of ranks along y and z of the estimate, such as 2x4")
      ->needs(ranks)
      ->check(complaint_if_empty);
  check_command->callback([&] {
    if (!arguments.process_grid.empty())
      arguments.run.overrides.push_back("grid.process_grid='" + arguments.process_grid + "'");
    action = [&] { return check_model(arguments.run, arguments.check_ranks); };
  });

  auto* params = app.add_subcommand("params", "Print tables of all parameters");
  params->add_option("section", arguments.section, "Section of the parameter file (default: all)");
  params->callback([&] {
    action = [&] {
      print_on_root(manual(arguments.section));
      return k_done;
    };
  });

  auto* info = app.add_subcommand("info", "Print the contents of a snapshot or checkpoint");
  info->add_option("file", arguments.file, "Snapshot or checkpoint")->required();
  info->add_flag("--verify", arguments.verify, "Verify all data against the checksums");
  info->callback([&] {
    action = [&]() -> int {
      if (arguments.verify) return verify(arguments.file);
      print_on_root(describe(arguments.file));
      return k_done;
    };
  });

  auto* convert =
      app.add_subcommand("convert", "Convert a snapshot or checkpoint to another format");
  convert->add_option("file", arguments.file, "Snapshot or checkpoint")->required();
  convert->add_option("--to", arguments.format, "Target format, one of output.formats")->required();
  add_overrides(*convert, arguments,
                "Parameter of the format: section.key=value, such as ramses.domains=8");
  convert->add_option("--output", arguments.run.output,
                      "Output directory (default: directory of the file)");
  convert->callback([&] {
    action = [&] {
      require_kernels();
      const std::string folder =
          arguments.run.output.empty()
              ? std::filesystem::absolute(arguments.file).parent_path().string()
              : arguments.run.output;
      const std::string path = convert_snapshot(Communicator::world(), arguments.file,
                                                arguments.format, folder, arguments.run.overrides);
      print_on_root(fmt::format("wrote {}\n", path));
      return k_done;
    };
  });

  auto* bench_command =
      app.add_subcommand("bench", "Run a benchmark (-h lists them; NAME -h lists its options)");
  bench_command->add_option("name", arguments.bench_name, "Name of the benchmark");
  bench_command->set_help_flag();  // each benchmark has its own
  bench_command->prefix_command();
  bench_command->callback([&, bench_command] {
    arguments.bench_options = bench_command->remaining();
    action = [&] { return bench(arguments.bench_name, arguments.bench_options); };
  });
}

// Returns a hint for a command of other programs; otherwise empty.
std::string hint_for_command(std::string_view command) {
  constexpr std::array k_restarts{"restart", "resume", "continue"};
  if (std::ranges::find(k_restarts, command) == k_restarts.end()) return "";
  return fmt::format(
      "there is no command {}; to continue a run from a checkpoint, use octant run FILE.toml "
      "--restart latest (or the path of a checkpoint)",
      command);
}

// Reports an error. If all ranks have it, the root prints it and all return the code; otherwise the
// rank prints it and ends the others, which would wait forever.
int fail(const char* message, int code) {
  const Communicator world = Communicator::world();
  if (all_ranks_agree_to_end()) {
    if (world.is_root()) log::error("{}", message);
    return code;
  }
  fmt::print(stderr, "rank {}: {}\n", world.rank(), printable(message, true));
  end_all_ranks(code);
}

}  // namespace

int command_line(int argc, char** argv, const BenchRunner& bench) {
  const Communicator world = Communicator::world();
  log::start(world.rank());
  CLI::App app("Octant: adaptive gas dynamics and wall turbulence", "octant");
  Arguments arguments;
  std::function<int()> action;
  declare_commands(app, arguments, bench, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (const std::string hint = hint_for_command(argc > 1 ? argv[1] : ""); !hint.empty()) {
      if (world.is_root()) log::error("{}", hint);
      return k_bad_input;
    }
    const int code = world.is_root() ? app.exit(error) : error.get_exit_code();
    return code == 0 ? k_done : k_bad_input;
  }
  try {
    return action();
  } catch (const InputError& error) {
    return fail(error.what(), k_bad_input);
  } catch (const RunError& error) {
    return fail(error.what(), k_failed_run);
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "rank {}: out of memory\n", world.rank());
    end_all_ranks(k_failed_run);
  } catch (const std::exception& error) {
    // Other errors may occur on this rank alone.
    fmt::print(stderr, "rank {}: {}\n", world.rank(), printable(error.what(), true));
    end_all_ranks(k_failed_run);
  }
}

}  // namespace octant

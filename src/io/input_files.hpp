// Input files that are small and define a run: the parameter file, and text files that parameters
// name. Only the root opens them, so that no file is opened by all ranks of a large run.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "comm/communicator.hpp"
#include "core/number_file.hpp"

namespace octant {

// Reads a text file on the root; nothing if the root cannot read the file. Collective.
std::optional<std::string> read_on_root(const Communicator& communicator, const std::string& path);

// Returns read_on_root() as a TextReader, whose calls are collective.
TextReader reader_on_root(const Communicator& communicator);

// Files that a rank has read, or received from the root. Parameters are read by code that every
// rank executes without communication, and that requests files by name: see share().
class InputFiles {
 public:
  // Returns the text of a parameter file. Throws InputError as read_parameter_file() does.
  std::string parameter_file(const std::string& path);
  // Returns the text of a file; nothing if the file cannot be read.
  std::optional<std::string> text(const std::string& path);
  // Returns the checksum_and_length() of a file; nothing if the path is not that of a regular file.
  std::optional<std::string> checksum(const std::string& path);

  // Returns what `derive` makes of a file, with a communicator of this rank alone.
  std::string derived(const std::string& path,
                      const std::function<std::string(const Communicator& alone)>& derive);

  // Returns text() of this object, which must outlive the function.
  TextReader reader();

  // Runs `read`, which reads files through this object: first on the root, which opens the files,
  // then on all other ranks with the files of the root. The others must request no further files,
  // also later. If `read` throws on any rank, every rank throws its error. Collective.
  void share(const Communicator& communicator, const std::function<void()>& read);
  // Frees the memory of all files.
  void clear() { known_.clear(); }

 private:
  enum class Kind { parameters, text, checksum, derived };
  using Content = std::optional<std::string>;
  Content find(Kind kind, const std::string& path, const std::function<Content()>& read);

  bool may_read_ = true;               // false on ranks that receive files
  std::optional<Communicator> alone_;  // of this rank; set by share()
  std::map<std::pair<Kind, std::string>, Content> known_;
};

}  // namespace octant

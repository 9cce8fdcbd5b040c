#include "io/input_files.hpp"

#include <cstdint>
#include <filesystem>
#include <system_error>
#include <tuple>
#include <utility>

#include "core/error.hpp"
#include "core/parameters.hpp"
#include "io/files.hpp"

namespace octant {

namespace {

// Copies a text of the root, or its absence, to all ranks. Collective.
void broadcast(const Communicator& communicator, std::optional<std::string>& text) {
  std::int32_t is_there = text ? 1 : 0;
  communicator.broadcast(is_there);
  if (is_there == 0) return text.reset();
  if (!text) text.emplace();
  communicator.broadcast(*text);
}

}  // namespace

std::optional<std::string> read_on_root(const Communicator& communicator, const std::string& path) {
  std::optional<std::string> text;
  communicator.collective_try([&] {
    if (communicator.is_root()) text = read_text_file(path);
  });
  broadcast(communicator, text);
  return text;
}

TextReader reader_on_root(const Communicator& communicator) {
  return [communicator](const std::string& path) { return read_on_root(communicator, path); };
}

InputFiles::Content InputFiles::find(Kind kind, const std::string& path,
                                     const std::function<Content()>& read) {
  const std::pair key{kind, path};
  const auto known = known_.find(key);
  if (known != known_.end()) return known->second;
  OCTANT_REQUIRE(may_read_, "{}: this rank requires a file that the root has not read", path);
  return known_[key] = read();
}

std::string InputFiles::parameter_file(const std::string& path) {
  // A script in Python writes a file for each rank, and each rank reads its own.
  if (!may_read_ && !known_.contains({Kind::parameters, path})) return read_parameter_file(path);
  return *find(Kind::parameters, path, [&] { return read_parameter_file(path); });
}

std::optional<std::string> InputFiles::text(const std::string& path) {
  return find(Kind::text, path, [&] { return read_text_file(path); });
}

std::optional<std::string> InputFiles::checksum(const std::string& path) {
  return find(Kind::checksum, path, [&]() -> Content {
    std::error_code unknown;
    if (!std::filesystem::is_regular_file(path, unknown)) return std::nullopt;
    return checksum_and_length(path);
  });
}

std::string InputFiles::derived(
    const std::string& path, const std::function<std::string(const Communicator& alone)>& derive) {
  return *find(Kind::derived, path,
               [&] { return derive(alone_ ? *alone_ : Communicator::world()); });
}

TextReader InputFiles::reader() {
  return [this](const std::string& path) { return text(path); };
}

void InputFiles::share(const Communicator& communicator, const std::function<void()>& read) {
  const bool is_root = communicator.is_root();
  if (!alone_) alone_ = communicator.split(communicator.rank());
  communicator.collective_try([&] {
    if (is_root) read();
  });
  auto count = static_cast<std::uint64_t>(known_.size());
  communicator.broadcast(count);
  auto next = known_.begin();
  for (std::uint64_t n = 0; n < count; ++n) {
    std::pair<Kind, std::string> key;
    Content content;
    if (is_root) std::tie(key, content) = *next++;
    communicator.broadcast(key.first);
    communicator.broadcast(key.second);
    broadcast(communicator, content);
    if (!is_root) known_.insert_or_assign(std::move(key), std::move(content));
  }
  may_read_ = is_root;
  communicator.collective_try([&] {
    if (!is_root) read();
  });
}

}  // namespace octant

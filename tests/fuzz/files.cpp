// Files that a text describes: see write_files().
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <sstream>
#include <vector>

#include <hdf5.h>
#include <unistd.h>

#include "fuzz.hpp"
#include "io/checksums.hpp"

namespace octant::fuzz {

namespace {

namespace fs = std::filesystem;

constexpr long long k_most_elements = 1 << 14;  // of a record, or of a contiguous dataset

using Words = std::vector<std::string>;

Words words_of(const std::string& line) {
  std::istringstream stream(line);
  Words words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

template <class T>
void append(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

double real_of(const std::string& word) { return std::strtod(word.c_str(), nullptr); }

void append_number(std::string& bytes, char type, const std::string& word) {
  switch (type) {
    case 'c': return append(bytes, static_cast<std::int8_t>(integer_of(word)));
    case 'i': return append(bytes, static_cast<std::int32_t>(integer_of(word)));
    case 'q': return append(bytes, static_cast<std::int64_t>(integer_of(word)));
    case 'u': return append(bytes, static_cast<std::uint64_t>(integer_of(word)));
    case 'f': {
      const double value = real_of(word);
      return append(bytes, std::abs(value) < 3e38 ? static_cast<float>(value) : HUGE_VALF);
    }
    default: return append(bytes, real_of(word));
  }
}

// --- Fortran records -----------------------------------------------------------------------------

std::string record_of(const std::string& line) {
  if (line.starts_with("t ")) {
    std::string text = line.substr(2), record;
    append(record, static_cast<std::int32_t>(text.size()));
    record += text;
    append(record, static_cast<std::int32_t>(text.size()));
    return record;
  }
  std::string content;
  char type = 'i';
  const Words words = words_of(line);
  std::string last = "0";
  long long marker = -1;
  for (std::size_t n = 0; n < words.size(); ++n) {
    const bool has_value = n + 1 < words.size();
    if (words[n].size() == 1 && std::strchr("ciqufd", words[n][0]) != nullptr) type = words[n][0];
    else if (words[n] == "n" && has_value) {
      const long long count = std::clamp(integer_of(words[++n]), 0LL, k_most_elements);
      for (long long k = 1; k < count; ++k) append_number(content, type, last);
    } else if (words[n] == "m" && has_value) marker = integer_of(words[++n]);
    else append_number(content, type, last = words[n]);
  }
  const auto length = static_cast<std::int32_t>(content.size());
  std::string record;
  append(record, marker == -1 ? length : static_cast<std::int32_t>(marker));
  record += content;
  append(record, length);
  return record;
}

// --- HDF5 ----------------------------------------------------------------------------------------

struct Typed {
  char letter = 'd';
  bool is_scalar = true;
  std::vector<hsize_t> extents;

  explicit Typed(const std::string& word) {
    if (!word.empty()) letter = word[0];
    const auto open = word.find('[');
    if (open == std::string::npos) return;
    is_scalar = false;
    std::istringstream list(word.substr(open + 1));
    for (std::string part; std::getline(list, part, ',') && extents.size() < 8;)
      extents.push_back(static_cast<hsize_t>(std::max(0LL, integer_of(part))));
  }
  // Number of elements, at most slightly above k_most_elements.
  long long count() const {
    unsigned long long elements = 1;
    for (const hsize_t extent : extents)
      elements = std::min<unsigned long long>(elements, k_most_elements + 1) *
                 std::min<unsigned long long>(extent, k_most_elements + 1);
    return static_cast<long long>(std::min<unsigned long long>(elements, k_most_elements + 1));
  }
  hid_t space() const {
    if (is_scalar) return H5Screate(H5S_SCALAR);
    if (extents.empty()) return H5Screate(H5S_NULL);
    return H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr);
  }
  hid_t type(std::size_t text_bytes) const {
    const hid_t type = H5Tcopy(letter == 'i'                    ? H5T_STD_I32LE
                               : letter == 'q'                  ? H5T_STD_I64LE
                               : letter == 'u'                  ? H5T_STD_U64LE
                               : letter == 'c'                  ? H5T_STD_U8LE
                               : letter == 'f'                  ? H5T_IEEE_F32LE
                               : letter == 's' || letter == 't' ? H5T_C_S1
                                                                : H5T_IEEE_F64LE);
    if (letter == 's') H5Tset_size(type, H5T_VARIABLE);
    if (letter == 't') H5Tset_size(type, std::max<std::size_t>(text_bytes, 1));
    return type;
  }
};

// Text after the first `count` words of a line, with line breaks for "\n".
std::string rest_of(const std::string& line, int count) {
  std::size_t at = 0;
  for (; count > 0 && at != std::string::npos; --count) at = line.find(' ', at ? at + 1 : 0);
  std::string rest = at == std::string::npos ? "" : line.substr(at + 1);
  for (auto n = rest.find("\\n"); n != std::string::npos; n = rest.find("\\n"))
    rest.replace(n, 2, "\n");
  return rest;
}

class Hdf5Text {
 public:
  explicit Hdf5Text(const std::string& path)
      : file_(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT)),
        links_(H5Pcreate(H5P_LINK_CREATE)) {
    H5Pset_create_intermediate_group(links_, 1);
  }
  ~Hdf5Text() {
    H5Pclose(links_);
    H5Fclose(file_);
  }
  Hdf5Text(const Hdf5Text&) = delete;
  Hdf5Text& operator=(const Hdf5Text&) = delete;

  void add(const std::string& line) {
    const Words words = words_of(line);
    if (words.size() < 2) return;
    if (words[0] == "group") close(H5Gcreate2(file_, words[1].c_str(), links_, 0, 0), H5Gclose);
    if (words.size() < 3) return;
    if (words[0] == "link") H5Lcreate_soft(words[2].c_str(), file_, words[1].c_str(), links_, 0);
    if (words[0] == "data") add_data(words[1], Typed(words[2]), {words.begin() + 3, words.end()});
    if (words[0] == "attr" && words.size() > 3)
      add_attribute(words[1], words[2], Typed(words[3]), line, {words.begin() + 4, words.end()});
  }

 private:
  static void close(hid_t id, herr_t (*function)(hid_t)) {
    if (id >= 0) function(id);
  }

  static std::string values(const Typed& typed, const Words& words) {
    std::string bytes;
    for (long long n = 0; n < typed.count() && n <= k_most_elements; ++n)
      append_number(bytes, typed.letter, words.empty() ? "0" : words[n % words.size()]);
    return bytes;
  }

  void add_data(const std::string& path, const Typed& typed, const Words& words) {
    const bool is_large = typed.count() > k_most_elements;
    const hid_t type = typed.type(8), space = typed.space();
    const hid_t layout = H5Pcreate(H5P_DATASET_CREATE);
    if (is_large) {
      std::vector<hsize_t> chunk(typed.extents.size(), 1);
      for (std::size_t n = 0; n < chunk.size(); ++n)
        chunk[n] = std::clamp<hsize_t>(typed.extents[n], 1, 4);
      H5Pset_chunk(layout, static_cast<int>(chunk.size()), chunk.data());
    }
    const hid_t data = H5Dcreate2(file_, path.c_str(), type, space, links_, layout, 0);
    const bool is_number = typed.letter != 's' && typed.letter != 't';
    if (data >= 0 && is_number && !is_large && H5Sget_simple_extent_npoints(space) > 0)
      H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values(typed, words).data());
    close(data, H5Dclose);
    close(layout, H5Pclose);
    close(space, H5Sclose);
    close(type, H5Tclose);
  }

  void add_attribute(const std::string& object, const std::string& name, const Typed& typed,
                     const std::string& line, const Words& words) {
    if (typed.count() > k_most_elements) return;
    const std::string text = rest_of(line, 4);
    const hid_t type = typed.type(text.size()), space = typed.space();
    const hid_t owner = H5Oopen(file_, object.c_str(), H5P_DEFAULT);
    const hid_t attribute =
        owner < 0 ? -1 : H5Acreate2(owner, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT);
    if (attribute >= 0) {
      const std::vector<const char*> texts(static_cast<std::size_t>(typed.count()), text.c_str());
      if (typed.letter == 's') H5Awrite(attribute, type, texts.data());
      else if (typed.letter != 't') H5Awrite(attribute, type, values(typed, words).data());
      else if (typed.is_scalar && !text.empty()) H5Awrite(attribute, type, text.data());
    }
    close(attribute, H5Aclose);
    close(owner, H5Oclose);
    close(space, H5Sclose);
    close(type, H5Tclose);
  }

  hid_t file_, links_;
};

// Returns the checksums of Octant for the lines "sum OFFSET ROWS ROW_BYTES PATH", or nothing.
std::string checksums_of(const Words& lines) {
  std::string table, sums, footer = "OctSums1";
  for (const std::string& line : lines)
    if (line.starts_with("sum ")) table += line.substr(4) + "\n";
  if (table.empty()) return "";
  sums.assign(4 * static_cast<std::size_t>(std::count(table.begin(), table.end(), '\n')), '\0');
  const auto crc_of = [](const std::string& text) {
    return crc32c(std::as_bytes(std::span(text)));
  };
  append(footer, static_cast<std::int64_t>(sums.size() / 4));
  append(footer, static_cast<std::int64_t>(table.size()));
  append(footer, std::uint32_t{0});
  append(footer, crc_of(table));
  append(footer, std::uint32_t{0});
  append(footer, crc_of(footer));
  return sums + table + footer;
}

// Overwrites bytes by the lines "patch OFFSET VALUE", and appends checksums.
void change_bytes(const std::string& path, const Words& lines) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary | std::ios::ate);
  const long long size = std::max<long long>(1, file.tellp());
  for (const std::string& line : lines) {
    const Words words = words_of(line);
    if (words.size() < 3 || words[0] != "patch") continue;
    std::string bytes;
    append(bytes, integer_of(words[2]));
    const auto used = std::max(bytes.find_last_not_of(bytes[7]) + 1, std::size_t{1});
    file.seekp(std::abs(integer_of(words[1]) % size));
    file.write(bytes.data(), static_cast<long>(used));
  }
  file.seekp(0, std::ios::end);
  file << checksums_of(lines);
}

// Writes one file of write_files().
void write_described(const std::string& kind, const std::string& name, const Words& lines) {
  if (kind == "%hdf5") {
    const std::string path = write_file(name, "");
    {
      Hdf5Text file(path);
      for (const std::string& line : lines) file.add(line);
    }
    return change_bytes(path, lines);
  }
  std::string content;
  for (const std::string& line : lines)
    content += kind == "%records" ? record_of(line) : line + "\n";
  write_file(name, content);
}

}  // namespace

long long integer_of(std::string_view word, long long fallback) {
  const std::string text(word);
  char* end = nullptr;
  const long long value = text.find_first_of(".eE") == std::string::npos
                              ? std::strtoll(text.c_str(), &end, 0)
                              : fallback;
  return end == text.c_str() ? fallback : value;
}

const std::string& folder() {
  static const std::string path = [] {
    const std::string name = "/dev/shm/octant-fuzz-" + std::to_string(::getpid());
    fs::create_directories(name);
    return name;
  }();
  return path;
}

void clear_folder() { fs::remove_all(folder()); }

std::string write_file(const std::string& name, std::string_view bytes) {
  std::string safe = name;  // no other folder
  for (auto n = safe.find(".."); n != std::string::npos; n = safe.find("..")) safe[n] = '_';
  const std::string path = folder() + "/" + safe;
  std::error_code ignored;
  fs::create_directories(fs::path(path).parent_path(), ignored);
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<long>(bytes.size()));
  return path;
}

void write_files(std::string_view text) {
  clear_folder();
  std::istringstream lines{std::string(text)};
  std::string kind, name;
  Words content;
  const auto finish = [&] {
    if (!name.empty()) write_described(kind, name, content);
    content.clear();
  };
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with('%')) {
      content.push_back(line);
      continue;
    }
    const Words words = words_of(line);
    if (words[0] == "%long" && words.size() == 3) {
      const long long length = std::clamp(integer_of(words[1]), 0LL, 1LL << 18);
      content.emplace_back(static_cast<std::size_t>(length), words[2][0]);
      continue;
    }
    finish();
    kind = words[0];
    name = words.size() > 1 ? words[1] : "";
    std::erase(name, '\0');
  }
  finish();
}

}  // namespace octant::fuzz

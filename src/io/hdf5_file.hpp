// Parallel HDF5 files.
//
// The root creates groups, attributes and contiguous datasets through serial HDF5, which keeps its
// tables in memory, and every rank writes its rows with system calls. Parallel HDF5 is not used,
// because on a full disk it loses data silently, hangs in its flush, or crashes at the end of the
// program: the failure appears on one rank only, within a collective operation. Here every failure
// is that of a system call, and the ranks agree on it after each operation. Compression is HDF5's
// own, in chunks that every HDF5 reader supports (packed_rows.hpp).
//
// Every file has checksums of its datasets, in batches of rows, and of the rest (checksums.hpp),
// which are verified for all data read. Files of other programs without checksums can be read, too.
//
// All functions of both classes are collective unless stated otherwise. Paths within a file are
// absolute: "/mesh/level_0/key".
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "comm/communicator.hpp"
#include "core/error.hpp"
#include "io/row_range.hpp"

namespace octant {

// Types of the elements of datasets.
enum class ElementType { float64, float32, int32, int64, uint64, uint8 };

// Element type for values of type T.
template <class T>
constexpr ElementType element_type() {
  if constexpr (std::same_as<T, double>) return ElementType::float64;
  if constexpr (std::same_as<T, float>) return ElementType::float32;
  if constexpr (std::same_as<T, std::int32_t>) return ElementType::int32;
  if constexpr (std::same_as<T, std::int64_t>) return ElementType::int64;
  if constexpr (std::same_as<T, std::uint64_t>) return ElementType::uint64;
  if constexpr (std::same_as<T, std::uint8_t>) return ElementType::uint8;
}

template <class T>
concept Element = requires {
  requires std::same_as<decltype(element_type<T>()), ElementType>;
};

// Value of an attribute. Texts are UTF-8.
using AttributeValue =
    std::variant<std::string, std::int64_t, double, std::vector<std::int64_t>, std::vector<double>>;

// Description of a dataset: both texts are attributes of every dataset, and neither may be empty.
// Dimensionless quantities have the unit "1".
struct DatasetMeaning {
  std::string units;
  std::string description;
};

// Compression of large datasets (64 KiB): none, or HDF5's filters shuffle, deflate and fletcher32.
enum class Compression { none, deflate };
// Names of the compressions in output.compression.
constexpr auto names_of(Compression) { return std::array{"none", "deflate"}; }

// Position of the rows of a dataset during writing.
struct Hdf5Rows {
  std::string path;
  ElementType type;
  std::int64_t total = 0, row_bytes = 0;
  bool is_packed = false;  // true if the dataset is compressed
  // Position of the first row in bytes: in the HDF5 file or, if is_packed, in the temporary file of
  // PackedRows.
  std::int64_t offset = 0;
  int number = 0;  // number of the dataset among the file's checksums; not used if is_packed
};

// Writer of a new file, which is renamed by commit() and absent before (WholeFile).
//
// An error on any rank (disk full, no permission, duplicate name, inconsistent rows) becomes a
// RunError on all ranks, thrown by the next function that creates a dataset or by commit(), so that
// attributes and rows require no reduction. After that the file can only be destroyed.
class Hdf5Writer {
 public:
  Hdf5Writer(const Communicator& communicator, const std::string& path,
             Compression compression = Compression::none);
  ~Hdf5Writer();
  Hdf5Writer(const Hdf5Writer&) = delete;
  Hdf5Writer& operator=(const Hdf5Writer&) = delete;

  // Creates a group and its parents. Datasets create their groups.
  void group(const std::string& path);

  // Adds an attribute to an existing group or dataset. The root's value is written.
  void attribute(const std::string& object, const std::string& name, const AttributeValue& value);
  // Adds a text of fixed length in ASCII, of the shape (1), for readers in Fortran.
  void fixed_text(const std::string& object, const std::string& name, const std::string& text);

  // Creates the dataset [rows of all ranks][row_shape...] and writes this rank's rows to it. The
  // ranges of all ranks together cover rows 0 .. total - 1 once; a range may be empty. `data` holds
  // range.count rows of product(row_shape) elements.
  template <Element T>
  void dataset(const std::string& path, RowRange range, const std::vector<std::int64_t>& row_shape,
               std::span<const T> data, const DatasetMeaning& meaning) {
    const Hdf5Rows rows =
        create(path, covered_rows(path, range), row_shape, element_type<T>(), meaning);
    write(rows, range, element_type<T>(), std::as_bytes(data));
  }

  // Creates the dataset [total][row_shape...] of elements T, to be filled by write_rows: for
  // datasets too large for memory.
  template <Element T>
  Hdf5Rows create_dataset(const std::string& path, std::int64_t total,
                          const std::vector<std::int64_t>& row_shape,
                          const DatasetMeaning& meaning) {
    return create(path, total, row_shape, element_type<T>(), meaning);
  }

  // Writes rows of a dataset, a different range on every rank; a range may be empty. Each row must
  // be written exactly once before commit().
  template <Element T>
  void write_rows(const Hdf5Rows& rows, RowRange range, std::span<const T> data) {
    write(rows, range, element_type<T>(), std::as_bytes(data));
  }

  // Compresses datasets, writes the checksums, synchronises the file with the disk, checks that it
  // can be opened and has its full length, and renames it. Nothing can be written afterwards.
  void commit();

 private:
  std::int64_t covered_rows(const std::string& path, RowRange range) const;
  Hdf5Rows create(const std::string& path, std::int64_t total,
                  const std::vector<std::int64_t>& row_shape, ElementType type,
                  const DatasetMeaning& meaning);
  void write(const Hdf5Rows& rows, RowRange range, ElementType type,
             std::span<const std::byte> data);
  struct State;
  std::unique_ptr<State> state_;
};

// Reader of an existing file. The root reads and broadcasts the contents; every rank reads its own
// rows, for which it opens the file. The constructor, read() and read_on_root() are collective, the
// others local. Functions throw InputError on all ranks when they fail on one: missing file, no
// permission, not an HDF5 file, truncated, an object missing or of another kind than expected, or a
// checksum mismatch.
class Hdf5Reader {
 public:
  Hdf5Reader(const Communicator& communicator, const std::string& path);
  ~Hdf5Reader();
  Hdf5Reader(const Hdf5Reader&) = delete;
  Hdf5Reader& operator=(const Hdf5Reader&) = delete;

  // Path of the file.
  const std::string& path() const;
  // Communicator of the ranks that read the file.
  const Communicator& communicator() const;

  // Returns false if the file has no checksums; its data is then not verified.
  bool has_checksums() const;
  // Returns true if the file was written with checksums but changed, truncated or opened for
  // writing since.
  bool lost_checksums() const;
  // Throws InputError if the file has lost its checksums.
  void require_unchanged() const;
  // True if the file contains this group or dataset.
  bool exists(const std::string& object) const;
  // True if the object has this attribute.
  bool has_attribute(const std::string& object, const std::string& name) const;

  // Names of the members of a group, in alphabetical order.
  std::vector<std::string> children(const std::string& group) const;
  // Names of the attributes of an object.
  std::vector<std::string> attribute_names(const std::string& object) const;

  // Attribute as T: std::string, std::int64_t, double, or a vector of the latter two. Integers may
  // be read as double.
  template <class T>
  T attribute(const std::string& object, const std::string& name) const {
    const AttributeValue value = attribute_value(object, name);
    if (const T* found = std::get_if<T>(&value)) return *found;
    if constexpr (std::same_as<T, double>) {
      if (const auto* integer = std::get_if<std::int64_t>(&value)) {
        return static_cast<double>(*integer);
      }
    }
    throw_wrong_attribute(object, name);
  }
  // Attribute with the type that it has in the file.
  AttributeValue attribute_value(const std::string& object, const std::string& name) const;

  // Extents of a dataset, slowest first: the number of rows, then the shape of a row.
  std::vector<std::int64_t> shape(const std::string& dataset) const;

  // Reads some rows of a dataset, possibly a different range on every rank, converted to T within
  // its kind (integers to integers, floating-point numbers to floating-point numbers).
  template <Element T>
  std::vector<T> read(const std::string& dataset, RowRange range) const {
    std::vector<T> values(static_cast<std::size_t>(elements_in(dataset, range)));
    read_dataset(dataset, range, element_type<T>(), std::as_writable_bytes(std::span(values)));
    return values;
  }

  // Reads all rows of a dataset as read() does, on the root alone, and copies them to all ranks.
  // For small tables, whose files other ranks do not open.
  template <Element T>
  std::vector<T> read_on_root(const std::string& dataset) const {
    const RowRange own{0, communicator().is_root() ? shape(dataset).at(0) : 0};
    std::vector<T> values = read<T>(dataset, own);
    communicator().broadcast(values);
    return values;
  }

 private:
  std::int64_t elements_in(const std::string& dataset, RowRange range) const;
  void read_dataset(const std::string& dataset, RowRange range, ElementType type,
                    std::span<std::byte> data) const;
  [[noreturn]] void throw_wrong_attribute(const std::string& object, const std::string& name) const;
  struct State;
  std::unique_ptr<State> state_;
};

// Result of verifying a whole file against its checksums.
struct FileCheck {
  bool has_checksums = false, is_whole = false;
  std::int64_t batches = 0;          // compared batches of rows
  std::vector<std::string> damaged;  // descriptions, on the root
};

// Verifies a whole file against its checksums. Throws InputError on every rank if it cannot be
// read. Collective.
FileCheck check_file(const Communicator& communicator, const std::string& path);

}  // namespace octant

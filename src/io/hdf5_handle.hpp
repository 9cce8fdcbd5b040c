// Common parts of the HDF5 reader and writer: owned identifiers, element types, reasons of
// failures. Internal to io/.
#pragma once

#include <string>
#include <utility>

#include <hdf5.h>

#include "io/hdf5_file.hpp"

namespace octant {

// Attribute of the root group that declares checksums after the end of the HDF5 part.
inline constexpr const char* k_checksums = "checksums";

// Owns an HDF5 identifier; negative means none.
class Hdf5Handle {
 public:
  using Close = herr_t (*)(hid_t);

  Hdf5Handle() = default;
  Hdf5Handle(hid_t id, Close how) : id_(id), close_(how) {}
  Hdf5Handle(Hdf5Handle&& other) noexcept
      : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Hdf5Handle& operator=(Hdf5Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Hdf5Handle() { close(); }

  // Closes the identifier. Returns false if HDF5 failed; closing is not tried again.
  bool close() { return id_ < 0 || close_(std::exchange(id_, -1)) >= 0; }

  operator hid_t() const { return id_; }

 private:
  hid_t id_ = -1;
  Close close_ = nullptr;
};

// Innermost reason of HDF5's last failure, in one line.
std::string hdf5_error_message();

// Disables HDF5's error output; errors become exceptions.
void silence_hdf5();

// HDF5 type for elements in memory; the same is used in files.
hid_t native_type(ElementType type);
// Size of an element in bytes.
std::size_t element_bytes(ElementType type);

// Access for reading by system calls; without locks if the file system has none.
Hdf5Handle reading_access();

// Closes a file with H5Fclose, then frees the memory that HDF5 would keep for the next file.
herr_t close_file(hid_t file);

// Type of UTF-8 text of any length.
Hdf5Handle text_type();

}  // namespace octant

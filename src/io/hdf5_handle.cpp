#ifdef OCTANT_HDF5

#include "io/hdf5_handle.hpp"

#include <charconv>
#include <string_view>

#include "core/memory.hpp"
#include "core/own_files.hpp"

namespace octant {
namespace {

herr_t keep_description(unsigned, const H5E_error2_t* error, void* reason) {
  *static_cast<std::string*>(reason) = error->desc != nullptr ? error->desc : "";
  return 1;  // the first one visited is the innermost
}

// Shortens HDF5's multi-line message for a system error, which contains times and addresses.
std::string without_circumstances(const std::string& reason) {
  constexpr std::string_view k_number = "errno = ";
  const std::size_t number = reason.find(k_number);
  if (number == std::string::npos) return reason;
  int error = 0;
  const std::string_view digits = std::string_view(reason).substr(number + k_number.size());
  std::from_chars(digits.data(), digits.data() + digits.size(), error);
  return reason.substr(0, reason.find(':')) + ": " + system_reason(error);
}

}  // namespace

std::string hdf5_error_message() {
  std::string reason;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_description, &reason);
  return reason.empty() ? "HDF5 gives no reason" : without_circumstances(reason);
}

void silence_hdf5() { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

hid_t native_type(ElementType type) {
  switch (type) {
    case ElementType::float64: return H5T_NATIVE_DOUBLE;
    case ElementType::float32: return H5T_NATIVE_FLOAT;
    case ElementType::int32: return H5T_NATIVE_INT32;
    case ElementType::int64: return H5T_NATIVE_INT64;
    case ElementType::uint64: return H5T_NATIVE_UINT64;
    case ElementType::uint8: return H5T_NATIVE_UINT8;
  }
  return -1;
}

std::size_t element_bytes(ElementType type) { return H5Tget_size(native_type(type)); }

Hdf5Handle reading_access() {
  Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_fapl_sec2(access);
#if H5_VERSION_GE(1, 10, 7)
  H5Pset_file_locking(access, true, true);
#endif
  return access;
}

herr_t close_file(hid_t file) {
  const herr_t closed = H5Fclose(file);
  H5garbage_collect();
  trim_heap();
  return closed;
}

Hdf5Handle text_type() {
  Hdf5Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type, H5T_VARIABLE);
  H5Tset_cset(type, H5T_CSET_UTF8);
  return type;
}

}  // namespace octant

#endif

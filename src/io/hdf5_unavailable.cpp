// Stubs for builds without HDF5: every function reports that HDF5 is missing.
#ifndef OCTANT_HDF5

#include "io/hdf5_file.hpp"

namespace octant {
namespace {

[[noreturn]] void refuse(const std::string& path) {
  throw InputError(
      "'{}' is an HDF5 file, but this program was built without HDF5; configure it with "
      "-DOCTANT_HDF5=ON",
      path);
}

}  // namespace

struct Hdf5Writer::State {};
Hdf5Writer::Hdf5Writer(const Communicator&, const std::string& path, Compression) { refuse(path); }
Hdf5Writer::~Hdf5Writer() = default;
void Hdf5Writer::group(const std::string&) {}
void Hdf5Writer::attribute(const std::string&, const std::string&, const AttributeValue&) {}
void Hdf5Writer::fixed_text(const std::string&, const std::string&, const std::string&) {}
std::int64_t Hdf5Writer::covered_rows(const std::string&, RowRange) const { return 0; }
Hdf5Rows Hdf5Writer::create(const std::string&, std::int64_t, const std::vector<std::int64_t>&,
                            ElementType, const DatasetMeaning&) {
  return {};
}
void Hdf5Writer::write(const Hdf5Rows&, RowRange, ElementType, std::span<const std::byte>) {}
void Hdf5Writer::commit() {}

struct Hdf5Reader::State {
  Communicator communicator;
  std::string path;
};
Hdf5Reader::Hdf5Reader(const Communicator&, const std::string& path) { refuse(path); }
Hdf5Reader::~Hdf5Reader() = default;
const std::string& Hdf5Reader::path() const { return state_->path; }
const Communicator& Hdf5Reader::communicator() const { return state_->communicator; }
bool Hdf5Reader::has_checksums() const { return false; }
bool Hdf5Reader::lost_checksums() const { return false; }
void Hdf5Reader::require_unchanged() const {}
bool Hdf5Reader::exists(const std::string&) const { return false; }
bool Hdf5Reader::has_attribute(const std::string&, const std::string&) const { return false; }
std::vector<std::string> Hdf5Reader::children(const std::string&) const { return {}; }
std::vector<std::string> Hdf5Reader::attribute_names(const std::string&) const { return {}; }
AttributeValue Hdf5Reader::attribute_value(const std::string&, const std::string&) const {
  return {};
}
std::vector<std::int64_t> Hdf5Reader::shape(const std::string&) const { return {}; }
std::int64_t Hdf5Reader::elements_in(const std::string&, RowRange) const { return 0; }
void Hdf5Reader::read_dataset(const std::string&, RowRange, ElementType,
                              std::span<std::byte>) const {}
void Hdf5Reader::throw_wrong_attribute(const std::string&, const std::string&) const {
  refuse(state_->path);
}

FileCheck check_file(const Communicator&, const std::string& path) { refuse(path); }

}  // namespace octant

#endif

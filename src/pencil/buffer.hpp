// Memory for fields and planes.
#pragma once

#include <cstddef>
#include <memory>

namespace octant::pencil {

// Doubles that begin on a cache line, and large ones on a huge page: a sweep over the planes
// follows some fifteen streams at once, and would miss its address translations with small pages.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t count);  // zeros; every page is touched here

  // Makes it at least this long; what it held is lost then.
  void reserve(std::size_t count) {
    if (size_ >= count) return;
    *this = Buffer();
    *this = Buffer(count);
  }

  double* data() { return data_.get(); }
  const double* data() const { return data_.get(); }
  std::size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(double* memory) const;
  };
  std::unique_ptr<double[], Free> data_;
  std::size_t size_ = 0;
};

}  // namespace octant::pencil

#include "pencil/buffer.hpp"

#include <cstring>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace octant::pencil {

Buffer::Buffer(std::size_t count) : size_(count) {
  if (count == 0) return;
  constexpr std::size_t k_cache_line = 64, k_huge_page = std::size_t{2} << 20;
  const std::size_t bytes = count * sizeof(double);
  const std::size_t unit = bytes >= k_huge_page ? k_huge_page : k_cache_line;
  const std::size_t rounded = (bytes + unit - 1) / unit * unit;
  data_.reset(static_cast<double*>(std::aligned_alloc(unit, rounded)));
  if (!data_) throw std::bad_alloc();
#if defined(__linux__)
  if (unit == k_huge_page) madvise(data_.get(), rounded, MADV_HUGEPAGE);
#endif
  std::memset(data_.get(), 0, bytes);
}

}  // namespace octant::pencil

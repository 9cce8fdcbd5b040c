#include "pencil/buffer.hpp"

#include <cstdlib>
#include <cstring>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "core/memory_account.hpp"

namespace octant::pencil {

Buffer::Buffer(std::size_t count) : size_(count) {
  if (count == 0) return;
  constexpr std::size_t k_cache_line = 64, k_huge_page = std::size_t{2} << 20;
  const std::size_t bytes = count * sizeof(double);
  const bool is_large = bytes >= k_huge_page;
  void* memory = nullptr;
  if (posix_memalign(&memory, is_large ? k_huge_page : k_cache_line, bytes) != 0)
    throw std::bad_alloc();
  data_.reset(static_cast<double*>(memory));
#if defined(__linux__)
  // What is left after whole huge pages stays on small ones: many buffers' ends would add up.
  if (is_large) madvise(memory, bytes / k_huge_page * k_huge_page, MADV_HUGEPAGE);
#endif
  std::memset(data_.get(), 0, bytes);
  count_array("fields and lines of pencils", memory, static_cast<std::int64_t>(bytes));
}

void Buffer::Free::operator()(double* memory) const {
  forget_array(memory);
  std::free(memory);
}

}  // namespace octant::pencil

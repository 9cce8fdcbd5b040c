#include "core/guarded_memory.hpp"

#ifdef OCTANT_MEMORY_APART

#include <dlfcn.h>
#include <execinfo.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace octant::guarded_memory {

namespace {

// Reserved address range; only the pages in use have memory.
class Pages {
 public:
  bool hold(const void* address) const {
    return begin_ != nullptr && address >= begin_ && address < begin_ + used_;
  }
  const std::byte* begin() const { return begin_; }

  // Extends the used range. Returns null if the reserved range is exhausted.
  std::byte* take(std::size_t bytes) {
    if (begin_ == nullptr) reserve();
    if (begin_ == nullptr || used_ + bytes > k_reserved_bytes) return nullptr;
    used_ += bytes;
    protect(is_open_);
    return begin_ + used_ - bytes;
  }
  void protect(bool open) {
    is_open_ = open;
    if (used_ > 0) mprotect(begin_, used_, open ? PROT_READ | PROT_WRITE : PROT_NONE);
  }

 private:
  static constexpr std::size_t k_reserved_bytes = std::size_t{1} << 40;

  void reserve() {
    constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void* reserved = mmap(nullptr, k_reserved_bytes, PROT_NONE, flags, -1, 0);
    if (reserved != MAP_FAILED) begin_ = static_cast<std::byte*>(reserved);
  }

  std::byte* begin_ = nullptr;
  std::size_t used_ = 0;
  bool is_open_ = false;
};

std::size_t whole_pages(std::size_t bytes) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

// --- memory of kernels ---------------------------------------------------------------------------

struct KernelMemory {
  Pages pages;
  std::map<std::size_t, std::vector<void*>> free;  // free blocks by size
  std::map<const std::byte*, std::string> labels;  // labels by start address of arrays
  int opened = 0;
};

KernelMemory& kernel_memory() {
  static KernelMemory the_memory;
  return the_memory;
}

const char* g_kernel = nullptr;  // kernel that runs on device memory
int g_host_kernels = 0;          // nesting depth of HostKernels objects

// --- allocations by `new` ------------------------------------------------------------------------

// Allocator of pieces of 2^n bytes, which are reused. Allocations during a kernel launch come from
// the C library; pieces freed during a launch are not reused.
class Heap {
 public:
  void start() {
    pages_.protect(true);
    has_started_ = true;
  }
  void protect(bool open) { pages_.protect(open); }
  bool holds(const void* address) const { return pages_.hold(address); }

  // Allocates with an alignment of at most 64 bytes; larger alignments come from the C library.
  void* allocate(std::size_t bytes, std::size_t alignment = k_small_alignment) {
    if (!has_started_ || g_kernel != nullptr || bytes <= k_small || alignment > sizeof(Header))
      return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    const int power = std::bit_width(std::max(bytes, sizeof(Header)) + sizeof(Header) - 1);
    const std::scoped_lock lock(mutex_);
    Header*& free = free_[power];
    Header* header = free;
    if (header != nullptr) free = header->next;
    else header = reinterpret_cast<Header*>(pages_.take(std::size_t{1} << power));
    if (header == nullptr) return nullptr;
    header->power = power;
    return header + 1;
  }
  void deallocate(void* memory) {
    if (!holds(memory)) return std::free(memory);
    if (g_kernel != nullptr) return;
    const std::scoped_lock lock(mutex_);
    Header* header = static_cast<Header*>(memory) - 1;
    header->next = free_[header->power];
    free_[header->power] = header;
  }

 private:
  // Maximum size of Kokkos' reference counters of execution spaces, which kernel launches change.
  static constexpr std::size_t k_small = 48;
  static constexpr std::size_t k_small_alignment = alignof(std::max_align_t);

  struct alignas(64) Header {  // 64 bytes, the alignment of all allocations
    Header* next;
    int power;
  };

  Pages pages_;
  std::array<Header*, 64> free_{};
  std::mutex mutex_;
  bool has_started_ = false;
};

// Never destroyed, because other code frees memory until the program ends.
Heap& heap() {
  alignas(Heap) static std::byte storage[sizeof(Heap)];
  static Heap* const the_heap = new (storage) Heap;
  return *the_heap;
}

// --- errors --------------------------------------------------------------------------------------

void write_backtrace() {
  std::array<void*, 40> frames;
  backtrace_symbols_fd(frames.data(), backtrace(frames.data(), frames.size()), STDERR_FILENO);
}

void report_host_access(const void* address) {
  const KernelMemory& all = kernel_memory();
  auto array = all.labels.upper_bound(static_cast<const std::byte*>(address));
  if (array != all.labels.begin()) --array;
  std::fprintf(stderr, "host code accesses device memory: \"%s\"\n",
               array == all.labels.end() ? "?" : array->second.c_str());
  write_backtrace();
}

void report_kernel_access() {
  static std::set<std::string> reported;
  if (!reported.insert(g_kernel).second) return;
  std::fprintf(stderr, "the kernel \"%s\" accesses host memory\n", g_kernel);
  write_backtrace();
}

// Returns true during a launch, in which Kokkos counts the references to a reduction's result view.
bool is_launch(const ucontext_t& context) {
  const auto* address = reinterpret_cast<const void*>(context.uc_mcontext.gregs[REG_RIP]);
  Dl_info found{};
  if (dladdr(address, &found) == 0 || found.dli_sname == nullptr) return false;
  const std::string_view function = found.dli_sname;
  return function.starts_with("_ZN6Kokkos4Impl22SharedAllocationRecord");
}

// Handles SIGSEGV. The calls in it are unsafe in most handlers, but here the cause is known.
void handle(int, siginfo_t* what, void* context) {
  heap().protect(true);
  if (g_kernel != nullptr && heap().holds(what->si_addr)) {
    if (!is_launch(*static_cast<const ucontext_t*>(context))) report_kernel_access();
    return;
  }
  if (kernel_memory().pages.hold(what->si_addr)) report_host_access(what->si_addr);
  std::signal(SIGSEGV, SIG_DFL);  // the repeated access ends the program
}

}  // namespace

void* allocate(const char* label, std::size_t bytes) {
  KernelMemory& all = kernel_memory();
  const std::size_t size = whole_pages(bytes);
  std::vector<void*>& free = all.free[size];
  void* memory = nullptr;
  if (free.empty()) {
    memory = all.pages.take(size);
    if (memory == nullptr) throw std::bad_alloc();
  } else {
    memory = free.back();
    free.pop_back();
  }
  all.labels[static_cast<std::byte*>(memory)] = label;
  const Opened opened;
  std::memset(memory, 0xff, size);
  return memory;
}

void release(void* memory, std::size_t bytes) {
  KernelMemory& all = kernel_memory();
  madvise(memory, whole_pages(bytes), MADV_DONTNEED);
  all.labels.erase(static_cast<std::byte*>(memory));
  all.free[whole_pages(bytes)].push_back(memory);
}

void watch() {
  std::array<void*, 1> frame;
  backtrace(frame.data(), frame.size());  // loads the required library
  struct sigaction action {};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, nullptr);
  heap().start();
}

void open() {
  if (kernel_memory().opened++ == 0) kernel_memory().pages.protect(true);
}

void close() {
  if (--kernel_memory().opened == 0) kernel_memory().pages.protect(false);
}

void begin_kernel(const char* name) {
  if (g_host_kernels > 0) return;
  open();
  if (std::string_view(name).starts_with("Kokkos::")) return;  // Kokkos' own kernels
  g_kernel = name;
  heap().protect(false);
}

void end_kernel() {
  if (g_host_kernels > 0) return;
  if (g_kernel != nullptr) heap().protect(true);
  g_kernel = nullptr;
  close();
}

void begin_host_kernels() { ++g_host_kernels; }
void end_host_kernels() { --g_host_kernels; }

}  // namespace octant::guarded_memory

namespace octant {

using guarded_memory::g_kernel, guarded_memory::heap;

BeforeWork::BeforeWork() : kernel_(std::exchange(g_kernel, nullptr)) { heap().protect(true); }

BeforeWork::~BeforeWork() {
  g_kernel = kernel_;
  if (kernel_ != nullptr) heap().protect(false);
}

}  // namespace octant

// Other forms of `new` and `delete` call these.
void* operator new(std::size_t bytes) {
  void* memory = octant::guarded_memory::heap().allocate(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  void* memory =
      octant::guarded_memory::heap().allocate(bytes, static_cast<std::size_t>(alignment));
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept { octant::guarded_memory::heap().deallocate(memory); }
void operator delete(void* memory, std::align_val_t) noexcept {
  octant::guarded_memory::heap().deallocate(memory);
}

#endif

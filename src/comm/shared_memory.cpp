#include "comm/shared_memory.hpp"

#include <algorithm>
#include <vector>

#include "core/error.hpp"
#include "core/observer.hpp"

#ifdef OCTANT_MPI

#include <sys/statvfs.h>

#include "comm/native.hpp"

namespace octant {

// MPI window that is open for loads and stores during its lifetime.
struct SharedMemory::State {
  Communicator ranks;
  std::size_t count;
  MPI_Win window = MPI_WIN_NULL;
  std::vector<double*> parts = {};  // by rank

  static constexpr std::size_t k_cache_line = 64;
  static double* next_cache_line(void* address, std::size_t bytes);

  void open();
  ~State() {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (finalized || window == MPI_WIN_NULL) return;
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
  }
};

// Aligns to a cache line, because MPI guarantees no alignment. Page and cache-line boundaries are
// the same in all processes.
double* SharedMemory::State::next_cache_line(void* address, std::size_t bytes) {
  std::size_t space = bytes + k_cache_line;
  return static_cast<double*>(std::align(k_cache_line, bytes, address, space));
}

// Checks the space where MPI libraries allocate shared memory. Open MPI may hang if it is full.
static void check_space(const Communicator& ranks, std::size_t bytes) {
  const auto needed = static_cast<double>(ranks.sum(static_cast<std::int64_t>(bytes)));
  ranks.collective_try([&] {
    struct statvfs space {};
    if (statvfs("/dev/shm", &space) != 0) return;
    const double available = static_cast<double>(space.f_bavail * space.f_frsize);
    if (needed > available)
      throw RunError(
          "{} ranks require {:.0f} MB of shared memory, but /dev/shm has only {:.0f} MB; enlarge "
          "/dev/shm, or set grid.transpose = \"p2p\"",
          ranks.size(), 1e-6 * needed, 1e-6 * available);
  });
}

void SharedMemory::State::open() {
  const std::size_t bytes = count * sizeof(double);
  check_space(ranks, bytes + k_cache_line);
  const Observed waiting(Phase::wait, "shared memory");
  void* first = nullptr;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "alloc_shared_noncontig", "true");
  const int code = MPI_Win_allocate_shared(static_cast<MPI_Aint>(bytes + k_cache_line), 1, info,
                                           native(ranks), static_cast<void*>(&first), &window);
  MPI_Info_free(&info);
  ranks.collective_try([&] {
    if (code == MPI_SUCCESS) return;
    window = MPI_WIN_NULL;
    throw RunError(
        "{} ranks could not allocate {} bytes of shared memory each; enlarge /dev/shm, or set "
        "grid.transpose = \"p2p\"",
        ranks.size(), bytes);
  });
  MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
  for (int rank = 0; rank < ranks.size(); ++rank) {
    MPI_Aint size = 0;
    int unit = 0;
    MPI_Win_shared_query(window, rank, &size, &unit, static_cast<void*>(&first));
    parts.push_back(next_cache_line(first, bytes));
  }
  std::fill_n(parts[ranks.rank()], count, 0.0);
}

bool SharedMemory::is_possible(const Communicator& ranks) {
  return !ranks.any(ranks.split_by_node().size() != ranks.size());
}

void SharedMemory::synchronise() const {
  const Observed waiting(Phase::wait, "shared memory");
  MPI_Win_sync(state_->window);
  state_->ranks.barrier();
  MPI_Win_sync(state_->window);
}

}  // namespace octant

#else

namespace octant {

struct SharedMemory::State {
  Communicator ranks;
  std::size_t count;
  std::vector<double> own = {};
  std::vector<double*> parts = {};

  void open() {
    own.resize(count);
    parts = {own.data()};
  }
};

bool SharedMemory::is_possible(const Communicator&) { return false; }
void SharedMemory::synchronise() const {}

}  // namespace octant

#endif

namespace octant {

SharedMemory::SharedMemory(const Communicator& ranks, std::size_t count)
    : state_(new State{ranks, count}) {
  if (ranks.size() > 1 && !is_possible(ranks))
    throw RunError("{} ranks on several nodes cannot use shared memory", ranks.size());
  state_->open();
  synchronise();
}

SharedMemory::~SharedMemory() = default;

double* SharedMemory::of(int rank) const { return state_->parts[rank]; }
std::size_t SharedMemory::count() const { return state_->count; }

}  // namespace octant

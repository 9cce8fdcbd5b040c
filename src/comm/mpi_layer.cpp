#ifdef OCTANT_MPI

#include "comm/mpi_layer.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <numeric>
#include <thread>
#include <utility>

#include <mpi.h>

#include "comm/native.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"

namespace octant::mpi {

namespace {

void check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw RunError("{} failed: {}", call, text);
}

MPI_Datatype datatype(Scalar type) {
  switch (type) {
    case Scalar::int32: return MPI_INT32_T;
    case Scalar::uint32: return MPI_UINT32_T;
    case Scalar::int64: return MPI_INT64_T;
    case Scalar::uint64: return MPI_UINT64_T;
    case Scalar::float64: return MPI_DOUBLE;
  }
  std::abort();
}

MPI_Op op(Operation operation) {
  switch (operation) {
    case Operation::max: return MPI_MAX;
    case Operation::min: return MPI_MIN;
    case Operation::sum: return MPI_SUM;
    case Operation::bit_or: return MPI_BOR;
  }
  std::abort();
}

// Converts a count to int for MPI collectives over arrays, which are always short enough.
int int_count(std::size_t count, const char* call) {
  OCTANT_REQUIRE(count <= std::size_t{std::numeric_limits<int>::max()},
                 "{} does not support {} values in one call", call, count);
  return static_cast<int>(count);
}

// Count, type and offset for a number of bytes at an offset of a buffer: beyond 2 GiB, one item of
// a derived type that includes its offset.
class Extent {
 public:
  explicit Extent(std::size_t bytes, std::size_t offset = 0) {
    if (offset + bytes <= std::size_t{std::numeric_limits<int>::max()}) {
      count_ = static_cast<int>(bytes);
      offset_ = static_cast<int>(offset);
      return;
    }
    constexpr std::size_t k_chunk = std::size_t{1} << 30;
    MPI_Datatype chunk;
    check(MPI_Type_contiguous(int{k_chunk}, MPI_BYTE, &chunk), "MPI_Type_contiguous");
    const std::size_t chunks = bytes / k_chunk;
    int lengths[2] = {static_cast<int>(chunks), static_cast<int>(bytes % k_chunk)};
    MPI_Aint offsets[2] = {static_cast<MPI_Aint>(offset),
                           static_cast<MPI_Aint>(offset + chunks * k_chunk)};
    MPI_Datatype types[2] = {chunk, MPI_BYTE};
    check(MPI_Type_create_struct(2, lengths, offsets, types, &type_), "MPI_Type_create_struct");
    check(MPI_Type_commit(&type_), "MPI_Type_commit");
    MPI_Type_free(&chunk);
    count_ = 1;
  }
  ~Extent() {
    if (type_ != MPI_BYTE) MPI_Type_free(&type_);
  }
  Extent(Extent&& other) noexcept
      : count_(other.count_), offset_(other.offset_), type_(std::exchange(other.type_, MPI_BYTE)) {}
  Extent& operator=(Extent&&) = delete;

  int count() const { return count_; }
  int offset() const { return offset_; }
  MPI_Datatype type() const { return type_; }

 private:
  int count_ = 0, offset_ = 0;
  MPI_Datatype type_ = MPI_BYTE;
};

}  // namespace

class Comm {
 public:
  explicit Comm(MPI_Comm ranks, bool is_own) : handle(ranks), owned(is_own) {
    check(MPI_Comm_set_errhandler(handle, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check(MPI_Comm_rank(handle, &rank), "MPI_Comm_rank");
    check(MPI_Comm_size(handle, &size), "MPI_Comm_size");
  }
  ~Comm() {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (owned && !finalized) MPI_Comm_free(&handle);
  }
  Comm(const Comm&) = delete;
  Comm& operator=(const Comm&) = delete;

  MPI_Comm handle;
  bool owned;
  int rank = 0, size = 1;
  int next_tag = 1;
};

namespace {

bool g_initialized_by_octant = false;  // false if the embedding program initialised MPI

CommPointer& ranks_of_the_run() {
  static CommPointer comm;
  return comm;
}

// Returns true without mpirun, srun or other launchers, which set the rank in the environment.
bool is_started_alone() {
  const auto is_unset = [](const char* name) { return std::getenv(name) == nullptr; };
  return is_unset("OMPI_COMM_WORLD_RANK") && is_unset("PMIX_RANK") && is_unset("PMI_RANK") &&
         is_unset("SLURM_PROCID");
}

}  // namespace

void initialize(int& argc, char**& argv) {
  int is_running = 0, provided = 0;
  MPI_Initialized(&is_running);
  if (is_running) {
    check(MPI_Query_thread(&provided), "MPI_Query_thread");
    if (provided < MPI_THREAD_FUNNELED)
      throw RunError(
          "MPI was initialized without thread support, but MPI_THREAD_FUNNELED is required; with "
          "mpi4py, set mpi4py.rc.thread_level = \"funneled\" or more");
    return;
  }
  // Open MPI without mpirun would start a daemon for spawning processes, which takes half of the
  // time of a short run.
  setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
  // A single rank sends no messages; the search for networks would take 0.2 s.
  if (is_started_alone()) setenv("OMPI_MCA_pml", "ob1", 0);
  // Open MPI without mpirun also loads plugins of hwloc for displays: X11, OpenCL and a large XML
  // library, 3 MB. The plugin for PCI remains, which finds network cards.
  setenv("HWLOC_PLUGINS_BLACKLIST", "hwloc_gl.so,hwloc_opencl.so,hwloc_xml_libxml.so", 0);
  check(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
  if (provided < MPI_THREAD_FUNNELED)
    throw RunError("this MPI library does not support threads; MPI_THREAD_FUNNELED is required");
  g_initialized_by_octant = true;
}

void finalize() {
  ranks_of_the_run().reset();
  if (g_initialized_by_octant) MPI_Finalize();
}

// Duplicates the communicator, which separates Octant's messages from those of other libraries.
void run_on(int fortran_communicator) {
  MPI_Comm copy;
  check(MPI_Comm_dup(MPI_Comm_f2c(fortran_communicator), &copy), "MPI_Comm_dup");
  ranks_of_the_run() = std::make_shared<Comm>(copy, true);
}

void abort(int exit_code) {
  int initialized = 0;
  MPI_Initialized(&initialized);
  if (initialized) MPI_Abort(MPI_COMM_WORLD, exit_code);
  std::_Exit(exit_code);
}

// Returns one object, because all users of the world communicator take their tags from it.
CommPointer world() {
  CommPointer& comm = ranks_of_the_run();
  if (!comm) comm = std::make_shared<Comm>(MPI_COMM_WORLD, false);
  return comm;
}

int rank(const Comm& comm) { return comm.rank; }
int size(const Comm& comm) { return comm.size; }

int world_rank(const Comm& comm, int rank) {
  const MPI_Comm all_ranks = world()->handle;
  if (comm.handle == all_ranks) return rank;
  MPI_Group part, all;
  int number = 0;
  check(MPI_Comm_group(comm.handle, &part), "MPI_Comm_group");
  check(MPI_Comm_group(all_ranks, &all), "MPI_Comm_group");
  check(MPI_Group_translate_ranks(part, 1, &rank, all, &number), "MPI_Group_translate_ranks");
  MPI_Group_free(&part);
  MPI_Group_free(&all);
  return number;
}

CommPointer split(const Comm& comm, int colour) {
  MPI_Comm part;
  check(MPI_Comm_split(comm.handle, colour, comm.rank, &part), "MPI_Comm_split");
  return std::make_shared<Comm>(part, true);
}

CommPointer split_by_node(const Comm& comm) {
  MPI_Comm node;
  check(MPI_Comm_split_type(comm.handle, MPI_COMM_TYPE_SHARED, comm.rank, MPI_INFO_NULL, &node),
        "MPI_Comm_split_type");
  return std::make_shared<Comm>(node, true);
}

int new_tag(Comm& comm) {
  constexpr int k_smallest_guaranteed_limit = 32767;
  const int tag = comm.next_tag;
  comm.next_tag = tag == k_smallest_guaranteed_limit ? 1 : tag + 1;
  return tag;
}

bool all_arrive(double seconds) {
  MPI_Request request;
  check(MPI_Ibarrier(world()->handle, &request), "MPI_Ibarrier");
  const Clock clock;
  int arrived = 0;
  while (!arrived && clock.seconds() < seconds) {
    check(MPI_Test(&request, &arrived, MPI_STATUS_IGNORE), "MPI_Test");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return arrived != 0;
}

void barrier(const Comm& comm) { check(MPI_Barrier(comm.handle), "MPI_Barrier"); }

void all_reduce(const Comm& comm, void* values, std::size_t count, Scalar type,
                Operation operation) {
  check(MPI_Allreduce(MPI_IN_PLACE, values, int_count(count, "MPI_Allreduce"), datatype(type),
                      op(operation), comm.handle),
        "MPI_Allreduce");
}

void exclusive_scan(const Comm& comm, void* values, std::size_t count, Scalar type) {
  const int n = int_count(count, "MPI_Exscan");
  check(MPI_Exscan(MPI_IN_PLACE, values, n, datatype(type), MPI_SUM, comm.handle), "MPI_Exscan");
  if (comm.rank > 0) return;
  int bytes = 0;
  check(MPI_Type_size(datatype(type), &bytes), "MPI_Type_size");
  std::fill_n(static_cast<std::byte*>(values), count * bytes, std::byte{0});
}

void broadcast(const Comm& comm, std::span<std::byte> bytes, int root) {
  const Extent extent(bytes.size());
  check(MPI_Bcast(bytes.data(), extent.count(), extent.type(), root, comm.handle), "MPI_Bcast");
}

std::vector<std::byte> receive_any_length(const Comm& comm, int source, int tag) {
  MPI_Message message;
  MPI_Status status;
  check(MPI_Mprobe(source, tag, comm.handle, &message, &status), "MPI_Mprobe");
  MPI_Count length = 0;
  check(MPI_Get_elements_x(&status, MPI_BYTE, &length), "MPI_Get_elements_x");
  std::vector<std::byte> bytes(static_cast<std::size_t>(length));
  const Extent extent(bytes.size());
  check(MPI_Mrecv(bytes.data(), extent.count(), extent.type(), &message, MPI_STATUS_IGNORE),
        "MPI_Mrecv");
  return bytes;
}

namespace {

// Arguments of one side of an all-to-all, over all ranks of the communicator, which must remain
// valid until it is complete.
struct AllToAllArguments {
  AllToAllArguments(int ranks, std::span<const Part> parts)
      : counts(ranks, 0), offsets(ranks, 0), types(ranks, MPI_BYTE) {
    extents.reserve(parts.size());
    for (const Part& part : parts) {
      const Extent& extent = extents.emplace_back(part.bytes, part.offset);
      counts[part.rank] = extent.count();
      offsets[part.rank] = extent.offset();
      types[part.rank] = extent.type();
    }
  }
  std::vector<Extent> extents;
  std::vector<int> counts, offsets;
  std::vector<MPI_Datatype> types;
};

}  // namespace

struct Requests::State {
  std::vector<MPI_Request> requests;
  std::vector<AllToAllArguments> arguments;

  MPI_Request* add() { return &requests.emplace_back(MPI_REQUEST_NULL); }
  void clear() {
    requests.clear();
    arguments.clear();
  }
};

Requests::Requests() : state_(std::make_unique<State>()) {}
Requests::~Requests() = default;
Requests::Requests(Requests&&) noexcept = default;
Requests& Requests::operator=(Requests&&) noexcept = default;

void Requests::send(const Comm& comm, std::span<const std::byte> bytes, int destination, int tag) {
  const Extent extent(bytes.size());
  check(MPI_Isend(bytes.data(), extent.count(), extent.type(), destination, tag, comm.handle,
                  state_->add()),
        "MPI_Isend");
}

void Requests::receive(const Comm& comm, std::span<std::byte> bytes, int source, int tag) {
  const Extent extent(bytes.size());
  check(MPI_Irecv(bytes.data(), extent.count(), extent.type(), source, tag, comm.handle,
                  state_->add()),
        "MPI_Irecv");
}

void Requests::all_to_all(const Comm& comm, const std::byte* send_buffer,
                          std::span<const Part> sends, std::byte* receive_buffer,
                          std::span<const Part> receives) {
  auto& arguments = state_->arguments;
  arguments.reserve(2);
  const auto& send = arguments.emplace_back(comm.size, sends);
  const auto& receive = arguments.emplace_back(comm.size, receives);
  check(MPI_Ialltoallw(send_buffer, send.counts.data(), send.offsets.data(), send.types.data(),
                       receive_buffer, receive.counts.data(), receive.offsets.data(),
                       receive.types.data(), comm.handle, state_->add()),
        "MPI_Ialltoallw");
}

void Requests::all_max(const Comm& comm, std::span<double> values) {
  check(MPI_Iallreduce(MPI_IN_PLACE, values.data(), int_count(values.size(), "MPI_Iallreduce"),
                       MPI_DOUBLE, MPI_MAX, comm.handle, state_->add()),
        "MPI_Iallreduce");
}

bool Requests::test() {
  int done = 0;
  auto& requests = state_->requests;
  check(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE),
        "MPI_Testall");
  if (done) state_->clear();
  return done != 0;
}

void Requests::wait() {
  auto& requests = state_->requests;
  check(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE),
        "MPI_Waitall");
  state_->clear();
}

void Requests::wait(const std::function<void(std::size_t)>& done) {
  auto& requests = state_->requests;
  std::vector<int> finished(requests.size());
  for (std::size_t left = requests.size(); left > 0;) {
    int count = 0;
    check(MPI_Waitsome(static_cast<int>(requests.size()), requests.data(), &count, finished.data(),
                       MPI_STATUSES_IGNORE),
          "MPI_Waitsome");
    for (int n = 0; n < count; ++n) done(static_cast<std::size_t>(finished[n]));
    if (count == MPI_UNDEFINED) break;  // no active request
    left -= static_cast<std::size_t>(count);
  }
  state_->clear();
}

// Gathers by point-to-point messages, because MPI collectives have counts of type int.
std::vector<std::byte> gather_to_root(const Comm& comm, std::span<const std::byte> bytes) {
  const std::uint64_t length = bytes.size();
  std::vector<std::uint64_t> lengths(comm.rank == 0 ? comm.size : 0);
  check(MPI_Gather(&length, 1, MPI_UINT64_T, lengths.data(), 1, MPI_UINT64_T, 0, comm.handle),
        "MPI_Gather");
  std::vector<std::byte> all(std::accumulate(lengths.begin(), lengths.end(), std::uint64_t{0}));
  Requests requests;
  if (comm.rank > 0 && length > 0) requests.send(comm, bytes, 0, k_setup_tag);
  std::size_t offset = 0;
  for (int rank = 0; rank < std::ssize(lengths); offset += lengths[rank++]) {
    if (rank == 0) std::copy(bytes.begin(), bytes.end(), all.begin());
    else if (lengths[rank] > 0)
      requests.receive(comm, std::span(all).subspan(offset, lengths[rank]), rank, k_setup_tag);
  }
  requests.wait();
  return all;
}

}  // namespace octant::mpi

namespace octant {

MPI_Comm native(const Communicator& communicator) { return communicator.handle().handle; }

}  // namespace octant

#endif

// MPI profiling interface (PMPI): wrappers of all blocking calls of this program and its libraries,
// which notify the observer of the run. File output is not among them: ranks write their own parts
// without MPI (io/).
#ifdef OCTANT_MPI

#include <mpi.h>

#include "comm/clocks.hpp"
#include "core/clock.hpp"
#include "core/observer.hpp"

namespace octant {

namespace {

// Global, because MPI passes no user data to the wrappers.
int g_stopwatches = 0;
std::int64_t g_cpu_ns = 0, g_wall_ns = 0;

template <class Call>
int blocking(Phase phase, const char* name, const Call& call) {
  const Observed observed(phase, name);
  if (g_stopwatches == 0) return call();
  const std::int64_t cpu = thread_cpu_ns(), wall = Observer::now();
  const int error = call();
  g_cpu_ns += thread_cpu_ns() - cpu;
  g_wall_ns += Observer::now() - wall;
  return error;
}

template <class Call>
int collective(const char* name, const Call& call) {
  return blocking(Phase::collective, name, call);
}

template <class Call>
int waiting(const char* name, const Call& call) {
  return blocking(Phase::wait, name, call);
}

}  // namespace

MpiStopwatch::MpiStopwatch() : cpu_before_(g_cpu_ns), wall_before_(g_wall_ns) { ++g_stopwatches; }
MpiStopwatch::~MpiStopwatch() { --g_stopwatches; }
std::int64_t MpiStopwatch::cpu_ns() const { return g_cpu_ns - cpu_before_; }
std::int64_t MpiStopwatch::wall_ns() const { return g_wall_ns - wall_before_; }

}  // namespace octant

extern "C" {

// --- collective calls ---

int MPI_Barrier(MPI_Comm comm) {
  return octant::collective("barrier", [&] { return PMPI_Barrier(comm); });
}

int MPI_Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  return octant::collective("broadcast",
                            [&] { return PMPI_Bcast(buffer, count, type, root, comm); });
}

int MPI_Reduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, int root,
               MPI_Comm comm) {
  return octant::collective(
      "reduce", [&] { return PMPI_Reduce(send, receive, count, type, op, root, comm); });
}

int MPI_Allreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
  return octant::collective("all_reduce",
                            [&] { return PMPI_Allreduce(send, receive, count, type, op, comm); });
}

int MPI_Scan(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op,
             MPI_Comm comm) {
  return octant::collective("scan",
                            [&] { return PMPI_Scan(send, receive, count, type, op, comm); });
}

int MPI_Exscan(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op,
               MPI_Comm comm) {
  return octant::collective("scan",
                            [&] { return PMPI_Exscan(send, receive, count, type, op, comm); });
}

int MPI_Gather(const void* send, int send_count, MPI_Datatype send_type, void* receive, int count,
               MPI_Datatype type, int root, MPI_Comm comm) {
  return octant::collective("gather", [&] {
    return PMPI_Gather(send, send_count, send_type, receive, count, type, root, comm);
  });
}

int MPI_Gatherv(const void* send, int send_count, MPI_Datatype send_type, void* receive,
                const int* counts, const int* offsets, MPI_Datatype type, int root, MPI_Comm comm) {
  return octant::collective("gather", [&] {
    return PMPI_Gatherv(send, send_count, send_type, receive, counts, offsets, type, root, comm);
  });
}

int MPI_Scatter(const void* send, int send_count, MPI_Datatype send_type, void* receive, int count,
                MPI_Datatype type, int root, MPI_Comm comm) {
  return octant::collective("scatter", [&] {
    return PMPI_Scatter(send, send_count, send_type, receive, count, type, root, comm);
  });
}

int MPI_Allgather(const void* send, int send_count, MPI_Datatype send_type, void* receive,
                  int count, MPI_Datatype type, MPI_Comm comm) {
  return octant::collective("all_gather", [&] {
    return PMPI_Allgather(send, send_count, send_type, receive, count, type, comm);
  });
}

int MPI_Allgatherv(const void* send, int send_count, MPI_Datatype send_type, void* receive,
                   const int* counts, const int* offsets, MPI_Datatype type, MPI_Comm comm) {
  return octant::collective("all_gather", [&] {
    return PMPI_Allgatherv(send, send_count, send_type, receive, counts, offsets, type, comm);
  });
}

int MPI_Alltoall(const void* send, int send_count, MPI_Datatype send_type, void* receive, int count,
                 MPI_Datatype type, MPI_Comm comm) {
  return octant::collective("all_to_all", [&] {
    return PMPI_Alltoall(send, send_count, send_type, receive, count, type, comm);
  });
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* made) {
  return octant::collective("make_communicator", [&] { return PMPI_Comm_dup(comm, made); });
}

int MPI_Comm_split(MPI_Comm comm, int colour, int key, MPI_Comm* made) {
  return octant::collective("make_communicator",
                            [&] { return PMPI_Comm_split(comm, colour, key, made); });
}

int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made) {
  return octant::collective("make_communicator",
                            [&] { return PMPI_Comm_split_type(comm, type, key, info, made); });
}

// --- messages ---

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  return octant::waiting("requests", [&] { return PMPI_Wait(request, status); });
}

int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  return octant::waiting("requests", [&] { return PMPI_Waitall(count, requests, statuses); });
}

int MPI_Waitany(int count, MPI_Request* requests, int* index, MPI_Status* status) {
  return octant::waiting("requests", [&] { return PMPI_Waitany(count, requests, index, status); });
}

int MPI_Waitsome(int count, MPI_Request* requests, int* done, int* indices, MPI_Status* statuses) {
  return octant::waiting("requests",
                         [&] { return PMPI_Waitsome(count, requests, done, indices, statuses); });
}

int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  return octant::waiting("probe", [&] { return PMPI_Probe(source, tag, comm, status); });
}

int MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  return octant::waiting("probe", [&] { return PMPI_Mprobe(source, tag, comm, message, status); });
}

int MPI_Send(const void* buffer, int count, MPI_Datatype type, int destination, int tag,
             MPI_Comm comm) {
  return octant::waiting("send",
                         [&] { return PMPI_Send(buffer, count, type, destination, tag, comm); });
}

int MPI_Recv(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
             MPI_Status* status) {
  return octant::waiting("receive",
                         [&] { return PMPI_Recv(buffer, count, type, source, tag, comm, status); });
}

int MPI_Mrecv(void* buffer, int count, MPI_Datatype type, MPI_Message* message,
              MPI_Status* status) {
  return octant::waiting("receive",
                         [&] { return PMPI_Mrecv(buffer, count, type, message, status); });
}

}  // extern "C"

#endif

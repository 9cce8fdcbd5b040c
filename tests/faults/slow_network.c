// Preloaded into octant: an irregular network. Messages start late, overtake messages of other tags
// and destinations, and leave in bursts; completed requests are reported late and in any order;
// ranks stall. All of this obeys the rules of MPI: messages of the same communicator, destination
// and tag stay in order, and every message starts before its sender blocks elsewhere.
//
// NETWORK_SEED    chooses how irregular the network is, and each event
// NETWORK_REPORT  a path; rank R writes "NAME NUMBER" lines to PATH.R in MPI_Finalize: see report()
//
// A late message is a persistent request that is started afterwards. Octant profiles some functions
// of MPI itself, and calls their PMPI names: both names lead here. One thread calls MPI.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REAL(name)                                               \
  ({                                                             \
    static __typeof__(&PMPI_##name) real;                        \
    if (!real) *(void**)&real = dlsym(RTLD_NEXT, "PMPI_" #name); \
    real;                                                        \
  })
#define SAME(name) extern __typeof__(PMPI_##name) MPI_##name __attribute__((alias("PMPI_" #name)))

// --- random events -------------------------------------------------------------------------------

static uint64_t state;
static struct {
  double late;       // probability that a message starts late
  double start;      // that a late message starts at the next call
  double unseen;     // that a completed request is reported as incomplete
  double stall;      // that a call takes a while longer
  int microseconds;  // longest stall
  int bursts;        // late messages start together
  int backwards;     // the last of the late messages are tried first
} network;
static struct { long late, overtaking, unseen, stalls, begun, completed, unreceived; } count;

static double chance(void) {  // xorshift64*, uniform in [0, 1)
  state ^= state >> 12;
  state ^= state << 25;
  state ^= state >> 27;
  return (double)((state * 0x2545F4914F6CDD1DULL) >> 11) * 0x1p-53;
}

static double one_of(double a, double b, double c) {
  const double n = 3 * chance();
  return n < 1 ? a : n < 2 ? b : c;
}

static const char* variable(const char* name) {
  const char* value = getenv(name);
  return value ? value : "";
}

static const char* rank(void) {
  const char *of_openmpi = variable("OMPI_COMM_WORLD_RANK"), *of_others = variable("PMI_RANK");
  return *of_openmpi ? of_openmpi : *of_others ? of_others : "0";
}

static void choose_network(void) {
  if (state) return;
  // The kind of network follows from the seed alone, the events from seed and rank.
  state = 0x9E3779B97F4A7C15ULL * (2 * strtoull(variable("NETWORK_SEED"), NULL, 10) + 1);
  for (int n = 0; n < 8; ++n) chance();
  network.late = one_of(0.1, 0.5, 0.95);
  network.start = one_of(0.05, 0.2, 0.6);
  network.unseen = one_of(0.0, 0.2, 0.5);
  network.stall = one_of(0.0, 0.0005, 0.005);
  network.microseconds = (int)one_of(20, 100, 500);
  network.bursts = chance() < 0.3;
  network.backwards = chance() < 0.5;
  const int slow = chance() < 0.3 ? (int)(4 * chance()) : -1;
  const int own = atoi(rank());
  if (own == slow) network.stall = 0.02;
  state += 0xD1342543DE82EF95ULL * (uint64_t)(own + 1);
  for (int n = 0; n < 8; ++n) chance();
}

static void maybe_stall(void) {
  choose_network();
  if (chance() >= network.stall) return;
  ++count.stalls;
  usleep((useconds_t)(network.microseconds * chance()));
}

// --- late messages -------------------------------------------------------------------------------

typedef struct {
  MPI_Request request;  // persistent
  MPI_Comm comm;
  int destination, tag, is_started;
} Late;
static Late* late;  // in the order of the calls
static int late_count, late_capacity;

static int find_late(MPI_Request request) {
  for (int n = 0; n < late_count; ++n)
    if (late[n].request == request) return n;
  return -1;
}

static void forget_late(int n) {
  memmove(late + n, late + n + 1, (size_t)(late_count - n - 1) * sizeof *late);
  --late_count;
}

static int has_same_order(const Late* a, MPI_Comm comm, int destination, int tag) {
  return a->comm == comm && a->destination == destination && a->tag == tag;
}

// True if an earlier message of the same order has not started.
static int must_wait(int before, MPI_Comm comm, int destination, int tag) {
  for (int n = 0; n < before; ++n)
    if (!late[n].is_started && has_same_order(late + n, comm, destination, tag)) return 1;
  return 0;
}

static void start_late(int n) {
  for (int earlier = 0; earlier < n; ++earlier)
    if (!late[earlier].is_started) {
      ++count.overtaking;
      break;
    }
  late[n].is_started = 1;
  REAL(Start)(&late[n].request);
}

// Starts some of the late messages.
static void start_some(void) {
  maybe_stall();
  if (network.bursts && chance() >= network.start) return;
  for (int k = 0; k < late_count; ++k) {
    const int n = network.backwards ? late_count - 1 - k : k;
    const Late* m = late + n;
    if (m->is_started || must_wait(n, m->comm, m->destination, m->tag)) continue;
    if (network.bursts || chance() < network.start) start_late(n);
  }
}

// Before a call that may block without a further call to this layer.
static void start_all(void) {
  maybe_stall();
  for (int n = 0; n < late_count; ++n)
    if (!late[n].is_started) start_late(n);
}

int PMPI_Isend(const void* buffer, int size, MPI_Datatype type, int destination, int tag,
               MPI_Comm comm, MPI_Request* request) {
  start_some();
  ++count.begun;
  if (!must_wait(late_count, comm, destination, tag) && chance() >= network.late)
    return REAL(Isend)(buffer, size, type, destination, tag, comm, request);
  if (late_count == late_capacity) {
    late_capacity = late_capacity ? 2 * late_capacity : 256;
    late = realloc(late, (size_t)late_capacity * sizeof *late);
    if (!late) abort();
  }
  const int code = REAL(Send_init)(buffer, size, type, destination, tag, comm, request);
  late[late_count++] = (Late){*request, comm, destination, tag, 0};
  ++count.late;
  return code;
}
SAME(Isend);

#define BEGINS(name, parameters, arguments) \
  int PMPI_##name parameters {              \
    start_some();                           \
    ++count.begun;                          \
    return REAL(name) arguments;            \
  }                                         \
  SAME(name)
BEGINS(Irecv,
       (void* buffer, int size, MPI_Datatype type, int source, int tag, MPI_Comm comm,
        MPI_Request* request),
       (buffer, size, type, source, tag, comm, request));
BEGINS(Ibarrier, (MPI_Comm comm, MPI_Request* request), (comm, request));
BEGINS(Iallreduce,
       (const void* in, void* out, int size, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
        MPI_Request* request),
       (in, out, size, type, op, comm, request));
BEGINS(Ialltoallw,
       (const void* in, const int* counts, const int* offsets, const MPI_Datatype* types, void* out,
        const int* out_counts, const int* out_offsets, const MPI_Datatype* out_types, MPI_Comm comm,
        MPI_Request* request),
       (in, counts, offsets, types, out, out_counts, out_offsets, out_types, comm, request));

// --- completion ----------------------------------------------------------------------------------

// True, and the request is null, if a request has completed and this is seen.
static int completes(MPI_Request* request, MPI_Status* status) {
  const int is_null = *request == MPI_REQUEST_NULL, n = is_null ? -1 : find_late(*request);
  if (n >= 0 && !late[n].is_started) return 0;
  if (!is_null && chance() < network.unseen) {
    ++count.unseen;
    return 0;
  }
  int flag = 0;
  REAL(Test)(request, &flag, status);
  if (!flag || is_null) return flag;
  ++count.completed;
  if (n >= 0) {
    REAL(Request_free)(&late[n].request);
    forget_late(n);
    *request = MPI_REQUEST_NULL;
  }
  return 1;
}

static MPI_Status* at(MPI_Status* statuses, int n) {
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : statuses + n;
}

static void let_others_work(void) {
  start_some();
  sched_yield();
}

int PMPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  start_some();
  *flag = completes(request, status);
  return MPI_SUCCESS;
}
SAME(Test);

int PMPI_Waitall(int size, MPI_Request* requests, MPI_Status* statuses) {
  choose_network();
  char* done = calloc((size_t)size + 1, 1);
  if (!done) abort();
  for (int left = size; left > 0;) {
    for (int n = 0; n < size; ++n)
      if (!done[n] && completes(requests + n, at(statuses, n))) {
        done[n] = 1;
        --left;
      }
    if (left > 0) let_others_work();
  }
  free(done);
  return MPI_SUCCESS;
}
SAME(Waitall);

int PMPI_Wait(MPI_Request* request, MPI_Status* status) { return PMPI_Waitall(1, request, status); }
SAME(Wait);

int PMPI_Testall(int size, MPI_Request* requests, int* flag, MPI_Status* statuses) {
  start_some();
  *flag = chance() >= network.unseen;
  for (int n = 0; n < size && *flag; ++n) {
    const int own = find_late(requests[n]);
    if (own >= 0 && !late[own].is_started) *flag = 0;
    else if (requests[n] != MPI_REQUEST_NULL)
      REAL(Request_get_status)(requests[n], flag, MPI_STATUS_IGNORE);
  }
  return *flag ? PMPI_Waitall(size, requests, statuses) : MPI_SUCCESS;
}
SAME(Testall);

int PMPI_Waitsome(int size, MPI_Request* requests, int* done, int* indices, MPI_Status* statuses) {
  choose_network();
  int active = 0;
  for (int n = 0; n < size; ++n) active += requests[n] != MPI_REQUEST_NULL;
  *done = active ? 0 : MPI_UNDEFINED;
  while (*done == 0) {
    const int first = (int)(size * chance());
    for (int k = 0; k < size; ++k) {
      const int n = (first + k) % size;
      if (requests[n] != MPI_REQUEST_NULL && completes(requests + n, at(statuses, *done)))
        indices[(*done)++] = n;
    }
    if (*done == 0) let_others_work();
  }
  return MPI_SUCCESS;
}
SAME(Waitsome);

int PMPI_Waitany(int size, MPI_Request* requests, int* index, MPI_Status* status) {
  choose_network();
  int active = 0;
  for (int n = 0; n < size; ++n) active += requests[n] != MPI_REQUEST_NULL;
  for (*index = MPI_UNDEFINED; active;) {
    const int first = (int)(size * chance());
    for (int k = 0; k < size; ++k) {
      *index = (first + k) % size;
      if (requests[*index] != MPI_REQUEST_NULL && completes(requests + *index, status))
        return MPI_SUCCESS;
    }
    let_others_work();
  }
  return MPI_SUCCESS;
}
SAME(Waitany);

int PMPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  for (int flag = 0; !flag; let_others_work())
    REAL(Improbe)(source, tag, comm, &flag, message, status);
  return MPI_SUCCESS;
}
SAME(Mprobe);

int PMPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  for (int flag = 0; !flag; let_others_work()) REAL(Iprobe)(source, tag, comm, &flag, status);
  return MPI_SUCCESS;
}
SAME(Probe);

// --- calls that block ----------------------------------------------------------------------------

#define BLOCKS(name, parameters, arguments) \
  int PMPI_##name parameters {              \
    start_all();                            \
    return REAL(name) arguments;            \
  }                                         \
  SAME(name)
BLOCKS(Send,
       (const void* buffer, int size, MPI_Datatype type, int destination, int tag, MPI_Comm comm),
       (buffer, size, type, destination, tag, comm));
BLOCKS(Recv,
       (void* buffer, int size, MPI_Datatype type, int source, int tag, MPI_Comm comm,
        MPI_Status* status),
       (buffer, size, type, source, tag, comm, status));
BLOCKS(Barrier, (MPI_Comm comm), (comm));
BLOCKS(Bcast, (void* buffer, int size, MPI_Datatype type, int root, MPI_Comm comm),
       (buffer, size, type, root, comm));
BLOCKS(Reduce,
       (const void* in, void* out, int size, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm),
       (in, out, size, type, op, root, comm));
BLOCKS(Allreduce,
       (const void* in, void* out, int size, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
       (in, out, size, type, op, comm));
BLOCKS(Scan, (const void* in, void* out, int size, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
       (in, out, size, type, op, comm));
BLOCKS(Exscan, (const void* in, void* out, int size, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
       (in, out, size, type, op, comm));
BLOCKS(Gather,
       (const void* in, int size, MPI_Datatype type, void* out, int out_size, MPI_Datatype out_type,
        int root, MPI_Comm comm),
       (in, size, type, out, out_size, out_type, root, comm));
BLOCKS(Gatherv,
       (const void* in, int size, MPI_Datatype type, void* out, const int* sizes,
        const int* offsets, MPI_Datatype out_type, int root, MPI_Comm comm),
       (in, size, type, out, sizes, offsets, out_type, root, comm));
BLOCKS(Scatter,
       (const void* in, int size, MPI_Datatype type, void* out, int out_size, MPI_Datatype out_type,
        int root, MPI_Comm comm),
       (in, size, type, out, out_size, out_type, root, comm));
BLOCKS(Allgather,
       (const void* in, int size, MPI_Datatype type, void* out, int out_size, MPI_Datatype out_type,
        MPI_Comm comm),
       (in, size, type, out, out_size, out_type, comm));
BLOCKS(Allgatherv,
       (const void* in, int size, MPI_Datatype type, void* out, const int* sizes,
        const int* offsets, MPI_Datatype out_type, MPI_Comm comm),
       (in, size, type, out, sizes, offsets, out_type, comm));
BLOCKS(Alltoall,
       (const void* in, int size, MPI_Datatype type, void* out, int out_size, MPI_Datatype out_type,
        MPI_Comm comm),
       (in, size, type, out, out_size, out_type, comm));
BLOCKS(Comm_dup, (MPI_Comm comm, MPI_Comm* made), (comm, made));
BLOCKS(Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm* made), (comm, color, key, made));
BLOCKS(Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made),
       (comm, type, key, info, made));
BLOCKS(Win_allocate_shared,
       (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void* base, MPI_Win* made),
       (size, unit, info, comm, base, made));
BLOCKS(Win_free, (MPI_Win * window), (window));

// --- the end -------------------------------------------------------------------------------------

// Counts a message that nobody received, after all ranks of the communicator have sent theirs.
static void count_unreceived(MPI_Comm comm) {
  int flag = 0;
  REAL(Barrier)(comm);
  REAL(Iprobe)(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, MPI_STATUS_IGNORE);
  count.unreceived += flag;
}

int PMPI_Comm_free(MPI_Comm* comm) {
  start_all();
  count_unreceived(*comm);
  return REAL(Comm_free)(comm);
}
SAME(Comm_free);

static void report(void) {
  char path[4096];
  snprintf(path, sizeof path, "%s.%s", variable("NETWORK_REPORT"), rank());
  FILE* file = fopen(path, "w");
  if (!file) return;
  fprintf(file, "late %ld\novertaking %ld\nunseen %ld\nstalls %ld\n", count.late, count.overtaking,
          count.unseen, count.stalls);
  fprintf(file, "begun %ld\ncompleted %ld\nunreceived %ld\n", count.begun, count.completed,
          count.unreceived);
  fclose(file);
}

int PMPI_Finalize(void) {
  start_all();
  count_unreceived(MPI_COMM_WORLD);
  report();
  return REAL(Finalize)();
}
SAME(Finalize);

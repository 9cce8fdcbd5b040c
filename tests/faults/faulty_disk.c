// Preloaded into octant: calls of the C library on files below one folder are written to a journal,
// and one of them fails, or kills its process. All other files, those of MPI included, stay as they
// are.
//
// FAULTS_FOLDER   the folder, an absolute path
// FAULTS_JOURNAL  the journal: a line "RANK CALL INODE SIZE RESULT PATH" for each call
// FAULTS_RANK     the rank whose call is meant
// FAULTS_CALL     open, read, write, truncate, sync, sync_folder, close, rename (to a new name),
//                 replace (an older file), mkdir, remove; or any
// FAULTS_AT       which of these calls of the rank, counted from 1; "all" of them
// FAULTS_ACTION   an error number; "kill"; "short": a write takes half of its bytes
// FAULTS_SPACE    bytes that a rank can write before its disk is full
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NEXT(name)                      \
  static __typeof__(&name) next = NULL; \
  if (!next) *(void**)&next = dlsym(RTLD_NEXT, #name)

enum { k_path = 4096, k_proceed = 0, k_short = -1 };

static const char* variable(const char* name) {
  const char* value = getenv(name);
  return value ? value : "";
}

static const char* rank(void) {
  const char *of_openmpi = variable("OMPI_COMM_WORLD_RANK"), *of_others = variable("PMI_RANK");
  return *of_openmpi ? of_openmpi : *of_others ? of_others : "0";
}

static int is_below(const char* path) {
  const char* folder = variable("FAULTS_FOLDER");
  const size_t length = strlen(folder);
  return length > 0 && strncmp(path, folder, length) == 0 &&
         (path[length] == '/' || path[length] == '\0');
}

// Gives the path of an open file, or "" if that is not below the folder.
static const char* path_of(int file, char* path) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  const ssize_t length = readlink(link, path, k_path - 1);
  path[length > 0 ? length : 0] = '\0';
  if (!is_below(path)) path[0] = '\0';
  return path;
}

static void note(const char* call, const char* result, const struct stat* file, const char* path) {
  static int journal = -1;
  char line[k_path + 128];
  if (journal < 0)
    journal = (int)syscall(SYS_openat, AT_FDCWD, variable("FAULTS_JOURNAL"),
                           O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  const int length = snprintf(line, sizeof line, "%s %s %lu %lld %s %s\n", rank(), call,
                              (unsigned long)file->st_ino, (long long)file->st_size, result, path);
  syscall(SYS_write, journal, line, (size_t)length);
}

static struct stat state_of(int file) {
  struct stat state = {0};
  fstat(file, &state);
  return state;
}

static struct stat state_at(const char* path) {
  struct stat state = {0};
  lstat(path, &state);
  return state;
}

// Counts a call, and says what happens to it: the number of an error, k_proceed or k_short.
static int fate(const char* call, struct stat file, const char* path) {
  static long calls = 0;
  const char *meant = variable("FAULTS_CALL"), *at = variable("FAULTS_AT");
  int fate = k_proceed;
  if (strcmp(rank(), variable("FAULTS_RANK")) == 0 &&
      (strcmp(meant, call) == 0 || strcmp(meant, "any") == 0)) {
    const long number = __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
    if (strcmp(at, "all") == 0 || number == atol(at)) {
      const char* action = variable("FAULTS_ACTION");
      fate = strcmp(action, "short") == 0 ? k_short : atoi(action);
      if (strcmp(action, "kill") == 0) {
        note(call, "killed", &file, path);
        kill(getpid(), SIGKILL);
      }
    }
  }
  note(call, fate > 0 ? "failed" : "done", &file, path);
  return fate;
}

#define FAIL_IF_MEANT(call, file, path, failure) \
  do {                                           \
    const int error = fate(call, file, path);    \
    if (error > 0) {                             \
      errno = error;                             \
      return failure;                            \
    }                                            \
  } while (0)

// --- calls with paths ---------------------------------------------------------------------------

int open(const char* path, int flags, ...) {
  NEXT(open);
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  if (is_below(path)) FAIL_IF_MEANT("open", state_at(path), path, -1);
  return next(path, flags, mode);
}

FILE* fopen(const char* path, const char* mode) {
  NEXT(fopen);
  if (is_below(path)) FAIL_IF_MEANT("open", state_at(path), path, NULL);
  return next(path, mode);
}

int rename(const char* from, const char* to) {
  NEXT(rename);
  if (!is_below(to)) return next(from, to);
  const int is_new = access(to, F_OK) != 0;
  FAIL_IF_MEANT(is_new ? "rename" : "replace", state_at(from), to, -1);
  return next(from, to);
}

int mkdir(const char* path, mode_t mode) {
  NEXT(mkdir);
  if (is_below(path)) FAIL_IF_MEANT("mkdir", state_at(path), path, -1);
  return next(path, mode);
}

int unlink(const char* path) {
  NEXT(unlink);
  if (is_below(path)) FAIL_IF_MEANT("remove", state_at(path), path, -1);
  return next(path);
}

int remove(const char* path) {
  NEXT(remove);
  if (is_below(path)) FAIL_IF_MEANT("remove", state_at(path), path, -1);
  return next(path);
}

// --- calls with open files ----------------------------------------------------------------------

// How many bytes a write may take: -1 and errno if none.
static ssize_t allowed(int file, const char* path, size_t bytes) {
  static long long written = 0;
  const int error = fate("write", state_of(file), path);
  const char* space = variable("FAULTS_SPACE");
  if (error > 0) {
    errno = error;
    return -1;
  }
  if (error == k_short && bytes > 1) bytes /= 2;
  if (!*space) return (ssize_t)bytes;
  const long long left = atoll(space) - written;
  if (left < (long long)bytes) {
    const struct stat full = state_of(file);
    note("write", "failed", &full, path);
    bytes = left > 0 ? (size_t)left : 0;
    if (bytes == 0) {
      errno = ENOSPC;
      return -1;
    }
  }
  written += (long long)bytes;
  return (ssize_t)bytes;
}

ssize_t write(int file, const void* bytes, size_t count) {
  NEXT(write);
  char path[k_path];
  const ssize_t most = *path_of(file, path) ? allowed(file, path, count) : (ssize_t)count;
  return most < 0 ? -1 : next(file, bytes, (size_t)most);
}

ssize_t pwrite(int file, const void* bytes, size_t count, off_t offset) {
  NEXT(pwrite);
  char path[k_path];
  const ssize_t most = *path_of(file, path) ? allowed(file, path, count) : (ssize_t)count;
  return most < 0 ? -1 : next(file, bytes, (size_t)most, offset);
}

ssize_t read(int file, void* bytes, size_t count) {
  NEXT(read);
  char path[k_path];
  if (*path_of(file, path)) FAIL_IF_MEANT("read", state_of(file), path, -1);
  return next(file, bytes, count);
}

ssize_t pread(int file, void* bytes, size_t count, off_t offset) {
  NEXT(pread);
  char path[k_path];
  if (*path_of(file, path)) FAIL_IF_MEANT("read", state_of(file), path, -1);
  return next(file, bytes, count, offset);
}

int ftruncate(int file, off_t length) {
  NEXT(ftruncate);
  char path[k_path];
  if (*path_of(file, path)) FAIL_IF_MEANT("truncate", state_of(file), path, -1);
  return next(file, length);
}

int fsync(int file) {
  NEXT(fsync);
  char path[k_path];
  const struct stat state = state_of(file);
  const char* call = S_ISDIR(state.st_mode) ? "sync_folder" : "sync";
  if (*path_of(file, path)) FAIL_IF_MEANT(call, state, path, -1);
  return next(file);
}

// A close that fails has closed its file. Network file systems report failed writes like this.
int close(int file) {
  NEXT(close);
  char path[k_path];
  const int is_written = (fcntl(file, F_GETFL) & O_ACCMODE) != O_RDONLY;
  const int error =
      is_written && *path_of(file, path) ? fate("close", state_of(file), path) : k_proceed;
  const int result = next(file);
  if (error <= 0) return result;
  errno = error;
  return -1;
}

int open64(const char* path, int flags, ...) __attribute__((alias("open")));
FILE* fopen64(const char* path, const char* mode) __attribute__((alias("fopen")));
ssize_t pwrite64(int file, const void* bytes, size_t count, off_t offset)
    __attribute__((alias("pwrite")));
ssize_t pread64(int file, void* bytes, size_t count, off_t offset) __attribute__((alias("pread")));
int ftruncate64(int file, off_t length) __attribute__((alias("ftruncate")));

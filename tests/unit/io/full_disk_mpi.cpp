// A full disk: in a small file system of its own where the test may mount one, and imitated by a
// limit on the size of files.
#ifdef OCTANT_HDF5

#include <gtest/gtest.h>

#include <csignal>
#include <vector>

#include <sys/mount.h>
#include <sys/resource.h>

#include "io/hdf5_file.hpp"
#include "scratch.hpp"

namespace octant {
namespace {

constexpr std::int64_t k_limit = 1 << 20;

// Limits the size of files that this process writes.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(std::int64_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = static_cast<rlim_t>(bytes);
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int);
};

// A file system of one megabyte for all ranks.
class SmallDisk {
 public:
  SmallDisk(const Communicator& communicator, std::string directory)
      : communicator_(communicator), directory_(std::move(directory)) {
    int mounted = 0;
    if (communicator_.is_root()) {
      std::filesystem::create_directory(directory_);
      mounted = ::mount("octant", directory_.c_str(), "tmpfs", 0, "size=1m") == 0;
    }
    communicator_.broadcast(mounted);
    mounted_ = mounted != 0;
  }
  ~SmallDisk() {
    communicator_.barrier();
    if (mounted_ && communicator_.is_root()) ::umount(directory_.c_str());
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  bool mounted() const { return mounted_; }

 private:
  Communicator communicator_;
  std::string directory_;
  bool mounted_ = false;
};

void write_values(const Communicator& world, const std::string& path, std::int64_t rows_per_rank,
                  int datasets) {
  Hdf5Writer writer(world, path);
  const std::vector<double> values(static_cast<std::size_t>(rows_per_rank), 1.0);
  for (int n = 0; n < datasets; ++n) {
    writer.dataset<double>("/values_" + std::to_string(n),
                           {rows_per_rank * world.rank(), rows_per_rank}, {}, values,
                           {"1", "more than the disk can hold"});
  }
  writer.commit();
}

void expect_run_error(const Communicator& world, const std::string& path, std::int64_t rows,
                      int datasets, const std::string& reason) {
  try {
    write_values(world, path, rows, datasets);
    ADD_FAILURE() << "all was written";
  } catch (const RunError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find(path), std::string::npos) << message;
    EXPECT_NE(message.find(reason), std::string::npos) << message;
  }
}

TEST(FullDisk, every_rank_learns_of_it_and_nothing_is_left_behind) {
  const Communicator world = Communicator::world();
  const Scratch scratch(world);
  const FileSizeLimit limit(k_limit);
  expect_run_error(world, scratch.path("a.h5"), k_limit / 8, 1, "File too large");
  EXPECT_EQ(scratch.files(), 0u);
}

TEST(FullDisk, a_write_that_fails_on_one_rank_fails_on_all) {
  const Communicator world = Communicator::world();
  const Scratch scratch(world);
  const bool last = world.rank() == world.size() - 1;
  const FileSizeLimit limit(last ? k_limit : 100 * k_limit);
  expect_run_error(world, scratch.path("a.h5"), k_limit / 8, 1, "File too large");
  EXPECT_EQ(scratch.files(), 0u);
}

TEST(FullDisk, no_space_on_a_real_disk_is_reported_and_the_older_file_survives) {
  const Communicator world = Communicator::world();
  const Scratch scratch(world);
  const SmallDisk disk(world, scratch.path("disk"));
  if (!disk.mounted()) GTEST_SKIP() << "no permission to mount a small file system";
  const std::string path = scratch.path("disk/a.h5");
  const std::int64_t rows = k_limit / 32 / world.size();
  write_values(world, path, rows, 1);
  expect_run_error(world, path, rows, 4, "No space left on device");
  const Hdf5Reader reader(world, path);
  EXPECT_EQ(reader.shape("/values_0"), (std::vector<std::int64_t>{rows * world.size()}));
}

// Groups and attributes alone fill the disk: it is HDF5 itself that has to write here.
TEST(FullDisk, tables_that_do_not_fit_are_reported_too) {
  const Communicator world = Communicator::world();
  const Scratch scratch(world);
  const FileSizeLimit limit(1 << 14);
  const auto write_tables = [&] {
    Hdf5Writer writer(world, scratch.path("a.h5"));
    for (int n = 0; n < 100; ++n) {
      writer.group("/group_" + std::to_string(n));
      writer.attribute("/group_" + std::to_string(n), "text", std::string(1000, 'x'));
    }
    writer.commit();
  };
  EXPECT_THROW(write_tables(), RunError);
  EXPECT_EQ(scratch.files(), 0u);
}

}  // namespace
}  // namespace octant

#endif

// A lock on a file and on the folder that holds it, which the system releases when the process
// ends, however it ends.
#pragma once

#include <string>

namespace octant {

// Advisory, and exclusive among processes and within one; over a shared file system as far as that
// one hands locks to other machines. The file says who holds it and stays when the lock is gone.
// The lock on the folder counts where the file was removed by hand. The file must not be a link.
class FileLock {
 public:
  // Tries to take the lock, and makes the file if need be. Throws RunError if that cannot be done
  // for another reason than that somebody holds it.
  explicit FileLock(const std::string& path);
  ~FileLock();
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;

  bool is_held() const { return descriptor_ >= 0; }
  // Where it is not held: who holds it, as "process 4711 on HOST since DATE".
  const std::string& holder() const { return holder_; }
  // Whether the file system knows locks at all; where it does not, everybody gets this one.
  bool is_enforced() const { return enforced_; }

 private:
  bool try_to_take(const std::string& path);
  void sign(const std::string& path) const;
  void release();

  int descriptor_ = -1, folder_ = -1;  // -1: not open
  bool enforced_ = true;
  std::string holder_;
};

}  // namespace octant

#pragma once
// Files and folders that outlive a loss of power, and locks. Errors name path, reason and remedy: kNoSpace,
// kRefused where this process may not do it, else kUnavailable. Any thread.

#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace seen {

/// An open file, closed at the end.
class Descriptor {
 public:
  explicit Descriptor(int opened) : number_(opened) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.number_) { other.number_ = -1; }
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor();

  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }

 private:
  int number_;
};

/// An exclusive lock (flock) that ends with this, or with the process.
class FileLock {
 public:
  /// Waits for nobody. kRefused while another process holds it. `create`: makes the file where missing.
  /// `shared`: others may hold it so, too.
  static Result<FileLock> Take(const std::string& path, bool create, bool shared);

 private:
  explicit FileLock(Descriptor file) : file_(std::move(file)) {}
  Descriptor file_;
};

/// `error`: an errno. `what`: what couldn't be done, as "can't read".
Error FileError(int error, std::string_view what, const std::string& path);

Status WriteAll(const Descriptor& file, const std::string& path, std::string_view bytes);
Status Sync(const Descriptor& file, const std::string& path);

/// With what it takes to be there after a loss of power.
Status MakeFolder(const std::string& path);
Status SyncFolder(const std::string& path);
/// Puts `text` into `path` whole or not at all.
Status WriteDurably(const std::string& path, std::string_view text);

}  // namespace seen

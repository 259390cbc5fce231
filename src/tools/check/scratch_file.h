#pragma once
// A file without a name: it is gone when the process is, however that ends.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace seen {

/// One thread.
class ScratchFile {
 public:
  /// `folder` empty: where the system has such files (TMPDIR).
  explicit ScratchFile(std::string folder) : folder_(std::move(folder)) {}
  ScratchFile(ScratchFile&& other) noexcept
      : folder_(std::move(other.folder_)),
        file_(std::exchange(other.file_, -1)),
        bytes_(std::exchange(other.bytes_, 0)) {}
  ScratchFile& operator=(ScratchFile&&) = delete;
  ~ScratchFile();

  /// At its end; the first one makes the file. kNoSpace, kUnavailable: with --scratch and the remedy.
  Status Append(std::string_view bytes);
  /// Appends the bytes [from, from + count) to `out`; there are so many.
  Status Read(uint64_t from, uint64_t count, std::string& out) const;
  uint64_t bytes() const { return bytes_; }

 private:
  Status Make();
  Error Failed(const char* step, int code) const;

  std::string folder_;
  int file_ = -1;
  uint64_t bytes_ = 0;
};

}  // namespace seen

#pragma once
// A file without a name, which vanishes when the process ends, in whatever way.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace seen {

/// One thread.
class ScratchFile {
 public:
  /// An empty `folder` means the system's folder for temporary files (TMPDIR).
  explicit ScratchFile(std::string folder) : folder_(std::move(folder)) {}
  ScratchFile(ScratchFile&& other) noexcept
      : folder_(std::move(other.folder_)),
        file_(std::exchange(other.file_, -1)),
        bytes_(std::exchange(other.bytes_, 0)) {}
  ScratchFile& operator=(ScratchFile&&) = delete;
  ~ScratchFile();

  /// Appends. The first call creates the file. kNoSpace (with the remedy) and kUnavailable name --scratch.
  Status Append(std::string_view bytes);
  /// Appends the bytes [from, from + count) to `out`. The file must have them.
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

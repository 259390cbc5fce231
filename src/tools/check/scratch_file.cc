#include "tools/check/scratch_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace seen {

ScratchFile::~ScratchFile() {
  if (file_ >= 0) ::close(file_);
}

Error ScratchFile::Failed(const char* step, int code) const {
  if (code == ENOSPC || code == EDQUOT) {
    return {Code::kNoSpace,
            fmt::format("--scratch: {}: the disk is full. Remedy: name a directory with more room, check a "
                        "part of the users by --sample, or keep more in memory by --memory-mib",
                        folder_)};
  }
  return {Code::kUnavailable, fmt::format("--scratch: {}: {}: {}", folder_, step, std::strerror(code))};
}

Status ScratchFile::Make() {
  std::error_code error;
  if (folder_.empty()) folder_ = std::filesystem::temp_directory_path(error).string();
  if (error) return Fail(Code::kUnavailable, "--scratch: " + error.message());
  std::string path = (std::filesystem::path(folder_) / "seenctl-verify-XXXXXX").string();
  file_ = ::mkostemp(path.data(), O_CLOEXEC);
  if (file_ < 0) return Fail(Failed("can't make a file", errno));
  ::unlink(path.c_str());
  return {};
}

Status ScratchFile::Append(std::string_view bytes) {
  if (file_ < 0) {
    if (Status made = Make(); !made) return made;
  }
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(file_, bytes.data(), bytes.size(), static_cast<off_t>(bytes_));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return Fail(Failed("write", errno));
    bytes_ += static_cast<uint64_t>(written);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

Status ScratchFile::Read(uint64_t from, uint64_t count, std::string& out) const {
  const size_t before = out.size();
  out.resize(before + count);
  for (uint64_t done = 0; done < count;) {
    const ssize_t read =
        ::pread(file_, out.data() + before + done, count - done, static_cast<off_t>(from + done));
    if (read < 0 && errno == EINTR) continue;
    if (read <= 0) return Fail(Failed("read", read < 0 ? errno : EIO));
    done += static_cast<uint64_t>(read);
  }
  return {};
}

}  // namespace seen

#include "tools/load/line_reader.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>

namespace seen {
namespace {

constexpr size_t kChunkBytes = 256 * 1024;
constexpr size_t kLineBytesMax = 64 * 1024 * 1024;

gzFile Gzip(void* file) { return static_cast<gzFile>(file); }

}  // namespace

void LineReader::GzipCloser::operator()(void* file) const { gzclose(Gzip(file)); }

LineReader::LineReader(std::string path, void* file, uint64_t size)
    : path_(std::move(path)), file_(file), size_(size) {}

Result<LineReader> LineReader::Open(const std::string& path) {
  errno = 0;
  gzFile file = path == "-" ? gzdopen(dup(STDIN_FILENO), "rb") : gzopen(path.c_str(), "rb");
  if (file == nullptr) return Fail(Code::kNotFound, fmt::format("{}: {}", path, std::strerror(errno)));
  gzbuffer(file, kChunkBytes);
  struct stat about {};
  const bool regular = path != "-" && stat(path.c_str(), &about) == 0 && S_ISREG(about.st_mode);
  return LineReader(path, file, regular ? static_cast<uint64_t>(about.st_size) : 0);
}

Result<bool> LineReader::Fill() {
  if (at_end_) return false;
  buffer_.erase(0, at_);
  at_ = 0;
  const size_t kept = buffer_.size();
  if (kept > kLineBytesMax) {
    return Fail(Code::kMalformed,
                fmt::format("{}: line {} is over {} bytes", path_, line_number_ + 1, kLineBytesMax));
  }
  buffer_.resize(kept + kChunkBytes);
  const int read = gzread(Gzip(file_.get()), buffer_.data() + kept, kChunkBytes);
  buffer_.resize(kept + static_cast<size_t>(read > 0 ? read : 0));
  if (read < static_cast<int>(kChunkBytes)) {
    int code = Z_OK;
    const char* reason = gzerror(Gzip(file_.get()), &code);  // a cut-off gzip shows as Z_BUF_ERROR here
    if (code == Z_ERRNO) reason = std::strerror(errno);
    if (code != Z_OK && code != Z_STREAM_END) {
      return Fail(Code::kMalformed, fmt::format("{}: after line {}: {}", path_, line_number_, reason));
    }
  }
  at_end_ = read <= 0;
  return read > 0;
}

Result<bool> LineReader::Next(std::string_view& line) {
  size_t searched = 0;
  while (true) {
    const size_t end = buffer_.find('\n', at_ + searched);
    if (end != std::string::npos) {
      line = std::string_view(buffer_).substr(at_, end - at_);
      at_ = end + 1;
      break;
    }
    searched = buffer_.size() - at_;
    const auto filled = Fill();
    if (!filled) return Fail(filled.error());
    if (*filled) continue;
    if (at_ == buffer_.size()) return false;
    line = std::string_view(buffer_).substr(at_);
    at_ = buffer_.size();
    break;
  }
  if (line.ends_with('\r')) line.remove_suffix(1);
  ++line_number_;
  return true;
}

uint64_t LineReader::position() const {
  const auto offset = gzoffset(Gzip(file_.get()));
  return offset < 0 ? 0 : static_cast<uint64_t>(offset);
}

}  // namespace seen

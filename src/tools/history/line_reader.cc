#include "tools/history/line_reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

namespace seen {
namespace {

constexpr size_t kReadBytes = 256 * 1024;
constexpr int kZlibOrGzip = 32 + MAX_WBITS;

/// The stored bytes, not decompressed.
class StoredBytes {
 public:
  StoredBytes(std::string path, int file, uint64_t left)
      : path_(std::move(path)),
        file_(file),
        left_(left),
        is_bounded_(left < UINT64_MAX),
        buffer_(kReadBytes) {}
  ~StoredBytes() {
    if (file_ > STDIN_FILENO) close(file_);
  }
  StoredBytes(const StoredBytes&) = delete;
  StoredBytes& operator=(const StoredBytes&) = delete;

  /// Returns what is buffered. Reads on until the buffer has `bytes`, or the file ends.
  Result<std::string_view> Peek(size_t bytes) {
    while (end_ - begin_ < bytes && left_ > 0) {
      if (begin_ == end_) begin_ = end_ = 0;
      if (end_ == buffer_.size()) break;
      const size_t room = std::min<uint64_t>(buffer_.size() - end_, left_);
      const ssize_t got = read(file_, buffer_.data() + end_, room);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return Fail(Code::kUnavailable, fmt::format("{}: {}", path_, std::strerror(errno)));
      if (got == 0 && is_bounded_) {
        return Fail(Code::kMalformed,
                    fmt::format("{}: the file became shorter while seenctl read it, by {} bytes or more",
                                path_, left_));
      }
      if (got == 0) left_ = 0;
      end_ += static_cast<size_t>(got);
      left_ -= static_cast<uint64_t>(got);
    }
    return std::string_view(buffer_.data() + begin_, end_ - begin_);
  }
  void Take(size_t bytes) {
    begin_ += bytes;
    taken_ += bytes;
  }
  uint64_t taken() const { return taken_; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  int file_;
  uint64_t left_;          // bytes that may still be read
  const bool is_bounded_;  // the file must hold all of them
  std::vector<char> buffer_;
  size_t begin_ = 0;
  size_t end_ = 0;
  uint64_t taken_ = 0;
};

class Unpacker {
 public:
  virtual ~Unpacker() = default;
  virtual Result<size_t> Read(StoredBytes& stored, std::span<char> into) = 0;
};

class PlainUnpacker final : public Unpacker {
 public:
  Result<size_t> Read(StoredBytes& stored, std::span<char> into) override {
    const auto bytes = stored.Peek(1);
    if (!bytes) return Fail(bytes.error());
    const size_t count = std::min(bytes->size(), into.size());
    std::memcpy(into.data(), bytes->data(), count);
    stored.Take(count);
    return count;
  }
};

Error CutOff(const StoredBytes& stored, std::string_view format) {
  return {Code::kMalformed, fmt::format("{}: the {} is cut off or broken after {} stored bytes",
                                        stored.path(), format, stored.taken())};
}

/// Several members in a row are one text. Source: RFC 1952, section 2.2.
class GzipUnpacker final : public Unpacker {
 public:
  GzipUnpacker() { ready_ = inflateInit2(&stream_, kZlibOrGzip) == Z_OK; }
  ~GzipUnpacker() override { inflateEnd(&stream_); }
  GzipUnpacker(const GzipUnpacker&) = delete;
  GzipUnpacker& operator=(const GzipUnpacker&) = delete;

  Result<size_t> Read(StoredBytes& stored, std::span<char> into) override {
    if (!ready_) return Fail(Code::kUnavailable, stored.path() + ": zlib can't be used");
    stream_.next_out = reinterpret_cast<Bytef*>(into.data());
    stream_.avail_out = static_cast<uInt>(into.size());
    while (stream_.avail_out == into.size()) {
      const auto bytes = stored.Peek(1);
      if (!bytes) return Fail(bytes.error());
      if (bytes->empty()) {
        if (within_member_) return Fail(CutOff(stored, "gzip"));
        return 0;
      }
      if (!within_member_ && bytes->front() == '\0') {  // padding: tapes pad with zeros
        stored.Take(1);
        continue;
      }
      within_member_ = true;
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes->data()));
      stream_.avail_in = static_cast<uInt>(bytes->size());
      const int outcome = inflate(&stream_, Z_NO_FLUSH);
      stored.Take(bytes->size() - stream_.avail_in);
      if (outcome == Z_STREAM_END) {
        within_member_ = false;
        inflateReset(&stream_);
      } else if (outcome != Z_OK && outcome != Z_BUF_ERROR) {
        if (stream_.avail_out == into.size()) return Fail(CutOff(stored, "gzip"));
        break;  // the next call finds the same error
      }
    }
    return into.size() - stream_.avail_out;
  }

 private:
  z_stream stream_{};
  bool ready_ = false;
  bool within_member_ = false;
};

class ZstdUnpacker final : public Unpacker {
 public:
  ZstdUnpacker() : stream_(ZSTD_createDStream()) {}
  ~ZstdUnpacker() override { ZSTD_freeDStream(stream_); }
  ZstdUnpacker(const ZstdUnpacker&) = delete;
  ZstdUnpacker& operator=(const ZstdUnpacker&) = delete;

  Result<size_t> Read(StoredBytes& stored, std::span<char> into) override {
    ZSTD_outBuffer out{into.data(), into.size(), 0};
    while (out.pos == 0) {
      const auto bytes = stored.Peek(1);
      if (!bytes) return Fail(bytes.error());
      ZSTD_inBuffer in{bytes->data(), bytes->size(), 0};
      const size_t outcome = ZSTD_decompressStream(stream_, &out, &in);
      stored.Take(in.pos);
      if (ZSTD_isError(outcome) != 0) {
        if (ZSTD_getErrorCode(outcome) == ZSTD_error_frameParameter_windowTooLarge) {
          return Fail(Code::kMalformed, fmt::format("{0}: its zstd window needs over 128 MiB of memory. Use: "
                                                    "zstd -dc --long=31 {1} | seenctl replay -",
                                                    stored.path(), ShellQuoted(stored.path())));
        }
        return Fail(CutOff(stored, "zstd"));
      }
      if (bytes->empty() && out.pos == 0) {
        if (within_frame_) return Fail(CutOff(stored, "zstd"));
        return 0;
      }
      within_frame_ = outcome != 0;
    }
    return out.pos;
  }

 private:
  ZSTD_DStream* stream_;
  bool within_frame_ = false;
};

ByteStream::Packing PackingOf(std::string_view bytes) {
  if (bytes.starts_with("\x1f\x8b")) return ByteStream::Packing::kGzip;
  if (bytes.starts_with("\x28\xb5\x2f\xfd")) return ByteStream::Packing::kZstd;
  // A skippable frame: the first frame of pzstd's output. Source: RFC 8878, section 3.1.2.
  if (bytes.size() >= 4 && (bytes[0] & 0xf0) == 0x50 && bytes.substr(1).starts_with("\x2a\x4d\x18"))
    return ByteStream::Packing::kZstd;
  return ByteStream::Packing::kPlain;
}

std::unique_ptr<Unpacker> MakeUnpacker(ByteStream::Packing packing) {
  if (packing == ByteStream::Packing::kGzip) return std::make_unique<GzipUnpacker>();
  if (packing == ByteStream::Packing::kZstd) return std::make_unique<ZstdUnpacker>();
  return std::make_unique<PlainUnpacker>();
}

}  // namespace

struct ByteStream::Impl {
  Impl(const std::string& path, int file, uint64_t stored_size, uint64_t limit)
      : stored(path, file, limit), size(stored_size) {}
  StoredBytes stored;
  uint64_t size;
  std::unique_ptr<Unpacker> unpacker;
};

ByteStream::ByteStream(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ByteStream::ByteStream(ByteStream&&) noexcept = default;
ByteStream& ByteStream::operator=(ByteStream&&) noexcept = default;
ByteStream::~ByteStream() = default;

Result<ByteStream> ByteStream::Open(const std::string& path, std::optional<uint64_t> stored_bytes_max) {
  const int file = path == "-" ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return Fail(Code::kInvalidArgument, fmt::format("{}: {}", path, std::strerror(errno)));
  struct stat about {};
  const bool known = fstat(file, &about) == 0 && S_ISREG(about.st_mode);
  const uint64_t size = known ? static_cast<uint64_t>(about.st_size) : 0;
  auto impl = std::make_unique<Impl>(path, file, size, stored_bytes_max.value_or(UINT64_MAX));
  if (known) posix_fadvise(file, 0, 0, POSIX_FADV_SEQUENTIAL);
  const auto first = impl->stored.Peek(8);
  if (!first) return Fail(first.error());
  if (const auto foreign = ForeignFormatOf(*first, path)) {
    return Fail(Code::kInvalidArgument, fmt::format("{}: seenctl doesn't read {}. Use: {} | seenctl replay -",
                                                    path, foreign->name, foreign->command));
  }
  impl->unpacker = MakeUnpacker(PackingOf(*first));
  return ByteStream(std::move(impl));
}

Result<size_t> ByteStream::Read(std::span<char> into) { return impl_->unpacker->Read(impl_->stored, into); }
uint64_t ByteStream::position() const { return impl_->stored.taken(); }
uint64_t ByteStream::size() const { return impl_->size; }

std::optional<ForeignFormat> ForeignFormatOf(std::string_view bytes, const std::string& path) {
  const struct {
    std::string_view magic;
    std::string_view name;
    std::string_view command;  // {}: place of the file name
  } formats[] = {
      {"PAR1", "Parquet", "seen-history {}"},
      {"ORC", "ORC", "seen-history {}"},
      {"Obj\x01", "Avro", "seen-history {}"},
      {"PK\x03\x04", "zip", "unzip -p {}"},
      {"BZh", "bzip2", "bzip2 -dc {}"},
      {"\xfd"
       "7zXZ",
       "xz", "xz -dc {}"},
      {"\x04\x22\x4d\x18", "lz4", "lz4 -dc {}"},
      {"\xff\xfe", "UTF-16 text", "iconv -f UTF-16 -t UTF-8 {}"},
      {"\xfe\xff", "UTF-16 text", "iconv -f UTF-16 -t UTF-8 {}"},
  };
  for (const auto& format : formats) {
    if (bytes.starts_with(format.magic))
      return ForeignFormat{
          format.name, fmt::format(fmt::runtime(format.command), path == "-" ? "FILE" : ShellQuoted(path))};
  }
  return std::nullopt;
}

std::string ShellQuoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

Result<LineReader> LineReader::Open(const std::string& path) {
  auto stream = ByteStream::Open(path);
  if (!stream) return Fail(std::move(stream.error()));
  return LineReader(std::move(*stream));
}

std::string_view LineReader::Ahead() {
  if (at_ == end_) static_cast<void>(Fill());  // Next returns the error
  return {buffer_.data() + at_, end_ - at_};
}

Result<bool> LineReader::Fill() {
  if (failure_) return Fail(*failure_);
  if (at_end_) return false;
  if (at_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + at_, end_ - at_);
    end_ -= at_;
    at_ = 0;
  }
  if (buffer_.size() - end_ < kReadBytes) buffer_.resize(end_ + end_ / 2 + kReadBytes);
  const auto read = stream_.Read(std::span(buffer_).subspan(end_));
  if (!read) {
    failure_ = read.error();
    return Fail(*failure_);
  }
  end_ += *read;
  at_end_ = *read == 0;
  return !at_end_;
}

Status LineReader::SkipRestOfLine() {
  while (true) {
    const void* found = std::memchr(buffer_.data() + at_, '\n', end_ - at_);
    if (found != nullptr) {
      at_ = static_cast<size_t>(static_cast<const char*>(found) - buffer_.data()) + 1;
      return {};
    }
    at_ = end_;
    const auto filled = Fill();
    if (!filled) return Fail(filled.error());
    if (!*filled) return {};
  }
}

Result<bool> LineReader::Next(std::string_view& line) {
  if (!line_ended_ && !at_end_) {
    if (auto skipped = SkipRestOfLine(); !skipped) return Fail(skipped.error());
  }
  size_t searched = 0;
  while (true) {
    const size_t from = at_ + searched;
    const void* found = from < end_ ? std::memchr(buffer_.data() + from, '\n', end_ - from) : nullptr;
    if (found != nullptr) {
      const auto end = static_cast<size_t>(static_cast<const char*>(found) - buffer_.data());
      line = {buffer_.data() + at_, end - at_};
      at_ = end + 1;
      line_ended_ = true;
      break;
    }
    searched = end_ - at_;
    if (searched >= kLineBytesMax) {
      line = {buffer_.data() + at_, kLineBytesMax};
      at_ += kLineBytesMax;
      line_ended_ = false;
      break;
    }
    const auto filled = Fill();
    if (!filled) return Fail(filled.error());
    if (*filled) continue;
    if (at_ == end_) return false;
    line = {buffer_.data() + at_, end_ - at_};
    at_ = end_;
    line_ended_ = false;
    break;
  }
  if (line.ends_with('\r')) line.remove_suffix(1);
  ++line_number_;
  return true;
}

}  // namespace seen

#include "tools/history/byte_stream.h"

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

#include "tools/history/foreign_format.h"

namespace seen {
namespace {

constexpr size_t kStoredBytesMax = 256 * 1024;  // in memory
constexpr int kZlibOrGzip = 32 + MAX_WBITS;

/// The stored bytes, not decompressed.
class StoredBytes {
 public:
  StoredBytes(std::string path, int file, uint64_t left)
      : path_(std::move(path)),
        file_(file),
        left_(left),
        is_bounded_(left < UINT64_MAX),
        buffer_(kStoredBytesMax) {}
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
        if (ZSTD_getErrorCode(outcome) == ZSTD_error_dictionary_wrong) {
          return Fail(Code::kMalformed, fmt::format("{0}: its zstd was packed with a dictionary. Use: "
                                                    "zstd -dc -D DICTIONARY {1} | seenctl replay -",
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
  for (const std::string_view zlib : {"\x78\x9c", "\x78\xda"}) {  // Hadoop's .deflate
    if (bytes.starts_with(zlib)) return ByteStream::Packing::kZlib;
  }
  if (bytes.starts_with("\x28\xb5\x2f\xfd")) return ByteStream::Packing::kZstd;
  // A skippable frame: the first frame of pzstd's output. Source: RFC 8878, section 3.1.2.
  if (bytes.size() >= 4 && (bytes[0] & 0xf0) == 0x50 && bytes.substr(1).starts_with("\x2a\x4d\x18"))
    return ByteStream::Packing::kZstd;
  return ByteStream::Packing::kPlain;
}

/// A format that isn't read doesn't begin so, and a pipe may give no more for a while.
bool LooksLikeJson(std::string_view bytes) {
  return bytes.starts_with('{') && bytes.substr(0, 4).find('\0') == std::string_view::npos;
}

std::unique_ptr<Unpacker> MakeUnpacker(ByteStream::Packing packing) {
  if (packing == ByteStream::Packing::kGzip || packing == ByteStream::Packing::kZlib)
    return std::make_unique<GzipUnpacker>();
  if (packing == ByteStream::Packing::kZstd) return std::make_unique<ZstdUnpacker>();
  return std::make_unique<PlainUnpacker>();
}

}  // namespace

struct ByteStream::Impl {
  Impl(const std::string& path, int file, uint64_t stored_size, uint64_t limit)
      : stored(path, file, limit), size(stored_size) {}
  /// The first bytes of what is packed, which Read returns first. A defect among them waits for Read.
  std::string_view Begin() {
    begin.resize(kFormatBytes);
    size_t count = 0;
    while (count < kFormatBytes) {
      const auto read = unpacker->Read(stored, std::span(begin).subspan(count));
      if (!read || *read == 0) break;
      count += *read;
      if (LooksLikeJson(begin)) break;
    }
    begin.resize(count);
    return begin;
  }
  std::string_view Name() const {
    switch (packing) {
      case Packing::kGzip:
        return "gzip";
      case Packing::kZlib:
        return "zlib";
      case Packing::kZstd:
        return "zstd";
      case Packing::kPlain:
        break;
    }
    return "";
  }

  StoredBytes stored;
  uint64_t size;
  Packing packing = Packing::kPlain;
  std::unique_ptr<Unpacker> unpacker;
  std::string begin;
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
  auto first = impl->stored.Peek(8);
  if (first && !LooksLikeJson(*first)) first = impl->stored.Peek(kFormatBytes);
  if (!first) return Fail(first.error());
  impl->packing = PackingOf(*first);
  impl->unpacker = MakeUnpacker(impl->packing);
  auto foreign = impl->packing == Packing::kPlain ? ForeignFormatOf(*first, path) : std::nullopt;
  if (impl->packing != Packing::kPlain) foreign = ForeignFormatOf(impl->Begin(), path, impl->Name());
  if (foreign) return Fail(Code::kInvalidArgument, ForeignText(*foreign, path));
  return ByteStream(std::move(impl));
}

Result<size_t> ByteStream::Read(std::span<char> into) {
  std::string& begin = impl_->begin;
  if (begin.empty()) return impl_->unpacker->Read(impl_->stored, into);
  const size_t count = std::min(begin.size(), into.size());
  std::memcpy(into.data(), begin.data(), count);
  begin.erase(0, count);
  return count;
}
std::string_view ByteStream::packing() const { return impl_->Name(); }
const std::string& ByteStream::path() const { return impl_->stored.path(); }
uint64_t ByteStream::position() const { return impl_->stored.taken(); }
uint64_t ByteStream::size() const { return impl_->size; }

}  // namespace seen

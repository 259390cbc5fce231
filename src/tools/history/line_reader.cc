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

#include "tools/history/foreign_format.h"

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

/// Whether there are bytes after the first `bytes` of what is left.
Result<bool> LineReader::FillBehind(size_t bytes) {
  while (end_ - at_ <= bytes) {
    const auto filled = Fill();
    if (!filled || !*filled) return filled;
  }
  return true;
}

Result<bool> LineReader::Next(std::string_view& text) {
  if (cut_ != Cut::kNothing) {
    if (auto skipped = SkipRestOfText(); !skipped) return Fail(skipped.error());
  }
  auto is_there = FindText();
  if (!is_there || !*is_there) return is_there;
  const uint64_t line = line_;
  if (buffer_[at_] != '{') {
    if (const auto taken = TakeLine(text); !taken) return taken;
  } else if (!TakeFlatObject(text)) {
    if (const auto taken = TakeObject(text); !taken) return taken;
    gave_object_ = true;
  }
  line_number_ = line;
  return true;
}

/// Goes to the next object or line. Between objects, what belongs to an array is blank.
Result<bool> LineReader::FindText() {
  size_t ahead = 0;
  while (true) {
    const auto filled = FillBehind(ahead);
    if (!filled) return Fail(filled.error());
    if (!*filled) return false;
    const char letter = buffer_[at_ + ahead];
    switch (letter) {
      case '{':
        at_ += ahead;
        return true;
      case '\r': {
        const auto behind = FillBehind(ahead + 1);
        if (behind && *behind && buffer_[at_ + ahead + 1] == '\n') ++ahead;
        [[fallthrough]];
      }
      case '\n':
        ++line_;
        gave_object_ = false;
        at_ += ahead + 1;
        ahead = 0;
        break;
      case ' ':
      case '\t':
      case '\x1e':  // begins a record of RFC 7464
        if (ahead == 0) {
          ++at_;
        } else {
          ++ahead;
        }
        break;
      case '[':
      case ']':
      case ',':
        ++ahead;
        if (ahead >= kReadBytes) {
          at_ += ahead;
          ahead = 0;
        }
        break;
      default:
        if (gave_object_) at_ += ahead;
        return true;
    }
  }
}

/// The common case, without a look at each byte: an object without another one in it, which ends its line.
bool LineReader::TakeFlatObject(std::string_view& text) {
  const char* const begin = buffer_.data() + at_;
  const size_t left = end_ - at_;
  const auto* const close = static_cast<const char*>(std::memchr(begin, '}', left));
  if (close == nullptr) return false;
  const auto bytes = static_cast<size_t>(close - begin) + 1;
  size_t line_end = 0;
  if (bytes < left && close[1] == '\n') line_end = 1;
  if (bytes + 1 < left && close[1] == '\r' && close[2] == '\n') line_end = 2;
  if (line_end == 0 || std::memchr(begin + 1, '{', bytes - 1) != nullptr ||
      std::memchr(begin, '\n', bytes) != nullptr || std::memchr(begin, '\r', bytes) != nullptr) {
    return false;
  }
  text = {begin, bytes};
  at_ += bytes + line_end;
  ++line_;
  gave_object_ = false;
  ended_ = true;
  return true;
}

/// Whether an object goes on behind the end of a line. `last`: its last character; `first`: the place of the
/// next one. A line that was cut off doesn't swallow the lines behind it: their objects begin at the start of
/// the line, and an object that is laid out on several lines is indented.
bool GoesOnBehind(char last, std::string_view next_line, size_t first) {
  if (next_line.front() == '{') return false;
  return std::string_view("{[,:").find(last) != std::string_view::npos ||
         std::string_view("}],:").find(next_line[first]) != std::string_view::npos;
}

/// Goes to the end of the object, or to the end of what is there. `bytes` are then the object's.
LineReader::Found LineReader::Advance(Scan& scan) const {
  for (size_t at = at_ + scan.bytes; at < end_; ++at) {
    const char letter = buffer_[at];
    if (scan.in_string && letter != '\n' && letter != '\r') {
      if (scan.is_escaped) {
        scan.is_escaped = false;
      } else if (letter == '\\') {
        scan.is_escaped = true;
      } else if (letter == '"') {
        scan.in_string = false;
      }
      continue;
    }
    switch (letter) {
      case '"':
        scan.in_string = true;
        break;
      case '{':
      case '[':
        ++scan.depth;
        break;
      case '}':
      case ']':
        if (--scan.depth == 0) {
          scan.bytes = at + 1 - at_;
          return Found::kEnd;
        }
        break;
      case '\n':
      case '\r': {
        const size_t next = at + (letter == '\r' && at + 1 < end_ && buffer_[at + 1] == '\n' ? 2 : 1);
        const std::string_view rest(buffer_.data() + next, end_ - std::min(next, end_));
        const size_t first = rest.find_first_not_of(" \t");
        if (!scan.in_string && first == std::string_view::npos && !at_end_) {
          scan.bytes = at - at_;
          return Found::kNeedsMore;
        }
        if (scan.in_string || first == std::string_view::npos || !GoesOnBehind(scan.last, rest, first)) {
          scan.bytes = at - at_;
          return Found::kEnd;
        }
        ++scan.lines;
        at = next - 1;
        continue;
      }
      case ' ':
      case '\t':
        continue;
      default:
        break;
    }
    scan.last = letter;
  }
  scan.bytes = end_ - at_;
  return Found::kNeedsMore;
}

Result<bool> LineReader::TakeObject(std::string_view& text) {
  Scan scan;
  ended_ = true;
  while (Advance(scan) == Found::kNeedsMore) {
    if (scan.bytes >= kLineBytesMax) {
      ended_ = false;
      cut_ = Cut::kObject;
      scan_ = scan;
      break;
    }
    const auto filled = Fill();
    if (!filled) return Fail(filled.error());
    if (!*filled && at_ + scan.bytes >= end_) {
      ended_ = false;
      break;
    }
  }
  text = {buffer_.data() + at_, std::min(scan.bytes, kLineBytesMax)};
  at_ += scan.bytes;
  line_ += scan.lines;
  scan_.bytes = 0;
  scan_.lines = 0;
  return true;
}

/// Looks for the end of a text that isn't an object: the first of `ends` outside a string.
class EndOfElement {
 public:
  explicit EndOfElement(std::string_view ends) : ends_(ends) {}
  /// `text`: the same as before, or more of it.
  size_t Find(std::string_view text) {
    for (; at_ < text.size() && !ends_.empty(); ++at_) {
      const char letter = text[at_];
      if (ends_.find(letter) != std::string_view::npos) {
        if (!in_string_) return at_;
        first_in_string_ = std::min(first_in_string_, at_);
      }
      if (std::exchange(is_escaped_, false)) continue;
      is_escaped_ = in_string_ && letter == '\\';
      if (letter == '"') in_string_ = !in_string_;
    }
    return std::string_view::npos;
  }
  /// Where the line has no more: a quote that nothing closes must not hide the objects behind it.
  size_t FindAtEnd() const { return in_string_ ? first_in_string_ : std::string_view::npos; }

 private:
  const std::string_view ends_;
  size_t at_ = 0;
  size_t first_in_string_ = std::string_view::npos;
  bool in_string_ = false;
  bool is_escaped_ = false;
};

/// A line that isn't an object. In an array it ends before the first object. Behind an object of the line, it
/// is one element.
Result<bool> LineReader::TakeLine(std::string_view& text) {
  if (buffer_[at_] == '\x1f' || buffer_[at_] == '\x28') static_cast<void>(FillBehind(3));
  if (IsPacked({buffer_.data() + at_, std::min<size_t>(end_ - at_, 4)})) {
    failure_ = PackedPart();
    return Fail(*failure_);
  }
  const bool begins_array = std::string_view("[],").find(buffer_[at_]) != std::string_view::npos;
  EndOfElement element(gave_object_ ? ",]{" : begins_array ? "{" : "");
  size_t searched = 0;
  while (true) {
    const std::string_view seen(buffer_.data() + at_, end_ - at_);
    const size_t line_end = std::min(seen.find('\n', searched), seen.find('\r', searched));
    size_t found = element.Find(seen.substr(0, line_end));
    if (found == std::string_view::npos && line_end != std::string_view::npos) found = element.FindAtEnd();
    ended_ = found != std::string_view::npos || line_end != std::string_view::npos;
    text = seen.substr(0, std::min(found, line_end));
    if (ended_) break;
    searched = seen.size();
    if (searched >= kLineBytesMax) {
      text = seen.substr(0, std::min(element.FindAtEnd(), kLineBytesMax));
      if (text.size() == kLineBytesMax) cut_ = Cut::kLine;
      break;
    }
    const auto filled = Fill();
    if (!filled) return Fail(filled.error());
    if (*filled) continue;
    text = {buffer_.data() + at_, std::min(element.FindAtEnd(), end_ - at_)};
    break;
  }
  at_ += text.size();
  // What belongs to the array between the elements.
  if (at_ < end_ && buffer_[at_] == '{') text = text.substr(0, text.find_last_not_of(" \t,[") + 1);
  return true;
}

/// Drops what is left of a text that was cut.
Status LineReader::SkipRestOfText() {
  while (true) {
    if (cut_ == Cut::kLine) {
      const std::string_view seen(buffer_.data() + at_, end_ - at_);
      const size_t found = seen.find_first_of("\r\n");
      at_ += std::min(found, seen.size());
      if (found != std::string_view::npos) break;
    } else {
      const Found found = Advance(scan_);
      at_ += std::exchange(scan_.bytes, 0);
      line_ += std::exchange(scan_.lines, 0);
      if (found == Found::kEnd) break;
    }
    const auto filled = Fill();
    if (!filled) return Fail(filled.error());
    if (!*filled && at_ == end_) break;
  }
  cut_ = Cut::kNothing;
  return {};
}

Error LineReader::PackedPart() const {
  const std::string& path = stream_.path();
  if (!stream_.packing().empty() || path == "-") {
    return {Code::kMalformed,
            fmt::format("{}: a packed part begins behind plain lines. Remedy: unpack it first", path)};
  }
  const uint64_t plain = stream_.position() - (end_ - at_);
  const std::string file = ShellQuoted(path);
  return {Code::kMalformed,
          fmt::format("{}: a packed part begins behind {} bytes of plain lines. Send it separately: "
                      "tail -c +{} {} | seenctl replay -",
                      path, plain, plain + 1, file)};
}

}  // namespace seen

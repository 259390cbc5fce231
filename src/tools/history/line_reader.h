#pragma once
// A file's bytes, decompressed, and the lines of these bytes. The first bytes of the file give the format,
// not its name.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace seen {

/// One thread.
class ByteStream {
 public:
  enum class Packing : uint8_t { kPlain, kGzip, kZstd };

  /// `path`: "-" is standard input. `stored_bytes_max`: bytes of the file after this limit are not read.
  /// kInvalidArgument: the file can't be opened, and the error says why. Or the format isn't read (Parquet,
  /// zip, ...), and the error has the command that converts the file.
  static Result<ByteStream> Open(const std::string& path, std::optional<uint64_t> stored_bytes_max = {});
  ByteStream(ByteStream&&) noexcept;
  ByteStream& operator=(ByteStream&&) noexcept;
  ~ByteStream();

  /// Fills `into` from its front. Returns the number of bytes; 0: the end. kMalformed: broken or cut off. All
  /// bytes before the defect were returned first.
  Result<size_t> Read(std::span<char> into);

  /// The reading position in the file, and the file's size at Open. Both count stored bytes. Size 0: unknown.
  uint64_t position() const;
  uint64_t size() const;

 private:
  struct Impl;
  explicit ByteStream(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// Recognizes a format that isn't read, by the first `bytes` of the file. Returns the format's name and the
/// command that converts the file into lines for `seenctl replay -`. nullopt: the file may be readable.
struct ForeignFormat {
  std::string_view name;
  std::string command;
};
std::optional<ForeignFormat> ForeignFormatOf(std::string_view bytes, const std::string& path);

/// `text` as one word of a shell.
std::string ShellQuoted(std::string_view text);

/// The lines of a file, or of standard input ("-"). One thread.
class LineReader {
 public:
  static constexpr size_t kLineBytesMax = 64 * 1024 * 1024;

  explicit LineReader(ByteStream stream) : stream_(std::move(stream)) {}
  /// Errors: as ByteStream::Open.
  static Result<LineReader> Open(const std::string& path);

  /// The next line without its end ("\n" or "\r\n"), valid until the next call. The last line needs no end. A
  /// line over kLineBytesMax is cut to its beginning. False: no more lines. Errors: as ByteStream::Read;
  /// line_number() is then the line before.
  Result<bool> Next(std::string_view& line);

  /// Shows text that Next hasn't returned yet, and doesn't take it. The text has at least the first line if
  /// that line is at most 256 KiB. A pipe may give less.
  std::string_view Ahead();
  /// Removes the first `bytes` of the text that Ahead shows.
  void Skip(size_t bytes) { at_ += bytes; }

  /// Whether the last returned line had its end. The file's last line may have none, a cut line has none.
  bool line_ended() const { return line_ended_; }
  uint64_t line_number() const { return line_number_; }     // of the line last returned, from 1
  uint64_t position() const { return stream_.position(); }  // in stored (packed) bytes

 private:
  Result<bool> Fill();
  Status SkipRestOfLine();

  ByteStream stream_;
  uint64_t line_number_ = 0;
  std::vector<char> buffer_;
  size_t at_ = 0;   // start of the text that has not been returned
  size_t end_ = 0;  // end of the text that was read
  bool at_end_ = false;
  std::optional<Error> failure_;  // of the stream, which ends there
  bool line_ended_ = true;
};

}  // namespace seen

#pragma once
// The lines of a file, plain or packed (byte_stream.h), or of standard input ("-").

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tools/history/byte_stream.h"

namespace seen {

/// One thread.
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
  uint64_t line_number() const { return line_number_; }  // of the line last returned, from 1
  /// The reading position in the file, and the file's size, both in stored (packed) bytes. Size 0: unknown.
  uint64_t position() const { return stream_.position(); }
  uint64_t size() const { return stream_.size(); }
  ByteStream::Packing packing() const { return stream_.packing(); }

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

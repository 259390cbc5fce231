#pragma once
// Lines of a file, plain or packed (byte_stream.h), or of standard input ("-").

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
  /// Errors as ByteStream::Open.
  static Result<LineReader> Open(const std::string& path);

  /// The next line without its end ("\n" or "\r\n"), valid until the next call; the last needs no end. Of a
  /// line over kLineBytesMax only its beginning. False: no more. kMalformed: broken or cut off; the error
  /// names the line before.
  Result<bool> Next(std::string_view& line);

  /// Text that Next hasn't returned yet, without taking it: at least the first line, where it isn't longer
  /// than 256 KiB.
  std::string_view Ahead();
  /// Leaves out the first `bytes` of what Ahead shows.
  void Skip(size_t bytes) { at_ += bytes; }

  /// Whether the line last returned had its end. The last one may have none, and one that was cut.
  bool line_ended() const { return line_ended_; }
  uint64_t line_number() const { return line_number_; }  // of the line last returned, from 1
  /// How far into the file reading has come, and its size, both as stored (packed); size 0: unknown.
  uint64_t position() const { return stream_.position(); }
  uint64_t size() const { return stream_.size(); }
  ByteStream::Packing packing() const { return stream_.packing(); }

 private:
  Result<bool> Fill();
  Status SkipRestOfLine();

  ByteStream stream_;
  uint64_t line_number_ = 0;
  std::vector<char> buffer_;
  size_t at_ = 0;   // start of what has not been returned
  size_t end_ = 0;  // of what was read
  bool at_end_ = false;
  std::optional<Error> failure_;  // of the stream: it ends there
  bool line_ended_ = true;
};

}  // namespace seen

#pragma once
// Lines of a file, plain or gzip (told by its bytes, not its name), or of standard input ("-").

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace seen {

/// One thread.
class LineReader {
 public:
  /// kNotFound names the file and why it can't be opened.
  static Result<LineReader> Open(const std::string& path);

  /// The next line without its end ("\n" or "\r\n"), valid until the next call; the last needs no end. False:
  /// no more. kMalformed: broken gzip, or a line over 64 MiB.
  Result<bool> Next(std::string_view& line);

  uint64_t line_number() const { return line_number_; }  // of the line last returned, from 1
  /// How far into the file reading has come, and its size, both as stored (compressed); size 0: unknown.
  uint64_t position() const;
  uint64_t size() const { return size_; }

 private:
  struct GzipCloser {
    void operator()(void* file) const;
  };
  LineReader(std::string path, void* file, uint64_t size);
  Result<bool> Fill();

  std::string path_;
  std::unique_ptr<void, GzipCloser> file_;  // gzFile
  uint64_t size_ = 0;
  uint64_t line_number_ = 0;
  std::string buffer_;
  size_t at_ = 0;  // start of what has not been returned
  bool at_end_ = false;
};

}  // namespace seen

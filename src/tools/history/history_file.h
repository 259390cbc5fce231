#pragma once
// The files of a history: which files the command line names, and their lines.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tools/history/line_reader.h"

namespace seen {

inline constexpr size_t kFirstBlockBytes = 64 * 1024;

/// A file in its state at the start of the run. Later additions to it are not part of the history.
struct HistoryFile {
  std::string name;               // absolute and canonical: ./g and g are the same file; "-": standard input
  uint64_t size = 0;              // as stored; 0 for standard input
  uint64_t first_block_hash = 0;  // of the first kFirstBlockBytes of the `size` bytes
  bool may_be_broken = false;  // as input.lenient: bytes that aren't UTF-8 say nothing about the whole file
};

/// Expands globs, and walks through folders with all their subfolders. A file that is named twice is one
/// file. Leaves out names in a folder that begin with "." or "_": Hadoop and Spark hide such files. Ordered
/// by name. kInvalidArgument: a name, glob or folder without any file, a pipe, or a format that isn't read.
Result<std::vector<HistoryFile>> FindHistoryFiles(std::span<const std::string> arguments);

/// The hash of the first kFirstBlockBytes of `name`, or of the first `size` bytes if `size` is less.
/// kInvalidArgument: they can't be read.
Result<uint64_t> FirstBlockHash(const std::string& name, uint64_t size);

/// The texts of one file, each of which should be an event. One thread.
class HistoryReader {
 public:
  /// kInvalidArgument: no such file, or a format that isn't read. The error has the command that reads it.
  static Result<HistoryReader> Open(const HistoryFile& file);

  /// As LineReader::Next. kMalformed: the file is cut off or broken after the last returned text.
  Result<bool> Next(std::string_view& text);

  uint64_t line_number() const { return lines_.line_number(); }  // where the last text begins, from 1
  uint64_t position() const { return lines_.position(); }
  /// Call it after Next returned false: the number of bytes that were added to the file and are not read.
  uint64_t bytes_not_read() const { return bytes_not_read_; }

 private:
  HistoryReader(const HistoryFile& file, LineReader lines) : file_(file), lines_(std::move(lines)) {}
  Status CheckFormat();
  uint64_t GrownBy() const;

  HistoryFile file_;
  LineReader lines_;
  uint64_t bytes_not_read_ = 0;
};

}  // namespace seen

#pragma once
// The files of a history: which files the command line names, their order, and their properties.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace seen {

inline constexpr size_t kFirstBlockBytes = 64 * 1024;

/// A file in its state at the start of the run. Later additions to it are not part of the history.
struct HistoryFile {
  std::string name;               // absolute and canonical: ./g and g are the same file; "-": standard input
  uint64_t size = 0;              // as stored; 0 for standard input
  uint64_t first_block_hash = 0;  // of the first kFirstBlockBytes of the `size` bytes
};

enum class HistoryOrder : uint8_t { kName, kTime };

/// Expands globs, and walks through folders with all their subfolders. A file that is named twice is one
/// file. Leaves out names in a folder that begin with "." or "_": Hadoop and Spark hide such files. Ordered
/// by name. kInvalidArgument: a name, glob or folder without any file, a pipe, or a format that isn't read.
Result<std::vector<HistoryFile>> FindHistoryFiles(std::span<const std::string> arguments);

/// The hash of the first kFirstBlockBytes of `name`, or of the first `size` bytes if `size` is less.
/// kInvalidArgument: they can't be read.
Result<uint64_t> FirstBlockHash(const std::string& name, uint64_t size);

}  // namespace seen

#pragma once
// The files of a history: which ones the command line means, in which order, and what each one is like.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace seen {

inline constexpr size_t kFirstBlockBytes = 64 * 1024;

/// A file as it is when the run starts. What is added to it later is not part of the history.
struct HistoryFile {
  std::string name;               // absolute and canonical, so that ./g and g are one; "-": standard input
  uint64_t size = 0;              // as stored; 0 of standard input
  uint64_t first_block_hash = 0;  // of the first kFirstBlockBytes of the `size` bytes
};

enum class HistoryOrder : uint8_t { kName, kTime };

/// Globs are expanded, folders are walked through with all below them, and a file named twice is one file. In
/// a folder, names that begin with "." or "_" are left out, as Hadoop and Spark mean them. Ordered by name.
/// kInvalidArgument: a name, glob or folder without any file, a pipe, or a format that isn't read.
Result<std::vector<HistoryFile>> FindHistoryFiles(std::span<const std::string> arguments);

/// The hash of the first block of `name` as if the file had `size` bytes. kInvalidArgument.
Result<uint64_t> FirstBlockHash(const std::string& name, uint64_t size);

}  // namespace seen

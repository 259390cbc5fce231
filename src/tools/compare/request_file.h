#pragma once
// Files of real requests: one JSON object per line, {"user_id":"u1","items":["n1",7],"filter":"default"}.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tools/history/line_reader.h"

namespace seen {

/// One request of the recommender: a user and the candidates.
struct CompareRequest {
  uint64_t number = 0;  // among all lines that aren't blank, from 1
  std::string place;    // "requests.jsonl:17"
  std::string line;     // unchanged, as in the file
  std::string user_id;
  std::string filter;               // empty: the line names no filter
  std::vector<std::string> items;   // each once, in the line's order, without those in "also_seen"
  std::vector<int64_t> created_ms;  // by place in `items`, ms since the epoch; 0: not known. Empty: none
  uint64_t repeated = 0;            // candidates that the line names again
  uint64_t also_seen = 0;           // candidates that are in the line's "also_seen"
};

/// Names of members that `compare` doesn't use, and the number of lines that have them.
using UnusedMembers = std::map<std::string, uint64_t>;

/// `text`: one line. kInvalidArgument says what is wrong, with its JSON path. Pure.
Result<CompareRequest> ParseCompareRequest(std::string_view text, UnusedMembers& unused);

/// A line of the files: a request, or why it isn't one.
struct RequestLine {
  CompareRequest request;  // for a bad line, only `number` and `place` are set
  std::string problem;     // not empty: a bad line
};

/// One thread.
class RequestFile {
 public:
  /// `paths`: plain, gzip or zstd; "-": standard input. kInvalidArgument: as LineReader::Open, for each path.
  static Result<RequestFile> Open(std::vector<std::string> paths);

  /// The next line that isn't blank. False: no more lines. kMalformed: a file is cut off or broken after the
  /// last returned line; the message names the file.
  Result<bool> Next(RequestLine& line);

  /// The number of lines so far that weren't blank, good and bad.
  uint64_t lines() const { return number_; }
  const UnusedMembers& unused_members() const { return unused_; }

 private:
  RequestFile() = default;

  std::vector<std::string> paths_;
  size_t next_path_ = 0;
  std::optional<LineReader> reader_;
  uint64_t number_ = 0;
  UnusedMembers unused_;
};

}  // namespace seen

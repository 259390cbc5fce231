#pragma once
// The old filter's answers in a file: a JSON object for each request, {"user_id":"u1","dropped":["n1"]}.

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "tools/compare/old_filter.h"
#include "tools/history/line_reader.h"

namespace seen {

/// `text`: the answer's line. "dropped" lists the items that the old filter dropped, or "kept" those that it
/// kept; "user_id", where it stands, must be the request's. kInvalidArgument says what is wrong. Pure.
Result<OldAnswer> ReadOldAnswer(std::string_view text, const CompareRequest& request);

/// The first line that isn't blank answers the first request, and so on: lines of bad requests count. So it
/// has to be asked about the requests in their order, by one thread.
class AnswersFile final : public OldFilter {
 public:
  /// Plain, gzip or zstd. Errors as LineReader::Open.
  static Result<std::unique_ptr<AnswersFile>> Open(const std::string& path);

  /// Outer errors: the file ends before the requests, or is broken.
  Result<std::vector<Result<OldAnswer>>> Ask(std::span<const CompareRequest> requests) override;

  /// Whether the file has lines behind the one of request `last`. `last`: its number, 0 if there is none.
  Result<bool> HasMoreThan(uint64_t last);

 private:
  AnswersFile(std::string path, LineReader lines) : path_(std::move(path)), lines_(std::move(lines)) {}
  Result<bool> NextLine(std::string_view& text);

  std::string path_;
  LineReader lines_;
  uint64_t number_ = 0;  // lines that weren't blank, so far
};

}  // namespace seen

#pragma once
// The old filter's answers in a file: one JSON object per request, {"user_id":"u1","dropped":["n1"]}.

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "tools/compare/old_filter.h"
#include "tools/history/line_reader.h"

namespace seen {

/// `text`: the answer's line. "dropped" lists the items that the old filter dropped, or "kept" the items that
/// it kept. "user_id" is optional, and must be the request's user. kInvalidArgument says what is wrong. Pure.
Result<OldAnswer> ReadOldAnswer(std::string_view text, const CompareRequest& request);

/// The first line that isn't blank answers the first request, and so on. Lines of bad requests count, too. So
/// one thread must ask about all requests in their order.
class AnswersFile final : public OldFilter {
 public:
  /// Plain, gzip or zstd. Errors as LineReader::Open.
  static Result<std::unique_ptr<AnswersFile>> Open(const std::string& path);

  /// Outer errors: the file ends before the last request, or is broken.
  Result<std::vector<Result<OldAnswer>>> Ask(std::span<const CompareRequest> requests) override;

  /// Whether the file has more lines after the line of request `last`. `last`: the request's number, or 0
  /// without requests.
  Result<bool> HasMoreThan(uint64_t last);

 private:
  AnswersFile(std::string path, LineReader lines) : path_(std::move(path)), lines_(std::move(lines)) {}
  Result<bool> NextLine(std::string_view& text);

  std::string path_;
  LineReader lines_;
  uint64_t number_ = 0;  // lines so far that weren't blank
};

}  // namespace seen

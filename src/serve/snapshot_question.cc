#include "serve/snapshot_question.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "serve/query_string.h"

namespace seen {

Result<SnapshotQuestion> ReadSnapshotQuestion(std::string_view target) {
  constexpr std::string_view kKnown[] = {"format", "fpr"};
  const auto query = ParseQuery(QueryOf(target), kKnown);
  if (!query) return Fail(query.error());
  SnapshotQuestion question;
  if (const auto format = query->find("format"); format != query->end()) {
    question.format = ParseSnapshotFormat(format->second);
    if (!question.format) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("format: \"{}\" is unknown; there are: {}", format->second.substr(0, 64),
                              fmt::join(kSnapshotFormatNames, ", ")));
    }
  }
  if (const auto rate = query->find("fpr"); rate != query->end()) {
    const auto number = ParseDecimal("fpr", rate->second, 0, kRateMax);
    if (!number) return Fail(number.error());
    question.false_positive_rate = *number;
  }
  return question;
}

}  // namespace seen

#include "serve/snapshot_question.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
namespace seen {

Result<SnapshotQuestion> ReadSnapshotQuestion(const QueryValues& values) {
  SnapshotQuestion question;
  if (const auto format = values.find("format"); format != values.end()) {
    question.format = ParseSnapshotFormat(format->second);
    if (!question.format) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("format: \"{}\" is unknown; there are: {}", format->second.substr(0, 64),
                              fmt::join(kSnapshotFormatNames, ", ")));
    }
  }
  if (const auto rate = values.find("fpr"); rate != values.end()) {
    const auto number = ParseDecimal("fpr", rate->second, 0, kRateMax);
    if (!number) return Fail(number.error());
    question.false_positive_rate = *number;
  }
  return question;
}

}  // namespace seen

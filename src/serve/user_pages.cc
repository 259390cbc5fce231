#include <fmt/format.h>
#include <fmt/ranges.h>

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/event.h"
#include "serve/answer_json.h"
#include "serve/pages.h"
#include "serve/request_input.h"
#include "serve/unseen_body.h"

namespace seen {
namespace {

using std::chrono::milliseconds;

constexpr int64_t kExposuresMax = 1000;          // of one answer
constexpr int64_t kTimeMax = 4'294'967'295'000;  // 2106
constexpr std::string_view kMaxAge = "max_age_ms";
constexpr int64_t kMaxAgeMax = 1'000'000'000;

/// A question's parameters, and the greatest age of a state that may answer it.
struct Parameters {
  QueryValues values;
  std::optional<milliseconds> age_max;  // nullopt: any
};

Result<Parameters> ReadParameters(std::string_view target, std::initializer_list<std::string_view> others) {
  Parameters parameters;
  const std::string_view query = QueryOf(target);
  if (query.empty()) return parameters;
  std::vector<std::string_view> known(others);
  known.push_back(kMaxAge);
  auto values = ParseQuery(query, known);
  if (!values) return Fail(std::move(values.error()));
  parameters.values = std::move(*values);
  if (const auto found = parameters.values.find(kMaxAge); found != parameters.values.end()) {
    const auto number = ParseNumber(kMaxAge, found->second, 1, kMaxAgeMax);
    if (!number) return Fail(number.error());
    parameters.age_max = milliseconds(*number);
  }
  return parameters;
}

/// What is wrong with an answer from a state of this age; empty: nothing.
std::string TooOld(const AsOf& as_of, const std::optional<milliseconds>& age_max) {
  if (!age_max || (as_of.age && *as_of.age <= *age_max)) return {};
  constexpr std::string_view kRemedy =
      "The brokers don't answer, or this daemon lags: ask another daemon, ask again later, or allow a "
      "greater age";
  if (!as_of.age)
    return fmt::format("the age of this state isn't known, and {} = {}. {}", kMaxAge, age_max->count(),
                       kRemedy);
  return fmt::format("this state may be {} ms old, more than {} = {}. {}", as_of.age->count(), kMaxAge,
                     age_max->count(), kRemedy);
}

std::string AsOfText(const AsOf& as_of) {
  constexpr std::string_view kUnknown = "unknown";
  return fmt::format("{}; lag={}; age_ms={}", as_of.partition_time.value,
                     as_of.lag_messages ? std::to_string(*as_of.lag_messages) : kUnknown,
                     as_of.age ? std::to_string(as_of.age->count()) : kUnknown);
}

struct UserPath {
  std::string filter;
  std::string user_id;
};

Result<UserPath> DecodeUserPath(const RoutedRequest& routed) {
  auto filter = DecodePathSegment(routed.parameters[0]);
  if (!filter) return Fail(Code::kInvalidArgument, "filter name: " + filter.error().message);
  auto user_id = DecodeUserId(routed.parameters[1]);
  if (!user_id) return Fail(user_id.error());
  return UserPath{std::move(*filter), std::move(*user_id)};
}

struct UserPage {
  AsOf as_of;
  std::string body;
  std::string_view content_type = "application/json";
};

HttpResponse Answered(UserPage page, const Parameters& parameters, std::string_view target) {
  HttpResponse response;
  if (const std::string problem = TooOld(page.as_of, parameters.age_max); !problem.empty()) {
    response = Problem(503, problem, target);
  } else {
    response.content_type = page.content_type;
    response.body = std::move(page.body);
  }
  response.headers.emplace_back("Seen-As-Of", AsOfText(page.as_of));
  if (const auto since = page.as_of.complete_since)
    response.headers.emplace_back("Seen-Complete-Since", std::to_string(since->value));
  return response;
}

/// `names`: of the page's parameters. `ask`: returns a Result<UserPage> for a path and parameters.
template <typename Ask>
HttpResponse AboutUser(const RoutedRequest& routed, std::initializer_list<std::string_view> names, Ask ask) {
  const std::string_view target = routed.request.target;
  const auto path = DecodeUserPath(routed);
  if (!path) return Problem(path.error(), target);
  const auto parameters = ReadParameters(target, names);
  if (!parameters) return Problem(parameters.error(), target);
  Result<UserPage> page = ask(*path, parameters->values);
  if (!page) return Problem(page.error(), target);
  return Answered(std::move(*page), *parameters, target);
}

Result<ExposuresQuestion> ReadExposuresQuestion(const QueryValues& values) {
  ExposuresQuestion question;
  for (const auto& [name, value] : values) {
    if (name == "item") {
      if (Status valid = CheckItemId("item", value); !valid) return Fail(valid.error());
      question.item = value;
    } else if (name == "cursor") {
      question.cursor = value;
    } else if (name == "since") {
      const auto number = ParseNumber(name, value, 0, kTimeMax);
      if (!number) return Fail(number.error());
      question.since = {*number};
    } else if (name == "limit") {
      const auto number = ParseNumber(name, value, 1, kExposuresMax);
      if (!number) return Fail(number.error());
      question.limit = static_cast<uint32_t>(*number);
    }
  }
  return question;
}

Result<SegmentsQuestion> ReadSegmentsQuestion(const QueryValues& values) {
  SegmentsQuestion question;
  if (const auto cursor = values.find("cursor"); cursor != values.end()) question.cursor = cursor->second;
  if (const auto limit = values.find("limit"); limit != values.end()) {
    const auto number = ParseNumber("limit", limit->second, 1, kSegmentsMax);
    if (!number) return Fail(number.error());
    question.limit = static_cast<uint32_t>(*number);
  }
  return question;
}

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

}  // namespace

Result<std::string> DecodeUserId(std::string_view segment) {
  auto user_id = DecodePathSegment(segment);
  if (!user_id) return Fail(Code::kInvalidArgument, "user id: " + user_id.error().message);
  if (user_id->empty()) return Fail(Code::kInvalidArgument, "user id: empty; it has 1 to 512 bytes");
  if (user_id->size() > kIdBytesMax) {
    return Fail(Code::kInvalidArgument,
                "user id: " + std::to_string(user_id->size()) + " bytes; it has 1 to 512 bytes");
  }
  return user_id;
}

HttpResponse AnswerSnapshot(const PageSources& sources, const RoutedRequest& routed) {
  const auto ask = [&](const UserPath& of, const QueryValues& values) -> Result<UserPage> {
    const auto question = ReadSnapshotQuestion(values);
    if (!question) return Fail(question.error());
    auto answer = sources.queries.Snapshot(of.filter, of.user_id, *question);
    if (!answer) return Fail(answer.error());
    return UserPage{answer->as_of, std::move(answer->bytes), "application/octet-stream"};
  };
  return AboutUser(routed, {"format", "fpr"}, ask);
}

std::optional<HttpResponse> RefuseUnseen(const PageSources& sources, const RoutedRequest& routed) {
  const std::string_view target = routed.request.target;
  const auto path = DecodeUserPath(routed);
  if (!path) return Problem(path.error(), target);
  if (const auto parameters = ReadParameters(target, {}); !parameters)
    return Problem(parameters.error(), target);
  if (const Status can = sources.queries.CanAnswer(path->filter, path->user_id); !can)
    return Problem(can.error(), target);
  return std::nullopt;
}

HttpResponse AnswerUnseen(const PageSources& sources, const RoutedRequest& routed) {
  const auto ask = [&](const UserPath& of, const QueryValues&) -> Result<UserPage> {
    const auto question = ParseUnseenQuestion(routed.request.body);
    if (!question) return Fail(question.error());
    const CandidateList candidates{question->items(), question->created_seconds(), question->one_per_group()};
    const auto answer = sources.queries.Unseen(of.filter, of.user_id, candidates, question->also_seen());
    if (!answer) return Fail(answer.error());
    return UserPage{answer->as_of, WriteUnseenAndSimilar(question->items(), *answer)};
  };
  return AboutUser(routed, {}, ask);
}

HttpResponse AnswerSegments(const PageSources& sources, const RoutedRequest& routed) {
  const auto ask = [&](const UserPath& of, const QueryValues& values) -> Result<UserPage> {
    const auto question = ReadSegmentsQuestion(values);
    if (!question) return Fail(question.error());
    const auto answer = sources.queries.User(of.filter, of.user_id, *question);
    if (!answer) return Fail(answer.error());
    return UserPage{answer->as_of, WriteUser(of.filter, of.user_id, *answer)};
  };
  return AboutUser(routed, {"limit", "cursor"}, ask);
}

HttpResponse AnswerExposures(const PageSources& sources, const RoutedRequest& routed) {
  const auto ask = [&](const UserPath& of, const QueryValues& values) -> Result<UserPage> {
    const auto question = ReadExposuresQuestion(values);
    if (!question) return Fail(question.error());
    const auto answer = sources.queries.Exposures(of.filter, of.user_id, *question);
    if (!answer) return Fail(answer.error());
    return UserPage{answer->as_of, WriteExposures(*answer)};
  };
  return AboutUser(routed, {"item", "since", "limit", "cursor"}, ask);
}

HttpResponse AnswerNewest(const PageSources& sources, const RoutedRequest& routed) {
  constexpr std::string_view kUntil = "until";
  const std::string_view target = routed.request.target;
  const auto user_id = DecodeUserId(routed.parameters[0]);
  if (!user_id) return Problem(user_id.error(), target);
  const auto parameters = ReadParameters(target, {kUntil});
  if (!parameters) return Problem(parameters.error(), target);
  Result<int64_t> until = kTimeMax;
  if (const auto given = parameters->values.find(kUntil); given != parameters->values.end())
    until = ParseNumber(kUntil, given->second, 0, kTimeMax);
  if (!until) return Problem(until.error(), target);
  const auto answer = sources.queries.Newest(*user_id, {*until});
  if (!answer) return Problem(answer.error(), target);
  const std::string newest = answer->newest ? std::to_string(answer->newest->value) : "null";
  return Answered({answer->as_of, fmt::format("{{\"{}\":{}}}\n", kNewestAt, newest)}, *parameters, target);
}

HttpResponse AnswerWhy(const PageSources& sources, const RoutedRequest& routed) {
  const auto ask = [&](const UserPath& of, const QueryValues& values) -> Result<UserPage> {
    const auto item = values.find("item");
    if (item == values.end()) return Fail(Code::kInvalidArgument, "item: missing; ask with ?item=ID");
    if (Status valid = CheckItemId("item", item->second); !valid) return Fail(valid.error());
    const auto answer = sources.queries.Why(of.filter, of.user_id, item->second);
    if (!answer) return Fail(answer.error());
    return UserPage{answer->as_of, WriteWhy(item->second, *answer)};
  };
  return AboutUser(routed, {"item"}, ask);
}

}  // namespace seen

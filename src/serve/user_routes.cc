#include "serve/user_routes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <initializer_list>
#include <vector>

#include "model/event.h"
#include "serve/answer_json.h"
#include "serve/http_message.h"
#include "serve/query_string.h"
#include "serve/unseen_body.h"

namespace seen {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view kJson = "application/json";
constexpr int64_t kExposuresMax = 1000;           // of one answer
constexpr int64_t kSinceMax = 4'294'967'295'000;  // 2106
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

HttpResponse AboutUser(const AsOf& as_of, const Parameters& parameters, std::string_view target,
                       std::string_view content_type, std::string body) {
  HttpResponse response;
  if (const std::string problem = TooOld(as_of, parameters.age_max); !problem.empty()) {
    response = Problem(503, problem, target);
  } else {
    response.content_type = content_type;
    response.body = std::move(body);
  }
  response.headers.emplace_back("Seen-As-Of", AsOfText(as_of));
  if (as_of.complete_since)
    response.headers.emplace_back("Seen-Complete-Since", std::to_string(as_of.complete_since->value));
  return response;
}

Status CheckItem(std::string_view item) {
  if (!item.empty() && item.size() <= kIdBytesMax) return {};
  return Fail(Code::kInvalidArgument,
              "item: " + std::to_string(item.size()) + " bytes; an item id has 1 to 512 bytes");
}

Result<ExposuresQuestion> ReadExposuresQuestion(const QueryValues& values) {
  ExposuresQuestion question;
  for (const auto& [name, value] : values) {
    if (name == "item") {
      if (Status valid = CheckItem(value); !valid) return Fail(valid.error());
      question.item = value;
    } else if (name == "cursor") {
      question.cursor = value;
    } else if (name == "since") {
      const auto number = ParseNumber(name, value, 0, kSinceMax);
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

Result<UserPath> DecodeUserPath(std::span<const std::string_view> segments) {
  auto filter = DecodePathSegment(segments[0]);
  if (!filter) return Fail(Code::kInvalidArgument, "filter name: " + filter.error().message);
  auto user_id = DecodeUserId(segments[1]);
  if (!user_id) return Fail(user_id.error());
  return UserPath{std::move(*filter), std::move(*user_id)};
}

HttpResponse AnswerSnapshot(const QueryPort& queries, const UserPath& path, const HttpRequest& request) {
  const auto parameters = ReadParameters(request.target, {"format", "fpr"});
  if (!parameters) return Problem(parameters.error(), request.target);
  const auto question = ReadSnapshotQuestion(parameters->values);
  if (!question) return Problem(question.error(), request.target);
  auto answer = queries.Snapshot(path.filter, path.user_id, *question);
  if (!answer) return Problem(answer.error(), request.target);
  return AboutUser(answer->as_of, *parameters, request.target, "application/octet-stream",
                   std::move(answer->bytes));
}

std::optional<HttpResponse> RefuseUnseen(const QueryPort& queries, const UserPath& path,
                                         const HttpRequest& head) {
  if (const auto parameters = ReadParameters(head.target, {}); !parameters) {
    return Problem(parameters.error(), head.target);
  }
  if (const Status can = queries.CanAnswer(path.filter, path.user_id); !can) {
    return Problem(can.error(), head.target);
  }
  return std::nullopt;
}

HttpResponse AnswerUnseen(const QueryPort& queries, const UserPath& path, const HttpRequest& request) {
  const auto parameters = ReadParameters(request.target, {});
  if (!parameters) return Problem(parameters.error(), request.target);
  const auto question = ParseUnseenQuestion(request.body);
  if (!question) return Problem(question.error(), request.target);
  const auto answer = queries.Unseen(
      path.filter, path.user_id, {question->items(), question->created_seconds(), question->one_per_group()},
      question->also_seen());
  if (!answer) return Problem(answer.error(), request.target);
  return AboutUser(answer->as_of, *parameters, request.target, kJson,
                   WriteUnseenAndSimilar(question->items(), *answer));
}

HttpResponse AnswerSegments(const QueryPort& queries, const UserPath& path, const HttpRequest& request) {
  const auto parameters = ReadParameters(request.target, {});
  if (!parameters) return Problem(parameters.error(), request.target);
  const auto answer = queries.User(path.filter, path.user_id);
  if (!answer) return Problem(answer.error(), request.target);
  return AboutUser(answer->as_of, *parameters, request.target, kJson,
                   WriteUser(path.filter, path.user_id, *answer));
}

HttpResponse AnswerExposures(const QueryPort& queries, const UserPath& path, const HttpRequest& request) {
  const auto parameters = ReadParameters(request.target, {"item", "since", "limit", "cursor"});
  if (!parameters) return Problem(parameters.error(), request.target);
  const auto question = ReadExposuresQuestion(parameters->values);
  if (!question) return Problem(question.error(), request.target);
  const auto answer = queries.Exposures(path.filter, path.user_id, *question);
  if (!answer) return Problem(answer.error(), request.target);
  return AboutUser(answer->as_of, *parameters, request.target, kJson, WriteExposures(*answer));
}

HttpResponse AnswerWhy(const QueryPort& queries, const UserPath& path, const HttpRequest& request) {
  const auto parameters = ReadParameters(request.target, {"item"});
  if (!parameters) return Problem(parameters.error(), request.target);
  const auto item = parameters->values.find("item");
  if (item == parameters->values.end())
    return Problem(400, "item: missing; ask with ?item=ID", request.target);
  if (Status valid = CheckItem(item->second); !valid) return Problem(valid.error(), request.target);
  const auto answer = queries.Why(path.filter, path.user_id, item->second);
  if (!answer) return Problem(answer.error(), request.target);
  return AboutUser(answer->as_of, *parameters, request.target, kJson, WriteWhy(item->second, *answer));
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

}  // namespace seen

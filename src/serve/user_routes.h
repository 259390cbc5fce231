#pragma once
// Pages about a user: /v1/filters/{filter}/users/{user} and the pages below it.

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "query/query_port.h"
#include "serve/http_message.h"
#include "serve/query_string.h"

namespace seen {

struct UserPath {
  std::string filter;
  std::string user_id;
};

/// `segment`: percent-encoded. kInvalidArgument: not 1 to 512 bytes of UTF-8.
Result<std::string> DecodeUserId(std::string_view segment);
/// `segments`: the filter's name and the user's id, percent-encoded.
Result<UserPath> DecodeUserPath(std::span<const std::string_view> segments);

/// What is wrong with the head of a POST .../unseen; nullopt: nothing so far.
std::optional<HttpResponse> RefuseUnseen(const QueryPort& queries, const UserPath& path,
                                         const HttpRequest& head);

// All pages take ?max_age_ms= and answer 503 if the state may be older. Any thread.
HttpResponse AnswerSnapshot(const QueryPort& queries, const UserPath& path, const HttpRequest& request);
HttpResponse AnswerUnseen(const QueryPort& queries, const UserPath& path, const HttpRequest& request);
HttpResponse AnswerSegments(const QueryPort& queries, const UserPath& path, const HttpRequest& request);
HttpResponse AnswerExposures(const QueryPort& queries, const UserPath& path, const HttpRequest& request);
HttpResponse AnswerWhy(const QueryPort& queries, const UserPath& path, const HttpRequest& request);

// GET .../users/{user}?format=&fpr=

/// Reads "format" and "fpr", and ignores other parameters. kInvalidArgument names the parameter, its value
/// and what is allowed. Any thread.
Result<SnapshotQuestion> ReadSnapshotQuestion(const QueryValues& values);

}  // namespace seen

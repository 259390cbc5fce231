#include "serve/routes.h"

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "model/event.h"
#include "serve/percent.h"
#include "serve/problem.h"
#include "serve/status_json.h"
#include "serve/unseen_body.h"

namespace seen {
namespace {

constexpr std::string_view kJson = "application/json";
constexpr std::string_view kText = "text/plain; charset=utf-8";

enum class Page {
  kRoot,
  kHealth,
  kReady,
  kMetrics,
  kStatus,
  kAcknowledge,
  kPublish,
  kSnapshot,
  kUnseen,
  kSegments
};

struct Route {
  Page page;
  std::string_view pattern;  // "{}" stands for one segment, percent-encoded
  bool post;                 // else GET and HEAD
};

constexpr std::array<Route, 10> kRoutes = {{
    {Page::kRoot, "/", false},
    {Page::kHealth, "/healthz", false},
    {Page::kReady, "/readyz", false},
    {Page::kMetrics, "/metrics", false},
    {Page::kStatus, "/v1/status", false},
    {Page::kAcknowledge, "/v1/lost-ranges/acknowledge", true},
    {Page::kPublish, "/v1/publish", true},
    {Page::kSnapshot, "/v1/filters/{filter}/users/{user}", false},
    {Page::kUnseen, "/v1/filters/{filter}/users/{user}/unseen", true},
    {Page::kSegments, "/v1/filters/{filter}/users/{user}/segments", false},
}};

constexpr std::string_view kRootText =
    "seend: what users have seen\n"
    "\n"
    "GET  /v1/filters/{filter}/users/{user}           a user's snapshot\n"
    "POST /v1/filters/{filter}/users/{user}/unseen    {\"items\":[...],\"also_seen\":[...]}\n"
    "GET  /v1/filters/{filter}/users/{user}/segments  what is kept about a user, by day\n"
    "GET  /v1/status                                  partitions, offsets, lag, lost ranges\n"
    "POST /v1/lost-ranges/acknowledge                 forget the lost ranges\n"
    "POST /v1/publish                                 make all snapshots anew\n"
    "GET  /healthz                                    200 while the process lives\n"
    "GET  /readyz                                     200 or 503 with the reason\n"
    "GET  /metrics                                    Prometheus\n";

/// The path of a target in origin form ("/a?b") or absolute form ("http://host/a?b", RFC 9112 section 3.2.2).
std::string_view PathOf(std::string_view target) {
  if (!target.starts_with('/')) {
    const size_t authority = target.find("://");
    if (authority == std::string_view::npos) return {};
    const size_t path = target.find_first_of("/?", authority + 3);
    target = path == std::string_view::npos || target[path] == '?' ? "/" : target.substr(path);
  }
  return target.substr(0, target.find('?'));
}

/// The path's segments where they fit the pattern: those that "{...}" stands for.
std::optional<std::vector<std::string_view>> Match(std::string_view pattern, std::string_view path) {
  std::vector<std::string_view> taken;
  while (!pattern.empty() && !path.empty()) {
    pattern.remove_prefix(1);  // the '/'
    path.remove_prefix(1);
    const std::string_view expected = pattern.substr(0, pattern.find('/'));
    const std::string_view segment = path.substr(0, path.find('/'));
    if (expected.starts_with('{')) {
      taken.push_back(segment);
    } else if (expected != segment) {
      return std::nullopt;
    }
    pattern.remove_prefix(expected.size());
    path.remove_prefix(segment.size());
  }
  if (!pattern.empty() || !path.empty()) return std::nullopt;
  return taken;
}

HttpResponse Answer(std::string_view content_type, std::string body) {
  HttpResponse response;
  response.content_type = content_type;
  response.body = std::move(body);
  return response;
}

HttpResponse AboutUser(const AsOf& as_of, std::string_view content_type, std::string body) {
  HttpResponse response = Answer(content_type, std::move(body));
  response.headers.emplace_back("Seen-As-Of", std::to_string(as_of.partition_time.value) +
                                                  "; lag=" + std::to_string(as_of.lag_messages));
  return response;
}

struct UserPath {
  std::string filter;
  std::string user_id;
};

Result<UserPath> DecodeUserPath(std::span<const std::string_view> segments) {
  UserPath path;
  auto filter = DecodePathSegment(segments[0]);
  if (!filter) return Fail(Code::kInvalidArgument, "filter name: " + filter.error().message);
  auto user_id = DecodePathSegment(segments[1]);
  if (!user_id) return Fail(Code::kInvalidArgument, "user id: " + user_id.error().message);
  if (user_id->empty()) return Fail(Code::kInvalidArgument, "user id: empty; it has 1 to 512 bytes");
  if (user_id->size() > kIdBytesMax) {
    return Fail(Code::kInvalidArgument,
                "user id: " + std::to_string(user_id->size()) + " bytes; it has 1 to 512 bytes");
  }
  return UserPath{std::move(*filter), std::move(*user_id)};
}

HttpResponse Snapshot(const QueryPort& queries, const UserPath& path, const HttpRequest& request) {
  auto answer = queries.Snapshot(path.filter, path.user_id);
  if (!answer) return Problem(answer.error(), request.target);
  return AboutUser(answer->as_of, "application/octet-stream", std::move(answer->bytes));
}

HttpResponse Unseen(const QueryPort& queries, const UserPath& path, const HttpRequest& request) {
  const auto question = ParseUnseenQuestion(request.body);
  if (!question) return Problem(question.error(), request.target);
  const auto answer = queries.Unseen(path.filter, path.user_id,
                                     {question->items(), question->created_seconds()}, question->also_seen());
  if (!answer) return Problem(answer.error(), request.target);
  return AboutUser(answer->as_of, kJson, WriteUnseenAnswer(question->items(), answer->unseen));
}

HttpResponse Segments(const QueryPort& queries, const UserPath& path, const HttpRequest& request) {
  const auto answer = queries.User(path.filter, path.user_id);
  if (!answer) return Problem(answer.error(), request.target);
  return AboutUser(answer->as_of, kJson, WriteUser(path.filter, path.user_id, *answer));
}

HttpResponse PublishAll(QueryPort& queries, const HttpRequest& request) {
  const auto partitions = queries.PublishAll();
  if (!partitions) return Problem(partitions.error(), request.target);
  HttpResponse response = Answer(kJson, "{\"partitions\":" + std::to_string(*partitions) + "}\n");
  response.status = 202;
  return response;
}

HttpResponse Ready(const Readiness& readiness, const HttpRequest& request) {
  if (readiness.ready) return Answer(kText, "ready\n");
  return Problem(503, readiness.reason, request.target);
}

HttpResponse NotAllowed(const Route& route, const HttpRequest& request) {
  const std::string allowed = route.post ? "POST" : "GET, HEAD";
  HttpResponse response =
      Problem(405, std::string(route.pattern) + " takes " + allowed + " only", request.target);
  response.headers.emplace_back("Allow", allowed);
  return response;
}

}  // namespace

Routes::Routes(QueryPort& queries, MetricsPage metrics_page, ReadyCheck ready_check)
    : queries_(queries), metrics_page_(std::move(metrics_page)), ready_check_(std::move(ready_check)) {}

HttpResponse Routes::Handle(const HttpRequest& request) const {
  const std::string_view path = PathOf(request.target);
  const auto user_page = [&](std::span<const std::string_view> segments, auto answer) {
    const auto user_path = DecodeUserPath(segments);
    return user_path ? answer(queries_, *user_path, request) : Problem(user_path.error(), request.target);
  };
  const auto answer = [&](Page page, std::span<const std::string_view> segments) -> HttpResponse {
    switch (page) {
      case Page::kRoot:
        return Answer(kText, std::string(kRootText));
      case Page::kHealth:
        return Answer(kText, "alive\n");
      case Page::kReady:
        return Ready(ready_check_(), request);
      case Page::kMetrics:
        return Answer("text/plain; version=0.0.4; charset=utf-8", metrics_page_());
      case Page::kStatus:
        return Answer(kJson, WriteStatus(queries_.GetStatus()));
      case Page::kAcknowledge:
        queries_.AcknowledgeLostRanges();
        return Answer(kJson, "{\"acknowledged\":true}\n");
      case Page::kPublish:
        return PublishAll(queries_, request);
      case Page::kSnapshot:
        return user_page(segments, Snapshot);
      case Page::kUnseen:
        return user_page(segments, Unseen);
      case Page::kSegments:
        return user_page(segments, Segments);
    }
    return Problem(404, "no such page", request.target);
  };
  for (const Route& route : kRoutes) {
    const auto segments = Match(route.pattern, path);
    if (!segments) continue;
    const bool allowed =
        route.post ? request.method == "POST" : request.method == "GET" || request.method == "HEAD";
    HttpResponse response = allowed ? answer(route.page, *segments) : NotAllowed(route, request);
    response.route = route.pattern;
    return response;
  }
  return Problem(404, "no such page; GET / lists what there is", request.target);
}

}  // namespace seen

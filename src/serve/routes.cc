#include "serve/routes.h"

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "model/event.h"
#include "serve/item_routes.h"
#include "serve/journal_json.h"
#include "serve/percent.h"
#include "serve/problem.h"
#include "serve/query_string.h"
#include "serve/removed_body.h"
#include "serve/similar_body.h"
#include "serve/snapshot_question.h"
#include "serve/status_json.h"
#include "serve/unseen_body.h"

namespace seen {
namespace {

constexpr std::string_view kJson = "application/json";
constexpr std::string_view kText = "text/plain; charset=utf-8";
constexpr int64_t kExposuresMax = 1000;           // of one answer
constexpr int64_t kSinceMax = 4'294'967'295'000;  // 2106

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
  kSegments,
  kExposures,
  kWhy,
  kErase,
  kRemoved,
  kGroup,
  kSimilar,
};

enum class Method { kGet, kPost, kDelete };  // kGet: HEAD as well

struct Route {
  Page page;
  std::string_view pattern;  // "{}" stands for one segment, percent-encoded
  Method method;
};

constexpr std::array<Route, 16> kRoutes = {{
    {Page::kRoot, "/", Method::kGet},
    {Page::kHealth, "/healthz", Method::kGet},
    {Page::kReady, "/readyz", Method::kGet},
    {Page::kMetrics, "/metrics", Method::kGet},
    {Page::kStatus, "/v1/status", Method::kGet},
    {Page::kAcknowledge, "/v1/lost-ranges/acknowledge", Method::kPost},
    {Page::kPublish, "/v1/publish", Method::kPost},
    {Page::kSnapshot, "/v1/filters/{filter}/users/{user}", Method::kGet},
    {Page::kUnseen, "/v1/filters/{filter}/users/{user}/unseen", Method::kPost},
    {Page::kSegments, "/v1/filters/{filter}/users/{user}/segments", Method::kGet},
    {Page::kExposures, "/v1/filters/{filter}/users/{user}/exposures", Method::kGet},
    {Page::kWhy, "/v1/filters/{filter}/users/{user}/why", Method::kGet},
    {Page::kErase, "/v1/users/{user}", Method::kDelete},
    {Page::kRemoved, "/v1/users/{user}/removed", Method::kPost},
    {Page::kGroup, "/v1/groups/{item}", Method::kGet},
    {Page::kSimilar, "/v1/similar", Method::kPost},
}};

constexpr std::string_view kRootText =
    "seend: what users have seen\n"
    "\n"
    "GET    /v1/filters/{filter}/users/{user}           a user's snapshot\n"
    "POST   /v1/filters/{filter}/users/{user}/unseen    {\"items\":[...],\"also_seen\":[...]}\n"
    "GET    /v1/filters/{filter}/users/{user}/segments  what is kept about a user, by day\n"
    "GET    /v1/filters/{filter}/users/{user}/exposures what was shown: ?item=&since=&limit=&cursor=\n"
    "GET    /v1/filters/{filter}/users/{user}/why       ?item=: would it be dropped, and because of what\n"
    "POST   /v1/users/{user}/removed                    {\"items\":[...]}: takes them back, in every filter\n"
    "DELETE /v1/users/{user}                            erases the user, in every filter\n"
    "GET    /v1/groups/{item}                           what an item is like: ?after=\n"
    "POST   /v1/similar                                {\"title\",\"text\",\"lang\"}: stored items like a "
    "text\n"
    "GET    /v1/status                                  partitions, offsets, lag, lost ranges\n"
    "POST   /v1/lost-ranges/acknowledge                 forget the lost ranges\n"
    "POST   /v1/publish                                 make all snapshots anew\n"
    "GET    /healthz                                    200 while the process lives\n"
    "GET    /readyz                                     200 or 503 with the reason\n"
    "GET    /metrics                                    Prometheus\n";

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

HttpResponse Snapshot(const QueryPort& queries, const UserPath& path, const HttpRequest& request) {
  const auto question = ReadSnapshotQuestion(request.target);
  if (!question) return Problem(question.error(), request.target);
  auto answer = queries.Snapshot(path.filter, path.user_id, *question);
  if (!answer) return Problem(answer.error(), request.target);
  return AboutUser(answer->as_of, "application/octet-stream", std::move(answer->bytes));
}

HttpResponse Unseen(const QueryPort& queries, const UserPath& path, const HttpRequest& request) {
  const auto question = ParseUnseenQuestion(request.body);
  if (!question) return Problem(question.error(), request.target);
  const auto answer = queries.Unseen(
      path.filter, path.user_id, {question->items(), question->created_seconds(), question->one_per_group()},
      question->also_seen());
  if (!answer) return Problem(answer.error(), request.target);
  return AboutUser(answer->as_of, kJson, WriteUnseenAndSimilar(question->items(), *answer));
}

HttpResponse Segments(const QueryPort& queries, const UserPath& path, const HttpRequest& request) {
  const auto answer = queries.User(path.filter, path.user_id);
  if (!answer) return Problem(answer.error(), request.target);
  return AboutUser(answer->as_of, kJson, WriteUser(path.filter, path.user_id, *answer));
}

HttpResponse SimilarItems(const QueryPort& queries, const HttpRequest& request) {
  const auto body = ParseSimilarBody(request.body);
  if (!body) return Problem(body.error(), request.target);
  const auto answer = queries.Similar({{body->title, body->text, body->lang}, body->item_id, body->limit});
  return answer ? Answer(kJson, WriteSimilarAnswer(*answer)) : Problem(answer.error(), request.target);
}

HttpResponse PublishAll(QueryPort& queries, const HttpRequest& request) {
  const auto partitions = queries.PublishAll();
  if (!partitions) return Problem(partitions.error(), request.target);
  HttpResponse response = Answer(kJson, "{\"partitions\":" + std::to_string(*partitions) + "}\n");
  response.status = 202;
  return response;
}

Status CheckItem(std::string_view item) {
  if (!item.empty() && item.size() <= kIdBytesMax) return {};
  return Fail(Code::kInvalidArgument,
              "item: " + std::to_string(item.size()) + " bytes; an item id has 1 to 512 bytes");
}

HttpResponse Exposures(const QueryPort& queries, const UserPath& path, const HttpRequest& request) {
  constexpr std::string_view kKnown[] = {"item", "since", "limit", "cursor"};
  const auto query = ParseQuery(QueryOf(request.target), kKnown);
  if (!query) return Problem(query.error(), request.target);
  ExposuresQuestion question;
  for (const auto& [name, value] : *query) {
    if (name == "item") {
      if (Status valid = CheckItem(value); !valid) return Problem(valid.error(), request.target);
      question.item = value;
    } else if (name == "cursor") {
      question.cursor = value;
    } else {
      const auto number = name == "since" ? ParseNumber(name, value, 0, kSinceMax)
                                          : ParseNumber(name, value, 1, kExposuresMax);
      if (!number) return Problem(number.error(), request.target);
      if (name == "since") {
        question.since = {*number};
      } else {
        question.limit = static_cast<uint32_t>(*number);
      }
    }
  }
  const auto answer = queries.Exposures(path.filter, path.user_id, question);
  if (!answer) return Problem(answer.error(), request.target);
  return AboutUser(answer->as_of, kJson, WriteExposures(*answer));
}

HttpResponse Why(const QueryPort& queries, const UserPath& path, const HttpRequest& request) {
  constexpr std::string_view kKnown[] = {"item"};
  const auto query = ParseQuery(QueryOf(request.target), kKnown);
  if (!query) return Problem(query.error(), request.target);
  const auto item = query->find("item");
  if (item == query->end()) return Problem(400, "item: missing; ask with ?item=ID", request.target);
  if (Status valid = CheckItem(item->second); !valid) return Problem(valid.error(), request.target);
  const auto answer = queries.Why(path.filter, path.user_id, item->second);
  if (!answer) return Problem(answer.error(), request.target);
  return AboutUser(answer->as_of, kJson, WriteWhy(item->second, *answer));
}

HttpResponse Ready(const Readiness& readiness, const HttpRequest& request) {
  if (readiness.ready) return Answer(kText, "ready\n");
  return Problem(503, readiness.reason, request.target);
}

/// The answer to a change, once it is known where its event stands.
HttpResponse Changed(const Result<ChangePlace>& place, std::string_view target) {
  if (!place) {
    // The topic's troubles are no address that doesn't exist.
    const bool mistaken = place.error().code == Code::kInvalidArgument;
    return mistaken ? Problem(place.error(), target) : Problem(503, place.error().message, target);
  }
  HttpResponse response = Answer(kJson, "{\"partition\":" + std::to_string(place->partition) +
                                            ",\"offset\":" + std::to_string(place->offset) + "}\n");
  response.status = 202;
  return response;
}

using Give = std::function<void(HttpResponse)>;

ChangePort::Done Giving(Give give, std::string target) {
  return [give = std::move(give), target = std::move(target)](const Result<ChangePlace>& place) {
    give(Changed(place, target));
  };
}

HttpResponse Erase(ChangePort& changes, std::string user_id, const HttpRequest& request) {
  HttpResponse response;
  response.later = [&changes, user_id = std::move(user_id), target = std::string(request.target)](Give give) {
    changes.Erase(user_id, Giving(std::move(give), target));
  };
  return response;
}

HttpResponse Remove(ChangePort& changes, std::string user_id, const HttpRequest& request) {
  // Pages of other origins can't send it without asking first, which this server never grants.
  if (!IsJson(request.content_type)) {
    return Problem(415, "send it with Content-Type: application/json", request.target);
  }
  auto items = ParseRemovedItems(request.body);
  if (!items) return Problem(items.error(), request.target);
  HttpResponse response;
  response.later = [&changes, user_id = std::move(user_id), items = std::move(*items),
                    target = std::string(request.target)](Give give) {
    const std::vector<std::string_view> views(items.begin(), items.end());
    changes.Remove(user_id, views, Giving(std::move(give), target));
  };
  return response;
}

std::string_view AllowedBy(Method method) {
  switch (method) {
    case Method::kGet:
      return "GET, HEAD";
    case Method::kPost:
      return "POST";
    case Method::kDelete:
      return "DELETE";
  }
  return {};
}

bool Allows(Method method, std::string_view asked) {
  return asked == AllowedBy(method) || (method == Method::kGet && (asked == "GET" || asked == "HEAD"));
}

HttpResponse NotAllowed(const Route& route, const HttpRequest& request) {
  const std::string allowed(AllowedBy(route.method));
  HttpResponse response =
      Problem(405, std::string(route.pattern) + " takes " + allowed + " only", request.target);
  response.headers.emplace_back("Allow", allowed);
  return response;
}

}  // namespace

Routes::Routes(QueryPort& queries, ChangePort& changes, MetricsPage metrics_page, ReadyCheck ready_check)
    : queries_(queries),
      changes_(changes),
      metrics_page_(std::move(metrics_page)),
      ready_check_(std::move(ready_check)) {}

HttpResponse Routes::Handle(const HttpRequest& request) const {
  const std::string_view path = PathOf(request.target);
  const auto user_page = [&](std::span<const std::string_view> segments, auto answer) {
    const auto user_path = DecodeUserPath(segments);
    return user_path ? answer(queries_, *user_path, request) : Problem(user_path.error(), request.target);
  };
  const auto change = [&](std::string_view segment, auto answer) {
    auto user_id = DecodeUserId(segment);
    return user_id ? answer(changes_, std::move(*user_id), request)
                   : Problem(user_id.error(), request.target);
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
      case Page::kExposures:
        return user_page(segments, Exposures);
      case Page::kWhy:
        return user_page(segments, Why);
      case Page::kErase:
        return change(segments[0], Erase);
      case Page::kRemoved:
        return change(segments[0], Remove);
      case Page::kGroup:
        return AnswerGroup(queries_, segments[0], request);
      case Page::kSimilar:
        return SimilarItems(queries_, request);
    }
    return Problem(404, "no such page", request.target);
  };
  for (const Route& route : kRoutes) {
    const auto segments = Match(route.pattern, path);
    if (!segments) continue;
    const bool allowed = Allows(route.method, request.method);
    HttpResponse response = allowed ? answer(route.page, *segments) : NotAllowed(route, request);
    response.route = route.pattern;
    return response;
  }
  return Problem(404, "no such page; GET / lists what there is", request.target);
}

}  // namespace seen

#include "serve/routes.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <vector>

#include "serve/answer_json.h"
#include "serve/change_routes.h"
#include "serve/fill_routes.h"
#include "serve/http_message.h"
#include "serve/item_routes.h"
#include "serve/metrics.h"
#include "serve/state_routes.h"
#include "serve/user_routes.h"

namespace seen {
namespace {

constexpr std::string_view kJson = "application/json";
constexpr std::string_view kText = "text/plain; charset=utf-8";
constexpr std::string_view kNoSuchPage = "no such page; GET / lists the pages";

// Limits of bodies, and the bytes that a body takes until the answer, for each byte of its own. These are the
// byte itself, what reading it takes, and the answer. Measured by tests/system/test_memory.py.
constexpr size_t kUnseenBytesMax = 4 << 20;
constexpr size_t kUnseenBytesAByte = 4;
constexpr size_t kRemovedBytesMax = 1 << 20;
constexpr size_t kRemovedBytesAByte = 4;
constexpr size_t kSimilarBytesMax = 16 << 20;
constexpr size_t kSimilarBytesAByte = 3;
constexpr size_t kIgnoredBytesMax = 64 << 10;  // for pages that look at no body

constexpr unsigned kUnavailable = 503;
// For requests that are passed on, unless they say how long their client waits.
constexpr int64_t kDeadlineMs = 1'000;
constexpr int64_t kDeadlineMsMin = 1;
constexpr int64_t kDeadlineMsMax = 10'000;
// For one daemon that doesn't answer, if another one is left to ask.
constexpr std::chrono::milliseconds kPatience{250};

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
  kRoutes,
  kPromote,
  kDigest,
  kCopies,
  kCopy,
  kFill,
  kFills,
  kStopFill,
  kReload,
};

enum class Method { kGet, kPost, kDelete };  // kGet: HEAD as well

struct Route {
  Page page;
  std::string_view pattern;  // "{}" stands for one segment, percent-encoded
  Method method;
  Role role;              // who may ask for it
  bool is_query = false;  // on http.listen as well, whatever admin.listen is
};

constexpr std::array<Route, 25> kPages = {{
    {Page::kRoot, "/", Method::kGet, Role::kNone, true},
    {Page::kHealth, "/healthz", Method::kGet, Role::kNone, true},
    {Page::kReady, "/readyz", Method::kGet, Role::kNone, true},
    {Page::kMetrics, "/metrics", Method::kGet, Role::kRead},
    {Page::kStatus, "/v1/status", Method::kGet, Role::kRead},
    {Page::kAcknowledge, "/v1/lost-ranges/acknowledge", Method::kPost, Role::kAdmin},
    {Page::kPublish, "/v1/publish", Method::kPost, Role::kAdmin},
    {Page::kSnapshot, "/v1/filters/{filter}/users/{user}", Method::kGet, Role::kRead, true},
    {Page::kUnseen, "/v1/filters/{filter}/users/{user}/unseen", Method::kPost, Role::kRead, true},
    {Page::kSegments, "/v1/filters/{filter}/users/{user}/segments", Method::kGet, Role::kRead, true},
    {Page::kExposures, "/v1/filters/{filter}/users/{user}/exposures", Method::kGet, Role::kRead, true},
    {Page::kWhy, "/v1/filters/{filter}/users/{user}/why", Method::kGet, Role::kRead, true},
    {Page::kErase, "/v1/users/{user}", Method::kDelete, Role::kWrite},
    {Page::kRemoved, "/v1/users/{user}/removed", Method::kPost, Role::kWrite},
    {Page::kGroup, "/v1/groups/{item}", Method::kGet, Role::kRead, true},
    {Page::kSimilar, "/v1/similar", Method::kPost, Role::kRead, true},
    {Page::kRoutes, "/v1/routes", Method::kGet, Role::kRead, true},
    {Page::kPromote, "/v1/promote", Method::kPost, Role::kAdmin},
    {Page::kDigest, "/v1/digest", Method::kGet, Role::kRead},
    {Page::kCopies, "/v1/copies", Method::kPost, Role::kAdmin},
    {Page::kCopy, "/v1/copies/{copy}", Method::kDelete, Role::kAdmin},
    {Page::kFill, "/v1/filters/{filter}/fill", Method::kPost, Role::kAdmin},
    {Page::kFills, "/v1/fills", Method::kGet, Role::kRead},
    {Page::kStopFill, "/v1/fills/{filter}", Method::kDelete, Role::kAdmin},
    {Page::kReload, "/v1/reload", Method::kPost, Role::kAdmin},
}};

constexpr std::string_view kRootText =
    "seend: what users have seen\n"
    "\n"
    "GET    /v1/filters/{filter}/users/{user}           a user's snapshot\n"
    "POST   /v1/filters/{filter}/users/{user}/unseen    {\"items\":[...],\"also_seen\":[...]}\n"
    "GET    /v1/filters/{filter}/users/{user}/segments  what is kept about a user, by day\n"
    "GET    /v1/filters/{filter}/users/{user}/exposures what was shown: ?item=&since=&limit=&cursor=\n"
    "GET    /v1/filters/{filter}/users/{user}/why       ?item=: whether the item is dropped, and why\n"
    "POST   /v1/users/{user}/removed                    {\"items\":[...]}: takes them back, in every filter\n"
    "DELETE /v1/users/{user}                            erases the user, in every filter\n"
    "GET    /v1/groups/{item}                           what an item is like: ?after=\n"
    "POST   /v1/similar                                {\"title\",\"text\",\"lang\"}: stored items like a "
    "text\n"
    "GET    /v1/routes                                  which daemon answers for which partition\n"
    "GET    /v1/status                                  partitions, offsets, lag, lost ranges\n"
    "POST   /v1/lost-ranges/acknowledge                 forgets the lost ranges\n"
    "POST   /v1/publish                                 republishes the snapshots of all users\n"
    "POST   /v1/promote                                 makes this daemon's group the owner\n"
    "GET    /v1/digest                                  ?partition=: a digest of its state, in 128 bits\n"
    "POST   /v1/copies                                  links to all files of the state, for a backup\n"
    "DELETE /v1/copies/{copy}                           removes these links\n"
    "POST   /v1/filters/{filter}/fill                   reads the log again for this filter\n"
    "GET    /v1/fills                                   the progress of fills\n"
    "DELETE /v1/fills/{filter}                          stops a fill\n"
    "POST   /v1/reload                                 reads the configuration again\n"
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

/// If the path fits the pattern: the segments that "{...}" stands for.
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

HttpResponse SimilarItems(const QueryPort& queries, const HttpRequest& request) {
  const auto body = ParseSimilarBody(request.body);
  if (!body) return Problem(body.error(), request.target);
  const auto answer = queries.Similar({{body->title, body->text, body->lang}, body->item_id, body->limit});
  return answer ? Answer(kJson, WriteSimilarAnswer(*answer)) : Problem(answer.error(), request.target);
}

std::string WriteRoutes(const RoutesAnswer& answer) {
  nlohmann::ordered_json json = {{"topic", answer.topic},
                                 {"partitioner", answer.partitioner},
                                 {"partitions", answer.partitions},
                                 {"routes", nlohmann::ordered_json::array()}};
  for (const PartitionRoute& route : answer.routes) {
    nlohmann::ordered_json one = {{"partition", route.partition},
                                  {"instance", route.instance},
                                  {"address", nullptr},
                                  {"state", route.state},
                                  {"lag_messages", route.lag_messages},
                                  {"heard_ms_ago", route.heard_ago.count()},
                                  {"here", route.here},
                                  {"role", route.is_replica ? "replica" : "owner"}};
    if (!route.address.empty()) one["address"] = route.address;
    json["routes"].push_back(std::move(one));
  }
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

HttpResponse PublishAll(QueryPort& queries, const HttpRequest& request) {
  const auto partitions = queries.PublishAll();
  if (!partitions) return Problem(partitions.error(), request.target);
  HttpResponse response = Answer(kJson, "{\"partitions\":" + std::to_string(*partitions) + "}\n");
  response.status = 202;
  return response;
}

HttpResponse ReloadConfiguration(ReloadPort* reload, const HttpRequest& request) {
  if (reload == nullptr) return Problem(503, "starting: there is nothing to reload yet", request.target);
  const auto report = reload->Run();
  if (!report) return Problem(report.error(), request.target);
  const nlohmann::ordered_json json = {{"applied", report->applied},
                                       {"waits_for_restart", report->waits_for_restart}};
  return Answer(kJson, json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

HttpResponse Ready(const Readiness& readiness, const HttpRequest& request) {
  if (!readiness.ready) return Problem(503, readiness.reason, request.target);
  std::string text = "ready\n";
  for (const std::string& trouble : readiness.troubles) text += trouble + "\n";
  return Answer(kText, std::move(text));
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

bool IsAboutUser(Page page) {
  return page == Page::kSnapshot || page == Page::kUnseen || page == Page::kSegments ||
         page == Page::kExposures || page == Page::kWhy;
}

PageAccess AccessOf(const Route& route, std::span<const std::string_view> segments) {
  const bool is_user = route.page == Page::kErase || route.page == Page::kRemoved;
  return {.role = route.role,
          .is_query = route.is_query,
          .is_change = route.role == Role::kWrite || route.role == Role::kAdmin,
          .route = route.pattern,
          .subject = segments.empty() ? std::string_view() : segments[0],
          .subject_is_user = is_user};
}

BodyRule RuleOf(const QueryPort& queries, const Route& route, std::span<const std::string_view> segments,
                const HttpRequest& head) {
  BodyRule rule{route.pattern, kIgnoredBytesMax};
  if (route.page == Page::kUnseen) {
    rule.bytes_max = kUnseenBytesMax;
    rule.bytes_a_byte = kUnseenBytesAByte;
    const auto user = DecodeUserPath(segments);
    rule.refusal = user ? RefuseUnseen(queries, *user, head) : Problem(user.error(), head.target);
  } else if (route.page == Page::kRemoved) {
    rule.bytes_max = kRemovedBytesMax;
    rule.bytes_a_byte = kRemovedBytesAByte;
    rule.refusal = RefuseUnlessJson(head);
    if (const auto user = DecodeUserId(segments[0]); !user) rule.refusal = Problem(user.error(), head.target);
  } else if (route.page == Page::kSimilar) {
    rule.bytes_max = kSimilarBytesMax;
    rule.bytes_a_byte = kSimilarBytesAByte;
    if (const Status can = queries.CanFindSimilar(); !can) rule.refusal = Problem(can.error(), head.target);
  }
  return rule;
}

}  // namespace

Routes::Routes(QueryPort& queries, ChangePort& changes, MetricsPage metrics_page, ReadyCheck ready_check)
    : queries_(queries),
      changes_(changes),
      metrics_page_(std::move(metrics_page)),
      ready_check_(std::move(ready_check)) {}

BodyRule Routes::RuleFor(const HttpRequest& head, const Gate& gate) const {
  const std::string_view path = PathOf(head.target);
  for (const Route& route : kPages) {
    const auto segments = Match(route.pattern, path);
    if (!segments) continue;
    if (auto refusal = gate.Refuse(AccessOf(route, *segments), head)) {
      refusal->route = route.pattern;
      return {route.pattern, 0, 1, std::move(refusal)};
    }
    BodyRule rule = Allows(route.method, head.method) ? RuleOf(queries_, route, *segments, head) : BodyRule();
    if (rule.refusal && rule.refusal->status == kUnavailable && IsAboutUser(route.page)) {
      const auto user = DecodeUserPath(*segments);
      if (user && !PeersFor(head, user->user_id).empty()) rule.refusal.reset();
    }
    if (rule.bytes_max == 0 && !rule.refusal) rule.refusal = NotAllowed(route, head);
    rule.route = route.pattern;
    if (rule.refusal) rule.refusal->route = route.pattern;
    return rule;
  }
  return {kRouteNone, 0, 1, Problem(404, kNoSuchPage, head.target)};
}

// The daemons that can answer what this daemon can't answer now. A request takes one hop at most.
std::vector<std::string> Routes::PeersFor(const HttpRequest& request, std::string_view user_id) const {
  if (cluster_.forwarder == nullptr || cluster_.routes == nullptr || !request.hop.empty()) return {};
  std::vector<std::string> addresses = cluster_.routes->AddressesFor(user_id);
  std::erase_if(addresses, [&](const std::string& address) { return !cluster_.forwarder->Allows(address); });
  std::stable_partition(addresses.begin(), addresses.end(),
                        [&](const std::string& address) { return !cluster_.forwarder->IsSilent(address); });
  return addresses;
}

namespace {
using Give = std::function<void(HttpResponse)>;

/// Asks one daemon after the other until one answers. All but the last get only a part of the time.
void AskOneAfterTheOther(ForwardPort& forwarder, ForwardedRequest request, std::vector<std::string> addresses,
                         std::chrono::steady_clock::time_point until, Give give) {
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
  request.deadline = std::max(left, std::chrono::milliseconds(1));
  request.address = std::move(addresses.front());
  addresses.erase(addresses.begin());
  if (addresses.empty()) return forwarder.Forward(std::move(request), std::move(give));
  ForwardedRequest next = request;
  request.deadline = std::min(request.deadline / 2, kPatience);
  forwarder.Forward(std::move(request), [&forwarder, next = std::move(next), addresses = std::move(addresses),
                                         until, give = std::move(give)](HttpResponse response) mutable {
    if (response.status != kUnavailable || std::chrono::steady_clock::now() >= until)
      return give(std::move(response));
    AskOneAfterTheOther(forwarder, std::move(next), std::move(addresses), until, std::move(give));
  });
}
}  // namespace

HttpResponse Routes::Forward(std::vector<std::string> addresses, const HttpRequest& request) const {
  int64_t deadline_ms = kDeadlineMs;
  std::from_chars(request.deadline_ms.data(), request.deadline_ms.data() + request.deadline_ms.size(),
                  deadline_ms);
  const std::chrono::milliseconds deadline(std::clamp(deadline_ms, kDeadlineMsMin, kDeadlineMsMax));
  ForwardedRequest forwarded{{},
                             std::string(request.method),
                             std::string(request.target),
                             std::string(request.body),
                             std::string(request.content_type),
                             deadline};
  HttpResponse response;
  response.later = [this, forwarded = std::move(forwarded), addresses = std::move(addresses)](Give give) {
    AskOneAfterTheOther(*cluster_.forwarder, forwarded, addresses,
                        std::chrono::steady_clock::now() + forwarded.deadline, std::move(give));
  };
  return response;
}

// A request that was passed on says so in Seen-Hop; otherwise it could go round. Only daemons may set
// Seen-Hop.
std::optional<HttpResponse> Routes::RefuseHop(const HttpRequest& request) const {
  if (request.hop.empty() || cluster_.token.empty() || EqualSecrets(request.token, cluster_.token))
    return std::nullopt;
  return Problem(403, "Seen-Token: not the cluster.token of this daemon. Give all daemons the same token",
                 request.target);
}

HttpResponse Routes::Handle(const HttpRequest& request, const Gate& gate) const {
  if (auto refusal = RefuseHop(request)) return std::move(*refusal);
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
        return user_page(segments, AnswerSnapshot);
      case Page::kUnseen:
        return user_page(segments, AnswerUnseen);
      case Page::kSegments:
        return user_page(segments, AnswerSegments);
      case Page::kExposures:
        return user_page(segments, AnswerExposures);
      case Page::kWhy:
        return user_page(segments, AnswerWhy);
      case Page::kErase:
        return change(segments[0], EraseUser);
      case Page::kRemoved:
        return change(segments[0], TakeItemsBack);
      case Page::kGroup:
        return AnswerGroup(queries_, segments[0], request);
      case Page::kPromote:
        return Promote(changes_, request);
      case Page::kSimilar:
        return SimilarItems(queries_, request);
      case Page::kDigest:
        return AnswerDigest(copies_.load(), request);
      case Page::kCopies:
        return MakeCopy(copies_.load(), request);
      case Page::kCopy:
        return ReleaseCopy(copies_.load(), segments[0], request);
      case Page::kFill:
        return StartFill(fills_.load(), segments[0], request);
      case Page::kFills:
        return AnswerFills(fills_.load(), request);
      case Page::kReload:
        return ReloadConfiguration(reload_.load(), request);
      case Page::kStopFill:
        return StopFill(fills_.load(), segments[0], request);
      case Page::kRoutes:
        return Answer(kJson,
                      WriteRoutes(cluster_.routes != nullptr ? cluster_.routes->Routes() : RoutesAnswer()));
    }
    return Problem(404, "no such page", request.target);
  };
  for (const Route& route : kPages) {
    const auto segments = Match(route.pattern, path);
    if (!segments) continue;
    const PageAccess access = AccessOf(route, *segments);
    if (auto refusal = gate.Refuse(access, request)) {
      refusal->route = route.pattern;
      return std::move(*refusal);
    }
    const bool allowed = Allows(route.method, request.method);
    HttpResponse response = allowed ? answer(route.page, *segments) : NotAllowed(route, request);
    if (!cluster_.instance.empty()) response.headers.emplace_back("Seen-Answered-By", cluster_.instance);
    if (response.status == kUnavailable && allowed && IsAboutUser(route.page)) {
      const auto user = DecodeUserPath(*segments);
      auto peers = user ? PeersFor(request, user->user_id) : std::vector<std::string>();
      if (!peers.empty()) response = Forward(std::move(peers), request);
    }
    gate.Audit(access, request, response);
    response.route = route.pattern;
    return response;
  }
  return Problem(404, kNoSuchPage, request.target);
}

}  // namespace seen

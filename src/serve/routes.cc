#include "serve/routes.h"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <string_view>

namespace seen {
namespace {

enum class Method { kGet, kPost, kDelete };  // kGet: HEAD as well

std::string_view AllowedBy(Method method) {
  constexpr std::string_view kAllowed[] = {"GET, HEAD", "POST", "DELETE"};
  return kAllowed[static_cast<size_t>(method)];
}

bool Allows(Method method, std::string_view asked) {
  return asked == AllowedBy(method) || (method == Method::kGet && (asked == "GET" || asked == "HEAD"));
}

/// The most bytes of a body, and the bytes that it takes until the answer, for each byte of its own. These
/// are the byte itself, what reading it takes, and the answer. Measured by tests/system/test_memory.py.
struct BodyLimit {
  size_t bytes_max;
  size_t bytes_a_byte;
};
constexpr BodyLimit kIgnoredBody{64 << 10, 1};  // of pages that need none, or little
constexpr BodyLimit kUnseenBody{4 << 20, 4};
constexpr BodyLimit kRemovedBody{1 << 20, 4};
constexpr BodyLimit kSimilarBody{16 << 20, 3};

constexpr PageAccess kOpen{Role::kNone, true};    // to everybody
constexpr PageAccess kLookUp{Role::kRead, true};  // on http.listen as well, whatever admin.listen is
constexpr PageAccess kRead{Role::kRead, false};
constexpr PageAccess kWrite{Role::kWrite, false};
constexpr PageAccess kAdmin{Role::kAdmin, false};

HttpResponse AnswerRoot(const PageSources& sources, const RoutedRequest& routed);

}  // namespace

struct Page {
  Method method;
  std::string_view pattern;  // "{...}" stands for one segment, percent-encoded
  PageAccess access;
  HttpResponse (*answer)(const PageSources&, const RoutedRequest&);
  std::string_view help;  // in the list of pages
  BodyLimit body = kIgnoredBody;
  std::optional<HttpResponse> (*refuse_body)(const PageSources&, const RoutedRequest&) = nullptr;

  bool is_change() const { return access.role == Role::kWrite || access.role == Role::kAdmin; }
};

namespace {

constexpr std::array<Page, 26> kPages = {{
    {Method::kGet, "/v1/filters/{filter}/users/{user}", kLookUp, AnswerSnapshot, "a user's snapshot"},
    {Method::kPost, "/v1/filters/{filter}/users/{user}/unseen", kLookUp, AnswerUnseen,
     R"({"items":[...],"also_seen":[...]})", kUnseenBody, RefuseUnseen},
    {Method::kGet, "/v1/filters/{filter}/users/{user}/segments", kLookUp, AnswerSegments,
     "what is kept about a user, by day"},
    {Method::kGet, "/v1/filters/{filter}/users/{user}/exposures", kLookUp, AnswerExposures,
     "what was shown: ?item=&since=&limit=&cursor="},
    {Method::kGet, "/v1/filters/{filter}/users/{user}/why", kLookUp, AnswerWhy,
     "?item=: whether the item is dropped, and why"},
    {Method::kGet, "/v1/users/{user}/newest", kLookUp, AnswerNewest,
     "when the newest thing of a user was, in any filter: ?until="},
    {Method::kPost, "/v1/users/{user}/removed", kWrite, TakeItemsBack,
     R"({"items":[...]}: takes them back, in every filter)", kRemovedBody, RefuseTakingBack},
    {Method::kDelete, "/v1/users/{user}", kWrite, EraseUser, "erases the user, in every filter"},
    {Method::kGet, "/v1/groups/{item}", kLookUp, AnswerGroup, "what an item is like: ?after="},
    {Method::kPost, "/v1/similar", kLookUp, AnswerSimilar,
     R"({"title","text","lang"}: stored items like a text)", kSimilarBody, RefuseSimilar},
    {Method::kGet, "/v1/routes", kLookUp, AnswerRoutes, "which daemon answers for which partition"},
    {Method::kGet, "/v1/status", kRead, AnswerStatus, "partitions, offsets, lag, lost ranges"},
    {Method::kPost, "/v1/lost-ranges/acknowledge", kAdmin, AcknowledgeLostRanges, "forgets the lost ranges"},
    {Method::kPost, "/v1/publish", kAdmin, PublishAll, "republishes the snapshots of all users"},
    {Method::kPost, "/v1/promote", kAdmin, Promote, "makes this daemon's group the owner"},
    {Method::kGet, "/v1/digest", kRead, AnswerDigest, "?partition=: a digest of its state, in 128 bits"},
    {Method::kPost, "/v1/copies", kAdmin, MakeCopy, "links to all files of the state, for a backup"},
    {Method::kDelete, "/v1/copies/{copy}", kAdmin, ReleaseCopy, "removes these links"},
    {Method::kPost, "/v1/filters/{filter}/fill", kAdmin, StartFill, "reads the log again for this filter"},
    {Method::kGet, "/v1/fills", kRead, AnswerFills, "the progress of fills"},
    {Method::kDelete, "/v1/fills/{filter}", kAdmin, StopFill, "stops a fill"},
    {Method::kPost, "/v1/reload", kAdmin, ReloadConfiguration, "reads the configuration again"},
    {Method::kGet, "/healthz", kOpen, AnswerHealth, "200 while the process lives"},
    {Method::kGet, "/readyz", kOpen, AnswerReady, "200 or 503 with the reason"},
    {Method::kGet, "/metrics", kRead, AnswerMetrics, "Prometheus"},
    {Method::kGet, "/", kOpen, AnswerRoot, ""},
}};

HttpResponse AnswerRoot(const PageSources& /*sources*/, const RoutedRequest& /*routed*/) {
  std::string text = "seend: what users have seen\n\n";
  for (const Page& page : kPages) {
    if (page.help.empty()) continue;
    const std::string_view method = AllowedBy(page.method);
    text += fmt::format("{:<6} {:<43} {}\n", method.substr(0, method.find(',')), page.pattern, page.help);
  }
  return TextAnswer(std::move(text));
}

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

/// Whether the path fits the pattern. If so, `parameters` gets the segments that "{...}" stand for.
bool Match(std::string_view pattern, std::string_view path, std::array<std::string_view, 2>& parameters) {
  parameters = {};
  size_t count = 0;
  while (!pattern.empty() && !path.empty()) {
    pattern.remove_prefix(1);  // the '/'
    path.remove_prefix(1);
    const std::string_view expected = pattern.substr(0, pattern.find('/'));
    const std::string_view segment = path.substr(0, path.find('/'));
    if (expected.starts_with('{')) {
      parameters.at(count++) = segment;
    } else if (expected != segment) {
      return false;
    }
    pattern.remove_prefix(expected.size());
    path.remove_prefix(segment.size());
  }
  return pattern.empty() && path.empty();
}

/// The user whom the page answers about, if another daemon may answer instead.
std::optional<std::string> UserOf(const RoutedRequest& routed) {
  const bool of_all_filters = routed.route == "/v1/users/{user}/newest";
  if (!of_all_filters && !routed.route.starts_with("/v1/filters/{filter}/users/{user}")) return std::nullopt;
  auto user = DecodeUserId(routed.parameters[of_all_filters ? 0 : 1]);
  return user ? std::optional(std::move(*user)) : std::nullopt;
}

HttpResponse AllowedAnswer(std::string_view allowed) {
  HttpResponse response;
  response.headers.emplace_back("Allow", fmt::format("{}, OPTIONS", allowed));
  return response;
}

std::optional<HttpResponse> RefuseEncoded(Method method, const HttpRequest& head) {
  if (method == Method::kGet || head.encoding.empty() || head.encoding == "identity") return std::nullopt;
  HttpResponse refusal =
      Problem(415,
              fmt::format("Content-Encoding: {}: bodies aren't decoded here. Send the body as "
                          "it is, without Content-Encoding",
                          head.encoding.substr(0, 64)),
              head.target);
  refusal.headers.emplace_back("Accept-Encoding", "identity");
  return refusal;
}

constexpr unsigned kUnavailable = 503;

}  // namespace

RoutedRequest Routes::Find(const HttpRequest& head) const {
  RoutedRequest routed{.request = head};
  const bool asks_options = head.method == "OPTIONS";
  if (asks_options && head.target == "*") {
    routed.refusal = AllowedAnswer("GET, HEAD, POST, DELETE");
    return routed;
  }
  const std::string_view path = PathOf(head.target);
  for (const Page& page : kPages) {
    if (!Match(page.pattern, path, routed.parameters)) continue;
    routed.page = &page;
    routed.route = page.pattern;
    routed.body_bytes_max = page.body.bytes_max;
    routed.body_bytes_a_byte = page.body.bytes_a_byte;
    gate_.Check(asks_options ? PageAccess{Role::kNone, page.access.is_query} : page.access, routed);
    if (routed.refusal) return routed;
    const std::string allowed(AllowedBy(page.method));
    if (asks_options) {
      routed.refusal = AllowedAnswer(allowed);
      return routed;
    }
    if (Allows(page.method, head.method)) {
      routed.refusal = RefuseEncoded(page.method, head);
      if (!routed.refusal && page.is_change()) gate_.CheckChange(routed);
      return routed;
    }
    routed.refusal = Problem(405, fmt::format("{} takes {} only", page.pattern, allowed), head.target);
    routed.refusal->headers.emplace_back("Allow", allowed);
    if (page.is_change()) gate_.Audit(routed, *routed.refusal);
    return routed;
  }
  routed.refusal = Problem(404, "no such page; GET / lists the pages", head.target);
  return routed;
}

std::optional<HttpResponse> Routes::RefuseBody(const RoutedRequest& routed) const {
  if (routed.page->refuse_body == nullptr) return std::nullopt;
  auto refusal = routed.page->refuse_body(sources_, routed);
  if (!refusal || refusal->status != kUnavailable) return refusal;
  const auto user = UserOf(routed);
  if (user && CanPassOn(sources_.cluster, routed.request, *user)) return std::nullopt;
  return refusal;
}

HttpResponse Routes::Answer(const RoutedRequest& routed) const {
  HttpResponse response = routed.page->answer(sources_, routed);
  const Cluster& cluster = sources_.cluster;
  if (!cluster.instance.empty()) response.headers.emplace_back("Seen-Answered-By", cluster.instance);
  if (response.status == kUnavailable) {
    const auto user = UserOf(routed);
    if (auto passed_on = user ? PassOn(cluster, routed.request, *user) : std::nullopt)
      return std::move(*passed_on);
  }
  if (routed.page->is_change()) gate_.Audit(routed, response);
  return response;
}

}  // namespace seen

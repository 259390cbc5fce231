#pragma once
// The pages that the routes lead to: what each asks, and its answer. Addresses, headers and errors:
// docs/HTTP.md.

#include <atomic>
#include <functional>
#include <optional>
#include <string>

#include "flow/change_port.h"
#include "query/query_port.h"
#include "serve/forwarder.h"
#include "serve/http_message.h"
#include "serve/operator_ports.h"

namespace seen {

/// What the pages ask. Thread-safe if all that it refers to is. All of it outlives the listeners and answers
/// that come later.
struct PageSources {
  QueryPort& queries;
  ChangePort& changes;
  std::function<std::string()> metrics_page;  // Prometheus text format 0.0.4
  Cluster cluster{};                          // set before the first request
  // nullptr: not yet, or no longer; their pages answer 503.
  std::atomic<StateCopiesPort*> copies{nullptr};
  std::atomic<FillPort*> fills{nullptr};
  std::atomic<ReloadPort*> reload{nullptr};
};

// All answers: any thread.

// About a user: user_pages.cc. All take ?max_age_ms=, and answer 503 if the state may be older.
HttpResponse AnswerSnapshot(const PageSources& sources, const RoutedRequest& routed);
HttpResponse AnswerUnseen(const PageSources& sources, const RoutedRequest& routed);
HttpResponse AnswerSegments(const PageSources& sources, const RoutedRequest& routed);
HttpResponse AnswerExposures(const PageSources& sources, const RoutedRequest& routed);
HttpResponse AnswerNewest(const PageSources& sources, const RoutedRequest& routed);
HttpResponse AnswerWhy(const PageSources& sources, const RoutedRequest& routed);
/// What the head alone says against a POST .../unseen.
std::optional<HttpResponse> RefuseUnseen(const PageSources& sources, const RoutedRequest& routed);

// Changes: change_pages.cc. They write a record, and answer when the brokers have it.
HttpResponse EraseUser(const PageSources& sources, const RoutedRequest& routed);
HttpResponse TakeItemsBack(const PageSources& sources, const RoutedRequest& routed);
HttpResponse Promote(const PageSources& sources, const RoutedRequest& routed);
std::optional<HttpResponse> RefuseTakingBack(const PageSources& sources, const RoutedRequest& routed);

// About items: item_pages.cc.
HttpResponse AnswerGroup(const PageSources& sources, const RoutedRequest& routed);
HttpResponse AnswerSimilar(const PageSources& sources, const RoutedRequest& routed);
std::optional<HttpResponse> RefuseSimilar(const PageSources& sources, const RoutedRequest& routed);

// For operators: operator_pages.cc.
HttpResponse AnswerHealth(const PageSources& sources, const RoutedRequest& routed);
HttpResponse AnswerReady(const PageSources& sources, const RoutedRequest& routed);
HttpResponse AnswerMetrics(const PageSources& sources, const RoutedRequest& routed);
HttpResponse AnswerStatus(const PageSources& sources, const RoutedRequest& routed);
HttpResponse AnswerRoutes(const PageSources& sources, const RoutedRequest& routed);
HttpResponse AcknowledgeLostRanges(const PageSources& sources, const RoutedRequest& routed);
HttpResponse PublishAll(const PageSources& sources, const RoutedRequest& routed);
HttpResponse AnswerDigest(const PageSources& sources, const RoutedRequest& routed);
HttpResponse MakeCopy(const PageSources& sources, const RoutedRequest& routed);
HttpResponse ReleaseCopy(const PageSources& sources, const RoutedRequest& routed);
HttpResponse StartFill(const PageSources& sources, const RoutedRequest& routed);
HttpResponse StopFill(const PageSources& sources, const RoutedRequest& routed);
HttpResponse AnswerFills(const PageSources& sources, const RoutedRequest& routed);
HttpResponse ReloadConfiguration(const PageSources& sources, const RoutedRequest& routed);

// What pages share.

HttpResponse TextAnswer(std::string body);
HttpResponse JsonAnswer(std::string body, unsigned status = 200);

inline constexpr char kNewestAt[] = "newest_at_ms";  // of AnswerNewest

/// `segment`: percent-encoded. kInvalidArgument: not 1 to 512 bytes of UTF-8.
Result<std::string> DecodeUserId(std::string_view segment);

}  // namespace seen

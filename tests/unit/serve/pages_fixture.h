#pragma once
// Requests to the pages, over a question port and a change port that are fakes.

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "flow/change_port.h"
#include "serve/routes.h"
#include "unit/serve/fake_query.h"

namespace seen {

/// Remembers the request and answers at once.
class FakeChange : public ChangePort {
 public:
  Result<ChangePlace> place = ChangePlace{3, 41, {7}};
  std::string user_asked;
  std::optional<std::vector<std::string>> removed;  // nullopt: an erasure
  int asked = 0;

  static constexpr TimeMs kTimeMax{1'763'800'000'000};
  TimeMs newest_asked;

  TimeMs TimeMax() const override { return kTimeMax; }
  void Erase(std::string_view user_id, TimeMs newest, Done done) override {
    ++asked;
    newest_asked = newest;
    user_asked = user_id;
    removed.reset();
    done(place);
  }
  void Remove(std::string_view user_id, std::span<const std::string_view> items, TimeMs newest,
              Done done) override {
    ++asked;
    newest_asked = newest;
    user_asked = user_id;
    removed.emplace(items.begin(), items.end());
    done(place);
  }
  void Promote(Done done) override {
    ++asked;
    done(place);
  }
};

/// An answer as a server counts it.
struct Answered : HttpResponse {
  std::string_view route;
};

/// Asks the pages as a server does whose request is here as a whole. An answer that comes later must come at
/// once.
inline Answered Asked(const HttpPages& pages, const HttpRequest& request) {
  RoutedRequest routed = pages.Find(request);
  HttpResponse response = routed.refusal ? std::move(*routed.refusal) : pages.Answer(routed);
  if (const auto later = response.later) later([&](HttpResponse answer) { response = std::move(answer); });
  return {std::move(response), routed.route};
}

/// What the pages say against a request whose body isn't here yet.
inline std::optional<HttpResponse> RefusedBody(const HttpPages& pages, const HttpRequest& head) {
  RoutedRequest routed = pages.Find(head);
  return routed.refusal ? std::move(routed.refusal) : pages.RefuseBody(routed);
}

/// "(none)" if the answer has no such header.
inline std::string Header(const HttpResponse& response, std::string_view name) {
  for (const auto& [n, value] : response.headers) {
    if (n == name) return value;
  }
  return "(none)";
}

/// All pages. A test that needs a port beyond these sets it in `sources_`.
class PagesTest : public testing::Test {
 protected:
  Answered Ask(std::string_view method, std::string_view target, std::string_view body = {},
               std::string_view content_type = "application/json") {
    return Asked(routes_, {method, target, body, content_type});
  }
  Answered Get(std::string_view target) { return Asked(routes_, {"GET", target, "", ""}); }

  FakeQuery query_;
  FakeChange change_;
  PageSources sources_{query_, change_, [] { return std::string("seen_ready 1\n"); }};
  Routes routes_{sources_};
};

}  // namespace seen

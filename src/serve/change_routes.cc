#include "serve/change_routes.h"

#include <functional>
#include <utility>
#include <vector>

#include "serve/problem.h"
#include "serve/removed_body.h"

namespace seen {
namespace {

/// The answer to a change, once the place of its event is known.
HttpResponse Changed(const Result<ChangePlace>& place, std::string_view target) {
  if (!place) {
    // A Kafka error must not become a 404: answer 503.
    const bool mistaken = place.error().code == Code::kInvalidArgument;
    return mistaken ? Problem(place.error(), target) : Problem(503, place.error().message, target);
  }
  HttpResponse response;
  response.content_type = "application/json";
  response.body = "{\"partition\":" + std::to_string(place->partition) +
                  ",\"offset\":" + std::to_string(place->offset) + "}\n";
  response.status = 202;
  return response;
}

using Give = std::function<void(HttpResponse)>;

ChangePort::Done Giving(Give give, std::string target) {
  return [give = std::move(give), target = std::move(target)](const Result<ChangePlace>& place) {
    give(Changed(place, target));
  };
}

}  // namespace

std::optional<HttpResponse> RefuseUnlessJson(const HttpRequest& head) {
  // Pages of other origins can't send JSON without asking first, and this server never grants that.
  if (IsJson(head.content_type)) return std::nullopt;
  return Problem(415, "send it with Content-Type: application/json", head.target);
}

HttpResponse EraseUser(ChangePort& changes, std::string user_id, const HttpRequest& request) {
  HttpResponse response;
  response.later = [&changes, user_id = std::move(user_id), target = std::string(request.target)](Give give) {
    changes.Erase(user_id, Giving(std::move(give), target));
  };
  return response;
}

HttpResponse TakeItemsBack(ChangePort& changes, std::string user_id, const HttpRequest& request) {
  if (auto refusal = RefuseUnlessJson(request)) return std::move(*refusal);
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

HttpResponse Promote(ChangePort& changes, const HttpRequest& request) {
  if (auto refusal = RefuseUnlessJson(request)) return std::move(*refusal);
  HttpResponse response;
  response.later = [&changes, target = std::string(request.target)](Give give) {
    changes.Promote(Giving(std::move(give), target));
  };
  return response;
}

}  // namespace seen

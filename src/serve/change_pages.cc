#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "serve/pages.h"
#include "serve/request_input.h"

namespace seen {
namespace {

using Give = std::function<void(HttpResponse)>;

/// The answer to a change, once the place of its event is known.
HttpResponse Changed(const Result<ChangePlace>& place, std::string_view target) {
  if (!place) {
    // A Kafka error must not become a 404: answer 503.
    const bool mistaken = place.error().code == Code::kInvalidArgument;
    return mistaken ? Problem(place.error(), target) : Problem(503, place.error().message, target);
  }
  return JsonAnswer("{\"partition\":" + std::to_string(place->partition) +
                        ",\"offset\":" + std::to_string(place->offset) + "}\n",
                    202);
}

/// `write`: begins the change, and calls what it is given once the change is written.
template <typename Write>
HttpResponse Later(const RoutedRequest& routed, Write write) {
  HttpResponse response;
  response.later = [write = std::move(write), target = std::string(routed.request.target)](Give give) {
    write(
        [give = std::move(give), target](const Result<ChangePlace>& place) { give(Changed(place, target)); });
  };
  return response;
}

/// `{"items":["a",7]}`: at least one, and at most kRemovedItemsMax.
Result<std::vector<std::string>> ParseRemovedItems(std::string_view body) {
  constexpr std::string_view kKeys[] = {"items"};
  const BodyShape shape{kKeys, R"({"items":["a","b"]})", 3, kRemovedItemsMax};
  size_t given = 0;
  const auto object = ParseBody(body, shape, &given);
  if (!object) return Fail(object.error());
  if (!object->contains("items")) return RefuseValue("$.items", "missing");
  const nlohmann::json& items = object->at("items");
  if (!items.is_array())
    return RefuseValue("$.items", std::string("expected an array, found ") + items.type_name());
  if (items.empty()) return RefuseValue("$.items", "empty; expected at least one item");
  if (given > kRemovedItemsMax) {
    return RefuseValue("$.items", std::to_string(given) + " items, more than " +
                                      std::to_string(kRemovedItemsMax) + "; split the request");
  }
  std::vector<std::string> ids;
  ids.reserve(items.size());
  for (const nlohmann::json& item : items) {
    auto id = ReadItemId(item, "$.items[" + std::to_string(ids.size()) + "]", "a string or a 64-bit integer");
    if (!id) return Fail(id.error());
    ids.push_back(std::move(*id));
  }
  return ids;
}

}  // namespace

HttpResponse EraseUser(const PageSources& sources, const RoutedRequest& routed) {
  auto user_id = DecodeUserId(routed.parameters[0]);
  if (!user_id) return Problem(user_id.error(), routed.request.target);
  return Later(routed, [&changes = sources.changes, user_id = std::move(*user_id)](ChangePort::Done done) {
    changes.Erase(user_id, std::move(done));
  });
}

std::optional<HttpResponse> RefuseTakingBack(const PageSources& /*sources*/, const RoutedRequest& routed) {
  const auto user_id = DecodeUserId(routed.parameters[0]);
  return user_id ? std::nullopt : std::optional(Problem(user_id.error(), routed.request.target));
}

HttpResponse TakeItemsBack(const PageSources& sources, const RoutedRequest& routed) {
  if (auto refusal = RefuseTakingBack(sources, routed)) return std::move(*refusal);
  auto items = ParseRemovedItems(routed.request.body);
  if (!items) return Problem(items.error(), routed.request.target);
  return Later(routed, [&changes = sources.changes, user_id = *DecodeUserId(routed.parameters[0]),
                        items = std::move(*items)](ChangePort::Done done) {
    const std::vector<std::string_view> views(items.begin(), items.end());
    changes.Remove(user_id, views, std::move(done));
  });
}

HttpResponse Promote(const PageSources& sources, const RoutedRequest& routed) {
  return Later(routed,
               [&changes = sources.changes](ChangePort::Done done) { changes.Promote(std::move(done)); });
}

}  // namespace seen

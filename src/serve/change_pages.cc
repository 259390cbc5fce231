#include <fmt/format.h>

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

/// What the state knows of the user whom a change concerns.
struct KnownUser {
  TimeMs newest = {};
  std::string as_of = {};  // as in Seen-As-Of; empty: nobody answered, so the clock alone decides
};

KnownUser KnownFrom(const HttpResponse& answer) {
  KnownUser known;
  if (answer.status != 200) return known;
  const auto page = nlohmann::json::parse(answer.body, nullptr, false);
  if (!page.is_object() || !page.contains(kNewestAt)) return known;
  if (const nlohmann::json& newest = page.at(kNewestAt); newest.is_number_integer())
    known.newest = {newest.get<int64_t>()};
  for (const auto& [name, value] : answer.headers) {
    if (name == "Seen-As-Of") known.as_of = value;
  }
  return known;
}

using Write = std::function<void(TimeMs newest, ChangePort::Done done)>;

/// Asks for the newest thing of the user, here or in another daemon, and then writes the change.
HttpResponse ChangeUser(const PageSources& sources, const RoutedRequest& routed, std::string_view user_id,
                        Write write) {
  const std::string page =
      fmt::format("/v1/users/{}/newest?until={}", routed.parameters[0], sources.changes.TimeMax().value);
  RoutedRequest question{.request = routed.request, .parameters = routed.parameters};
  question.request.method = "GET";
  question.request.target = page;
  question.request.body = question.request.content_type = {};
  HttpResponse newest = AnswerNewest(sources, question);
  if (newest.status == 503) {
    if (auto passed_on = PassOn(sources.cluster, question.request, user_id)) newest = std::move(*passed_on);
  }
  HttpResponse response;
  response.later = [newest = std::move(newest), write = std::move(write),
                    target = std::string(routed.request.target)](Give give) {
    const auto begin = [write, target, give = std::move(give)](const HttpResponse& answer) {
      KnownUser known = KnownFrom(answer);
      write(known.newest, [give, target, as_of = std::move(known.as_of)](const Result<ChangePlace>& place) {
        HttpResponse changed = Changed(place, target);
        if (place) changed.headers.emplace_back("Seen-Changed-Until", std::to_string(place->at.value));
        if (place && !as_of.empty()) changed.headers.emplace_back("Seen-As-Of", as_of);
        give(std::move(changed));
      });
    };
    newest.later ? newest.later(begin) : begin(newest);
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
  const auto user_id = DecodeUserId(routed.parameters[0]);
  if (!user_id) return Problem(user_id.error(), routed.request.target);
  return ChangeUser(sources, routed, *user_id,
                    [&changes = sources.changes, user_id = *user_id](TimeMs newest, ChangePort::Done done) {
                      changes.Erase(user_id, newest, std::move(done));
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
  const std::string user_id = *DecodeUserId(routed.parameters[0]);
  return ChangeUser(
      sources, routed, user_id,
      [&changes = sources.changes, user_id, items = std::move(*items)](TimeMs newest, ChangePort::Done done) {
        const std::vector<std::string_view> views(items.begin(), items.end());
        changes.Remove(user_id, views, newest, std::move(done));
      });
}

HttpResponse Promote(const PageSources& sources, const RoutedRequest& routed) {
  HttpResponse response;
  response.later = [&changes = sources.changes, target = std::string(routed.request.target)](Give give) {
    changes.Promote(
        [give = std::move(give), target](const Result<ChangePlace>& place) { give(Changed(place, target)); });
  };
  return response;
}

}  // namespace seen

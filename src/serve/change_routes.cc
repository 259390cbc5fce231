#include "serve/change_routes.h"

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "flow/change_port.h"
#include "model/event.h"
#include "serve/http_message.h"

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

namespace {

constexpr int kDepthMax = 3;  // deeper values aren't kept: they are wrong anyway

tl::unexpected<Error> Refuse(std::string_view path, const std::string& message) {
  return Fail(Code::kInvalidArgument, std::string(path) + ": " + message);
}

Result<std::string> IdOf(const nlohmann::json& value, size_t index) {
  const std::string path = "$.items[" + std::to_string(index) + "]";
  std::string id;
  if (value.is_string()) {
    id = value.get<std::string>();
  } else if (value.is_number_integer()) {
    id = value.dump();
  } else {
    return Refuse(path, std::string("expected a string or a 64-bit integer, found ") +
                            (value.is_number() ? "another number" : value.type_name()));
  }
  if (id.empty()) return Refuse(path, "empty; an item id has 1 to 512 bytes");
  if (id.size() > kIdBytesMax)
    return Refuse(path, std::to_string(id.size()) + " bytes; an item id has 1 to 512 bytes");
  return id;
}

}  // namespace

Result<std::vector<std::string>> ParseRemovedItems(std::string_view body) {
  std::string wrong_key;
  size_t times = 0;
  size_t values = 0;  // of a list; surplus ones aren't kept
  nlohmann::json document;
  try {
    document = nlohmann::json::parse(
        body, [&](int depth, nlohmann::json::parse_event_t event, nlohmann::json& parsed) {
          if (event == nlohmann::json::parse_event_t::key && depth == 1) {
            const auto& key = parsed.get_ref<const std::string&>();
            ++times;
            if (key == "items") return true;
            if (wrong_key.empty()) wrong_key = key.substr(0, 64);
            return false;
          }
          const bool starts_one = event == nlohmann::json::parse_event_t::value ||
                                  event == nlohmann::json::parse_event_t::array_start ||
                                  event == nlohmann::json::parse_event_t::object_start;
          if (depth == 2 && starts_one) return ++values <= kRemovedItemsMax;
          return depth < kDepthMax;
        });
  } catch (const nlohmann::json::exception& exception) {
    std::string what = exception.what();  // "[json.exception.parse_error.101] parse error at line 1, ..."
    if (const size_t end = what.find("] "); end != std::string::npos) what.erase(0, end + 2);
    return Refuse("body", "not JSON: " + what.substr(0, 300));
  }
  if (!document.is_object()) return Refuse("$", R"(expected an object such as {"items":["a","b"]})");
  if (!wrong_key.empty() || (times > 0 && !document.contains("items"))) {
    return Refuse("$", "unknown key \"" + wrong_key + R"("; the only one is "items")");
  }
  if (times == 0) return Refuse("$.items", "missing");
  if (times > 1) return Refuse("$.items", "given twice");
  const nlohmann::json& items = document["items"];
  if (!items.is_array())
    return Refuse("$.items", std::string("expected an array, found ") + items.type_name());
  if (items.empty()) return Refuse("$.items", "empty; expected at least one item");
  if (values > kRemovedItemsMax) {
    return Refuse("$.items", std::to_string(values) + " items, more than " +
                                 std::to_string(kRemovedItemsMax) + "; split the request");
  }
  std::vector<std::string> ids;
  ids.reserve(items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    auto id = IdOf(items[i], i);
    if (!id) return Fail(id.error());
    ids.push_back(std::move(*id));
  }
  return ids;
}

bool IsJson(std::string_view content_type) {
  constexpr std::string_view kJson = "application/json";
  const std::string_view type = content_type.substr(0, content_type.find_first_of("; \t"));
  return std::equal(type.begin(), type.end(), kJson.begin(), kJson.end(), [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
  });
}

}  // namespace seen

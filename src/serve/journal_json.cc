#include "serve/journal_json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "serve/explanations.h"

namespace seen {
namespace {

using Json = nlohmann::ordered_json;

template <typename Value>
Json OrNull(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}
Json TextOrNull(std::string_view text) { return text.empty() ? Json(nullptr) : Json(text); }
Json TimeOrNull(const std::optional<TimeMs>& time) { return time ? Json(time->value) : Json(nullptr); }
Json DayOrNull(const std::optional<Day>& day) { return day ? Json(DayText(*day)) : Json(nullptr); }

Json Listed(const std::vector<ListedExposure>& exposures) {
  Json list = Json::array();
  for (const ListedExposure& exposure : exposures) {
    list.push_back({{"item_id", exposure.item_id},
                    {"kind", exposure.kind},
                    {"scene", TextOrNull(exposure.scene)},
                    {"position", OrNull(exposure.position)},
                    {"at", exposure.at.value},
                    {"request_id", TextOrNull(exposure.request_id)}});
  }
  return list;
}

std::string_view NameOf(Because because) {
  switch (because) {
    case Because::kNotSeen:
      return "not_seen";
    case Because::kExposed:
      return "exposed";
    case Because::kServed:
      return "served";
    case Because::kSimilar:
      return "similar";
    case Because::kFilter:
    case Because::kFingerprint:
      return "false_positive";
  }
  return "";
}

std::string Written(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string WriteExposures(const ExposuresAnswer& answer) {
  return Written({{"exposures", Listed(answer.exposures)}, {"next", TextOrNull(answer.next)}});
}

std::string WriteWhy(std::string_view item, const WhyAnswer& answer) {
  Json json = {{"item", item}, {"seen", answer.seen}, {"in_snapshot", OrNull(answer.in_snapshot)}};
  json["because"] = NameOf(answer.because);
  if (answer.because == Because::kFilter) json["false_positive_of"] = "filter";
  if (answer.because == Because::kFingerprint) json["false_positive_of"] = "fingerprint";
  json["similar"] = nullptr;
  if (answer.similar) {
    json["similar"] = {{"like", TextOrNull(answer.similar->like)},
                       {"because", SimilarBecauseName(answer.similar->because)},
                       {"similarity", OrNull(answer.similar->similarity)}};
  }
  json["segments"] = Json::array();
  for (const WhySegment& segment : answer.segments) {
    json["segments"].push_back({{"kind", segment.kind},
                                {"first_at_ms", segment.first_at.value},
                                {"last_at_ms", segment.last_at.value},
                                {"counts", segment.counts},
                                {"until_ms", TimeOrNull(segment.until)}});
  }
  json["removed_until"] = DayOrNull(answer.removed);
  json["erased_until"] = DayOrNull(answer.erased);
  json["exposures"] = answer.exposures ? Listed(*answer.exposures) : Json(nullptr);
  json["journal"] = nullptr;
  if (answer.journal_whole_from) {
    // A day before 1970: the journal is whole from the first record on that was read.
    const bool always = answer.journal_whole_from->since_epoch < 0;
    json["journal"] = {{"whole_from", always ? Json(nullptr) : Json(DayText(*answer.journal_whole_from))}};
  }
  json["explanation"] = ExplainWhy(item, answer);
  return Written(json);
}

}  // namespace seen

#include "tools/ask/why_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "tools/ask/calendar.h"

namespace seen {
namespace {

using Json = nlohmann::json;

std::string Time(const Json& ms) { return TimeText({ms.get<int64_t>()}); }

std::string Like(const Json& similar) {
  const bool is_near = similar.at("because") == "near";
  if (similar.at("like").is_null()) {
    return fmt::format("{} was seen, and only its fingerprint is known",
                       is_near ? "an item near it" : "an item of its group");
  }
  const Json& similarity = similar.at("similarity");
  return fmt::format(
      "{} {}{}, which was seen", is_near ? "it is near" : "it is of one group with",
      similar.at("like").get<std::string>(),
      similarity.is_null() ? "" : fmt::format(" (similarity {:.2f})", similarity.get<double>()));
}

std::string Headline(const Json& answer) {
  const auto item = answer.at("item").get<std::string>();
  const auto because = answer.at("because").get<std::string>();
  if (because == "exposed") return fmt::format("{}: dropped, because it was seen", item);
  if (because == "served") return fmt::format("{}: dropped for now, because it was served", item);
  if (because == "not_seen") return fmt::format("{}: not dropped, it isn't seen", item);
  if (because == "similar") {
    return fmt::format("{}: not seen, but {}. The filter demotes or drops {}", item,
                       Like(answer.at("similar")), item);
  }
  if (answer.at("false_positive_of") == "filter") {
    return fmt::format(
        "{}: not seen, but the published filter says that it is: a false positive of the filter. POST "
        ".../unseen lets the item through. Readers of the snapshot drop it",
        item);
  }
  return fmt::format(
      "{}: dropped, but never shown: a false positive of the fingerprint. The item shares its fingerprint "
      "with an item that was shown",
      item);
}

std::string SegmentLine(const Json& segment) {
  std::string line = fmt::format("  {} between {} and {}", segment.at("kind").get<std::string>(),
                                 Time(segment.at("first_at_ms")), Time(segment.at("last_at_ms")));
  if (!segment.at("until_ms").is_null()) line += fmt::format(", until {}", Time(segment.at("until_ms")));
  if (!segment.at("counts").get<bool>()) line += ", which no longer counts";
  return line + "\n";
}

std::string ExposureLine(const Json& exposure) {
  std::string line = fmt::format("  {}  {}", Time(exposure.at("at")), exposure.at("kind").get<std::string>());
  if (!exposure.at("scene").is_null()) line += "  in " + exposure.at("scene").get<std::string>();
  if (!exposure.at("position").is_null()) {
    line += fmt::format("  at position {}", exposure.at("position").get<int64_t>());
  }
  if (!exposure.at("request_id").is_null()) {
    line += "  of request " + exposure.at("request_id").get<std::string>();
  }
  return line + "\n";
}

}  // namespace

std::string WhyText(const Json& answer) {
  std::string text = Headline(answer) + "\n";
  if (!answer.at("segments").empty()) {
    // The first and last second belong to the segment, not to the item.
    text += "in the user's segments\n";
    for (const Json& segment : answer.at("segments")) text += SegmentLine(segment);
  }
  if (!answer.at("removed_until").is_null()) {
    text += fmt::format("taken back on {} (UTC): exposures up to then don't count\n",
                        answer.at("removed_until").get<std::string>());
  }
  if (!answer.at("erased_until").is_null()) {
    text += fmt::format("the user was erased on {} (UTC): exposures up to then don't count\n",
                        answer.at("erased_until").get<std::string>());
  }
  if (answer.at("exposures").is_null()) {
    text += "no journal is kept (store.explain_days is 0), so the events aren't known\n";
    return text;
  }
  const Json& whole_from = answer.at("journal").at("whole_from");
  text += fmt::format(
      "in the journal{}{}\n",
      whole_from.is_null() ? "" : ", which is whole from " + whole_from.get<std::string>() + " on",
      answer.at("exposures").empty() ? ": nothing" : "");
  for (const Json& exposure : answer.at("exposures")) text += ExposureLine(exposure);
  return text;
}

}  // namespace seen

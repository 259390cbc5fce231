#include "serve/answer_json.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text.h"

namespace seen {
namespace {

using Json = nlohmann::ordered_json;

std::string Dump(const Json& json) { return JsonText(json); }

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

std::string_view NameOf(WhyReason because) {
  switch (because) {
    case WhyReason::kNotSeen:
      return "not_seen";
    case WhyReason::kExposed:
      return "exposed";
    case WhyReason::kServed:
      return "served";
    case WhyReason::kSimilar:
      return "similar";
    case WhyReason::kFilter:
    case WhyReason::kFingerprint:
      return "false_positive";
  }
  return "";
}

std::string LikeWhat(const SimilarTo& similar) {
  const bool is_near = similar.because == SimilarReason::kNear;
  if (similar.like.empty())
    return fmt::format("{} was seen, and only its fingerprint is known",
                       is_near ? "an item near it" : "an item of its group");
  return fmt::format("{} {}{}, which was seen", is_near ? "it is near" : "it is of one group with",
                     similar.like,
                     similar.similarity ? fmt::format(" (similarity {:.2f})", *similar.similarity) : "");
}

std::string Verdict(std::string_view item, const WhyAnswer& answer) {
  switch (answer.because) {
    case WhyReason::kExposed:
      return fmt::format("{}: dropped, because it was seen", item);
    case WhyReason::kServed:
      return fmt::format("{}: dropped for now, because it was served", item);
    case WhyReason::kSimilar:
      return fmt::format("{0}: not seen, but {1}. The filter demotes or drops {0}", item,
                         LikeWhat(answer.similar.value_or(SimilarTo{})));
    case WhyReason::kFilter:
      return fmt::format(
          "{}: not seen, but the published filter says that it is: a false positive of the filter. POST "
          ".../unseen lets the item through. Readers of the snapshot drop it",
          item);
    case WhyReason::kFingerprint:
      return fmt::format(
          "{}: dropped, but never shown: a false positive of the fingerprint. The item shares its "
          "fingerprint with an item that was shown",
          item);
    case WhyReason::kNotSeen:
      break;
  }
  return fmt::format("{}: not dropped, it isn't seen", item);
}

std::string Explain(const WhySegment& segment) {
  return fmt::format("in a segment: {} between {} and {}{}{}", segment.kind, TimeText(segment.first_at),
                     TimeText(segment.last_at), segment.until ? ", until " + TimeText(*segment.until) : "",
                     segment.counts ? "" : ", which no longer counts");
}

std::string ExplainJournal(const WhyAnswer& answer) {
  if (!answer.exposures) return "no journal is kept (store.explain_days is 0), so the events aren't known";
  const bool has_start = answer.journal_whole_from && answer.journal_whole_from->since_epoch >= 0;
  const size_t events = answer.exposures->size();
  return fmt::format("in the journal{}: {}",
                     has_start ? ", which is whole from " + DayText(*answer.journal_whole_from) + " on" : "",
                     events == 0 ? "nothing" : fmt::format("{} event{}", events, events == 1 ? "" : "s"));
}

std::string HowFound(const ItemGroup& item) {
  if (item.found == FoundBy::kCopy) return "a copy: the same text";
  return fmt::format("{}{}{} bit{} apart, found by {}",
                     item.similarity ? fmt::format("similarity {:.2f}, ", *item.similarity) : "",
                     item.containment ? fmt::format("containment {:.2f}, ", *item.containment) : "",
                     item.distance, item.distance == 1 ? "" : "s", FoundByName(item.found));
}

Hash128 HashAt(const nlohmann::json& object, const char* field) {
  const auto hash = HashFromHex(object.at(field).get<std::string>());
  if (!hash)
    throw nlohmann::json::other_error::create(501, std::string(field) + ": not 32 hexadecimal digits",
                                              &object);
  return *hash;
}

FilterDigest FilterFromJson(const nlohmann::json& object) {
  FilterDigest filter;
  filter.filter = object.at("filter").get<std::string>();
  filter.window_days = object.at("window_days").get<int32_t>();
  filter.set.digest = HashAt(object, "digest");
  filter.set.without_id = HashAt(object, "without_id");
  filter.set.similar = HashAt(object, "similar");
  filter.set.users = object.at("users").get<uint64_t>();
  filter.set.users_without_id = object.at("users_without_id").get<uint64_t>();
  filter.set.items = object.at("items").get<uint64_t>();
  filter.set.removals = object.at("removals").get<uint64_t>();
  return filter;
}

// The first sentence says whether the item is dropped, and why.
std::vector<std::string> ExplainWhy(std::string_view item, const WhyAnswer& answer) {
  std::vector<std::string> lines = {Verdict(item, answer)};
  // The first and last second belong to the segment, not to the item.
  for (const WhySegment& segment : answer.segments) lines.push_back(Explain(segment));
  if (answer.removed)
    lines.push_back("taken back on " + DayText(*answer.removed) + " (UTC): exposures up to then don't count");
  if (answer.erased)
    lines.push_back("the user was erased on " + DayText(*answer.erased) +
                    " (UTC): exposures up to then don't count");
  lines.push_back(ExplainJournal(answer));
  return lines;
}

// How the item got into its group, and how large the group is.
std::vector<std::string> ExplainGroup(const GroupAnswer& answer) {
  const ItemGroup& item = answer.item;
  const std::string about = fmt::format("{}, of {}: ", item.item_id, TimeText(item.created_at));
  std::vector<std::string> lines;
  if (item.found == FoundBy::kNoText) {
    lines.push_back(about + "has no word, so no item is like it");
  } else if (item.group_id == item.item_id) {
    lines.push_back(about + "the first of its group");
  } else {
    lines.push_back(fmt::format("{}of the group of {}, {}", about, item.group_id, HowFound(item)));
  }
  if (!item.moved_from.empty() && item.found != FoundBy::kNoText)
    lines.push_back(fmt::format("it was in the group of {} before", item.moved_from));
  const size_t members = answer.members.size();
  const bool more = !answer.next.empty();
  lines.push_back(fmt::format("the group of {}: {}{} item{}", item.group_id, members, more ? " or more" : "",
                              members == 1 && !more ? "" : "s"));
  return lines;
}

}  // namespace

std::string DumpLine(const Json& json) { return Dump(json) + "\n"; }

std::string WriteUser(std::string_view filter, std::string_view user_id, const UserAnswer& answer) {
  Json json = {{"filter", filter},
               {"user_id", user_id},
               {"partition", answer.partition},
               {"partition_time_ms", answer.as_of.partition_time.value},
               {"lag_messages", OrNull(answer.as_of.lag_messages)},
               {"age_ms", answer.as_of.age ? Json(answer.as_of.age->count()) : Json(nullptr)},
               {"complete_since", TimeOrNull(answer.as_of.complete_since)},
               {"items", answer.items},
               {"bytes", answer.bytes},
               {"removals", answer.removals},
               {"segments", Json::array()}};
  for (const SegmentSummary& segment : answer.segments) {
    Json one = {{"kind", segment.kind},
                {"day", DayText(DayOf(segment.from))},
                {"from_ms", segment.from.value},
                {"to_ms", segment.to.value},
                {"items", segment.items},
                {"first_at_ms", segment.first_at.value},
                {"last_at_ms", segment.last_at.value},
                {"bytes", segment.bytes},
                {"counts_until_ms", TimeOrNull(segment.counts_until)},
                {"in_window", segment.in_window}};
    if (segment.kind == "repeated") one["exposures"] = segment.exposures;
    json["segments"].push_back(std::move(one));
  }
  if (answer.next) json["next"] = TextOrNull(*answer.next);
  return JsonText(json, 2) + "\n";
}

std::string WriteExposures(const ExposuresAnswer& answer) {
  return DumpLine({{"exposures", Listed(answer.exposures)}, {"next", TextOrNull(answer.next)}});
}

std::string WriteWhy(std::string_view item, const WhyAnswer& answer) {
  Json json = {{"item", item}, {"seen", answer.seen}, {"in_snapshot", OrNull(answer.in_snapshot)}};
  json["because"] = NameOf(answer.because);
  if (answer.because == WhyReason::kFilter) json["false_positive_of"] = "filter";
  if (answer.because == WhyReason::kFingerprint) json["false_positive_of"] = "fingerprint";
  json["similar"] = nullptr;
  if (answer.similar) {
    json["similar"] = {{"like", TextOrNull(answer.similar->like)},
                       {"because", SimilarReasonName(answer.similar->because)},
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
  return DumpLine(json);
}

std::string WriteGroup(const GroupAnswer& answer) {
  Json members = Json::array();
  for (const GroupMember& member : answer.members) {
    members.push_back({{"item_id", member.item_id},
                       {"similarity", member.similarity ? Json(*member.similarity) : Json(nullptr)}});
  }
  std::string text = R"({"group_id":)" + Dump(answer.item.group_id) + R"(,"item":)";
  WriteItemGroup(answer.item, text);
  text += R"(,"members":)" + Dump(members) + R"(,"next":)";
  text += answer.next.empty() ? "null" : Dump(answer.next);
  return text + R"(,"explanation":)" + Dump(ExplainGroup(answer)) + "}\n";
}

std::string WriteSimilarAnswer(const SimilarAnswer& answer) {
  Json out = {{"similar", Json::array()}, {"cut", answer.cut}};
  for (const NearItem& near : answer.similar) {
    Json one = {{"item_id", near.item_id},
                {"similarity", nullptr},
                {"distance", near.distance},
                {"found_by", FoundByName(near.found)}};
    // Rounded as in the topic of groups.
    if (near.similarity) one["similarity"] = std::round(*near.similarity * 10'000) / 10'000;
    if (near.containment) one["containment"] = std::round(*near.containment * 10'000) / 10'000;
    out["similar"].push_back(std::move(one));
  }
  return DumpLine(out);
}

Json DigestsToJson(const std::vector<FilterDigest>& filters) {
  auto array = Json::array();
  for (const FilterDigest& filter : filters) {
    array.push_back({{"filter", filter.filter},
                     {"window_days", filter.window_days},
                     {"digest", ToHex(filter.set.digest)},
                     {"without_id", ToHex(filter.set.without_id)},
                     {"similar", ToHex(filter.set.similar)},
                     {"users", filter.set.users},
                     {"users_without_id", filter.set.users_without_id},
                     {"items", filter.set.items},
                     {"removals", filter.set.removals}});
  }
  return array;
}

Result<std::vector<FilterDigest>> DigestsFromJson(const nlohmann::json& array) {
  try {
    std::vector<FilterDigest> filters;
    for (const nlohmann::json& object : array) filters.push_back(FilterFromJson(object));
    return filters;
  } catch (const nlohmann::json::exception& error) {
    return Fail(Code::kMalformed, std::string("digests: ") + error.what());
  }
}

Json PartitionDigestToJson(const PartitionDigest& digest) {
  return {{"partition", digest.partition},
          {"next_offset", digest.next_offset},
          {"partition_time_ms", digest.partition_time.value},
          {"as_of_ms", digest.as_of.value},
          {"filters", DigestsToJson(digest.filters)}};
}

Result<PartitionDigest> PartitionDigestFromJson(const nlohmann::json& object) {
  try {
    PartitionDigest digest;
    digest.partition = object.at("partition").get<int32_t>();
    digest.next_offset = object.at("next_offset").get<int64_t>();
    digest.partition_time = {object.at("partition_time_ms").get<int64_t>()};
    digest.as_of = {object.at("as_of_ms").get<int64_t>()};
    auto filters = DigestsFromJson(object.at("filters"));
    if (!filters) return Fail(filters.error());
    digest.filters = std::move(*filters);
    return digest;
  } catch (const nlohmann::json::exception& error) {
    return Fail(Code::kMalformed, std::string("digest: ") + error.what());
  }
}

}  // namespace seen

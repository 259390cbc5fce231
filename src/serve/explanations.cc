#include "serve/explanations.h"

#include <fmt/format.h>

namespace seen {
namespace {

std::string LikeWhat(const SimilarTo& similar) {
  const bool is_near = similar.because == SimilarBecause::kNear;
  if (similar.like.empty())
    return fmt::format("{} was seen, and only its fingerprint is known",
                       is_near ? "an item near it" : "an item of its group");
  return fmt::format("{} {}{}, which was seen", is_near ? "it is near" : "it is of one group with",
                     similar.like,
                     similar.similarity ? fmt::format(" (similarity {:.2f})", *similar.similarity) : "");
}

std::string Verdict(std::string_view item, const WhyAnswer& answer) {
  switch (answer.because) {
    case Because::kExposed:
      return fmt::format("{}: dropped, because it was seen", item);
    case Because::kServed:
      return fmt::format("{}: dropped for now, because it was served", item);
    case Because::kSimilar:
      return fmt::format("{0}: not seen, but {1}. The filter demotes or drops {0}", item,
                         LikeWhat(answer.similar.value_or(SimilarTo{})));
    case Because::kFilter:
      return fmt::format(
          "{}: not seen, but the published filter says that it is: a false positive of the filter. POST "
          ".../unseen lets the item through. Readers of the snapshot drop it",
          item);
    case Because::kFingerprint:
      return fmt::format(
          "{}: dropped, but never shown: a false positive of the fingerprint. The item shares its "
          "fingerprint with an item that was shown",
          item);
    case Because::kNotSeen:
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
  return fmt::format("{}{} bit{} apart, found by {}",
                     item.similarity ? fmt::format("similarity {:.2f}, ", *item.similarity) : "",
                     item.distance, item.distance == 1 ? "" : "s", FoundByName(item.found));
}

}  // namespace

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

}  // namespace seen

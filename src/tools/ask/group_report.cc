#include "tools/ask/group_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "tools/ask/calendar.h"

namespace seen {
namespace {

using Json = nlohmann::json;

// "similarity 0.93, 2 bits apart, found by both": how similar two items are, and how this was found.
std::string Nearness(const Json& near) {
  const auto found = near.at("found_by").get<std::string>();
  if (found == "copy") return "a copy: the same text";
  const Json& similarity = near.at("similarity");
  const auto distance = near.at("distance").get<int64_t>();
  return fmt::format("{}{} bit{} apart, found by {}",
                     similarity.is_null() ? "" : fmt::format("similarity {:.2f}, ", similarity.get<double>()),
                     distance, distance == 1 ? "" : "s", found);
}

size_t WidthOf(const Json& list) {
  size_t width = 0;
  for (const Json& entry : list)
    width = std::max(width, entry.at("item_id").get_ref<const std::string&>().size());
  return std::min<size_t>(width, 64);
}

std::string NearLines(const Json& list) {
  std::string text;
  for (const Json& entry : list)
    text +=
        fmt::format("  {:{}}  {}\n", entry.at("item_id").get<std::string>(), WidthOf(list), Nearness(entry));
  return text;
}

std::string MemberLines(const Json& members, const std::string& group_id) {
  std::string text;
  for (const Json& member : members) {
    const auto id = member.at("item_id").get<std::string>();
    const Json& similarity = member.at("similarity");
    const std::string about = id == group_id ? "the first"
                              : similarity.is_null()
                                  ? "similar to it"
                                  : fmt::format("similarity {:.2f} to it", similarity.get<double>());
    text += fmt::format("  {:{}}  {}\n", id, WidthOf(members), about);
  }
  return text;
}

std::string Headline(const Json& item, const std::string& group_id) {
  const auto id = item.at("item_id").get<std::string>();
  const auto found = item.at("found_by").get<std::string>();
  const std::string of = "of " + TimeText({item.at("created_at").get<int64_t>()});
  if (found == "no_text") return fmt::format("{}, {}: has no word, so no item is like it\n", id, of);
  std::string text = group_id == id
                         ? fmt::format("{}, {}: the first of its group\n", id, of)
                         : fmt::format("{}, {}: of the group of {}, {}\n", id, of, group_id, Nearness(item));
  if (item.contains("moved_from") && !item.at("moved_from").is_null())
    text += fmt::format("it was in the group of {} before\n", item.at("moved_from").get<std::string>());
  return text;
}

}  // namespace

std::string GroupText(const Json& answer) {
  const Json& item = answer.at("item");
  const auto group_id = answer.at("group_id").get<std::string>();
  std::string text = Headline(item, group_id);
  const Json& members = answer.at("members");
  const bool more = answer.contains("next") && !answer.at("next").is_null();
  text += fmt::format("the group of {}: {}{} item{}\n", group_id, members.size(), more ? " or more" : "",
                      members.size() == 1 && !more ? "" : "s");
  text += MemberLines(members, group_id);
  if (more) text += fmt::format("  and more: --after {}\n", answer.at("next").get<std::string>());
  const Json& near = item.at("near");
  text += near.empty() ? std::string("near it: nothing\n")
                       : fmt::format("near it, of any group: {}\n", near.size()) + NearLines(near);
  return text;
}

std::string SimilarItemsText(const Json& answer) {
  const Json& similar = answer.at("similar");
  if (similar.empty()) return "no stored item is like it\n";
  return fmt::format("{} item{} like it, the nearest first\n", similar.size(),
                     similar.size() == 1 ? " is" : "s are") +
         NearLines(similar);
}

}  // namespace seen

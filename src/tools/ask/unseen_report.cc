#include "tools/ask/unseen_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace seen {
namespace {

using Json = nlohmann::json;

std::string LikeWhat(const Json& similar) {
  const auto because = similar.at("because").get<std::string>();
  if (similar.at("like").is_null())
    return because == "near" ? "near something seen" : "of a group that was seen";
  const auto like = similar.at("like").get<std::string>();
  if (because == "page") return fmt::format("like {}, which stays", like);
  return because == "near" ? fmt::format("near {}, which was seen", like)
                           : fmt::format("of one group with {}, which was seen", like);
}

}  // namespace

std::string UnseenText(const Json& answer) {
  std::string text;
  for (const Json& item : answer.at("unseen")) text += item.get<std::string>() + "\n";
  return text;
}

std::string SimilarText(const Json& answer) {
  if (!answer.contains("similar")) return {};
  const Json& unseen = answer.at("unseen");
  std::string text;
  for (const Json& similar : answer.at("similar")) {
    const Json& item = similar.at("item_id");
    const bool stands = std::find(unseen.begin(), unseen.end(), item) != unseen.end();
    text += fmt::format("{} {}: {}\n", item.get<std::string>(), stands ? "comes last" : "is left out",
                        LikeWhat(similar));
  }
  return text;
}

}  // namespace seen

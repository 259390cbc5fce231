#include "query/one_per_group.h"

#include <optional>

namespace seen {

void OnePerGroup::Keep(const LikeLists& like, std::vector<uint32_t>& order, std::vector<LeftOut>& left_out) {
  left_out.clear();
  stay_.Reset(like.size());
  groups_.Reset(like.size());
  near_.Reset(like.all().size());
  const auto like_one_that_stays = [&](uint32_t place) -> std::optional<uint32_t> {
    if (const auto stays = groups_.Find(like.group(place))) return stays;
    if (const auto stays = near_.Find(like.item(place))) return stays;
    for (size_t i = like.start(place); i < like.end(place); ++i) {
      if (const auto stays = stay_.Find(like.all()[i])) return stays;
    }
    return std::nullopt;
  };
  size_t kept = 0;
  for (const uint32_t place : order) {
    if (const auto stays = like_one_that_stays(place)) {
      left_out.push_back({place, *stays});
      continue;
    }
    order[kept++] = place;
    stay_.Insert(like.item(place), place);
    if (!like.IsLikeAny(place)) continue;
    groups_.Insert(like.group(place), place);
    for (const Fingerprint near : like.near(place)) near_.Insert(near, place);
  }
  order.resize(kept);
}

}  // namespace seen

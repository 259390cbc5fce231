#include "tools/compare/reason_finder.h"

#include <algorithm>
#include <atomic>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <vector>

#include "tools/common_options.h"
#include "tools/compare/difference_reason.h"

namespace seen {
namespace {

using Json = nlohmann::json;

DifferenceReason AskReason(DaemonClient& daemon, const FilterDifference& difference, TimeMs now) {
  const std::string user =
      "/v1/filters/" + PercentEncode(difference.filter) + "/users/" + PercentEncode(difference.user_id);
  const auto why = daemon.AskJson("GET", user + "/why?item=" + PercentEncode(difference.item_id));
  if (!why) return NoReason();
  try {
    Json segments;
    if (NeedsSegments(difference, *why)) {
      auto answer = daemon.AskJson("GET", user + "/segments");
      if (!answer) return NoReason();
      segments = std::move(*answer);
    }
    return DifferenceReasonOf(difference, *why, segments, now);
  } catch (const Json::exception&) {
    return NoReason();  // the answer of another version
  }
}

void Count(const FilterDifference& difference, const DifferenceReason& reason, size_t examples_max,
           SideReport& side) {
  ++side.asked;
  auto count = std::find_if(side.reasons.begin(), side.reasons.end(),
                            [&](const ReasonCount& one) { return one.reason.key == reason.key; });
  if (count == side.reasons.end()) count = side.reasons.insert(count, {reason, 0});
  if (count->items++ < examples_max) side.examples.push_back({difference, reason});
}

}  // namespace

SideReport FindReasons(const DifferenceSample& sample, std::span<DaemonClient> daemons, size_t examples_max) {
  SideReport side;
  side.items = sample.total();
  const std::vector<FilterDifference> differences = sample.InOrder();
  std::vector<std::optional<DifferenceReason>> reasons(differences.size());
  const TimeMs now = SystemClock().WallNow();
  {
    std::atomic<size_t> next = 0;
    std::vector<std::jthread> threads;
    for (DaemonClient& daemon : daemons) {
      threads.emplace_back([&] {
        for (size_t i = next++; i < differences.size() && !Interrupted(); i = next++)
          reasons[i] = AskReason(daemon, differences[i], now);
      });
    }
  }
  for (size_t i = 0; i < differences.size(); ++i) {
    if (reasons[i]) Count(differences[i], *reasons[i], examples_max, side);
  }
  std::stable_sort(side.reasons.begin(), side.reasons.end(),
                   [](const ReasonCount& a, const ReasonCount& b) { return a.items > b.items; });
  std::vector<DifferenceExample> ordered;
  for (const ReasonCount& count : side.reasons) {
    std::copy_if(side.examples.begin(), side.examples.end(), std::back_inserter(ordered),
                 [&](const DifferenceExample& example) { return example.reason.key == count.reason.key; });
  }
  side.examples = std::move(ordered);
  return side;
}

}  // namespace seen

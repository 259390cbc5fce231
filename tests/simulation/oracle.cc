#include "simulation/oracle.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "model/hashes.h"

namespace seen::sim {
namespace {

int64_t DayOf(int64_t ms) { return ms / 86'400'000; }

class History {
 public:
  History(const Rules& rules, const std::vector<const LoggedEvent*>& events, int64_t now_ms)
      : rules_(rules), now_ms_(now_ms), today_(DayOf(now_ms)) {
    for (const LoggedEvent* event : events) {
      if (Concerns(*event)) events_.push_back(event);
    }
  }

  std::set<std::string> Seen() const {
    std::set<std::string> seen;
    const auto add = [&](const std::map<std::string, int64_t>& counted) { seen.merge(Cut(counted)); };
    add(Exposed());
    add(Served());
    for (const auto& [kind, window_days] : rules_.kinds) add(Declared(kind, window_days));
    return seen;
  }

 private:
  // Whether the filter covers the event, and the event wasn't too old when it was read.
  bool Concerns(const LoggedEvent& event) const {
    if (event.kind == "erased") return true;
    const bool covers = rules_.scenes.empty() ||
                        std::any_of(rules_.scenes.begin(), rules_.scenes.end(), [&](const auto& scene) {
                          return scene.back() == '*'
                                     ? event.scene.starts_with(scene.substr(0, scene.size() - 1))
                                     : event.scene == scene;
                        });
    const auto declared = rules_.kinds.find(event.kind);
    const int64_t window = declared == rules_.kinds.end() ? rules_.window_days : declared->second;
    int64_t longest = window;
    if (event.kind == "removed") {  // a removal concerns the kind with the longest window
      for (const auto& [kind, days] : rules_.kinds) longest = std::max<int64_t>(longest, days);
    }
    return covers && DayOf(event.at_ms) >= DayOf(event.record_ms) - longest;
  }

  // The day to which the event's effect belongs.
  int64_t DayOfEvent(const LoggedEvent& event) const {
    if (event.kind != "served") return DayOf(event.at_ms);
    return event.at_ms / 1000 / Width() * Width() / 86'400;
  }

  // Whether a removal or an erasure takes the item back. A later one in the log counts if its day is the
  // event's day or a later day. An earlier one counts if its day is a later day.
  bool TakenBack(size_t i, const std::string& id) const {
    const int64_t day = DayOfEvent(*events_[i]);
    for (size_t j = 0; j < events_.size(); ++j) {
      const LoggedEvent& other = *events_[j];
      if (!other.takes_back()) continue;
      const bool names =
          other.kind == "erased" || std::any_of(other.items.begin(), other.items.end(),
                                                [&](const auto& item) { return item.id == id; });
      const int64_t until = DayOf(other.at_ms);
      if (names && (j > i ? day <= until : day < until)) return true;
    }
    return false;
  }

  // Calls `visit` with each item of the kind that wasn't taken back.
  void EachOf(const std::string& kind, auto&& visit) const {
    for (size_t i = 0; i < events_.size(); ++i) {
      if (events_[i]->kind != kind) continue;
      for (const LoggedItem& item : events_[i]->items) {
        if (!TakenBack(i, item.id)) visit(*events_[i], item);
      }
    }
  }

  // Each item that counts, with its newest place, here a day. Cut finds the newest items by their places.
  std::map<std::string, int64_t> Exposed() const {
    std::map<std::string, std::set<int64_t>> seconds;
    std::map<std::string, int64_t> newest_shown, newest_place;
    EachOf("exposed", [&](const LoggedEvent& event, const LoggedItem& item) {
      const int64_t shown = DayOf(event.at_ms);
      int64_t place = shown;
      if (rules_.by_creation && item.created_ms) place = std::min(shown, DayOf(*item.created_ms));
      if (place < today_ - rules_.window_days) return;
      seconds[item.id].insert(event.at_ms / 1000);
      const auto later = [](std::map<std::string, int64_t>& newest, const std::string& id, int64_t day) {
        const auto [at, added] = newest.try_emplace(id, day);
        at->second = std::max(at->second, day);
      };
      later(newest_shown, item.id, shown);
      later(newest_place, item.id, place);
    });
    std::erase_if(newest_place, [&](const auto& one) {
      return seconds[one.first].size() < rules_.exposures_min ||
             (rules_.cooldown_days && newest_shown[one.first] < today_ - *rules_.cooldown_days);
    });
    return newest_place;
  }

  int64_t Width() const { return std::max(1, rules_.served_ttl_s / 6); }

  std::map<std::string, int64_t> Served() const {
    std::map<std::string, int64_t> served;
    if (rules_.served_ttl_s == 0) return served;
    EachOf("served", [&](const LoggedEvent& event, const LoggedItem& item) {
      const int64_t bucket = event.at_ms / 1000 / Width();
      if ((bucket + 7) * Width() <= now_ms_ / 1000) return;
      const auto [at, added] = served.try_emplace(item.id, bucket);
      at->second = std::max(at->second, bucket);
    });
    return served;
  }

  std::map<std::string, int64_t> Declared(const std::string& kind, int32_t window_days) const {
    std::map<std::string, int64_t> newest;
    EachOf(kind, [&](const LoggedEvent& event, const LoggedItem& item) {
      const int64_t day = DayOf(event.at_ms);
      if (day < today_ - window_days) return;
      const auto [at, added] = newest.try_emplace(item.id, day);
      at->second = std::max(at->second, day);
    });
    return newest;
  }

  // The newest `items_max` items. Of the items of one place, those with the smallest fingerprints.
  std::set<std::string> Cut(const std::map<std::string, int64_t>& counted) const {
    std::vector<std::tuple<int64_t, Fingerprint, std::string>> ordered;
    for (const auto& [id, place] : counted) ordered.emplace_back(-place, FingerprintOf(id), id);
    std::sort(ordered.begin(), ordered.end());
    if (ordered.size() > rules_.items_max) ordered.resize(rules_.items_max);
    std::set<std::string> kept;
    for (const auto& [place, fingerprint, id] : ordered) kept.insert(id);
    return kept;
  }

  const Rules& rules_;
  const int64_t now_ms_;
  const int64_t today_;
  std::vector<const LoggedEvent*> events_;
};

}  // namespace

std::set<std::string> SeenItems(const Rules& rules, const std::vector<const LoggedEvent*>& events,
                                int64_t now_ms) {
  return History(rules, events, now_ms).Seen();
}

}  // namespace seen::sim

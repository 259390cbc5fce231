// Golden snapshots of the kinds beside the default.

#include <algorithm>

#include "filter/snapshot.h"
#include "unit/filter/golden_snapshots.h"

namespace seen::golden {
namespace {

constexpr int32_t kToday = 20413;

SnapshotMeta MetaOf(SnapshotFormat format, double rate) {
  return {format, 0, {1763700000123}, {kToday - 30}, 3, 123456789, rate};
}

GoldenSnapshot Made(SnapshotFormat format, std::string_view name, std::string note,
                    std::vector<std::string> ids, const std::vector<std::string>& candidates, double rate) {
  const std::vector<GoldenDay> days = NeedsDays(format) ? Spread(ids) : std::vector<GoldenDay>();
  GoldenSnapshot made;
  made.file = std::string(SnapshotFormatName(format)) + "_" + std::string(name) + ".bin";
  made.note = std::move(note);
  made.bytes = Rendered(MetaOf(format, rate), ids, days);
  made.unseen = UnseenOf(made.bytes, candidates);
  made.seen = std::move(ids);
  made.days = days;
  return made;
}

}  // namespace

std::vector<GoldenDay> Spread(const std::vector<std::string>& ids) {
  std::vector<GoldenDay> days;
  size_t from = 0;
  for (int32_t back = 0; from < ids.size(); ++back) {
    const size_t to = std::min(ids.size(), from + std::max<size_t>(1, (ids.size() - from) / 3));
    const Day day{kToday - back * back};
    const auto start = static_cast<uint32_t>(day.since_epoch * kSecondsPerDay);
    days.push_back({day, start + 60, start + 80'000 + static_cast<uint32_t>(back), {}});
    days.back().seen.assign(ids.begin() + static_cast<std::ptrdiff_t>(from),
                            ids.begin() + static_cast<std::ptrdiff_t>(to));
    from = to;
  }
  return days;
}

std::string Rendered(const SnapshotMeta& meta, const std::vector<std::string>& ids,
                     const std::vector<GoldenDay>& days,
                     std::optional<std::span<const Fingerprint>> similar) {
  std::vector<Fingerprint> all;
  for (const std::string& id : ids) all.push_back(FingerprintOf(id));
  std::vector<std::vector<Fingerprint>> by_day;
  std::vector<DayOfItems> day_items;
  by_day.reserve(days.size());
  for (const GoldenDay& day : days) {
    std::vector<Fingerprint>& items = by_day.emplace_back();
    for (const std::string& id : day.seen) items.push_back(FingerprintOf(id));
    std::sort(items.begin(), items.end());
    day_items.push_back({day.day, day.first_second, day.last_second, items});
  }
  std::string bytes;
  RenderSnapshot({meta.format, meta.false_positive_rate, false}, meta, {all, day_items}, similar, bytes);
  return bytes;
}

std::vector<std::string> UnseenOf(const std::string& bytes, const std::vector<std::string>& candidates) {
  std::vector<std::string> unseen;
  const auto view = SnapshotView::Parse(bytes);
  for (const std::string& id : candidates) {
    if (view && !view->MightContain(id)) unseen.push_back(id);
  }
  return unseen;
}

std::vector<GoldenSnapshot> SnapshotsOfOtherKinds() {
  std::vector<GoldenSnapshot> snapshots;
  for (auto number = static_cast<int>(SnapshotFormat::kBloom);
       number < static_cast<int>(kSnapshotFormatCount); ++number) {
    const auto format = static_cast<SnapshotFormat>(number);
    snapshots.push_back(Made(format, "empty", "Nothing seen.", {}, Numbered("n", 1, 20), 0.01));
    snapshots.push_back(Made(format, "one", "One item.", {"n1"}, Numbered("n", 2, 40), 0.01));
    snapshots.push_back(
        Made(format, "ten", "A light user.", Numbered("n", 1, 10), Numbered("n", 11, 90), 0.01));
    snapshots.push_back(Made(format, "hundred", "A hundred items.", Numbered("item-", 0, 100),
                             Numbered("item-", 100, 200), 0.01));
    if (0.001 >= LeastRate(format)) {
      snapshots.push_back(Made(format, "hundred_at_a_thousandth", "The same items at 0.1%.",
                               Numbered("item-", 0, 100), Numbered("item-", 100, 200), 0.001));
    }
    snapshots.push_back(Made(format, "thousand", "A busy user.", Numbered("item-", 0, 1000),
                             Numbered("item-", 1000, 100), 0.01));
    snapshots.push_back(Made(format, "unicode",
                             "Ids are hashed as their UTF-8 bytes, neither normalised nor folded.",
                             UnicodeIds(), Numbered("曝光-", 1, 40), 0.01));
    snapshots.push_back(Made(format, "integers", "Integer ids are their decimal strings.", IntegerIds(),
                             Numbered("", 1000, 40), 0.01));
  }
  return snapshots;
}

}  // namespace seen::golden

#include "tools/check/oracle.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "model/segment_kind.h"

namespace seen {
namespace {

// The daemon's clock may be another machine's.
constexpr int64_t kClockSlackS = 2;
constexpr size_t kRepeatsOfADayMax = 64;

/// The state of an entry after all removals and erasures.
enum class Standing : uint8_t { kLive, kDoubtful, kGone };

Day DayOfSecond(uint32_t second) { return DayOf(TimeMs{int64_t{second} * 1000}); }

/// The day up to which something was taken back. Entries of earlier days are gone, those of later days
/// aren't. Within the day the log's order decides, if both events are of one source.
class TakenBackUntil {
 public:
  void Add(Day day, uint32_t order, int16_t source) {
    if (until_ && day < *until_) return;
    if (!until_ || day > *until_) last_.clear();
    until_ = day;
    last_[source] = order;
  }
  Standing Of(Day day, uint32_t order, int16_t source) const {
    if (!until_ || day > *until_) return Standing::kLive;
    if (day < *until_) return Standing::kGone;
    bool other_source = false;
    for (const auto& [of, last] : last_) {
      if (of == source && last > order) return Standing::kGone;
      other_source |= of != source;
    }
    return other_source ? Standing::kDoubtful : Standing::kLive;
  }
  const std::optional<Day>& until() const { return until_; }

 private:
  std::optional<Day> until_;
  std::map<int16_t, uint32_t> last_;  // the last order on that day, by source
};

/// An entry that concerns the filter.
struct HistoryPiece {
  Fingerprint fingerprint;
  uint32_t order = 0;
  UserEntry told;
  Standing standing = Standing::kLive;
  Day day() const { return DayOfSecond(told.second); }
};

/// A place in a row of buckets. items_max cuts the row, and keeps the newest buckets.
struct HeldPlace {
  int64_t bucket = 0;
  size_t group = 0;
  bool certain = false;
};
using BucketRow = std::vector<HeldPlace>;

/// The result of the entries of an item, or of a fingerprint.
struct HistoryVerdict {
  bool certain = false;
  bool possible = false;
  bool any_left = false;   // some entry wasn't taken back
  bool any_shown = false;  // some entry isn't a removal
  bool too_few = false;    // exposures in the window, but fewer than exposures_min
};

class HistoryOfFilter {
 public:
  HistoryOfFilter(const FilterRules& rules, const Moment& moment)
      : rules_(rules),
        moment_(moment),
        today_(DayOf(moment.from)),
        horizon_(today_ - rules.window_days),
        cooldown_(rules.cooldown_days ? today_ - *rules.cooldown_days : Day{INT32_MIN}),
        width_(std::max<uint32_t>(1, rules.served_ttl_s.value_or(6) / 6)) {}

  SeenItems Run(std::span<const UserEntry> entries, std::span<const Fingerprint> fingerprints,
                size_t filter) {
    Collect(entries, fingerprints, filter);
    for (size_t group = 0; group + 1 < groups_.size(); ++group) SetStandings(PiecesOf(group), &removed_);
    CutDays();
    must_.assign(groups_.size() - 1, false);
    may_.assign(groups_.size() - 1, false);
    for (size_t group = 0; group + 1 < groups_.size(); ++group) Count(PiecesOf(group), group, &rows_);
    for (auto& [kind, row] : rows_) CutRow(row);
    SeenItems seen;
    for (size_t group = 0; group + 1 < groups_.size(); ++group) Sort(group, seen);
    SetOthers(entries, seen);
    return seen;
  }

 private:
  std::span<HistoryPiece> PiecesOf(size_t group) {
    return std::span(pieces_).subspan(groups_[group], groups_[group + 1] - groups_[group]);
  }

  // Sorts the entries by fingerprint, and those of one fingerprint in the log's order.
  void Collect(std::span<const UserEntry> entries, std::span<const Fingerprint> fingerprints, size_t filter) {
    for (uint32_t order = 0; order < entries.size(); ++order) {
      const UserEntry& told = entries[order];
      if (told.kind == EventKind::kErased) {
        erased_.Add(DayOfSecond(told.second), order, told.source);
      } else if ((told.filters >> filter & 1) != 0) {
        pieces_.push_back({fingerprints[told.item], order, told, Standing::kLive});
      }
    }
    std::sort(pieces_.begin(), pieces_.end(), [](const HistoryPiece& a, const HistoryPiece& b) {
      return std::tie(a.fingerprint, a.order) < std::tie(b.fingerprint, b.order);
    });
    for (size_t i = 0; i < pieces_.size(); ++i) {
      if (i == 0 || pieces_[i].fingerprint != pieces_[i - 1].fingerprint) groups_.push_back(i);
    }
    groups_.push_back(pieces_.size());
  }

  /// `pieces`: of one fingerprint, or of one item alone. `removed`: gets the day up to which it was removed.
  void SetStandings(std::span<HistoryPiece> pieces, std::vector<std::pair<Fingerprint, Day>>* removed) const {
    TakenBackUntil removal;
    for (const HistoryPiece& piece : pieces) {
      if (piece.told.kind == EventKind::kRemoved) removal.Add(piece.day(), piece.order, piece.told.source);
    }
    for (HistoryPiece& piece : pieces) {
      if (piece.told.kind == EventKind::kRemoved) continue;
      piece.standing = StandingOn(piece.day(), piece, removal);
      if (piece.told.kind != EventKind::kServed) continue;
      // Served items are kept by buckets, and a bucket may lie on two days.
      const Standing of_bucket = StandingOn(DayOfSecond(piece.told.second / width_ * width_), piece, removal);
      if (of_bucket != piece.standing) piece.standing = Standing::kDoubtful;
    }
    if (removed != nullptr && removal.until() && (!erased_.until() || *removal.until() >= *erased_.until()))
      removed->emplace_back(pieces.front().fingerprint, *removal.until());
  }
  Standing StandingOn(Day day, const HistoryPiece& piece, const TakenBackUntil& removal) const {
    return std::max(removal.Of(day, piece.order, piece.told.source),
                    erased_.Of(day, piece.order, piece.told.source));
  }

  // The unit that keeps an entry: a day of exposures, of creations or of a kind, or a served items' bucket.
  std::pair<uint8_t, int64_t> BucketOf(const HistoryPiece& piece) const {
    const auto kind = static_cast<uint8_t>(piece.told.kind);
    if (piece.told.kind == EventKind::kServed) return {kind, piece.told.second / width_};
    if (piece.told.kind == EventKind::kExposed && rules_.by_creation) return {kind, piece.told.created};
    return {kind, piece.day().since_epoch};
  }

  // items_per_day_max keeps a bucket's smallest fingerprints. A fingerprint that was removed on the bucket's
  // day or later still counts against the limit. Beyond the limit either answer is right.
  void CutDays() {
    if (pieces_.size() + removed_.size() <= rules_.items_per_day_max) return;
    std::map<std::pair<uint8_t, int64_t>, std::vector<HistoryPiece*>> buckets;
    for (HistoryPiece& piece : pieces_) {
      if (piece.told.kind != EventKind::kRemoved && piece.standing != Standing::kGone)
        buckets[BucketOf(piece)].push_back(&piece);
    }
    for (auto& [bucket, pieces] : buckets) CutBucket(pieces);
  }
  void CutBucket(const std::vector<HistoryPiece*>& pieces) const {
    std::map<Day, size_t> smaller;  // number of smaller fingerprints, by their newest day here
    const auto count_from = [&](Day day) {
      size_t count = 0;
      for (auto at = smaller.lower_bound(day); at != smaller.end(); ++at) count += at->second;
      return count;
    };
    auto removal = removed_.begin();
    for (size_t from = 0; from < pieces.size();) {
      const Fingerprint fingerprint = pieces[from]->fingerprint;
      size_t to = from;
      Day newest = pieces[from]->day();
      for (; to < pieces.size() && pieces[to]->fingerprint == fingerprint; ++to)
        newest = std::max(newest, pieces[to]->day());
      for (; removal != removed_.end() && removal->first < fingerprint; ++removal) ++smaller[removal->second];
      const bool kept = count_from(newest) < rules_.items_per_day_max;
      for (; from < to; ++from) {
        if (!kept) pieces[from]->standing = Standing::kDoubtful;
      }
      if (removal != removed_.end() && removal->first == fingerprint)
        newest = std::max(newest, removal++->second);
      ++smaller[newest];
    }
  }

  HistoryVerdict Count(std::span<const HistoryPiece> pieces, size_t group,
                       std::map<uint8_t, BucketRow>* rows) {
    HistoryVerdict verdict;
    std::vector<const HistoryPiece*> exposures;  // within the window
    const auto count = [&](const HistoryPiece& piece, int64_t bucket, bool certain) {
      verdict.possible = true;
      verdict.certain |= certain;
      if (rows != nullptr) (*rows)[static_cast<uint8_t>(piece.told.kind)].push_back({bucket, group, certain});
    };
    for (const HistoryPiece& piece : pieces) {
      if (piece.told.kind == EventKind::kRemoved) continue;
      verdict.any_shown = true;
      if (piece.standing == Standing::kGone) continue;
      verdict.any_left = true;
      const bool live = piece.standing == Standing::kLive;
      const Day day = piece.day();
      if (piece.told.kind == EventKind::kExposed) {
        const Day windowed = rules_.by_creation ? Day{piece.told.created} : day;
        if (windowed < horizon_) continue;
        if (rules_.exposures_min > 1) {
          exposures.push_back(&piece);
        } else if (day >= cooldown_) {
          count(piece, windowed.since_epoch, live);
        }
      } else if (piece.told.kind == EventKind::kServed) {
        const auto [certain, possible] = ServedCounts(piece);
        if (possible) count(piece, piece.told.second / width_, live && certain);
      } else if (const Day first = FirstDayOf(piece.told.kind); day >= first) {
        count(piece, day.since_epoch, live);
      }
    }
    if (exposures.empty()) return verdict;
    const Repeats certain = RepeatsOf(exposures, false);
    const Repeats possible = RepeatsOf(exposures, true);
    verdict.too_few = possible.times < rules_.exposures_min;
    for (const HistoryPiece* piece : exposures) {
      if (AreEnough(possible)) count(*piece, piece->day().since_epoch, AreEnough(certain));
    }
    return verdict;
  }

  Day FirstDayOf(EventKind kind) const {
    for (const KindRule& rule : rules_.kinds) {
      if (rule.kind == kind) return today_ - rule.window_days;
    }
    return Day{INT32_MAX};
  }

  int64_t ServedEnd(uint32_t second) const { return (int64_t{second} / width_ + 1 + 6) * width_; }

  /// Whether the piece counts certainly, and whether it counts possibly.
  std::pair<bool, bool> ServedCounts(const HistoryPiece& piece) const {
    if (!rules_.served_ttl_s) return {false, piece.day() >= horizon_};
    const int64_t end = ServedEnd(piece.told.second);
    return {end > moment_.to.value / 1000 + kClockSlackS, end > moment_.from.value / 1000 - kClockSlackS};
  }

  struct Repeats {
    size_t times = 0;
    Day newest{INT32_MIN};
  };
  // Exposures within one second are one exposure. Of a day, the newest 64 count.
  static Repeats RepeatsOf(const std::vector<const HistoryPiece*>& exposures, bool with_doubtful) {
    std::map<Day, std::set<uint32_t>> days;
    for (const HistoryPiece* piece : exposures) {
      if (with_doubtful || piece->standing == Standing::kLive) days[piece->day()].insert(piece->told.second);
    }
    Repeats repeats;
    for (const auto& [day, seconds] : days) {
      repeats.times += std::min(seconds.size(), kRepeatsOfADayMax);
      repeats.newest = day;
    }
    return repeats;
  }
  bool AreEnough(const Repeats& repeats) const {
    return repeats.times >= rules_.exposures_min && repeats.newest >= cooldown_;
  }

  // Takes the newest buckets first, until they hold items_max. For the bucket that crosses the limit, and for
  // older ones, either answer is right.
  void CutRow(BucketRow& row) {
    std::sort(row.begin(), row.end(),
              [](const HeldPlace& a, const HeldPlace& b) { return a.bucket > b.bucket; });
    std::set<size_t> held;
    for (size_t from = 0; from < row.size();) {
      size_t to = from;
      for (; to < row.size() && row[to].bucket == row[from].bucket; ++to) held.insert(row[to].group);
      const bool fits = held.size() <= rules_.items_max;
      for (; from < to; ++from) {
        may_[row[from].group] = true;
        if (fits && row[from].certain) must_[row[from].group] = true;
      }
    }
  }

  void Sort(size_t group, SeenItems& seen) {
    const std::span<HistoryPiece> pieces = PiecesOf(group);
    if (may_[group])
      (must_[group] ? seen.fingerprints_must : seen.fingerprints_may).push_back(pieces.front().fingerprint);
    std::map<uint32_t, std::vector<HistoryPiece>> items;
    for (const HistoryPiece& piece : pieces) {
      items[piece.told.item].push_back(piece);
      if (piece.told.kind == EventKind::kServed && piece.standing != Standing::kGone && rules_.served_ttl_s)
        seen.served_ends.push_back(static_cast<uint32_t>(ServedEnd(piece.told.second)));
    }
    for (auto& [item, of_item] : items) {
      HistoryVerdict verdict;
      const bool alone = items.size() == 1;
      if (!alone)
        SetStandings(of_item, nullptr);  // events of other items with the same fingerprint don't apply
      verdict = Count(of_item, group, nullptr);
      const bool must = must_[group] && (alone || verdict.certain);
      if (must) {
        seen.must.push_back(item);
      } else if (alone ? static_cast<bool>(may_[group]) : verdict.possible) {
        seen.may.push_back(item);
      } else if (verdict.any_shown) {
        uint64_t& why = !verdict.any_left ? seen.taken_back
                        : verdict.too_few ? seen.too_few_exposures
                                          : seen.left_window;
        ++why;
      }
    }
  }

  // All other items in events of the user.
  static void SetOthers(std::span<const UserEntry> entries, SeenItems& seen) {
    std::sort(seen.must.begin(), seen.must.end());
    std::sort(seen.may.begin(), seen.may.end());
    std::vector<uint32_t> all;
    for (const UserEntry& told : entries) {
      if (told.item != UserEntry::kNoItem) all.push_back(told.item);
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    for (const uint32_t item : all) {
      if (!std::binary_search(seen.must.begin(), seen.must.end(), item) &&
          !std::binary_search(seen.may.begin(), seen.may.end(), item))
        seen.not_seen.push_back(item);
    }
  }

  const FilterRules& rules_;
  const Moment& moment_;
  const Day today_;
  const Day horizon_;     // first day that counts
  const Day cooldown_;    // an item's newest exposure must not be before it
  const uint32_t width_;  // of a bucket of served items, in seconds

  TakenBackUntil erased_;
  std::vector<HistoryPiece> pieces_;
  std::vector<size_t> groups_;  // where each fingerprint's pieces begin, then the end
  std::vector<std::pair<Fingerprint, Day>> removed_;
  std::map<uint8_t, BucketRow> rows_;  // by kind
  std::vector<bool> must_, may_;       // by group
};

}  // namespace

SeenItems WhatIsSeen(std::span<const UserEntry> entries, std::span<const Fingerprint> fingerprints,
                     const FilterRules& rules, size_t filter, const Moment& moment) {
  return HistoryOfFilter(rules, moment).Run(entries, fingerprints, filter);
}

uint32_t Oracle::NumberOf(std::string_view item) {
  if (const auto known = items_.find(item); known != items_.end()) return known->second;
  const auto number = static_cast<uint32_t>(ids_.size());
  ids_.push_back(&items_.emplace(std::string(item), number).first->first);
  fingerprints_.push_back(FingerprintOf(item));
  return number;
}

void Oracle::Add(const JudgedEvent& event) {
  auto at = users_.find(event.user_id);
  if (at == users_.end()) at = users_.emplace(std::string(event.user_id), std::vector<UserEntry>()).first;
  std::vector<UserEntry>& entries = at->second;
  UserEntry entry{.item = UserEntry::kNoItem,
                  .second = event.second,
                  .created = 0,
                  .filters = 0,
                  .source = event.source,
                  .kind = event.kind};
  if (event.kind == EventKind::kErased) entries.push_back(entry);
  for (const JudgedItem& item : event.items) {
    entry.item = NumberOf(item.id);
    entry.created = static_cast<uint16_t>(std::clamp(item.created.since_epoch, 0, 65'535));
    entry.filters = item.filters;
    entries.push_back(entry);
  }
}

std::span<const UserEntry> Oracle::EntriesOf(std::string_view user_id) const {
  const auto at = users_.find(user_id);
  return at == users_.end() ? std::span<const UserEntry>() : std::span<const UserEntry>(at->second);
}

SeenItems Oracle::Seen(std::string_view user_id, const Moment& moment, size_t filter) const {
  return WhatIsSeen(EntriesOf(user_id), fingerprints_, rules_.filters[filter], filter, moment);
}

std::vector<uint32_t> Oracle::ItemsOf(std::string_view user_id) const {
  std::vector<uint32_t> items;
  for (const UserEntry& entry : EntriesOf(user_id)) {
    if (entry.item != UserEntry::kNoItem) items.push_back(entry.item);
  }
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
  return items;
}

std::vector<std::string_view> Oracle::Users() const {
  std::vector<std::string_view> ids;
  ids.reserve(users_.size());
  for (const auto& [id, entries] : users_) ids.push_back(id);
  std::sort(ids.begin(), ids.end());
  return ids;
}

}  // namespace seen

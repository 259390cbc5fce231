#include "model/delta_fold.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "model/delta_view.h"

namespace seen {
namespace {

Day Clamped(int64_t day) { return {static_cast<int32_t>(std::max<int64_t>(day, kFirstOfDays.since_epoch))}; }

bool FoldDecoded(std::span<const std::string_view> parts, const DeltaLimits& limits, const Horizon& horizon,
                 std::string& out) {
  std::vector<Delta> deltas(parts.size());
  DeltaView view;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!ParseDelta(parts[i], view) || !DecodeView(view, deltas[i])) return false;
  }
  Delta folded = ComposeAll(deltas, limits);
  Expire(folded, horizon);
  out.clear();
  EncodeDelta(folded, out);
  return true;
}

// Folds deltas that take nothing back. It folds the exposed segments day by day, and the other segments
// separately. Keeps its memory: one per thread.
class Folder {
 public:
  enum class Outcome { kDone, kCorrupt, kNotPlain };

  Outcome Fold(std::span<const std::string_view> parts, const DeltaLimits& limits, const Horizon& horizon,
               std::string& out) {
    const Outcome gathered = Gather(parts, horizon);
    if (gathered != Outcome::kDone) return gathered;
    size_t days = 0;
    for (size_t from = 0; from < segments_.size(); from = EndOfDay(from)) {
      if (parts.size() > 1 && CountOf(from, EndOfDay(from)) > limits.items_per_day_max) {
        return Outcome::kNotPlain;
      }
      ++days;
    }
    others_bytes_ = {};
    others_count_ = 0;
    if (parts_with_others_ > 0) {
      const Outcome folded = FoldOthers(parts.size(), limits, horizon);
      if (folded != Outcome::kDone) return folded;
    }
    const size_t count = days + others_count_;
    out.clear();
    out.reserve(bytes_ + 64);
    if (count == 0) return delta_bytes::PutHeader(0, {}, std::nullopt, out), Outcome::kDone;
    delta_bytes::PutHeader(delta_bytes::kHasSegments, user_id_, std::nullopt, out);
    delta_bytes::PutVarint(count, out);
    previous_.reset();
    copied_ = nullptr;
    for (size_t from = 0; from < segments_.size(); from = EndOfDay(from)) {
      if (!PutDay(from, EndOfDay(from), out)) return Outcome::kCorrupt;
    }
    out.append(others_bytes_);
    return Outcome::kDone;
  }

 private:
  struct Piece {
    const SegmentView* segment;
    const SegmentView* before;  // the one before it in its delta; null for the first
  };

  // Gathers the exposed segments that the horizon keeps, by day.
  Outcome Gather(std::span<const std::string_view> parts, const Horizon& horizon) {
    if (views_.size() < parts.size()) views_.resize(parts.size());
    segments_.clear();
    user_id_ = {};
    bytes_ = 0;
    parts_with_others_ = 0;
    const int64_t grace_days = horizon.GraceDays();
    const Day first = Clamped(std::max<int64_t>(horizon.exposed.since_epoch, horizon.TakenBack()));
    Day kept = kFirstOfDays;  // newest day of the segments that are kept
    Day gone = kFirstOfDays;  // newest day of those that expired within the grace
    for (size_t i = 0; i < parts.size(); ++i) {
      DeltaView& view = views_[i];
      if (!ParseDelta(parts[i], view)) return Outcome::kCorrupt;
      if (view.TakesBack()) return Outcome::kNotPlain;
      if (!view.user_id.empty() && (user_id_.empty() || view.user_id < user_id_)) user_id_ = view.user_id;
      bytes_ += parts[i].size();
      const SegmentView* before = nullptr;
      for (const SegmentView& segment : view.segments) {
        if (segment.day >= first) {
          segments_.push_back({&segment, before});
        } else if (horizon.Keeps(SegmentKind::kExposed, segment.day.since_epoch, 0, segment.day,
                                 grace_days)) {
          gone = std::max(gone, segment.day);
        }
        before = &segment;
      }
      if (before != nullptr && before->day >= first) kept = std::max(kept, before->day);
      if (view.others.empty()) continue;
      ++parts_with_others_;
      for (const OtherView& other : view.others) {
        if (Keeps(horizon, other, 0)) {
          kept = std::max(kept, other.day());
        } else if (Keeps(horizon, other, grace_days)) {
          gone = std::max(gone, other.day());
        }
      }
    }
    if (gone > kept) return Outcome::kNotPlain;  // its segment stays, emptied
    // Insertion sort, because they are nearly sorted: the first part is long, and the others belong to its
    // last days.
    for (size_t i = 1; i < segments_.size(); ++i) {
      const Piece piece = segments_[i];
      size_t at = i;
      for (; at > 0 && piece.segment->day < segments_[at - 1].segment->day; --at) {
        segments_[at] = segments_[at - 1];
      }
      segments_[at] = piece;
    }
    return Outcome::kDone;
  }

  static bool Keeps(const Horizon& horizon, const OtherView& other, int64_t days) {
    return horizon.Keeps(other.kind, other.bucket, other.EndSecond(), other.day(), days);
  }

  // Folds the other segments of the first `parts` views.
  Outcome FoldOthers(size_t parts, const DeltaLimits& limits, const Horizon& horizon) {
    const auto views = std::span(views_).first(parts);
    if (parts_with_others_ == 1) {
      const auto view = std::find_if(views.begin(), views.end(),
                                     [](const DeltaView& candidate) { return !candidate.others.empty(); });
      const bool stays = std::all_of(view->others.begin(), view->others.end(), [&](const OtherView& other) {
        return Keeps(horizon, other, 0) &&
               (parts == 1 || other.fingerprints.count <= limits.ItemsMax(other.kind));
      });
      if (stays) {
        others_count_ = view->others.size();
        others_bytes_ = view->others_bytes;
        return Outcome::kDone;
      }
    }
    std::vector<Delta> deltas(parts);
    for (size_t i = 0; i < parts; ++i) {
      if (!DecodeOthers(views[i], deltas[i].others)) return Outcome::kCorrupt;
    }
    Delta folded = ComposeAll(deltas, limits);
    Horizon without_grace = horizon;
    without_grace.taken_back = Clamped(horizon.TakenBack());
    without_grace.whole = kLastOfDays;
    Expire(folded, without_grace);
    others_count_ = folded.others.size();
    others_.clear();
    delta_bytes::PutOthers(folded.others, others_);
    others_bytes_ = others_;
    return Outcome::kDone;
  }

  size_t EndOfDay(size_t from) const {
    size_t to = from + 1;
    while (to < segments_.size() && segments_[to].segment->day == segments_[from].segment->day) ++to;
    return to;
  }
  uint64_t CountOf(size_t from, size_t to) const {
    uint64_t count = 0;
    for (; from < to; ++from) count += segments_[from].segment->fingerprints.count;
    return count;
  }

  bool PutDay(size_t from, size_t to, std::string& out) {
    const SegmentView& first = *segments_[from].segment;
    if (to - from == 1) {
      // It follows the same segment as in its delta, so its coded distance to that day is right, too.
      if (copied_ != nullptr && copied_ == segments_[from].before) {
        out.append(first.whole);
      } else {
        delta_bytes::PutDay(first.day, previous_, out);
        out.append(first.body);
      }
      copied_ = &first;
    } else {
      uint32_t first_second = first.first_second;
      uint32_t last_second = first.last_second;
      for (size_t i = from + 1; i < to; ++i) {
        first_second = std::min(first_second, segments_[i].segment->first_second);
        last_second = std::max(last_second, segments_[i].segment->last_second);
      }
      if (!Unite(from, to)) return false;
      delta_bytes::PutDay(first.day, previous_, out);
      delta_bytes::PutBody(first_second, last_second, united_, out);
      copied_ = nullptr;
    }
    previous_ = first.day;
    return true;
  }

  // Unites the fingerprints of one day's segments in united_. The largest segment is sorted already. The
  // others, mostly of a few items, are sorted together.
  bool Unite(size_t from, size_t to) {
    const auto fewer = [](const Piece& a, const Piece& b) {
      return a.segment->fingerprints.count < b.segment->fingerprints.count;
    };
    std::iter_swap(segments_.begin() + static_cast<std::ptrdiff_t>(from),
                   std::max_element(segments_.begin() + static_cast<std::ptrdiff_t>(from),
                                    segments_.begin() + static_cast<std::ptrdiff_t>(to), fewer));
    codes_.clear();
    for (size_t i = from; i < to; ++i) {
      const RiceCode& code = segments_[i].segment->fingerprints;
      if (code.count > 0) codes_.push_back(code);
    }
    united_.clear();
    if (codes_.empty()) return true;
    decoded_.resize(CountOf(from, to));
    if (!DecodeFingerprints(codes_, decoded_.data())) return false;
    const auto others = decoded_.begin() + codes_.front().count;
    if (codes_.size() > 2) std::sort(others, decoded_.end());
    united_.reserve(decoded_.size());
    std::set_union(decoded_.begin(), others, others, std::unique(others, decoded_.end()),
                   std::back_inserter(united_));
    return true;
  }

  std::vector<DeltaView> views_;
  std::vector<Piece> segments_;
  std::string_view user_id_;
  size_t bytes_ = 0;
  std::optional<Day> previous_;          // of the segment written last
  const SegmentView* copied_ = nullptr;  // the segment written last, if it was copied
  std::vector<RiceCode> codes_;
  std::vector<Fingerprint> decoded_;
  std::vector<Fingerprint> united_;
  size_t parts_with_others_ = 0;
  size_t others_count_ = 0;
  std::string_view others_bytes_;
  std::string others_;
};

thread_local Folder folder;
constexpr size_t kKeptMax = 1 << 20;  // of a user who takes more, the thread keeps no memory

}  // namespace

bool FoldEncoded(std::span<const std::string_view> parts, const DeltaLimits& limits, const Horizon& horizon,
                 std::string& out) {
  const auto outcome = folder.Fold(parts, limits, horizon, out);
  if (out.capacity() > kKeptMax) folder = {};
  if (outcome == Folder::Outcome::kNotPlain) return FoldDecoded(parts, limits, horizon, out);
  return outcome == Folder::Outcome::kDone;
}

Expired ExpireEncoded(std::string_view bytes, const Horizon& horizon, std::string& out) {
  thread_local DeltaView view;
  if (!ParseDelta(bytes, view)) return Expired::kNothing;
  if (!view.TakesBack() && !view.HasSegments()) return Expired::kEverything;
  const auto goes = [&](Day day) { return day.since_epoch < horizon.TakenBack(); };
  const auto other_goes = [&](const OtherView& other) {
    return !horizon.Keeps(other.kind, other.bucket, other.EndSecond(), other.day(), 0);
  };
  const bool something_goes =
      (view.erased && goes(*view.erased)) || (view.removed.count > 0 && goes(view.removed_first)) ||
      (!view.segments.empty() &&
       (view.segments.front().day < horizon.exposed || goes(view.segments.front().day))) ||
      std::any_of(view.others.begin(), view.others.end(), other_goes);
  if (!something_goes) return Expired::kNothing;
  if (!view.TakesBack()) {
    if (!FoldEncoded({&bytes, 1}, {}, horizon, out)) return Expired::kNothing;
  } else {
    Delta delta;
    if (!DecodeView(view, delta)) return Expired::kNothing;
    Expire(delta, horizon);
    out.clear();
    EncodeDelta(delta, out);
  }
  if (out == bytes) return Expired::kNothing;
  return delta_bytes::SaysNothing(out) ? Expired::kEverything : Expired::kSomething;
}

}  // namespace seen

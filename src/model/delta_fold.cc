#include "model/delta_fold.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "model/delta_view.h"

namespace seen {
namespace {

bool FoldDecoded(std::span<const std::string_view> parts, const DeltaLimits& limits, Day horizon,
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

// Folds deltas that take nothing back, a day at a time. One a thread: it keeps its memory.
class Folder {
 public:
  enum class Outcome { kDone, kCorrupt, kNotPlain };

  Outcome Fold(std::span<const std::string_view> parts, const DeltaLimits& limits, Day horizon,
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
    out.clear();
    out.reserve(bytes_ + 64);
    delta_bytes::PutHeader(days > 0 ? delta_bytes::kHasSegments : 0, user_id_, std::nullopt, out);
    if (days > 0) delta_bytes::PutVarint(days, out);
    previous_.reset();
    copied_ = nullptr;
    for (size_t from = 0; from < segments_.size(); from = EndOfDay(from)) {
      if (!PutDay(from, EndOfDay(from), out)) return Outcome::kCorrupt;
    }
    return Outcome::kDone;
  }

 private:
  struct Piece {
    const SegmentView* segment;
    const SegmentView* before;  // the one before it in its delta; null for the first
  };

  // All segments from the horizon on, by day.
  Outcome Gather(std::span<const std::string_view> parts, Day horizon) {
    if (views_.size() < parts.size()) views_.resize(parts.size());
    segments_.clear();
    user_id_ = {};
    bytes_ = 0;
    for (size_t i = 0; i < parts.size(); ++i) {
      DeltaView& view = views_[i];
      if (!ParseDelta(parts[i], view)) return Outcome::kCorrupt;
      if (view.TakesBack()) return Outcome::kNotPlain;
      if (!view.user_id.empty() && (user_id_.empty() || view.user_id < user_id_)) user_id_ = view.user_id;
      bytes_ += parts[i].size();
      const SegmentView* before = nullptr;
      for (const SegmentView& segment : view.segments) {
        if (segment.day >= horizon) segments_.push_back({&segment, before});
        before = &segment;
      }
    }
    // Nearly sorted: the first part is long, what follows belongs to its last days.
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
      // Behind the segment that it stood behind, its distance to that day is right too.
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

  // The fingerprints of one day's segments into united_. The largest is sorted already: the others, mostly
  // of a few items, are made one.
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
  const SegmentView* copied_ = nullptr;  // the segment written last, if as it stood
  std::vector<RiceCode> codes_;
  std::vector<Fingerprint> decoded_;
  std::vector<Fingerprint> united_;
};

thread_local Folder folder;

}  // namespace

bool FoldEncoded(std::span<const std::string_view> parts, const DeltaLimits& limits, Day horizon,
                 std::string& out) {
  const auto outcome = folder.Fold(parts, limits, horizon, out);
  if (outcome == Folder::Outcome::kNotPlain) return FoldDecoded(parts, limits, horizon, out);
  return outcome == Folder::Outcome::kDone;
}

Expired ExpireEncoded(std::string_view bytes, Day horizon, std::string& out) {
  thread_local DeltaView view;
  if (!ParseDelta(bytes, view)) return Expired::kNothing;
  const bool erasure_goes = view.erased && *view.erased < horizon;
  const bool removals_go = view.removed.count > 0 && view.removed_first < horizon;
  const bool segments_go = !view.segments.empty() && view.segments.front().day < horizon;
  const bool nothing_is_there = !view.TakesBack() && view.segments.empty();
  if (nothing_is_there) return Expired::kEverything;
  if (!erasure_goes && !removals_go && !segments_go) return Expired::kNothing;
  if (!view.TakesBack()) {
    if (view.segments.back().day < horizon) return Expired::kEverything;
    return FoldEncoded({&bytes, 1}, {}, horizon, out) ? Expired::kSomething : Expired::kNothing;
  }
  Delta delta;
  if (!DecodeView(view, delta)) return Expired::kNothing;
  Expire(delta, horizon);
  if (!delta.erased && delta.removals.empty() && delta.segments.empty()) return Expired::kEverything;
  out.clear();
  EncodeDelta(delta, out);
  return Expired::kSomething;
}

}  // namespace seen

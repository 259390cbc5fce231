#include "model/delta_seen.h"

namespace seen {
namespace {

constexpr size_t kCellsMin = 64;
constexpr size_t kKeptMax = 1 << 18;  // cells; more memory is freed at the next smaller user

}  // namespace

void FingerprintBits::Reset(size_t count) {
  const size_t bits = std::clamp<size_t>(std::bit_ceil(count * 32), 64, size_t{1} << 27);
  words_.assign(bits / 64, 0);
  shift_ = 32 - static_cast<uint32_t>(std::countr_zero(bits));
}

void FingerprintSet::Reset(size_t count_max) {
  const size_t cells = std::max(kCellsMin, std::bit_ceil(count_max * 2));
  if (cells_.size() > kKeptMax && cells < cells_.size()) {
    cells_ = {};
    values_ = {};
    unclear_ = {};
    bits_ = {};
  }
  cells_.assign(cells, 0);
  if (values_.size() < count_max) values_.resize(count_max);
  count_ = 0;
  mask_ = cells - 1;
  shift_ = 32 - static_cast<uint32_t>(std::countr_zero(cells));
  has_zero_ = false;
}

void FingerprintSet::ContainsEach(std::span<const Fingerprint> fingerprints, std::span<uint8_t> answers) {
  bits_.Reset(count_);
  for (const Fingerprint value : values()) bits_.Add(value);
  // The processor can't predict whether a cell is free. Each wrong prediction costs twenty cycles.
  if (unclear_.size() < fingerprints.size()) unclear_.resize(fingerprints.size());
  size_t unclear = 0;
  for (size_t i = 0; i < fingerprints.size(); ++i) {
    answers[i] = 0;
    unclear_[unclear] = static_cast<uint32_t>(i);
    unclear += static_cast<size_t>(bits_.Test(fingerprints[i]));
  }
  for (size_t i = 0; i < unclear; ++i) answers[unclear_[i]] = Contains(fingerprints[unclear_[i]]) ? 1 : 0;
}

Status SeenReader::Read(std::string_view stored, std::string_view changed_id, std::span<const Change> changes,
                        const AnswerLimits& limits) {
  view_.segments.clear();
  view_.others.clear();
  user_id_ = changed_id;
  stored_ = !stored.empty();
  changes_ = changes;
  limits_ = limits;
  ends_are_known_ = false;
  bool plain = true;
  plain_ = false;
  bool ok = true;
  if (stored.empty()) {
    view_ = {};
  } else {
    ok = ParseDelta(stored, view_);
    // If two ids have one key, the choice is the same as in Compose.
    if (user_id_.empty() || (!view_.user_id.empty() && view_.user_id < user_id_)) user_id_ = view_.user_id;
  }
  ok = ok && ReadPlain(changes, limits, plain);
  if (ok && !plain) ok = ReadComposed(limits);
  if (!ok) return Fail(NotADelta(stored));
  return {};
}

namespace {

// Whether one more change counts, where nothing is taken back and one exposure is enough.
bool Counts(const Change& change, Day first_day, const AnswerLimits& limits) {
  const Day day{static_cast<int32_t>(change.second / kSecondsPerDay)};
  switch (change.kind) {
    case ChangeKind::kExposed:
      return day >= first_day;
    case ChangeKind::kServed: {
      const uint64_t width = limits.delta.served_width_s;
      return (change.second / width + 1 + kServedWidths) * width > limits.now_s;
    }
    case ChangeKind::kExposedOfCreation: {
      const Day created{static_cast<int32_t>(change.second >> 16)};
      const Day shown{static_cast<int32_t>(change.second & kPackedDayMax)};
      return limits.by_creation ? created >= limits.horizon && shown >= limits.cooldown : shown >= first_day;
    }
    case ChangeKind::kSimilar:  // never counts as seen
    case ChangeKind::kResolving:
    case ChangeKind::kRemoved:
    case ChangeKind::kErased:
      return false;
    default: {
      const Day first = limits.declared[DeclaredPlace(static_cast<SegmentKind>(change.kind))];
      return first != kLastOfDays && day >= first;
    }
  }
}

}  // namespace

// If nothing is taken back and no limit can apply, the union of the segments is what counts. Sets `plain` to
// whether that is so. Returns false if the state is corrupt.
bool SeenReader::ReadPlain(std::span<const Change> changes, const AnswerLimits& limits, bool& plain) {
  codes_.clear();
  similar_codes_.clear();
  if (similar_.size() > 0) similar_.Reset(0);
  size_t stored_items = 0;
  uint64_t largest_segment = 0;
  size_t similar = 0;
  uint64_t largest_similar = 0;
  size_t changed_similar = 0;
  bool takes_back = !changes.empty() && view_.TakesBack();
  for (const Change& change : changes) {
    takes_back |= TakesBack(change.kind);
    changed_similar += change.kind == ChangeKind::kSimilar ? 1 : 0;
  }
  has_served_ = std::any_of(changes.begin(), changes.end(),
                            [](const Change& change) { return change.kind == ChangeKind::kServed; });
  const size_t changed_items = changes.size() - changed_similar;
  kept_items_ = changed_items;
  const Day first_day = std::max(limits.horizon, limits.cooldown);
  for (const SegmentView& segment : view_.segments) {
    const uint32_t count = segment.fingerprints.count;
    largest_segment = std::max<uint64_t>(largest_segment, count);
    kept_items_ += count;
    if (segment.day < first_day || count == 0) continue;
    codes_.push_back(segment.fingerprints);
    stored_items += count;
  }
  plain = limits.exposures_min <= 1;
  for (const OtherView& other : view_.others) {
    if (other.kind == SegmentKind::kSimilar) {
      if (!limits.similar || other.fingerprints.count == 0) continue;
      largest_similar = std::max<uint64_t>(largest_similar, other.fingerprints.count);
      if (other.bucket < int64_t{first_day.since_epoch}) continue;
      similar_codes_.push_back(other.fingerprints);
      similar += other.fingerprints.count;
      continue;
    }
    largest_segment = std::max<uint64_t>(largest_segment, other.fingerprints.count);
    kept_items_ += other.entries;
    const OtherPart part = PartOf(other, first_day, limits);
    has_served_ |= other.kind == SegmentKind::kServed && part == OtherPart::kAll;
    plain = plain && part != OtherPart::kSome;
    if (part != OtherPart::kAll || other.fingerprints.count == 0) continue;
    codes_.push_back(other.fingerprints);
    stored_items += other.fingerprints.count;
  }
  met_daily_limit_ = largest_segment >= limits.delta.items_per_day_max;
  const size_t items = stored_items + changed_items;
  plain = plain && items <= limits.items_max && !takes_back &&
          (changed_items == 0 || largest_segment + changed_items < limits.delta.items_per_day_max);
  if (limits.similar) {
    plain = plain && similar + changed_similar <= limits.SimilarMax() &&
            (changed_similar == 0 ||
             largest_similar + changed_similar < limits.delta.ItemsMax(SegmentKind::kSimilar));
  }
  if (!plain) return true;

  if (decoded_.size() < stored_items) decoded_.resize(stored_items);
  if (!DecodeFingerprints(codes_, decoded_.data())) return false;
  seen_.Reset(items);
  for (size_t i = 0; i < stored_items; ++i) seen_.Insert(decoded_[i]);
  for (const Change& change : changes) {
    if (Counts(change, first_day, limits)) seen_.Insert(change.fingerprint);
  }
  if (limits.similar && !ReadPlainSimilar(changes, similar + changed_similar, first_day)) return false;
  plain_ = true;
  return true;
}

// `count`: the most fingerprints that the result may have.
bool SeenReader::ReadPlainSimilar(std::span<const Change> changes, size_t count, Day first_day) {
  size_t stored = 0;
  for (const RiceCode& code : similar_codes_) stored += code.count;
  if (decoded_similar_.size() < stored) decoded_similar_.resize(stored);
  if (!DecodeFingerprints(similar_codes_, decoded_similar_.data())) return false;
  similar_.Reset(count);
  for (size_t i = 0; i < stored; ++i) similar_.Insert(decoded_similar_[i]);
  for (const Change& change : changes) {
    if (change.kind != ChangeKind::kSimilar || change.second / kSecondsPerDay < first_day.since_epoch)
      continue;
    similar_.Insert(change.fingerprint);
  }
  return true;
}

// How much of a segment counts, where one exposure is enough.
SeenReader::OtherPart SeenReader::PartOf(const OtherView& other, Day first_day, const AnswerLimits& limits) {
  const auto all_if = [](bool counts) { return counts ? OtherPart::kAll : OtherPart::kNone; };
  switch (other.kind) {
    case SegmentKind::kServed:
      return all_if(other.EndSecond() > limits.now_s);
    case SegmentKind::kRepeated:
      return all_if(other.bucket >= int64_t{first_day.since_epoch});
    case SegmentKind::kByCreation: {
      const int64_t first_shown = limits.by_creation ? limits.cooldown.since_epoch : first_day.since_epoch;
      if (limits.by_creation && other.bucket < int64_t{limits.horizon.since_epoch}) return OtherPart::kNone;
      if (other.last_day < first_shown) return OtherPart::kNone;
      return other.bucket >= first_shown ? OtherPart::kAll : OtherPart::kSome;
    }
    case SegmentKind::kExposed:
    case SegmentKind::kResolving:
    case SegmentKind::kSimilar:
      return OtherPart::kNone;
  }
  const Day first = limits.declared[DeclaredPlace(other.kind)];
  return all_if(first != kLastOfDays && other.bucket >= int64_t{first.since_epoch});
}

bool SeenReader::Compose(Delta& composed) const {
  std::vector<Delta> parts;
  if (stored_ && !DecodeView(view_, parts.emplace_back())) return false;
  if (!changes_.empty()) parts.push_back(DeltaOf({}, changes_, limits_.delta));
  composed = parts.size() == 1 ? std::move(parts.front()) : ComposeAll(parts, limits_.delta);
  return true;
}

bool SeenReader::ReadComposed(const AnswerLimits& limits) {
  Delta composed;
  if (!Compose(composed)) return false;
  if (limits.similar) {
    const auto similar = SimilarFingerprints(composed, limits);
    similar_.Reset(similar.size());
    for (const Fingerprint fingerprint : similar) similar_.Insert(fingerprint);
  }
  std::erase_if(composed.others,
                [](const OtherSegment& other) { return other.kind == SegmentKind::kSimilar; });
  kept_items_ = 0;
  size_t largest_segment = 0;
  const auto keep = [&](const std::vector<Fingerprint>& fingerprints) {
    kept_items_ += fingerprints.size();
    size_t distinct = 0;  // an item that was shown several times counts once
    for (size_t i = 0; i < fingerprints.size(); ++i) {
      if (i == 0 || fingerprints[i] != fingerprints[i - 1]) ++distinct;
    }
    largest_segment = std::max(largest_segment, distinct);
  };
  for (const Segment& segment : composed.segments) keep(segment.fingerprints);
  for (const OtherSegment& other : composed.others) keep(other.fingerprints);
  met_daily_limit_ = largest_segment >= limits.delta.items_per_day_max;
  if (!composed.others.empty() || limits.exposures_min > 1) {
    const auto counted = SeenFingerprints(composed, limits);
    seen_.Reset(counted.size());
    for (const Fingerprint fingerprint : counted) seen_.Insert(fingerprint);
    return true;
  }
  size_t items = 0;
  for (const Segment& segment : composed.segments) items += segment.fingerprints.size();
  seen_.Reset(std::min<size_t>(items, limits.items_max));
  const Day first_day = std::max(limits.horizon, limits.cooldown);
  for (auto day = composed.segments.rbegin(); day != composed.segments.rend(); ++day) {
    if (day->day < first_day) break;
    for (const Fingerprint fingerprint : day->fingerprints) {
      if (seen_.size() >= limits.items_max) return true;
      seen_.Insert(fingerprint);
    }
  }
  return true;
}

// Finds what CountedEnds finds in the composed delta, without composing it. Returns false, and finds nothing,
// unless Read was plain and there are only exposures and segments of kind 5.
bool SeenReader::FindEndsOfExposures() {
  if (!plain_) return false;
  for (const OtherView& other : view_.others) {
    if (other.kind != SegmentKind::kSimilar) return false;
  }
  for (const Change& change : changes_) {
    if (change.kind != ChangeKind::kExposed && change.kind != ChangeKind::kSimilar) return false;
  }
  const Day first_day = std::max(limits_.horizon, limits_.cooldown);
  struct Stretch {
    Day day;
    uint32_t first, last;  // seconds of the day
  };
  std::vector<Stretch> stretches;
  for (const SegmentView& segment : view_.segments) {
    if (segment.day >= first_day)
      stretches.push_back({segment.day, segment.first_second, segment.last_second});
  }
  const auto of_day = [&](Day day) {
    return std::lower_bound(stretches.begin(), stretches.end(), day,
                            [](const Stretch& stretch, Day wanted) { return stretch.day < wanted; });
  };
  const auto day_of = [](const Change& change) {
    return Day{static_cast<int32_t>(change.second / kSecondsPerDay)};
  };
  for (const Change& change : changes_) {
    const Day day = day_of(change);
    if (day < first_day || change.kind != ChangeKind::kExposed) continue;
    const auto second = static_cast<uint32_t>(change.second % kSecondsPerDay);
    const auto found = of_day(day);
    if (found == stretches.end() || found->day != day) {
      stretches.insert(found, {day, second, second});
    } else {
      found->first = std::min(found->first, second);
      found->last = std::max(found->last, second);
    }
  }
  const auto end_of = [](Fingerprint fingerprint, const Stretch& stretch) {
    const auto second = [&](uint32_t of) {
      return static_cast<uint64_t>(std::max<int64_t>(0, stretch.day.since_epoch * kSecondsPerDay + of));
    };
    return CountedEnd{fingerprint, second(stretch.last), second(stretch.first), stretch.day};
  };
  ends_.Reset(seen_.size());
  const Fingerprint* decoded = decoded_.data();
  for (const SegmentView& segment : view_.segments) {
    if (segment.day < first_day) continue;
    const Stretch& stretch = *of_day(segment.day);
    for (uint32_t i = 0; i < segment.fingerprints.count; ++i) ends_.Add(end_of(*decoded++, stretch));
  }
  for (const Change& change : changes_) {
    if (change.kind != ChangeKind::kExposed) continue;
    if (const Day day = day_of(change); day >= first_day) ends_.Add(end_of(change.fingerprint, *of_day(day)));
  }
  return true;
}

void SeenReader::FindEnds() {
  if (ends_are_known_) return;
  ends_are_known_ = true;
  if (FindEndsOfExposures()) return;
  Delta composed;
  ends_.Reset(seen_.size());
  if (!Compose(composed)) return;
  const auto ends = CountedEnds(composed, limits_);
  ends_.Reset(ends.size());
  for (const CountedEnd& end : ends) ends_.Add(end);
}

Result<std::span<const CountedEnd>> SeenReader::Ends() {
  FindEnds();
  const auto ends = ends_.values();
  if (ends.size() == seen_.size()) return ends;
  return Fail(Code::kCorrupt, "delta: " + std::to_string(seen_.size()) + " items, but ends of " +
                                  std::to_string(ends.size()));
}

bool SeenReader::Holds(Fingerprint fingerprint, uint32_t created_second) {
  FindEnds();
  const CountedEnd* const end = ends_.Find(fingerprint);
  return end == nullptr || end->second >= created_second;  // unknown: taken as held
}

}  // namespace seen

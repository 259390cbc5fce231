#include "model/delta_seen.h"

#include <algorithm>
#include <bit>

namespace seen {
namespace {

constexpr size_t kCellsMin = 64;
constexpr size_t kKeptMax = 1 << 18;  // fingerprints' worth of memory; a larger user's is given back

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
  // Whether a cell is free can't be foretold, and costs twenty cycles each time it was foretold wrongly.
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
  user_id_ = changed_id;
  bool plain = true;
  bool ok = true;
  if (stored.empty()) {
    view_ = {};
  } else {
    ok = ParseDelta(stored, view_);
    // Two ids under one key: the choice is that of Compose.
    if (user_id_.empty() || (!view_.user_id.empty() && view_.user_id < user_id_)) user_id_ = view_.user_id;
  }
  ok = ok && ReadPlain(changes, limits, plain);
  if (ok && !plain) ok = ReadComposed(stored, changes, limits);
  if (!ok) {
    return Fail(Code::kCorrupt,
                "delta: " + std::to_string(stored.size()) + " bytes that are not a delta's encoding");
  }
  return {};
}

// Where nothing is taken back and no limit can bite, what counts is the union of the days. `plain` says
// whether it was so; false: the state is corrupt.
bool SeenReader::ReadPlain(std::span<const Change> changes, const AnswerLimits& limits, bool& plain) {
  codes_.clear();
  size_t stored_items = 0;
  uint64_t largest_day = 0;
  for (const SegmentView& segment : view_.segments) {
    const uint32_t count = segment.fingerprints.count;
    largest_day = std::max<uint64_t>(largest_day, count);
    if (segment.day < limits.horizon || count == 0) continue;
    codes_.push_back(segment.fingerprints);
    stored_items += count;
  }
  const auto exposes = [](const Change& change) { return change.kind == ChangeKind::kExposed; };
  const size_t items = stored_items + changes.size();
  plain = items <= limits.items_max &&
          (changes.empty() ||
           (!view_.TakesBack() && largest_day + changes.size() <= limits.delta.items_per_day_max &&
            std::all_of(changes.begin(), changes.end(), exposes)));
  if (!plain) return true;

  if (decoded_.size() < stored_items) decoded_.resize(stored_items);
  if (!DecodeFingerprints(codes_, decoded_.data())) return false;
  seen_.Reset(items);
  for (size_t i = 0; i < stored_items; ++i) seen_.Insert(decoded_[i]);
  for (const Change& change : changes) {
    const Day day{static_cast<int32_t>(change.second / kSecondsPerDay)};
    if (day >= limits.horizon) seen_.Insert(change.fingerprint);
  }
  return true;
}

bool SeenReader::ReadComposed(std::string_view stored, std::span<const Change> changes,
                              const AnswerLimits& limits) {
  std::vector<Delta> parts;
  if (!stored.empty() && !DecodeView(view_, parts.emplace_back())) return false;
  if (!changes.empty()) parts.push_back(DeltaOf({}, changes, limits.delta));
  const Delta composed = ComposeAll(parts, limits.delta);
  size_t items = 0;
  for (const Segment& segment : composed.segments) items += segment.fingerprints.size();
  seen_.Reset(std::min<size_t>(items, limits.items_max));
  for (auto day = composed.segments.rbegin(); day != composed.segments.rend(); ++day) {
    if (day->day < limits.horizon) break;
    for (const Fingerprint fingerprint : day->fingerprints) {
      if (seen_.size() >= limits.items_max) return true;
      seen_.Insert(fingerprint);
    }
  }
  return true;
}

}  // namespace seen

#pragma once
// Seeded deltas for the short paths. Most deltas hold only exposures, of few or of many items a day. Some
// hold a case that ends a short path: removals, erasures, other kinds, a limit that cuts, two ids.

#include <algorithm>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "model/answer_limits.h"
#include "model/change.h"
#include "support/random_history.h"

namespace seen {

inline std::string Encoded(const Delta& delta) {
  std::string bytes;
  EncodeDelta(delta, bytes);
  return bytes;
}

/// Readable text, for messages.
inline std::string Text(const Delta& delta) {
  std::ostringstream out;
  out << "\"" << delta.user_id << "\"";
  if (delta.erased) out << " erased " << delta.erased->since_epoch;
  for (const Removal& removal : delta.removals) {
    out << " -" << removal.fingerprint.value << "@" << removal.day.since_epoch;
  }
  for (const Segment& segment : delta.segments) {
    out << "\n  day " << segment.day.since_epoch << " " << segment.first_second << "-" << segment.last_second;
    for (const Fingerprint fingerprint : segment.fingerprints) out << " " << fingerprint.value;
  }
  for (const OtherSegment& segment : delta.others) {
    out << "\n  kind " << int{static_cast<uint8_t>(segment.kind)} << " " << segment.width_s << "*"
        << segment.bucket << " (day " << segment.day().since_epoch << ") " << segment.first_second << "-"
        << segment.last_second;
    for (size_t i = 0; i < segment.fingerprints.size(); ++i) {
      out << " " << segment.fingerprints[i].value;
      if (!segment.times.empty()) out << "@" << segment.times[i];
    }
  }
  return out.str() + "\n";
}

struct DeltaCase {
  std::mt19937_64 random;
  DeltaLimits limits;
  test::HistoryShape shape;

  explicit DeltaCase(int seed) : random(static_cast<uint64_t>(seed)) {
    limits.items_per_day_max = seed % 7 == 0 ? 5 : 1'000;
    shape.items = 1 + static_cast<uint32_t>(random() % 300);
    shape.removed_percent = seed % 4 == 0 ? 20 : 0;
    shape.erased_percent = seed % 6 == 0 ? 5 : 0;
    shape.others_percent = seed % 5 < 2 ? 0 : seed % 5 == 2 ? 5 : 50;
    limits.repeated = seed % 9 == 8;
    constexpr uint32_t kWidths[] = {1, 300, 7'000, 50'000, 200'000};
    limits.served_width_s = kWidths[random() % 5];
  }
  int32_t Below(uint32_t bound) { return static_cast<int32_t>(random() % bound); }
  std::vector<Change> History(size_t length) { return test::RandomHistory(random, length, shape); }
  std::string RandomId() { return random() % 5 == 0 ? "" : random() % 9 == 0 ? "v" : "u"; }
  Delta RandomDelta(size_t length_max) { return DeltaOf(RandomId(), History(random() % length_max), limits); }
  Delta SmallDelta() { return DeltaOf("u", History(random() % 8), limits); }
  Day RandomDay() { return {static_cast<int32_t>(shape.first_day) + Below(8) - 1}; }
  uint32_t RandomSecond() { return shape.first_day * 86'400 + static_cast<uint32_t>(Below(8 * 86'400)); }
  Horizon RandomHorizon() {
    if (random() % 3 == 0) return Horizon::Of(RandomDay());
    Horizon horizon;
    horizon.exposed = RandomDay();
    horizon.by_creation = RandomDay();
    horizon.served_second = RandomSecond();
    for (Day& day : horizon.declared) day = RandomDay();
    horizon.taken_back = std::min({horizon.exposed, horizon.by_creation, horizon.declared.front(),
                                   horizon.declared.back(), horizon.ServedFrom(limits.served_width_s)});
    if (random() % 8 == 0) horizon.taken_back = RandomDay();
    if (random() % 3 > 0) horizon.whole = horizon.exposed - Below(4);
    return horizon;
  }
  AnswerLimits RandomAnswer() {
    AnswerLimits answer;
    answer.horizon = RandomDay();
    answer.items_max = random() % 2 == 0 ? 10'000 : static_cast<uint32_t>(Below(600));
    if (random() % 8 == 0) answer.items_max = static_cast<uint32_t>(Below(8));
    answer.delta = limits;
    answer.now_s = RandomSecond();
    if (random() % 2 == 0) answer.declared[0] = RandomDay();
    if (random() % 2 == 0) answer.declared[15] = RandomDay();
    if (random() % 4 == 0) answer.exposures_min = 1 + static_cast<uint32_t>(Below(4));
    if (random() % 3 == 0) answer.cooldown = RandomDay();
    answer.by_creation = answer.exposures_min == 1 && random() % 2 == 0;
    answer.similar = random() % 2 == 0;
    return answer;
  }
};

}  // namespace seen

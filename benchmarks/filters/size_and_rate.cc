#include "filters/size_and_rate.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "common/arguments.h"
#include "filters/item_sets.h"
#include "filters/lines.h"

namespace seen::bench {
namespace {

constexpr double kFingerprints = 4294967296.0;
constexpr size_t kLookUpsForLines = 20'000;
constexpr double kStrangersMax = 50'000;  // for each wanted false positive, in one round

class Asking {
 public:
  // How many of the fingerprints `from` to `to - 1` of `set` the filter takes for items.
  size_t Seen(const Filter& filter, uint32_t set, size_t from, size_t to) {
    size_t seen = 0;
    for (size_t at = from; at < to; at += kBatch) {
      const size_t size = std::min(kBatch, to - at);
      for (size_t i = 0; i < size; ++i) asked_[i] = FingerprintAt(set, static_cast<uint32_t>(at + i));
      filter.Ask(std::span(asked_).first(size), std::span(answers_).first(size));
      seen = std::accumulate(answers_.begin(), answers_.begin() + static_cast<ptrdiff_t>(size), seen);
    }
    return seen;
  }

 private:
  std::vector<Fingerprint> asked_{kBatch};
  std::vector<uint8_t> answers_ = std::vector<uint8_t>(kBatch);
};

// The mean lines of `look_ups` fingerprints, spread evenly over `from` to `to - 1` of `set`.
double MeanLines(const Kind& kind, const Filter& filter, uint32_t set, size_t from, size_t to,
                 size_t look_ups) {
  size_t lines = 0;
  for (size_t i = 0; i < look_ups; ++i) {
    const size_t at = from + (to - from) * i / look_ups;
    lines += LinesNeeded(kind.shape.format, filter.payload(), FingerprintAt(set, static_cast<uint32_t>(at)));
  }
  return static_cast<double>(lines) / static_cast<double>(look_ups);
}

}  // namespace

SizeAndRate MeasureSizeAndRate(const Kind& kind, double rate, size_t count, double false_positives_wanted) {
  const SnapshotShape shape = kind.At(rate);
  // With few items, filters differ more than strangers do, so the number of filters is greater.
  const double share = std::min(1.0, false_positives_wanted / 4'000);
  const auto filters = static_cast<size_t>(
      std::clamp(std::round(share * 200'000 / static_cast<double>(count)), 1.0, 20'000.0));
  const double asked = kind.IsExact() ? kBatch : false_positives_wanted / shape.false_positive_rate;
  auto strangers = static_cast<size_t>(std::max(asked / static_cast<double>(filters), 100.0));
  const auto looked_up = std::max<size_t>(1, kLookUpsForLines / filters);

  SizeAndRate result{0, 0, filters, 0, 0, 0, 0};
  Asking asking;
  size_t from = count;
  do {
    for (uint32_t set = 0; set < filters; ++set) {
      const Filter filter(shape, Rendered(shape, ItemSet(set, count)));
      result.false_positives += static_cast<double>(asking.Seen(filter, set, from, from + strangers));
      if (from > count) continue;
      if (asking.Seen(filter, set, 0, count) != count) Die(kind.name + ": an item is missing");
      result.payload_bytes += static_cast<double>(filter.payload().size());
      result.lines_hit += MeanLines(kind, filter, set, 0, count, std::min(count, looked_up));
      result.lines_miss += MeanLines(kind, filter, set, count, count + looked_up, looked_up);
    }
    from += strangers;
    strangers *= 4;
    // Filters that are better than asked need more strangers, within bounds.
  } while (!kind.IsExact() && result.false_positives < false_positives_wanted / 2 &&
           static_cast<double>(strangers * filters) < false_positives_wanted * kStrangersMax);
  result.strangers = static_cast<double>((from - count) * filters);
  result.rate = result.false_positives / result.strangers;
  for (double* sum : {&result.payload_bytes, &result.lines_hit, &result.lines_miss})
    *sum /= static_cast<double>(filters);
  if (kind.IsExact()) {
    if (result.false_positives > 0) Die(kind.name + ": a stranger is in an exact set");
    result.rate = static_cast<double>(count) / kFingerprints;
    result.filters = 0;
  }
  return result;
}

double MeanPayloadBytes(const SnapshotShape& shape, size_t count, size_t filters) {
  size_t bytes = 0;
  for (uint32_t set = 0; set < filters; ++set) bytes += Rendered(shape, ItemSet(set, count)).size();
  return static_cast<double>(bytes) / static_cast<double>(filters);
}

}  // namespace seen::bench

#include "filter/exact_fingerprints.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "filter/bits.h"
#include "filter/size_memo.h"
#include "filter/snapshot_format.h"
#include "filter/sort_keys.h"

namespace seen {
namespace {

constexpr size_t kCountAt = 1, kExactFieldBytes = 5;
void CheckItems(size_t count, double rate) {
  Check(rate > 0 && rate <= kRateMax, "a false-positive rate lies in (0, 0.5]");
  Check(count <= kFilterItemsMax, "too many items for one filter");
}

// The mean size in bits, without the fields. Each gap has a one, `parameter` low bits, and zeros. The zeros
// are geometrically distributed, like the gaps.
double MeanBits(double count, uint32_t parameter) {
  const double gap_mean = (std::ldexp(1.0, 32) - count) / (count + 1);
  const double gap_exceeds = std::log1p(-1 / (gap_mean + 1));  // log P(the gap goes on by one more)
  const double zero = std::exp(gap_exceeds * std::ldexp(1.0, static_cast<int>(parameter)));
  return count * (parameter + 1 + zero / (1 - zero));
}

uint32_t ComputeBytes(size_t count) {
  if (count == 0) return kExactFieldBytes;
  double bits = std::numeric_limits<double>::max();
  const uint32_t near = RiceParameter(count, std::numeric_limits<uint32_t>::max());
  for (uint32_t k = near - std::min(near, 1u); k <= std::min(near + 1, kRiceParameterMax); ++k) {
    bits = std::min(bits, MeanBits(static_cast<double>(count), k));
  }
  return kExactFieldBytes + static_cast<uint32_t>(std::ceil(bits / 8));
}

constinit SizeMemo<1> bytes_memo;

// The parameter that takes the fewest bytes; the smallest of several. Many gaps are distributed as expected,
// so the best parameter is next to the formula's. Few gaps may have any distribution.
uint32_t BestParameter(std::span<const Fingerprint> sorted) {
  const uint32_t near = RiceParameter(sorted.size(), sorted.back().value);
  const uint32_t reach = sorted.size() <= 32 ? kRiceParameterMax : 1;
  uint32_t best = 0;
  size_t best_bytes = std::numeric_limits<size_t>::max();
  for (uint32_t k = near - std::min(near, reach); k <= std::min(near + reach, kRiceParameterMax); ++k) {
    const size_t bytes = RiceBytes(sorted, k);
    if (bytes < best_bytes) {
      best = k;
      best_bytes = bytes;
    }
  }
  return best;
}

}  // namespace

Result<ExactFingerprintsView> ExactFingerprintsView::Parse(std::string_view payload) {
  if (payload.size() < kExactFieldBytes) {
    return Malformed("fingerprints: " + std::to_string(payload.size()) + " bytes; the fields alone take 5");
  }
  const RiceCode code = {.bytes = payload.substr(kExactFieldBytes),
                         .count = GetInteger<uint32_t>(payload, kCountAt),
                         .parameter = static_cast<uint8_t>(payload[0])};
  if (code.parameter > kRiceParameterMax) {
    return Malformed("fingerprints: k is " + std::to_string(code.parameter) + "; 31 at most");
  }
  const ExactFingerprintsView view(code);
  std::vector<Fingerprint> values(code.Plausible() ? code.count : 0);
  if (!RiceDecode({&code, 1}, values.data())) {
    return Malformed("fingerprints: " + std::to_string(code.bytes.size()) +
                     " bytes aren't the code of count = " + std::to_string(code.count) + " values");
  }
  return view;
}

std::vector<Fingerprint> ExactFingerprintsView::Fingerprints() const {
  std::vector<Fingerprint> values(code_.count);
  Check(RiceDecode({&code_, 1}, values.data()), "the payload has changed since it was parsed");
  return values;
}

bool ExactFingerprintsView::MightContain(Fingerprint fingerprint) const {
  const std::vector<Fingerprint> values = Fingerprints();
  return std::binary_search(values.begin(), values.end(), fingerprint);
}

void ExactFingerprintsView::MightContainEach(std::span<const Fingerprint> fingerprints,
                                             std::span<uint8_t> answers) const {
  Check(fingerprints.size() == answers.size(), "one answer for each fingerprint");
  const std::vector<Fingerprint> values = Fingerprints();
  if (values.empty()) {
    std::fill(answers.begin(), answers.end(), uint8_t{0});
    return;
  }
  for (size_t i = 0; i < fingerprints.size(); ++i) {
    // Finds the last one at or below it, without a branch that could be mispredicted.
    const Fingerprint* at = values.data();
    for (size_t left = values.size(); left > 1;) {
      const size_t half = left / 2;
      at += at[half] <= fingerprints[i] ? half : 0;
      left -= half;
    }
    answers[i] = *at == fingerprints[i] ? 1 : 0;
  }
}

size_t ExactFingerprintsFilter::PayloadBytes(size_t count, double rate) {
  CheckItems(count, rate);
  return bytes_memo.Get(count, kRateMax, [&] { return ComputeBytes(count); });
}

void ExactFingerprintsFilter::Render(std::span<const Fingerprint> fingerprints, double rate,
                                     std::string& out) {
  CheckItems(fingerprints.size(), rate);
  std::vector<Fingerprint> copy;
  const auto sorted = Sorted(fingerprints, copy);
  const uint32_t parameter = sorted.empty() ? 0 : BestParameter(sorted);
  AppendInteger(out, static_cast<uint8_t>(parameter));
  AppendInteger(out, static_cast<uint32_t>(sorted.size()));
  if (!sorted.empty()) RiceEncode(sorted, parameter, out);
}

}  // namespace seen

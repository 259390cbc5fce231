#include "flow/reporter.h"

#include "filter/snapshot.h"

namespace seen {
namespace {

/// SplitMix64: Steele, Lea, Flood 2014, "Fast splittable pseudorandom number generators".
uint64_t NextOf(uint64_t& state) {
  uint64_t mixed = state += 0x9e3779b97f4a7c15;
  mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
  return mixed ^ mixed >> 31;
}

}  // namespace

ProbeCounts SnapshotSample::Add(std::string_view snapshot) {
  if (snapshot.empty() || snapshots_++ % kEvery != 0) return {};
  const auto view = SnapshotView::Parse(snapshot);
  if (!view) return {};
  ProbeCounts counts;
  for (; counts.probes < kProbes; ++counts.probes) {
    const Fingerprint unseen{static_cast<uint32_t>(NextOf(state_) >> 32)};
    counts.false_positives += view->MightContain(unseen) ? 1U : 0U;
  }
  return counts;
}

}  // namespace seen

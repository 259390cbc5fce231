#include "filters/speed.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <random>

#include "common/arguments.h"
#include "filter/bits.h"
#include "filter/snapshot.h"
#include "filters/item_sets.h"

namespace seen::bench {
namespace {

constexpr size_t kItemsBuilt = 80'000;  // at least, a sample
constexpr size_t kLookUps = 160'000;    // a sample: too many for the branch predictor to learn
constexpr size_t kFiltersMax = 8;       // asked in turn; with 3,000 items each, they fit a first-level cache
constexpr size_t kBytesOfFilters = 65'536;

template <typename Work>
double NsOf(Work work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
}

/// Keeps the compiler from leaving out the code that made `value`.
template <typename T>
void Use(const T& value) {
  asm volatile("" : : "r,m"(value) : "memory");
}

std::vector<Fingerprint> Asked(uint32_t set, size_t count, size_t how_many, bool hits) {
  std::mt19937 random(set);
  std::vector<Fingerprint> asked;
  for (size_t i = 0; i < how_many; ++i) {
    const auto at = hits ? Range(static_cast<uint32_t>(random()), static_cast<uint32_t>(count)) : count + i;
    asked.push_back(FingerprintAt(set, static_cast<uint32_t>(at)));
  }
  return asked;
}

double LookUpNs(const std::vector<Filter>& filters, const std::vector<std::vector<Fingerprint>>& asked) {
  std::vector<uint8_t> answers(kBatch);
  size_t look_ups = 0;
  const double ns = NsOf([&] {
    for (size_t from = 0; from < asked[0].size(); from += kBatch) {
      for (size_t i = 0; i < filters.size(); ++i) {
        filters[i].Ask(std::span(asked[i]).subspan(from, kBatch), answers);
        Use(answers.data());
        look_ups += kBatch;
      }
    }
  });
  return ns / static_cast<double>(look_ups);
}

/// Returns 2,000 ids of 16 bytes.
std::vector<std::string> Ids(size_t round) {
  std::vector<std::string> ids;
  for (size_t i = 0; i < kBatch; ++i) {
    char id[17];
    std::snprintf(id, sizeof(id), "item%012llu",
                  static_cast<unsigned long long>(round * 7'919'000 + i * 977));
    ids.emplace_back(id);
  }
  return ids;
}

}  // namespace

Speed MeasureSpeed(const Kind& kind, double rate, size_t count, size_t samples) {
  const SnapshotShape shape = kind.At(rate);
  std::vector<ItemSet> sets;
  do {
    sets.emplace_back(static_cast<uint32_t>(sets.size()), count);
  } while (sets.size() * count < kItemsBuilt || sets.size() < 2);
  std::vector<Filter> filters;
  do {
    filters.emplace_back(shape, Rendered(shape, sets[filters.size()]));
  } while (filters.size() < std::min(kFiltersMax, sets.size()) &&
           filters.size() * filters[0].payload().size() < kBytesOfFilters);
  std::vector<std::vector<Fingerprint>> hits, misses;
  for (uint32_t set = 0; set < filters.size(); ++set) {
    const size_t each = kLookUps / filters.size() / kBatch * kBatch;
    hits.push_back(Asked(set, count, each, true));
    misses.push_back(Asked(set, count, each, false));
  }

  Speed speed;
  std::string out;
  // The first round only warms up.
  for (size_t sample = 0; sample <= samples; ++sample) {
    const double build = NsOf([&] {
      for (const ItemSet& set : sets) {
        out.clear();
        RenderPayload(shape, set.items(), out);
        Use(out.data());
      }
    });
    const double parse = NsOf([&] {
      for (const Filter& filter : filters) Use(ParseView(shape.format, filter.payload()).has_value());
    });
    if (sample == 0) continue;
    speed.build_ns.push_back(build / static_cast<double>(sets.size() * count));
    speed.parse_ns.push_back(parse / static_cast<double>(filters.size()));
  }
  LookUpNs(filters, misses);  // building filled the caches with other data
  for (size_t sample = 0; sample < samples; ++sample) {
    speed.hit_ns.push_back(LookUpNs(filters, hits));
    speed.miss_ns.push_back(LookUpNs(filters, misses));
  }
  return speed;
}

RecallSpeed MeasureRecall(const Kind& kind, double rate, size_t count, size_t samples) {
  constexpr size_t kRounds = 16;
  SnapshotMeta meta;
  std::vector<std::string> snapshots(kRounds);
  std::vector<std::vector<std::string>> ids;
  std::vector<SnapshotView> views;
  for (size_t i = 0; i < kRounds; ++i) {
    const ItemSet set(static_cast<uint32_t>(i), count);
    RenderSnapshot(kind.At(rate), meta, set.items(), snapshots[i]);
    auto view = SnapshotView::Parse(snapshots[i]);
    if (!view) Die("a snapshot is refused: " + view.error().message);
    views.push_back(*view);
    ids.push_back(Ids(i));
  }
  std::vector<Fingerprint> fingerprints(kBatch);
  std::vector<uint8_t> answers(kBatch);
  const auto ask = [&](const SnapshotView& view, const std::vector<std::string>& candidates) {
    for (size_t i = 0; i < kBatch; ++i) fingerprints[i] = FingerprintOf(candidates[i]);
    view.MightContainEach(fingerprints, answers);
    Use(answers.data());
  };
  RecallSpeed speed;
  for (size_t sample = 0; sample <= samples; ++sample) {
    const double parsed = NsOf([&] {
      for (size_t i = 0; i < kRounds; ++i) ask(views[i], ids[i]);
    });
    const double whole = NsOf([&] {
      for (size_t i = 0; i < kRounds; ++i) ask(*SnapshotView::Parse(snapshots[i]), ids[i]);
    });
    if (sample == 0) continue;
    speed.ns.push_back(parsed / kRounds);
    speed.with_parse_ns.push_back(whole / kRounds);
  }
  return speed;
}

std::vector<double> MeasureHash(size_t samples) {
  const std::vector<Fingerprint> asked = Asked(0, 0, kBatch, false);
  std::vector<uint64_t> hashes(kBatch);
  std::vector<double> ns;
  for (size_t sample = 0; sample <= samples; ++sample) {
    constexpr size_t kRounds = kLookUps / kBatch;
    const double all = NsOf([&] {
      for (size_t round = 0; round < kRounds; ++round) {
        for (size_t i = 0; i < kBatch; ++i) hashes[i] = HashOf(asked[i]);
        Use(hashes.data());
      }
    });
    if (sample > 0) ns.push_back(all / kRounds / kBatch);
  }
  return ns;
}

}  // namespace seen::bench

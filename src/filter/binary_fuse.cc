#include "filter/binary_fuse.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <vector>

#include "filter/size_memo.h"
#include "filter/snapshot_format.h"

namespace seen {

namespace {

// Up to this count every small array is tried: the paper's sizes are meant for large sets.
constexpr size_t kSmallFuse = 250;
// The more segments a small array has, the fewer arrangements: with more than these it can hardly ever be
// built.
constexpr uint64_t kSmallSegmentsMax = 12;

bool IsSmall(size_t count) { return count <= kSmallFuse; }

// The entries an item that are worth trying for larger sets. Measured: a third to nine tenths of random sets
// can be built with them. The paper takes a number with which nearly all can: 0.875 + 3.45 / ln(count), at
// least 1.125.
double EntriesAnItem(double count) { return std::clamp(0.9 + 3.0 / std::log(count), 1.125, 1.28); }

// Half the paper's length. At these sizes it can be built as often, has a finer step, and uses less memory at
// a time.
uint32_t LengthLog2(double count) {
  return std::min(18u, static_cast<uint32_t>(std::log(count) / std::log(3.33) + 1.25));
}

}  // namespace

BinaryFuseShapes::BinaryFuseShapes(size_t count) : count_(count) {
  if (IsSmall(count)) {
    // Some microseconds for each shape.
    seeds_ = static_cast<uint32_t>(std::clamp<size_t>(1200 / count, 4, 64));
    TakeSmall(std::max<uint64_t>(3, count + std::max<uint64_t>(2, count / 5)));
    return;
  }
  seeds_ = count <= 5000 ? 4 : 1;
  const auto n = static_cast<double>(count);
  shape_.length_log2 = LengthLog2(n);
  const uint64_t length = uint64_t{1} << shape_.length_log2;
  const auto entries = static_cast<uint64_t>(n * EntriesAnItem(n));
  shape_.segments = static_cast<uint32_t>(std::max<uint64_t>(1, (entries + length - 1) / length - 2));
}

// Takes the next array of at least `entries` entries whose segments are long for its size.
void BinaryFuseShapes::TakeSmall(uint64_t entries) {
  for (;; ++entries) {
    auto length_log2 = static_cast<uint32_t>(std::countr_zero(entries));
    while (entries >> length_log2 < 3) --length_log2;
    if (entries >> length_log2 > kSmallSegmentsMax) continue;
    shape_ = {.segments = static_cast<uint32_t>((entries >> length_log2) - 2), .length_log2 = length_log2};
    return;
  }
}

void BinaryFuseShapes::Next() {
  const uint64_t entries = shape_.Entries();
  if (entries > 2 * count_ + 64) seeds_ = 256;
  if (IsSmall(count_)) return TakeSmall(entries + 1);
  const uint64_t more = entries / 64;
  shape_.segments += std::max(1u, static_cast<uint32_t>(more >> shape_.length_log2));
}

namespace {

constexpr size_t kSeedAt = 1, kSegmentsAt = 2, kFuseFieldBytes = 6;
constexpr uint32_t kLengthLog2Max = 18;
// Finds an order in which items can be given their entries: each item has a place, its own, that no earlier
// item has.
class Peeling {
 public:
  struct Item {
    uint64_t x;
    uint8_t own;  // which of its three places is its own
  };

  explicit Peeling(std::span<const Fingerprint> fingerprints) {
    hashes_.reserve(fingerprints.size());
    for (const Fingerprint fingerprint : fingerprints) hashes_.push_back(HashOf(fingerprint));
    peeled_.resize(hashes_.size());
    if (hashes_.size() > kInCache) mixed_.resize(hashes_.size());
  }

  // False: no such order.
  bool Try(BinaryFuseShape shape, uint8_t seed_number) {
    cells_.assign(shape.Entries(), {});
    hashes_.size() > kInCache ? FillInOrder(shape, seed_number) : Fill(shape, seed_number);
    return Peel(shape);
  }
  // After a successful Try: the items in reverse order, the last one first.
  std::span<const Item> peeled() const { return peeled_; }

 private:
  // The items at a place.
  struct Cell {
    uint64_t xors = 0;   // of the items' x; for a single item its x
    uint32_t tally = 0;  // 4 per item; the low two bits are the xor of the items' place numbers (0 to 2)
  };
  static constexpr size_t kInCache = 30'000;  // items

  void Add(uint64_t x, BinaryFuseShape shape) {
    const BinaryFusePlaces places(x, shape);
    AddTo(cells_[places.first], x, 0);
    AddTo(cells_[places.second], x, 1);
    AddTo(cells_[places.third], x, 2);
  }
  static void AddTo(Cell& cell, uint64_t x, uint32_t which) {
    cell.xors ^= x;
    cell.tally = (cell.tally + 4) ^ which;
  }
  void Fill(BinaryFuseShape shape, uint8_t seed_number) {
    for (const uint64_t hash : hashes_) Add(BinaryFusePlaces::Mix(hash, seed_number), shape);
  }
  // The same by ascending regions of the array, each of which fits into the cache.
  void FillInOrder(BinaryFuseShape shape, uint8_t seed_number) {
    constexpr uint32_t kRegionBits = 8;
    std::array<uint32_t, (1u << kRegionBits) + 1> ends{};
    const auto region = [](uint64_t x) { return x >> (64 - kRegionBits); };
    for (const uint64_t hash : hashes_) ++ends[region(BinaryFusePlaces::Mix(hash, seed_number)) + 1];
    for (size_t i = 1; i < ends.size(); ++i) ends[i] += ends[i - 1];
    for (const uint64_t hash : hashes_) {
      const uint64_t x = BinaryFusePlaces::Mix(hash, seed_number);
      mixed_[ends[region(x)]++] = x;
    }
    for (const uint64_t x : mixed_) Add(x, shape);
  }
  // Takes items away that are alone at a place, until there is none. Graf and Lemire, algorithm 1.
  bool Peel(BinaryFuseShape shape) {
    alone_.clear();
    for (uint32_t place = 0; place < cells_.size(); ++place) {
      if (cells_[place].tally >> 2 == 1) alone_.push_back(place);
    }
    size_t taken = 0;
    while (!alone_.empty()) {
      const Cell cell = cells_[alone_.back()];
      alone_.pop_back();
      if (cell.tally >> 2 != 1) continue;  // its item was taken at another place meanwhile
      const BinaryFusePlaces places(cell.xors, shape);
      const uint32_t own = cell.tally & 3;
      peeled_[taken++] = {places.x, static_cast<uint8_t>(own)};
      TakeFrom(places.first, places.x, 0);
      TakeFrom(places.second, places.x, 1);
      TakeFrom(places.third, places.x, 2);
    }
    return taken == peeled_.size();
  }
  void TakeFrom(uint32_t place, uint64_t x, uint32_t which) {
    Cell& cell = cells_[place];
    cell.xors ^= x;
    cell.tally = (cell.tally - 4) ^ which;
    if (cell.tally >> 2 == 1) alone_.push_back(place);
  }

  std::vector<uint64_t> hashes_;
  std::vector<uint64_t> mixed_;
  std::vector<Cell> cells_;
  std::vector<uint32_t> alone_;
  std::vector<Item> peeled_;
};

void CheckArguments(size_t count, double rate, double own_rate) {
  Check(rate >= own_rate && rate <= kRateMax, "a binary fuse filter can't have a rate below its own rate");
  Check(count <= kFilterItemsMax, "too many items for one filter");
}

constinit SizeMemo<1> entries_memo;

// Writes the entries so that the xor of an item's three entries is its value, for all items.
template <typename Entry>
void PutEntries(std::span<const Peeling::Item> peeled, BinaryFuseShape shape, std::span<char> entries) {
  const auto at = [&](uint32_t place) {
    return GetInteger<Entry>({entries.data(), entries.size()}, size_t{place} * sizeof(Entry));
  };
  for (size_t i = peeled.size(); i-- > 0;) {
    const BinaryFusePlaces places(peeled[i].x, shape);
    const std::array<uint32_t, 3> all = {places.first, places.second, places.third};
    // Its own place is still zero.
    const auto entry =
        static_cast<Entry>(places.Entry() ^ at(places.first) ^ at(places.second) ^ at(places.third));
    PutInteger(entries, size_t{all[peeled[i].own]} * sizeof(Entry), entry);
  }
}

}  // namespace

template <typename Entry>
Result<BinaryFuseView<Entry>> BinaryFuseView<Entry>::Parse(std::string_view payload) {
  if (payload.size() < kFuseFieldBytes) {
    return Malformed("binary fuse filter: " + std::to_string(payload.size()) +
                     " bytes; the fields alone take 6");
  }
  BinaryFuseView view;
  view.shape_ = {.segments = GetInteger<uint32_t>(payload, kSegmentsAt),
                 .length_log2 = static_cast<uint8_t>(payload[0])};
  view.seed_number_ = static_cast<uint8_t>(payload[kSeedAt]);
  view.entries_ = payload.substr(kFuseFieldBytes);
  if (view.shape_.length_log2 > kLengthLog2Max) {
    return Malformed("binary fuse filter: length_log2 is " + std::to_string(view.shape_.length_log2) +
                     "; 18 at most");
  }
  if (view.shape_.Starts() >> 32 != 0) {
    return Malformed("binary fuse filter: segments * length is " + std::to_string(view.shape_.Starts()) +
                     "; it must be below 2^32");
  }
  if (view.entries_.size() != view.shape_.Entries() * sizeof(Entry)) {
    return Malformed("binary fuse filter: " + std::to_string(view.entries_.size()) +
                     " bytes of entries; by its fields it has " +
                     std::to_string(view.shape_.Entries() * sizeof(Entry)));
  }
  return view;
}

template <typename Entry>
void BinaryFuseView<Entry>::MightContainEach(std::span<const Fingerprint> fingerprints,
                                             std::span<uint8_t> answers) const {
  Check(fingerprints.size() == answers.size(), "one answer for each fingerprint");
  if (shape_.segments == 0) {
    std::fill(answers.begin(), answers.end(), uint8_t{0});
    return;
  }
  const BinaryFuseView view = *this;  // a copy in registers: `answers` could alias anything
  for (size_t i = 0; i < fingerprints.size(); ++i) answers[i] = view.Test(HashOf(fingerprints[i])) ? 1 : 0;
}

template <typename Entry>
size_t BinaryFuse<Entry>::PayloadBytes(size_t count, double rate) {
  CheckArguments(count, rate, kRate);
  if (count == 0) return kFuseFieldBytes;
  return kFuseFieldBytes + sizeof(Entry) * entries_memo.Get(count, kRateMax, [&] {
    return static_cast<uint32_t>(BinaryFuseShapes(count).shape().Entries());
  });
}

template <typename Entry>
void BinaryFuse<Entry>::Render(std::span<const Fingerprint> fingerprints, double rate, std::string& out) {
  CheckArguments(fingerprints.size(), rate, kRate);
  const size_t at = out.size();
  if (fingerprints.empty()) {
    out.resize(at + kFuseFieldBytes);
    return;
  }
  Peeling peeling(fingerprints);
  for (BinaryFuseShapes shapes(fingerprints.size());; shapes.Next()) {
    const BinaryFuseShape shape = shapes.shape();
    Check(shape.Entries() <= 16 * fingerprints.size() + 1024,
          "no binary fuse filter: repeated fingerprints?");
    for (uint32_t seed = 0; seed < shapes.seeds(); ++seed) {
      if (!peeling.Try(shape, static_cast<uint8_t>(seed))) continue;
      out.resize(at + kFuseFieldBytes + shape.Entries() * sizeof(Entry));
      const auto payload = std::span(out).subspan(at);
      PutInteger(payload, 0, static_cast<uint8_t>(shape.length_log2));
      PutInteger(payload, kSeedAt, static_cast<uint8_t>(seed));
      PutInteger(payload, kSegmentsAt, shape.segments);
      PutEntries<Entry>(peeling.peeled(), shape, payload.subspan(kFuseFieldBytes));
      return;
    }
  }
}

template class BinaryFuseView<uint8_t>;
template class BinaryFuseView<uint16_t>;
template class BinaryFuse<uint8_t>;
template class BinaryFuse<uint16_t>;

}  // namespace seen

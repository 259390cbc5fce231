// Lists of candidates on disk are the same as those of plain maps. So are lists that the index doesn't read,
// because other lists have named all their items.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "similar/store/item_index_rows.h"
#include "similar/store/rocks_item_indexes.h"
#include "support/map_index.h"
#include "unit/store/store_fixture.h"

namespace seen::test {
namespace {

constexpr int kFamilies = 40;
constexpr int32_t kBuckets = 3;

class RandomTexts {
 public:
  explicit RandomTexts(uint64_t seed) : random_(seed) {}
  uint64_t Below(uint64_t limit) { return random_() % limit; }
  /// Texts of one family have some bands in common, and their SimHashes are a few bits apart.
  ItemFeatures Of(uint64_t family) {
    ItemFeatures features;
    features.length = family % 3 == 0 ? LengthClass::kShort : LengthClass::kLong;
    features.content_hash = random_();
    std::mt19937_64 of_family(family);
    features.simhash = of_family();
    for (uint64_t bit = Below(6); bit-- > 0;) features.simhash ^= uint64_t{1} << Below(64);
    for (uint64_t& band : features.bands) {
      const uint64_t common = of_family();
      band = KeptBand(Below(4) == 0 ? random_() : common);
    }
    // Of four beginnings each text has three in a row, or none.
    std::array<uint64_t, 4> beginnings;
    for (uint64_t& beginning : beginnings) beginning = KeptBand(of_family());
    if (const uint64_t first = Below(3); first < 2) {
      features.other_beginnings = {beginnings[first], beginnings[first + 2]};
      features.beginning = beginnings[first + 1];
    }
    return features;
  }

 private:
  std::mt19937_64 random_;
};

class CandidateListsTest : public ::testing::TestWithParam<int> {
 protected:
  void Open() {
    index_.reset();
    auto index = RocksItemIndex::Open({.directory = folder_.path(),
                                       .idf = IdfTable::Bundled(),
                                       .idf_text = std::string(IdfTable::BundledText()),
                                       .resources = resources_,
                                       .presence_bytes_max = 256 << 20});
    ASSERT_TRUE(index) << index.error().message;
    index_ = std::move(*index);
  }
  void Write(const IndexChange& change) {
    ASSERT_TRUE(map_.Write(change));
    const Status written = index_->Write(change);
    ASSERT_TRUE(written) << written.error().message;
  }
  void ExpectSameLists(const ItemFeatures& features, uint32_t entries_max, int32_t first_bucket) {
    for (const auto& [by_simhash, by_minhash] : {std::pair{true, true}, {true, false}, {false, true}}) {
      const CandidateQuery query{&features, by_simhash, by_minhash, first_bucket};
      ASSERT_TRUE(map_.Candidates(query, entries_max, expected_));
      const Status listed = index_->Candidates(query, entries_max, actual_);
      ASSERT_TRUE(listed) << listed.error().message;
      for (size_t band = 0; band < kBandLists; ++band) {
        const auto& a = expected_.bands[band];
        const auto& b = actual_.bands[band];
        ASSERT_TRUE(std::equal(a.begin(), a.end(), b.begin(), b.end())) << "band " << band;
      }
      for (size_t table = 0; table < kSimHashTables; ++table) {
        const auto& a = expected_.simhash[table];
        const auto& b = actual_.simhash[table];
        const auto is_same = [](const ListedSimHash& one, const ListedSimHash& other) {
          return one.item == other.item && one.simhash == other.simhash;
        };
        ASSERT_TRUE(std::equal(a.begin(), a.end(), b.begin(), b.end(), is_same)) << "table " << table;
      }
      met_ += actual_.items.size();
    }
  }

  const TemporaryFolder folder_;
  const StoreResources resources_{16 << 20, 1};
  MapIndex map_;
  std::unique_ptr<RocksItemIndex> index_;
  CandidateLists expected_, actual_;
  size_t met_ = 0;
};

TEST_P(CandidateListsTest, AreTheSameAsOfPlainMaps) {
  RandomTexts texts(static_cast<uint64_t>(GetParam()));
  Open();
  std::vector<std::pair<ItemRef, StoredItem>> stored, unlisted;
  for (uint64_t number = 0; number < 400; ++number) {
    const ItemRef item{static_cast<int32_t>(number * kBuckets / 400), number};
    // Some families are large, so that their lists hold more items than the presence data counts.
    StoredItem row{"n" + std::to_string(number), {1}, texts.Of(texts.Below(1 + texts.Below(kFamilies)))};
    IndexChange change;
    change.added.push_back({item, row, true});
    stored.emplace_back(item, row);
    if (number % 4 == 1) {
      unlisted.push_back(stored.back());  // copies aren't listed either
    } else {
      change.listed.push_back({item, row.features});
    }
    if (number > 20 && number % 5 == 0) {
      // One item is taken out. An older item comes into the lists, after newer ones.
      const auto& [gone, was] = stored[stored.size() - 2 - texts.Below(10)];
      change.taken.push_back({gone, was});
      std::erase_if(unlisted, [&](const auto& one) { return one.first == gone; });
      const size_t other = texts.Below(unlisted.size());
      change.listed.push_back({unlisted[other].first, unlisted[other].second.features});
      unlisted.erase(unlisted.begin() + static_cast<ptrdiff_t>(other));
    }
    Write(change);
    if (HasFatalFailure()) return;
    for (int i = 0; i < 2; ++i) {
      ExpectSameLists(texts.Of(texts.Below(kFamilies)),
                      i == 0 ? kListMax : 1 + static_cast<uint32_t>(number % 7),
                      static_cast<int32_t>(texts.Below(2)));
      if (HasFatalFailure()) FAIL() << "at item " << number;
    }
    if (number % 60 == 59) {
      ASSERT_TRUE(index_->Checkpoint({}, 0));
      if (number % 120 == 119) Open();
    }
  }
  EXPECT_GT(met_, 300u) << "some lists are known without being read";
}

INSTANTIATE_TEST_SUITE_P(OfSeeds, CandidateListsTest, ::testing::Range(0, 6));

}  // namespace
}  // namespace seen::test

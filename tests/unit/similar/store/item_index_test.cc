// The index of items on disk: the settings it was built with, its state after a crash, its lists.
#include <gtest/gtest.h>

#include <bit>
#include <filesystem>
#include <fstream>
#include <random>

#include "similar/port/boilerplate.h"
#include "similar/store/item_index_families.h"
#include "similar/store/item_index_rows.h"
#include "similar/store/rocks_item_indexes.h"
#include "support/lossy_file_system.h"
#include "unit/store/store_fixture.h"

namespace seen::test {
namespace {

StoredItem Item(uint64_t number, size_t sketch = 200) {
  StoredItem item{"n" + std::to_string(number), {static_cast<int64_t>(number)}, {}};
  item.features.content_hash = number * 0x9e3779b97f4a7c15u;
  item.features.simhash = number * 0xbf58476d1ce4e5b9u;
  for (size_t band = 0; band < kBands; ++band)
    item.features.bands[band] = KeptBand(~number << 20 | band << 60);
  item.features.length = LengthClass::kLong;
  for (size_t i = 0; i < sketch; ++i) item.features.sketch.values.push_back(static_cast<uint16_t>(i * 7));
  return item;
}

class ItemIndexTest : public ::testing::Test {
 protected:
  ItemIndexOptions Options(std::shared_ptr<rocksdb::FileSystem> files = nullptr) {
    return {.directory = folder_.path(),
            .idf = IdfTable::Bundled(),
            .idf_text = std::string(IdfTable::BundledText()),
            .resources = resources_,
            .file_system = std::move(files)};
  }
  static std::unique_ptr<RocksItemIndex> Open(ItemIndexOptions options) {
    auto index = RocksItemIndex::Open(std::move(options));
    EXPECT_TRUE(index) << index.error().message;
    return index ? std::move(*index) : nullptr;
  }
  static void Add(ItemIndex& index, int32_t bucket, uint64_t number) {
    IndexChange change;
    change.added.push_back({{bucket, number}, Item(number), true});
    change.listed.push_back({{bucket, number}, Item(number).features});
    ASSERT_TRUE(index.Write(change));
  }
  static size_t ItemsOf(const ItemIndex& index, uint64_t below, int32_t buckets) {
    std::vector<ItemRef> refs;
    for (uint64_t number = 0; number < below; ++number) {
      refs.push_back({static_cast<int32_t>(number % static_cast<uint64_t>(buckets)), number});
    }
    std::vector<std::optional<StoredItem>> rows;
    EXPECT_TRUE(index.Items(refs, rows));
    size_t found = 0;
    for (size_t i = 0; i < rows.size(); ++i) {
      found += rows[i].has_value();
      if (rows[i]) {
        EXPECT_EQ(rows[i]->features.sketch, Item(refs[i].number).features.sketch);
      }
    }
    return found;
  }

  const TemporaryFolder folder_;
  const StoreResources resources_{16 << 20, 1};
};

TEST_F(ItemIndexTest, ReadsRowsOfSeveralBucketsTogether) {
  const auto index = Open(Options());
  // Buckets with few rows and with many. The first 301 rows are in files, the others in memory.
  std::vector<ItemRef> refs;
  for (uint64_t number = 0; number < 600; ++number) {
    refs.push_back({static_cast<int32_t>(std::bit_width(number / 20)), number});
    Add(*index, refs.back().bucket, number);
    if (number == 300) {
      ASSERT_TRUE(index->Checkpoint({}, 0));
    }
  }
  std::vector<std::optional<StoredItem>> rows;
  ASSERT_TRUE(index->Items(refs, rows));
  for (size_t i = 0; i < rows.size(); ++i) {
    ASSERT_TRUE(rows[i]) << i;
    EXPECT_EQ(rows[i]->item_id, "n" + std::to_string(i));
  }
}

TEST_F(ItemIndexTest, NamesTheSettingThatItWasBuiltWithOtherwise) {
  Open(Options());
  ItemIndexOptions options = Options();
  options.generation.window_days = 14;
  const auto refused = RocksItemIndex::Open(options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kRefused);
  EXPECT_EQ(
      refused.error().message,
      "index of items 0: items.window_days: the index of items was built with 30, configured is 14. Remedy: "
      "set it back, or start with --rebuild, which builds the index again from the log");
  ASSERT_TRUE(RocksItemIndex::Remove(folder_.path(), 0));
  EXPECT_TRUE(RocksItemIndex::Open(options));
}

TEST_F(ItemIndexTest, KeepsItsMethodWhereNoneIsConfigured) {
  ItemIndexOptions options = Options();
  options.kept.method = true;
  options.generation.method = SimilarMethod::kBoth;
  EXPECT_EQ(Open(options)->method(), SimilarMethod::kBoth) << "of a new one, as it is made";
  options.generation.method = SimilarMethod::kMinHash;
  EXPECT_EQ(Open(options)->method(), SimilarMethod::kBoth);
  options.kept.method = false;
  const auto refused = RocksItemIndex::Open(options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kRefused);
  EXPECT_NE(refused.error().message.find(
                "items.method: the index of items was built with both, configured is minhash"),
            std::string::npos)
      << refused.error().message;
}

// The file as a version before folding wrote it.
void MakeAnOldIndex(const std::string& path) {
  IndexGeneration first;
  first.features_version = 1;
  first.idf_version = IdfTable::Bundled()->version();
  const std::string text = EncodeGeneration(first);
  EXPECT_EQ(text.find("folding"), std::string::npos) << text;
  std::filesystem::create_directories(path);
  std::ofstream(path + "/generation") << text;
  std::ofstream(path + "/idf.txt") << IdfTable::BundledText();
}

TEST_F(ItemIndexTest, KeepsItsWayOfReadingTexts) {
  ItemIndexOptions options = Options();
  options.kept = {
      .versions = true, .segmentation = true, .numbers = true, .tokens_min = true, .containment_min = true};
  MakeAnOldIndex(RocksItemIndex::PathOf(folder_.path(), 0));
  for (int start = 0; start < 2; ++start) {
    const auto index = Open(options);
    ASSERT_TRUE(index);
    const auto features = FeatureOptionsOf(index->generation(), index->idf());
    ASSERT_TRUE(features);
    EXPECT_EQ(features->rules.folding_version, 0u);
    EXPECT_EQ(features->rules.segmentation, Segmentation::kDictionary);
    EXPECT_EQ(features->rules.version, 1u);
    EXPECT_EQ(features->rules.numbers, Numbers::kIgnored);
    EXPECT_EQ(features->rules.tokens_min, 0u);
    EXPECT_EQ(index->generation().containment_min, 0);
    EXPECT_FALSE(features->rules.beginnings);
  }
  options.kept.segmentation = false;
  options.generation.segmentation = Segmentation::kTrigrams;
  const auto refused = RocksItemIndex::Open(options);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find(
                "items.segmentation: the index of items was built with dictionary, configured is trigrams"),
            std::string::npos)
      << refused.error().message;
}

TEST_F(ItemIndexTest, KeepsTheVersionOfItsTexts) {
  ItemIndexOptions options = Options();
  options.generation.features_version = 2;
  Open(options);
  options.generation.features_version = kFeaturesVersion;
  EXPECT_FALSE(RocksItemIndex::Open(options));
  options.kept = {.versions = true, .numbers = true, .tokens_min = true, .containment_min = true};
  const auto index = Open(options);
  const auto features = FeatureOptionsOf(index->generation(), index->idf());
  ASSERT_TRUE(features);
  EXPECT_EQ(features->rules.version, 2u);
  EXPECT_EQ(features->rules.numbers, Numbers::kIgnored);
  EXPECT_EQ(features->rules.tokens_min, 0u);
  EXPECT_EQ(index->generation().containment_min, 0);
}

TEST_F(ItemIndexTest, IsRefusedIfItHasLostRules) {
  ItemIndexOptions options = Options();
  options.generation.features_version = 4;
  Open(options);
  options.generation.features_version = kFeaturesVersion;
  options.kept = {.versions = true, .numbers = true, .tokens_min = true};
  const auto refused = RocksItemIndex::Open(options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kRefused);
  EXPECT_NE(
      refused.error().message.find("built with version 4 of the features of texts, and this program has "
                                   "version 5. Remedy: start with --rebuild"),
      std::string::npos)
      << refused.error().message;
}

TEST_F(ItemIndexTest, KeepsWhatNumbersAndShortTextsMeantWhenItWasBuilt) {
  ItemIndexOptions options = Options();
  options.generation.numbers = Numbers::kIgnored;
  options.generation.tokens_min = 9;
  Open(options);
  options.generation.numbers = Numbers::kDistinct;
  options.generation.tokens_min = 8;
  const auto refused = RocksItemIndex::Open(options);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find(
                "items.numbers: the index of items was built with ignored, configured is distinct. Remedy: "),
            std::string::npos)
      << refused.error().message;
  options.kept.numbers = true;
  const auto short_texts = RocksItemIndex::Open(options);
  ASSERT_FALSE(short_texts);
  EXPECT_NE(short_texts.error().message.find(
                "items.tokens_min: the index of items was built with 9, configured is 8. Remedy: "),
            std::string::npos)
      << short_texts.error().message;
  options.kept.tokens_min = true;
  const auto index = Open(options);
  EXPECT_EQ(index->generation().numbers, Numbers::kIgnored);
  EXPECT_EQ(index->generation().tokens_min, 9u);
}

TEST_F(ItemIndexTest, KeepsItsContainment) {
  ItemIndexOptions options = Options();
  options.generation.containment_min = 0;
  Open(options);
  options.generation.containment_min = 0.95;
  const auto refused = RocksItemIndex::Open(options);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("items.containment_min: the index of items was built with 0, "
                                         "configured is 0.95. Remedy: "),
            std::string::npos)
      << refused.error().message;
  options.kept.containment_min = true;
  const auto index = Open(options);
  EXPECT_EQ(index->generation().containment_min, 0);
  const auto features = FeatureOptionsOf(index->generation(), index->idf());
  ASSERT_TRUE(features);
  EXPECT_FALSE(features->rules.beginnings) << "it has no lists of them";
}

TEST_F(ItemIndexTest, IsRefusedForARebuildIfItsTextsWereReadInAnotherWay) {
  MakeAnOldIndex(RocksItemIndex::PathOf(folder_.path(), 0));
  const auto refused = RocksItemIndex::Open(Options());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kRefused);
}

TEST_F(ItemIndexTest, ReadsTextsInTheNewWayIfItIsNew) {
  ItemIndexOptions options = Options();
  options.generation.segmentation = Segmentation::kBigramsTrigrams;
  options.generation.boilerplate = {"转载自.*", "a b"};
  Open(options);
  options.kept.segmentation = true;
  options.generation.segmentation = Segmentation::kTrigrams;
  const auto index = Open(options);
  ASSERT_TRUE(index);
  const auto features = FeatureOptionsOf(index->generation(), index->idf());
  ASSERT_TRUE(features);
  EXPECT_EQ(features->rules.folding_version, kFoldingVersion);
  EXPECT_EQ(features->rules.segmentation, Segmentation::kBigramsTrigrams);
  EXPECT_EQ(features->rules.version, kTextVersion);
  EXPECT_EQ(features->rules.boilerplate->patterns(), options.generation.boilerplate);
}

TEST_F(ItemIndexTest, NamesTheBoilerplateThatItWasBuiltWith) {
  ItemIndexOptions options = Options();
  Open(options);
  options.generation.boilerplate = {"转载自.*", "a b"};
  const auto refused = RocksItemIndex::Open(options);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("items.boilerplate: the index of items was built with no pattern, "
                                         "configured is \"转载自.*\", \"a b\". Remedy: "),
            std::string::npos)
      << refused.error().message;
}

TEST(IndexGeneration, RefusesWhatANewerProgramWrote) {
  IndexGeneration newer;
  newer.features_version = kFeaturesVersion + 1;
  const auto read = DecodeGeneration(EncodeGeneration(newer));
  ASSERT_TRUE(read);
  const Status fits = CheckGeneration(*read, Adapted(*read, IndexGeneration(), {}));
  ASSERT_FALSE(fits);
  EXPECT_NE(fits.error().message.find(
                "built with version 6 of the features of texts, and this program has version 5"),
            std::string::npos)
      << fits.error().message;
  for (const std::string_view line : {"segmentation words\n", "boilerplate 2\ta\n", "folding_version x\n",
                                      "numbers 1\n", "tokens_min x\n", "containment_min x\n"}) {
    std::string text = EncodeGeneration(IndexGeneration());
    const std::string name(line.substr(0, line.find(' ')));
    const size_t begin = text.find(name);
    text.replace(begin, text.find('\n', begin) + 1 - begin, line);
    const auto corrupt = DecodeGeneration(text);
    ASSERT_FALSE(corrupt) << text;
    EXPECT_EQ(corrupt.error().code, Code::kCorrupt);
  }
}

TEST_F(ItemIndexTest, GoesOnWithItsOwnTableOfWords) {
  Open(Options());
  ItemIndexOptions options = Options();
  options.idf_text = "# documents 10\nword\t3\n";
  options.idf = *IdfTable::Parse(options.idf_text);
  ASSERT_NE(options.idf->version(), IdfTable::Bundled()->version());
  const auto index = Open(options);
  EXPECT_EQ(index->idf()->version(), IdfTable::Bundled()->version());
}

TEST_F(ItemIndexTest, LosesWhatNoCheckpointMadeDurable) {
  auto index = Open(Options());
  Add(*index, 1, 1);
  ASSERT_TRUE(index->Checkpoint({7, 2, {}, {}}, 0));
  Add(*index, 0, 2);
  index.reset();
  index = Open(Options());
  EXPECT_EQ(ItemsOf(*index, 3, 2), 1u);
  EXPECT_EQ((*index->ReadPosition())->next_offset, 7);
}

TEST_F(ItemIndexTest, DropsBucketsWithACheckpointOnly) {
  auto index = Open(Options());
  Add(*index, 0, 0);
  Add(*index, 1, 1);
  ASSERT_TRUE(index->Checkpoint({2, 2, {}, {}}, 0));
  EXPECT_EQ(ItemsOf(*index, 2, 2), 2u);
  ASSERT_TRUE(index->Checkpoint({3, 2, {}, {}}, 1));
  index.reset();
  EXPECT_EQ(ItemsOf(*Open(Options()), 2, 2), 1u);
}

// The power fails after 0, 2, 4, ... operations on the disk. A checkpoint is there as a whole, or not at all.
TEST_F(ItemIndexTest, IsAtOneCheckpointOrTheOtherWhereverTheDiskStops) {
  uint64_t olds = 0, news = 0;
  bool done = false;
  for (uint64_t operations = 0; !done; operations += 2) {
    ASSERT_LT(operations, 300u);
    const TemporaryFolder folder;
    LossyDisk disk(folder.path());
    ItemIndexOptions options = Options(disk.Mount());
    options.directory = folder.path();
    auto index = Open(options);
    for (uint64_t number = 0; number < 6; ++number) Add(*index, static_cast<int32_t>(number % 3), number);
    ASSERT_TRUE(index->Checkpoint({1, 6, {}, {}}, 0));
    for (uint64_t number = 6; number < 12; ++number) Add(*index, static_cast<int32_t>(number % 4), number);
    disk.CrashAfter(operations);
    const Status saved = index->Checkpoint({2, 12, {}, {}}, 1);
    done = saved.has_value();
    index.reset();
    disk.Crash(operations % 4 == 0 ? 0 : operations);
    options.file_system = disk.Mount();
    index = Open(options);
    ASSERT_NE(index, nullptr) << "after " << operations;
    const auto position = index->ReadPosition();
    ASSERT_TRUE(position && *position) << "after " << operations;
    // Numbers from 6 on are in buckets 2, 3, 0, 1, 2, 3. Numbers below 6 are in buckets 0, 1, 2, 0, 1, 2.
    std::vector<ItemRef> refs;
    for (uint64_t number = 0; number < 12; ++number) {
      refs.push_back({static_cast<int32_t>(number < 6 ? number % 3 : number % 4), number});
    }
    std::vector<std::optional<StoredItem>> rows;
    ASSERT_TRUE(index->Items(refs, rows));
    const bool is_new = (*position)->next_offset == 2;
    if (!is_new) {
      ASSERT_FALSE(saved) << "after " << operations << " a checkpoint is gone";
    }
    ++(is_new ? news : olds);
    for (size_t i = 0; i < rows.size(); ++i) {
      const bool may_be_dropped = is_new && refs[i].bucket == 0;
      if (may_be_dropped) continue;
      EXPECT_EQ(rows[i].has_value(), is_new || i < 6) << "after " << operations << ": " << i;
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(olds, 3u);
  EXPECT_GT(news, 0u);
}

TEST(ItemLists, MergeToTheSameHoweverTheyAreBracketed) {
  std::mt19937_64 random(1);
  for (const std::string& key : {ContentKey(5), SimHashKey(Item(3).features, 2), BandKey(77, 3)}) {
    const bool has_value = ListShapeOf(key)->entry_bytes > kNumberBytes;
    std::vector<std::string> parts;
    for (uint64_t i = 0; i < 3000; ++i) {
      parts.push_back(ListOperand(has_value ? std::optional(i * 3) : std::nullopt, i));
    }
    std::string whole, last;
    ASSERT_TRUE(MergeLists(key, {parts.begin(), parts.end()}, whole));
    while (parts.size() > 1) {
      const size_t at = random() % (parts.size() - 1);
      const size_t count = std::min<size_t>(2 + random() % 400, parts.size() - at);
      const auto from = parts.begin() + static_cast<ptrdiff_t>(at);
      std::string merged;
      ASSERT_TRUE(MergeLists(key, {from, from + static_cast<ptrdiff_t>(count)}, merged));
      *from = std::move(merged);
      parts.erase(from + 1, from + static_cast<ptrdiff_t>(count));
    }
    ASSERT_EQ(parts[0], whole);
    const auto list = ListView::Of(whole, *ListShapeOf(key));
    EXPECT_EQ(list->ever(), 3000u);
    ASSERT_EQ(list->size(), 1024u);
    EXPECT_EQ(list->number(0), ListShapeOf(key)->keeps_newest ? 3000u - 1024 : 0u);
  }
}

// Pigeonhole principle: the 64 bits are four blocks, and three flipped bits touch at most three of them.
TEST(ItemLists, EveryPairWithinThreeBitsSharesABlockOfATable) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 100'000; ++i) {
    ItemFeatures a = Item(1, 0).features, b = a;
    a.simhash = b.simhash = random();
    for (int flips = 0; flips < 3; ++flips) b.simhash ^= uint64_t{1} << random() % 64;
    bool shares = false;
    for (size_t table = 0; table < kSimHashTables; ++table) {
      shares |= SimHashKey(a, table) == SimHashKey(b, table);
      ASSERT_EQ(WithBlock(RestOf(a.simhash, table), BlockOf(a.simhash, table), table), a.simhash);
    }
    ASSERT_TRUE(shares);
  }
}

TEST(ItemRows, ComeBackAsTheyWere) {
  std::string bytes;
  for (const auto& [numbers, beginning] : {std::pair<size_t, uint64_t>{0, 0}, {3, 0}, {0, 7}, {3, 7}}) {
    StoredItem item = Item(7);
    item.features.beginning = beginning << 16;
    item.features.numbers.values.assign({5, 9, 0xffffffff});
    item.features.numbers.values.resize(numbers);
    EncodeStoredItem(item, bytes);
    if (beginning == 0) {
      EXPECT_EQ(bytes[0], numbers == 0 ? 1 : 3) << "earlier versions read rows without numbers";
    }
    const auto decoded = DecodeStoredItem(bytes);
    ASSERT_TRUE(decoded);
    EXPECT_EQ(decoded->item_id, item.item_id);
    EXPECT_EQ(decoded->features.bands, item.features.bands);
    EXPECT_EQ(decoded->features.simhash, item.features.simhash);
    EXPECT_EQ(decoded->features.numbers, item.features.numbers);
    EXPECT_EQ(decoded->features.beginning, item.features.beginning);
    for (size_t length = 0; length < bytes.size(); ++length) {
      EXPECT_FALSE(DecodeStoredItem(std::string_view(bytes).substr(0, length)));
    }
  }
  StoredGroup group{{3, 1ull << 39}, "g", FoundBy::kMinHash, 0.8765, 12, {}, "h"};
  group.near.push_back({{-1, 5}, {"n", std::nullopt, 3, FoundBy::kSimHash}});
  group.near.push_back({{-1, 6}, {"o", 0.6, 20, FoundBy::kMinHash, 0.9876}});
  EncodeStoredGroup(group, bytes);
  EXPECT_EQ(DecodeStoredGroup(bytes), group);
  group.containment = 1;
  EncodeStoredGroup(group, bytes);
  EXPECT_EQ(DecodeStoredGroup(bytes), group);
  IndexPosition position{9, 8, {7}, {{1, 2}, {3, 4}}, {5, 6, 7}};
  EncodeIndexPosition(position, bytes);
  EXPECT_EQ(DecodeIndexPosition(bytes), position);
}

}  // namespace
}  // namespace seen::test

#include "rows/descriptor.h"

#include <rocksdb/db.h>
#include <rocksdb/sst_file_writer.h>

#include "base/byte_codec.h"
#include "rows/keys.h"
#include "store_fixture.h"

namespace seen::test {
namespace {

StoreDescriptor Example() {
  return {{"exposures", 3, 8, "murmur2"},
          {{"home", 30, {50'000}, {{"purchased", 365}, {"clicked", 2}}}, {"video", 7, {200}}},
          {"clicked", "purchased"},
          {"seen-home", "seen-video"}};
}

TEST(Descriptor, DecodesToWhatWasEncoded) {
  EXPECT_EQ(*DecodeDescriptor(EncodeDescriptor(Example())), Example());
  EXPECT_EQ(*DecodeDescriptor(EncodeDescriptor({})), StoreDescriptor{});
}

TEST(Descriptor, IsRefusedShortenedOrLengthened) {
  const std::string bytes = EncodeDescriptor(Example());
  for (size_t length = 0; length < bytes.size(); ++length) {
    const auto shortened = DecodeDescriptor(bytes.substr(0, length));
    ASSERT_FALSE(shortened) << length;
    EXPECT_EQ(shortened.error().code, Code::kCorrupt);
  }
  EXPECT_EQ(DecodeDescriptor(bytes + '\0').error().code, Code::kCorrupt);
}

StoreDescriptor WithoutCountedKinds(StoreDescriptor descriptor) {
  for (StoredFilter& filter : descriptor.filters) filter.kinds.clear();
  return descriptor;
}

// The bytes that EncodeDescriptor wrote in the lower `version`. That version ended `bytes` bytes before the
// fields of the filters' kinds.
std::string InVersion(char version, const StoreDescriptor& descriptor, size_t bytes) {
  std::string encoded = EncodeDescriptor(WithoutCountedKinds(descriptor));
  encoded.resize(encoded.size() - descriptor.filters.size() - bytes);
  encoded[0] = version;
  return encoded;
}

std::string InVersion1(StoreDescriptor descriptor) {
  descriptor.kinds.clear();
  descriptor.topics.clear();
  return InVersion(1, descriptor, 4);
}

// Writes `bytes` where the closed store at `path` keeps its descriptor.
void PutDescriptor(const std::string& path, const std::string& bytes) {
  rocksdb::DB* raw = nullptr;
  ASSERT_TRUE(rocksdb::DB::Open({}, path, &raw).ok());
  const std::unique_ptr<rocksdb::DB> db(raw);
  ASSERT_TRUE(db->Put({}, rocksdb::Slice(DescriptorKey()), bytes).ok());
  ASSERT_TRUE(db->Flush({}).ok());
}

void ExpectRefused(const Result<std::unique_ptr<RocksPartitionStore>>& store,
                   const std::vector<std::string>& named) {
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, Code::kRefused);
  for (const std::string& part : named)
    EXPECT_NE(store.error().message.find(part), std::string::npos) << store.error().message;
}

TEST(Descriptor, OfALowerVersionIsReadAndHasNothingThatCameLater) {
  StoreDescriptor expected = WithoutCountedKinds(Example());
  for (const uint8_t version : {uint8_t{3}, uint8_t{2}, uint8_t{1}}) {
    if (version <= 2) expected.topics.clear();
    if (version <= 1) expected.kinds.clear();
    expected.version = version;
    const size_t missing = 2u * (3u - version);  // bytes: the numbers of topics and of kinds
    EXPECT_EQ(*DecodeDescriptor(InVersion(static_cast<char>(version), expected, missing)), expected)
        << int{version};
  }
}

std::vector<std::pair<int, int32_t>> NumbersAndWindows(const std::vector<KindPolicy>& kinds) {
  std::vector<std::pair<int, int32_t>> found;
  for (const KindPolicy& kind : kinds) found.emplace_back(kind.number, kind.window_days);
  return found;
}

TEST_F(StoreTest, KnowsTheKindsThatAFilterCountedOnce) {
  using Past = std::vector<std::pair<int, int32_t>>;
  const auto past = [&](std::vector<StoredKind> kinds) {
    StoreOptions options = Options();
    for (const StoredKind& kind : kinds) options.kinds.push_back(kind.name);
    options.filters.resize(1);
    options.filters[0].kinds = std::move(kinds);
    return NumbersAndWindows((*RocksPartitionStore::Open(options))->past_kinds()[0]);
  };
  EXPECT_EQ(past({{"clicked", 2}, {"purchased", 300}}), Past());
  EXPECT_EQ(past({{"clicked", 2}, {"purchased", 365}}), Past());
  EXPECT_EQ(past({{"liked", 9}}), (Past{{16, 2}, {17, 365}}));
  EXPECT_EQ(past({{"purchased", 30}}), (Past{{18, 9}, {16, 2}}));
  EXPECT_EQ(past({}), (Past{{17, 30}, {18, 9}, {16, 2}}));
  StoreOptions other = Options();
  other.filters = {{"other", 30, {}}};
  EXPECT_EQ((*RocksPartitionStore::Open(other))->past_kinds()[0].size(), 0u);
  EXPECT_EQ(past({}), (Past{{17, 30}, {18, 9}, {16, 2}})) << "also where the filter itself was away";
}

TEST_F(StoreTest, KnowsTheTopicsThatItsSnapshotsEverWentTo) {
  const auto retired = [&](std::vector<std::string> topics) {
    StoreOptions options = Options();
    options.topics = std::move(topics);
    return (*RocksPartitionStore::Open(options))->retired_topics();
  };
  EXPECT_EQ(retired({"home", "video"}), std::vector<RetiredTopic>{});
  EXPECT_EQ(retired({"video"}), (std::vector<RetiredTopic>{{65'534, "home"}}));
  EXPECT_EQ(retired({"search"}), (std::vector<RetiredTopic>{{65'534, "home"}, {65'533, "video"}}));
  EXPECT_EQ(retired({"video", "home"}), (std::vector<RetiredTopic>{{65'532, "search"}})) << "they came back";
}

TEST_F(StoreTest, RefusesASnapshotTopicTooManyAndNamesTheRemedy) {
  StoreOptions options = Options();
  for (size_t i = 0; i < kSnapshotTopicsMax; ++i) options.topics.push_back("topic-" + std::to_string(i));
  ASSERT_TRUE(RocksPartitionStore::Open(options));
  options.topics = {"one too many"};
  ExpectRefused(RocksPartitionStore::Open(options), {"one too many", "--rebuild"});
}

TEST_F(StoreTest, OfVersion1IsRewritten) {
  const std::string path = StoreDirectory::PartitionPath(folder_.path(), 3);
  const auto descriptor = [&] {
    rocksdb::DB* raw = nullptr;
    EXPECT_TRUE(rocksdb::DB::OpenForReadOnly({}, path, &raw).ok());
    const std::unique_ptr<rocksdb::DB> db(raw);
    std::string value;
    EXPECT_TRUE(db->Get({}, rocksdb::Slice(DescriptorKey()), &value).ok());
    return value;
  };
  ASSERT_TRUE(Commit(*Open(), At(1)));
  const std::string written = descriptor();
  PutDescriptor(path, InVersion1(*DecodeDescriptor(written)));
  ASSERT_NE(descriptor(), written);
  EXPECT_EQ((*Open()->ReadPosition())->next_offset, 1);
  EXPECT_EQ(descriptor(), written);
}

TEST_F(StoreTest, GivesKindsNumbersThatStay) {
  StoreOptions options = Options();
  options.kinds = {"clicked", "purchased"};
  EXPECT_EQ((*RocksPartitionStore::Open(options))->kind_numbers(), (std::vector<uint8_t>{16, 17}));
  options.kinds = {"liked"};
  EXPECT_EQ((*RocksPartitionStore::Open(options))->kind_numbers(), (std::vector<uint8_t>{18}));
  options.kinds = {"purchased", "liked", "clicked"};
  EXPECT_EQ((*RocksPartitionStore::Open(options))->kind_numbers(), (std::vector<uint8_t>{17, 18, 16}));
  for (int i = 0; i < 13; ++i) options.kinds.push_back("k" + std::to_string(i));
  EXPECT_TRUE(RocksPartitionStore::Open(options));
  options.kinds = {"one too many"};
  ExpectRefused(RocksPartitionStore::Open(options), {"one too many", "liked"});
}

struct Mismatch {
  const char* what;
  StoreIdentity expected;
  std::string named;
};

TEST_F(StoreTest, RefusesStateThatWasMadeForSomethingElseAndNamesTheRemedy) {
  ASSERT_TRUE(Commit(*Open(), At(1)));
  const StoreIdentity made = Options().identity;
  StoreIdentity topic = made, count = made, partitioner = made;
  topic.topic = "other";
  count.partition_count = 9;
  partitioner.partitioner = "crc32";
  for (const Mismatch& mismatch :
       {Mismatch{"topic", topic, "input.topic = other"},
        Mismatch{"count", count, "exposures has 9 partitions, the state was built when it had 8"},
        Mismatch{"partitioner", partitioner, "input.partitioner = murmur2"}}) {
    StoreOptions options = Options();
    options.identity = mismatch.expected;
    SCOPED_TRACE(mismatch.what);
    const auto store = RocksPartitionStore::Open(options);
    ExpectRefused(store, {mismatch.named, "--rebuild"});
    EXPECT_TRUE(store.error().message.starts_with("partition 3: ")) << store.error().message;
  }
  EXPECT_EQ((*Open()->ReadPosition())->next_offset, 1) << "refusing changed nothing";
}

TEST_F(StoreTest, RefusesTheFolderOfAnotherPartition) {
  ASSERT_TRUE(Commit(*Open(), At(1)));
  std::filesystem::rename(StoreDirectory::PartitionPath(folder_.path(), 3),
                          StoreDirectory::PartitionPath(folder_.path(), 4));
  StoreOptions options = Options();
  options.identity.partition = 4;
  ExpectRefused(RocksPartitionStore::Open(options), {});
}

TEST_F(StoreTest, RefusesANewerVersion) {
  ASSERT_TRUE(Commit(*Open(), At(1)));
  // A newer program would leave a higher number, and then unknown bytes.
  std::string newer;
  PutLittleEndian(static_cast<uint16_t>(kStoreVersion + 1), newer);
  PutDescriptor(StoreDirectory::PartitionPath(folder_.path(), 3), newer + "something new");
  ExpectRefused(RocksPartitionStore::Open(Options()), {"format version 5", "newer seend"});
}

TEST(RegisterFilters, KeepsKnownIdsAndGivesNewNamesTheNext) {
  StoreDescriptor descriptor = Example();
  EXPECT_EQ(RegisterFilters(descriptor, {{"search", 3, {}}, {"video", 14, {100}}}),
            (std::vector<FilterId>{2, 1}));
  const std::vector<StoredFilter> expected = {
      {"home", 30, {50'000}, {{"purchased", 365}, {"clicked", 2}}}, {"video", 14, {100}}, {"search", 3, {}}};
  EXPECT_EQ(descriptor.filters, expected);
}

}  // namespace
}  // namespace seen::test

// Runs seenctl's subcommands against a broker within the test.

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "decode/event_decoder.h"
#include "filter/snapshot.h"
#include "kafka/bulk_producer.h"
#include "kafka/embedded_broker.h"
#include "kafka/topic_reader.h"
#include "scratch_folder.h"
#include "tools/check/verify_input.h"
#include "tools/commands.h"
#include "tools/history/history_file.h"
#include "tools/load/event_sink.h"
#include "tools/replay/history_source.h"
#include "tools/replay/manifest.h"

namespace seen {
namespace {

constexpr int32_t kPartitions = 3;

struct ReadRecord {
  int32_t partition;
  TimeMs timestamp;
  std::string key;
  std::string value;
};

class SeenctlOnKafka : public testing::Test {
 protected:
  void SetUp() override {
    auto broker =
        EmbeddedBroker::Start({{"exposures", kPartitions}, {"archive", 2}, {"seen-filters", kPartitions}});
    ASSERT_TRUE(broker) << broker.error().message;
    broker_ = std::move(*broker);
  }

  int Run(std::vector<std::string> arguments, bool with_brokers = true) {
    arguments.insert(arguments.begin(), "seenctl");
    if (with_brokers) arguments.insert(arguments.end(), {"--brokers", broker_->bootstrap(), "--quiet"});
    std::vector<const char*> argv;
    for (const std::string& argument : arguments) argv.push_back(argument.c_str());
    return RunSeenctl(static_cast<int>(argv.size()), argv.data());
  }

  std::vector<ReadRecord> Read(const std::string& topic) {
    std::vector<ReadRecord> records;
    auto reader =
        TopicReader::Open({.brokers = broker_->bootstrap(), .topic = topic}, std::chrono::seconds(10));
    if (!reader) {
      ADD_FAILURE() << reader.error().message;
      return records;
    }
    while (true) {
      const auto more = (*reader)->Poll(std::chrono::milliseconds(100), [&](int32_t partition, auto batch) {
        for (const Record& record : batch) {
          if (record.replay != nullptr) continue;  // the marks of a replay
          records.push_back(
              {partition, record.timestamp, std::string(record.key), std::string(record.value)});
        }
      });
      EXPECT_TRUE(more);
      if (!more || !*more) return records;
    }
  }

  /// `count` exposures in time order, one line each, of 50 users.
  static std::string Lines(int count) {
    std::string lines;
    for (int i = 0; i < count; ++i) {
      lines += R"({"user_id":"u)" + std::to_string(i % 50) + R"(","item_id":"n)" + std::to_string(i) +
               R"(","exposed_at":)" + std::to_string(1'763'700'000'000 + i) + "}\n";
    }
    return lines;
  }

  std::unique_ptr<EmbeddedBroker> broker_;
  ScratchFolder folder_;
};

TEST_F(SeenctlOnKafka, GenerateKeysByUserIntoTheUsersPartition) {
  for (const std::string partitioner : {"murmur2", "crc32"}) {
    SetUp();
    ASSERT_EQ(Run({"generate", "--events", "3000", "--users", "200", "--partitioner", partitioner}), kExitOk);
    const auto records = Read("exposures");
    ASSERT_EQ(records.size(), 3000u);
    EventDecoder decoder(1 << 20);
    const TimeMs now = SystemClock().WallNow();
    for (const ReadRecord& record : records) {
      const auto event = decoder.Decode(record.value);
      ASSERT_TRUE(event) << record.value;
      EXPECT_EQ(event->user_id, record.key);
      EXPECT_EQ(record.partition, PartitionOf(*ParsePartitioner(partitioner), record.key, kPartitions));
      EXPECT_NEAR(static_cast<double>(event->exposed_at.value), static_cast<double>(now.value), 60'000);
      EXPECT_NEAR(static_cast<double>(record.timestamp.value), static_cast<double>(now.value), 60'000);
    }
  }
}

TEST_F(SeenctlOnKafka, GenerateSendsAFileWithItsTimesShifted) {
  const auto path = folder_.Write("old.jsonl", Lines(1000) + "not an event\n");
  ASSERT_EQ(Run({"generate", "--from", path, "--shift-to-now"}), kExitOk);
  const auto records = Read("exposures");
  ASSERT_EQ(records.size(), 1000u);
  EventDecoder decoder(1 << 20);
  int64_t first = INT64_MAX, last = 0;
  for (const ReadRecord& record : records) {
    const int64_t at = decoder.Decode(record.value)->exposed_at.value;
    first = std::min(first, at);
    last = std::max(last, at);
  }
  EXPECT_EQ(last - first, 999);
  EXPECT_NEAR(static_cast<double>(last), static_cast<double>(SystemClock().WallNow().value), 60'000);
}

TEST_F(SeenctlOnKafka, GenerateSendsAFileOfOtherRecordsByAKeyOfTheirOwn) {
  const std::string item = R"({"item_id":"n1","text":"a bridge"})";
  const auto path =
      folder_.Write("items.jsonl", item + "\n{\"text\":\"no id\"}\n[]\n7\n{\"item_id\":7}\nnot JSON\n");
  ASSERT_EQ(Run({"generate", "--from", path, "--key", "item_id", "--topic", "archive"}), kExitOk);
  const auto records = Read("archive");
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].key, "n1");
  EXPECT_EQ(records[0].value, item);
}

TEST_F(SeenctlOnKafka, ReplayGivesRecordsTheTimeOfTheirExposure) {
  const auto path = folder_.Write("history.jsonl", Lines(500));
  ASSERT_EQ(Run({"replay", path}), kExitOk);
  const auto records = Read("exposures");
  ASSERT_EQ(records.size(), 500u);
  EventDecoder decoder(1 << 20);
  for (const ReadRecord& record : records) {
    const auto event = decoder.Decode(record.value);
    EXPECT_EQ(record.timestamp, event->exposed_at);
    EXPECT_EQ(record.key, event->user_id);
  }
  ASSERT_EQ(Run({"replay", path, "--timestamps", "now"}), kExitOk);
  EXPECT_GT(Read("exposures").back().timestamp.value, 1'763'700'000'000 + kMsPerDay);
}

TEST_F(SeenctlOnKafka, ReplayGoesOnFromItsProgressFile) {
  const auto path = folder_.Write("history.jsonl", Lines(800));
  const auto progress = folder_.Path("progress");
  // The progress file of a killed run. The first 300 lines are acknowledged without a gap.
  const auto size = Lines(800).size();
  ASSERT_TRUE(WriteManifest(progress, {.run = "r",
                                       .target = "exposures",
                                       .files = {{.name = path,
                                                  .size = size,
                                                  .first_block_hash = *FirstBlockHash(path, size),
                                                  .lines = {.sent = 300, .rejected = 0, .skipped = 0},
                                                  .damage = {}}},
                                       .topics = {}}));
  ASSERT_EQ(Run({"replay", path, "--progress", progress}), kExitOk);
  std::set<std::string> sent;
  for (const ReadRecord& record : Read("exposures")) sent.insert(record.value);
  EXPECT_EQ(sent.size(), 500u);
  const auto end = ReadManifest(progress);
  EXPECT_EQ((*end)->Counts().sent, 800u);
  EXPECT_TRUE((*end)->finished);
  ASSERT_EQ(Run({"replay", path, "--progress", progress}), kExitOk);
  EXPECT_EQ(Read("exposures").size(), 500u) << "nothing is left to send";
  EXPECT_EQ(Run({"replay", path, "--progress", progress, "--topic", "archive"}), kExitFailed)
      << "another target";
}

TEST_F(SeenctlOnKafka, ReplayWritesWhatItCantSendWithItsPlaceAndReason) {
  const auto path = folder_.Write(
      "history.jsonl", Lines(2) + "{\"item_id\":\"n\",\"exposed_at\":1763700000000}\n" + Lines(1) + "\nx\n");
  const auto rejects = folder_.Path("rejects");
  EXPECT_EQ(Run({"replay", path}), kExitRejects) << "two of five lines";
  EXPECT_EQ(Run({"replay", path, "--rejects", rejects, "--rejects-max", "40%"}), kExitOk);
  EXPECT_EQ(Read("exposures").size(), 6u) << "what can be sent was, twice";
  const std::string written = ScratchFolder::Read(rejects);
  EXPECT_EQ(std::count(written.begin(), written.end(), '\n'), 2);
  for (const char* part :
       {R"("line":3,"reason":"missing_field","message":"user_id: missing")", R"("line":6,)"})
    EXPECT_NE(written.find(part), std::string::npos) << part << " in " << written;
}

TEST_F(SeenctlOnKafka, ReplayCopiesATopicAndGoesOnWithWhatIsNew) {
  const auto path = folder_.Write("history.jsonl", Lines(600));
  const auto more = folder_.Write("more.jsonl", Lines(50));
  const auto progress = folder_.Path("progress");
  ASSERT_EQ(Run({"replay", path, "--topic", "archive"}), kExitOk);
  ASSERT_EQ(Run({"replay", "--from-topic", "archive", "--progress", progress}), kExitOk);
  EXPECT_EQ(Read("exposures").size(), 600u);
  ASSERT_EQ(Run({"replay", more, "--topic", "archive"}), kExitOk);
  ASSERT_EQ(Run({"replay", "--from-topic", "archive", "--progress", progress}), kExitOk);
  EXPECT_EQ(Read("exposures").size(), 650u);
}

TEST_F(SeenctlOnKafka, ATopicIsReadAgainFromItsFirstRejectedRecord) {
  const auto path = folder_.Write("history.jsonl", Lines(600));
  ASSERT_EQ(Run({"replay", path, "--topic", "archive"}), kExitOk);
  const TopicRange range{.brokers = broker_->bootstrap(), .client = {}, .topic = "archive", .words = {}};
  const auto whole = MakeTopicSource({range}, {});
  ASSERT_TRUE(whole) << whole.error().message;
  std::map<int32_t, int64_t> ends;
  while ((*whole)
             ->Next([&](const HistoryEntry&) -> Status {
               ends[(*whole)->Place().partition] = (*whole)->Place().number + 1;
               return {};
             })
             .value_or(false)) {
  }
  ASSERT_EQ(ends.size(), 2u);
  const int64_t rejected = ends[0] - 10;
  Manifest manifest;
  manifest.topics = {{.name = "archive",
                      .range = {},
                      .next_offsets = ends,
                      .rejected = {{0, {{rejected, rejected}}}},
                      .records = {}}};
  const auto again = MakeTopicSource({range}, manifest);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_LE((*again)->Total(), 12u) << "marks of the replay stand at the end";
  std::vector<int64_t> taken;
  while ((*again)
             ->Next([&](const HistoryEntry& entry) -> Status {
               taken.push_back((*again)->Place().number);
               (*again)->Finish(entry.ticket, LineOutcome::kSent);
               return {};
             })
             .value_or(false)) {
  }
  EXPECT_EQ(taken, std::vector<int64_t>{rejected});
}

TEST_F(SeenctlOnKafka, EachEventOfARecordOfATopicIsReplayed) {
  auto producer = BulkProducer::Open(
      {.brokers = broker_->bootstrap(), .client = {}, .topic = "archive", .on_delivery = {}});
  ASSERT_TRUE(producer);
  const auto event = [](const std::string& user) {
    return R"({"user_id":")" + user + R"(","item_id":"n","exposed_at":1763700000000})";
  };
  const TimeMs at{1'763'700'000'000};
  ASSERT_TRUE((*producer)->Send("k", "[" + event("a") + "," + event("b") + "]", at));
  ASSERT_TRUE((*producer)->Send("k", event("c") + "\n{}\n" + event("d"), at));
  ASSERT_TRUE((*producer)->Send("k", event("e"), at));
  ASSERT_TRUE(FlushAll(**producer));
  const std::string progress = folder_.Path("several.json");
  ASSERT_EQ(Run({"replay", "--from-topic", "archive", "--progress", progress, "--rejects-max", "50%"}),
            kExitOk);
  std::multiset<std::string> sent;
  for (const ReadRecord& record : Read("exposures")) sent.insert(record.key + " " + record.value);
  std::multiset<std::string> expected;
  for (const std::string user : {"a", "b", "c", "d", "e"}) expected.insert(user + " " + event(user));
  EXPECT_EQ(sent, expected);
  const auto manifest = ReadManifest(progress);
  ASSERT_TRUE(manifest && *manifest);
  EXPECT_EQ((*manifest)->Counts(), (LineCounts{.sent = 5, .rejected = 1}));
  int64_t next = 0;
  for (const auto& [partition, offset] : (*manifest)->topics[0].next_offsets) next += offset;
  EXPECT_EQ(next, 3);
}

TEST_F(SeenctlOnKafka, EachUserOfALaterRecordIsSetAside) {
  auto producer = BulkProducer::Open(
      {.brokers = broker_->bootstrap(), .client = {}, .topic = "exposures", .on_delivery = {}});
  ASSERT_TRUE(producer);
  ASSERT_TRUE((*producer)->Send("a",
                                R"([{"user_id":"a","item_id":"n","exposed_at":1763700000000},)"
                                R"({"user_id":"b","item_id":"n","exposed_at":1763700000000}])",
                                TimeMs{1'763'700'000'000}));
  ASSERT_TRUE(FlushAll(**producer));
  const OracleRules rules;
  LaterUsers later(rules, {WholeTopic{broker_->bootstrap(), {}, "exposures"}});
  const Status read = later.ReadOn();
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(later.Has("a"));
  EXPECT_TRUE(later.Has("b"));
  EXPECT_FALSE(later.Has("c"));
}

TEST_F(SeenctlOnKafka, SnapshotShowsAUsersLastRecordOfTheTopic) {
  const auto render = [](int64_t offset) {
    const std::vector<Fingerprint> fingerprints = {FingerprintOf("n")};
    return RenderSnapshot({.as_of = {}, .horizon = {}, .input_offset = offset}, fingerprints);
  };
  auto producer = BulkProducer::Open(
      {.brokers = broker_->bootstrap(), .client = {}, .topic = "seen-filters", .on_delivery = {}});
  ASSERT_TRUE(producer);
  ASSERT_TRUE((*producer)->Send("u", render(1), std::nullopt));
  ASSERT_TRUE((*producer)->Send("v", render(2), std::nullopt));
  ASSERT_TRUE((*producer)->Send("u", render(3), std::nullopt));
  ASSERT_TRUE(FlushAll(**producer));
  const auto saved = folder_.Path("saved");
  ASSERT_EQ(
      Run({"snapshot", "--user", "u", "--from-topic", "--save", saved, "--brokers", broker_->bootstrap()},
          false),
      kExitOk);
  EXPECT_EQ(ScratchFolder::Read(saved), render(3));
  EXPECT_EQ(Run({"snapshot", "--user", "w", "--from-topic", "--brokers", broker_->bootstrap()}, false),
            kExitFailed);
}

TEST_F(SeenctlOnKafka, SimilarLooksUpTheLastRecordsOfItems) {
  const auto config = folder_.Write("seend.json", R"({
      "kafka": {"brokers": ")" + broker_->bootstrap() +
                                                      R"("},
      "items": {"topic": "archive", "fields": {"text": "/body"}}})");
  auto producer = BulkProducer::Open(
      {.brokers = broker_->bootstrap(), .client = {}, .topic = "archive", .on_delivery = {}});
  ASSERT_TRUE(producer);
  for (const char* item :
       {R"({"item_id":"n1","body":"an early text"})", R"({"item_id":"n2","body":"a bridge opened"})",
        R"({"item_id":"n1","body":"A BRIDGE, opened!"})", R"({"item_id":"n3","deleted":true})"}) {
    ASSERT_TRUE((*producer)->Send("k", item, std::nullopt));
  }
  ASSERT_TRUE(FlushAll(**producer));
  const auto similar = [&](std::vector<std::string> arguments, int status) {
    arguments.insert(arguments.begin(), "similar");
    arguments.insert(arguments.end(), {"--config", config, "--quiet", "--json"});
    testing::internal::CaptureStdout();
    EXPECT_EQ(Run(arguments, false), status);
    return testing::internal::GetCapturedStdout();
  };
  EXPECT_NE(similar({"n1", "n2"}, kExitOk).find(R"("because": "copy")"), std::string::npos);
  EXPECT_NE(
      similar({"n2", "@" + folder_.Write("draft.json", R"({"item_id":"d","body":"of something else"})")},
              kExitOk)
          .find(R"("alike": false)"),
      std::string::npos);
  similar({"n1", "n4"}, kExitFailed);
  similar({"n1", "n3"}, kExitFailed);
  similar({"n1", "@/no/such/file"}, kExitUsage);
  similar({"n1", "@" + folder_.Write("bad.json", R"({"body":"no id"})")}, kExitUsage);
}

TEST_F(SeenctlOnKafka, WrongArgumentsEndWithStatus2) {
  const std::vector<std::vector<std::string>> cases = {
      {},
      {"no-such-command"},
      {"generate", "--no-such-option"},
      {"generate", "--batch", "21", "--stdout"},
      {"generate", "--partitioner", "sha1"},
      {"generate", "--days", "3", "--stdout"},
      {"generate", "--shift-to-now"},
      {"generate", "--until", "yesterday", "--events", "1", "--stdout"},
      {"replay"},
      {"replay", "file", "--from-topic", "x"},
      {"replay", "file", "--from-offsets", "0:1"},
      {"replay", "file", "--rejects-max", "1"},
      {"replay", "--status"},
      {"replay", "file", "--client", "sasl.password=x"},
      {"replay", "--from-topic", "exposures"},
      {"unseen", "u"},
      {"unseen", "u", "n", "--http", "ftp://x"},
      {"snapshot"},
      {"snapshot", "file", "--user", "u"},
      {"verify", "--connections", "0"},
      {"generate", "--key", "item_id", "--stdout"},
      {"generate", "--from", "file", "--key", "item_id", "--shift-to-now", "--stdout"},
      {"similar"},
      {"similar", "a", "--title", "x"},
      {"similar", "a", "b", "c"},
      {"similar", "a", "b", "--text", "x"},
      {"similar", "--text", "x", "--file", "y"},
      {"similar", "--text", "x", "--limit", "101"},
      {"similar", "a", "b", "--config", folder_.Write("bad.json", R"({"items": {"method": "md5"}})")},
      {"config"},
      {"status", "--acknowledge"},
  };
  for (const auto& arguments : cases) {
    std::string shown;
    for (const std::string& argument : arguments) shown += " " + argument;
    EXPECT_EQ(Run(arguments, false), kExitUsage) << "seenctl" << shown;
  }
}

}  // namespace
}  // namespace seen

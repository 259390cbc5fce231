#include "config/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "config/config_keys.h"
#include "config/config_text.h"
#include "unit/config/config_errors.h"

namespace seen {
namespace {

TEST(Config, InputThatIsNotKeyedByUserGoesThroughATopicThatIs) {
  const auto keyed = LoadWith({"input.partitioner=crc32"});
  ASSERT_TRUE(keyed);
  EXPECT_EQ(keyed->input.source_topic, std::nullopt);
  EXPECT_EQ(keyed->input.partitioner, Partitioner::kCrc32);

  const auto other = LoadWith({"input.keyed_by_user=false", "input.topic=raw", "input.partitioner=crc32"});
  ASSERT_TRUE(other) << Lines(other.error());
  EXPECT_EQ(other->input.source_topic, "raw");
  EXPECT_EQ(other->input.topic, "raw-by-user");
  EXPECT_EQ(other->input.partitioner, Partitioner::kMurmur2);
  EXPECT_EQ(RekeyingGroup(*other), "seend-rekey");
  const auto named = LoadWith({"input.keyed_by_user=false", "input.keyed_topic=mine"});
  ASSERT_TRUE(named) << Lines(named.error());
  EXPECT_EQ(named->input.topic, "mine");
  EXPECT_EQ(named->input.source_topic, "exposures");

  EXPECT_EQ(ErrorsOf(kMinimal, {"input.keyed_by_user=\"no\""}),
            "input.keyed_by_user: \"no\": must be true or false (given with --set)\n");
  EXPECT_EQ(ErrorsOf(kMinimal, {"input.keyed_by_user=false", "input.keyed_topic=seen-filters"}),
            "filters[0].snapshot.topic: \"seen-filters\": is also the topic of input.keyed_topic; give each "
            "filter its own, or \"snapshot\": null to publish nothing\n");
  EXPECT_EQ(ErrorsOf(kMinimal, {"input.keyed_topic=seen-filters"}), "") << "of no effect";
  EXPECT_NE(ErrorsOf(kMinimal, {"input.keyed_by_user=false", "input.topic=" + std::string(245, 'x')}), "");
}

TEST(Config, NeedsNothingButTheBrokers) {
  const auto config = LoadConfig(kMinimal);
  ASSERT_TRUE(config) << Lines(config.error());
  EXPECT_EQ(config->kafka.brokers, "127.0.0.1:9092");
  EXPECT_EQ(config->kafka.group_id, "seend");
  EXPECT_EQ(config->kafka.instance_id, std::nullopt);
  EXPECT_TRUE(config->kafka.client.empty());
  EXPECT_EQ(config->input.topic, "exposures");
  EXPECT_EQ(config->input.partitioner, Partitioner::kMurmur2);
  EXPECT_EQ(config->input.dead_letter_topic, "exposures-dead-letters");
  EXPECT_EQ(config->input.event_bytes_max, 1'048'576u);
  EXPECT_EQ(config->input.future_skew_max, std::chrono::seconds(300));
  ASSERT_EQ(config->filters.size(), 1u);
  EXPECT_EQ(config->filters[0].name, "default");
  EXPECT_EQ(config->filters[0].window_days, 30);
  EXPECT_EQ(config->filters[0].items_max, 10'000u);
  EXPECT_EQ(config->filters[0].items_per_day_max, 50'000u);
  ASSERT_TRUE(config->filters[0].snapshot);
  EXPECT_EQ(config->filters[0].snapshot->topic, "seen-filters");
  EXPECT_EQ(config->filters[0].snapshot->policy.shape(),
            (SnapshotShape{SnapshotFormat::kSplitBlockBloom, 0.01, /*power_of_two=*/false}));
  ASSERT_TRUE(config->watermarks);
  EXPECT_EQ(config->watermarks->topic, "seen-watermarks");
  EXPECT_EQ(config->filters[0].snapshot->policy.debounce(), std::chrono::milliseconds(1000));
  EXPECT_EQ(config->store.directory, "/var/lib/seend");
  EXPECT_EQ(config->store.memory_bytes, uint64_t{1} << 30);
  EXPECT_EQ(config->store.checkpoint_interval, std::chrono::seconds(10));
  EXPECT_EQ(config->http.listen, "127.0.0.1:8080");
  EXPECT_EQ(config->http.threads, 2u);
  EXPECT_EQ(config->http.ready_lag_messages, 10'000u);
  EXPECT_EQ(config->log.level, log::Level::kInfo);
  EXPECT_EQ(config->log.format, log::Format::kText);
}

TEST(Config, NamesItsOwnTopicsByAPrefixUnlessTheyHaveNames) {
  const auto config = LoadConfig(R"({"kafka": {"brokers": "b:1"}, "topic_prefix": "mine",
                                     "input": {"keyed_by_user": false},
                                     "filters": [{"name": "a"}, {"name": "b", "snapshot": null},
                                                 {"name": "c", "snapshot": {"topic": "named"}}],
                                     "items": {}})");
  ASSERT_TRUE(config) << Lines(config.error());
  EXPECT_EQ(config->input.source_topic, "exposures") << "not the daemon's own";
  EXPECT_EQ(config->input.topic, "mine-by-user");
  EXPECT_EQ(config->input.dead_letter_topic, "mine-dead-letters");
  EXPECT_EQ(config->filters[0].snapshot->topic, "mine-filters");
  EXPECT_FALSE(config->filters[1].snapshot);
  EXPECT_EQ(config->filters[2].snapshot->topic, "named");
  EXPECT_EQ(config->watermarks->topic, "mine-watermarks");
  EXPECT_EQ(config->cluster.topic, "mine-watermarks-cluster");
  EXPECT_EQ(config->state->topic, "mine-state");
  EXPECT_EQ(config->items->groups_topic, "mine-item-groups");
  EXPECT_EQ(config->items->ordered_topic, "mine-items-in-order");
  EXPECT_NE(config->effective_json.find("\"mine-state\""), std::string::npos);
  const auto off = LoadConfig(R"({"kafka": {"brokers": "b:1"}, "topic_prefix": "mine",
                                  "state": {"topic": null}, "watermarks": {"topic": null}})");
  ASSERT_TRUE(off) << Lines(off.error());
  EXPECT_FALSE(off->state || off->watermarks);
}

TEST(Config, TakesEveryKeyIntoItsField) {
  const auto config = LoadConfig(R"({
    "kafka": {"brokers": "a:1,b:2", "group_id": "g", "instance_id": "i-1", "embedded_partitions": 7,
              "client": {"client.id": "x", "socket.timeout.ms": 1234, "socket.keepalive.enable": true}},
    "input": {"topic": "t", "partitioner": "crc32", "dead_letter_topic": "d", "event_bytes_max": 999,
              "future_skew_s_max": 11},
    "filters": [{"name": "home", "window_days": 7, "items_max": 8, "items_per_day_max": 9,
                 "snapshot": {"topic": "s", "false_positive_rate": 0.25, "debounce_ms": 12}},
                {"name": "video", "snapshot": null}],
    "store": {"directory": "state", "memory_mib": 64, "checkpoint_interval_s": 13},
    "http": {"listen": "[::1]:0", "threads": 14, "ready_lag_messages": 15},
    "log": {"level": "warning", "format": "json"}})");
  ASSERT_TRUE(config) << Lines(config.error());
  EXPECT_EQ(config->kafka.brokers, "a:1,b:2");
  EXPECT_EQ(config->kafka.group_id, "g");
  EXPECT_EQ(config->kafka.instance_id, "i-1");
  EXPECT_EQ(config->kafka.embedded_partitions, 7);
  EXPECT_EQ(config->kafka.client,
            (std::map<std::string, std::string>{
                {"client.id", "x"}, {"socket.timeout.ms", "1234"}, {"socket.keepalive.enable", "true"}}));
  EXPECT_EQ(config->input.topic, "t");
  EXPECT_EQ(config->input.partitioner, Partitioner::kCrc32);
  EXPECT_EQ(config->input.dead_letter_topic, "d");
  EXPECT_EQ(config->input.event_bytes_max, 999u);
  EXPECT_EQ(config->input.future_skew_max, std::chrono::seconds(11));
  ASSERT_EQ(config->filters.size(), 2u);
  EXPECT_EQ(config->filters[0].name, "home");
  EXPECT_EQ(config->filters[0].window_days, 7);
  EXPECT_EQ(config->filters[0].items_max, 8u);
  EXPECT_EQ(config->filters[0].items_per_day_max, 9u);
  ASSERT_TRUE(config->filters[0].snapshot);
  EXPECT_EQ(config->filters[0].snapshot->topic, "s");
  EXPECT_EQ(config->filters[0].snapshot->policy.shape().false_positive_rate, 0.25);
  EXPECT_EQ(config->filters[0].snapshot->policy.debounce(), std::chrono::milliseconds(12));
  EXPECT_EQ(config->filters[1].name, "video");
  EXPECT_FALSE(config->filters[1].snapshot);
  EXPECT_EQ(config->store.directory, "state");
  EXPECT_EQ(config->store.memory_bytes, uint64_t{64} << 20);
  EXPECT_EQ(config->store.checkpoint_interval, std::chrono::seconds(13));
  EXPECT_EQ(config->http.listen, "[::1]:0");
  EXPECT_EQ(config->http.threads, 14u);
  EXPECT_EQ(config->http.ready_lag_messages, 15u);
  EXPECT_EQ(config->log.level, log::Level::kWarning);
  EXPECT_EQ(config->log.format, log::Format::kJson);
}

TEST(Config, PrintsWhatCanBeFedBackAndPrintsTheSame) {
  for (const char* const text : {kMinimal, R"({"kafka": {"brokers": "b:1", "instance_id": "me", "client":
           {"client.id": "x", "socket.timeout.ms": 1234}},
           "filters": [{"snapshot": null}, {"name": "b", "window_days": 3}]})"}) {
    const auto first = LoadConfig(text);
    ASSERT_TRUE(first) << Lines(first.error());
    const auto second = LoadConfig(first->effective_json);
    ASSERT_TRUE(second) << Lines(second.error());
    EXPECT_EQ(second->effective_json, first->effective_json);
    const auto printed = ConfigJson::parse(first->effective_json);
    EXPECT_EQ(printed["store"]["memory_mib"], 1024) << "defaults are filled in";
  }
}

TEST(Config, HasARangeForEveryNumberAndHoldsBothSidesOfIt) {
  int checked = 0;
  for (const ConfigKey& key : ConfigKeys()) {
    if (key.type != ConfigType::kInteger && key.type != ConfigType::kNumber) continue;
    std::string path(key.path);
    if (const size_t list = path.find("[]"); list != std::string::npos) path.insert(list + 1, "0");
    const bool whole = key.type == ConfigType::kInteger;
    const double step = whole ? 1 : 1e-9;
    const auto set = [&](double value) {
      const std::string text = fmt::format("{}={}", path, ConfigJson(value).dump());
      return LoadWith({text}).has_value();
    };
    EXPECT_TRUE(set(key.minimum)) << path;
    EXPECT_TRUE(set(key.minimum + step)) << path;
    EXPECT_FALSE(set(key.minimum - step)) << path;
    EXPECT_TRUE(set(key.maximum)) << path;
    EXPECT_FALSE(set(key.maximum + step)) << path;
    EXPECT_EQ(set(key.maximum - 0.25), !whole) << path;
    const std::string said = ErrorsOf(kMinimal, {fmt::format("{}={}", path, -1)});
    EXPECT_NE(said.find(path + ": -1: must be " + DescribeRange(key)), std::string::npos) << said;
    EXPECT_EQ(set(std::nan("")), key.nullable) << path;  // written as null
    for (const char* const wrong : {"\"7\"", "true", "[]", "{}", "many", "1e400"}) {
      EXPECT_FALSE(LoadWith({path + "=" + wrong})) << path << wrong;
    }
    ++checked;
  }
  EXPECT_GE(checked, 12);
}

struct ValueCase {
  const char* path;
  std::vector<std::string> good;
  std::vector<std::string> bad;
};

TEST(Config, TakesTextsOfTheirShapeOnly) {
  const std::string long_topic(249, 't');
  const std::vector<std::string> topics_good = {"a", "A.b_c-9", long_topic, "...", "7"};
  const std::vector<std::string> topics_bad = {"", ".", "..", "a b", "曝光", "a/b", long_topic + "t", "a\n"};
  const ValueCase cases[] = {
      {"kafka.brokers",
       {"a:1", "a:1,b:2", "[::1]:9092", "a:65535"},
       {"", "a", "a:1,b", "a:1, b:2", ",", "a:1,", " a:1", std::string(1024, 'a') + ":1", "a:65536",
        "a:99999", "SSL://a:1", "SASL_SSL://h:9092", "PLAINTEXT://h:1"}},
      {"topic_prefix", {"p", "a.b_c-D", std::string(200, 'p')}, {"", "a b", std::string(201, 'p')}},
      {"kafka.group_id", {"g", "a.b_c-D", std::string(249, 'g')}, {"", "a b", std::string(250, 'g')}},
      {"kafka.instance_id", {"i"}, {"", "a b", "é"}},
      {"input.topic", topics_good, topics_bad},
      {"input.dead_letter_topic", topics_good, topics_bad},
      {"input.keyed_topic", topics_good, topics_bad},
      {"filters[0].snapshot.topic", topics_good, topics_bad},
      {"filters[0].window_by", {"exposed_at", "item_created_at"}, {"", "created_at"}},
      {"unexposed.topic", topics_good, topics_bad},
      {"input.format", {"json"}, {"", "Avro", "thrift"}},
      {"input.framing", {"none", "confluent"}, {"", "registry"}},
      {"input.schema_file", {}, {"", "a"}},  // needs a format that isn't JSON
      {"input.protobuf_message", {}, {"", "a b", ".a", "a..b", "1"}},
      {"input.schema_registry.url", {}, {"", "registry:8081", "ftp://a", "http://u:p@a", "http://a?b"}},
      {"input.schema_registry.user", {}, {"", "a\nb", "key"}},  // needs a url, as the next ones
      {"input.schema_registry.password", {}, {""}},             // a secret: in the file only
      {"input.schema_registry.ca", {}, {"", "a"}},
      {"input.schema_registry.certificate", {}, {"", "a"}},
      {"input.schema_registry.key", {}, {"", "a"}},
      {"input.partitioner", {"murmur2", "crc32", "fnv1a"}, {"", "MURMUR2", "consistent", "murmur2 "}},
      {"filters[0].name",
       {"a", "home_feed-2", std::string(64, 'n')},
       {"", "Home", "a.b", std::string(65, 'n'), "a b"}},
      {"filters[0].snapshot.format",
       {"auto", "split_block_bloom", "bloom", "day_chain", "fingerprints"},
       {"", "Bloom", "split-block-bloom", "1"}},
      {"filters[0].snapshot.size", {"fewest", "power_of_two"}, {"", "exact"}},
      {"watermarks.topic", topics_good, topics_bad},
      {"state.topic", topics_good, topics_bad},
      {"filters[0].similar", {"off"}, {"", "on", "Drop"}},
      {"items.topic", {"a", "A.b_c-9", "7", std::string(240, 't')}, topics_bad},
      {"items.groups_topic", topics_good, topics_bad},
      {"items.ordered_topic", topics_good, topics_bad},
      {"items.method", {"simhash", "minhash", "both"}, {"", "SimHash"}},
      {"items.verify", {"off", "sketch"}, {"", "on"}},
      {"items.segmentation",
       {"trigrams", "bigrams_trigrams", "dictionary", "dictionary_trigrams"},
       {"", "words", "Trigrams"}},
      {"items.numbers", {"distinct", "ignored"}, {"", "Distinct"}},
      {"items.idf_file", {"a", "/idf.tsv"}, {""}},
      {"store.directory",
       {"/", ".", "state dir", "/数据", std::string(1024, 'd')},
       {"", std::string(1025, 'd')}},
      {"http.listen",
       {"127.0.0.1:8080", "127.1.2.3:65535", "[::1]:1"},
       {"", "0.0.0.0:0", "[::]:65535", "8080", ":8080", "localhost:8080", "127.0.0.1", "127.0.0.1:65536",
        "127.0.0.1:-1", "::1:80", "[::1]", "127.0.0.1:80 "}},
      {"admin.listen",
       {"127.0.0.1:8081", "[::1]:1"},
       {"", "8081", "0.0.0.0:0", "127.0.0.1:8080", "127.0.0.1:65536", "127.0.0.256:1"}},
      {"access.certificate", {}, {""}},
      {"access.key", {}, {""}},
      {"access.ca", {}, {"", "a"}},
      {"access.tokens", {"tokens", "/etc/seend/tokens"}, {"", std::string(1025, 't')}},
      {"access.audit_users", {"hashed", "plain"}, {"", "Hashed"}},
      {"cluster.address", {"seend-1:8080", "10.0.0.1:1", "[::1]:80"}, {"", "seend-1", "a b:1", "http://a:1"}},
      {"cluster.peers", {""}, {"a b", ",", "a,"}},
      {"http.hosts", {"", "a", "seend.example.com,b"}, {"a b", ",", "a,", "a:80", "https://a"}},
      {"cluster.token", {}, {""}},  // a secret: in the file only
      {"cluster.topic", topics_good, topics_bad},
      {"updates.topic", topics_good, topics_bad},
      {"role", {"owner"}, {"", "primary", "Replica"}},
      {"replica_of", {}, {"", "a b", std::string(250, 'g')}},
      {"log.level", {"debug", "info", "warning", "error"}, {"", "warn", "Info"}},
      {"log.format", {"text", "json"}, {"", "JSON"}},
  };
  std::set<std::string> covered;
  for (const ValueCase& c : cases) {
    covered.insert(c.path);
    for (const std::string& value : c.good) {
      const std::string set = fmt::format("{}={}", c.path, ConfigJson(value).dump());
      EXPECT_EQ(ErrorsOf(kMinimal, {set}), "") << set;
    }
    for (const std::string& value : c.bad) {
      const std::string set = fmt::format("{}={}", c.path, ConfigJson(value).dump());
      EXPECT_NE(ErrorsOf(kMinimal, {set}).find(c.path), std::string::npos) << set;
    }
    for (const char* const wrong : {"7", "true", "[]", "{}"}) {
      EXPECT_FALSE(LoadWith({fmt::format("{}={}", c.path, wrong)})) << c.path << wrong;
    }
  }
  for (const ConfigKey& key : ConfigKeys()) {
    if (key.type != ConfigType::kText && key.type != ConfigType::kChoice) continue;
    std::string path(key.path);
    if (const size_t list = path.find("[]"); list != std::string::npos) path.insert(list + 1, "0");
    EXPECT_TRUE(covered.contains(path)) << path << " has no case here";
  }
}

TEST(Config, TakesATokenOfItsLengthFromTheFile) {
  const auto errors = [](const std::string& token) {
    ConfigJson document = ConfigJson::parse(kMinimal);
    document["cluster"]["token"] = token;
    return ErrorsOf(document.dump());
  };
  for (const std::string& good : {std::string("12345678"), std::string(256, 't')}) {
    EXPECT_EQ(errors(good), "");
  }
  for (const std::string bad : {"", "1234567", "12345678\n"}) {
    EXPECT_NE(errors(bad).find("cluster.token"), std::string::npos);
  }
}

TEST(Config, HasDefaultsThatItTakesItself) {
  for (const ConfigKey& key : ConfigKeys()) {
    if (key.default_json.empty()) continue;
    std::string path(key.path);
    if (const size_t list = path.find("[]"); list != std::string::npos) path.insert(list + 1, "0");
    if (key.type == ConfigType::kSection && path == "kafka") continue;
    EXPECT_EQ(ErrorsOf(kMinimal, {fmt::format("{}={}", path, key.default_json)}), "") << path;
  }
}

struct UnknownCase {
  const char* text;
  const char* path;
  const char* nearest;
};

TEST(Config, NamesTheNearestKeyForOneItDoesNotKnow) {
  const UnknownCase cases[] = {
      {R"({"kafka":{"brokers":"a:1"},"stor":{}})", "stor", "store"},
      {R"({"kafka":{"brokers":"a:1"},"Kafka":{}})", "Kafka", "kafka"},
      {R"({"kafka":{"brokers":"a:1"},"store":{"memory_mb":9}})", "store.memory_mb", "memory_mib"},
      {R"({"kafka":{"brokers":"a:1"},"filters":[{"window_dys":9}]})", "filters[0].window_dys", "window_days"},
      {R"({"kafka":{"brokers":"a:1"},"filters":[{"snapshot":{"false_positiv_rate":9}}]})",
       "filters[0].snapshot.false_positiv_rate", "false_positive_rate"},
      {R"({"kafka":{"brokers":"a:1"},"http":{"memory_mib":9}})", "http.memory_mib", "store.memory_mib"},
      {R"({"kafka":{"brokers":"a:1"},"":1})", R"([""])", nullptr},
      {R"({"kafka":{"brokers":"a:1"},"a\nb":1})", R"(["a\nb"])", nullptr},
  };
  for (const UnknownCase& c : cases) {
    const auto config = LoadConfig(c.text);
    ASSERT_FALSE(config) << c.text;
    ASSERT_EQ(config.error().size(), 1u) << Lines(config.error());
    EXPECT_EQ(config.error()[0].path, c.path);
    if (c.nearest == nullptr) {
      EXPECT_EQ(config.error()[0].message.find("unknown key; the keys are \"role\", \""), 0u);
    } else {
      EXPECT_EQ(config.error()[0].message, fmt::format("unknown key; did you mean \"{}\"?", c.nearest));
    }
  }
}

TEST(Config, ReportsAllMistakesAtOnce) {
  const std::string said = ErrorsOf(R"({
    "kafka": {"grup_id": "g", "group_id": 7},
    "input": {"topic": "a b", "event_bytes_max": 1},
    "filters": [{"name": "x", "snapshot": {"topic": "t"}}, {"name": "x", "snapshot": {"topic": "t", "debounce_ms": -1}}, 3],
    "store": {"memory_mib": 1},
    "extra": 1})");
  for (const char* const part :
       {"extra: unknown key", "kafka.grup_id: unknown key", "kafka.group_id: 7: must be",
        "input.topic: \"a b\": must be", "input.event_bytes_max: 1: must be",
        "filters[1].name: \"x\": is also the name of filters[0]",
        "filters[1].snapshot.topic: \"t\": is also the topic of filters[0].snapshot.topic",
        "filters[1].snapshot.debounce_ms: -1: must be", "filters[2]: 3: must be an object",
        "store.memory_mib: 1: must be a whole number from 64 to 1048576 (MiB)", "kafka.brokers: missing"}) {
    EXPECT_NE(said.find(part), std::string::npos) << part << "\nis missing in\n" << said;
  }
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 11) << said;
}

struct TogetherCase {
  const char* text;
  const char* error;  // "" if there is none
};

TEST(Config, HoldsTheRulesBetweenKeys) {
  const TogetherCase cases[] = {
      {R"({"kafka":{"brokers":"a:1"},"filters":[{"snapshot":{"format":"binary_fuse_8","false_positive_rate":0.001}}]})",
       "filters[0].snapshot.false_positive_rate: 0.001 is below 0.00390625, the least rate of "
       "\"binary_fuse_8\"; ask for at least that, or for another format"},
      {R"({"kafka":{"brokers":"a:1"},"filters":[{"snapshot":{"format":"cuckoo","size":"power_of_two"}}]})",
       "filters[0].snapshot.size: \"power_of_two\": is for \"split_block_bloom\", not for \"cuckoo\"; leave "
       "it out"},
      {R"({"kafka":{"brokers":"a:1"},"watermarks":{"topic":"seen-filters"}})",
       "filters[0].snapshot.topic: \"seen-filters\": is also the topic of watermarks.topic"},
      {R"({"kafka":{"brokers":"a:1"},"filters":[{"window_by":"item_created_at","exposures_min":2}]})",
       "filters[0].exposures_min: 2: must be 1 if window_by is"},
      {R"({"kafka":{"brokers":"a:1"},"items":{},"filters":[{"similar":"drop","exposures_min":2}]})",
       "filters[0].exposures_min: 2: must be 1 if similar is \"drop\""},
      {R"({"kafka":{"brokers":"a:1"},"filters":[{"kinds":{"served":{"window_days":1}}}]})",
       "filters[0].kinds.served: is built in"},
      {R"({"kafka":{"brokers":"a:1"},"filters":[{"kinds":{"Bought":{"window_days":1}}}]})",
       "filters[0].kinds.Bought: a kind's name has"},
      {R"({"kafka":{"brokers":"a:1"},"filters":[{"kinds":{"bought":{"window_days":0}}}]})",
       "filters[0].kinds.bought: {\"window_days\":0}: must be {\"window_days\": N} with N from 1 to 3650"},
      {R"({"kafka":{"brokers":"a:1"},"unexposed":{"topic":"exposures"}})",
       "unexposed.topic: \"exposures\": is also the topic of input.topic"},
      {R"({"kafka":{"brokers":"a:1"},"filters":[]})", "filters: []: must be a list of 1 to 16 objects"},
      {R"({"kafka":{"brokers":"a:1"},"filters":[{},{}]})", "filters[1].name: \"default\": is also the name"},
      {R"({"kafka":{"brokers":"a:1"},"filters":[{},{"name":"b"}]})",
       "filters[1].snapshot.topic: \"seen-filters\": is also the topic of filters[0].snapshot.topic"},
      {R"({"kafka":{"brokers":"a:1"},"filters":[{},{"name":"b","snapshot":null}]})", ""},
      {R"({"kafka":{"brokers":"a:1"},"filters":[{"snapshot":null},{"name":"b","snapshot":null}]})", ""},
      {R"({"kafka":{"brokers":"a:1"},"filters":[{},{"name":"b","snapshot":{"topic":"c"}}]})", ""},
      {R"({"kafka":{"brokers":"a:1"},"updates":{"topic":"t"},"filters":[{"snapshot":{"topic":"t","updates":true}}]})",
       "updates.topic: \"t\": is also the topic of filters[0].snapshot.topic; updates need a topic of their "
       "own"},
      {R"({"kafka":{"brokers":"a:1"},"updates":{"topic":"t"},"filters":[{"snapshot":{"topic":"t"}}]})", ""},
      {R"({"kafka":{"brokers":"a:1"},"filters":[{"snapshot":{"topic":"exposures"}}]})",
       "filters[0].snapshot.topic: \"exposures\": is also the topic of input.topic"},
      {R"({"kafka":{"brokers":"a:1"},"filters":[{"snapshot":{"topic":"exposures-dead-letters"}}]})",
       "filters[0].snapshot.topic: \"exposures-dead-letters\": is also the topic of input.dead_letter_topic"},
      {R"({"kafka":{"brokers":"a:1"},"input":{"topic":"t","dead_letter_topic":"t"}})",
       "input.dead_letter_topic: \"t\": is also the topic of input.topic"},
      {R"({})", "kafka.brokers: missing"},
      {"", "kafka.brokers: missing"},
      {R"({"$schema":"../schemas/config.schema.json","kafka":{"brokers":"a:1"}})", ""},
      {R"({"$schema":1,"kafka":{"brokers":"a:1"}})", "$schema: unknown key"},
  };
  for (const TogetherCase& c : cases) {
    const std::string said = ErrorsOf(c.text);
    if (*c.error == '\0') {
      EXPECT_EQ(said, "") << c.text;
    } else {
      EXPECT_EQ(said.find(c.error), 0u) << c.text << "\n" << said;
    }
  }
}

TEST(Config, NeedsNoBrokersWhereTheBrokerIsEmbedded) {
  const auto config = LoadConfig("{}", {}, {.embedded_kafka = true});
  ASSERT_TRUE(config) << Lines(config.error());
  EXPECT_EQ(config->kafka.brokers, "");
  EXPECT_TRUE(LoadConfig(config->effective_json, {}, {.embedded_kafka = true}));
}

TEST(Config, LetsLibrdkafkaCheckItsProperties) {
  EXPECT_EQ(ErrorsOf(kMinimal, {"kafka.client.socket.timeout.ms=1000"}), "");
  EXPECT_NE(
      ErrorsOf(kMinimal, {"kafka.client.sockt.timeout.ms=1000"}).find("kafka.client.sockt.timeout.ms: "),
      std::string::npos);
  EXPECT_NE(
      ErrorsOf(kMinimal, {"kafka.client.enable.auto.commit=true"}).find("kafka.client.enable.auto.commit: "),
      std::string::npos);
  EXPECT_NE(ErrorsOf(kMinimal, {"kafka.client.socket.timeout.ms=[1]"})
                .find("must be a string, a number, a boolean"),
            std::string::npos);
}

TEST(DefaultInstanceId, IsTheSameForOneDirectoryAndAnotherForAnother) {
  const std::string id = DefaultInstanceId("/var/lib/seend");
  EXPECT_TRUE(id.starts_with("seend-")) << id;
  EXPECT_EQ(DefaultInstanceId("/var/lib/seend/"), id);
  EXPECT_EQ(DefaultInstanceId("/var/lib/../lib/./seend"), id);
  EXPECT_NE(DefaultInstanceId("/var/lib/seend2"), id);
  EXPECT_EQ(DefaultInstanceId("state"),
            DefaultInstanceId((std::filesystem::current_path() / "state").string()));
  EXPECT_EQ(ErrorsOf(kMinimal, {"kafka.instance_id=" + id}), "");
}

}  // namespace
}  // namespace seen

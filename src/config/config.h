#pragma once
// The daemon's configuration: one JSON file, some overrides, plain structs. Every key with its unit, range,
// default and meaning: docs/CONFIGURATION.md, generated from the table in config_keys.cc.

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "base/log.h"
#include "decode/event_format.h"
#include "decode/item_format.h"
#include "filter/snapshot_format.h"
#include "flow/filter_policy.h"
#include "items/group_options.h"
#include "model/partitioner.h"

namespace seen {

struct KafkaConfig {
  std::string brokers;  // "host:port,host:port"; empty only with the embedded broker
  std::string group_id;
  std::optional<std::string> instance_id;     // nullopt: DefaultInstanceId(store.directory)
  int32_t embedded_partitions = 0;            // of the input topic on the embedded broker
  std::map<std::string, std::string> client;  // librdkafka properties, secrets filled in
};

struct InputConfig {
  std::string topic;                        // keyed by user: what partitions, state and look-ups are of
  std::optional<std::string> source_topic;  // what is re-keyed into `topic`; nullopt: nothing is
  Partitioner partitioner = Partitioner::kMurmur2;  // of `topic`
  std::string dead_letter_topic;
  uint64_t event_bytes_max = 0;
  std::chrono::seconds future_skew_max{0};
  std::chrono::seconds replay_idle{0};
  std::optional<int32_t> workers;  // nullopt: one a processor
  EventFormat format;              // EventPlan::Make takes it; `filters` in the order of Config::filters
};

struct SnapshotConfig {
  std::string topic;
  SnapshotPolicy policy;  // a reload may change it
};

/// A kind of events beyond the built-in ones, as one filter remembers it.
struct KindConfig {
  std::string name;
  int32_t window_days = 0;
};

struct FilterConfig {
  std::string name;  // unique
  int32_t window_days = 0;
  WindowBy window_by = WindowBy::kExposedAt;
  uint32_t items_max = 0;
  uint32_t exposures_min = 1;
  std::optional<int32_t> cooldown_days;
  uint32_t served_ttl_s = 0;  // a multiple of 6
  std::vector<KindConfig> kinds;
  Similar similar = Similar::kOff;  // anything else: Config::items has a value
  uint32_t items_per_day_max = 0;
  std::optional<SnapshotConfig> snapshot;  // nullopt: nothing is published
};

/// Items by their text, and which are like which.
struct ItemsConfig {
  std::string topic;          // as producers write it, any number of partitions
  std::string groups_topic;   // compacted, key = item id
  std::string ordered_topic;  // where a topic of several partitions is put in order: keyed by language
  int32_t window_days = 0;
  std::optional<SimilarMethod> method;  // nullopt: an index's own, kDefaultMethod for a new one
  int distance_max = 0;                 // 0 to 3
  bool verify = true;                   // on the sketch; false: none is kept
  double similarity_min = 0;
  uint64_t text_bytes_max = 0;
  std::optional<std::string> idf_file;  // nullopt: the bundled table
  ItemFormat format;                    // ItemDecoder takes it
};

struct UnexposedConfig {
  std::string topic;
  std::chrono::seconds grace{0};
};

struct WatermarksConfig {
  std::string topic;
};

struct StateConfig {
  std::string topic;
  std::chrono::milliseconds run_every{60'000};
  std::chrono::milliseconds trim_after{3'600'000};
  uint64_t keep_bytes = uint64_t{32} << 30;
};

struct StoreConfig {
  std::string directory;  // as given; may be relative
  uint64_t memory_bytes = 0;
  std::chrono::seconds checkpoint_interval{0};
  int32_t explain_days = 0;  // 0: no journal
  uint64_t explain_bytes = 0;
};

struct HttpConfig {
  std::string listen;  // ADDRESS:PORT or [ADDRESS]:PORT; port 0: any free one
  unsigned threads = 0;
  uint64_t ready_lag_messages = 0;
  bool insecure = false;
  size_t connections_max = 0;
  size_t client_connections_max = 0;
  uint32_t client_requests_per_s_max = 0;
};

struct AdminConfig {
  std::optional<std::string> listen;  // nullopt: http.listen serves all pages
  bool insecure = false;
};

struct AccessConfig {
  std::string certificate;  // paths; empty: none
  std::string key;
  std::string ca;
  std::string tokens;
  bool audit_hashes_users = true;
};

struct ClusterConfig {
  std::optional<std::string> address;  // HOST:PORT; nullopt: from http.listen
  std::string peers;                   // as PeerRules has it
  std::string token;
  std::string topic;  // who owns, and replicas' beats; empty: there are no watermarks
};

struct LogConfig {
  log::Level level = log::Level::kInfo;
  log::Format format = log::Format::kText;
};

/// Only LoadConfig makes one: the members above have no defaults of their own, the table has them.
struct Config {
  std::optional<std::string> replica_of;  // a consumer group; nullopt: this one owns the outputs
  KafkaConfig kafka;
  InputConfig input;
  std::vector<FilterConfig> filters;           // at least one
  std::optional<ItemsConfig> items;            // nullopt: nothing is grouped
  std::optional<UnexposedConfig> unexposed;    // nullopt: nothing is published
  std::optional<WatermarksConfig> watermarks;  // nullopt: none are written
  std::optional<StateConfig> state;            // nullopt: state is on this machine alone
  StoreConfig store;
  HttpConfig http;
  AdminConfig admin;
  AccessConfig access;
  ClusterConfig cluster;
  LogConfig log;
  std::string effective_json;  // what --print-config shows: defaults filled in, secrets by reference only
};

/// One mistake. `path` as in "filters[0].window_days"; empty where the whole text is meant (JSON syntax).
struct ConfigError {
  std::string path;
  std::string message;
  friend bool operator==(const ConfigError&, const ConfigError&) = default;
};

struct ConfigOptions {
  bool embedded_kafka = false;  // kafka.brokers need not be given
};

/// `text`: JSON, comments allowed. `overrides`: "store.memory_mib=256", "filters[0].window_days=7",
/// "filters.default.snapshot=null"; the value is JSON, or else a string; applied in order. Reads the
/// environment and the files that secrets name. All errors at once.
tl::expected<Config, std::vector<ConfigError>> LoadConfig(std::string_view text,
                                                          std::span<const std::string> overrides = {},
                                                          const ConfigOptions& options = {});

/// Whether watermarks are written: there are snapshots that readers follow, and a topic for watermarks.
bool WritesWatermarks(const Config& config);

/// The consumer group over input.source_topic.
std::string RekeyingGroup(const Config& config);
/// The consumer group that shares out the ordered items: one owner an index.
std::string ItemsGroup(const Config& config);
/// The consumer group over an items.topic of several partitions.
std::string ItemsRekeyingGroup(const Config& config);

/// HOST:PORT where others reach this daemon's HTTP. `port`: that it listens on.
std::string ReachedAt(const Config& config, uint16_t port);
/// "seend-<host>-<hash of the absolute directory>": the same after a restart, another for another state.
std::string DefaultInstanceId(std::string_view store_directory);

}  // namespace seen

#pragma once
// The daemon's configuration: one JSON file and some overrides, as plain structs. docs/CONFIGURATION.md has
// every key with unit, range, default and meaning. That page is generated from the table in config_keys.cc.

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "base/log.h"
#include "decode/event_format.h"
#include "filter/snapshot_format.h"
#include "flow/filter_policy.h"
#include "flow/loss_watch.h"
#include "model/partitioner.h"
#include "similar/port/item_decoder.h"
#include "similar/port/options.h"

namespace seen {

struct KafkaConfig {
  std::string brokers;  // "host:port,host:port"; empty only with the embedded broker
  std::string group_id;
  std::optional<std::string> instance_id;     // nullopt: DefaultInstanceId(store.directory)
  int32_t embedded_partitions = 0;            // of the input topic on the embedded broker
  std::map<std::string, std::string> client;  // librdkafka properties, secrets filled in
};

struct InputConfig {
  std::string topic;                        // keyed by user; the topic of partitions, state and look-ups
  std::optional<std::string> source_topic;  // re-keyed into `topic`; nullopt: no re-keying
  Partitioner partitioner = Partitioner::kMurmur2;  // of `topic`
  std::string dead_letter_topic;
  uint64_t event_bytes_max = 0;
  std::chrono::seconds future_skew_max{0};
  std::chrono::seconds replay_idle{0};
  std::optional<int32_t> workers;  // nullopt: one per processor
  EventFormat format;              // for EventPlan::Make; `filters` in the order of Config::filters
};

struct SnapshotConfig {
  std::string topic;
  SnapshotPolicy policy;  // a reload may change it
  bool updates = false;   // what is new is published, too; Config::updates then has a value
};

/// A kind of events beyond the built-in ones, and how long one filter remembers it.
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
  Similar similar = Similar::kOff;  // if not kOff, Config::items has a value
  uint32_t items_per_day_max = 0;
  std::optional<SnapshotConfig> snapshot;  // nullopt: the filter publishes nothing
};

/// Items by their text, and how similar items are found.
struct ItemsConfig {
  std::string topic;          // as producers write it; any number of partitions
  std::string groups_topic;   // compacted, key = item id
  std::string ordered_topic;  // items keyed by language, if `topic` has several partitions
  int32_t window_days = 0;
  std::optional<SimilarMethod> method;  // nullopt: the index's own method; kDefaultMethod for a new index
  int distance_max = 0;                 // 0 to 3
  bool verify = true;                   // by the sketch; false: the index keeps no sketches
  double similarity_min = 0;
  uint64_t text_bytes_max = 0;
  std::optional<std::string> idf_file;       // nullopt: the bundled table
  std::optional<Segmentation> segmentation;  // nullopt: the index's own; kDefaultSegmentation for a new index
  std::optional<Numbers> numbers;            // nullopt: the index's own; kDefaultNumbers for a new one
  std::optional<uint32_t> tokens_min;        // nullopt: the index's own; kDefaultTokensMin for a new one
  std::optional<double> containment_min;     // nullopt: the index's own; kDefaultContainmentMin for a new one
  std::shared_ptr<const Boilerplate> boilerplate;  // nullptr: none
  ItemFormat format;                               // for ItemDecoder
};

struct UnexposedConfig {
  std::string topic;
  std::chrono::seconds grace{0};
};

struct WatermarksConfig {
  std::string topic;
};

struct UpdatesConfig {
  std::string topic;
  std::chrono::seconds refresh{0};
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
  std::string hosts;  // names with commas between; empty: none
  size_t connections_max = 0;
  size_t client_connections_max = 0;
  uint32_t client_requests_per_s_max = 0;
};

struct AdminConfig {
  std::optional<std::string> listen;  // nullopt: http.listen serves all pages
  bool insecure = false;
};

struct AccessConfig {
  std::string certificate;  // these four are paths; empty: none
  std::string key;
  std::string ca;
  std::string tokens;
  bool audit_hashes_users = true;
};

struct ClusterConfig {
  std::optional<std::string> address;  // HOST:PORT; nullopt: from http.listen
  std::string peers;                   // text for PeerRules
  std::string token;
  std::string topic;  // promotions and replicas' beats; empty: no cluster.topic, no watermarks.topic
};

struct LogConfig {
  log::Level level = log::Level::kInfo;
  log::Format format = log::Format::kText;
};

/// Only LoadConfig makes a Config. The table of keys has the defaults; those of the structs above don't
/// count.
struct Config {
  std::optional<std::string> replica_of;  // a consumer group; nullopt: this daemon's group owns the outputs
  KafkaConfig kafka;
  InputConfig input;
  LossLimits loss;                             // input.loss
  std::vector<FilterConfig> filters;           // at least one
  std::optional<ItemsConfig> items;            // nullopt: items aren't grouped
  std::optional<UnexposedConfig> unexposed;    // nullopt: unexposed items aren't published
  std::optional<WatermarksConfig> watermarks;  // nullopt: no watermarks are written
  std::optional<UpdatesConfig> updates;        // nullopt: no filter has snapshot.updates
  std::optional<StateConfig> state;            // nullopt: the state is on this machine alone
  StoreConfig store;
  HttpConfig http;
  AdminConfig admin;
  AccessConfig access;
  ClusterConfig cluster;
  LogConfig log;
  std::string effective_json;  // --print-config prints it: defaults filled in, secrets by reference only
};

/// One mistake. `path` as in "filters[0].window_days"; empty for the text as a whole (JSON syntax).
struct ConfigError {
  std::string path;
  std::string message;
  friend bool operator==(const ConfigError&, const ConfigError&) = default;
};

struct ConfigOptions {
  bool embedded_kafka = false;  // kafka.brokers may be missing
};

/// `text`: JSON, comments allowed. `overrides`, applied in order: "store.memory_mib=256",
/// "filters[0].window_days=7", "filters.default.snapshot=null". A value that isn't JSON is a string. Reads
/// the environment and the files that secrets name. The error lists all mistakes.
tl::expected<Config, std::vector<ConfigError>> LoadConfig(std::string_view text,
                                                          std::span<const std::string> overrides = {},
                                                          const ConfigOptions& options = {});

/// The longest window of the filter and its kinds of events, or of all filters.
int32_t LongestWindowDays(const FilterConfig& filter);
int32_t LongestWindowDays(const Config& config);

/// Whether the daemon writes watermarks: they have a topic, and at least one filter publishes snapshots.
bool WritesWatermarks(const Config& config);

/// The consumer group that reads input.source_topic.
std::string RekeyingGroup(const Config& config);
/// The consumer group that reads the ordered items. The group gives each index one owner.
std::string ItemsGroup(const Config& config);
/// The consumer group that reads an items.topic of several partitions.
std::string ItemsRekeyingGroup(const Config& config);

/// HOST:PORT under which others reach this daemon's HTTP. `port`: the port on which it listens.
std::string ReachedAt(const Config& config, uint16_t port);
/// "seend-<host>-<hash of the absolute directory>": the same after a restart, different for another
/// directory.
std::string DefaultInstanceId(std::string_view store_directory);

}  // namespace seen

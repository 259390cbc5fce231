#include "config/config.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <utility>

#include "base/result.h"
#include "base/text.h"
#include "config/config_check.h"
#include "config/config_event_format.h"
#include "config/config_items.h"
#include "config/config_keys.h"
#include "config/config_text.h"
#include "config/peer_rules.h"
#include "decode/binary_reader.h"
#include "decode/event_plan.h"
#include "kafka/client_settings.h"
#include "model/hashes.h"

namespace seen {
namespace {

using Errors = std::vector<ConfigError>;

constexpr size_t kTopicBytesMax = 249;

/// What the rows of the table don't set by themselves.
void CompleteFilter(const ConfigJson& json, FilterConfig& filter) {
  filter.served_ttl_s = (filter.served_ttl_s + 5) / 6 * 6;
  filter.kinds = ToKinds(json.at("kinds"));
  const ConfigJson& snapshot = json.at("snapshot");
  if (snapshot.is_null()) return;
  const auto format = ParseSnapshotFormat(snapshot.at("format").get<std::string>());
  Check(format.has_value(), "a snapshot format of the table has its value");
  filter.snapshot = SnapshotConfig{
      snapshot.at("topic").get<std::string>(),
      SnapshotPolicy(
          {*format, snapshot.at("false_positive_rate").get<double>(), snapshot.at("size") == "power_of_two"},
          std::chrono::milliseconds(snapshot.at("debounce_ms").get<int64_t>())),
      snapshot.at("updates").get<bool>()};
}

bool HasUpdates(const FilterConfig& filter) { return filter.snapshot && filter.snapshot->updates; }

/// The topic of the re-keyed events: as given, or derived from input.topic. Empty if these keys are invalid.
std::string KeyedTopic(const ConfigJson& json) {
  const std::string given = TextAt(json, "/input/keyed_topic");
  const std::string source = TextAt(json, "/input/topic");
  return !given.empty() || source.empty() ? given : source + "-by-user";
}

/// The topic that a group's daemons and its replicas share: as given, or derived from watermarks.topic. Empty
/// if neither is given.
std::string ClusterTopic(const ConfigJson& json) {
  std::string given = TextAt(json, "/cluster/topic");
  const std::string watermarks = TextAt(json, "/watermarks/topic");
  constexpr std::string_view kSuffix = "-cluster";
  if (!given.empty() || watermarks.empty()) return given;
  return watermarks.substr(0, kTopicBytesMax - kSuffix.size()) + std::string(kSuffix);
}

/// A section without its topic is off.
template <typename Section>
void DropWithoutTopic(std::optional<Section>& section) {
  if (section && section->topic.empty()) section.reset();
}

/// `json` has passed CheckConfig: every key is present and has its type.
Config ToConfig(const ConfigJson& json) {
  Config config;
  ReadValues(json, config);
  if (!json.at("input").at("keyed_by_user").get<bool>()) {
    config.input.source_topic = std::exchange(config.input.topic, KeyedTopic(json));
    config.input.partitioner = Partitioner::kMurmur2;
  }
  for (size_t i = 0; i < config.filters.size(); ++i) CompleteFilter(json.at("filters")[i], config.filters[i]);
  if (config.items) CompleteItems(json, *config.items);
  DropWithoutTopic(config.unexposed);
  DropWithoutTopic(config.watermarks);
  if (std::none_of(config.filters.begin(), config.filters.end(), HasUpdates)) config.updates.reset();
  DropWithoutTopic(config.state);
  config.cluster.topic = ClusterTopic(json);
  config.access.audit_hashes_users = json.at("access").at("audit_users") == "hashed";
  return config;
}

/// Names the daemon's own topics that the document doesn't name, if it has a topic_prefix.
void ApplyTopicPrefix(ConfigJson& document, Errors& errors) {
  if (document.contains("topic_prefix") && document.at("topic_prefix").is_object())
    errors.push_back(
        {"topic_prefix", "must be a text; other keys are derived from it before files are read"});
  const std::string prefix = TextAt(document, "/topic_prefix");
  if (prefix.empty()) return;
  const auto name = [&](ConfigJson& within, const char* section, const char* key, const char* suffix) {
    if (!within.contains(section)) within[section] = ConfigJson::object();
    ConfigJson& holder = within.at(section);
    if (holder.is_object() && !holder.contains(key)) holder[key] = prefix + suffix;
  };
  const auto is_off = [](const ConfigJson& within, const char* section) {
    return within.contains(section) && within.at(section).is_null();
  };
  name(document, "input", "dead_letter_topic", "-dead-letters");
  const ConfigJson::json_pointer keyed("/input/keyed_by_user");
  if (document.contains(keyed) && document.at(keyed) == false)
    name(document, "input", "keyed_topic", "-by-user");
  if (!is_off(document, "watermarks")) name(document, "watermarks", "topic", "-watermarks");
  name(document, "updates", "topic", "-updates");
  if (!is_off(document, "state")) name(document, "state", "topic", "-state");
  if (document.contains("items") && document.at("items").is_object()) {
    name(document, "items", "groups_topic", "-item-groups");
    name(document, "items", "ordered_topic", "-items-in-order");
  }
  if (!document.contains("filters")) document["filters"] = ConfigJson::array({ConfigJson::object()});
  if (!document.at("filters").is_array()) return;
  for (ConfigJson& filter : document.at("filters")) {
    if (filter.is_object() && !is_off(filter, "snapshot")) name(filter, "snapshot", "topic", "-filters");
  }
}

/// Checks that a filter's snapshot has a format, a rate and a size that go together.
void CheckShapeOf(const ConfigJson& filter, const std::string& path, Errors& errors) {
  const std::string format_name = TextAt(filter, "/snapshot/format");
  const auto format = ParseSnapshotFormat(format_name);
  const ConfigJson::json_pointer rate("/snapshot/false_positive_rate");
  if (!format || !filter.contains(rate) || !filter.at(rate).is_number()) return;
  const SnapshotShape shape{*format, filter.at(rate).get<double>(),
                            TextAt(filter, "/snapshot/size") == "power_of_two"};
  if (Status possible = CheckShape(shape); !possible) {
    errors.push_back({path + ".snapshot.false_positive_rate", possible.error().message});
  }
  if (shape.power_of_two && *format != SnapshotFormat::kSplitBlockBloom) {
    errors.push_back({path + ".snapshot.size",
                      fmt::format("\"power_of_two\": is for \"split_block_bloom\", not for {}; leave it out",
                                  ShowValue(format_name))});
  }
}

void CheckRole(const ConfigJson& json, Errors& errors) {
  const std::string of = TextAt(json, "/replica_of");
  if (TextAt(json, "/role") != "replica") {
    if (!of.empty())
      errors.push_back(
          {"replica_of",
           fmt::format("{}: is for \"role\": \"replica\"; set that, or leave it out", ShowValue(of))});
    return;
  }
  if (of.empty()) {
    errors.push_back({"replica_of", "missing; a replica needs it: the kafka.group_id of the owners"});
  } else if (of == TextAt(json, "/kafka/group_id")) {
    errors.push_back({"replica_of", fmt::format("{}: is this daemon's own kafka.group_id; give the replicas "
                                                "a group of their own, and name the owners' group here",
                                                ShowValue(of))});
  }
  if (TextAt(json, "/watermarks/topic").empty()) {
    errors.push_back({"role", "\"replica\": needs watermarks.topic, which says how far the owners are"});
  }
}

/// Whether `listen` is a loopback address, which other machines can't reach.
bool IsLoopback(const std::string& listen) {
  return listen.starts_with("127.") || listen.starts_with("[::1]:");
}

void CheckListeners(const ConfigJson& json, Errors& errors) {
  const bool has_certificate = !TextAt(json, "/access/certificate").empty();
  const bool has_tokens = !TextAt(json, "/access/tokens").empty();
  if (has_certificate == TextAt(json, "/access/key").empty()) {
    errors.push_back({has_certificate ? "access.key" : "access.certificate",
                      "missing; give both the certificate and the key, each as a PEM file"});
  }
  if (!has_certificate && !TextAt(json, "/access/ca").empty()) {
    errors.push_back({"access.ca", "is for daemons with TLS; give access.certificate and access.key, too"});
  }
  for (const std::string key : {"http", "admin"}) {
    const std::string listen = TextAt(json, ("/" + key + "/listen").c_str());
    const ConfigJson::json_pointer insecure("/" + key + "/insecure");
    if (listen.empty() || IsLoopback(listen) || (has_certificate && has_tokens)) continue;
    if (json.contains(insecure) && json.at(insecure) == true) continue;
    errors.push_back(
        {key + ".listen",
         fmt::format("{}: other machines reach this address, and {}. Give access.certificate, access.key and "
                     "access.tokens, listen on 127.0.0.1, or, if the network itself keeps strangers out, set "
                     "\"{}\": {{\"insecure\": true}}",
                     ShowValue(listen),
                     has_certificate ? "requests need no token"
                     : has_tokens    ? "tokens would be sent unencrypted"
                                     : "anybody may read and change everything",
                     key)});
  }
  if (!TextAt(json, "/admin/listen").empty() &&
      TextAt(json, "/admin/listen") == TextAt(json, "/http/listen") &&
      !TextAt(json, "/http/listen").ends_with(":0")) {
    errors.push_back(
        {"admin.listen", "is also http.listen; choose another port, or null to have all pages on one port"});
  }
}

/// Each topic has one purpose: reports a topic that two keys name.
class TopicClaims {
 public:
  explicit TopicClaims(Errors& errors) : errors_(errors) {}
  void Claim(const std::string& topic, const std::string& path, std::string_view remedy) {
    const auto [claimed, is_new] = topics_.emplace(topic, path);
    if (is_new || topic.empty()) return;
    errors_.push_back(
        {path, fmt::format("{}: is also the topic of {}; {}", ShowValue(topic), claimed->second, remedy)});
  }
  /// For a topic whose name may come from another topic's.
  void ClaimDerived(const std::string& topic, const std::string& path, std::string_view remedy) {
    Claim(topic, path, remedy);
    if (topic.size() <= kTopicBytesMax) return;
    errors_.push_back({path, fmt::format("{}: is longer than {} characters; set a shorter name",
                                         ShowValue(topic), kTopicBytesMax)});
  }

 private:
  Errors& errors_;
  std::map<std::string, std::string> topics_;  // topic -> the key that names it
};

void ClaimTopics(const ConfigJson& json, bool has_items, TopicClaims& topics) {
  topics.Claim(TextAt(json, "/input/topic"), "input.topic", "");
  if (has_items) {
    topics.Claim(TextAt(json, "/items/topic"), "items.topic", "items need a topic of their own");
    topics.Claim(TextAt(json, "/items/groups_topic"), "items.groups_topic",
                 "groups need a topic of their own");
    topics.ClaimDerived(OrderedTopic(json), "items.ordered_topic",
                        "items in order need a topic of their own");
  }
  topics.Claim(TextAt(json, "/unexposed/topic"), "unexposed.topic",
               "unexposed items need a topic of their own");
  topics.Claim(TextAt(json, "/watermarks/topic"), "watermarks.topic",
               "watermarks need a topic of their own, or null to write none");
  topics.ClaimDerived(ClusterTopic(json), "cluster.topic", "the cluster needs a topic of its own");
  topics.Claim(TextAt(json, "/state/topic"), "state.topic",
               "state needs a topic of its own, or null to keep it on this machine alone");
  topics.Claim(TextAt(json, "/input/dead_letter_topic"), "input.dead_letter_topic",
               "dead letters need a topic of their own");
  if (ConfigMember(ConfigMember(json, "input"), "keyed_by_user") == false)
    topics.ClaimDerived(KeyedTopic(json), "input.keyed_topic",
                        "events keyed by user need a topic of their own");
}

void CheckPeers(const ConfigJson& json, Errors& errors) {
  const std::string peers = TextAt(json, "/cluster/peers");
  if (const auto rules = PeerRules::Parse(peers); !rules)
    errors.push_back({"cluster.peers", rules.error().message});
  if (peers.empty() || !ConfigMember(ConfigMember(json, "cluster"), "token").is_null()) return;
  errors.push_back({"cluster.token",
                    "missing; cluster.peers needs it. Give all daemons of the group the same token, best as "
                    "{\"env\": \"NAME\"} or {\"file\": \"PATH\"}"});
}

bool WantsUpdates(const ConfigJson& filter) {
  const ConfigJson::json_pointer updates("/snapshot/updates");
  return filter.contains(updates) && filter.at(updates) == true;
}

/// Updates say "seen" at the first exposure, and readers of them need the beats.
void CheckUpdates(const ConfigJson& json, const ConfigJson& filter, const std::string& path, bool counts,
                  Errors& errors) {
  if (!WantsUpdates(filter)) return;
  if (counts) {
    errors.push_back({path + ".snapshot.updates",
                      fmt::format("true: exposures_min is {}, and an update counts an item from its first "
                                  "exposure on; set exposures_min to 1, or leave updates out",
                                  ShowValue(ConfigMember(filter, "exposures_min")))});
  }
  if (TextAt(json, "/watermarks/topic").empty()) {
    errors.push_back({path + ".snapshot.updates",
                      "true: needs watermarks.topic, which says where readers of updates begin; set "
                      "watermarks.topic, or leave updates out"});
  }
}

void CheckFilter(const ConfigJson& json, const ConfigJson& filter, const std::string& path, bool has_items,
                 Errors& errors) {
  const ConfigJson& exposures_min = ConfigMember(filter, "exposures_min");
  const bool counts = !exposures_min.is_null() && exposures_min != 1;
  if (counts && TextAt(filter, "/window_by") == "item_created_at") {
    errors.push_back({path + ".exposures_min",
                      fmt::format("{}: must be 1 if window_by is \"item_created_at\", which keeps an "
                                  "item's newest exposure only; set 1, or set window_by to \"exposed_at\"",
                                  ShowValue(exposures_min))});
  }
  CheckShapeOf(filter, path, errors);
  CheckUpdates(json, filter, path, counts, errors);
  const std::string similar = TextAt(filter, "/similar");
  if (similar.empty() || similar == "off") return;
  if (!has_items) {
    errors.push_back({path + ".similar", fmt::format("{}: needs the section \"items\"; add it (\"items\": "
                                                     "{{}} has defaults for all), or set \"off\"",
                                                     ShowValue(similar))});
  }
  if (counts) {
    errors.push_back({path + ".exposures_min",
                      fmt::format("{}: must be 1 if similar is \"{}\": after its first exposure, an item "
                                  "would be similar to itself; set 1, or set similar to \"off\"",
                                  ShowValue(exposures_min), similar)});
  }
}

/// Checks the rules between keys. Works on the document, so that it also reports when single keys are
/// invalid.
void CheckTogether(const ConfigJson& json, const ConfigOptions& options, Errors& errors) {
  if (!options.embedded_kafka && !ConfigMember(json, "kafka").contains("brokers")) {
    errors.push_back(
        {"kafka.brokers",
         "missing; give host:port of the cluster, e.g. \"127.0.0.1:9092\", or run with --embedded-kafka"});
  }
  CheckRole(json, errors);
  CheckListeners(json, errors);
  CheckPeers(json, errors);
  const bool has_items = ConfigMember(json, "items").is_object();
  TopicClaims topics(errors);
  ClaimTopics(json, has_items, topics);
  const ConfigJson& filters = ConfigMember(json, "filters");
  std::map<std::string, std::string> names;
  for (size_t i = 0; filters.is_array() && i < filters.size(); ++i) {
    const std::string path = JoinPath("filters", i);
    const std::string name = TextAt(filters[i], "/name");
    const auto [named, is_new] = names.emplace(name, path);
    if (!is_new && !name.empty()) {
      errors.push_back({path + ".name", fmt::format("{}: is also the name of {}; give each filter its own",
                                                    ShowValue(name), named->second)});
    }
    CheckFilter(json, filters[i], path, has_items, errors);
    topics.Claim(TextAt(filters[i], "/snapshot/topic"), path + ".snapshot.topic",
                 "give each filter its own, or \"snapshot\": null to publish nothing");
  }
  // The name counts only if a filter has updates.
  if (filters.is_array() && std::any_of(filters.begin(), filters.end(), WantsUpdates))
    topics.Claim(TextAt(json, "/updates/topic"), "updates.topic", "updates need a topic of their own");
}

void ReplaceAll(std::string& text, const std::string& what, std::string_view with) {
  if (what.empty()) return;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
}

/// Appends librdkafka's errors about kafka.client, without the values of secrets.
void CheckClient(const CheckedConfig& checked, Errors& errors) {
  const ConfigJson::json_pointer at("/kafka/client");
  if (!checked.resolved.contains(at) || !checked.resolved.at(at).is_object()) return;
  const auto settings = checked.resolved.at(at).get<ClientSettings>();
  for (auto [property, message] : ClientSettingErrors(settings)) {
    const std::string repeated = fmt::format("kafka.client.{}: ", property);
    if (message.starts_with(repeated)) message.erase(0, repeated.size());
    if (checked.shown.at(at).at(property).is_object()) ReplaceAll(message, settings.at(property), "(hidden)");
    errors.push_back({JoinPath("kafka.client", property), std::move(message)});
  }
}

/// Whether the schema in input.schema_file has what the format asks for.
std::optional<FormatError> FindMisfit(const EventFormat& format) {
  return format.binary ? format.binary->Check(*EventPlan::Make(format)) : std::nullopt;
}

}  // namespace

tl::expected<Config, Errors> LoadConfig(std::string_view text, std::span<const std::string> overrides,
                                        const ConfigOptions& options) {
  auto document = ParseConfigText(text);
  if (!document) return tl::unexpected(std::move(document.error()));
  std::vector<std::string> override_paths;
  Errors errors = ApplyOverrides(*document, overrides, override_paths);

  if (document->is_object()) ApplyTopicPrefix(*document, errors);
  CheckedConfig checked = CheckConfig(*document);
  std::move(checked.errors.begin(), checked.errors.end(), std::back_inserter(errors));
  EventFormat format;
  if (document->is_object()) {
    CheckTogether(checked.resolved, options, errors);
    CheckClient(checked, errors);
    format = ReadEventFormat(checked.resolved, ReadDeclaredKinds(checked.resolved, errors), errors);
    CheckItemFields(checked.resolved, errors);
  }
  if (errors.empty()) {
    Config config = ToConfig(checked.resolved);
    config.input.format = std::move(format);
    Wanted& wanted = config.input.format.wanted;
    for (const FilterConfig& filter : config.filters) {
      wanted.item_created_at |= filter.window_by == WindowBy::kItemCreatedAt;
    }
    if (config.unexposed || config.store.explain_days > 0)
      wanted.scene = wanted.position = wanted.request_id = true;
    config.effective_json = JsonText(checked.shown, 2) + "\n";
    auto misfit = FindMisfit(config.input.format);
    if (!misfit) return config;
    errors.push_back({std::move(misfit->path), std::move(misfit->message)});
  }
  for (ConfigError& error : errors) {
    for (const std::string& path : override_paths) {
      if (!error.path.starts_with(path)) continue;
      error.message += " (given with --set)";
      break;
    }
  }
  return tl::unexpected(std::move(errors));
}

int32_t LongestWindowDays(const FilterConfig& filter) {
  int32_t days = filter.window_days;
  for (const KindConfig& kind : filter.kinds) days = std::max(days, kind.window_days);
  return days;
}

int32_t LongestWindowDays(const Config& config) {
  int32_t days = 0;
  for (const FilterConfig& filter : config.filters) days = std::max(days, LongestWindowDays(filter));
  return days;
}

bool WritesWatermarks(const Config& config) {
  return config.watermarks &&
         std::any_of(config.filters.begin(), config.filters.end(),
                     [](const FilterConfig& filter) { return filter.snapshot.has_value(); });
}

std::string RekeyingGroup(const Config& config) { return config.kafka.group_id + "-rekey"; }
std::string ItemsGroup(const Config& config) { return config.kafka.group_id + "-items"; }
std::string ItemsRekeyingGroup(const Config& config) { return config.kafka.group_id + "-items-rekey"; }

namespace {
std::string HostName() {
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0 || host[0] == '\0') return "localhost";
  return host.data();
}
}  // namespace

std::string ReachedAt(const Config& config, uint16_t port) {
  if (config.cluster.address) return *config.cluster.address;
  const std::string host = config.http.listen.substr(0, config.http.listen.rfind(':'));
  const bool is_any = host == "0.0.0.0" || host == "[::]";
  return (is_any ? HostName() : host) + ":" + std::to_string(port);
}

std::string DefaultInstanceId(std::string_view store_directory) {
  std::string name = HostName();
  for (char& c : name) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-';
    if (!plain) c = '_';
  }
  // Kafka allows at most 249 characters.
  std::error_code failed;
  const std::filesystem::path given(store_directory);
  std::string directory = std::filesystem::absolute(given, failed).lexically_normal().string();
  if (failed) directory = given.lexically_normal().string();
  while (directory.size() > 1 && directory.ends_with('/')) directory.pop_back();
  return fmt::format("seend-{}-{:08x}", name.substr(0, 200), FingerprintOf(directory).value);
}

}  // namespace seen

#include "app/config_keys.h"

#include <fmt/format.h>

#include <array>

namespace seen {
namespace {

using enum ConfigType;

constexpr TextRule kBrokerList = {"host:port, several separated by commas without spaces, at most 1024 bytes",
                                  "[^\\s,]+(,[^\\s,]+)*", 1024};
constexpr TextRule kGroupName = {"1 to 249 characters of a-z, A-Z, 0-9, '.', '_' and '-'",
                                 "[a-zA-Z0-9._-]{1,249}", 249};
constexpr TextRule kTopicName = {
    "a topic name Kafka allows: 1 to 249 characters of a-z, A-Z, 0-9, '.', '_' and '-', not '.' or '..'",
    "(?!\\.{1,2}$)[a-zA-Z0-9._-]{1,249}", 249};
constexpr TextRule kFilterName = {"1 to 64 characters of a-z, 0-9, '_' and '-'", "[a-z0-9_-]{1,64}", 64};
constexpr TextRule kDirectory = {"a path of 1 to 1024 bytes", "[^\\u0000]+", 1024};
constexpr TextRule kListenAddress = {
    "ADDRESS:PORT or [ADDRESS]:PORT with a numeric IPv4 or IPv6 address and a port from 0 (any free one) to "
    "65535",
    "([0-9]{1,3}(\\.[0-9]{1,3}){3}|\\[[0-9a-fA-F:.]{2,45}\\])"
    ":(6553[0-5]|655[0-2][0-9]|65[0-4][0-9]{2}|6[0-4][0-9]{3}|[1-5]?[0-9]{1,4})",
    64};

constexpr std::array<std::string_view, 2> kPartitioners = {"murmur2", "crc32"};
constexpr std::array<std::string_view, 1> kFormats = {"split_block_bloom"};
constexpr std::array<std::string_view, 4> kLogLevels = {"debug", "info", "warning", "error"};
constexpr std::array<std::string_view, 2> kLogFormats = {"text", "json"};

constexpr ConfigKey kKeys[] = {
    {.path = "kafka", .type = kSection, .default_json = "{}", .meaning = "The cluster and how to reach it."},
    {.path = "kafka.brokers",
     .rule = &kBrokerList,
     .meaning =
         "Where to find the cluster. Needed unless seend runs with --embedded-kafka, which ignores it."},
    {.path = "kafka.group_id",
     .default_json = R"("seend")",
     .rule = &kGroupName,
     .meaning =
         "Consumer group. Daemons of one group share the partitions; a second group is a hot replica."},
    {.path = "kafka.instance_id",
     .default_json = "null",
     .nullable = true,
     .rule = &kGroupName,
     .meaning =
         "Name of this member (static membership): a restart under the same name gets its partitions back at "
         "once. null: made from the host's name and the store's directory."},
    {.path = "kafka.client",
     .type = kMap,
     .default_json = "{}",
     .meaning = "Any librdkafka property by its own name, e.g. \"security.protocol\": \"SASL_SSL\". Refused "
                "are those "
                "that seend sets itself."},
    {.path = "kafka.embedded_partitions",
     .type = kInteger,
     .default_json = "4",
     .minimum = 1,
     .maximum = 64,
     .meaning = "Partitions of the input topic on the broker of --embedded-kafka; of no effect otherwise."},

    {.path = "input", .type = kSection, .default_json = "{}", .meaning = "The topic of exposure events."},
    {.path = "input.topic",
     .default_json = R"("exposures")",
     .rule = &kTopicName,
     .meaning = "Topic to read."},
    {.path = "input.keyed_by_user",
     .type = kBoolean,
     .default_json = "true",
     .meaning = "Whether the key of each record is its user's id. false: seend writes each event to "
                "input.keyed_topic, by murmur2, and reads that; docs/EVENTS.md says what comes with it."},
    {.path = "input.keyed_topic",
     .default_json = "null",
     .nullable = true,
     .rule = &kTopicName,
     .meaning = "Topic for events by user where input.keyed_by_user is false; made if it is missing. null: "
                "input.topic with \"-by-user\" after it."},
    {.path = "input.partitioner",
     .type = kChoice,
     .default_json = R"("murmur2")",
     .choices = kPartitioners,
     .meaning = "How the events' producer maps a key to a partition: murmur2 as Java clients do, crc32 as "
                "librdkafka "
                "and kcat do by default. Look-ups by user rely on it. Of no effect where input.keyed_by_user "
                "is false."},
    {.path = "input.dead_letter_topic",
     .default_json = R"("exposures-dead-letters")",
     .rule = &kTopicName,
     .meaning = "Topic for what can't be decoded, with the reason in its headers."},
    {.path = "input.event_bytes_max",
     .type = kInteger,
     .unit = "bytes",
     .default_json = "1048576",
     .minimum = 256,
     .maximum = 67'108'864,
     .meaning = "A longer event is a dead letter."},
    {.path = "input.future_skew_s_max",
     .type = kInteger,
     .unit = "seconds",
     .default_json = "300",
     .maximum = 86'400,
     .meaning = "An event whose time is further ahead of its record's Kafka timestamp is a dead letter."},

    {.path = "input.fields",
     .type = kSection,
     .default_json = "{}",
     .meaning = "Where in an event its fields are. null: the member of the field's own name."},
    {.path = "input.fields.user_id",
     .type = kShape,
     .default_json = "null",
     .nullable = true,
     .shape = &kFieldShape,
     .meaning = "Who it happened to."},
    {.path = "input.fields.item_id",
     .type = kShape,
     .default_json = "null",
     .nullable = true,
     .shape = &kFieldShape,
     .meaning = "What was shown; where items is given, from an element of it on."},
    {.path = "input.fields.items",
     .type = kShape,
     .default_json = "null",
     .nullable = true,
     .shape = &kFieldShape,
     .meaning = "The array of what was shown at once: ids or objects. A step \"*\" stands for every element "
                "of an array: \"/pages/*/items\"."},
    {.path = "input.fields.exposed_at",
     .type = kShape,
     .default_json = "null",
     .nullable = true,
     .shape = &kTimeFieldShape,
     .meaning = "When it happened, whatever the kind."},
    {.path = "input.fields.kind",
     .type = kShape,
     .default_json = "null",
     .nullable = true,
     .shape = &kFieldShape,
     .meaning = "What happened: see input.kinds. Where there is none, the item was exposed."},
    {.path = "input.fields.scene",
     .type = kShape,
     .default_json = "null",
     .nullable = true,
     .shape = &kFieldShape,
     .meaning = "Where it was shown."},
    {.path = "input.fields.position",
     .type = kShape,
     .default_json = "null",
     .nullable = true,
     .shape = &kFieldShape,
     .meaning = "At which place; where items is given, from an element of it on."},
    {.path = "input.fields.request_id",
     .type = kShape,
     .default_json = "null",
     .nullable = true,
     .shape = &kFieldShape,
     .meaning = "The recommendation it came from."},
    {.path = "input.fields.item_created_at",
     .type = kShape,
     .default_json = "null",
     .nullable = true,
     .shape = &kTimeFieldShape,
     .meaning = "When the item itself was made; where items is given, from an element of it on."},
    {.path = "input.kinds",
     .type = kShape,
     .default_json = "null",
     .nullable = true,
     .shape = &kKindsShape,
     .meaning =
         "What the kinds are called in events: exposed, served, removed, erased. Events of a kind mapped to "
         "null are skipped, of one that isn't known are dead letters. null: by their own names."},
    {.path = "input.only_if",
     .type = kShape,
     .default_json = "null",
     .nullable = true,
     .shape = &kConditionsShape,
     .meaning = "Events for which it doesn't hold are skipped; of a list all must hold."},

    {.path = "filters",
     .type = kList,
     .default_json = "[{}]",
     .minimum = 1,
     .maximum = 64,
     .meaning = "What is remembered, one entry a filter; each keeps its own state."},
    {.path = "filters[].name",
     .default_json = R"("default")",
     .rule = &kFilterName,
     .meaning = "Name in addresses and metrics; unique. Its state belongs to the name: renamed, a filter "
                "starts empty."},
    {.path = "filters[].scenes",
     .type = kShape,
     .default_json = "null",
     .nullable = true,
     .shape = &kScenesShape,
     .meaning = "The scenes it covers. null: all, and events without one."},
    {.path = "filters[].when",
     .type = kShape,
     .default_json = "null",
     .nullable = true,
     .shape = &kConditionsShape,
     .meaning = "The events it covers, beside scenes; of a list all must hold. null: all."},
    {.path = "filters[].window_days",
     .type = kInteger,
     .unit = "days",
     .default_json = "30",
     .minimum = 1,
     .maximum = 3650,
     .meaning = "How long an exposure counts, in UTC days."},
    {.path = "filters[].items_max",
     .type = kInteger,
     .unit = "items",
     .default_json = "10000",
     .minimum = 1,
     .maximum = 1'000'000,
     .meaning = "How many of a user's newest items count, applied when answering and rendering."},
    {.path = "filters[].items_per_day_max",
     .type = kInteger,
     .unit = "items",
     .default_json = "50000",
     .minimum = 1,
     .maximum = 1'000'000,
     .meaning = "How many items of a user are kept a day: a limit against bots."},
    {.path = "filters[].snapshot",
     .type = kSection,
     .default_json = "{}",
     .nullable = true,
     .meaning = "Publication of each user's filter. null: nothing is published, look-ups over HTTP work all "
                "the same."},
    {.path = "filters[].snapshot.topic",
     .default_json = R"("seen-filters")",
     .rule = &kTopicName,
     .meaning = "Topic to publish to, compacted, keyed by user id; one filter a topic."},
    {.path = "filters[].snapshot.format",
     .type = kChoice,
     .default_json = R"("split_block_bloom")",
     .choices = kFormats,
     .meaning = "Kind of filter; byte by byte in schemas/snapshot.md."},
    {.path = "filters[].snapshot.false_positive_rate",
     .type = kNumber,
     .default_json = "0.01",
     .minimum_excluded = true,
     .maximum = 0.5,
     .meaning = "Share of unseen items that a published filter may call seen. Lower is larger: 0.01 takes "
                "about 10.6 "
                "bits an item. Look-ups over HTTP are exact."},
    {.path = "filters[].snapshot.debounce_ms",
     .type = kInteger,
     .unit = "milliseconds",
     .default_json = "1000",
     .maximum = 3'600'000,
     .meaning = "A user's filter is published at once, then at most once in this time."},

    {.path = "store", .type = kSection, .default_json = "{}", .meaning = "State on this machine's disk."},
    {.path = "store.directory",
     .default_json = R"("/var/lib/seend")",
     .rule = &kDirectory,
     .meaning = "Where the partitions' RocksDB stores are; one daemon a directory."},
    {.path = "store.memory_mib",
     .type = kInteger,
     .unit = "MiB",
     .default_json = "1024",
     .minimum = 64,
     .maximum = 1'048'576,
     .meaning = "Bounds block cache, tails, fetch queues and write memory together, over all partitions."},
    {.path = "store.checkpoint_interval_s",
     .type = kInteger,
     .unit = "seconds",
     .default_json = "10",
     .minimum = 1,
     .maximum = 3600,
     .meaning = "How often changes are made durable: what is read again after a crash."},

    {.path = "http", .type = kSection, .default_json = "{}", .meaning = "Look-ups, status and metrics."},
    {.path = "http.listen",
     .default_json = R"("127.0.0.1:8080")",
     .rule = &kListenAddress,
     .meaning =
         "Where to listen. There is no authentication: beyond loopback, put it behind something that has."},
    {.path = "http.threads",
     .type = kInteger,
     .unit = "threads",
     .default_json = "2",
     .minimum = 1,
     .maximum = 256,
     .meaning = "Threads that answer."},
    {.path = "http.ready_lag_messages",
     .type = kInteger,
     .unit = "messages",
     .default_json = "10000",
     .maximum = 1'000'000'000'000,
     .meaning =
         "A partition with more unread messages isn't ready: its users get 503 until it has caught up."},

    {.path = "log", .type = kSection, .default_json = "{}", .meaning = "Log lines on standard error."},
    {.path = "log.level",
     .type = kChoice,
     .default_json = R"("info")",
     .choices = kLogLevels,
     .meaning = "The least that is written."},
    {.path = "log.format",
     .type = kChoice,
     .default_json = R"("text")",
     .choices = kLogFormats,
     .meaning = "Text for people or one JSON object a line."},
};

ConfigNode MakeTree() {
  ConfigNode root;
  for (const ConfigKey& key : kKeys) {
    ConfigNode* node = &root;
    std::string_view rest = key.path;
    for (size_t dot = rest.find('.'); dot != std::string_view::npos; dot = rest.find('.')) {
      std::string_view name = rest.substr(0, dot);
      if (name.ends_with("[]")) name.remove_suffix(2);
      for (ConfigNode& child : node->children) {
        if (child.name == name) node = &child;
      }
      rest.remove_prefix(dot + 1);
    }
    node->children.push_back({std::string(rest), &key, {}});
  }
  return root;
}

}  // namespace

std::span<const ConfigKey> ConfigKeys() { return kKeys; }

const ConfigNode& ConfigTree() {
  static const ConfigNode tree = MakeTree();
  return tree;
}

const ConfigNode* ConfigNode::Find(std::string_view child) const {
  for (const ConfigNode& each : children) {
    if (each.name == child) return &each;
  }
  return nullptr;
}

std::string NumberText(double number) { return fmt::format("{}", number); }

std::string DescribeRange(const ConfigKey& key) {
  std::string text;
  switch (key.type) {
    case kSection:
      text = "an object";
      break;
    case kMap:
      text = "an object of strings, numbers and booleans";
      break;
    case kList:
      text = fmt::format("a list of {:.0f} to {:.0f} objects", key.minimum, key.maximum);
      break;
    case kText:
      text = key.rule->description;
      break;
    case kShape:
      text = key.shape->description;
      break;
    case kChoice:
      text = key.choices.size() > 1 ? "one of " : "";
      for (size_t i = 0; i < key.choices.size(); ++i) {
        text += fmt::format("{}\"{}\"", i > 0 ? ", " : "", key.choices[i]);
      }
      break;
    case kInteger:
      text = fmt::format("a whole number from {:.0f} to {:.0f}", key.minimum, key.maximum);
      break;
    case kBoolean:
      text = "true or false";
      break;
    case kNumber:
      text = fmt::format("a number {} {} and at most {}", key.minimum_excluded ? "above" : "of at least",
                         NumberText(key.minimum), NumberText(key.maximum));
      break;
  }
  if (!key.unit.empty()) text += fmt::format(" ({})", key.unit);
  return key.nullable ? text + ", or null" : text;
}

}  // namespace seen

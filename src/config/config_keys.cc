// The table of keys. The rows of filters and items are in config_keys_filters.cc and config_keys_items.cc.
#include "config/config_keys.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace seen {

namespace {

using enum ConfigType;

constexpr TextRule kBrokerList = {"host:port, several separated by commas without spaces, at most 1024 bytes",
                                  "[^\\s,]+:[0-9]{1,5}(,[^\\s,]+:[0-9]{1,5})*", 1024};
constexpr TextRule kGroupName = {"1 to 249 characters of a-z, A-Z, 0-9, '.', '_' and '-'",
                                 "[a-zA-Z0-9._-]{1,249}", 249};
constexpr TextRule kListenAddress = {
    "ADDRESS:PORT or [ADDRESS]:PORT with a numeric IPv4 or IPv6 address and a port from 0 (any free one) to "
    "65535",
    "([0-9]{1,3}(\\.[0-9]{1,3}){3}|\\[[0-9a-fA-F:.]{2,45}\\])"
    ":(6553[0-5]|655[0-2][0-9]|65[0-4][0-9]{2}|6[0-4][0-9]{3}|[1-5]?[0-9]{1,4})",
    64};

constexpr TextRule kHostPort = {"HOST:PORT with a port from 1 to 65535", "[^\\s,/]+:[0-9]{1,5}", 260};
constexpr TextRule kPeerList = {
    "HOST, HOST:PORT or ADDRESS/PREFIX, several separated by commas without spaces",
    "([^\\s,]+(,[^\\s,]+)*)?", 4096};
constexpr TextRule kToken = {"8 to 256 characters of a-z, A-Z, 0-9, '.', '_' and '-'",
                             "[a-zA-Z0-9._-]{8,256}", 256};

constexpr std::array<std::string_view, 2> kPartitioners = {"murmur2", "crc32"};
constexpr std::array<std::string_view, 4> kLogLevels = {"debug", "info", "warning", "error"};
constexpr std::array<std::string_view, 2> kLogFormats = {"text", "json"};

constexpr std::array<std::string_view, 2> kAuditUsers = {"hashed", "plain"};

constexpr std::array<std::string_view, 2> kRoles = {"owner", "replica"};

constexpr ConfigKey kKeys[] = {
    {.path = "role",
     .type = kChoice,
     .default_json = R"("owner")",
     .choices = kRoles,
     .meaning = "\"replica\": this group keeps the same state as the group in replica_of, and answers "
                "look-ups. It writes nothing until it is promoted: docs/SCALE-OUT.md."},
    {.path = "replica_of",
     .default_json = "null",
     .nullable = true,
     .rule = &kGroupName,
     .meaning = "With \"role\": \"replica\": the kafka.group_id of the owners."},

    {.path = "kafka", .type = kSection, .default_json = "{}", .meaning = "The cluster and how to reach it."},
    {.path = "kafka.brokers",
     .rule = &kBrokerList,
     .meaning = "Addresses of the cluster's brokers. With --embedded-kafka they aren't needed."},
    {.path = "kafka.group_id",
     .default_json = R"("seend")",
     .rule = &kGroupName,
     .meaning =
         "Consumer group. Daemons of one group share the partitions. Replicas have a group of their own."},
    {.path = "kafka.instance_id",
     .default_json = "null",
     .nullable = true,
     .rule = &kGroupName,
     .meaning = "Name of this member (static membership). With the same name, a restarted daemon gets its "
                "partitions back at once. null: made from the host's name and store.directory."},
    {.path = "kafka.client",
     .type = kMap,
     .default_json = "{}",
     .meaning = "librdkafka properties by their own names, e.g. \"security.protocol\": \"SASL_SSL\". seend "
                "refuses the properties that it sets itself."},
    {.path = "kafka.embedded_partitions",
     .type = kInteger,
     .default_json = "4",
     .minimum = 1,
     .maximum = 64,
     .meaning = "Partitions of the input topic on the broker of --embedded-kafka. Without that option, the "
                "key has no effect."},

    {.path = "input", .type = kSection, .default_json = "{}", .meaning = "The topic of exposure events."},
    {.path = "input.topic",
     .default_json = R"("exposures")",
     .rule = &kTopicName,
     .meaning = "Topic to read."},
    {.path = "input.keyed_by_user",
     .type = kBoolean,
     .default_json = "true",
     .meaning = "Whether the key of each record is its user's id. false: seend writes each event to "
                "input.keyed_topic, partitioned by murmur2, and reads that topic: docs/EVENTS.md."},
    {.path = "input.keyed_topic",
     .default_json = "null",
     .nullable = true,
     .rule = &kTopicName,
     .meaning = "Topic for events keyed by user, if input.keyed_by_user is false. seend creates it. null: "
                "the name of input.topic, followed by \"-by-user\"."},
    {.path = "input.partitioner",
     .type = kChoice,
     .default_json = R"("murmur2")",
     .choices = kPartitioners,
     .meaning = "How the producer of the events maps a key to a partition: murmur2 as Java clients do, or "
                "crc32 as librdkafka and kcat do by default. No effect if input.keyed_by_user is false."},
    {.path = "input.dead_letter_topic",
     .default_json = R"("exposures-dead-letters")",
     .rule = &kTopicName,
     .meaning = "Topic for records that seend can't decode. Their headers have the reason."},
    {.path = "input.event_bytes_max",
     .type = kInteger,
     .unit = "bytes",
     .default_json = "1048576",
     .minimum = 256,
     .maximum = 67'108'864,
     .meaning = "A longer event becomes a dead letter."},
    {.path = "input.future_skew_s_max",
     .type = kInteger,
     .unit = "seconds",
     .default_json = "300",
     .maximum = 86'400,
     .meaning =
         "An event becomes a dead letter if its time is further ahead of its record's Kafka timestamp."},
    {.path = "input.replay_idle_s",
     .type = kInteger,
     .unit = "seconds",
     .default_json = "60",
     .minimum = 1,
     .maximum = 86'400,
     .meaning = "A replay ends, at the latest, when no event of it comes for this time. Then seend publishes "
                "its users."},
    {.path = "input.workers",
     .type = kInteger,
     .unit = "threads",
     .default_json = "null",
     .nullable = true,
     .minimum = 1,
     .maximum = 1024,
     .meaning = "Threads that decode and apply events, at most one a partition. null: one a processor. Set "
                "it if a container may use fewer processors than its machine has."},

    {.path = "input.fields",
     .type = kSection,
     .default_json = "{}",
     .meaning = "Where in an event its fields are. null: the member with the field's own name."},
    {.path = "input.fields.user_id",
     .type = kShape,
     .default_json = "null",
     .nullable = true,
     .shape = &kFieldShape,
     .meaning = "Id of the user."},
    {.path = "input.fields.item_id",
     .type = kShape,
     .default_json = "null",
     .nullable = true,
     .shape = &kFieldShape,
     .meaning = "Id of the item. With input.fields.items, the pointer starts at an element of that array."},
    {.path = "input.fields.items",
     .type = kShape,
     .default_json = "null",
     .nullable = true,
     .shape = &kFieldShape,
     .meaning = "Array of the items that were shown at once, as ids or objects. A step \"*\" stands for "
                "every element of an array: \"/pages/*/items\"."},
    {.path = "input.fields.exposed_at",
     .type = kShape,
     .default_json = "null",
     .nullable = true,
     .shape = &kTimeFieldShape,
     .meaning = "Time of the event, for events of every kind."},
    {.path = "input.fields.kind",
     .type = kShape,
     .default_json = "null",
     .nullable = true,
     .shape = &kFieldShape,
     .meaning = "Kind of the event: see input.kinds. An event without a kind is an exposure."},
    {.path = "input.fields.scene",
     .type = kShape,
     .default_json = "null",
     .nullable = true,
     .shape = &kFieldShape,
     .meaning = "Scene in which the item was shown."},
    {.path = "input.fields.position",
     .type = kShape,
     .default_json = "null",
     .nullable = true,
     .shape = &kFieldShape,
     .meaning = "Position at which the item was shown. With input.fields.items, the pointer starts at an "
                "element of that array."},
    {.path = "input.fields.request_id",
     .type = kShape,
     .default_json = "null",
     .nullable = true,
     .shape = &kFieldShape,
     .meaning = "Id of the recommendation that the item came from."},
    {.path = "input.fields.item_created_at",
     .type = kShape,
     .default_json = "null",
     .nullable = true,
     .shape = &kTimeFieldShape,
     .meaning = "Time when the item was created. With input.fields.items, the pointer starts at an element "
                "of that array."},
    {.path = "input.kinds",
     .type = kShape,
     .default_json = "null",
     .nullable = true,
     .shape = &kKindsShape,
     .meaning = "Maps the kinds' names in events to exposed, served, removed, erased, or one of "
                "filters[].kinds. seend skips a kind that maps to null. Unknown kinds become dead letters. "
                "null: events use the kinds' own names."},
    {.path = "input.only_if",
     .type = kShape,
     .default_json = "null",
     .nullable = true,
     .shape = &kConditionsShape,
     .meaning = "Condition on events. seend skips events for which it doesn't hold. Of a list, all "
                "conditions must hold."},

    {.path = "unexposed",
     .type = kSection,
     .default_json = "{}",
     .meaning = "Items that were served and never shown."},
    {.path = "unexposed.topic",
     .default_json = "null",
     .nullable = true,
     .rule = &kTopicName,
     .meaning =
         "Topic to which seend publishes these items, keyed by user id. null: seend doesn't publish them."},
    {.path = "unexposed.grace_s",
     .type = kInteger,
     .unit = "seconds",
     .default_json = "600",
     .maximum = 86'400,
     .meaning = "How long seend still waits for an exposure after the longest served_ttl_s of the filters, "
                "by the events' Kafka timestamps."},

    {.path = "watermarks",
     .type = kSection,
     .default_json = "{}",
     .meaning = "How far seend has read each partition, for readers of the snapshot topics."},
    {.path = "watermarks.topic",
     .default_json = R"("seen-watermarks")",
     .nullable = true,
     .rule = &kTopicName,
     .meaning = "Compacted topic with a record a second for each partition, which tell a stale topic from a "
                "quiet one. null: none. If no filter publishes, seend writes none either."},

    {.path = "state",
     .type = kSection,
     .default_json = "{}",
     .meaning = "Copy of the state in Kafka: seend restores from it what a lost disk held."},
    {.path = "state.topic",
     .default_json = R"("seen-state")",
     .nullable = true,
     .rule = &kTopicName,
     .meaning = "Topic of the partitions' state. If store.directory has no state of a partition, or older "
                "state, seend restores it from here. Each group of owners needs its own topic. seend creates "
                "it. null: state is on this machine only."},
    {.path = "state.run_every_s",
     .type = kInteger,
     .unit = "seconds",
     .default_json = "60",
     .minimum = 1,
     .maximum = 3600,
     .meaning = "How often seend writes the changes to the topic."},
    {.path = "state.trim_after_s",
     .type = kInteger,
     .unit = "seconds",
     .default_json = "3600",
     .minimum = 1,
     .maximum = 2'592'000,
     .meaning =
         "How long records stay in the topic after a newer base has replaced them. Then seend deletes them."},
    {.path = "state.keep_gib",
     .type = kInteger,
     .unit = "GiB",
     .default_json = "32",
     .minimum = 0,
     .maximum = 1'048'576,
     .meaning = "Disk space for copies of partitions that other daemons own now. Beyond it, seend deletes "
                "the oldest copy, if the topic can restore it. With store.explain_days it deletes none, "
                "because no topic has the journal."},

    {.path = "store", .type = kSection, .default_json = "{}", .meaning = "State on this machine's disk."},
    {.path = "store.directory",
     .default_json = R"("/var/lib/seend")",
     .rule = &kPath,
     .meaning = "Directory of the partitions' RocksDB stores. Each daemon needs its own directory."},
    {.path = "store.memory_mib",
     .type = kInteger,
     .unit = "MiB",
     .default_json = "1024",
     .minimum = 64,
     .maximum = 1'048'576,
     .meaning = "Limit for caches, tails, queues, file writes and HTTP bodies together, over all partitions. "
                "docs/ARCHITECTURE.md has the shares."},
    {.path = "store.checkpoint_interval_s",
     .type = kInteger,
     .unit = "seconds",
     .default_json = "10",
     .minimum = 1,
     .maximum = 3600,
     .meaning = "How often seend makes changes durable. After a crash, it reads the events since the last "
                "checkpoint again."},
    {.path = "store.explain_days",
     .type = kInteger,
     .unit = "days",
     .default_json = "0",
     .minimum = 0,
     .maximum = 400,
     .meaning = "Days before today for which seend keeps a journal of what was shown: item, scene, position, "
                "time and request. 0: no journal; seend drops an existing one."},
    {.path = "store.explain_mib",
     .type = kInteger,
     .unit = "MiB",
     .default_json = "4096",
     .minimum = 1,
     .maximum = 1'073'741'824,
     .meaning = "Limit for the journal on disk, over all partitions. seend drops the oldest day first."},

    {.path = "http", .type = kSection, .default_json = "{}", .meaning = "Look-ups, status and metrics."},
    {.path = "http.listen",
     .default_json = R"("127.0.0.1:8080")",
     .rule = &kListenAddress,
     .meaning = "Address that answers look-ups, and all pages if admin.listen is null. An address beyond "
                "loopback needs TLS and tokens (access), or http.insecure."},
    {.path = "http.insecure",
     .type = kBoolean,
     .default_json = "false",
     .meaning = "Allows an address beyond loopback without TLS or without tokens. Use it only if the network "
                "itself keeps strangers out."},
    {.path = "http.threads",
     .type = kInteger,
     .unit = "threads",
     .default_json = "2",
     .minimum = 1,
     .maximum = 256,
     .meaning = "Threads that answer requests."},
    {.path = "http.ready_lag_messages",
     .type = kInteger,
     .unit = "messages",
     .default_json = "10000",
     .maximum = 1'000'000'000'000,
     .meaning =
         "A partition with more unread messages isn't ready: its users get 503 until it has caught up."},
    {.path = "http.connections_max",
     .type = kInteger,
     .default_json = "2000",
     .minimum = 1,
     .maximum = 100'000,
     .meaning = "Limit of open connections; further ones get 503. A connection takes about 20 KiB, with TLS "
                "about 80 KiB."},
    {.path = "http.client_connections_max",
     .type = kInteger,
     .default_json = "1500",
     .minimum = 1,
     .maximum = 100'000,
     .is_live = true,
     .meaning = "Limit of open connections of one client; further ones get 503. A client is an IPv4 address "
                "or an IPv6 /64."},
    {.path = "http.client_requests_per_s_max",
     .type = kInteger,
     .default_json = "100000",
     .minimum = 1,
     .maximum = 1'000'000'000,
     .is_live = true,
     .meaning = "Limit of requests a second of one client; further ones get 429. A client may also use at "
                "most three quarters of the memory for bodies."},

    {.path = "admin",
     .type = kSection,
     .default_json = "{}",
     .meaning = "Status, metrics and changes: docs/HTTP.md."},
    {.path = "admin.listen",
     .default_json = "null",
     .nullable = true,
     .rule = &kListenAddress,
     .meaning = "Address that answers all pages, e.g. \"127.0.0.1:8081\". http.listen then answers look-ups "
                "only. null: http.listen answers all pages."},
    {.path = "admin.insecure",
     .type = kBoolean,
     .default_json = "false",
     .meaning = "The same as http.insecure, for admin.listen."},

    {.path = "access",
     .type = kSection,
     .default_json = "{}",
     .meaning = "TLS and tokens of both listeners: docs/HTTP.md. seend reads changed files again within "
                "a second."},
    {.path = "access.certificate",
     .default_json = "null",
     .nullable = true,
     .rule = &kPath,
     .meaning =
         "PEM file with the daemon's certificate and the intermediate certificates. null: plain HTTP."},
    {.path = "access.key",
     .default_json = "null",
     .nullable = true,
     .rule = &kPath,
     .meaning = "PEM file with the private key of the certificate, without a passphrase."},
    {.path = "access.ca",
     .default_json = "null",
     .nullable = true,
     .rule = &kPath,
     .meaning = "PEM file with the CAs that sign other daemons' certificates. null: the CAs that the machine "
                "trusts."},
    {.path = "access.tokens",
     .default_json = "null",
     .nullable = true,
     .rule = &kPath,
     .meaning = "File of tokens, one a line: ROLE NAME TOKEN. The role is read, write or admin. null: "
                "requests need no token."},
    {.path = "access.audit_users",
     .type = kChoice,
     .default_json = R"("hashed")",
     .choices = kAuditUsers,
     .meaning = "How the audit log names users: \"hashed\", by the same hash as the store (XXH3-128), or "
                "\"plain\", by their ids."},

    {.path = "cluster",
     .type = kSection,
     .default_json = "{}",
     .meaning = "The group's other daemons, and how they reach this one: docs/SCALE-OUT.md."},
    {.path = "cluster.address",
     .default_json = "null",
     .nullable = true,
     .rule = &kHostPort,
     .meaning = "Address at which other daemons and clients reach http.listen. null: the address of "
                "http.listen, with the host's name in place of 0.0.0.0 or [::]."},
    {.path = "cluster.peers",
     .default_json = R"("")",
     .rule = &kPeerList,
     .meaning = "Daemons, by their cluster.address, to which this daemon passes on requests for users of "
                "their partitions. Empty: it passes on none."},
    {.path = "cluster.token",
     .default_json = "null",
     .nullable = true,
     .rule = &kToken,
     .is_secret = true,
     .meaning = "Secret by which daemons recognize each other, the same for all daemons of a group. "
                "cluster.peers needs it."},
    {.path = "cluster.topic",
     .default_json = "null",
     .nullable = true,
     .rule = &kTopicName,
     .meaning = "Topic for the replicas' reports of what they answer, and for promotions. A replica creates "
                "it. null: the name of watermarks.topic, followed by \"-cluster\"."},

    {.path = "log", .type = kSection, .default_json = "{}", .meaning = "Log lines on standard error."},
    {.path = "log.level",
     .type = kChoice,
     .default_json = R"("info")",
     .choices = kLogLevels,
     .is_live = true,
     .meaning = "Lowest level of the lines that seend writes."},
    {.path = "log.format",
     .type = kChoice,
     .default_json = R"("text")",
     .choices = kLogFormats,
     .is_live = true,
     .meaning = "Text for people or one JSON object a line."},
};

}  // namespace

std::span<const ConfigKey> ConfigKeys() {
  static const std::vector<ConfigKey> keys = [] {
    std::vector<ConfigKey> all(std::begin(kKeys), std::end(kKeys));
    const auto after =
        std::find_if(all.begin(), all.end(), [](const ConfigKey& key) { return key.path == "unexposed"; });
    const std::span<const ConfigKey> filters = FiltersConfigKeys();
    const std::span<const ConfigKey> items = ItemsConfigKeys();
    all.insert(all.insert(after, items.begin(), items.end()), filters.begin(), filters.end());
    return all;
  }();
  return keys;
}

}  // namespace seen

// The table of keys. The rows of filters and items are in config_keys_filters.cc and config_keys_items.cc.
#include "config/config_keys.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "config/config_key_rules.h"
#include "config/config_keys_parts.h"

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
     .meaning = "\"replica\": this group keeps the same state as the group in replica_of and answers, and "
                "writes nothing, until it is promoted: docs/SCALE-OUT.md."},
    {.path = "replica_of",
     .default_json = "null",
     .nullable = true,
     .rule = &kGroupName,
     .meaning = "With \"role\": \"replica\": the kafka.group_id of the daemons that own."},

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
    {.path = "input.replay_idle_s",
     .type = kInteger,
     .unit = "seconds",
     .default_json = "60",
     .minimum = 1,
     .maximum = 86'400,
     .meaning = "A replay publishes its users when it ends. If nothing of it has come for so long, it counts "
                "as ended."},
    {.path = "input.workers",
     .type = kInteger,
     .unit = "threads",
     .default_json = "null",
     .nullable = true,
     .minimum = 1,
     .maximum = 1024,
     .meaning =
         "Threads that decode and apply events, one a partition at most. null: one a processor. Set it "
         "where a container may use fewer processors than its machine has."},

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

    {.path = "unexposed",
     .type = kSection,
     .default_json = "{}",
     .meaning = "Items that were served and never shown."},
    {.path = "unexposed.topic",
     .default_json = "null",
     .nullable = true,
     .rule = &kTopicName,
     .meaning = "Topic that they are published on, keyed by user id. null: they aren't published."},
    {.path = "unexposed.grace_s",
     .type = kInteger,
     .unit = "seconds",
     .default_json = "600",
     .maximum = 86'400,
     .meaning = "How much longer than served_ttl_s (the longest of the filters') an exposure is waited for, "
                "by the events' Kafka timestamps."},

    {.path = "watermarks",
     .type = kSection,
     .default_json = "{}",
     .meaning = "How far the stream has come, for readers of the snapshots' topics."},
    {.path = "watermarks.topic",
     .default_json = R"("seen-watermarks")",
     .nullable = true,
     .rule = &kTopicName,
     .meaning = "Topic with a record a second of each partition, compacted: readers can then tell a stale "
                "topic from "
                "a quiet one. null: none is written. Nothing is written where no filter publishes."},

    {.path = "state",
     .type = kSection,
     .default_json = "{}",
     .meaning = "Where state travels, so that a lost disk isn't lost state."},
    {.path = "state.topic",
     .default_json = R"("seen-state")",
     .nullable = true,
     .rule = &kTopicName,
     .meaning = "Topic that partitions' state goes to, and that it is restored from where store.directory "
                "has none, or older state. One consumer group a topic. It is made where it is missing. "
                "null: state is on this machine alone."},
    {.path = "state.run_every_s",
     .type = kInteger,
     .unit = "seconds",
     .default_json = "60",
     .minimum = 1,
     .maximum = 3600,
     .meaning = "How often what has changed goes to the topic."},
    {.path = "state.trim_after_s",
     .type = kInteger,
     .unit = "seconds",
     .default_json = "3600",
     .minimum = 1,
     .maximum = 2'592'000,
     .meaning = "How long records stay that a newer base has made superfluous. Then they are deleted."},
    {.path = "state.keep_gib",
     .type = kInteger,
     .unit = "GiB",
     .default_json = "32",
     .minimum = 0,
     .maximum = 1'048'576,
     .meaning = "Disk for copies of partitions that other daemons own now: they make a later restore short. "
                "Beyond, the oldest goes, if the topic can give back what it holds. With "
                "store.explain_days none goes, as the journal is in no topic."},

    {.path = "store", .type = kSection, .default_json = "{}", .meaning = "State on this machine's disk."},
    {.path = "store.directory",
     .default_json = R"("/var/lib/seend")",
     .rule = &kPath,
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
    {.path = "store.explain_days",
     .type = kInteger,
     .unit = "days",
     .default_json = "0",
     .minimum = 0,
     .maximum = 400,
     .meaning =
         "Keeps a journal of what was shown: item, scene, position, time and request of each event, for "
         "so many days before today, beyond the windows too. 0: none, and one that is there is dropped."},
    {.path = "store.explain_mib",
     .type = kInteger,
     .unit = "MiB",
     .default_json = "4096",
     .minimum = 1,
     .maximum = 1'073'741'824,
     .meaning = "Bounds the journal on disk, over all partitions: its oldest day goes first."},

    {.path = "http", .type = kSection, .default_json = "{}", .meaning = "Look-ups, status and metrics."},
    {.path = "http.listen",
     .default_json = R"("127.0.0.1:8080")",
     .rule = &kListenAddress,
     .meaning =
         "Where look-ups are answered; all pages, where admin.listen is null. Beyond loopback it takes "
         "TLS and tokens (access), or insecure."},
    {.path = "http.insecure",
     .type = kBoolean,
     .default_json = "false",
     .meaning = "Allows an address beyond loopback without TLS or without tokens: for a network that keeps "
                "strangers out by itself."},
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
    {.path = "http.connections_max",
     .type = kInteger,
     .default_json = "2000",
     .minimum = 1,
     .maximum = 100'000,
     .meaning = "Open connections; more get 503. One takes some 20 KiB, with TLS some 80."},
    {.path = "http.client_connections_max",
     .type = kInteger,
     .default_json = "1500",
     .minimum = 1,
     .maximum = 100'000,
     .is_live = true,
     .meaning = "Open connections of one client, an IPv4 address or the /64 of an IPv6 one; more get 503."},
    {.path = "http.client_requests_per_s_max",
     .type = kInteger,
     .default_json = "100000",
     .minimum = 1,
     .maximum = 1'000'000'000,
     .is_live = true,
     .meaning = "Requests a second of one client; more get 429. A client may also have three quarters of the "
                "memory of bodies."},

    {.path = "admin",
     .type = kSection,
     .default_json = "{}",
     .meaning = "Status, metrics and changes: docs/HTTP.md."},
    {.path = "admin.listen",
     .default_json = "null",
     .nullable = true,
     .rule = &kListenAddress,
     .meaning =
         "Where all pages are answered, e.g. \"127.0.0.1:8081\"; http.listen then answers look-ups alone. "
         "null: http.listen answers all pages."},
    {.path = "admin.insecure",
     .type = kBoolean,
     .default_json = "false",
     .meaning = "The same for admin.listen as http.insecure."},

    {.path = "access",
     .type = kSection,
     .default_json = "{}",
     .meaning = "TLS and tokens of both listeners: docs/HTTP.md. A file that changes is read again within a "
                "second."},
    {.path = "access.certificate",
     .default_json = "null",
     .nullable = true,
     .rule = &kPath,
     .meaning = "PEM file, the daemon's certificate and those between it and the CA. null: plain HTTP."},
    {.path = "access.key",
     .default_json = "null",
     .nullable = true,
     .rule = &kPath,
     .meaning = "PEM file, the key of the certificate, without a passphrase."},
    {.path = "access.ca",
     .default_json = "null",
     .nullable = true,
     .rule = &kPath,
     .meaning = "PEM file, the CAs that other daemons' certificates must be signed by. null: those that the "
                "machine trusts."},
    {.path = "access.tokens",
     .default_json = "null",
     .nullable = true,
     .rule = &kPath,
     .meaning =
         "File of tokens, a line each: ROLE NAME TOKEN, with a role of read, write or admin. null: nobody is "
         "asked for one."},
    {.path = "access.audit_users",
     .type = kChoice,
     .default_json = R"("hashed")",
     .choices = kAuditUsers,
     .meaning = "How the audit log names users: by the hash that the store has (XXH3-128), or plainly."},

    {.path = "cluster",
     .type = kSection,
     .default_json = "{}",
     .meaning = "The group's other daemons, and how they reach this one: docs/SCALE-OUT.md."},
    {.path = "cluster.address",
     .default_json = "null",
     .nullable = true,
     .rule = &kHostPort,
     .meaning = "Where other daemons and clients reach http.listen. null: as http.listen says; where that is "
                "0.0.0.0 or [::], the host's name."},
    {.path = "cluster.peers",
     .default_json = R"("")",
     .rule = &kPeerList,
     .meaning = "Daemons that requests may be passed on to, by their cluster.address: for users of "
                "partitions that they own. Empty: none is passed on."},
    {.path = "cluster.token",
     .default_json = "null",
     .nullable = true,
     .rule = &kToken,
     .is_secret = true,
     .meaning = "What daemons know each other by, the same for all of a group. Needed with cluster.peers."},
    {.path = "cluster.topic",
     .default_json = "null",
     .nullable = true,
     .rule = &kTopicName,
     .meaning = "Topic where replicas say what they answer, and promotions stand; a replica makes it. null: "
                "watermarks.topic with \"-cluster\" after it."},

    {.path = "log", .type = kSection, .default_json = "{}", .meaning = "Log lines on standard error."},
    {.path = "log.level",
     .type = kChoice,
     .default_json = R"("info")",
     .choices = kLogLevels,
     .is_live = true,
     .meaning = "The least that is written."},
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

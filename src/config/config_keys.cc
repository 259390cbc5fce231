#include "config/config_keys.h"

#include <fmt/format.h>

#include <array>

#include "binary/binary_format.h"
#include "config/config_rows.h"
#include "filter/snapshot_format.h"
#include "similar/port/options.h"

namespace seen {

namespace {

using enum ConfigType;

constexpr TextRule kGroupName = {"1 to 249 characters of a-z, A-Z, 0-9, '.', '_' and '-'",
                                 "[a-zA-Z0-9._-]{1,249}", 249};
constexpr TextRule kTopicPrefix = {"1 to 200 characters of a-z, A-Z, 0-9, '.', '_' and '-'",
                                   "[a-zA-Z0-9._-]{1,200}", 200};
constexpr TextRule kListenAddress = {
    "ADDRESS:PORT or [ADDRESS]:PORT with a numeric IPv4 or IPv6 address and a port from 0 (any free one) to "
    "65535",
    "((25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])(\\.(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])){3}"
    "|\\[[0-9a-fA-F:.]{2,45}\\])"
    ":(6553[0-5]|655[0-2][0-9]|65[0-4][0-9]{2}|6[0-4][0-9]{3}|[1-5]?[0-9]{1,4})",
    64};
constexpr TextRule kPeerList = {
    "HOST, HOST:PORT or ADDRESS/PREFIX, several separated by commas without spaces",
    "([^\\s,]+(,[^\\s,]+)*)?", 4096};
constexpr TextRule kHostNames = {
    "host names without ports, several separated by commas without spaces; example: seend.example.com",
    "([a-zA-Z0-9._-]{1,253}(,[a-zA-Z0-9._-]{1,253})*)?", 4096};
constexpr TextRule kToken = {"8 to 256 characters of a-z, A-Z, 0-9, '.', '_' and '-'",
                             "[a-zA-Z0-9._-]{8,256}", 256};
constexpr std::array<std::string_view, 4> kLogLevels = {"debug", "info", "warning", "error"};
constexpr std::array<std::string_view, 2> kLogFormats = {"text", "json"};
constexpr std::array<std::string_view, 2> kAuditUsers = {"hashed", "plain"};
constexpr std::array<std::string_view, 2> kRoles = {"owner", "replica"};
constexpr TextRule kMessageName = {
    "names of a-z, A-Z, 0-9 and '_', separated by dots; example: shop.Exposure",
    "[a-zA-Z_][a-zA-Z0-9_]*([.][a-zA-Z_][a-zA-Z0-9_]*)*", 512};
constexpr TextRule kUrl = {
    "http://HOST[:PORT] or https://HOST[:PORT], perhaps with a path, without the user and password",
    "https?://[^\\s/@?#]+(/[^\\s@?#]*)?", 2048};
constexpr TextRule kLine = {"a text of 1 to 4096 bytes without line breaks", "[^\\r\\n]+", 4096};
constexpr TextRule kFilterName = {"1 to 64 characters of a-z, 0-9, '_' and '-'", "[a-z0-9_-]{1,64}", 64};
constexpr std::array<std::string_view, 2> kWindowBys = {"exposed_at", "item_created_at"};
constexpr std::array<std::string_view, 2> kSizes = {"fewest", "power_of_two"};
constexpr std::array<std::string_view, 3> kSimilarChoices = {"off", "demote", "drop"};
constexpr std::array<std::string_view, 2> kVerifications = {"off", "sketch"};

constexpr ConfigKey kKeys[] = {
    Choice("role", R"("owner")", kRoles,
           "\"replica\": this group keeps the same state as the group in replica_of, and answers look-ups. "
           "It writes nothing until it is promoted: docs/SCALE-OUT.md."),
    Text("replica_of", "null", kGroupName, "With \"role\": \"replica\": the kafka.group_id of the owners.")
        .Into<&Config::replica_of>(),

    Text("topic_prefix", "null", kTopicPrefix,
         "Begins the names of the daemon's own topics that the configuration doesn't name: PREFIX-filters, "
         "-dead-letters, -watermarks, -state, -item-groups, -by-user and -items-in-order. Each further group "
         "on a cluster needs a prefix and a kafka.group_id of its own. null: each topic's own default."),

    Section("kafka", "{}", "The cluster and how to reach it."),
    Text("kafka.brokers", "", kBrokerList,
         "Addresses of the cluster's brokers. With --embedded-kafka they aren't needed.")
        .Into<&Config::kafka, &KafkaConfig::brokers>(),
    Text("kafka.group_id", R"("seend")", kGroupName,
         "Consumer group. Daemons of one group share the partitions. Replicas have a group of their own.")
        .Into<&Config::kafka, &KafkaConfig::group_id>(),
    Text("kafka.instance_id", "null", kGroupName,
         "Name of this member (static membership). With the same name, a restarted daemon gets its "
         "partitions back at once. null: made from the host's name and store.directory, and kept in "
         "store.directory/instance.")
        .Into<&Config::kafka, &KafkaConfig::instance_id>(),
    Map("kafka.client",
        "librdkafka properties by their own names, e.g. \"security.protocol\": \"SASL_SSL\". seend refuses "
        "the properties that it sets itself.")
        .Into<&Config::kafka, &KafkaConfig::client>(),
    Whole("kafka.embedded_partitions", "", "4", {1, 64},
          "Partitions of the input topic on the broker of --embedded-kafka. Without that option, the key has "
          "no effect.")
        .Into<&Config::kafka, &KafkaConfig::embedded_partitions>(),

    Section("input", "{}", "The topic of exposure events."),
    Text("input.topic", R"("exposures")", kTopicName, "Topic to read.")
        .Into<&Config::input, &InputConfig::topic>(),
    Flag("input.keyed_by_user", "true",
         "Whether the key of each record is its user's id. false: seend writes each event to "
         "input.keyed_topic, partitioned by murmur2, and reads that topic: docs/EVENTS.md."),
    Text("input.keyed_topic", "null", kTopicName,
         "Topic for events keyed by user, if input.keyed_by_user is false. seend creates it. null: the name "
         "of input.topic, followed by \"-by-user\"."),
    Choice("input.partitioner", R"("murmur2")", kPartitionerNames,
           "How the producer of the events maps a key to a partition: murmur2 as Java clients do, crc32 as "
           "librdkafka, kcat and Python's clients do by default, or fnv1a as Go's Sarama does. No effect if "
           "input.keyed_by_user is false.")
        .Into<&Config::input, &InputConfig::partitioner>(),
    Text("input.dead_letter_topic", R"("exposures-dead-letters")", kTopicName,
         "Topic for records that seend can't decode. Their headers have the reason.")
        .Into<&Config::input, &InputConfig::dead_letter_topic>(),
    Choice("input.format", R"("json")", kEventEncodingNames,
           "How events are written. avro and protobuf need a schema: docs/BINARY-EVENTS.md."),
    Choice("input.framing", R"("none")", kEventFramingNames,
           "confluent: a schema registry's five bytes stand before each event."),
    Text("input.schema_file", "null", kPath,
         "Schema of the events, if input.format isn't json: a schema of Avro (.avsc), or a FileDescriptorSet "
         "of "
         "Protobuf. With a registry: the schema as which Avro's events are read."),
    Text("input.protobuf_message", "null", kMessageName,
         "Full name of the events' message in input.schema_file, such as shop.Exposure."),
    Section("input.schema_registry", "{}",
            "Registry of the schemas that the events name, with input.framing confluent."),
    Text("input.schema_registry.url", "null", kUrl, "Address of the registry. null: there is none."),
    Text("input.schema_registry.user", "null", kLine, "User, or API key. null: the registry asks for none."),
    Text("input.schema_registry.password", "null", kLine, "Password of the user, or secret of the API key.")
        .Secret(),
    Text(
        "input.schema_registry.ca", "null", kPath,
        "PEM file with the CAs that sign the registry's certificate. null: the CAs that the machine trusts."),
    Text("input.schema_registry.certificate", "null", kPath,
         "PEM file with seend's certificate for the registry. null: none."),
    Text("input.schema_registry.key", "null", kPath,
         "PEM file with the private key of that certificate, without a passphrase."),
    Whole("input.schema_registry.unknown_s", "seconds", "60", {0, 3600},
          "How long events wait whose schema the registry doesn't know. Then they become dead letters."),
    Whole("input.event_bytes_max", "bytes", "1048576", {256, 67'108'864},
          "A longer event becomes a dead letter.")
        .Into<&Config::input, &InputConfig::event_bytes_max>(),
    Whole("input.future_skew_s_max", "seconds", "300", {0, 86'400},
          "An event becomes a dead letter if its time is further ahead of its record's Kafka timestamp.")
        .Into<&Config::input, &InputConfig::future_skew_max>(),
    Whole("input.replay_idle_s", "seconds", "60", {1, 86'400},
          "A replay ends, at the latest, when no event of it comes for this time. Then seend publishes its "
          "users.")
        .Into<&Config::input, &InputConfig::replay_idle>(),
    Whole("input.workers", "threads", "null", {1, 1024},
          "Threads that decode and apply events, at most one a partition. null: one a processor. Set it if a "
          "container may use fewer processors than its machine has.")
        .Into<&Config::input, &InputConfig::workers>(),

    Section(
        "input.loss", "{}",
        "How many of the events may be lost before it is a trouble: docs/EVENTS.md. The shares are those of "
        "the last window; replays don't count. With 1, the share is never a trouble."),
    Whole("input.loss.window_s", "seconds", "600", {10, 86'400}, "Time over which seend counts.")
        .Into<&Config::loss, &LossLimits::window>(),
    Whole("input.loss.events_min", "events", "100", {1, 1'000'000'000},
          "With fewer events in the window, no share is a trouble.")
        .Into<&Config::loss, &LossLimits::events_min>(),
    Number("input.loss.too_old_share_max", "0.05", {0, 1},
           "Share of events that are older than every window.")
        .Into<&Config::loss, &LossLimits::too_old_share_max>(),
    Number("input.loss.skipped_share_max", "0.99", {0, 1},
           "Share of events that input.only_if, input.kinds, input.ids_ignored or input.items_only_if "
           "excludes.")
        .Into<&Config::loss, &LossLimits::skipped_share_max>(),
    Number("input.loss.no_id_share_max", "0.5", {0, 1},
           "Share of events without an item that has an id, where input.items_skip_invalid is true.")
        .Into<&Config::loss, &LossLimits::no_id_share_max>(),
    Number("input.loss.no_filter_share_max", "0.99", {0, 1}, "Share of events that no filter covers.")
        .Into<&Config::loss, &LossLimits::no_filter_share_max>(),
    Number("input.loss.rejected_share_max", "0.05", {0, 1},
           "Share of events, or of items, that become dead letters.")
        .Into<&Config::loss, &LossLimits::rejected_share_max>(),
    Number("input.loss.misrouted_share_max", "0.01", {0, 1},
           "Share of events in another partition than their user's.")
        .Into<&Config::loss, &LossLimits::misrouted_share_max>(),
    Whole("input.loss.unreached_events_min", "events", "10000", {1, 1'000'000'000'000},
          "After so many events since the start, a filter that none of them reached is a trouble.")
        .Into<&Config::loss, &LossLimits::unreached_events_min>(),

    Section("input.fields", "{}",
            "Where in an event its fields are. null: the member with the field's own name."),
    Shaped("input.fields.user_id", "null", kUserFieldShape,
           "Id of the user. Of a list of pointers, the first that leads to an id."),
    Shaped("input.fields.item_id", "null", kFieldShape,
           "Id of the item. With input.fields.items, the pointer starts at an element of that array."),
    Shaped("input.fields.items", "null", kFieldShape,
           "Array of the items that were shown at once, as ids or objects. A step \"*\" stands for every "
           "element of an array: \"/pages/*/items\"."),
    Shaped("input.fields.exposed_at", "null", kTimeFieldShape,
           "Time of the event, for events of every kind."),
    Shaped("input.fields.kind", "null", kFieldShape,
           "Kind of the event: see input.kinds. An event without a kind is an exposure."),
    Shaped("input.fields.scene", "null", kFieldShape, "Scene in which the item was shown."),
    Shaped("input.fields.position", "null", kFieldShape,
           "Position at which the item was shown. With input.fields.items, the pointer starts at an element "
           "of that array."),
    Shaped("input.fields.request_id", "null", kFieldShape,
           "Id of the recommendation that the item came from."),
    Shaped("input.fields.item_created_at", "null", kTimeFieldShape,
           "Time when the item was created. With input.fields.items, the pointer starts at an element of "
           "that array."),
    Shaped(
        "input.fields.items_exposed_at", "null", kTimeFieldShape,
        "An item's own time. The pointer starts at an element of input.fields.items. An item without it has "
        "the event's time."),
    Shaped("input.ids_ignored", "null", kIdsIgnoredShape,
           "Ids that are no user's. seend skips events of such a user."),
    Flag("input.items_skip_invalid", "false",
         "true: seend skips an element of items without a valid id. false: the event becomes a dead letter."),
    Shaped(
        "input.items_only_if", "null", kConditionsShape,
        "Condition on elements of items. The pointers start at the element. seend skips elements for which "
        "it doesn't hold. Of a list, all conditions must hold."),
    Flag(
        "input.lenient", "false",
        "true: an event counts although a string that nobody reads is broken inside (an unknown escape, half "
        "a surrogate pair, bytes that aren't UTF-8). false: it becomes a dead letter."),
    Shaped("input.kinds", "null", kKindsShape,
           "Maps the kinds' names in events to exposed, served, removed, erased, or one of filters[].kinds. "
           "seend skips a kind that maps to null. Unknown kinds become dead letters. null: events use the "
           "kinds' own names."),
    Shaped("input.only_if", "null", kConditionsShape,
           "Condition on events. seend skips events for which it doesn't hold. Of a list, all conditions "
           "must hold."),

    List("filters", "[{}]", {1, 16}, "The filters. Each filter keeps its own state."),
    Text("filters[].name", R"("default")", kFilterName,
         "Unique name, in addresses and metrics. The state belongs to the name: a renamed filter starts "
         "empty.")
        .Into<&FilterConfig::name>(),
    Shaped("filters[].scenes", "null", kScenesShape,
           "Scenes that the filter covers. null: all scenes, and events without a scene."),
    Shaped("filters[].when", "null", kConditionsShape,
           "Condition on the events that the filter covers, in addition to scenes. Of a list, all conditions "
           "must hold. null: all events."),
    Whole("filters[].window_days", "days", "30", {1, 3650}, "How long an exposure counts, in UTC days.")
        .Into<&FilterConfig::window_days>(),
    Choice("filters[].window_by", R"("exposed_at")", kWindowBys,
           "\"exposed_at\": the window counts from when the item was shown. \"item_created_at\": from when "
           "it was created, for recall of young items only. An event without item_created_at counts from "
           "when the item was shown.")
        .Into<&FilterConfig::window_by>(),
    Whole("filters[].exposures_min", "exposures", "1", {1, 64},
          "How many exposures in the window make an item count as seen. Above 1, seend keeps each exposure "
          "with its second.")
        .Into<&FilterConfig::exposures_min>(),
    Whole("filters[].cooldown_days", "days", "null", {1, 3650},
          "How long after its newest exposure an item may come back, in UTC days, even if the window is "
          "longer. null: it comes back only when it leaves the window.")
        .Into<&FilterConfig::cooldown_days>(),
    Whole("filters[].served_ttl_s", "seconds", "1800", {6, 604'800},
          "How long a served item counts as seen without an exposure, and at most a sixth longer. seend "
          "rounds the value up to a multiple of 6.")
        .Into<&FilterConfig::served_ttl_s>(),
    Shaped("filters[].kinds", "{}", kDeclaredKindsShape,
           "Your own kinds of events whose items also count as seen, each kind with its own window."),
    Choice("filters[].similar", R"("off")", kSimilarChoices,
           "How `unseen` treats a candidate that is similar to a seen item: \"demote\" puts it last, "
           "\"drop\" leaves it out. Needs `items`. docs/SIMILAR.md says what the snapshot holds.")
        .Into<&FilterConfig::similar>(),
    Whole("filters[].items_max", "items", "10000", {1, 1'000'000},
          "How many of a user's newest items count. seend applies it when it answers and renders.")
        .Into<&FilterConfig::items_max>(),
    Whole("filters[].items_per_day_max", "items", "50000", {1, 1'000'000},
          "How many items of a user seend keeps a day. It is a limit against bots.")
        .Into<&FilterConfig::items_per_day_max>(),
    Section(
        "filters[].snapshot", "{}",
        "Publication of each user's filter. null: seend publishes nothing. Look-ups over HTTP still work.")
        .OrNull(),
    Text("filters[].snapshot.topic", R"("seen-filters")", kTopicName,
         "Compacted topic to publish to, keyed by user id. Each filter needs its own topic."),
    Choice("filters[].snapshot.format", R"("split_block_bloom")", kSnapshotFormatNames,
           "Kind of filter: docs/FILTERS.md compares them. \"auto\": for each user the kind with the fewest "
           "bytes. After a change, the daily sweep re-renders all users' filters; `seenctl publish` does it "
           "at once.")
        .Live(),
    Choice("filters[].snapshot.size", R"("fewest")", kSizes,
           "\"power_of_two\": \"split_block_bloom\" with a power of two of blocks, for libraries that accept "
           "only that (Arrow C++, Velox, ClickHouse). It takes up to twice the bytes.")
        .Live(),
    Number("filters[].snapshot.false_positive_rate", "0.01", {kRateMin, kRateMax},
           "Share of unseen items that a published filter may call seen: 0.01 takes about 10.6 bits an item. "
           "Look-ups over HTTP are exact.")
        .Live(),
    Whole("filters[].snapshot.debounce_ms", "milliseconds", "1000", {0, 3'600'000},
          "seend publishes a user's filter at once, and then at most once in this time.")
        .Live(),
    Flag("filters[].snapshot.updates", "false",
         "Whether seend also publishes what is new within some 20 ms, to updates.topic. Readers then need "
         "both topics: schemas/update.md."),

    Section("items", "null",
            "Items with their texts. seend groups near-copies: docs/SIMILAR.md. null: it groups none."),
    Text("items.topic", R"("items")", kTopicName, "Topic of items, as JSON, with any number of partitions.")
        .Into<&Config::items, &ItemsConfig::topic>(),
    Text("items.groups_topic", R"("item-groups")", kTopicName,
         "Compacted topic to which seend writes the group of each item. The key is the item id.")
        .Into<&Config::items, &ItemsConfig::groups_topic>(),
    Text("items.ordered_topic", "null", kTopicName,
         "Topic in which seend puts items in order, if items.topic has more than one partition. Each "
         "partition has an index, for the languages (lang) that hash to it. null: the name of items.topic, "
         "followed by \"-in-order\".")
        .Into<&Config::items, &ItemsConfig::ordered_topic>(),
    Section("items.fields", "{}",
            "Where in an item its fields are. null: the member with the field's own name."),
    Shaped("items.fields.item_id", "null", kFieldShape, "Id of the item, as in exposures."),
    Shaped("items.fields.created_at", "null", kTimeFieldShape,
           "Time when the item was created. Without it, the record's timestamp counts."),
    Shaped("items.fields.title", "null", kFieldShape, "Title of the item."),
    Shaped("items.fields.text", "null", kFieldShape, "Text of the item."),
    Shaped("items.fields.lang", "null", kFieldShape, "Language of the item, such as \"zh\" or \"en-GB\"."),
    Shaped("items.fields.deleted", "null", kFieldShape, "true: seend deletes the item from the index."),
    Whole("items.window_days", "days", "30", {1, 3650},
          "How long after its created_at seend compares an item with new items.")
        .Into<&Config::items, &ItemsConfig::window_days>(),
    Choice("items.method", "null", kSimilarMethodNames,
           "How seend finds candidates: by MinHash bands, by SimHash (which misses many), or by both. null: "
           "as the index has it; a new one gets \"minhash\".")
        .Into<&Config::items, &ItemsConfig::method>(),
    Whole("items.distance_max", "bits", "3", {0, 3},
          "By how many of 64 bits two SimHashes may differ. For short texts the limit is at most 2.")
        .Into<&Config::items, &ItemsConfig::distance_max>(),
    Choice("items.verify", R"("sketch")", kVerifications,
           "\"sketch\": seend compares candidates by a stored sketch of their words. \"off\": every "
           "candidate counts as similar, for measurements, or if bytes matter more than precision.")
        .Into<&Config::items, &ItemsConfig::verify>(),
    Number("items.similarity_min", "0.8", {0.3, 1},
           "Least Jaccard similarity of word 3-shingles at which two items count as similar.")
        .Into<&Config::items, &ItemsConfig::similarity_min>(),
    Whole("items.text_bytes_max", "bytes", "1048576", {1024, 67'108'864},
          "Limit for title and text together. seend cuts a longer text and counts it.")
        .Into<&Config::items, &ItemsConfig::text_bytes_max>(),
    Choice("items.segmentation", "null", kSegmentationNames,
           "What the 3-shingles of Chinese and Japanese are made of: characters (\"trigrams\"), words by "
           "ICU's dictionary, or several of these. null: as the index has it; a new one gets \"trigrams\".")
        .Into<&Config::items, &ItemsConfig::segmentation>(),
    Choice(
        "items.numbers", "null", kNumbersNames,
        "\"distinct\": two texts whose numbers differ are neither copies nor near, unless the numbers that "
        "differ are less than a tenth of all numbers of the text that has more. \"ignored\": a number is a "
        "word like any other. null: as the index has it; a new "
        "one gets \"distinct\".")
        .Into<&Config::items, &ItemsConfig::numbers>(),
    Whole("items.tokens_min", "words", "null", {0, 1000},
          "A text of fewer different words is similar to equal texts only. null: as the index has it; a new "
          "one gets 6.")
        .Into<&Config::items, &ItemsConfig::tokens_min>(),
    Number("items.containment_min", "null", {0, 1},
           "An item is also similar to a longer one that contains so much of its word 3-shingles: a repost "
           "with additions. 0: that doesn't count. null: as the index has it; a new one gets 0.9.")
        .Into<&Config::items, &ItemsConfig::containment_min>(),
    Shaped("items.boilerplate", "[]", kBoilerplateShape,
           "Patterns of text that reposts add, such as source lines. The daemon takes out each match before "
           "it compares texts."),
    Text("items.idf_file", "null", kPath,
         "Table of word counts for the weights of SimHash, made by `seen_idf`. null: the bundled table. An "
         "index keeps the table with which it was built.")
        .Into<&Config::items, &ItemsConfig::idf_file>(),

    Section("unexposed", "{}", "Items that were served and never shown."),
    Text("unexposed.topic", "null", kTopicName,
         "Topic to which seend publishes these items, keyed by user id. null: seend doesn't publish them.")
        .Into<&Config::unexposed, &UnexposedConfig::topic>(),
    Whole("unexposed.grace_s", "seconds", "600", {0, 86'400},
          "How long seend still waits for an exposure after the longest served_ttl_s of the filters, by the "
          "events' Kafka timestamps.")
        .Into<&Config::unexposed, &UnexposedConfig::grace>(),

    Section("watermarks", "{}", "How far seend has read each partition, for readers of the snapshot topics."),
    Text("watermarks.topic", R"("seen-watermarks")", kTopicName,
         "Compacted topic with a record a second for each partition, which tell a stale topic from a quiet "
         "one. null: none. If no filter publishes, seend writes none either.")
        .OrNull()
        .Into<&Config::watermarks, &WatermarksConfig::topic>(),

    Section("updates", "{}", "What is new of users (schemas/update.md), for filters with snapshot.updates."),
    Text("updates.topic", R"("seen-updates")", kTopicName,
         "Topic of updates, of all filters. seend creates it, if a filter takes part.")
        .Into<&Config::updates, &UpdatesConfig::topic>(),
    Whole(
        "updates.refresh_s", "seconds", "1800", {1, 86'400},
        "Within this time, the snapshots of these filters hold what is new. A shorter time costs more, since "
        "seend renders a changed user once in it.")
        .Into<&Config::updates, &UpdatesConfig::refresh>(),

    Section("state", "{}", "Copy of the state in Kafka: seend restores from it what a lost disk held."),
    Text("state.topic", R"("seen-state")", kTopicName,
         "Topic of the partitions' state. If store.directory has no state of a partition, or older state, "
         "seend restores it from here. Each group of owners needs its own topic. seend creates it. null: "
         "state is on this machine only.")
        .OrNull()
        .Into<&Config::state, &StateConfig::topic>(),
    Whole("state.run_every_s", "seconds", "60", {1, 3600}, "How often seend writes the changes to the topic.")
        .Into<&Config::state, &StateConfig::run_every>(),
    Whole("state.trim_after_s", "seconds", "3600", {1, 2'592'000},
          "How long records stay in the topic after a newer base has replaced them. Then seend deletes them.")
        .Into<&Config::state, &StateConfig::trim_after>(),
    Whole("state.keep_gib", "GiB", "32", {0, 1'048'576},
          "Disk space for copies of partitions that other daemons own now. Beyond it, seend deletes the "
          "oldest copy, if the topic can restore it. With store.explain_days it deletes none, because no "
          "topic has the journal.")
        .Into<&Config::state, &StateConfig::keep_bytes, 30>(),

    Section("store", "{}", "State on this machine's disk."),
    Text("store.directory", R"("/var/lib/seend")", kPath,
         "Directory of the partitions' RocksDB stores. Each daemon needs its own directory.")
        .Into<&Config::store, &StoreConfig::directory>(),
    Whole("store.memory_mib", "MiB", "1024", {64, 1'048'576},
          "Limit for caches, tails, queues, file writes and HTTP bodies together, over all partitions. "
          "docs/ARCHITECTURE.md has the shares.")
        .Into<&Config::store, &StoreConfig::memory_bytes, 20>(),
    Whole("store.checkpoint_interval_s", "seconds", "10", {1, 3600},
          "How often seend makes changes durable. After a crash, it reads the events since the last "
          "checkpoint again.")
        .Into<&Config::store, &StoreConfig::checkpoint_interval>(),
    Whole("store.explain_days", "days", "0", {0, 400},
          "Days before today for which seend keeps a journal of what was shown: item, scene, position, time "
          "and request. 0: no journal; seend drops an existing one.")
        .Into<&Config::store, &StoreConfig::explain_days>(),
    Whole("store.explain_mib", "MiB", "4096", {1, 1'073'741'824},
          "Limit for the journal on disk, over all partitions. seend drops the oldest day first.")
        .Into<&Config::store, &StoreConfig::explain_bytes, 20>(),

    Section("http", "{}", "Look-ups, status and metrics."),
    Text("http.listen", R"("127.0.0.1:8080")", kListenAddress,
         "Address that answers look-ups, and all pages if admin.listen is null. An address beyond loopback "
         "needs TLS and tokens (access), or http.insecure.")
        .Into<&Config::http, &HttpConfig::listen>(),
    Flag("http.insecure", "false",
         "Allows an address beyond loopback without TLS or without tokens. Use it only if the network itself "
         "keeps strangers out.")
        .Into<&Config::http, &HttpConfig::insecure>(),
    Text(
        "http.hosts", R"("")", kHostNames,
        "Names by which clients send changes to this daemon, as their Host header has them without the port: "
        "those of a proxy or a load balancer. Addresses, localhost and the host of cluster.address need no "
        "entry.")
        .Into<&Config::http, &HttpConfig::hosts>(),
    Whole("http.threads", "threads", "2", {1, 256}, "Threads that answer requests.")
        .Into<&Config::http, &HttpConfig::threads>(),
    Whole("http.ready_lag_messages", "messages", "10000", {0, 1'000'000'000'000},
          "A partition that opens answers once no more messages are unread. One that falls further behind "
          "isn't "
          "ready: its users get answers with their age.")
        .Into<&Config::http, &HttpConfig::ready_lag_messages>(),
    Whole("http.connections_max", "", "2000", {1, 100'000},
          "Limit of open connections; further ones get 503. A connection takes about 20 KiB, with TLS about "
          "80 KiB. At most three eighths of the limit on open files.")
        .Into<&Config::http, &HttpConfig::connections_max>(),
    Whole("http.client_connections_max", "", "1500", {1, 100'000},
          "Limit of open connections of one client; further ones get 503. A client is an IPv4 address or an "
          "IPv6 /64.")
        .Live()
        .Into<&Config::http, &HttpConfig::client_connections_max>(),
    Whole("http.client_requests_per_s_max", "", "100000", {1, 1'000'000'000},
          "Limit of requests a second of one client; further ones get 429. A client may also use at most "
          "three quarters of the memory for bodies.")
        .Live()
        .Into<&Config::http, &HttpConfig::client_requests_per_s_max>(),

    Section("admin", "{}", "Status, metrics and changes: docs/HTTP.md."),
    Text("admin.listen", "null", kListenAddress,
         "Address that answers all pages, e.g. \"127.0.0.1:8081\". http.listen then answers look-ups only. "
         "null: http.listen answers all pages.")
        .Into<&Config::admin, &AdminConfig::listen>(),
    Flag("admin.insecure", "false", "The same as http.insecure, for admin.listen.")
        .Into<&Config::admin, &AdminConfig::insecure>(),

    Section(
        "access", "{}",
        "TLS and tokens of both listeners: docs/HTTP.md. seend reads changed files again within a second."),
    Text("access.certificate", "null", kPath,
         "PEM file with the daemon's certificate and the intermediate certificates. null: plain HTTP.")
        .Into<&Config::access, &AccessConfig::certificate>(),
    Text("access.key", "null", kPath,
         "PEM file with the private key of the certificate, without a passphrase.")
        .Into<&Config::access, &AccessConfig::key>(),
    Text(
        "access.ca", "null", kPath,
        "PEM file with the CAs that sign other daemons' certificates. null: the CAs that the machine trusts.")
        .Into<&Config::access, &AccessConfig::ca>(),
    Text("access.tokens", "null", kPath,
         "File of tokens, one a line: ROLE NAME TOKEN. The role is read, write or admin. null: requests need "
         "no token.")
        .Into<&Config::access, &AccessConfig::tokens>(),
    Choice("access.audit_users", R"("hashed")", kAuditUsers,
           "How the audit log names users: \"hashed\", by the same hash as the store (XXH3-128), or "
           "\"plain\", by their ids."),

    Section("cluster", "{}", "The group's other daemons, and how they reach this one: docs/SCALE-OUT.md."),
    Text("cluster.address", "null", kHostPort,
         "Address at which other daemons and clients reach http.listen. null: the address of http.listen, "
         "with the host's name in place of 0.0.0.0 or [::].")
        .Into<&Config::cluster, &ClusterConfig::address>(),
    Text("cluster.peers", R"("")", kPeerList,
         "Daemons, by their cluster.address, to which this daemon passes on requests for users of their "
         "partitions. Empty: it passes on none.")
        .Into<&Config::cluster, &ClusterConfig::peers>(),
    Text("cluster.token", "null", kToken,
         "Secret by which daemons recognize each other, the same for all daemons of a group. cluster.peers "
         "needs it.")
        .Secret()
        .Into<&Config::cluster, &ClusterConfig::token>(),
    Text("cluster.topic", "null", kTopicName,
         "Topic for the replicas' reports of what they answer, and for promotions. A replica creates it. "
         "null: the name of watermarks.topic, followed by \"-cluster\".")
        .Into<&Config::cluster, &ClusterConfig::topic>(),

    Section("log", "{}", "Log lines on standard error."),
    Choice("log.level", R"("info")", kLogLevels, "Lowest level of the lines that seend writes.")
        .Live()
        .Into<&Config::log, &LogConfig::level>(),
    Choice("log.format", R"("text")", kLogFormats, "Text for people or one JSON object a line.")
        .Live()
        .Into<&Config::log, &LogConfig::format>(),
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

void Read(const ConfigNode& section, const ConfigJson& json, const ConfigTarget& target) {
  for (const ConfigNode& node : section.children) {
    const auto value = json.find(node.name);
    if (value == json.end()) continue;
    if (node.key->into != nullptr) node.key->into(*node.key, *value, target);
    if (value->is_object()) Read(node, *value, target);
    if (node.key->type != kList) continue;
    for (const ConfigJson& element : *value)
      Read(node, element, {target.config, &target.config.filters.emplace_back()});
  }
}

}  // namespace

std::span<const ConfigKey> ConfigKeys() { return kKeys; }

void ReadValues(const ConfigJson& document, Config& config) {
  Read(ConfigTree(), document, {config, nullptr});
}

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
      text = fmt::format("a number of at least {} and at most {}", key.minimum, key.maximum);
      break;
  }
  if (!key.unit.empty()) text += fmt::format(" ({})", key.unit);
  return key.nullable ? text + ", or null" : text;
}

}  // namespace seen

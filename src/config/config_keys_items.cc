// The table's rows for items.
#include <array>

#include "config/config_key_rules.h"
#include "config/config_keys_parts.h"
#include "items/group_options.h"

namespace seen {
namespace {

using enum ConfigType;

constexpr std::array<std::string_view, 2> kVerifications = {"off", "sketch"};

constexpr ConfigKey kKeys[] = {
    {.path = "items",
     .type = kSection,
     .default_json = "null",
     .nullable = true,
     .meaning = "Items by their text: near-copies are grouped (docs/SIMILAR.md). null: they aren't."},
    {.path = "items.topic",
     .default_json = R"("items")",
     .rule = &kTopicName,
     .meaning = "Topic of items, as JSON; any number of partitions."},
    {.path = "items.groups_topic",
     .default_json = R"("item-groups")",
     .rule = &kTopicName,
     .meaning = "Topic that says of each item which it is like, compacted, key = item id."},
    {.path = "items.ordered_topic",
     .default_json = "null",
     .nullable = true,
     .rule = &kTopicName,
     .meaning =
         "Where items are put in order if items.topic has more than one partition: each of its partitions is "
         "an "
         "index of its own, of the languages (lang) that hash to it. null: the name of items.topic and "
         "\"-in-order\"."},
    {.path = "items.fields",
     .type = kSection,
     .default_json = "{}",
     .meaning = "Where in an item its fields are. null: the member of the field's own name."},
    {.path = "items.fields.item_id",
     .type = kShape,
     .default_json = "null",
     .nullable = true,
     .shape = &kFieldShape,
     .meaning = "What exposures call it."},
    {.path = "items.fields.created_at",
     .type = kShape,
     .default_json = "null",
     .nullable = true,
     .shape = &kTimeFieldShape,
     .meaning = "When it came to be; the record's timestamp where it says nothing."},
    {.path = "items.fields.title",
     .type = kShape,
     .default_json = "null",
     .nullable = true,
     .shape = &kFieldShape,
     .meaning = "Its title."},
    {.path = "items.fields.text",
     .type = kShape,
     .default_json = "null",
     .nullable = true,
     .shape = &kFieldShape,
     .meaning = "Its text."},
    {.path = "items.fields.lang",
     .type = kShape,
     .default_json = "null",
     .nullable = true,
     .shape = &kFieldShape,
     .meaning = "Its language, such as \"zh\" or \"en-GB\"."},
    {.path = "items.fields.deleted",
     .type = kShape,
     .default_json = "null",
     .nullable = true,
     .shape = &kFieldShape,
     .meaning = "true: it is taken out."},
    {.path = "items.window_days",
     .type = kInteger,
     .unit = "days",
     .default_json = "30",
     .minimum = 1,
     .maximum = 3650,
     .meaning = "How long an item is compared with those that come, from its created_at."},
    {.path = "items.method",
     .type = kChoice,
     .default_json = "null",
     .nullable = true,
     .choices = kSimilarMethodNames,
     .meaning = "How candidates are found: MinHash bands, SimHash (misses many), or both. null: as the index "
                "that is there was built; a new one gets \"minhash\"."},
    {.path = "items.distance_max",
     .type = kInteger,
     .unit = "bits",
     .default_json = "3",
     .maximum = 3,
     .meaning = "By how many of 64 bits two SimHashes may differ; less is asked of short texts."},
    {.path = "items.verify",
     .type = kChoice,
     .default_json = R"("sketch")",
     .choices = kVerifications,
     .meaning =
         "\"sketch\": candidates are compared by a stored sketch of their words. \"off\": a candidate is "
         "alike; for measuring, and where bytes count more than precision."},
    {.path = "items.similarity_min",
     .type = kNumber,
     .default_json = "0.8",
     .minimum = 0.3,
     .maximum = 1,
     .meaning = "From which Jaccard similarity of their word 3-shingles on two items are alike."},
    {.path = "items.text_bytes_max",
     .type = kInteger,
     .unit = "bytes",
     .default_json = "1048576",
     .minimum = 1024,
     .maximum = 67'108'864,
     .meaning = "Of title and text together; what is longer is cut, and counted."},
    {.path = "items.idf_file",
     .default_json = "null",
     .nullable = true,
     .rule = &kPath,
     .meaning =
         "Table of word counts for the weights of SimHash, made by `seenctl idf`. null: the bundled one. An "
         "index keeps the table it was begun with."},
};

}  // namespace

std::span<const ConfigKey> ItemsConfigKeys() { return kKeys; }

}  // namespace seen

// The table's rows for items.
#include <array>

#include "config/config_keys.h"
#include "similar/port/options.h"

namespace seen {
namespace {

using enum ConfigType;

constexpr std::array<std::string_view, 2> kVerifications = {"off", "sketch"};

constexpr ConfigKey kItemKeys[] = {
    {.path = "items",
     .type = kSection,
     .default_json = "null",
     .nullable = true,
     .meaning = "Items with their texts. seend groups near-copies: docs/SIMILAR.md. null: it groups none."},
    {.path = "items.topic",
     .default_json = R"("items")",
     .rule = &kTopicName,
     .meaning = "Topic of items, as JSON, with any number of partitions."},
    {.path = "items.groups_topic",
     .default_json = R"("item-groups")",
     .rule = &kTopicName,
     .meaning = "Compacted topic to which seend writes the group of each item. The key is the item id."},
    {.path = "items.ordered_topic",
     .default_json = "null",
     .nullable = true,
     .rule = &kTopicName,
     .meaning = "Topic in which seend puts items in order, if items.topic has more than one partition. Each "
                "partition has an index, for the languages (lang) that hash to it. null: the name of "
                "items.topic, followed by \"-in-order\"."},
    {.path = "items.fields",
     .type = kSection,
     .default_json = "{}",
     .meaning = "Where in an item its fields are. null: the member with the field's own name."},
    {.path = "items.fields.item_id",
     .type = kShape,
     .default_json = "null",
     .nullable = true,
     .shape = &kFieldShape,
     .meaning = "Id of the item, as in exposures."},
    {.path = "items.fields.created_at",
     .type = kShape,
     .default_json = "null",
     .nullable = true,
     .shape = &kTimeFieldShape,
     .meaning = "Time when the item was created. Without it, the record's timestamp counts."},
    {.path = "items.fields.title",
     .type = kShape,
     .default_json = "null",
     .nullable = true,
     .shape = &kFieldShape,
     .meaning = "Title of the item."},
    {.path = "items.fields.text",
     .type = kShape,
     .default_json = "null",
     .nullable = true,
     .shape = &kFieldShape,
     .meaning = "Text of the item."},
    {.path = "items.fields.lang",
     .type = kShape,
     .default_json = "null",
     .nullable = true,
     .shape = &kFieldShape,
     .meaning = "Language of the item, such as \"zh\" or \"en-GB\"."},
    {.path = "items.fields.deleted",
     .type = kShape,
     .default_json = "null",
     .nullable = true,
     .shape = &kFieldShape,
     .meaning = "true: seend deletes the item from the index."},
    {.path = "items.window_days",
     .type = kInteger,
     .unit = "days",
     .default_json = "30",
     .minimum = 1,
     .maximum = 3650,
     .meaning = "How long after its created_at seend compares an item with new items."},
    {.path = "items.method",
     .type = kChoice,
     .default_json = "null",
     .nullable = true,
     .choices = kSimilarMethodNames,
     .meaning = "How seend finds candidates: by MinHash bands, by SimHash (which misses many), or by both. "
                "null: as the index has it; a new one gets \"minhash\"."},
    {.path = "items.distance_max",
     .type = kInteger,
     .unit = "bits",
     .default_json = "3",
     .maximum = 3,
     .meaning = "By how many of 64 bits two SimHashes may differ. For short texts the limit is at most 2."},
    {.path = "items.verify",
     .type = kChoice,
     .default_json = R"("sketch")",
     .choices = kVerifications,
     .meaning = "\"sketch\": seend compares candidates by a stored sketch of their words. \"off\": every "
                "candidate counts as similar, for measurements, or if bytes matter more than precision."},
    {.path = "items.similarity_min",
     .type = kNumber,
     .default_json = "0.8",
     .minimum = 0.3,
     .maximum = 1,
     .meaning = "Least Jaccard similarity of word 3-shingles at which two items count as similar."},
    {.path = "items.text_bytes_max",
     .type = kInteger,
     .unit = "bytes",
     .default_json = "1048576",
     .minimum = 1024,
     .maximum = 67'108'864,
     .meaning = "Limit for title and text together. seend cuts a longer text and counts it."},
    {.path = "items.segmentation",
     .type = kChoice,
     .default_json = "null",
     .nullable = true,
     .choices = kSegmentationNames,
     .meaning =
         "What the 3-shingles of Chinese and Japanese are made of: characters (\"trigrams\"), words by ICU's "
         "dictionary, or several of these. null: as the index has it; a new one gets \"trigrams\"."},
    {.path = "items.boilerplate",
     .type = kShape,
     .default_json = "[]",
     .shape = &kBoilerplateShape,
     .meaning = "Patterns of text that reposts add, such as source lines. The daemon takes out each match "
                "before it compares texts."},
    {.path = "items.idf_file",
     .default_json = "null",
     .nullable = true,
     .rule = &kPath,
     .meaning = "Table of word counts for the weights of SimHash, made by `seen_idf`. null: the bundled "
                "table. An index keeps the table with which it was built."},
};

}  // namespace

std::span<const ConfigKey> ItemsConfigKeys() { return kItemKeys; }

}  // namespace seen

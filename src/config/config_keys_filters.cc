// The table's rows for filters.
#include <array>

#include "config/config_key_rules.h"
#include "config/config_keys_parts.h"
#include "filter/snapshot_format.h"

namespace seen {
namespace {

using enum ConfigType;

constexpr TextRule kFilterName = {"1 to 64 characters of a-z, 0-9, '_' and '-'", "[a-z0-9_-]{1,64}", 64};
constexpr std::array<std::string_view, 2> kWindowBys = {"exposed_at", "item_created_at"};
constexpr std::array<std::string_view, 2> kSizes = {"fewest", "power_of_two"};
constexpr std::array<std::string_view, 3> kSimilarChoices = {"off", "demote", "drop"};

constexpr ConfigKey kKeys[] = {
    {.path = "filters",
     .type = kList,
     .default_json = "[{}]",
     .minimum = 1,
     .maximum = 16,
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
    {.path = "filters[].window_by",
     .type = kChoice,
     .default_json = R"("exposed_at")",
     .choices = kWindowBys,
     .meaning = "What the window goes by: when the item was shown, or, where recall takes young items only, "
                "when it was made (the event's item_created_at; without one, when it was shown)."},
    {.path = "filters[].exposures_min",
     .type = kInteger,
     .unit = "exposures",
     .default_json = "1",
     .minimum = 1,
     .maximum = 64,
     .meaning = "An item counts as seen from so many exposures in the window on. Above 1 each exposure is "
                "kept with its second."},
    {.path = "filters[].cooldown_days",
     .type = kInteger,
     .unit = "days",
     .default_json = "null",
     .nullable = true,
     .minimum = 1,
     .maximum = 3650,
     .meaning = "An item may come back so long after its newest exposure, in UTC days, though the window is "
                "longer. null: only with the window."},
    {.path = "filters[].served_ttl_s",
     .type = kInteger,
     .unit = "seconds",
     .default_json = "1800",
     .minimum = 6,
     .maximum = 604'800,
     .meaning =
         "How long a served item counts as seen without an exposure: at least so long, at most a sixth "
         "longer; rounded up to a multiple of 6."},
    {.path = "filters[].kinds",
     .type = kShape,
     .default_json = "{}",
     .shape = &kDeclaredKindsShape,
     .meaning = "Kinds of events of your own that count as seen as well, each with a window of its own."},
    {.path = "filters[].similar",
     .type = kChoice,
     .default_json = R"("off")",
     .choices = kSimilarChoices,
     .meaning =
         "What becomes of a candidate that is like a seen item (takes `items`): \"demote\": `unseen` puts it "
         "last; \"drop\": leaves it out."},
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
     .choices = kSnapshotFormatNames,
     .is_live = true,
     .meaning =
         "Kind of filter; byte by byte in schemas/snapshot.md, compared in docs/FILTERS.md. \"auto\": for "
         "each user the one of the fewest bytes. A change re-renders all users' filters, a day's sweep "
         "long; `seenctl publish` at once."},
    {.path = "filters[].snapshot.size",
     .type = kChoice,
     .default_json = R"("fewest")",
     .choices = kSizes,
     .is_live = true,
     .meaning =
         "\"power_of_two\": \"split_block_bloom\" with a power of two of blocks, for libraries that take no "
         "other (Arrow C++, Velox, ClickHouse); up to twice the bytes."},
    {.path = "filters[].snapshot.false_positive_rate",
     .type = kNumber,
     .default_json = "0.01",
     .minimum_excluded = true,
     .maximum = 0.5,
     .is_live = true,
     .meaning = "Share of unseen items that a published filter may call seen. Lower is larger: 0.01 takes "
                "about 10.6 "
                "bits an item. Look-ups over HTTP are exact."},
    {.path = "filters[].snapshot.debounce_ms",
     .type = kInteger,
     .unit = "milliseconds",
     .default_json = "1000",
     .maximum = 3'600'000,
     .is_live = true,
     .meaning = "A user's filter is published at once, then at most once in this time."},
};

}  // namespace

std::span<const ConfigKey> FiltersConfigKeys() { return kKeys; }

}  // namespace seen

// The table's rows for filters.
#include <array>

#include "config/config_keys.h"
#include "filter/snapshot_format.h"

namespace seen {
namespace {

using enum ConfigType;

constexpr TextRule kFilterName = {"1 to 64 characters of a-z, 0-9, '_' and '-'", "[a-z0-9_-]{1,64}", 64};
constexpr std::array<std::string_view, 2> kWindowBys = {"exposed_at", "item_created_at"};
constexpr std::array<std::string_view, 2> kSizes = {"fewest", "power_of_two"};
constexpr std::array<std::string_view, 3> kSimilarChoices = {"off", "demote", "drop"};

constexpr ConfigKey kFilterKeys[] = {
    {.path = "filters",
     .type = kList,
     .default_json = "[{}]",
     .minimum = 1,
     .maximum = 16,
     .meaning = "The filters. Each filter keeps its own state."},
    {.path = "filters[].name",
     .default_json = R"("default")",
     .rule = &kFilterName,
     .meaning = "Unique name, in addresses and metrics. The state belongs to the name: a renamed filter "
                "starts empty."},
    {.path = "filters[].scenes",
     .type = kShape,
     .default_json = "null",
     .nullable = true,
     .shape = &kScenesShape,
     .meaning = "Scenes that the filter covers. null: all scenes, and events without a scene."},
    {.path = "filters[].when",
     .type = kShape,
     .default_json = "null",
     .nullable = true,
     .shape = &kConditionsShape,
     .meaning = "Condition on the events that the filter covers, in addition to scenes. Of a list, all "
                "conditions must hold. null: all events."},
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
     .meaning = "\"exposed_at\": the window counts from when the item was shown. \"item_created_at\": from "
                "when it was created, for recall of young items only. An event without item_created_at "
                "counts from when the item was shown."},
    {.path = "filters[].exposures_min",
     .type = kInteger,
     .unit = "exposures",
     .default_json = "1",
     .minimum = 1,
     .maximum = 64,
     .meaning = "How many exposures in the window make an item count as seen. Above 1, seend keeps each "
                "exposure with its second."},
    {.path = "filters[].cooldown_days",
     .type = kInteger,
     .unit = "days",
     .default_json = "null",
     .nullable = true,
     .minimum = 1,
     .maximum = 3650,
     .meaning = "How long after its newest exposure an item may come back, in UTC days, even if the window "
                "is longer. null: it comes back only when it leaves the window."},
    {.path = "filters[].served_ttl_s",
     .type = kInteger,
     .unit = "seconds",
     .default_json = "1800",
     .minimum = 6,
     .maximum = 604'800,
     .meaning = "How long a served item counts as seen without an exposure, and at most a sixth longer. "
                "seend rounds the value up to a multiple of 6."},
    {.path = "filters[].kinds",
     .type = kShape,
     .default_json = "{}",
     .shape = &kDeclaredKindsShape,
     .meaning = "Your own kinds of events whose items also count as seen, each kind with its own window."},
    {.path = "filters[].similar",
     .type = kChoice,
     .default_json = R"("off")",
     .choices = kSimilarChoices,
     .meaning = "How `unseen` treats a candidate that is similar to a seen item: \"demote\" puts it last, "
                "\"drop\" leaves it out. Needs `items`. docs/SIMILAR.md says what the snapshot holds."},
    {.path = "filters[].items_max",
     .type = kInteger,
     .unit = "items",
     .default_json = "10000",
     .minimum = 1,
     .maximum = 1'000'000,
     .meaning = "How many of a user's newest items count. seend applies it when it answers and renders."},
    {.path = "filters[].items_per_day_max",
     .type = kInteger,
     .unit = "items",
     .default_json = "50000",
     .minimum = 1,
     .maximum = 1'000'000,
     .meaning = "How many items of a user seend keeps a day. It is a limit against bots."},
    {.path = "filters[].snapshot",
     .type = kSection,
     .default_json = "{}",
     .nullable = true,
     .meaning =
         "Publication of each user's filter. null: seend publishes nothing. Look-ups over HTTP still work."},
    {.path = "filters[].snapshot.topic",
     .default_json = R"("seen-filters")",
     .rule = &kTopicName,
     .meaning = "Compacted topic to publish to, keyed by user id. Each filter needs its own topic."},
    {.path = "filters[].snapshot.format",
     .type = kChoice,
     .default_json = R"("split_block_bloom")",
     .choices = kSnapshotFormatNames,
     .is_live = true,
     .meaning = "Kind of filter: docs/FILTERS.md compares them. \"auto\": for each user the kind with the "
                "fewest bytes. After a change, the daily sweep re-renders all users' filters; `seenctl "
                "publish` does it at once."},
    {.path = "filters[].snapshot.size",
     .type = kChoice,
     .default_json = R"("fewest")",
     .choices = kSizes,
     .is_live = true,
     .meaning = "\"power_of_two\": \"split_block_bloom\" with a power of two of blocks, for libraries that "
                "accept only that (Arrow C++, Velox, ClickHouse). It takes up to twice the bytes."},
    {.path = "filters[].snapshot.false_positive_rate",
     .type = kNumber,
     .default_json = "0.01",
     .minimum_excluded = true,
     .maximum = 0.5,
     .is_live = true,
     .meaning = "Share of unseen items that a published filter may call seen: 0.01 takes about 10.6 bits an "
                "item. Look-ups over HTTP are exact."},
    {.path = "filters[].snapshot.debounce_ms",
     .type = kInteger,
     .unit = "milliseconds",
     .default_json = "1000",
     .maximum = 3'600'000,
     .is_live = true,
     .meaning = "seend publishes a user's filter at once, and then at most once in this time."},
};

}  // namespace

std::span<const ConfigKey> FiltersConfigKeys() { return kFilterKeys; }

}  // namespace seen

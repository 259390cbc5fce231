#include "config/config_items.h"

#include <algorithm>
#include <utility>

#include "config/config_check.h"
#include "config/config_event_format.h"
#include "config/config_keys.h"
#include "similar/port/boilerplate.h"

namespace seen {

namespace {

ItemFormat ReadItemFormat(const ConfigJson& document, std::vector<ConfigError>& errors) {
  ConfigFieldReader reader(errors);
  ItemFormat format;
  const ConfigJson& fields = ConfigMember(ConfigMember(document, "items"), "fields");
  for (size_t i = 0; i < kItemFields; ++i) {
    const auto field = static_cast<ItemField>(i);
    const std::string name(ItemFieldName(field));
    auto rule =
        reader.ReadField(ConfigMember(fields, name), field == ItemField::kCreatedAt, "items.fields." + name);
    if (rule) format.fields[i] = ItemFieldRule{std::move(rule->at), rule->unit};
  }
  return format;
}

std::shared_ptr<const Boilerplate> ReadBoilerplate(const ConfigJson& document,
                                                   std::vector<ConfigError>& errors) {
  const std::string path = "items.boilerplate";
  const ConfigJson& json = ConfigMember(ConfigMember(document, "items"), "boilerplate");
  if (json.is_null()) return nullptr;
  std::vector<std::string> patterns;
  const bool fits = json.is_array() && std::ranges::all_of(json, [&](const ConfigJson& pattern) {
                      if (!pattern.is_string() || pattern.get_ref<const std::string&>().empty()) return false;
                      patterns.push_back(pattern.get<std::string>());
                      return true;
                    });
  if (!fits) {
    ConfigFieldReader(errors).FailShape(path, json, kBoilerplateShape);
    return nullptr;
  }
  auto compiled = Boilerplate::Compile(std::move(patterns));
  if (!compiled) {
    errors.push_back({path, compiled.error().message});
    return nullptr;
  }
  return std::move(*compiled);
}

}  // namespace

std::string OrderedTopic(const ConfigJson& document) {
  const std::string given = TextAt(document, "/items/ordered_topic");
  const std::string source = TextAt(document, "/items/topic");
  return !given.empty() || source.empty() ? given : source + "-in-order";
}

void CheckItemFields(const ConfigJson& document, std::vector<ConfigError>& errors) {
  static_cast<void>(ReadItemFormat(document, errors));
  static_cast<void>(ReadBoilerplate(document, errors));
}

void CompleteItems(const ConfigJson& document, ItemsConfig& items) {
  std::vector<ConfigError> errors;  // stays empty: CheckItemFields has found no mistake
  items.ordered_topic = OrderedTopic(document);
  items.format = ReadItemFormat(document, errors);
  items.boilerplate = ReadBoilerplate(document, errors);
}

tl::expected<ItemsSections, std::vector<ConfigError>> LoadItems(std::string_view text) {
  const auto document = ParseConfigText(text);
  if (!document) return tl::unexpected(document.error());
  ConfigJson wanted = ConfigJson::object();
  if (const ConfigJson& brokers = ConfigMember(ConfigMember(*document, "kafka"), "brokers");
      !brokers.is_null())
    wanted["kafka"]["brokers"] = brokers;
  wanted["items"] = ConfigMember(*document, "items");
  if (wanted["items"].is_null()) {
    return tl::unexpected(std::vector<ConfigError>{{"items",
                                                    "missing: seend groups nothing with this configuration; "
                                                    "add it (\"items\": {} has defaults for all)"}});
  }
  CheckedConfig checked = CheckConfig(wanted);
  CheckItemFields(checked.resolved, checked.errors);
  if (!checked.errors.empty()) return tl::unexpected(std::move(checked.errors));
  Config config;
  ReadValues(checked.resolved, config);
  CompleteItems(checked.resolved, *config.items);
  return ItemsSections{std::move(config.kafka.brokers), std::move(*config.items)};
}

GroupOptions GroupOptionsOf(const ItemsConfig& items) {
  GroupOptions group;
  group.method = items.method.value_or(kDefaultMethod);
  group.verify = items.verify;
  group.distance_max = items.distance_max;
  group.similarity_min = items.similarity_min;
  group.containment_min = items.containment_min.value_or(kDefaultContainmentMin);
  group.window_days = items.window_days;
  return group;
}

TextRules TextRulesOf(const ItemsConfig& items) {
  return {.segmentation = items.segmentation.value_or(kDefaultSegmentation),
          .numbers = items.numbers.value_or(kDefaultNumbers),
          .tokens_min = items.tokens_min.value_or(kDefaultTokensMin),
          .beginnings = items.containment_min.value_or(kDefaultContainmentMin) > 0,
          .boilerplate = items.boilerplate};
}

}  // namespace seen

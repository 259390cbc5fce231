// The section "items": items are off without it, all its keys have defaults, and mistakes in it give errors.
#include "config/config_items.h"

#include "similar/port/boilerplate.h"
#include "similar/text/idf_table.h"
#include "unit/config/config_errors.h"

namespace seen {
namespace {

TEST(ItemsConfig, IsOffUnlessItIsThere) {
  EXPECT_FALSE(LoadWith({})->items);
  EXPECT_FALSE(LoadWith({"items=null"})->items);
}

TEST(ItemsConfig, HasDefaultsForAll) {
  const auto config = LoadWith({"items={}"});
  ASSERT_TRUE(config);
  const ItemsConfig& items = *config->items;
  EXPECT_EQ(items.topic, "items");
  EXPECT_EQ(items.groups_topic, "item-groups");
  EXPECT_EQ(items.ordered_topic, "items-in-order");
  EXPECT_EQ(items.window_days, 30);
  EXPECT_EQ(items.method, std::nullopt) << "an index that is there keeps its own";
  EXPECT_EQ(GroupOptionsOf(items).method, SimilarMethod::kMinHash);
  EXPECT_EQ(items.distance_max, 3);
  EXPECT_TRUE(items.verify);
  EXPECT_EQ(items.similarity_min, 0.8);
  EXPECT_EQ(items.text_bytes_max, 1'048'576u);
  EXPECT_FALSE(items.idf_file);
  EXPECT_EQ(items.segmentation, std::nullopt) << "an index that is there keeps its own";
  EXPECT_EQ(TextRulesOf(items).segmentation, Segmentation::kTrigrams);
  EXPECT_EQ(items.numbers, std::nullopt);
  EXPECT_EQ(TextRulesOf(items).numbers, Numbers::kDistinct);
  EXPECT_EQ(items.tokens_min, std::nullopt);
  EXPECT_EQ(TextRulesOf(items).tokens_min, kDefaultTokensMin);
  EXPECT_EQ(items.containment_min, std::nullopt);
  EXPECT_EQ(GroupOptionsOf(items).containment_min, kDefaultContainmentMin);
  EXPECT_TRUE(TextRulesOf(items).beginnings);
  EXPECT_EQ(TextRulesOf(items).folding_version, kFoldingVersion);
  EXPECT_EQ(items.boilerplate, nullptr);
  for (const auto& rule : items.format.fields) EXPECT_FALSE(rule);
  EXPECT_EQ(ItemsGroup(*config), "seend-items");
  EXPECT_EQ(ItemsRekeyingGroup(*config), "seend-items-rekey");
}

TEST(ItemsConfig, TakesEveryKeyIntoItsPlace) {
  const std::vector<std::string> overrides = {"items.topic=articles",
                                              "items.groups_topic=groups",
                                              "items.window_days=7",
                                              "items.method=minhash",
                                              "items.distance_max=2",
                                              "items.verify=off",
                                              "items.similarity_min=0.9",
                                              "items.text_bytes_max=4096",
                                              "items.idf_file=/etc/idf.tsv",
                                              "items.fields.item_id=/after/id",
                                              R"(items.fields.created_at={"at":"/after/at","unit":"us"})",
                                              R"(items.fields.deleted={"at":"/__deleted"})",
                                              "filters[0].similar=demote"};
  const auto config = LoadWith(overrides);
  ASSERT_TRUE(config) << ErrorsWith(overrides);
  const ItemsConfig& items = *config->items;
  EXPECT_EQ(items.topic, "articles");
  EXPECT_EQ(items.groups_topic, "groups");
  EXPECT_EQ(items.ordered_topic, "articles-in-order");
  EXPECT_EQ(items.window_days, 7);
  EXPECT_EQ(items.method, SimilarMethod::kMinHash);
  EXPECT_EQ(items.distance_max, 2);
  EXPECT_FALSE(items.verify);
  EXPECT_EQ(items.similarity_min, 0.9);
  EXPECT_EQ(items.text_bytes_max, 4096u);
  EXPECT_EQ(items.idf_file, "/etc/idf.tsv");
  const auto rule = [&](ItemField field) { return items.format.fields[static_cast<size_t>(field)]; };
  EXPECT_EQ(rule(ItemField::kItemId)->at.text, "/after/id");
  EXPECT_EQ(rule(ItemField::kCreatedAt)->unit, TimeUnit::kMicroseconds);
  EXPECT_EQ(rule(ItemField::kDeleted)->at.text, "/__deleted");
  EXPECT_FALSE(rule(ItemField::kText));
  EXPECT_EQ(config->filters[0].similar, Similar::kDemote);

  const auto again = LoadConfig(config->effective_json);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->effective_json, config->effective_json);
}

TEST(ItemsConfig, SaysWhatIsWrongAndWhatToWriteInstead) {
  const std::pair<std::string, std::string> cases[] = {
      {"items.windowdays=3",
       "items.windowdays: unknown key; did you mean \"window_days\"? (given with --set)\n"},
      {"items=true", "items: true: must be an object, or null (given with --set)\n"},
      {"items.fields.item_id=id",
       "items.fields.item_id: \"id\": must begin with \"/\", such as \"/data/uid\" (given with --set)\n"},
      {R"(items.fields.text={"at":"/t","unit":"s"})",
       "items.fields.text.unit: unknown key; the keys are \"at\" (given with --set)\n"},
      {R"(items.fields.created_at={"at":"/t","unit":"days"})",
       "items.fields.created_at.unit: \"days\": must be one of \"ms\", \"s\", \"us\", \"rfc3339\" (given "
       "with "
       "--set)\n"},
      {"filters[0].similar=drop",
       "filters[0].similar: \"drop\": needs the section \"items\"; add it (\"items\": {} has defaults for "
       "all), or set \"off\" (given with --set)\n"},
      {"items.topic=exposures",
       "items.topic: \"exposures\": is also the topic of input.topic; items need a topic of their own "
       "(given with --set)\n"},
      {"items.groups_topic=items",
       "items.groups_topic: \"items\": is also the topic of items.topic; groups need a topic of their own "
       "(given with --set)\n"},
      {"items.ordered_topic=item-groups",
       "items.ordered_topic: \"item-groups\": is also the topic of items.groups_topic; items in order "
       "need a topic of their own (given with --set)\n"},
      {"items.groups_topic=seen-filters",
       "filters[0].snapshot.topic: \"seen-filters\": is also the topic of items.groups_topic; give each "
       "filter its own, or \"snapshot\": null to publish nothing\n"}};
  for (const auto& [override, said] : cases) EXPECT_EQ(ErrorsWith({override}), said);
  const std::string too_long = ErrorsWith({"items.topic=" + std::string(249, 't')});
  EXPECT_TRUE(too_long.starts_with("items.ordered_topic: \"ttt")) << too_long;
  EXPECT_TRUE(too_long.ends_with("longer than 249 characters; set a shorter name\n")) << too_long;
}

std::string ErrorsOfText(std::string_view text) {
  const auto sections = LoadItems(text);
  std::string lines;
  if (sections) return lines;
  for (const ConfigError& error : sections.error()) lines += error.path + ": " + error.message + "\n";
  return lines;
}

// The secret of another section is missing here: reading items needs no secret.
TEST(LoadItems, LooksAtItemsAndBrokersOnly) {
  const auto sections = LoadItems(R"({
    // comments too
    "kafka": {"brokers": "k:9092", "client": {"sasl.password": {"env": "SEEN_NO_SUCH_VARIABLE"}}},
    "filters": [{"name": 7}],
    "items": {"topic": "articles", "method": "minhash", "verify": "off", "window_days": 7,
              "fields": {"item_id": "/data/id", "created_at": {"at": "/ts", "unit": "s"}}}})");
  ASSERT_TRUE(sections);
  EXPECT_EQ(sections->brokers, "k:9092");
  EXPECT_EQ(sections->items.topic, "articles");
  EXPECT_EQ(sections->items.ordered_topic, "articles-in-order");
  const auto at = [&](ItemField field) { return sections->items.format.fields[static_cast<size_t>(field)]; };
  EXPECT_EQ(at(ItemField::kItemId)->at.text, "/data/id");
  EXPECT_EQ(at(ItemField::kCreatedAt)->unit, TimeUnit::kSeconds);
  EXPECT_FALSE(at(ItemField::kTitle));
  const GroupOptions group = GroupOptionsOf(sections->items);
  EXPECT_EQ(group.method, SimilarMethod::kMinHash);
  EXPECT_FALSE(group.verify);
  EXPECT_EQ(group.window_days, 7);
  EXPECT_EQ(LoadItems(R"({"items": {}})")->brokers, "");
}

TEST(LoadItems, NamesWhatIsWrongAsTheDaemonDoes) {
  EXPECT_TRUE(ErrorsOfText(R"({"kafka": {}})").starts_with("items: missing: seend groups nothing"));
  EXPECT_EQ(ErrorsOfText(R"({"items": []})"), "items: []: must be an object, or null\n");
  EXPECT_EQ(ErrorsOfText(R"({"items": {"method": "md5", "windowdays": 3}})"),
            "items.windowdays: unknown key; did you mean \"window_days\"?\n"
            "items.method: \"md5\": must be one of \"simhash\", \"minhash\", \"both\", or null\n");
  EXPECT_TRUE(
      ErrorsOfText(R"({"items": {"fields": {"text": 3}}})").starts_with("items.fields.text: 3: must"));
  EXPECT_FALSE(ErrorsOfText("{").empty());
}

TEST(ReadIdfFile, NamesKeyFileAndRemedy) {
  EXPECT_EQ(ReadIdfFile(std::nullopt)->table->version(), IdfTable::Bundled()->version());
  const auto missing = ReadIdfFile("/no/such/file");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Code::kInvalidArgument);
  EXPECT_TRUE(missing.error().message.starts_with("items.idf_file: /no/such/file: "))
      << missing.error().message;
}

TEST(ItemsConfig, TakesPatternsOfBoilerplate) {
  const auto config = LoadWith({R"(items={"segmentation":"dictionary","boilerplate":["转载自.*","a\\s"]})"});
  ASSERT_TRUE(config);
  EXPECT_EQ(TextRulesOf(*config->items).segmentation, Segmentation::kDictionary);
  EXPECT_EQ(config->items->boilerplate->patterns(), (std::vector<std::string>{"转载自.*", "a\\s"}));
  const std::string said = ErrorsWith({R"(items={"boilerplate":["a(b"]})"});
  EXPECT_EQ(
      said.find("items.boilerplate: pattern 1, \"a(b\": not a pattern of RE2: missing ): a(b. Remedy: "), 0u)
      << said;
  for (const char* const wrong : {R"("a")", R"([1])", R"([""])", R"([null])", R"({"a":"b"})"}) {
    EXPECT_NE(ErrorsWith({std::string(R"(items={"boilerplate":)") + wrong + "}"})
                  .find("must be a list of at most 32 regular expressions"),
              std::string::npos)
        << wrong << ErrorsWith({std::string(R"(items={"boilerplate":)") + wrong + "}"});
  }
}

}  // namespace
}  // namespace seen

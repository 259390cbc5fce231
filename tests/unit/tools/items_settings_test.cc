#include "tools/load/items_settings.h"

#include <gtest/gtest.h>

namespace seen {
namespace {

// As src/config/config_keys_items.cc has them.
TEST(ItemsSettings, OfTheDefaultsAreTheDaemons) {
  for (const auto& settings : {*ReadItemsSettings(""), *ParseItemsSettings(R"({"items": {}})")}) {
    EXPECT_EQ(settings.topic, "items");
    EXPECT_TRUE(settings.group.by_simhash && settings.group.by_minhash && settings.group.verify);
    EXPECT_EQ(settings.group.distance_max, 3);
    EXPECT_EQ(settings.group.similarity_min, 0.8);
    EXPECT_EQ(settings.group.window_days, 30);
    EXPECT_EQ(settings.text_bytes_max, 1'048'576u);
    EXPECT_EQ(settings.idf_file, std::nullopt);
    for (const auto& field : settings.format.fields) EXPECT_FALSE(field);
  }
}

TEST(ItemsSettings, AreReadAsTheDaemonReadsThem) {
  const auto settings = ParseItemsSettings(R"({
    // comments too
    "kafka": {"brokers": "k:9092"},
    "items": {"topic": "articles", "method": "minhash", "verify": "off", "distance_max": 1, "window_days": 7,
              "similarity_min": 0.7, "text_bytes_max": 4096, "idf_file": "/idf.tsv",
              "fields": {"item_id": "/data/id", "text": {"at": "/data/body"}, "title": null,
                         "created_at": {"at": "/ts", "unit": "s"}}}})");
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->brokers, "k:9092");
  EXPECT_EQ(settings->topic, "articles");
  EXPECT_FALSE(settings->group.by_simhash);
  EXPECT_TRUE(settings->group.by_minhash);
  EXPECT_FALSE(settings->group.verify);
  EXPECT_EQ(settings->group.distance_max, 1);
  EXPECT_EQ(settings->group.window_days, 7);
  EXPECT_EQ(settings->group.similarity_min, 0.7);
  EXPECT_EQ(settings->text_bytes_max, 4096u);
  EXPECT_EQ(settings->idf_file, "/idf.tsv");
  const auto at = [&](ItemField field) { return settings->format.fields[static_cast<size_t>(field)]; };
  EXPECT_EQ(at(ItemField::kItemId)->at.text, "/data/id");
  EXPECT_EQ(at(ItemField::kText)->at.text, "/data/body");
  EXPECT_EQ(at(ItemField::kCreatedAt)->at.text, "/ts");
  EXPECT_EQ(at(ItemField::kCreatedAt)->unit, TimeUnit::kSeconds);
  EXPECT_FALSE(at(ItemField::kTitle));
}

TEST(ItemsSettings, NameWhatIsWrongAndWhatWouldBeRight) {
  const struct {
    const char* json;
    const char* message;
  } cases[] = {
      {R"({"kafka": {}})", "items: missing: nothing is grouped with this configuration; \"items\": {} has "},
      {R"({"items": []})", "items: []: must be an object"},
      {R"({"items": {"method": "md5"}})",
       R"(items.method: "md5": must be one of "simhash", "minhash", "both")"},
      {R"({"items": {"verify": "on"}})", R"(items.verify: "on": must be one of "off", "sketch")"},
      {R"({"items": {"distance_max": 4}})", "items.distance_max: 4: must be 0 to 3"},
      {R"({"items": {"distance_max": 1.5}})", "items.distance_max: 1.5: must be 0 to 3"},
      {R"({"items": {"similarity_min": 0.1}})", "items.similarity_min: 0.1: must be 0.3 to 1"},
      {R"({"items": {"topic": 7}})", "items.topic: 7: must be a text"},
      {R"({"items": {"fields": {"text": "body"}}})", R"(items.fields.text: "body": must begin with "/")"},
      {R"({"items": {"fields": {"text": 3}}})", R"(items.fields.text: 3: must be a JSON pointer such as)"},
      {R"({"items": {"fields": {"created_at": {"at": "/ts", "unit": "h"}}}})",
       R"(items.fields.created_at.unit: "h": must be one of "ms", "s", "us", "rfc3339")"},
  };
  for (const auto& c : cases) {
    const auto settings = ParseItemsSettings(c.json);
    ASSERT_FALSE(settings) << c.json;
    EXPECT_EQ(settings.error().code, Code::kInvalidArgument);
    EXPECT_TRUE(settings.error().message.starts_with(c.message)) << settings.error().message;
  }
  EXPECT_FALSE(ParseItemsSettings("{"));
  EXPECT_EQ(ReadItemsSettings("/no/such/file").error().code, Code::kNotFound);
}

}  // namespace
}  // namespace seen

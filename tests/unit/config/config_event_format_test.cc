// The format of events in the configuration: input.fields, input.kinds, input.only_if, scenes and when.
#include "config/config_event_format.h"

#include "unit/config/config_errors.h"

namespace seen {
namespace {

const std::optional<FieldRule>& RuleOf(const Config& config, Field field) {
  return config.input.format.fields[static_cast<size_t>(field)];
}

TEST(EventFormatConfig, IsTheDefaultFormatWithKindsByDefault) {
  const auto config = LoadWith({});
  ASSERT_TRUE(config);
  const EventFormat& format = config->input.format;
  for (const auto& rule : format.fields) EXPECT_FALSE(rule);
  EXPECT_FALSE(format.kinds);
  EXPECT_TRUE(format.only_if.empty());
  EXPECT_TRUE(format.wanted.kind);
  ASSERT_EQ(format.filters.size(), 1u);
  EXPECT_TRUE(format.filters[0].scenes.empty());
  EXPECT_TRUE(format.filters[0].when.empty());
}

TEST(EventFormatConfig, TakesEveryKeyIntoItsPlace) {
  const std::vector<std::string> overrides = {
      "input.fields.user_id=/data/uid",
      R"(input.fields.item_id={"at":"/item~1id"})",
      "input.fields.items=/data/pages/*/items",
      R"(input.fields.exposed_at={"at":"/ts","unit":"us"})",
      R"(input.fields.item_created_at={"at":"/born","unit":"rfc3339"})",
      "input.fields.kind=/event",
      "input.fields.scene=null",
      R"(input.kinds={"item_show":"exposed","ping":null})",
      R"(input.only_if=[{"at":"/event","in":["item_show","ping",3]},{"at":"/app","prefix":"com."}])",
      R"(filters=[{"name":"a","scenes":["home","video*"],"when":{"at":"/live","equals":true}},
                  {"name":"b","snapshot":null}])"};
  const auto config = LoadWith(overrides);
  ASSERT_TRUE(config) << ErrorsWith(overrides);
  const EventFormat& format = config->input.format;
  EXPECT_EQ(RuleOf(*config, Field::kUserId)->at.text, "/data/uid");
  EXPECT_EQ(RuleOf(*config, Field::kItemId)->at.steps, std::vector<std::string>{"item/id"});
  EXPECT_EQ(RuleOf(*config, Field::kItems)->at.text, "/data/pages/*/items");
  EXPECT_EQ(RuleOf(*config, Field::kExposedAt)->unit, TimeUnit::kMicroseconds);
  EXPECT_EQ(RuleOf(*config, Field::kItemCreatedAt)->unit, TimeUnit::kRfc3339);
  EXPECT_EQ(RuleOf(*config, Field::kKind)->unit, TimeUnit::kMilliseconds);
  EXPECT_FALSE(RuleOf(*config, Field::kScene));
  ASSERT_EQ(format.kinds->size(), 2u);
  EXPECT_EQ((*format.kinds)[0].value, "item_show");
  EXPECT_EQ((*format.kinds)[0].kind, "exposed");
  EXPECT_FALSE((*format.kinds)[1].kind);
  ASSERT_EQ(format.only_if.size(), 2u);
  EXPECT_EQ(format.only_if[0].values[2].text, "3");
  EXPECT_EQ(format.only_if[0].values[2].kind, ScalarKind::kInteger);
  EXPECT_EQ(format.only_if[1].test, Condition::Test::kPrefix);
  ASSERT_EQ(format.filters.size(), 2u);
  EXPECT_EQ(format.filters[0].scenes, (std::vector<std::string>{"home", "video*"}));
  EXPECT_EQ(format.filters[0].when[0].values[0].kind, ScalarKind::kBoolean);
  EXPECT_TRUE(format.filters[1].scenes.empty());

  const auto again = LoadConfig(config->effective_json);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->effective_json, config->effective_json);
}

TEST(EventFormatConfig, TakesUsersElementsAndConditionsOfEveryForm) {
  const std::vector<std::string> overrides = {
      R"(input.fields.user_id=["/userId","/anonymousId"])",
      R"(input.fields.items_exposed_at={"at":"/shown","unit":"s"})",
      R"(input.ids_ignored=["undefined","0"])",
      "input.items_skip_invalid=true",
      "input.lenient=true",
      R"(input.items_only_if={"not":{"at":"/visible","equals":false}})",
      R"(input.only_if=[{"at":"/a","exists":false},{"at":"/b","in":[5],"as_text":true}])"};
  const auto config = LoadWith(overrides);
  ASSERT_TRUE(config) << ErrorsWith(overrides);
  const EventFormat& format = config->input.format;
  EXPECT_EQ(RuleOf(*config, Field::kUserId)->at.text, "/userId");
  ASSERT_EQ(RuleOf(*config, Field::kUserId)->others.size(), 1u);
  EXPECT_EQ(RuleOf(*config, Field::kUserId)->others[0].text, "/anonymousId");
  EXPECT_EQ(RuleOf(*config, Field::kItemsExposedAt)->unit, TimeUnit::kSeconds);
  EXPECT_EQ(format.ids_ignored, (std::vector<std::string>{"undefined", "0"}));
  EXPECT_TRUE(format.items_skip_invalid);
  EXPECT_TRUE(format.lenient);
  ASSERT_EQ(format.items_only_if.size(), 1u);
  EXPECT_TRUE(format.items_only_if[0].negated);
  EXPECT_EQ(format.only_if[0].test, Condition::Test::kExists);
  EXPECT_TRUE(format.only_if[0].negated);
  EXPECT_TRUE(format.only_if[1].as_text);
}

TEST(EventFormatConfig, SaysWhatIsWrongAndWhatToWriteInstead) {
  const std::pair<std::string, std::string> cases[] = {
      {"input.fields.user_id=data/uid",
       R"(input.fields.user_id: "data/uid": must begin with "/", such as "/data/uid")"},
      {"input.fields.user_id=7",
       R"(input.fields.user_id: 7: must be a JSON pointer such as "/data/uid", or {"at": POINTER})"},
      {"input.fields.user_id={}",
       R"(input.fields.user_id.at: missing; give a JSON pointer such as "/data/uid")"},
      {R"(input.fields.user_id={"at":["a"]})",
       R"(input.fields.user_id.at: ["a"]: must be a JSON pointer such as "/data/uid")"},
      {R"(input.fields.user_id={"at":"/a","unit":"s"})",
       R"(input.fields.user_id.unit: unknown key; the keys are "at")"},
      {R"(input.fields.exposed_at={"at":"/a","units":"s"})",
       R"(input.fields.exposed_at.units: unknown key; the keys are "at", "unit")"},
      {R"(input.fields.exposed_at={"at":"/a","unit":"seconds"})",
       R"(input.fields.exposed_at.unit: "seconds": must be one of "ms", "s", "us", "rfc3339")"},
      {R"(input.fields.exposed_at={"at":"/a","unit":1})",
       R"(input.fields.exposed_at.unit: 1: must be one of "ms", "s", "us", "rfc3339")"},
      {"input.fields.userid=/a", R"(input.fields.userid: unknown key; did you mean "user_id"?)"},
      {"input.fields.timestamp=/a",
       R"(input.fields.timestamp: unknown key; the keys are "user_id", "item_id", "items", "exposed_at", )"
       R"("kind", "scene", "position", "request_id", "item_created_at", "items_exposed_at")"},
      {"input.fields.scene=/a/~x",
       R"(input.fields.scene: "/a/~x": has a "~" that is neither "~0" (a tilde) nor "~1" (a slash))"},
      {"input.fields.user_id=/users/*/id",
       R"(input.fields.user_id: "/users/*/id": a "*" step is for items alone)"},
      {"input.fields.items=/*/*/*/*", R"(input.fields.items: "/*/*/*/*": at most 3 "*" steps)"},
      {"input.kinds=[]", R"(input.kinds: []: must be an object of 1 to 256 names)"},
      {"input.kinds={}", R"(input.kinds: {}: must be an object of 1 to 256 names)"},
      {R"(input.kinds={"show":"shown"})",
       R"(input.kinds.show: "shown": must be one of exposed, served, removed, erased, or null to skip such events)"},
      {R"(input.kinds={"a b":3})",
       R"(input.kinds["a b"]: 3: must be one of exposed, served, removed, erased, or null to skip such events)"},
      {"input.only_if=/event", R"(input.only_if: "/event": must be a condition, {"at": POINTER})"},
      {"input.only_if=[]", R"(input.only_if: []: must be a condition, {"at": POINTER})"},
      {"input.only_if=[7]", R"(input.only_if[0]: 7: must be a condition, {"at": POINTER})"},
      {R"(input.only_if={"at":"/a"})",
       R"(input.only_if: {"at":"/a"}: must have one of "equals", "in", "prefix" and "exists")"},
      {R"(input.only_if={"at":"/a","equals":1,"in":[1]})",
       R"(input.only_if: {"at":"/a","equals":1,"in":[1]}: must have one of "equals", "in", "prefix" and "exists")"},
      {R"(input.only_if={"at":"/a","exists":1})", "input.only_if.exists: 1: must be true or false"},
      {R"(input.only_if={"at":"/a","equals":1,"as_text":"x"})",
       R"(input.only_if.as_text: "x": must be true or false)"},
      {R"(input.only_if={"not":{"at":"/a"}})",
       R"(input.only_if.not: {"at":"/a"}: must have one of "equals", "in", "prefix" and "exists")"},
      {R"(input.only_if={"not":{"at":"/a","exists":true},"at":"/b"})",
       R"(input.only_if.at: unknown key; the keys are "not")"},
      {R"(input.only_if={"at":"/impressions/*/visible","equals":true})",
       R"(input.only_if: "/impressions/*/visible": a condition looks at one value, so its pointer can't have a "*")"},
      {R"(filters[0].when={"at":"/a/*","equals":true})",
       R"(filters[0].when: "/a/*": a condition looks at one)"},
      {R"(input.items_only_if={"at":"/a/*","equals":true})",
       R"(input.items_only_if: "/a/*": a condition looks at one)"},
      {"input.fields.user_id=[]", R"(input.fields.user_id: []: must be a JSON pointer)"},
      {R"(input.fields.user_id=["/a","b"])", R"(input.fields.user_id[1]: "b": must begin with "/")"},
      {R"(input.fields.user_id=["/a","/b","/c","/d","/e"])",
       R"(input.fields.user_id: ["/a","/b","/c","/d","/e"]: must be a JSON pointer)"},
      {"input.ids_ignored=[]", "input.ids_ignored: []: must be a list of 1 to 64 texts"},
      {"input.ids_ignored=[0]", "input.ids_ignored: [0]: must be a list of 1 to 64 texts"},
      {R"(input.only_if={"equals":1})",
       R"(input.only_if.at: missing; give a JSON pointer such as "/data/uid")"},
      {R"(input.only_if={"at":"/a","equal":1,"in":[1]})",
       R"(input.only_if.equal: unknown key; the keys are "at", "equals")"},
      {R"(input.only_if={"at":"/a","equals":1.5})",
       "input.only_if.equals: 1.5: must be a text of at most 512 bytes, a 64-bit integer, true or false"},
      {R"(input.only_if={"at":"/a","equals":null})",
       "input.only_if.equals: null: must be a text of at most 512 bytes, a 64-bit integer, true or false"},
      {R"(input.only_if={"at":"/a","in":[]})", "input.only_if.in: []: must be a list of 1 to 256 values"},
      {R"(input.only_if={"at":"/a","in":["x",{}]})", "input.only_if.in[1]: {}: must be a text"},
      {R"(input.only_if={"at":"/a","prefix":""})",
       R"(input.only_if.prefix: "": must be a text of at least one byte)"},
      {R"(input.only_if={"at":"/a","prefix":5})",
       R"(input.only_if.prefix: 5: must be a text of at least one byte)"},
      {"filters[0].scenes=home", R"(filters[0].scenes: "home": must be a list of 1 to 256 texts)"},
      {"filters[0].scenes=[]", R"(filters[0].scenes: []: must be a list of 1 to 256 texts)"},
      {R"(filters[0].scenes=["home","a*b"])",
       R"(filters[0].scenes[1]: "a*b": must be a text of 1 to 256 bytes, with "*" at its end only)"},
      {R"(filters[0].scenes=["**"])", R"(filters[0].scenes[0]: "**": must be a text of 1 to 256 bytes)"},
      {R"(filters[0].scenes=[""])", R"(filters[0].scenes[0]: "": must be a text of 1 to 256 bytes)"},
      {R"(filters[0].when={"at":"a","equals":1})", R"(filters[0].when.at: "a": must begin with "/")"},
  };
  for (const auto& [set, error] : cases) {
    const std::string said = ErrorsWith({set});
    EXPECT_EQ(said.substr(0, error.size()), error) << set;
    EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
  }
}

TEST(EventFormatConfig, LetsKindsNameWhatFiltersDeclare) {
  const auto document = ConfigJson::parse(R"({"input":{"kinds":{"order":"purchased"}}})");
  std::vector<ConfigError> errors;
  const DeclaredKind declared[] = {{"purchased", EventKind{17}}};
  const EventFormat format = ReadEventFormat(document, declared, errors);
  EXPECT_TRUE(errors.empty());
  EXPECT_EQ(format.declared_kinds[0].number, EventKind{17});
  ReadEventFormat(document, {}, errors);
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].path, "input.kinds.order");
}

}  // namespace
}  // namespace seen

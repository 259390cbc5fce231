// The configuration apart from its keys: syntax, overrides, secrets.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "config/config_text.h"
#include "unit/config/config_errors.h"

namespace seen {
namespace {

struct SyntaxCase {
  std::string text;
  const char* error;  // the beginning of the errors; "" if there are none
};

TEST(ConfigText, AllowsCommentsAndNamesTheLineOfWhatIsNotJson) {
  const SyntaxCase cases[] = {
      {"// where\n{ /* all\n of it */ \"kafka\": {\"brokers\": \"a:1\"} // end\n}\n", ""},
      {"\xEF\xBB\xBF{\"kafka\":{\"brokers\":\"a:1\"}}", ""},
      {"{\n  \"kafka\": {\"brokers\": \"a:1\",}\n}", ": line 2, column 30: not JSON"},
      {"{\n  \"kafka\": {\"brokers\": \"a:1\"},\n}", ": line 3, column 1: not JSON"},
      {"{\"kafka\": {\"brokers\": \"a:1\"}} x", ": line 1, column 31: not JSON"},
      {"{", ": line 1, column 2: not JSON"},
      {"{\"a\": 'b'}", ": line 1, column 7: not JSON"},
      {"{\"a\": 1e999}", ": line 1, column"},
      {"{\"a\": \"\xFF\"}", ": line 1, column 8: not JSON"},
      {"/* never ends", ": line 1, column"},
      {"[]", ": []: must be an object"},
      {"null", ": null: must be an object"},
      {R"({"kafka":{"brokers":"a:1","brokers":"b:2"}})", "kafka.brokers: given twice"},
      {R"({"kafka":{"brokers":"a:1"},"filters":[{},{"name":"x","name":"y"}]})",
       "filters[1].name: given twice"},
      {R"({"kafka":{"brokers":"a:1"},"kafka":{"group_id":"x","group_id":"y"}})", "kafka: given twice"},
      {std::string(10'000, '['), "[0][0]"},
  };
  for (const SyntaxCase& c : cases) {
    const std::string said = ErrorsOf(c.text);
    if (*c.error == '\0') {
      EXPECT_EQ(said, "") << c.text;
    } else {
      EXPECT_EQ(said.find(c.error), 0u) << c.text.substr(0, 200) << "\n" << said;
    }
  }
}

TEST(ConfigText, NamesEveryKeyThatIsGivenTwice) {
  const std::string said = ErrorsOf(R"({"a":1,"a":{"b":1,"b":2},"c":[{"d":1,"d":2}]})");
  EXPECT_EQ(said, "a: given twice; keep one\na.b: given twice; keep one\nc[0].d: given twice; keep one\n");
}

TEST(ConfigText, ShowsLongValuesShortened) {
  const std::string said = ErrorsOf(kMinimal, {"input.topic=" + std::string(5000, 'x')});
  EXPECT_LT(said.size(), 400u);
  const std::string chinese = ErrorsOf(kMinimal, {"input.topic=" + [] {
                                         std::string text;
                                         for (int i = 0; i < 200; ++i) text += "曝";
                                         return text;
                                       }()});
  EXPECT_NO_THROW((void)ConfigJson(chinese).dump()) << "cut within a character";
}

TEST(Set, ChangesAKeyByItsPath) {
  const std::string text =
      R"({"kafka": {"brokers": "a:1"}, "filters": [{"name": "home"}, {"name": "video", "snapshot": null}]})";
  const std::vector<std::string> overrides = {"store.memory_mib=256",
                                              "filters[0].window_days=7",
                                              "filters.video.window_days=3",
                                              "filters.home.snapshot=null",
                                              "filters.video.snapshot.topic=videos",
                                              "store.directory=/tmp/a=b",
                                              "kafka.client.security.protocol=PLAINTEXT",
                                              "kafka.instance_id=\"12\"",
                                              "store.memory_mib=512"};
  const auto config = LoadConfig(text, overrides);
  ASSERT_TRUE(config) << ErrorsOf(text, overrides);
  EXPECT_EQ(config->store.memory_bytes, uint64_t{512} << 20) << "the last one counts";
  EXPECT_EQ(config->filters[0].window_days, 7);
  EXPECT_EQ(config->filters[1].window_days, 3);
  EXPECT_FALSE(config->filters[0].snapshot);
  ASSERT_TRUE(config->filters[1].snapshot);
  EXPECT_EQ(config->filters[1].snapshot->topic, "videos");
  EXPECT_EQ(config->store.directory, "/tmp/a=b");
  EXPECT_EQ(config->kafka.client.at("security.protocol"), "PLAINTEXT");
  EXPECT_EQ(config->kafka.instance_id, "12");
}

TEST(Set, ReachesTheDefaultsThatTheTextLeavesOut) {
  for (const char* const path : {"filters[0].snapshot", "filters.default.snapshot"}) {
    const std::vector<std::string> overrides = {std::string(path) + ".debounce_ms=5"};
    const auto config = LoadConfig(kMinimal, overrides);
    ASSERT_TRUE(config) << ErrorsOf(kMinimal, overrides);
    EXPECT_EQ(config->filters[0].snapshot->policy.debounce(), std::chrono::milliseconds(5));
    EXPECT_EQ(config->filters[0].window_days, 30);
  }
  const std::vector<std::string> whole = {R"(filters=[{"name":"a","snapshot":null},{"name":"b"}])"};
  const auto config = LoadConfig(kMinimal, whole);
  ASSERT_TRUE(config);
  EXPECT_EQ(config->filters.size(), 2u);
}

struct SetCase {
  const char* text;
  const char* error;
};

TEST(Set, SaysWhatIsWrongWithAnOverride) {
  const SetCase cases[] = {
      {"store.memory_mib", "--set: \"store.memory_mib\": must be KEY=VALUE"},
      {"=1", "--set: \"=1\": must be KEY=VALUE"},
      {"kafka.client.sasl.password=abc",
       "--set kafka.client.sasl.password: a secret can't be on the command line"},
      {R"(kafka.client={"ssl.key.password":"abc"})",
       "--set kafka.client: a secret can't be on the command line"},
      {"cluster.token=abc", "--set cluster.token: a secret can't be on the command line"},
      {"store.memry_mib=1", "store.memry_mib: unknown key; did you mean \"memory_mib\"? (given with --set)"},
      {"stor.memory_mib=1", "stor: unknown key; did you mean \"store\"?"},
      {"store.memory_mib=1",
       "store.memory_mib: 1: must be a whole number from 64 to 1048576 (MiB) (given with --set)"},
      {"filters[1].window_days=1", "--set filters[1].window_days: there is no [1]: filters has 1"},
      {"filters[x].window_days=1", "--set filters[x].window_days: \"[x]\" is not an index"},
      {"filters[0=1", "--set filters[0: \"[0\" is not an index"},
      {"filters[]=1", "--set filters[]: \"[]\" is not an index"},
      {"filters.home.window_days=1",
       "--set filters.home.window_days: no entry of filters is named \"home\"; there are: default"},
      {"kafka.brokers.x=1", "--set kafka.brokers.x: kafka.brokers is \"127.0.0.1:9092\", not an object"},
      {"store=7", "store: 7: must be an object"},
      {"store.=7", "store: 7: must be an object"},
      {".=7", "[\"\"]: unknown key"},
      {"a\xFF=7", "--set: "},
  };
  for (const SetCase& c : cases) {
    const std::string said = ErrorsOf(kMinimal, {c.text});
    EXPECT_EQ(said.find(c.error), 0u) << c.text << "\n" << said;
  }
}

class Secrets : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = std::filesystem::temp_directory_path() / fmt::format("seen-secrets-{}", ::getpid());
    std::filesystem::create_directories(directory_);
    ::setenv("SEEN_TEST_SECRET", "tell-nobody", 1);
    ::unsetenv("SEEN_TEST_MISSING");
  }
  void TearDown() override {
    std::filesystem::remove_all(directory_);
    ::unsetenv("SEEN_TEST_SECRET");
  }
  std::string File(const std::string& content) {
    const auto path = directory_ / "secret";
    std::ofstream(path, std::ios::binary) << content;
    return path.string();
  }
  static std::string Password(const std::string& reference) {
    return fmt::format(R"({{"kafka":{{"brokers":"a:1","client":{{"sasl.password":{}}}}}}})", reference);
  }
  std::filesystem::path directory_;
};

TEST_F(Secrets, ComeFromTheEnvironmentAndFilesAndAreNeverPrinted) {
  const auto from_env = LoadConfig(Password(R"({"env":"SEEN_TEST_SECRET"})"));
  ASSERT_TRUE(from_env);
  EXPECT_EQ(from_env->kafka.client.at("sasl.password"), "tell-nobody");
  EXPECT_EQ(from_env->effective_json.find("tell-nobody"), std::string::npos);
  EXPECT_EQ(ConfigJson::parse(from_env->effective_json)["kafka"]["client"]["sasl.password"],
            ConfigJson({{"env", "SEEN_TEST_SECRET"}}));

  for (const auto& [content, value] :
       std::vector<std::pair<std::string, std::string>>{{"tell-nobody\n", "tell-nobody"},
                                                        {"tell-nobody", "tell-nobody"},
                                                        {"a\nb\r\n", "a\nb"},
                                                        {"a \n\n", "a \n"}}) {
    const auto from_file = LoadConfig(Password(fmt::format(R"({{"file":"{}"}})", File(content))));
    ASSERT_TRUE(from_file);
    EXPECT_EQ(from_file->kafka.client.at("sasl.password"), value);
    EXPECT_EQ(from_file->effective_json.find("tell-nobody"), std::string::npos);
  }
}

TEST_F(Secrets, ThatStandInTheConfigurationAreNotPrintedEither) {
  const auto config = LoadConfig(Password(R"("tell-nobody")"));
  ASSERT_TRUE(config);
  EXPECT_EQ(config->kafka.client.at("sasl.password"), "tell-nobody");
  EXPECT_EQ(config->effective_json.find("tell-nobody"), std::string::npos);
  EXPECT_NE(ErrorsOf(config->effective_json).find("KAFKA_SASL_PASSWORD"), std::string::npos);
}

TEST_F(Secrets, StandInForAnyText) {
  ::setenv("SEEN_TEST_SECRET", "broker:9092", 1);
  const auto config = LoadConfig(R"({"kafka":{"brokers":{"env":"SEEN_TEST_SECRET"}}})");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->kafka.brokers, "broker:9092");
  EXPECT_EQ(config->effective_json.find("broker:9092"), std::string::npos);
  EXPECT_TRUE(LoadConfig(config->effective_json));
}

TEST_F(Secrets, AreNamedWhereTheyAreMissingOrWrongWithoutTheirValue) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"env":"SEEN_TEST_MISSING"})", "environment variable \"SEEN_TEST_MISSING\" is not set"},
      {R"({"file":"/nowhere/secret"})", "file \"/nowhere/secret\": No such file or directory"},
      {fmt::format(R"({{"file":"{}"}})", directory_.string()), "file \"" + directory_.string() + "\": "},
      {fmt::format(R"({{"file":"{}"}})", File(std::string(70'000, 'x'))), "longer than 65536 bytes"},
      {R"({"env":"A","file":"B"})", "must be {\"env\": \"NAME\"} or {\"file\": \"PATH\"}"},
      {R"({"env":7})", "must be {\"env\": \"NAME\"} or {\"file\": \"PATH\"}"},
      {R"({"envv":"A"})", "its value: must be"},
  };
  for (const auto& [reference, error] : cases) {
    const std::string said = ErrorsOf(Password(reference));
    EXPECT_EQ(said.find("kafka.client.sasl.password: "), 0u) << said;
    EXPECT_NE(said.find(error), std::string::npos) << reference << "\n" << said;
  }
  const std::string wrong =
      ErrorsOf(R"({"kafka":{"brokers":"a:1"},"log":{"level":{"env":"SEEN_TEST_SECRET"}}})");
  EXPECT_EQ(wrong.find("log.level: the value of {\"env\":\"SEEN_TEST_SECRET\"}: must be one of"), 0u)
      << wrong;
  const std::string refused =
      ErrorsOf(R"({"kafka":{"brokers":"a:1","client":{"socket.timeout.ms":{"env":"SEEN_TEST_SECRET"}}}})");
  EXPECT_EQ(refused.find("kafka.client.socket.timeout.ms: "), 0u) << refused;
  EXPECT_EQ((wrong + refused).find("tell-nobody"), std::string::npos) << wrong << refused;
}

}  // namespace
}  // namespace seen

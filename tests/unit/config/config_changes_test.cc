#include <gtest/gtest.h>

#include "config/config_check.h"

namespace seen {
namespace {

ConfigJson Effective(std::vector<std::string> overrides,
                     std::string_view text = R"({"kafka":{"brokers":"a:1"},
    "filters":[{"name":"home","snapshot":{"topic":"h"}},{"name":"video","snapshot":{"topic":"v"}}]})") {
  const auto config = LoadConfig(text, overrides);
  EXPECT_TRUE(config) << (config ? "" : config.error().front().message);
  return config ? ConfigJson::parse(config->effective_json) : ConfigJson();
}

std::vector<std::pair<std::string, bool>> Changes(const ConfigJson& running, const ConfigJson& read) {
  std::vector<std::pair<std::string, bool>> changes;
  for (const ConfigChange& change : CompareConfigs(running, read)) {
    changes.emplace_back(change.path, change.is_live);
    EXPECT_NE(running.value(change.at, ConfigJson()), read.value(change.at, ConfigJson())) << change.path;
  }
  return changes;
}

using Pairs = std::vector<std::pair<std::string, bool>>;

TEST(ConfigChanges, OfTheSameAreNone) { EXPECT_EQ(Changes(Effective({}), Effective({})), Pairs()); }

TEST(ConfigChanges, SayWhichOnesAReloadApplies) {
  EXPECT_EQ(Changes(Effective({}), Effective({"filters[1].snapshot.debounce_ms=5", "store.memory_mib=2000",
                                              "log.level=debug", "filters[0].window_days=7"})),
            Pairs({{"filters[0].window_days", false},
                   {"filters[1].snapshot.debounce_ms", true},
                   {"store.memory_mib", false},
                   {"log.level", true}}));
}

TEST(ConfigChanges, TakeListsOfAnotherLengthAndOtherNamesAsAWhole) {
  const ConfigJson two = Effective({});
  const ConfigJson one =
      Effective({}, R"({"kafka":{"brokers":"a:1"},"filters":[{"name":"home","snapshot":{"topic":"h"}}]})");
  EXPECT_EQ(Changes(two, one), Pairs({{"filters", false}}));
  EXPECT_EQ(Changes(two, Effective({"filters[0].name=news", "filters[0].snapshot.debounce_ms=5"})),
            Pairs({{"filters[0]", false}}));
  EXPECT_EQ(Changes(two, Effective({"filters[0].snapshot=null"})), Pairs({{"filters[0].snapshot", false}}));
}

TEST(ConfigChanges, OfMapsAreOne) {
  EXPECT_EQ(Changes(Effective({}), Effective({"kafka.client.debug=all"})), Pairs({{"kafka.client", false}}));
}

}  // namespace
}  // namespace seen

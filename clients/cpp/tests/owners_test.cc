#include "../examples/owners.h"

#include <gtest/gtest.h>

#include <atomic>
#include <nlohmann/json.hpp>

namespace seen::client::examples {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

json RouteTo(int partition, const std::string& address, const std::string& state = "ready") {
  return {{"partition", partition}, {"instance", "of-" + address}, {"address", address}, {"state", state}};
}

json RouteToReplica(int partition, const std::string& address, const std::string& state = "ready") {
  json route = RouteTo(partition, address, state);
  route["role"] = "replica";
  return route;
}

std::string AnswerOf(const json& routes, int partitions, const std::string& partitioner = "murmur2") {
  return json{{"topic", "t"}, {"partitioner", partitioner}, {"partitions", partitions}, {"routes", routes}}
      .dump();
}

std::string Text(const std::vector<Daemon>& daemons) {
  std::string text;
  for (const Daemon& daemon : daemons) text += daemon.instance + "@" + daemon.address + " ";
  return text;
}

TEST(ClientRoutes, NameTheReadyOwnerAndThenReadyReplicas) {
  json nowhere = RouteTo(2, "");
  nowhere["address"] = nullptr;
  const auto routes = Routes::Parse(AnswerOf(
      json::array({RouteToReplica(0, "r:1"), RouteTo(0, "o:1"), RouteToReplica(0, "r:2", "catching_up"),
                   RouteTo(1, "o:2", "catching_up"), RouteToReplica(1, "r:1"), nowhere}),
      3));
  ASSERT_TRUE(routes);
  const std::vector<std::string> expected = {"of-o:1@http://o:1 of-r:1@http://r:1 ", "of-r:1@http://r:1 ",
                                             ""};
  for (int i = 0; i < 20; ++i) {
    const std::string user = "u" + std::to_string(i);
    const auto partition = static_cast<std::size_t>(PartitionOf(Partitioner::kMurmur2, user, 3));
    EXPECT_EQ(Text(routes->Of(user)), expected[partition]);
  }
  EXPECT_EQ(routes->addresses().size(), 4U);
}

TEST(ClientRoutes, GoByThePartitionerThatTheyName) {
  const json two = json::array({RouteTo(0, "o:0"), RouteTo(1, "o:1")});
  const auto routes = Routes::Parse(AnswerOf(two, 2, "crc32"));
  ASSERT_TRUE(routes);
  for (const std::string user : {"u1", "u2", "用户"}) {
    const std::string address = "o:" + std::to_string(PartitionOf(Partitioner::kCrc32, user, 2));
    EXPECT_EQ(Text(routes->Of(user)), "of-" + address + "@http://" + address + " ");
  }
  EXPECT_FALSE(Routes::Parse(AnswerOf(two, 2, "fnv1a")));
  EXPECT_FALSE(Routes::Parse(AnswerOf(two, 0)));
  EXPECT_FALSE(Routes::Parse("[]"));
  EXPECT_FALSE(Routes::Parse(""));
  EXPECT_TRUE(Routes::Parse(AnswerOf(json::array(), 0))->Of("u1").empty());
}

bool WaitUntil(const std::function<bool()>& condition) {
  for (const auto end = Owners::Clock::now() + std::chrono::seconds(10); !condition();) {
    if (Owners::Clock::now() > end) return false;
    std::this_thread::sleep_for(milliseconds(1));
  }
  return true;
}

TEST(ClientOwners, NameTheOwnerFirstAndWhoeverIsAwayLast) {
  Owners::Pace pace;
  pace.away = milliseconds(1'000);
  std::atomic<int> asked_in_vain = 0;
  Owners owners(
      {"http://gone:1", "http://a:1"},
      [&](const std::string& address) -> std::optional<std::string> {
        if (address == "http://gone:1") {
          ++asked_in_vain;
          return std::nullopt;
        }
        return AnswerOf(json::array({RouteTo(0, "b:1"), RouteToReplica(0, "r:1")}), 1);
      },
      pace);
  ASSERT_TRUE(WaitUntil([&] { return owners.WhomToAsk("u").size() == 4; }));
  EXPECT_LE(asked_in_vain, 1);
  bool each_comes_first[2] = {};
  for (int i = 0; i < 2; ++i) {
    const auto daemons = owners.WhomToAsk("u");
    EXPECT_EQ(Text({daemons[0], daemons[1]}), "of-b:1@http://b:1 of-r:1@http://r:1 ");
    EXPECT_TRUE(daemons[2].instance.empty() && daemons[3].instance.empty());
    each_comes_first[daemons[2].address == "http://a:1" ? 0 : 1] = true;
  }
  EXPECT_TRUE(each_comes_first[0] && each_comes_first[1]) << "the others take turns";
  owners.Failed({"http://b:1", "of-b:1"});
  EXPECT_EQ(owners.WhomToAsk("u")[0].address, "http://r:1");
  EXPECT_EQ(owners.WhomToAsk("u")[3].address, "http://b:1");
  EXPECT_TRUE(WaitUntil([&] { return owners.WhomToAsk("u")[0].address == "http://b:1"; })) << "for a while";
}

TEST(ClientOwners, ReadRoutesAgainWhereTheyAreOldAndNotTooOften) {
  Owners::Pace pace;
  pace.refresh_pause = milliseconds(50);
  std::atomic<int> reads = 0;
  Owners owners(
      {"http://a:1"},
      [&](const std::string& address) -> std::optional<std::string> {
        if (address != "http://a:1") return std::nullopt;
        const int read = ++reads;
        if (read == 2) return AnswerOf(json::array(), 1);  // it has heard nobody
        return AnswerOf(json::array({RouteTo(0, read == 1 ? "b:1" : "c:1")}), 1);
      },
      pace);
  ASSERT_TRUE(WaitUntil([&] { return owners.WhomToAsk("u")[0].address == "http://b:1"; }));
  const auto begin = Owners::Clock::now();
  owners.Refresh();
  ASSERT_TRUE(WaitUntil([&] { return reads == 2; }));
  EXPECT_EQ(owners.WhomToAsk("u")[0].address, "http://b:1") << "what was known is better";
  ASSERT_TRUE(WaitUntil([&] {
    owners.Refresh();
    return owners.WhomToAsk("u")[0].address == "http://c:1";
  }));
  EXPECT_LE(reads, 2 + (Owners::Clock::now() - begin) / pace.refresh_pause);
}

}  // namespace
}  // namespace seen::client::examples

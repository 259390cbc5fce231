#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <thread>

#include "tiny_server.h"
#include "tools/ask/daemon_client.h"
#include "tools/ask/daemon_http.h"

namespace seen {
namespace {

TEST(DaemonHttp, KeepsItsConnectionAndReadsHeaders) {
  TinyServer server([](int, const std::string& request) {
    return TinyServer::Response(200, request.substr(0, request.find('\r')), "Seen-As-Of: 17; lag=0\r\n");
  });
  {
    auto client = DaemonHttp::Make({server.base()});
    ASSERT_TRUE(client);
    for (int i = 0; i < 5; ++i) {
      const auto answer = client->Ask("GET", "/v1/status?x=" + std::to_string(i));
      ASSERT_TRUE(answer) << answer.error().message;
      EXPECT_EQ(answer->status, 200u);
      EXPECT_EQ(answer->body, "GET /v1/status?x=" + std::to_string(i) + " HTTP/1.1");
      EXPECT_EQ(answer->as_of, "17; lag=0");
    }
  }
  EXPECT_EQ(server.connections(), 1);
}

TEST(DaemonHttp, ConnectsAgainWhereAKeptConnectionWasClosed) {
  TinyServer server([](int number, const std::string&) {
    return number == 1 ? std::string() : TinyServer::Response(200, std::to_string(number));
  });
  {
    auto client = DaemonHttp::Make({server.base()});
    EXPECT_EQ(client->Ask("GET", "/")->body, "0");
    const auto answer = client->Ask("GET", "/");
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->body, "2");
  }
  EXPECT_EQ(server.connections(), 2);
}

TEST(DaemonHttp, GivesUpOnASilentServer) {
  TinyServer server([](int, const std::string&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    return std::string();
  });
  auto client = DaemonHttp::Make({server.base()}, std::chrono::milliseconds(50));
  const auto answer = client->Ask("GET", "/slow");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Code::kUnavailable);
  EXPECT_NE(answer.error().message.find("/slow"), std::string::npos);
}

TEST(DaemonHttp, NamesTheAddressThatDoesNotAnswer) {
  auto client = DaemonHttp::Make({"http://127.0.0.1:1"});
  const auto answer = client->Ask("GET", "/");
  ASSERT_FALSE(answer);
  EXPECT_NE(answer.error().message.find("http://127.0.0.1:1/"), std::string::npos) << answer.error().message;
}

TEST(DaemonHttp, TakesAddressesOfHttpAndHttpsOnly) {
  for (const char* good : {"http://127.0.0.1:8080", "http://localhost:8080/", "http://[::1]:8080",
                           "http://seend", "https://seend", "https://127.0.0.1:8443/"})
    EXPECT_TRUE(DaemonHttp::Make({good})) << good;
  for (const char* bad :
       {"", "127.0.0.1:8080", "ftp://x:1", "https://", "http://", "http://:80", "http://x:0",
        "http://x:65536", "http://x:8o", "http://x:80/path", "http://u@x:80"}) {
    const auto client = DaemonHttp::Make({bad});
    ASSERT_FALSE(client) << bad;
    EXPECT_EQ(client.error().code, Code::kInvalidArgument);
  }
}

TEST(DaemonHttp, NamesTheFileThatCantBeRead) {
  const auto token = DaemonHttp::Make(DaemonAddress{"http://x:1", "/nonexistent/token", ""});
  ASSERT_FALSE(token);
  EXPECT_NE(token.error().message.find("--token-file: /nonexistent/token"), std::string::npos)
      << token.error().message;
  const auto ca = DaemonHttp::Make(DaemonAddress{"https://x:1", "", "/nonexistent/ca"});
  ASSERT_FALSE(ca);
  EXPECT_NE(ca.error().message.find("--ca: "), std::string::npos) << ca.error().message;
}

TEST(PercentEncode, KeepsOnlyUnreservedCharacters) {
  EXPECT_EQ(PercentEncode("aZ09-._~"), "aZ09-._~");
  EXPECT_EQ(PercentEncode("a/b?c d%é"), "a%2Fb%3Fc%20d%25%C3%A9");
  EXPECT_EQ(PercentEncode(".."), "%2E%2E");
}

TEST(DaemonClient, SumsUpTheStatus) {
  TinyServer server([](int number, const std::string&) {
    return TinyServer::Response(200, number == 0 ? R"({"brokers":"b:1","topic":"t","ready":false,
      "not_ready_reason":"partition 1 is catching up","partitions_total":3,"partitions":[
      {"partition":0,"state":"ready","next_offset":5,"lag_messages":0,"marks_outstanding":2,"high_watermark":5},
      {"partition":2,"state":"catching_up","next_offset":7,"lag_messages":9,"marks_outstanding":1,"high_watermark":null}]})"
                                                 : R"({"partitions":"none"})");
  });
  auto daemon = DaemonClient::Make(DaemonAddress{server.base(), "", ""});
  const auto status = daemon->Status();
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_EQ(status->topic, "t");
  EXPECT_EQ(status->not_ready_reason, "partition 1 is catching up");
  EXPECT_EQ(status->lag_messages, 9u);
  EXPECT_EQ(status->marks_outstanding, 3u);
  EXPECT_FALSE(status->watermarks_known);
  EXPECT_EQ(status->next_offsets, (std::vector<int64_t>{5, -1, 7}));
  const auto odd = daemon->Status();
  ASSERT_FALSE(odd) << "an answer of another shape is an error, not a crash";
  EXPECT_EQ(odd.error().code, Code::kMalformed);
}

TEST(DaemonClient, WaitsForTheOwnersOfPartitionsThatItDoesNotHave) {
  // Partition 1 went to another daemon. That daemon isn't ready, lacks a record, has to publish, has all.
  const std::string routes[] = {R"("catching_up","next_offset":5,"unpublished_users":0)",
                                R"("ready","next_offset":3,"unpublished_users":0)",
                                R"("ready","next_offset":5,"unpublished_users":7)",
                                R"("ready","next_offset":5,"unpublished_users":0)"};
  size_t looks = 0;
  TinyServer server([&](int, const std::string& request) {
    if (request.starts_with("GET /v1/routes")) {
      return TinyServer::Response(
          200,
          R"({"routes":[{"partition":1,"role":"replica","state":"ready","next_offset":9,"unpublished_users":0},
            {"partition":1,"role":"owner","state":)" +
              routes[std::min<size_t>(looks++, 3)] + "}]}");
    }
    return TinyServer::Response(200, R"({"topic":"t","ready":true,"partitions_total":2,"partitions":[
      {"partition":0,"assigned":true,"next_offset":5,"lag_messages":0,"high_watermark":5},
      {"partition":1,"assigned":false,"next_offset":2,"lag_messages":null,"high_watermark":null}]})");
  });
  auto daemon = DaemonClient::Make(DaemonAddress{server.base(), "", ""});
  const std::map<int32_t, int64_t> ends = {{0, 5}, {1, 5}};
  for (const char* missing : {"partition 1 has no owner in /v1/routes that is ready",
                              "partition 1 is at offset 3 of 5", "7 snapshots are unacknowledged"}) {
    const Status waited = WaitUntilCaughtUp(*daemon, ends, true, std::chrono::seconds(0), true);
    ASSERT_FALSE(waited) << missing;
    EXPECT_EQ(waited.error().message, fmt::format("after 0 s: {}", missing));
  }
  EXPECT_TRUE(WaitUntilCaughtUp(*daemon, ends, true, std::chrono::seconds(0), true));
}

TEST(DaemonClient, HandsOnTheDaemonsWords) {
  TinyServer server([](int, const std::string&) {
    return TinyServer::Response(503,
                                R"({"title":"Service Unavailable","detail":"partition 3 is catching up"})");
  });
  auto daemon = DaemonClient::Make(DaemonAddress{server.base(), "", ""});
  const auto answer = daemon->UnseenAnswer("default", "a user", std::vector<std::string>{"n"});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Code::kUnavailable);
  EXPECT_EQ(answer.error().message,
            "/v1/filters/default/users/a%20user/unseen: 503: partition 3 is catching up");
}

}  // namespace
}  // namespace seen

#include "kafka/client_settings.h"

#include <gtest/gtest.h>

namespace seen {
namespace {

TEST(ClientSettings, TakesWhatLibrdkafkaKnows) {
  EXPECT_TRUE(
      CheckClientSettings({{"security.protocol", "sasl_ssl"}, {"linger.ms", "20"}, {"client.id", "x"}}));
  EXPECT_TRUE(CheckClientSettings({}));
}

TEST(ClientSettings, NamesEveryErrorAtOnce) {
  const auto errors = ClientSettingErrors(
      {{"linger.ms", "soon"}, {"no.such.property", "1"}, {"session.timeout.ms", "0"}, {"client.id", "fine"}});
  ASSERT_EQ(errors.size(), 3u);
  EXPECT_EQ(errors[0].property, "linger.ms");
  EXPECT_NE(errors[0].message.find("kafka.client.linger.ms: \"soon\""), std::string::npos)
      << errors[0].message;
  EXPECT_EQ(errors[1].property, "no.such.property");
  EXPECT_EQ(errors[2].property, "session.timeout.ms");
  const auto status =
      CheckClientSettings({{"linger.ms", "soon"}, {"no.such.property", "1"}, {"session.timeout.ms", "0"}});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, Code::kInvalidArgument);
  for (const auto& error : errors) EXPECT_NE(status.error().message.find(error.message), std::string::npos);
}

TEST(ClientSettings, RefusesWhatWouldBreakAPromise) {
  for (const char* const property : {"enable.auto.commit", "auto.offset.reset", "enable.partition.eof",
                                     "group.instance.id", "bootstrap.servers", "enable.idempotence", "acks",
                                     "message.timeout.ms", "partitioner", "queued.max.messages.kbytes"}) {
    const auto errors = ClientSettingErrors({{property, "true"}});
    ASSERT_EQ(errors.size(), 1u) << property;
    EXPECT_NE(errors[0].message.find("can't be set here"), std::string::npos) << errors[0].message;
  }
}

TEST(ClientSettings, TheSessionTimeoutIsTheGivenOneOrTheLibrarys) {
  EXPECT_EQ(SessionTimeout({{"session.timeout.ms", "6000"}}), std::chrono::seconds(6));
  EXPECT_EQ(SessionTimeout({{"linger.ms", "1"}}), std::chrono::seconds(45));
}

TEST(ClientSettings, DoesNotShowSecrets) {
  for (const char* property : {"ssl.key.password.typo", "sasl.jaas.config"}) {
    const auto errors = ClientSettingErrors({{property, "hunter2"}});
    ASSERT_EQ(errors.size(), 1u);
    EXPECT_EQ(errors[0].message.find("hunter2"), std::string::npos) << errors[0].message;
  }
}

}  // namespace
}  // namespace seen

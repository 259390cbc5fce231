// The messages when Kafka denies a request or refuses a connection.

#include <gtest/gtest.h>

#include <algorithm>

#include "kafka/rdkafka_handles.h"

namespace seen::kafka {
namespace {

constexpr auto kTopicDenied = RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED;

TEST(Denied, NamesOperationResourceAndRemedy) {
  const Access access{.operation = AclOperation::kWrite, .topic = "exposures", .group = "seend"};
  EXPECT_EQ(
      MissingAcl(kTopicDenied, access),
      "Kafka denies Write on topic \"exposures\". Remedy: add the ACL --operation Write --topic exposures "
      "(docs/OPERATIONS.md, Access to Kafka)");
  EXPECT_NE(MissingAcl(RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED, access)
                .find("--operation Read --group seend "),
            std::string::npos);
  EXPECT_NE(MissingAcl(RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED,
                       {.operation = AclOperation::kDescribe, .group = "seend"})
                .find("--operation Describe --group seend "),
            std::string::npos);
  EXPECT_NE(MissingAcl(RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED, {}).find("IdempotentWrite"),
            std::string::npos);
}

TEST(Denied, IsKnownUntilItIsAllowed) {
  const Access read{.topic = "a"};
  const Access seen{.topic = "a", .only_describes = true};
  const std::string text = NoteDenied(kTopicDenied, read);
  NoteDenied(kTopicDenied, seen);
  NoteDenied(kTopicDenied, WriteTo("a"));
  const auto count = [&] {
    const auto texts = MissingAcls();
    return std::count(texts.begin(), texts.end(), text);
  };
  EXPECT_EQ(count(), 1) << "one ACL, one sentence";
  NoteAllowed(read);
  EXPECT_EQ(count(), 1) << "the topic still can't be seen";
  NoteAllowed(seen);
  EXPECT_EQ(count(), 0);
  EXPECT_EQ(MissingAcls().size(), 1U);
  NoteAllowed(WriteTo("a"));
  EXPECT_TRUE(MissingAcls().empty());
}

TEST(ConnectionTrouble, SaysWhatToCheck) {
  const std::pair<const char*, const char*> cases[] = {
      {"SASL authentication error: Authentication failed during authentication due to invalid credentials",
       "sasl.password"},
      {"SASL authentication error: {\"status\":\"invalid_token\"}", "sasl.oauthbearer"},
      {"Failed to acquire SASL OAUTHBEARER token: x", "sasl.oauthbearer"},
      {"SSL handshake failed: error:0A000086:SSL routines::certificate verify failed: broker certificate "
       "could not "
       "be verified",
       "ssl.ca.location"},
      {"Receive failed: error:0A00045C:SSL routines::tlsv13 alert certificate required: SSL alert number 116",
       "ssl.certificate.location"},
      {"error:0A000412:SSL routines::sslv3 alert bad certificate", "ssl.certificate.location"},
      {"Disconnected while requesting ApiVersion: might be caused by incorrect security.protocol "
       "configuration",
       "security.protocol"},
  };
  for (const auto& [text, named] : cases)
    EXPECT_NE(SecurityRemedy(text).find(named), std::string_view::npos) << text;
  EXPECT_EQ(SecurityRemedy("Connect to ipv4#127.0.0.1:9092 failed: Connection refused"), "");
}

TEST(HiddenSecrets, AreNotShown) {
  HideSecret("");
  HideSecret("geheim-1");
  EXPECT_EQ(WithoutSecrets("a geheim-1 b geheim-1"), "a (hidden) b (hidden)");
  EXPECT_EQ(WithoutSecrets("Unrecognized sasl.oauthbearer.config beginning at: scope=x"),
            "Unrecognized sasl.oauthbearer.config: the rest is hidden");
  EXPECT_EQ(WithoutSecrets("nothing"), "nothing");
}

}  // namespace
}  // namespace seen::kafka

#include "binary/binary_format.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <string>

#include "decode/record_events.h"
#include "unit/binary/avro_reader_of.h"

namespace seen {
namespace {

constexpr auto kJson = EventEncoding::kJson;
constexpr auto kAvro = EventEncoding::kAvro;
constexpr auto kProtobuf = EventEncoding::kProtobuf;
constexpr auto kNone = EventFraming::kNone;
constexpr auto kConfluent = EventFraming::kConfluent;

std::string WithFile(const std::string& name, const std::string& text) {
  const std::string path = testing::TempDir() + "/" + name;
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

TEST(BinaryFormat, SaysWhichOptionsDontGoTogether) {
  const RegistryOptions registry{.url = "http://registry:8081",
                                 .user = {},
                                 .password = {},
                                 .ca_file = {},
                                 .certificate_file = {},
                                 .key_file = {}};
  const std::string schema = WithFile("exposure.avsc", RecordWith(kBasics));
  struct Case {
    BinaryOptions options;
    std::string path, says;
  };
  const Case cases[] = {
      {{kJson, kNone, "a", {}, {}}, "input.schema_file", "needs no schema"},
      {{kJson, kConfluent, {}, {}, registry}, "input.schema_registry.url", "needs no schema"},
      {{kAvro, kNone, schema, "shop.Exposure", {}}, "input.protobuf_message", "is for input.format"},
      {{kAvro, kNone, {}, {}, {}}, "input.schema_file", "missing"},
      {{kAvro, kConfluent, schema, {}, {}}, "input.schema_registry.url", "missing"},
      {{kAvro, kNone, schema, {}, registry}, "input.schema_registry.url", "input.framing is \"none\""},
      {{kProtobuf, kNone, schema, {}, {}}, "input.protobuf_message", "missing"},
      {{kProtobuf, kConfluent, schema, {}, registry}, "input.schema_file", "set null"},
      {{kProtobuf, kConfluent, {}, "shop.Exposure", registry}, "input.protobuf_message", "set null"},
      {{kProtobuf, kNone, {}, "shop.Exposure", {}}, "input.schema_file", "missing"},
      {{kAvro, kNone, "/nowhere.avsc", {}, {}}, "input.schema_file", "\"/nowhere.avsc\": can't be read"},
      {{kAvro, kNone, WithFile("broken.avsc", "{"), {}, {}}, "input.schema_file", "broken.avsc\": "},
      {{kProtobuf, kNone, schema, "shop.Exposure", {}}, "input.schema_file", "no FileDescriptorSet"},
  };
  for (const Case& c : cases) {
    const auto made = MakeBinaryFormat(c.options);
    ASSERT_FALSE(made) << c.path << ": " << c.says;
    EXPECT_EQ(made.error().path, c.path) << made.error().message;
    EXPECT_NE(made.error().message.find(c.says), std::string::npos) << made.error().message;
  }
  EXPECT_EQ(*MakeBinaryFormat({kJson, kConfluent, {}, {}, {}}), nullptr);
  EXPECT_NE(*MakeBinaryFormat({kAvro, kConfluent, {}, {}, registry}), nullptr);
  EXPECT_NE(*MakeBinaryFormat({kProtobuf, kConfluent, {}, {}, registry}), nullptr);
}

TEST(BinaryFormat, SaysWhatTheRegistrysOptionsLack) {
  const std::string file = WithFile("some.pem", "-----BEGIN");
  const std::string http = "http://registry:8081", https = "https://registry:8081";
  struct Case {
    RegistryOptions registry;
    std::string path, says;
  };
  const Case cases[] = {
      {{"", "key", "", "", "", ""}, "user", "needs input.schema_registry.url"},
      {{"", "", "secret", "", "", ""}, "password", "needs input.schema_registry.url"},
      {{"", "", "", file, "", ""}, "ca", "needs input.schema_registry.url"},
      {{http, "", "secret", "", "", ""}, "password", "needs input.schema_registry.user"},
      {{https, "", "", "", "", file}, "key", "needs input.schema_registry.certificate"},
      {{http, "", "", file, "", ""}, "ca", "is for https"},
      {{https, "", "", "/nowhere.pem", "", ""}, "ca", "\"/nowhere.pem\": can't be read"},
      {{https, "", "", "", file, "/nowhere.pem"}, "key", "can't be read"},
      {{"ftp://registry", "", "", "", "", ""}, "url", "expected http://HOST:PORT"},
  };
  for (const Case& c : cases) {
    const auto made = MakeBinaryFormat({kAvro, kConfluent, {}, {}, c.registry});
    ASSERT_FALSE(made) << c.says;
    EXPECT_EQ(made.error().path, "input.schema_registry." + c.path) << made.error().message;
    EXPECT_NE(made.error().message.find(c.says), std::string::npos) << made.error().message;
  }
  EXPECT_TRUE(
      MakeBinaryFormat({kAvro, kConfluent, {}, {}, RegistryOptions{https, "u", "p", file, file, file}}));
}

TEST(BinaryFormat, ChecksTheFieldsAgainstTheFile) {
  const std::string schema = WithFile("click.avsc", RecordWith(R"({"name":"uid","type":"string"})"));
  EventFormat format;
  format.binary = *MakeBinaryFormat({kAvro, kNone, schema, {}, {}});
  const auto wrong = format.binary->Check(*EventPlan::Make(format));
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->path, "input.fields.user_id");
}

// One topic may hold several types of records.
TEST(BinaryFormat, AFieldThatASchemaLacksIsAbsent) {
  constexpr std::string_view kFields =
      R"({"name":"kind","type":"string"},{"name":"user_id","type":"string"},{"name":"exposed_at","type":"long"})";
  EventFormat format;
  format.binary = *MakeBinaryFormat({kAvro, kNone, WithFile("erase.avsc", RecordWith(kFields)), {}, {}});
  format.wanted.kind = true;
  format.only_if = {AnyOf("/kind", {"exposed", "erased"})};
  EventDecoder decoder(1000, *EventPlan::Make(format));
  const auto payload = [](const std::string& kind) {
    return static_cast<char>(2 * kind.size()) + kind + std::string("\x04u1", 3) +
           std::string("\xc0\xd7\xd4\xfa\xa9\x66", 6);
  };
  const auto erased = decoder.Decode(payload("erased"));
  ASSERT_TRUE(erased) << erased.error().message;
  EXPECT_EQ(erased->kind, EventKind::kErased);
  EXPECT_EQ(erased->user_id, "u1");
  const auto other = decoder.Decode(payload("beat"));
  ASSERT_TRUE(other) << other.error().message;
  EXPECT_NE(other->skip, SkipReason::kNone);
  const auto shown = decoder.Decode(payload("exposed"));
  ASSERT_FALSE(shown);
  EXPECT_EQ(shown.error().reason, RejectReason::kMissingField);
  EXPECT_NE(shown.error().message.find("; input.fields.item_id: item_id leads nowhere in schema record "
                                       "shop.Exposure, which has the fields kind, user_id, exposed_at"),
            std::string::npos)
      << shown.error().message;
}

TEST(BinaryFormat, ItsEndDoesntWaitForASilentRegistry) {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t bytes = sizeof(address);
  const timeval patience{.tv_sec = 10, .tv_usec = 0};
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), bytes), 0);
  ASSERT_EQ(listen(listener, 1), 0);
  ASSERT_EQ(getsockname(listener, reinterpret_cast<sockaddr*>(&address), &bytes), 0);
  ASSERT_EQ(setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)), 0);
  RegistryOptions registry;
  registry.url = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  EventFormat format;
  format.binary = *MakeBinaryFormat({kAvro, kConfluent, {}, {}, registry});
  {
    EventDecoder decoder(1000, *EventPlan::Make(format), MissingSchema::kGiveUp);
    EXPECT_EQ(decoder.Decode(std::string("\0\0\0\0\x07x", 6)).error().reason, RejectReason::kSchemaPending);
  }
  const int asked = accept(listener, nullptr, nullptr);
  ASSERT_GE(asked, 0) << "the registry is asked";
  const auto begun = std::chrono::steady_clock::now();
  format = {};
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(3)) << "the request takes 5 s";
  close(asked);
  close(listener);
}

TEST(BinaryFormat, OwnEventsStayJsonAndTooLongOnesAreRejected) {
  EventFormat format;
  format.binary = *MakeBinaryFormat({kAvro, kNone, WithFile("basic.avsc", RecordWith(kBasics)), {}, {}});
  EventDecoder decoder(100, *EventPlan::Make(format));
  const std::string_view item = "n1";
  const auto own = decoder.Decode(
      EncodeOwnEvent({.user_id = "u1", .items = {&item, 1}, .kind = "removed", .at = {1763700000000}}));
  ASSERT_TRUE(own) << own.error().message;
  EXPECT_EQ(own->kind, EventKind::kRemoved);
  const std::string payload = std::string("\x04u1\x04n2", 6) + std::string("\xc0\xd7\xd4\xfa\xa9\x66", 6);
  const auto event = decoder.Decode(payload);
  ASSERT_TRUE(event) << event.error().message;
  EXPECT_EQ(event->items.front().item_id, "n2");
  EXPECT_EQ(decoder.Decode(std::string(101, 'x')).error().reason, RejectReason::kTooLarge);
  // No bytes of a record are looked at as text that may hold several events.
  EventDecoder long_one(1000, *EventPlan::Make(format));
  const std::string own_event = EncodeOwnEvent({.user_id = "u1", .items = {}, .kind = "erased", .at = {1}});
  const std::string user = "\xff\n" + own_event + "\n";
  std::string injected = {static_cast<char>(2 * user.size() & 0x7f | 0x80),
                          static_cast<char>(2 * user.size() >> 7)};
  injected += user + payload.substr(3);
  const auto rejected = long_one.Decode(injected);
  ASSERT_FALSE(rejected);
  EXPECT_EQ(rejected.error().reason, RejectReason::kNotDecodable) << rejected.error().message;
  EXPECT_FALSE(MayHoldSeveral(rejected.error()));
  EXPECT_EQ(decoder.Decode("{}").error().reason, RejectReason::kNotDecodable);
  EXPECT_EQ(decoder.Decode("").error().reason, RejectReason::kNotDecodable);
}

}  // namespace
}  // namespace seen

#pragma once
// Short ways to make Protobuf readers and messages in tests.

#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include "binary/protobuf_reader.h"
#include "decode/event_decoder.h"
#include "unit/binary/avro_encoder.h"
#include "unit/decode/format_of.h"

namespace seen {

inline std::shared_ptr<const ProtobufSchema> ProtobufOf(const std::string& text) {
  auto schema = ProtobufSchema::FromText(text);
  EXPECT_TRUE(schema) << schema.error() << "\n" << text;
  return schema.value_or(nullptr);
}

/// proto3, with message Exposure and its required parts.
inline std::string Proto3(const std::string& fields, const std::string& beside = "") {
  return "syntax = \"proto3\"; package shop; import \"google/protobuf/timestamp.proto\";"
         "import \"google/protobuf/duration.proto\"; import \"google/protobuf/wrappers.proto\";"
         "message Exposure { string user_id = 101; string item_id = 102; int64 exposed_at = 103;" +
         fields + "}" + beside;
}
/// Of Proto3's message.
inline const std::string kProtobufBasics = R"(user_id: "u" item_id: "i" exposed_at: 9 )";

/// The bytes of a message in protobuf's text format.
inline std::string Serialized(const ProtobufSchema& schema, const std::string& text) {
  google::protobuf::DynamicMessageFactory factory;
  const std::unique_ptr<google::protobuf::Message> message(factory.GetPrototype(&schema.message())->New());
  google::protobuf::TextFormat::Parser parser;
  parser.AllowPartialMessage(true);
  EXPECT_TRUE(parser.ParseFromString(text, message.get())) << text;
  return message->SerializePartialAsString();
}

/// Both ways of reading.
struct ProtobufWays {
  ProtobufWays(const std::shared_ptr<const ProtobufSchema>& schema, const EventFormat& format)
      : plan(*EventPlan::Make(format)), decoder(size_t{1} << 24, plan) {
    auto made = ProtobufReader::Make(schema, plan);
    if (made) reader = std::move(*made);
    if (made && reader->Missing() != nullptr)
      error = reader->Missing()->path + ": " + reader->Missing()->message;
    if (!made) error = made.error().path + ": " + made.error().message;
  }

  /// The event's text; "long way" if it needs that.
  std::string Short(std::string_view payload) {
    Event event;
    return reader->Read(payload, buffers, event) ? EventText(event) : "long way";
  }
  std::string Json(std::string_view payload) {
    std::string written = "before";
    const auto read = reader->AppendJson(payload, written);
    if (!read) {
      EXPECT_EQ(written, "before");
    }
    return read ? written.substr(6)
                : std::string(RejectReasonName(read.error().reason)) + " " + read.error().message;
  }
  std::string Long(std::string_view payload) {
    const std::string written = Json(payload);
    if (!written.starts_with('{')) return written;
    const auto event = decoder.Decode(written);
    return event ? EventText(*event) : event.error().message;
  }

  std::shared_ptr<const EventPlan> plan;
  EventDecoder decoder;
  std::unique_ptr<ProtobufReader> reader;
  EventBuffers buffers;
  std::string error;
};

}  // namespace seen

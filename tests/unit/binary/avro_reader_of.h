#pragma once
// Short ways to make readers in tests.

#include <gtest/gtest.h>

#include "binary/avro_reader.h"
#include "decode/event_decoder.h"
#include "unit/binary/avro_encoder.h"
#include "unit/decode/format_of.h"

namespace seen {

inline std::shared_ptr<const AvroSchema> SchemaOf(std::string_view text) {
  auto schema = AvroSchema::Parse(text);
  EXPECT_TRUE(schema) << schema.error() << "\n" << text;
  return schema.value_or(nullptr);
}

inline std::string RecordWith(std::string_view fields, std::string_view name = "shop.Exposure") {
  return R"({"type":"record","name":")" + std::string(name) + R"(","fields":[)" + std::string(fields) + "]}";
}

inline constexpr std::string_view kBasics =
    R"({"name":"user_id","type":"string"},{"name":"item_id","type":"string"},{"name":"exposed_at","type":"long"})";

/// Both ways of reading.
struct BothWays {
  BothWays(const std::shared_ptr<const AvroSchema>& schema, const EventFormat& format,
           const std::shared_ptr<const AvroSchema>& reader_schema = nullptr)
      : plan(*EventPlan::Make(format)), decoder(size_t{1} << 24, plan) {
    auto made = AvroReader::Make(schema, reader_schema, plan);
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
    std::string json = "before";
    const auto read = reader->AppendJson(payload, json);
    if (!read) {
      EXPECT_EQ(json, "before");
    }
    return read ? json.substr(6)
                : std::string(RejectReasonName(read.error().reason)) + " " + read.error().message;
  }
  std::string Long(std::string_view payload) {
    const std::string json = Json(payload);
    if (!json.starts_with('{')) return json;
    const auto event = decoder.Decode(json);
    return event ? EventText(*event) : event.error().message;
  }

  std::shared_ptr<const EventPlan> plan;
  EventDecoder decoder;
  std::unique_ptr<AvroReader> reader;
  EventBuffers buffers;
  std::string error;
};

inline EventFormat EverythingWanted() {
  EventFormat format;
  format.wanted = {true, true, true, true, true};
  return format;
}

}  // namespace seen

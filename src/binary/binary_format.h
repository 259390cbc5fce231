#pragma once
// The formats of events that aren't JSON, as configured: input.format, input.framing, input.schema_file,
// input.protobuf_message and input.schema_registry.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "binary/schema_registry.h"
#include "decode/binary_reader.h"
#include "decode/event_plan.h"

namespace seen {

enum class EventEncoding : uint8_t { kJson, kAvro, kProtobuf };
inline constexpr std::array<std::string_view, 3> kEventEncodingNames = {"json", "avro", "protobuf"};
enum class EventFraming : uint8_t { kNone, kConfluent };
inline constexpr std::array<std::string_view, 2> kEventFramingNames = {"none", "confluent"};

struct BinaryOptions {
  EventEncoding encoding = EventEncoding::kJson;
  EventFraming framing = EventFraming::kNone;
  std::optional<std::string> schema_file;
  std::optional<std::string> protobuf_message;
  std::optional<RegistryOptions> registry;
};

/// nullptr: the events are JSON. Reads the schema's file. Asks the registry only once events come. The
/// error's path is a key of the configuration.
tl::expected<std::shared_ptr<BinaryFormat>, FormatError> MakeBinaryFormat(const BinaryOptions& options);

}  // namespace seen

#pragma once
// Writes data as Avro, and as the JSON that the long way has to make of them.

#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <string>
#include <string_view>

#include "binary/avro_schema.h"
#include "model/event.h"

namespace seen {

using Random = std::mt19937_64;

void PutLong(int64_t value, std::string& out);

/// Encodes a datum. Bytes and fixed values are nlohmann's binary values, an enum's symbol is its text, and a
/// value of a union is the list [branch, value]. Integers are those of the schema, whatever their logical
/// type.
class AvroEncoder {
 public:
  /// `random`: arrays and maps have several blocks, some with a size in bytes. Null: one block without.
  explicit AvroEncoder(const AvroSchema& schema, Random* random = nullptr)
      : schema_(schema), random_(random) {}
  std::string Encode(const nlohmann::json& datum) { return Encode(schema_.root(), datum); }
  std::string Encode(uint32_t node, const nlohmann::json& datum);

 private:
  const AvroSchema& schema_;
  Random* random_;
};

/// The JSON for a datum; nullopt: it is left out. Only for decimals of at most 7 bytes.
std::optional<nlohmann::json> JsonOf(const AvroSchema& schema, uint32_t node, const nlohmann::json& datum);

/// Everything that an event says, to compare two of them.
std::string EventText(const Event& event);

/// "\x02ab": the digits as bytes.
std::string FromHex(std::string_view hex);

}  // namespace seen

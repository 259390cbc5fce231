#include "unit/binary/avro_encoder.h"

#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace seen {

using nlohmann::json;

void PutLong(int64_t value, std::string& out) {
  uint64_t zigzag =
      value < 0 ? static_cast<uint64_t>(-(value + 1)) * 2 + 1 : static_cast<uint64_t>(value) * 2;
  while (zigzag > 127) {
    out.push_back(static_cast<char>(zigzag % 128 + 128));
    zigzag /= 128;
  }
  out.push_back(static_cast<char>(zigzag));
}

namespace {

template <typename Number>
std::string Raw(Number number) {
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

std::string BytesIn(const json& datum) {
  const auto& binary = datum.get_binary();
  return {binary.begin(), binary.end()};
}

std::string WithLength(const std::string& text) {
  std::string out;
  PutLong(static_cast<int64_t>(text.size()), out);
  return out + text;
}

}  // namespace

std::string AvroEncoder::Encode(uint32_t at, const json& datum) {
  const AvroSchema::Node& node = schema_[at];
  std::string out;
  switch (node.type) {
    case AvroType::kNull:
      break;
    case AvroType::kBoolean:
      out.push_back(datum.get<bool>() ? 1 : 0);
      break;
    case AvroType::kInt:
    case AvroType::kLong:
      PutLong(datum.get<int64_t>(), out);
      break;
    case AvroType::kFloat:
      out = Raw(datum.get<float>());
      break;
    case AvroType::kDouble:
      out = Raw(datum.get<double>());
      break;
    case AvroType::kBytes:
      out = WithLength(BytesIn(datum));
      break;
    case AvroType::kFixed:
      out = BytesIn(datum);
      break;
    case AvroType::kString:
      out = WithLength(datum.get<std::string>());
      break;
    case AvroType::kEnum:
      PutLong(std::ranges::find(node.symbols, datum.get<std::string>()) - node.symbols.begin(), out);
      break;
    case AvroType::kUnion:
      PutLong(datum[0].get<int64_t>(), out);
      out += Encode(node.within[datum[0].get<size_t>()], datum[1]);
      break;
    case AvroType::kRecord:
      for (const auto& field : node.fields) out += Encode(field.node, datum.at(field.name));
      break;
    case AvroType::kArray:
    case AvroType::kMap: {
      std::string block;
      int64_t count = 0;
      const auto end_block = [&] {
        if (count == 0) return;
        const bool sized = random_ != nullptr && (*random_)() % 2 == 0;
        PutLong(sized ? -count : count, out);
        if (sized) PutLong(static_cast<int64_t>(block.size()), out);
        out += block;
        block.clear();
        count = 0;
      };
      for (const auto& [key, value] : datum.items()) {
        if (node.type == AvroType::kMap) block += WithLength(key);
        block += Encode(node.within[0], value);
        ++count;
        if (random_ != nullptr && (*random_)() % 3 == 0) end_block();
      }
      end_block();
      PutLong(0, out);
      break;
    }
  }
  return out;
}

namespace {

json TextOrHex(const std::string& bytes) {
  if (simdjson::validate_utf8(bytes.data(), bytes.size())) return bytes;
  std::string hex;
  for (const char c : bytes) {
    char digits[3];
    snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(c));
    hex += digits;
  }
  return hex;
}

json DecimalOf(const std::string& bytes, uint32_t scale) {
  int64_t value = !bytes.empty() && (bytes[0] & 0x80) != 0 ? -1 : 0;
  for (const char c : bytes) value = value * 256 + static_cast<unsigned char>(c);
  if (scale == 0) return value;
  std::string digits = std::to_string(value < 0 ? -value : value);
  while (digits.size() <= scale) digits.insert(digits.begin(), '0');
  digits.insert(digits.size() - scale, ".");
  return json::parse((value < 0 ? "-" : "") + digits);
}

json IntegerOf(AvroLogical logical, int64_t value) {
  const auto floored = [&](int64_t by) { return value / by - (value % by < 0 ? 1 : 0); };
  switch (logical) {
    case AvroLogical::kDate:
      return value * 24 * 3600 * 1000;
    case AvroLogical::kTimestampMicros:
    case AvroLogical::kLocalTimestampMicros:
      return floored(1000);
    case AvroLogical::kTimestampNanos:
    case AvroLogical::kLocalTimestampNanos:
      return floored(1'000'000);
    default:
      return value;
  }
}

std::string UuidText(const std::string& bytes) {
  std::string text;
  for (const char c : bytes) {
    char digits[3];
    snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(c));
    text += digits;
  }
  for (const size_t at : {8u, 13u, 18u, 23u}) text.insert(at, "-");
  return text;
}

}  // namespace

std::optional<json> JsonOf(const AvroSchema& schema, uint32_t at, const json& datum) {
  const AvroSchema::Node& node = schema[at];
  switch (node.type) {
    case AvroType::kNull:
      return std::nullopt;
    case AvroType::kInt:
    case AvroType::kLong:
      return IntegerOf(node.logical, datum.get<int64_t>());
    case AvroType::kFloat:
    case AvroType::kDouble:
      return std::isfinite(datum.get<double>()) ? std::optional(datum) : std::nullopt;
    case AvroType::kBytes:
    case AvroType::kFixed:
      if (node.logical == AvroLogical::kDuration) return std::nullopt;
      if (node.logical == AvroLogical::kDecimal) return DecimalOf(BytesIn(datum), node.scale);
      if (node.logical == AvroLogical::kUuid) return UuidText(BytesIn(datum));
      return TextOrHex(BytesIn(datum));
    case AvroType::kUnion:
      return JsonOf(schema, node.within[datum[0].get<size_t>()], datum[1]);
    case AvroType::kRecord: {
      json object = json::object();
      for (const auto& field : node.fields) {
        if (auto value = JsonOf(schema, field.node, datum.at(field.name))) object[field.name] = *value;
      }
      return object;
    }
    case AvroType::kArray: {
      json array = json::array();
      for (const json& each : datum) array.push_back(JsonOf(schema, node.within[0], each).value_or(nullptr));
      return array;
    }
    case AvroType::kMap: {
      json object = json::object();
      for (const auto& [key, each] : datum.items()) {
        if (auto value = JsonOf(schema, node.within[0], each)) object[key] = *value;
      }
      return object;
    }
    default:
      return datum;
  }
}

std::string EventText(const Event& event) {
  const auto number = [](const auto& value) { return value ? std::to_string(*value) : std::string("none"); };
  std::string text = "skip " + std::to_string(static_cast<int>(event.skip));
  if (event.skip != SkipReason::kNone) return text;
  text += " user " + std::string(event.user_id) + " at " + std::to_string(event.exposed_at.value) + " kind " +
          std::to_string(static_cast<int>(event.kind)) + " filters " + std::to_string(event.filters) +
          " scene " + std::string(event.scene) + " request " + std::string(event.request_id);
  for (const ExposedItem& item : event.items) {
    text += " item " + std::string(item.item_id);
    if (item.fingerprint != FingerprintOf(item.item_id)) text += " with another fingerprint";
  }
  for (const ItemDetails& details : event.details) {
    text += " position " + number(details.position) + " created ";
    text += details.created_at ? std::to_string(details.created_at->value) : "none";
  }
  return text;
}

std::string FromHex(std::string_view hex) {
  std::string bytes;
  for (size_t at = 0; at + 1 < hex.size(); at += 2)
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(at, 2)), nullptr, 16));
  return bytes;
}

}  // namespace seen

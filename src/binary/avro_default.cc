#include "binary/avro_default.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

namespace seen {
namespace {

using Json = nlohmann::json;

void AppendLong(int64_t value, std::string& out) {
  auto raw = static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63);
  for (; raw >= 0x80; raw >>= 7) out += static_cast<char>(raw | 0x80);
  out += static_cast<char>(raw);
}

template <typename Number>
void AppendNumber(Number number, std::string& out) {
  out.append(reinterpret_cast<const char*>(&number), sizeof number);
}

/// In defaults a byte is the Unicode character with its number.
std::optional<std::string> BytesOf(const std::string& text) {
  std::string bytes;
  for (size_t at = 0; at < text.size(); ++at) {
    const auto first = static_cast<unsigned char>(text[at]);
    if (first < 0x80) {
      bytes += text[at];
      continue;
    }
    if ((first != 0xc2 && first != 0xc3) || ++at == text.size()) return std::nullopt;
    bytes += static_cast<char>((first & 3) << 6 | (static_cast<unsigned char>(text[at]) & 0x3f));
  }
  return bytes;
}

class DefaultEncoder {
 public:
  explicit DefaultEncoder(const AvroSchema& schema) : schema_(schema) {}

  bool Encode(uint32_t at, const Json& value, size_t depth) {
    if (depth > AvroSchema::kDepthMax || ++steps_ > kStepsMax || out_.size() > kBytesMax) return false;
    const AvroSchema::Node& node = schema_[at];
    switch (node.type) {
      case AvroType::kNull:
        return value.is_null();
      case AvroType::kBoolean:
        if (value.is_boolean()) out_ += value.get<bool>() ? '\1' : '\0';
        return value.is_boolean();
      case AvroType::kInt:
      case AvroType::kLong:
        return EncodeInteger(value, node.type == AvroType::kInt);
      case AvroType::kFloat:
        if (value.is_number()) AppendNumber(value.get<float>(), out_);
        return value.is_number();
      case AvroType::kDouble:
        if (value.is_number()) AppendNumber(value.get<double>(), out_);
        return value.is_number();
      case AvroType::kString:
        return value.is_string() && EncodeText(value.get_ref<const std::string&>());
      case AvroType::kBytes:
      case AvroType::kFixed:
        return EncodeBytes(node, value);
      case AvroType::kEnum: {
        if (!value.is_string()) return false;
        const auto symbol =
            std::find(node.symbols.begin(), node.symbols.end(), value.get_ref<const std::string&>());
        AppendLong(symbol - node.symbols.begin(), out_);
        return symbol != node.symbols.end();
      }
      case AvroType::kRecord:
        return EncodeRecord(node, value, depth);
      case AvroType::kArray:
      case AvroType::kMap:
        return EncodeSeries(node, value, depth);
      case AvroType::kUnion:
        return EncodeUnion(node, value, depth);
    }
    return false;
  }
  std::string Taken() { return std::move(out_); }
  bool TooLong() const { return out_.size() > kBytesMax; }

 private:
  static constexpr size_t kBytesMax = size_t{64} << 10;
  static constexpr size_t kStepsMax = 100'000;

  bool EncodeText(const std::string& text) {
    AppendLong(static_cast<int64_t>(text.size()), out_);
    out_ += text;
    return true;
  }

  bool EncodeInteger(const Json& value, bool is_int) {
    if (!value.is_number_integer()) return false;
    if (value.is_number_unsigned() && value.get<uint64_t>() > INT64_MAX) return false;
    const auto integer = value.get<int64_t>();
    if (is_int && integer != static_cast<int32_t>(integer)) return false;
    AppendLong(integer, out_);
    return true;
  }

  bool EncodeBytes(const AvroSchema::Node& node, const Json& value) {
    const auto bytes = value.is_string() ? BytesOf(value.get_ref<const std::string&>()) : std::nullopt;
    if (!bytes) return false;
    if (node.type == AvroType::kBytes) return EncodeText(*bytes);
    out_ += *bytes;
    return bytes->size() == node.size;
  }

  bool EncodeRecord(const AvroSchema::Node& node, const Json& value, size_t depth) {
    if (!value.is_object()) return false;
    for (const AvroSchema::Field& field : node.fields) {
      if (const auto given = value.find(field.name); given != value.end()) {
        if (!Encode(field.node, *given, depth + 1)) return false;
        continue;
      }
      if (!field.default_json) return false;
      constexpr size_t kBytesOfAStep = 64;
      steps_ += field.default_json->size() / kBytesOfAStep;
      if (steps_ > kStepsMax || !Encode(field.node, Json::parse(*field.default_json), depth + 1))
        return false;
    }
    return true;
  }

  bool EncodeSeries(const AvroSchema::Node& node, const Json& value, size_t depth) {
    const bool is_map = node.type == AvroType::kMap;
    if (is_map ? !value.is_object() : !value.is_array()) return false;
    if (!value.empty()) AppendLong(static_cast<int64_t>(value.size()), out_);
    for (const auto& [key, each] : value.items()) {
      if (is_map) EncodeText(key);
      if (!Encode(node.within.front(), each, depth + 1)) return false;
    }
    AppendLong(0, out_);
    return true;
  }

  bool EncodeUnion(const AvroSchema::Node& node, const Json& value, size_t depth) {
    const size_t mark = out_.size();
    for (size_t branch = 0; branch < node.within.size(); ++branch) {
      AppendLong(static_cast<int64_t>(branch), out_);
      if (Encode(node.within[branch], value, depth + 1)) return true;
      out_.resize(mark);
    }
    return false;
  }

  const AvroSchema& schema_;
  std::string out_;
  size_t steps_ = 0;
};

}  // namespace

std::optional<std::string> EncodeAvroDefault(const AvroSchema& schema, uint32_t node,
                                             const std::string& json) {
  DefaultEncoder encoder(schema);
  if (!encoder.Encode(node, Json::parse(json), 1) || encoder.TooLong()) return std::nullopt;
  return encoder.Taken();
}

}  // namespace seen

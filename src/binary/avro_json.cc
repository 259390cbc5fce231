#include "binary/avro_json.h"

#include <cmath>
#include <utility>

#include "base/text.h"
#include "binary/avro_values.h"
#include "binary/json_values.h"
#include "decode/json_text.h"

namespace seen {
namespace {

using Type = AvroType;

constexpr size_t kDecimalBytesMax = 512;  // its digits take time as the square of its length

}  // namespace

AvroJson::Written AvroJson::Fail(std::string what) {
  problem_ = std::move(what);
  return Written::kFailed;
}
AvroJson::Written AvroJson::CutOff() {
  return Fail("cut off after " + std::to_string(payload_.size()) + " bytes");
}

tl::expected<void, Rejection> AvroJson::Append(std::string_view payload, std::string& json) {
  const size_t before = json.size();
  payload_ = payload;
  cursor_ = AvroCursor(payload);
  json_ = &json;
  json_max_ = before + JsonBytesMax(payload.size());
  values_left_ = JsonBytesMax(payload.size());
  path_.clear();
  Written written = Write(reading_[reading_.root], 1);
  if (written == Written::kNothing) written = Fail("null");
  if (written == Written::kValue && !cursor_.AtEnd())
    written = Fail(std::to_string(cursor_.left()) + " bytes behind its end");
  if (written == Written::kValue) return {};
  json.resize(before);
  return tl::unexpected(Rejection{RejectReason::kNotDecodable,
                                  {},
                                  "not an event of schema record " + reading_.record + ": " +
                                      (path_.empty() ? "" : "field " + path_ + ": ") + problem_});
}

AvroJson::Written AvroJson::Write(const Node& node, size_t depth) {
  if (!node.mismatch.empty()) return Fail(node.mismatch);
  if (depth > kDepthMax) return Fail("nested too deeply; at most " + std::to_string(kDepthMax) + " levels");
  if (values_left_-- == 0 || json_->size() > json_max_)
    return Fail("too many values for " + std::to_string(payload_.size()) + " bytes");
  switch (node.type) {
    case Type::kNull:
      return Written::kNothing;
    case Type::kBoolean: {
      std::string_view byte;
      if (!cursor_.Take(1, byte)) return CutOff();
      if (static_cast<unsigned char>(byte.front()) > 1) return Fail("a boolean that is neither 0 nor 1");
      *json_ += byte.front() != 0 ? "true" : "false";
      return Written::kValue;
    }
    case Type::kInt:
    case Type::kLong:
      return WriteInteger(node);
    case Type::kFloat: {
      float number = 0;
      if (!cursor_.TakeNumber(number)) return CutOff();
      return node.shown == Type::kFloat ? WriteFraction(number) : WriteFraction(double{number});
    }
    case Type::kDouble: {
      double number = 0;
      if (!cursor_.TakeNumber(number)) return CutOff();
      return WriteFraction(number);
    }
    case Type::kBytes:
    case Type::kString: {
      int64_t length = 0;
      if (!cursor_.TakeLong(length)) return CutOff();
      if (length < 0) return Fail("a length of " + std::to_string(length));
      std::string_view bytes;
      if (!cursor_.Take(static_cast<uint64_t>(length), bytes)) return CutOff();
      if (node.logical == AvroLogical::kDecimal) return WriteDecimal(node, bytes);
      return WriteText(bytes, node.type == Type::kString);
    }
    case Type::kFixed:
      return WriteFixed(node);
    case Type::kEnum: {
      int64_t symbol = 0;
      if (!cursor_.TakeLong(symbol)) return CutOff();
      if (symbol < 0 || static_cast<uint64_t>(symbol) >= node.symbols.size())
        return Fail("symbol " + std::to_string(symbol) + " of an enum of " +
                    std::to_string(node.symbols.size()));
      const auto& name = node.symbols[static_cast<size_t>(symbol)];
      if (!name)
        return Fail("symbol " + std::to_string(symbol) + " of enum " + node.name +
                    ", which the reader's schema lacks; give the enum a default there");
      AppendJsonString(*name, *json_);
      return Written::kValue;
    }
    case Type::kUnion: {
      int64_t branch = 0;
      if (!cursor_.TakeLong(branch)) return CutOff();
      if (branch < 0 || static_cast<uint64_t>(branch) >= node.within.size())
        return Fail("branch " + std::to_string(branch) + " of a union of " +
                    std::to_string(node.within.size()));
      return Write(reading_[node.within[static_cast<size_t>(branch)]], depth);
    }
    case Type::kRecord:
      return WriteRecord(node, depth);
    case Type::kArray:
    case Type::kMap:
      return WriteSeries(node, depth);
  }
  return Written::kFailed;
}

AvroJson::Written AvroJson::WriteInteger(const Node& node) {
  int64_t value = 0;
  if (!cursor_.TakeLong(value)) return cursor_.AtEnd() ? CutOff() : Fail("an integer of more than 64 bits");
  if (node.type == Type::kInt && value != static_cast<int32_t>(value))
    return Fail("an int of more than 32 bits");
  if (node.shown == Type::kFloat) return WriteFraction(static_cast<float>(value));
  if (node.shown == Type::kDouble) return WriteFraction(static_cast<double>(value));
  AppendJsonNumber(MillisecondsOf(node.logical, value), *json_);
  return Written::kValue;
}

template <typename Number>
AvroJson::Written AvroJson::WriteFraction(Number number) {
  if (!std::isfinite(number)) return Written::kNothing;
  AppendJsonNumber(number, *json_);
  return Written::kValue;
}

AvroJson::Written AvroJson::WriteText(std::string_view bytes, bool is_string) {
  is_string ? AppendJsonString(bytes, *json_) : AppendJsonBytes(bytes, *json_);
  return Written::kValue;
}

// Two's complement, the first byte first.
AvroJson::Written AvroJson::WriteDecimal(const Node& node, std::string_view bytes) {
  if (bytes.size() > kDecimalBytesMax)
    return Fail("a decimal of " + std::to_string(bytes.size()) + " bytes; at most " +
                std::to_string(kDecimalBytesMax));
  number_.assign(bytes.begin(), bytes.end());
  const bool negative = !number_.empty() && number_.front() >= 0x80;
  if (negative) {
    unsigned carry = 1;
    for (size_t i = number_.size(); i > 0; --i) {
      carry += static_cast<uint8_t>(~number_[i - 1]);
      number_[i - 1] = static_cast<uint8_t>(carry);
      carry >>= 8;
    }
  }
  std::string digits;  // the last first
  for (size_t first = 0; first < number_.size();) {
    unsigned rest = 0;
    for (size_t i = first; i < number_.size(); ++i) {
      rest = rest << 8 | number_[i];
      number_[i] = static_cast<uint8_t>(rest / 10);
      rest %= 10;
    }
    digits += static_cast<char>('0' + rest);
    while (first < number_.size() && number_[first] == 0) ++first;
  }
  // The division of 0 leaves one digit or none.
  while (digits.size() > 1 && digits.back() == '0') digits.pop_back();
  while (digits.size() <= node.scale) digits += '0';
  if (negative) *json_ += '-';
  json_->append(digits.rbegin(), digits.rend() - static_cast<std::ptrdiff_t>(node.scale));
  if (node.scale > 0) {
    *json_ += '.';
    json_->append(digits.rend() - static_cast<std::ptrdiff_t>(node.scale), digits.rend());
  }
  return Written::kValue;
}

AvroJson::Written AvroJson::WriteFixed(const Node& node) {
  std::string_view bytes;
  if (!cursor_.Take(node.size, bytes)) return CutOff();
  switch (node.logical) {
    case AvroLogical::kDuration:
      return Written::kNothing;
    case AvroLogical::kDecimal:
      return WriteDecimal(node, bytes);
    case AvroLogical::kUuid: {
      std::array<char, kUuidText> text;
      WriteUuid(bytes, text.data());
      AppendJsonString({text.data(), text.size()}, *json_);
      return Written::kValue;
    }
    default:
      return WriteText(bytes, false);
  }
}

AvroJson::Written AvroJson::WriteRecord(const Node& node, size_t depth) {
  *json_ += '{';
  for (const AvroReading::Member& member : node.members) {
    if (WriteMember(member.name, member.kept, reading_[member.node], depth) == Written::kFailed)
      return Written::kFailed;
  }
  for (const AvroReading::Default& each : node.defaults) {
    const AvroCursor here = std::exchange(cursor_, AvroCursor(each.bytes));
    if (WriteMember(each.name, true, reading_[each.node], depth) == Written::kFailed) return Written::kFailed;
    cursor_ = here;
  }
  *json_ += '}';
  return Written::kValue;
}

AvroJson::Written AvroJson::WriteMember(const std::string& name, bool kept, const Node& node, size_t depth) {
  const size_t before = json_->size();
  if (json_->back() != '{') *json_ += ',';
  AppendJsonString(name, *json_);
  *json_ += ':';
  const Written written = Write(node, depth + 1);
  if (written == Written::kFailed) {
    constexpr size_t kShownMax = 64;  // a key of a map may be long, and any bytes
    const std::string shown = Printable(std::string_view(name).substr(0, kShownMax));
    path_ = path_.empty() || path_.front() == '[' ? shown + path_ : shown + "." + path_;
  } else if (written == Written::kNothing || !kept) {
    json_->resize(before);
  }
  return written;
}

AvroJson::Written AvroJson::WriteSeries(const Node& node, size_t depth) {
  const bool is_map = node.type == Type::kMap;
  const Node& element = reading_[node.within.front()];
  *json_ += is_map ? '{' : '[';
  size_t index = 0;
  for (;;) {
    uint64_t count = 0;
    int64_t bytes = 0;
    if (!cursor_.TakeBlock(count, bytes)) return CutOff();
    if (count == 0) break;
    const size_t from = cursor_.left();
    for (; count > 0; --count, ++index) {
      Written written;
      if (is_map) {
        std::string_view key;
        if (!cursor_.TakeBytes(key)) return CutOff();
        written = WriteMember(std::string(key), true, element, depth);
      } else {
        written = WriteElement(element, index, depth);
      }
      if (written == Written::kFailed) return written;
    }
    if (bytes >= 0 && from - cursor_.left() != static_cast<uint64_t>(bytes))
      return Fail("a block says that it has " + std::to_string(bytes) + " bytes, and has " +
                  std::to_string(from - cursor_.left()));
  }
  *json_ += is_map ? '}' : ']';
  return Written::kValue;
}

AvroJson::Written AvroJson::WriteElement(const Node& node, size_t index, size_t depth) {
  if (index > 0) *json_ += ',';
  const Written written = Write(node, depth + 1);
  if (written == Written::kNothing) *json_ += "null";  // the others keep their places
  if (written == Written::kFailed) {
    const std::string place = "[" + std::to_string(index) + "]";
    path_ = path_.empty() || path_.front() == '[' ? place + path_ : place + "." + path_;
  }
  return written;
}

}  // namespace seen

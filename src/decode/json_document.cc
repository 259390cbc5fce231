#include "decode/json_document.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>
#include <string_view>

#include "base/result.h"

namespace seen {

namespace {

namespace dom = simdjson::dom;

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

}  // namespace

void JsonDocument::Reserve(size_t bytes) {
  if (document_.capacity() >= bytes && parser_.capacity() >= bytes && !json_.empty()) return;
  // Powers of two: events that grow byte by byte don't allocate each time.
  const size_t capacity = std::bit_ceil(std::max<size_t>(bytes, 4096));
  json_.resize(capacity + simdjson::SIMDJSON_PADDING);
  Check(parser_.allocate(capacity) == simdjson::SUCCESS && document_.allocate(capacity) == simdjson::SUCCESS,
        "out of memory for a JSON document");
}

tl::expected<dom::object, Rejection> JsonDocument::ParseObject(std::string_view payload) {
  if (payload.size() > bytes_max_) {
    return Reject(RejectReason::kTooLarge, {},
                  std::to_string(payload.size()) + " bytes; " + std::string(names_.limit) + " is " +
                      std::to_string(bytes_max_));
  }
  // Whether simdjson skips a byte-order mark depends on its version. So this code skips one; two aren't JSON.
  if (payload.starts_with(kByteOrderMark)) payload.remove_prefix(kByteOrderMark.size());
  if (payload.empty()) return Reject(RejectReason::kNotJson, {}, "not JSON: empty");
  if (payload.starts_with(kByteOrderMark)) {
    return Reject(RejectReason::kNotJson, {}, "not JSON: two byte-order marks");
  }

  Reserve(payload.size());
  std::memcpy(json_.data(), payload.data(), payload.size());
  std::memset(json_.data() + payload.size(), 0, simdjson::SIMDJSON_PADDING);
  dom::element root;
  auto error = parser_.parse_into_document(document_, json_.data(), payload.size(), false).get(root);
  if (error && ReplaceBigIntegers(std::span(json_.data(), payload.size()))) [[unlikely]] {
    error = parser_.parse_into_document(document_, json_.data(), payload.size(), false).get(root);
  }
  if (error == simdjson::UTF8_ERROR) return Reject(RejectReason::kInvalidUtf8, {}, "not UTF-8");
  if (error) return Reject(RejectReason::kNotJson, {}, Message("not JSON", simdjson::error_message(error)));
  dom::object object;
  if (root.get(object)) {
    return Reject(RejectReason::kNotJson, {},
                  Message("not " + std::string(names_.what), TypeName(root), "an object"));
  }
  return object;
}

bool IsBigInteger(dom::element value) {
  return value.type() == dom::element_type::DOUBLE &&
         double{value.get_double().value_unsafe()} == kBigInteger;
}

bool Is64BitInteger(dom::element value) {
  return value.type() == dom::element_type::INT64 || value.type() == dom::element_type::UINT64;
}

std::string_view TypeName(dom::element value) {
  if (IsBigInteger(value)) return "an integer beyond 64 bits";
  switch (value.type()) {
    case dom::element_type::ARRAY:
      return "an array";
    case dom::element_type::OBJECT:
      return "an object";
    case dom::element_type::INT64:
    case dom::element_type::UINT64:
      return "an integer";
    case dom::element_type::DOUBLE:
      return "a number with a fraction or exponent";
    case dom::element_type::STRING:
      return "a string";
    case dom::element_type::BOOL:
      return "a boolean";
    case dom::element_type::NULL_VALUE:
      return "null";
    default:
      return "something else";
  }
}

std::string Message(std::string_view path, std::string_view what, std::string_view expected) {
  std::string message(path);
  message.append(": ").append(what);
  if (!expected.empty()) message.append("; expected ").append(expected);
  return message;
}

namespace {

// As long as the shortest integer that it replaces.
constexpr std::string_view kMarker = "1.23456789012345e303";
constexpr std::string_view kUnsignedMax = "18446744073709551615";
constexpr std::string_view kSignedMin = "9223372036854775808";
static_assert(kMarker.size() == kUnsignedMax.size() && kMarker.size() == kSignedMin.size() + 1);

bool IsNumberDigit(char c) { return c >= '0' && c <= '9'; }
bool IsNumberPart(char c) {
  return IsNumberDigit(c) || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

/// `token`: a run of number characters. True: an integer by JSON's grammar, and beyond 64 bits.
bool IsBigInteger(std::string_view token) {
  const bool negative = token.front() == '-';
  const std::string_view digits = token.substr(negative ? 1 : 0);
  if (digits.empty() || digits.front() == '0' || !std::all_of(digits.begin(), digits.end(), IsNumberDigit))
    return false;
  const std::string_view limit = negative ? kSignedMin : kUnsignedMax;
  return digits.size() != limit.size() ? digits.size() > limit.size() : digits > limit;
}

}  // namespace

bool ReplaceBigIntegers(std::span<char> json) {
  bool changed = false;
  bool in_string = false;
  for (size_t at = 0; at < json.size(); ++at) {
    const char c = json[at];
    if (in_string) {
      if (c == '\\') ++at;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (IsNumberPart(c)) {
      size_t end = at;
      while (end < json.size() && IsNumberPart(json[end])) ++end;
      const std::span<char> token = json.subspan(at, end - at);
      if (IsBigInteger({token.data(), token.size()})) {
        std::fill(std::copy(kMarker.begin(), kMarker.end(), token.begin()), token.end(), ' ');
        changed = true;
      }
      at = end - 1;
    }
  }
  return changed;
}

}  // namespace seen

#include "decode/json_document.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <span>
#include <string_view>

#include "base/result.h"
#include "decode/binary_reader.h"
#include "decode/record_events.h"

namespace seen {

namespace {

namespace dom = simdjson::dom;

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

/// Whether a text may be an object, an array, or a string that holds one.
bool BeginsJson(std::string_view text) {
  const size_t at = text.find_first_not_of(" \t\r\n");
  return at != std::string_view::npos && std::string_view("{[\"").find(text[at]) != std::string_view::npos;
}

/// Whether `value` is a string that may hold JSON: its text.
bool HoldsJson(dom::element value, std::string_view& text) {
  return value.get(text) == simdjson::SUCCESS && BeginsJson(text);
}

}  // namespace

void JsonDocument::Reserve(size_t bytes) {
  if (document_.capacity() >= bytes && parser_.capacity() >= bytes && !json_.empty()) return;
  // Powers of two: events that grow byte by byte don't allocate each time.
  const size_t capacity = std::bit_ceil(std::max<size_t>(bytes, 256));
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

  dom::element root;
  auto error = Parse(payload, root);
  std::string_view text;
  for (size_t depth = 0; !error && depth < kStringsMax && HoldsJson(root, text); ++depth) {
    // The text is in the document, which isn't overwritten before the text is copied.
    const size_t bytes = text.size();
    dom::element within;
    const bool is_json = !Parse(text, within);  // overwrites `root`
    std::vector<std::string_view> events;
    if (!(is_json && within.is_object()) && SplitEvents({json_.data(), bytes}, events)) {
      return Reject(RejectReason::kNotJson, {},
                    Message("not " + std::string(names_.what), "a string that holds several events",
                            "one in a string; or send the array, or the lines, without the string"));
    }
    if (!is_json) {
      return Reject(RejectReason::kNotJson, {},
                    Message("not " + std::string(names_.what), "a string", "an object"));
    }
    root = within;
  }
  if (error) {
    if (const std::string what = LooksLike(payload, names_); !what.empty())
      return Reject(RejectReason::kNotJson, {}, Message("not JSON", what));
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

simdjson::error_code JsonDocument::Parse(std::string_view text, dom::element& root) {
  Reserve(text.size());
  std::memmove(json_.data(), text.data(), text.size());
  std::memset(json_.data() + text.size(), 0, simdjson::SIMDJSON_PADDING);
  const std::span<char> json(json_.data(), text.size());
  const auto parse = [&] {
    return parser_.parse_into_document(document_, json.data(), json.size(), false).get(root);
  };
  auto error = parse();
  if (error && ReplaceGreatNumbers(json)) [[unlikely]]
    error = parse();
  if (error && lenient_ && ReplaceBrokenStrings(json)) [[unlikely]]
    error = parse();
  return error;
}

std::optional<dom::element> JsonDocument::ParseNested(std::string_view text) {
  dom::element root;
  if (Parse(text, root)) return std::nullopt;
  for (size_t depth = 1; depth < kStringsMax && HoldsJson(root, text); ++depth) {
    if (Parse(text, root)) return std::nullopt;
  }
  return root.is_object() || root.is_array() ? std::optional(root) : std::nullopt;
}

std::optional<dom::element> NestedDocuments::Parse(std::string_view text) {
  if (!BeginsJson(text)) return std::nullopt;
  if (used_ == documents_.size()) documents_.emplace_back(text.size(), DocumentNames{}, lenient_);
  return documents_[used_++].ParseNested(text);
}

void NestedDocuments::Clear() {
  used_ = 0;
  while (documents_.size() > kKept) documents_.pop_back();
}

bool IsBrokenString(dom::element value) {
  return value.type() == dom::element_type::DOUBLE &&
         double{value.get_double().value_unsafe()} == kBrokenString;
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
  if (IsBrokenString(value)) return "a string that is broken inside";
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

/// `token`: likewise. True: a number by JSON's grammar, and too great for a double.
bool IsBeyondDouble(std::string_view token) {
  std::string_view digits = token.substr(token.front() == '-' ? 1 : 0);
  const auto take_digits = [&] {
    const size_t count = std::min(digits.find_first_not_of("0123456789"), digits.size());
    digits.remove_prefix(count);
    return count;
  };
  const bool zero = digits.starts_with('0');
  const size_t before = take_digits();
  if (before == 0 || (zero && before > 1)) return false;
  bool whole = true;
  if (digits.starts_with('.')) {
    digits.remove_prefix(1);
    whole = false;
    if (take_digits() == 0) return false;
  }
  bool small = zero;  // then out of range means too near to zero
  if (digits.starts_with('e') || digits.starts_with('E')) {
    digits.remove_prefix(1);
    whole = false;
    small = digits.starts_with('-');
    if (digits.starts_with('+') || digits.starts_with('-')) digits.remove_prefix(1);
    if (take_digits() == 0) return false;
  }
  if (!digits.empty() || whole || small) return false;
  double number = 0;
  return std::from_chars(token.data(), token.data() + token.size(), number).ec ==
         std::errc::result_out_of_range;
}

constexpr std::string_view kGreat = "1e308";  // no longer than the shortest number beyond a double

void Overwrite(std::span<char> token, std::string_view text) {
  std::fill(std::copy(text.begin(), text.end(), token.begin()), token.end(), ' ');
}

}  // namespace

bool ReplaceGreatNumbers(std::span<char> json) {
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
      const std::string_view number(token.data(), token.size());
      if (IsBigInteger(number)) {
        Overwrite(token, kMarker);
        changed = true;
      } else if (IsBeyondDouble(number)) {
        Overwrite(token, kGreat);
        changed = true;
      }
      at = end - 1;
    }
  }
  return changed;
}

namespace {

constexpr std::string_view kBroken = "9e99";  // no longer than "\x" in its quotes

int HexOf(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/// The number of the escape "\u" at the beginning of `text`; -1: it isn't one.
int EscapedUnit(std::string_view text) {
  if (text.size() < 6 || !text.starts_with("\\u")) return -1;
  int unit = 0;
  for (const char c : text.substr(2, 4)) {
    const int hex = HexOf(c);
    if (hex < 0) return -1;
    unit = unit * 16 + hex;
  }
  return unit;
}

/// `text`: what stands between the quotes of a string.
bool IsBroken(std::string_view text) {
  for (size_t at = 0; at < text.size(); ++at) {
    if (static_cast<unsigned char>(text[at]) < 0x20) return true;
    if (text[at] != '\\') continue;
    if (at + 1 == text.size()) return true;
    if (text[at + 1] != 'u') {
      if (std::string_view(R"("\/bfnrt)").find(text[at + 1]) == std::string_view::npos) return true;
      ++at;
      continue;
    }
    const int unit = EscapedUnit(text.substr(at));
    if (unit < 0 || (unit >= 0xdc00 && unit < 0xe000)) return true;
    at += 5;
    if (unit < 0xd800 || unit >= 0xdc00) continue;
    const int second = EscapedUnit(text.substr(at + 1));
    if (second < 0xdc00 || second >= 0xe000) return true;
    at += 6;
  }
  return !simdjson::validate_utf8(text.data(), text.size());
}

}  // namespace

bool ReplaceBrokenStrings(std::span<char> json) {
  bool changed = false;
  for (size_t at = 0; at < json.size(); ++at) {
    if (json[at] != '"') continue;
    size_t end = at + 1;
    while (end < json.size() && json[end] != '"') end += json[end] == '\\' ? 2u : 1u;
    if (end >= json.size()) break;
    if (IsBroken({json.data() + at + 1, end - at - 1})) {
      size_t next = end + 1;
      while (next < json.size() && std::string_view(" \t\r\n").find(json[next]) != std::string_view::npos)
        ++next;
      if (next < json.size() && json[next] == ':') {
        const std::span<char> name = json.subspan(at + 1, end - at - 1);
        std::fill(name.begin(), name.end(), '\x7f');
        changed = true;
      } else if (end + 1 - at >= kBroken.size()) {
        Overwrite(json.subspan(at, end + 1 - at), kBroken);
        changed = true;
      } else {  // of one byte
        Overwrite(json.subspan(at, end + 1 - at), "[]");
        changed = true;
      }
    }
    at = end;
  }
  return changed;
}

std::string LooksLike(std::string_view payload, const DocumentNames& names) {
  const auto begins = [&](std::string_view bytes) { return payload.starts_with(bytes); };
  constexpr const char* kCompressed =
      "; the value itself is compressed: send it as it is, and let the producer's compression.type do this";
  if (begins("\x1f\x8b")) return std::string("it looks like gzip") + kCompressed;
  if (begins("\x28\xb5\x2f\xfd")) return std::string("it looks like zstd") + kCompressed;
  if (begins("\x04\x22\x4d\x18")) return std::string("it looks like lz4") + kCompressed;
  if (begins("\xff\x06\x00\x00sNaPpY") || begins("\x82SNAPPY"))
    return std::string("it looks like snappy") + kCompressed;
  if (begins("Obj\x01")) return "it looks like an Avro file; seend reads JSON";
  const bool utf16 = begins("\xff\xfe") || begins("\xfe\xff") || begins(std::string_view("{\0", 2)) ||
                     begins(std::string_view("\0{", 2));
  if (utf16) return "it looks like UTF-16; send UTF-8";
  if (IsFramed(payload) && payload.size() > kFrameBytes) {
    const uint32_t schema = SchemaIdOf(payload);
    if (schema == 0) return "it begins with zero bytes";  // a registry counts from 1; a crash leaves zeros
    return "it begins with a schema registry's prefix (magic byte 0, schema id " + std::to_string(schema) +
           "); " + std::string(names.framed);
  }
  return {};
}

}  // namespace seen

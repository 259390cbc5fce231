#pragma once
// Parses and validates a whole JSON document in reused memory, and says in words what is wrong with a value.
// Room decode only: simdjson's types don't leave it.

#include <simdjson.h>

#include <cstddef>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "model/event.h"

namespace seen {

/// The words for a document in messages.
struct DocumentNames {
  std::string_view what = "an event";
  std::string_view limit = "input.event_bytes_max";
  std::string_view framed = "set input.framing to \"confluent\", and input.format if the rest isn't JSON";
};

/// No allocation once it has parsed a payload of the size. One per thread.
class JsonDocument {
 public:
  /// `lenient`: a string that is broken inside becomes kBrokenString.
  explicit JsonDocument(size_t bytes_max, const DocumentNames& names = {}, bool lenient = false)
      : bytes_max_(bytes_max), names_(names), lenient_(lenient) {}

  /// Returns the object that `payload` is, maybe in a JSON string, to a depth of kStringsMax. Copies the
  /// payload: the object and its strings point into this document and stay valid until the next call.
  /// Rejections: kTooLarge, kNotJson, kInvalidUtf8.
  tl::expected<simdjson::dom::object, Rejection> ParseObject(std::string_view payload);

  /// Returns the value that `text` is: an object or an array. nullopt: it is neither, or too deep in strings.
  std::optional<simdjson::dom::element> ParseNested(std::string_view text);

 private:
  void Reserve(size_t bytes);
  simdjson::error_code Parse(std::string_view text, simdjson::dom::element& root);

  size_t bytes_max_;
  DocumentNames names_;
  bool lenient_;
  std::vector<char> json_;  // the payload, and the padding that simdjson reads
  simdjson::dom::parser parser_;
  simdjson::dom::document document_;
};

/// True: written as an integer in [-2^63, 2^64).
bool Is64BitInteger(simdjson::dom::element value);
/// True: written as an integer outside [-2^63, 2^64).
bool IsBigInteger(simdjson::dom::element value);
/// "a string", "null", ...
std::string_view TypeName(simdjson::dom::element value);

/// "path: what; expected ..."
std::string Message(std::string_view path, std::string_view what, std::string_view expected = {});

inline tl::unexpected<Rejection> Reject(RejectReason reason, std::string_view field, std::string message) {
  return tl::unexpected<Rejection>(Rejection{reason, field, std::move(message)});
}

/// The rejection in `failed`, for another type of result.
template <typename T>
tl::unexpected<Rejection> Rejected(const tl::expected<T, Rejection>& failed) {
  return tl::unexpected<Rejection>(failed.error());
}

/// How many strings may stand around JSON, one in another.
inline constexpr size_t kStringsMax = 4;

/// Parses texts that hold JSON, found in strings of an event. The values stay valid until Clear. One per
/// thread.
class NestedDocuments {
 public:
  explicit NestedDocuments(bool lenient = false) : lenient_(lenient) {}
  /// nullopt: not an object or an array.
  std::optional<simdjson::dom::element> Parse(std::string_view text);
  void Clear();

 private:
  static constexpr size_t kKept = 16;  // documents, for the next event

  bool lenient_;
  std::deque<JsonDocument> documents_;
  size_t used_ = 0;
};

// Integers beyond 64 bits are valid JSON, but simdjson refuses a document that has one. Front ends put such
// numbers into fields that this program doesn't read (trace ids). That must not cost an exposure.

/// The double that replaces an integer beyond 64 bits. Nobody writes this double, so a field with this value
/// had such an integer.
inline constexpr double kBigInteger = 1.23456789012345e303;

/// Overwrites, in place, each integer outside [-2^63, 2^64) with kBigInteger and spaces, and each number that
/// is too great for a double (1e400) with 1e308. `json` may be invalid: a token that isn't a number by JSON's
/// grammar stays, so an invalid document stays invalid. True: `json` has changed. O(n), no allocation.
bool ReplaceGreatNumbers(std::span<char> json);

/// The double that replaces a string which is broken inside: an unknown escape, half a surrogate pair, a
/// control character, bytes that aren't UTF-8. As short as the shortest such string. Nobody writes it.
inline constexpr double kBrokenString = 9e99;
bool IsBrokenString(simdjson::dom::element value);

/// Overwrites, in place, each broken string with kBrokenString and spaces; as a member's name, with as many
/// DEL characters. True: `json` has changed. O(n), no allocation.
bool ReplaceBrokenStrings(std::span<char> json);

/// What bytes that aren't JSON look like: "gzip", "UTF-16 text", "several JSON documents". Empty: unknown.
std::string LooksLike(std::string_view payload, const DocumentNames& names);

}  // namespace seen

#pragma once
// Parses and validates a whole JSON document in reused memory, and says in words what is wrong with a value.
// Room decode only: simdjson's types don't leave it.

#include <simdjson.h>

#include <cstddef>
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
};

/// No allocation once it has parsed a payload of the size. One per thread.
class JsonDocument {
 public:
  explicit JsonDocument(size_t bytes_max, const DocumentNames& names = {})
      : bytes_max_(bytes_max), names_(names) {}

  /// Returns the object that `payload` is. Copies the payload: the object and its strings point into this
  /// document and stay valid until the next call. Rejections: kTooLarge, kNotJson, kInvalidUtf8.
  tl::expected<simdjson::dom::object, Rejection> ParseObject(std::string_view payload);

 private:
  void Reserve(size_t bytes);

  size_t bytes_max_;
  DocumentNames names_;
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

// Integers beyond 64 bits are valid JSON, but simdjson refuses a document that has one. Front ends put such
// numbers into fields that this program doesn't read (trace ids). That must not cost an exposure.

/// The double that replaces an integer beyond 64 bits. Nobody writes this double, so a field with this value
/// had such an integer.
inline constexpr double kBigInteger = 1.23456789012345e303;

/// Overwrites, in place, each integer outside [-2^63, 2^64) with kBigInteger and spaces. `json` may be
/// invalid: a token that isn't a number by JSON's grammar stays, so an invalid document stays invalid. True:
/// `json` has changed. O(n), no allocation.
bool ReplaceBigIntegers(std::span<char> json);

}  // namespace seen

#pragma once
// What reading bytes from outside ends in: a value, or an error to report. No exceptions.

#include <optional>
#include <string>
#include <utility>

namespace seen::client {

/// Why bytes were refused: a snapshot in the order in which schemas/snapshot.md has it checked, then what
/// only watermarks and updates have.
enum class ErrorCode {
  kNotASnapshot,    // other bytes, or none: a tombstone is a null value, not an empty one
  kCutOff,          // shorter than a header
  kUnknownVersion,  // written by a newer program: update the reader
  kBadHeader,       // header_bytes, or similar_bytes, is out of its range
  kWrongLength,
  kWrongChecksum,
  kUnknownFormat,  // a kind of filter this reader doesn't know: likewise
  kUnknownHash,    // likewise
  kUnknownFlags,   // likewise
  kNeedsUpdates,   // its filter publishes updates too: FilterReader takes both
  kBadRate,
  kBadPayload,    // the payload breaks a rule of its kind
  kBadWatermark,  // a watermark that is no such JSON object
  kNotAnUpdate,   // other bytes, or none
  kBadField,      // a number of an update's header is out of its range
  kBadNames,      // an update's names of filters
  kUnknownKind,   // of an update's section: update the reader
  kBadSection,    // a section of an update breaks a rule
};

/// Whether a newer reader may take what this one refuses.
constexpr bool NeedsNewerReader(ErrorCode code) {
  return code == ErrorCode::kUnknownVersion || code == ErrorCode::kUnknownFormat ||
         code == ErrorCode::kUnknownHash || code == ErrorCode::kUnknownFlags ||
         code == ErrorCode::kUnknownKind;
}

struct Error {
  ErrorCode code;
  std::string message;  // names the field, its value and, where there is one, the remedy
};

/// A T, or the error instead of it. `value()`, `*` and `->` only where it is true, `error()` only where it
/// isn't.
template <typename T>
class [[nodiscard]] Parsed {
 public:
  Parsed(T value) : value_(std::move(value)) {}      // NOLINT: implicit
  Parsed(Error error) : error_(std::move(error)) {}  // NOLINT: implicit
  Parsed(ErrorCode code, std::string message) : error_{code, std::move(message)} {}

  explicit operator bool() const { return value_.has_value(); }
  const T& value() const& { return *value_; }
  T&& value() && { return *std::move(value_); }
  const T& operator*() const& { return *value_; }
  T&& operator*() && { return *std::move(value_); }
  const T* operator->() const { return &*value_; }
  const Error& error() const { return error_; }

 private:
  std::optional<T> value_;
  Error error_{ErrorCode::kNotASnapshot, {}};
};

}  // namespace seen::client

#pragma once
// How the kinds of filters say what is wrong with their payload.

#include <cstdint>
#include <string>
#include <string_view>

#include "seen/result.h"

namespace seen::client::internal {

inline Error BadPayload(std::string_view kind, std::string what) {
  return {ErrorCode::kBadPayload, std::string(kind) + ": " + std::move(what)};
}

inline Error TooShort(std::string_view kind, std::size_t bytes, std::size_t bytes_min) {
  return BadPayload(
      kind, "payload_bytes is " + std::to_string(bytes) + ", must be at least " + std::to_string(bytes_min));
}

inline Error OutOfRange(std::string_view kind, std::string_view field, std::uint64_t value,
                        std::string_view range) {
  return BadPayload(kind,
                    std::string(field) + " is " + std::to_string(value) + ", must be " + std::string(range));
}

inline Error WrongLength(std::string_view kind, std::uint64_t bytes, std::uint64_t bytes_right) {
  return BadPayload(kind, "payload_bytes is " + std::to_string(bytes) + ", by its fields it is " +
                              std::to_string(bytes_right));
}

}  // namespace seen::client::internal

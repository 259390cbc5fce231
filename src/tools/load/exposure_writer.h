#pragma once
// Exposure events as JSON, formatted by hand: a generator for benchmarks must be faster than its consumer.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace seen {

struct ExposureFields {
  uint32_t user = 0;
  uint64_t request = 0;
  TimeMs exposed_at;
  std::string_view scene;  // at most 32 bytes; isn't escaped: only letters, digits, '-' and '_'
  uint32_t position = 0;   // of the first item
};

/// Replaces `out` by {"user_id":"u…","item_id":"n…",…}. An id is a letter and the number in hex digits.
void WriteExposure(const ExposureFields& fields, uint32_t item, std::string& out);

/// Replaces `out` by the batch form, {"user_id":"u…","items":[{"item_id":"n…","position":…},…]}.
void WriteBatchExposure(const ExposureFields& fields, std::span<const uint32_t> items, std::string& out);

/// The user id within an event that WriteExposure or WriteBatchExposure wrote.
std::string_view UserIdOf(std::string_view event);

/// Sixteen hex digits.
std::array<char, 16> HexOf(uint64_t value);

}  // namespace seen

#pragma once
// Exposure events as JSON, formatted by hand: a generator for benchmarks must outrun what it feeds.

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
  std::string_view scene;  // at most 32 bytes; no escaping is done: letters, digits, '-' and '_' only
  uint32_t position = 0;   // of the first item
};

/// Replaces `out` by {"user_id":"u…","item_id":"n…",…}. Ids are a letter and the number as hex digits.
void WriteExposure(const ExposureFields& fields, uint32_t item, std::string& out);

/// Replaces `out` by the batch form, {"user_id":"u…","items":[{"item_id":"n…","position":…},…]}.
void WriteBatchExposure(const ExposureFields& fields, std::span<const uint32_t> items, std::string& out);

/// The user id within an event written by one of these.
std::string_view UserIdOf(std::string_view event);

/// Sixteen hex digits.
std::array<char, 16> HexOf(uint64_t value);

}  // namespace seen

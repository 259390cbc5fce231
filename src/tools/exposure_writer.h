#pragma once
// Exposure events as JSON, formatted by hand: a generator for benchmarks must outrun what it feeds.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace seen {

struct ExposureFields {
  std::string_view user_id;  // no escaping is done: letters, digits, '-' and '_' only
  TimeMs exposed_at;
  std::string_view scene;
  uint32_t position = 0;  // of the first item
  std::string_view request_id;
};

/// Replaces `out` by {"user_id":…,"item_id":…,…}.
void WriteExposure(const ExposureFields& fields, std::string_view item_id, std::string& out);

/// Replaces `out` by the batch form, {"user_id":…,"items":[{"item_id":…,"position":…},…]}.
void WriteBatchExposure(const ExposureFields& fields, std::span<const std::string_view> item_ids,
                        std::string& out);

}  // namespace seen

#pragma once
// Items one behind the other for idf and similar: files of JSON lines, or all of a topic.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "decode/item_decoder.h"
#include "kafka/client_settings.h"
#include "tools/progress.h"

namespace seen {

inline constexpr uint64_t kItemBytesMax = uint64_t{64} << 20;

/// Where items are. Files, or a topic where there are none.
struct ItemPlaces {
  std::vector<std::string> files;  // JSON lines, also .gz; "-" is standard input
  std::string brokers;
  ClientSettings client;
  std::string topic;
};

struct ItemCounts {
  uint64_t items = 0;         // the deleted too
  uint64_t skipped = 0;       // tombstones, and records that are no items
  std::string first_skipped;  // where and why; empty: none
};

/// Views are valid until it returns.
using UseItem = std::function<void(const ItemEvent& item, TimeMs record_timestamp)>;

/// Hands all of them to `use`, up to the end as it is now. kNotFound: no such file or topic; kUnavailable:
/// interrupted, or the brokers are away.
Result<ItemCounts> ReadItems(const ItemPlaces& places, const ItemFormat& format, Progress::Mode mode,
                             std::string_view label, const UseItem& use);

}  // namespace seen

#pragma once
// A decoded item of the log. items/item_reading.h decodes it.

#include <cstdint>
#include <string_view>

#include "base/clock.h"
#include "group/item_features.h"

namespace seen {

/// Views are valid while GroupFlow::Apply runs.
struct PreparedItem {
  int64_t offset = 0;
  TimeMs record_timestamp;
  std::string_view item_id;
  TimeMs created_at;                       // the record's timestamp if the item has none
  bool deleted = false;                    // then nothing below counts
  const ItemFeatures* features = nullptr;  // nullptr if deleted
};

}  // namespace seen

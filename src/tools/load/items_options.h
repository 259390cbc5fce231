#pragma once
// The items of a whole topic, one by one, and the options that say where they are.

#include <functional>
#include <string>

#include "base/result.h"
#include "config/config_items.h"
#include "similar/port/item_decoder.h"
#include "tools/common_options.h"
#include "tools/reach_brokers.h"

namespace seen {

inline constexpr uint64_t kItemBytesMax = uint64_t{64} << 20;

struct ItemCounts {
  uint64_t items = 0;         // includes deleted items
  uint64_t skipped = 0;       // tombstones, and records that aren't items
  std::string first_skipped;  // where and why; empty: nothing was skipped
};

/// Views are valid until the function returns.
using UseItem = std::function<void(const ItemEvent& item, TimeMs record_timestamp)>;

/// Passes all items of the topic to `use`. Errors: as ReadWholeTopic.
Result<ItemCounts> ReadItems(const WholeTopic& topic, const ItemFormat& format, const UseItem& use);

/// --brokers, --topic, --client, --config. The configuration fills in what the command line doesn't give.
class ItemsTopicOptions {
 public:
  void AddTo(CLI::App& app);

  struct Outcome {
    ItemsConfig items;
    WholeTopic topic;
  };
  /// Call it after parsing.
  Result<Outcome> Read() const;
  bool TopicIsGiven() const;

 private:
  KafkaOptions kafka_;
  std::string config_;
  CLI::App* app_ = nullptr;
};

}  // namespace seen

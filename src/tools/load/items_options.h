#pragma once
// The items of JSON lines files or of a whole topic, one by one, and the options that say where they are.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/config_items.h"
#include "kafka/client_settings.h"
#include "similar/port/item_decoder.h"
#include "tools/common_options.h"
#include "tools/progress.h"

namespace seen {

inline constexpr uint64_t kItemBytesMax = uint64_t{64} << 20;

/// Where items are: in files, or in a topic if there are no files.
struct ItemPlaces {
  std::vector<std::string> files;  // JSON lines, also .gz; "-" is standard input
  std::string brokers;
  ClientSettings client;
  std::string topic;
};

struct ItemCounts {
  uint64_t items = 0;         // includes deleted items
  uint64_t skipped = 0;       // tombstones, and records that aren't items
  std::string first_skipped;  // where and why; empty: nothing was skipped
};

/// Views are valid until the function returns.
using UseItem = std::function<void(const ItemEvent& item, TimeMs record_timestamp)>;

/// Passes all items to `use`, up to the end at the time of the call. kInvalidArgument: no such file.
/// kNotFound: no such topic. kUnavailable: interrupted, or no broker answers.
Result<ItemCounts> ReadItems(const ItemPlaces& places, const ItemFormat& format, Progress::Mode mode,
                             std::string_view label, const UseItem& use);

/// --brokers, --topic, --client, --config. The configuration fills in what the command line doesn't give.
class ItemsTopicOptions {
 public:
  void AddTo(CLI::App& app);

  struct Outcome {
    ItemsConfig items;
    ItemPlaces places;  // without files
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

#pragma once
// Options of the subcommands that read items.

#include <string>

#include "base/result.h"
#include "config/config_items.h"
#include "tools/common_options.h"
#include "tools/load/item_stream.h"

namespace seen {

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

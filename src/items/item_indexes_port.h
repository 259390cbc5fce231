#pragma once
// Where the indexes of items are kept: one per partition. Implemented by item_store/, and by tests.

#include <cstdint>
#include <memory>
#include <string>

#include "group/feature_reader.h"
#include "items/group_options.h"
#include "items/item_index_port.h"

namespace seen {

/// One thread at a time.
class ItemIndexes {
 public:
  virtual ~ItemIndexes() = default;
  struct Opened {
    std::unique_ptr<ItemIndex> index;
    FeatureOptions features;                      // how the index's items were read: read new ones alike
    SimilarMethod method = SimilarMethod::kBoth;  // the index has this method's lists
  };
  /// Creates the index if it is missing. kRefused: it was built for something else. kCorrupt. kUnavailable,
  /// kNoSpace: try again.
  virtual Result<Opened> Open(int32_t partition) = 0;
  /// Removes the index, which must not be open.
  virtual Status Remove(int32_t partition) = 0;
  virtual std::string PathOf(int32_t partition) const = 0;  // for people
};

}  // namespace seen

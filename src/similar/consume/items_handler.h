#pragma once
// Takes the ordered topic of items, each partition into an index of its own. Finds the items that are similar
// to a text.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "consume/topic_handler.h"
#include "similar/consume/items_partition.h"
#include "similar/port/similar_port.h"

namespace seen {

struct ItemsStatus;
struct PartitionProblem;

class ItemsHandler final : public TopicHandler, public SimilarPort {
 public:
  /// All references must outlive this object.
  ItemsHandler(ItemsHandlerOptions options, ItemIndexes& indexes, DeadLetterSink& dead_letters,
               ConsumerWait& wait, const Clock& clock);
  ~ItemsHandler() override;

  Result<std::shared_ptr<PartitionHandler>> Open(const Assignment& assignment, const GroupLog& log) override;
  Status Drop(int32_t partition) override;
  void Refused(int32_t partition, const std::string& reason) override;

  /// Any thread.
  Result<SimilarAnswer> Similar(const SimilarQuestion& question) override;
  /// Any thread. Adds the partitions, the refused ones, and the first problem. `problems`: the topic
  /// consumer's.
  void AddStatus(const std::vector<PartitionProblem>& problems, ItemsStatus& status) const;

 private:
  const ItemsHandlerOptions options_;
  ItemIndexes& indexes_;
  DeadLetterSink& dead_letters_;
  ConsumerWait& wait_;
  const Clock& clock_;
  ItemsCounts counts_;

  mutable Mutex mutex_;
  // Each lives until the topic consumer releases it.
  std::map<int32_t, std::weak_ptr<ItemsPartition>> open_ GUARDED_BY(mutex_);
  std::map<int32_t, std::string> refused_ GUARDED_BY(mutex_);  // why
};

}  // namespace seen

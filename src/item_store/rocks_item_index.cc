#include "item_store/rocks_item_index.h"

#include "item_store/candidate_lister.h"
#include "rocks/status.h"

namespace seen {

Result<std::unique_ptr<RocksItemIndex>> RocksItemIndex::Open(ItemIndexOptions options) {
  std::unique_ptr<RocksItemIndex> index(new RocksItemIndex(std::move(options)));
  if (Status opened = index->database_.Open(); !opened) return Fail(opened.error());
  index->checkpoint_.RemoveUnfinished();
  return index;
}

Status RocksItemIndex::Candidates(const CandidateQuery& query, uint32_t entries_max,
                                  CandidateLists& out) const {
  thread_local CandidateLister lister;
  return lister.List(reader_, query, entries_max, out);
}

// A failed change is half done in memory: from now on only what is on disk counts.
Status RocksItemIndex::Stop(const rocksdb::Status& status, std::string_view action) {
  unsaved_bytes_.store(tail_.tail.bytes(), std::memory_order_relaxed);
  if (status.ok()) return {};
  stopped_ = ToError(status, database_.What(action));
  return Fail(*stopped_);
}

Status RocksItemIndex::Write(const IndexChange& change) {
  if (stopped_) return Fail(*stopped_);
  return Stop(writer_.Write(change), "can't write");
}

Status RocksItemIndex::Checkpoint(const IndexPosition& position, int32_t first_bucket) {
  if (stopped_) return Fail(*stopped_);
  rocksdb::Status done = checkpoint_.Write(position);
  // Drops buckets only now: a replay from the last checkpoint would have needed them.
  if (done.ok()) done = database_.Drop(first_bucket);
  return Stop(done, "checkpoint");
}

}  // namespace seen

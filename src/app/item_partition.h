#pragma once
// One partition of the ordered topic of items that this daemon owns: its index, what reads its records, and
// what its groups go out through.

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "config/config.h"
#include "item_store/rocks_item_index.h"
#include "items/group_flow.h"
#include "items/item_reading.h"
#include "kafka/dead_letter_producer.h"
#include "kafka/group_producer.h"
#include "run/group_log.h"
#include "run/status.h"

namespace seen {

struct ItemPartitionOptions {
  const Config* config = nullptr;
  int32_t partition = 0;
  std::string topic;                    // that is read
  std::string directory;                // of indexes
  std::shared_ptr<const IdfTable> idf;  // as configured
  std::string idf_text;
  const StoreResources* resources = nullptr;  // outlives this
  uint64_t presence_bytes_max = 0;            // of the index
  GroupProducer::Options groups;
  int threads = 1;
  bool rebuild = false;  // an index that doesn't fit is dropped and made anew
};

/// Settings of `config`, as an index is made with them.
IndexGeneration GenerationOf(const ItemsConfig& config);
/// The longest record of an item that is read.
uint64_t ItemRecordBytesMax(const ItemsConfig& config);

/// Threads. Writer (one at a time): Open to Close. Any thread: the rest.
class ItemPartition {
 public:
  /// `dead_letters` outlives this.
  ItemPartition(ItemPartitionOptions options, DeadLetterProducer& dead_letters, const Clock& clock);

  /// Opens or makes the index; where reading goes on. kRefused, with the remedy; kUnavailable: try again.
  Result<int64_t> Open(const Watermarks& watermarks);
  /// All of them, and the partition's end if it was reached (end_offset >= 0). An error: read on from
  /// next_offset(), after a while.
  Status Take(std::span<const Record> records, int64_t end_offset);
  /// The last call didn't succeed.
  bool Failing() const { return failures_ > 0; }
  /// After failures in a row: opened again, at the last checkpoint. True: read on from next_offset().
  bool ReopenIfBroken();
  /// The offset that may be committed; -1: nothing was done.
  int64_t CheckpointIfDue();
  int64_t Checkpoint();
  void Close();

  int32_t partition() const { return options_.partition; }
  int64_t next_offset() const { return next_offset_.load(std::memory_order_acquire); }
  void SetHighWatermark(int64_t high) {
    if (high >= 0) high_watermark_.store(high, std::memory_order_relaxed);
  }
  void NoteLost(int64_t messages) { lost_.fetch_add(static_cast<uint64_t>(messages)); }
  /// The daemon stops: nothing is waited for longer than that.
  void Hurry(std::chrono::milliseconds patience);
  bool CaughtUp() const;
  ItemsPartitionStatus GetStatus() const;
  /// kUnavailable where it isn't open or hasn't caught up.
  Result<std::vector<NearItem>> Similar(const ItemText& text, size_t limit, std::string_view except,
                                        bool& cut);

 private:
  /// In the order of their making.
  struct Opened {
    std::unique_ptr<ItemReading> reading;
    std::unique_ptr<RocksItemIndex> index;
    std::unique_ptr<GroupProducer> groups;
    std::unique_ptr<GroupFlow> flow;
  };
  Result<std::shared_ptr<Opened>> OpenIndex(const Watermarks& watermarks);
  std::shared_ptr<Opened> Current() const;
  Status TakeSome(Opened& opened, std::span<const Record> records);
  Status SendLetters(std::span<const Record> records);
  void SetHeld(std::string reason);

  const ItemPartitionOptions options_;
  DeadLetterProducer& dead_letters_;
  const Clock& clock_;

  mutable std::mutex opened_mutex_;
  std::shared_ptr<Opened> opened_;  // opened_mutex_
  std::string held_;                // opened_mutex_: why nothing is taken

  // The writer's.
  std::vector<ReadItem> read_;
  std::vector<PreparedItem> prepared_;
  Instant checkpoint_at_{};  // of the last
  int failures_ = 0;         // in a row

  std::atomic<int64_t> next_offset_{0};
  std::atomic<int64_t> checkpoint_offset_{0};
  std::atomic<int64_t> high_watermark_{-1};
  std::atomic<int64_t> first_high_{0};  // when it was opened
  std::atomic<uint64_t> lost_{0};
  std::atomic<uint64_t> cut_texts_{0};
  std::array<std::atomic<uint64_t>, kRejectReasons> rejected_{};
  std::atomic<uint64_t> checkpoints_{0};
  std::atomic<int64_t> checkpoint_us_{0};
};

}  // namespace seen

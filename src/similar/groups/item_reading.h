#pragma once
// Decodes items' records to features, on several threads. This is the most expensive step for an item.

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "flow/log_port.h"
#include "similar/port/item_decoder.h"
#include "similar/text/feature_reader.h"

namespace seen {

struct ItemReadingOptions {
  ItemFormat format;
  uint64_t record_bytes_max = 0;
  std::chrono::milliseconds future_skew_max{0};
  const Clock* clock = nullptr;  // outlives ItemReading
  FeatureOptions features;
  int threads = 1;
};

/// A decoded record.
struct ReadItem {
  std::optional<Rejection> rejection;  // then nothing below counts
  std::string item_id;
  TimeMs created_at;
  bool deleted = false;
  ItemFeatures features;  // unset if it is deleted
};

/// Threads: one at a time calls Read; any calls Features.
class ItemReading {
 public:
  explicit ItemReading(const ItemReadingOptions& options);
  ~ItemReading();
  ItemReading(const ItemReading&) = delete;
  ItemReading& operator=(const ItemReading&) = delete;

  /// Reads all records: out[i] is records[i]. `out` keeps its memory from one call to the next.
  void Read(std::span<const Record> records, std::vector<ReadItem>& out);
  /// The features of a text that isn't in the log. At most four calls run at a time; others wait.
  void Features(const ItemText& text, ItemFeatures& out);

 private:
  struct Reader;
  void Run(Reader& reader);
  void TakeTurns(Reader& reader);
  void ReadOne(Reader& reader, const Record& record, ReadItem& out);
  void ReadValue(Reader& reader, const Record& record, ReadItem& out);

  const ItemReadingOptions options_;
  std::unique_ptr<Reader> own_;  // of the thread that calls Read
  std::vector<std::unique_ptr<Reader>> readers_;
  Mutex long_mutex_;  // long records are decoded one at a time: they take much memory

  Mutex mutex_;
  ConditionVariable wanted_;
  ConditionVariable done_;
  uint64_t round_ GUARDED_BY(mutex_) = 0;
  int busy_ GUARDED_BY(mutex_) = 0;  // readers at work in this round
  bool stop_ GUARDED_BY(mutex_) = false;
  std::span<const Record> records_;  // of this round
  ReadItem* out_ = nullptr;
  std::atomic<size_t> next_{0};

  Mutex asked_mutex_;
  ConditionVariable asked_free_;
  std::vector<std::unique_ptr<FeatureReader>> asked_ GUARDED_BY(asked_mutex_);
  int asked_made_ GUARDED_BY(asked_mutex_) = 0;

  std::vector<std::thread> threads_;
};

}  // namespace seen

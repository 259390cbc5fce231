#include "similar/groups/item_reading.h"

#include <algorithm>

#include "base/threads.h"
#include "flow/event_rules.h"

namespace seen {
namespace {
constexpr size_t kTurn = 8;               // records a reader takes at a time
constexpr size_t kWorthWaking = 16;       // records from which on other threads are woken
constexpr size_t kLongBytes = 256 << 10;  // of a record: longer ones are decoded one at a time
constexpr int kAskedMax = 4;

// An item's time must not be years ahead: index time would follow it, and all other items would leave the
// window. The record's timestamp is a claim of the producer too, so the clock bounds both.
std::optional<Rejection> TooFarAheadOfClock(const ItemEvent& item, TimeMs record_timestamp, TimeMs now,
                                            std::chrono::milliseconds ahead_max) {
  const int64_t ahead_ms = item.created_at.value_or(record_timestamp).value - now.value;
  if (ahead_ms <= ahead_max.count()) return std::nullopt;
  std::string message =
      item.created_at ? "created_at: " : "created_at: missing, and the record's timestamp is ";
  message += std::to_string(ahead_ms / 1000) + " s ahead of this machine's clock, more than " +
             std::to_string(ahead_max.count() / 1000) +
             ". Remedy: correct the clock that is wrong, then send the item again";
  return Rejection{RejectReason::kTooFarAhead, "created_at", std::move(message)};
}
}  // namespace

struct ItemReading::Reader {
  explicit Reader(const ItemReadingOptions& options)
      : decoder(options.format, options.record_bytes_max), features(options.features) {}
  ItemDecoder decoder;
  FeatureReader features;
};

ItemReading::ItemReading(const ItemReadingOptions& options)
    : options_(options), own_(std::make_unique<Reader>(options)) {
  for (int number = 1; number < options.threads; ++number) {
    readers_.push_back(std::make_unique<Reader>(options));
    threads_.emplace_back([this, number, reader = readers_.back().get()] {
      NameThread("items-" + std::to_string(number));
      Run(*reader);
    });
  }
}

ItemReading::~ItemReading() {
  {
    const MutexLock lock(mutex_);
    stop_ = true;
  }
  wanted_.NotifyAll();
  for (std::thread& thread : threads_) thread.join();
}

void ItemReading::Run(Reader& reader) {
  uint64_t seen = 0;
  for (;;) {
    {
      const MutexLock lock(mutex_);
      while (!stop_ && round_ == seen) wanted_.Wait(mutex_);
      if (stop_) return;
      seen = round_;
    }
    TakeTurns(reader);
    const MutexLock lock(mutex_);
    if (--busy_ == 0) done_.NotifyOne();
  }
}

void ItemReading::TakeTurns(Reader& reader) {
  for (;;) {
    const size_t from = next_.fetch_add(kTurn, std::memory_order_relaxed);
    if (from >= records_.size()) return;
    const size_t to = std::min(records_.size(), from + kTurn);
    for (size_t i = from; i < to; ++i) ReadOne(reader, records_[i], out_[i]);
  }
}

void ItemReading::Read(std::span<const Record> records, std::vector<ReadItem>& out) {
  if (out.size() < records.size()) out.resize(records.size());
  records_ = records;
  out_ = out.data();
  next_.store(0, std::memory_order_relaxed);
  const bool together = !threads_.empty() && records.size() >= kWorthWaking;
  if (together) {
    {
      const MutexLock lock(mutex_);
      ++round_;
      busy_ = static_cast<int>(threads_.size());
    }
    wanted_.NotifyAll();
  }
  TakeTurns(*own_);
  if (!together) return;
  const MutexLock lock(mutex_);
  while (busy_ > 0) done_.Wait(mutex_);
}

void ItemReading::ReadOne(Reader& reader, const Record& record, ReadItem& out) {
  out.rejection.reset();
  if (record.value_is_null) {
    out.rejection =
        Rejection{RejectReason::kNullValue, "", "value: null. Remedy: delete an item by \"deleted\": true"};
    return;
  }
  if (record.value.size() <= kLongBytes) return ReadValue(reader, record, out);
  const MutexLock one_at_a_time(long_mutex_);
  ReadValue(reader, record, out);
}

void ItemReading::ReadValue(Reader& reader, const Record& record, ReadItem& out) {
  const auto item = reader.decoder.Decode(record.value);
  if (!item) {
    out.rejection = item.error();
    return;
  }
  if (!item->deleted) {  // a deletion has no time and doesn't move index time
    out.rejection = TooFarAhead(*item, record.timestamp, options_.future_skew_max);
    if (!out.rejection) {
      out.rejection =
          TooFarAheadOfClock(*item, record.timestamp, options_.clock->WallNow(), options_.future_skew_max);
    }
    if (out.rejection) return;
  }
  out.item_id = item->item_id;
  out.created_at = item->created_at.value_or(record.timestamp);
  out.deleted = item->deleted;
  if (!item->deleted) reader.features.Read({item->title, item->text, item->lang}, out.features);
}

void ItemReading::Features(const ItemText& text, ItemFeatures& out) {
  std::unique_ptr<FeatureReader> reader;
  {
    const MutexLock lock(asked_mutex_);
    while (asked_.empty() && asked_made_ >= kAskedMax) asked_free_.Wait(asked_mutex_);
    if (asked_.empty()) {
      ++asked_made_;
    } else {
      reader = std::move(asked_.back());
      asked_.pop_back();
    }
  }
  if (!reader) reader = std::make_unique<FeatureReader>(options_.features);
  reader->Read(text, out);
  {
    const MutexLock lock(asked_mutex_);
    asked_.push_back(std::move(reader));
  }
  asked_free_.NotifyOne();
}

}  // namespace seen

#pragma once
// A block of records of a partition. All are decoded before the first of them touches the tail, so that their
// cache misses overlap. Thread: the partition's worker. Reuses its memory.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "decode/event_decoder.h"
#include "flow/event_rules.h"
#include "flow/log_port.h"
#include "flow/partition_journal.h"
#include "flow/partition_options.h"
#include "flow/reporter.h"
#include "flow/tail.h"

namespace seen {

class RecordBlock {
 public:
  // Enough to hide the tail's cache misses, few enough to stay in the first-level cache.
  static constexpr size_t kRecordsMax = 32;

  /// A decoded record.
  struct Exposure {
    UserKey user;
    const char* user_id;  // in the block
    uint16_t user_id_bytes;
    FilterMask filters;             // 0: the record changes no filter
    uint32_t id_check;              // the partitioner's hash
    uint32_t items_from, items_to;  // in items()
    TimeMs exposed_at;
    uint32_t record;  // its place among the records given
    ChangeKind kind;
    SkipReason skip;       // if set, `record` may be the only other field that is set
    Tail::UserSlot* slot;  // set by the intake

    std::string_view id() const { return {user_id, user_id_bytes}; }
  };
  static_assert(sizeof(Exposure) == 64);
  /// A served item, with the text that is published if the item is never shown.
  struct Served {
    uint32_t record;
    uint16_t place;  // among the items of its event
    uint32_t item;   // in items()
    std::string text;
  };

  /// `journal`: nullptr where none is kept. All references outlive this.
  RecordBlock(const PartitionOptions& options, const FilterMasks& filters, PartitionJournal* journal);

  /// Decodes records from the first on, until the block is full or a record must be rejected. Leaves out
  /// records below `next_offset`. Returns how many records it went through, without the rejected one. `now`:
  /// by the clock; an event whose record doesn't say when it was written is judged by its own time.
  size_t Read(std::span<const Record> records, int64_t next_offset, const Tail& tail, TimeMs now);
  /// The rejection of the record after those that were read; nullopt: it isn't rejected.
  const std::optional<Rejection>& rejection() const { return rejection_; }

  std::span<Exposure> exposures() { return exposures_; }
  std::span<const Fingerprint> items() const { return items_; }
  std::span<const Served> served() const { return served_; }
  /// Items that don't count, of the first `records` records.
  SkippedItems skipped_items(size_t records) const;
  /// The day the item was created; the day of the exposure if that isn't known.
  Day CreatedOf(uint32_t item, Day shown) const { return item < created_.size() ? created_[item] : shown; }

  /// Looks up what is similar to the items, as far as their events concern filters that record it.
  void FindSimilar(BatchReport& report);
  /// What is similar to the items [first, end). Nothing for an unknown item; nobody waits until it is known.
  std::span<const Fingerprint> SimilarTo(uint32_t first, uint32_t end) const;

 private:
  std::optional<Rejection> ReadRecord(const Record& record, uint32_t number, const Tail& tail, TimeMs now);
  void AddExposure(const Event& event, const Exposure& common, FilterMask covering, const Record& record,
                   const Tail& tail);
  void ReadDetails(const Event& event);
  void Skip(SkipReason reason, uint32_t record);

  const PartitionOptions& options_;
  const FilterMasks& filters_;
  const EventRules rules_;
  PartitionJournal* const journal_;
  EventDecoder decoder_;
  std::vector<Exposure> exposures_;
  std::vector<Fingerprint> items_;
  std::vector<Day> created_;            // of items_, if a filter's window needs it
  std::vector<Fingerprint> similar_;    // of all items, one item after another
  std::vector<uint32_t> similar_ends_;  // where each item's part ends; empty: no item has any
  std::vector<Served> served_;          // where unexposed items are published
  std::vector<std::pair<uint32_t, SkippedItems>> skipped_items_;  // by record, where there are any
  std::unique_ptr<char[]> ids_;
  size_t id_bytes_ = 0;
  std::optional<Rejection> rejection_;
};

}  // namespace seen
